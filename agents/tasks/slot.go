package tasks

// Slot is what running work counts against: the limit of the whole queue, its owner's window and its vendor's limit.
type Slot struct {
	Owner  int64  // the agent whose queue it came from; 0: no window limits it
	Vendor string // the vendor that serves its model
	AtOnce int    // how many the vendor serves at once; 0: no limit
}

// slots are the slots in use.
type slots struct {
	most     int // at once
	held     map[int64]Slot
	byOwner  map[int64]int // how many each has
	byVendor map[string]int
}

func newSlots(most int) slots {
	return slots{most: most, held: map[int64]Slot{}, byOwner: map[int64]int{}, byVendor: map[string]int{}}
}

// pass gives the slots of one owner to another.
func (ss *slots) pass(from, to int64) {
	for holder, s := range ss.held {
		if s.Owner == from {
			s.Owner = to
			ss.held[holder] = s
		}
	}
	if n := ss.byOwner[from]; n > 0 && from != to {
		ss.byOwner[to] += n
		delete(ss.byOwner, from)
	}
}

// Take gives a holder a slot, in place of any it has. It does not check the limits: Full does.
func (q *Queue) Take(holder int64, s Slot) {
	q.Free(holder)
	q.slots.held[holder] = s
	q.slots.byOwner[s.Owner]++
	q.slots.byVendor[s.Vendor]++
}

// Free releases a holder's slot, if it has one.
func (q *Queue) Free(holder int64) {
	s, holds := q.slots.held[holder]
	if !holds {
		return
	}
	delete(q.slots.held, holder)
	if q.slots.byOwner[s.Owner]--; q.slots.byOwner[s.Owner] == 0 {
		delete(q.slots.byOwner, s.Owner)
	}
	if q.slots.byVendor[s.Vendor]--; q.slots.byVendor[s.Vendor] == 0 {
		delete(q.slots.byVendor, s.Vendor)
	}
}

// Holds reports whether it has one.
func (q *Queue) Holds(holder int64) bool {
	_, holds := q.slots.held[holder]
	return holds
}

// Running counts the slots in use.
func (q *Queue) Running() int { return len(q.slots.held) }

// Full returns what prevents one more from running: its owner's "window", the "cap", or the vendor's name; "":
// nothing.
func (q *Queue) Full(s Slot) string {
	w := q.windows[s.Owner]
	switch {
	case w.Most > 0 && q.slots.byOwner[s.Owner] >= w.Most:
		return "window"
	case len(q.slots.held) >= q.slots.most:
		return "cap"
	case s.AtOnce > 0 && q.slots.byVendor[s.Vendor] >= s.AtOnce:
		return s.Vendor
	}
	return ""
}
