package queue

// Slot is what something that runs holds, of three bounds: the whole queue's, its
// owner's window and its vendor's.
type Slot struct {
	Owner  int64  // whose queue it came from; 0: no window bounds it
	Vendor string // who serves its model
	AtOnce int    // how many the vendor serves at once; 0: no bound
}

// Take gives a holder a slot, whether or not there is room: Full says that.
func (q *Queue) Take(holder int64, s Slot) { q.slots[holder] = s }

// Free takes the slot of a holder back, if it has one.
func (q *Queue) Free(holder int64) { delete(q.slots, holder) }

// Running counts the slots that are held.
func (q *Queue) Running() int { return len(q.slots) }

// Full says what keeps one more from running: its owner's "window", the "cap", or
// the vendor's name; "" if nothing does.
func (q *Queue) Full(s Slot) string {
	w := q.windows[s.Owner]
	owners, vendors := 0, 0
	for _, o := range q.slots {
		if o.Owner == s.Owner {
			owners++
		}
		if o.Vendor == s.Vendor {
			vendors++
		}
	}
	switch {
	case w.Most > 0 && owners >= w.Most:
		return "window"
	case len(q.slots) >= q.most:
		return "cap"
	case s.AtOnce > 0 && vendors >= s.AtOnce:
		return s.Vendor
	}
	return ""
}
