// Package quarantine is where tasks wait that nothing starts before the human says so.
//
// Does: hold the tasks from outside, and those whose row this host did not write as it is; show them to the human, and
// let in those that are still as they were shown.
//
// Does not: start a task, decide how far its agent is trusted.
//
// Imports: agents/fleet, agents/history, agents/llm, agents/queue, agents/roster, agents/seal, store.
package quarantine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/queue"
	"fantail/agents/roster"
	"fantail/agents/seal"
	"fantail/store"
)

// Ward is the quarantine of a workspace. An agent's command can write to the database, but can't seal what it writes.
type Ward struct {
	db    *store.DB
	fleet *fleet.Fleet
	seals *seal.Key
	shown map[int64]string // by task: the seal of what /run showed and asked about. The fleet's mutex guards it
}

// New returns a ward that has shown nothing yet.
func New(db *store.DB, f *fleet.Fleet, seals *seal.Key) *Ward {
	return &Ward{db: db, fleet: f, seals: seals, shown: map[int64]string{}}
}

// Entered is a task that was let in or is asked about, and the beginning of its prompt.
type Entered struct{ Name, Asks string }

// Seen is what the human's word let in or has them asked about.
type Seen struct {
	Outside []Entered // tasks from outside that came in
	Asked   []Entered // tasks that the next time lets in, if they are still as shown here
}

// mostAsked is how many tasks one /run asks about.
const mostAsked = 500

// verdict is what LetIn decided on the tasks of a queue.
type verdict struct {
	in    []int64          // they may start now
	asked map[int64]string // what is shown, by task: the seal it would get
}

// LetIn lets the tasks in that the human's /run lets in, and shows those that it asks about.
func (k *Ward) LetIn(ctx context.Context, by int64) (r Seen, err error) {
	k.fleet.Lock()
	var ids []int64
	held := map[int64]queue.Hold{}
	for _, q := range k.fleet.Queue.Of(by) {
		ids = append(ids, q.ID)
		held[q.ID] = q.Held
	}
	shown := maps.Clone(k.shown)
	k.fleet.Unlock()
	plain, err := k.allPlain(ctx, ids, held)
	if err != nil || plain {
		return r, err
	}
	err = k.db.Write(ctx, "let tasks in", func(tx *store.Tx) error {
		r = Seen{}
		v := verdict{asked: map[int64]string{}}
		for _, id := range ids {
			if err := k.judge(tx, id, held[id], shown[id], &v, &r); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { k.apply(v) })
		return nil
	})
	if err != nil {
		return Seen{}, fmt.Errorf("let tasks in: %w", err)
	}
	return r, nil
}

// allPlain reports whether none of the tasks waits for the human's word.
func (k *Ward) allPlain(ctx context.Context, ids []int64, held map[int64]queue.Hold) (plain bool, err error) {
	err = k.db.Read(ctx, func(rx *store.Rx) error {
		plain = true
		for _, id := range ids {
			t, ok, err := rx.Task(id)
			if err != nil {
				return err
			}
			if !ok || t.State != roster.TaskQueued {
				continue
			}
			may, err := roster.MayStart(&rx.View, k.seals, t)
			if err != nil {
				return err
			}
			plain = plain && may && held[id] == queue.Free
		}
		return nil
	})
	return plain, err
}

// judge lets one task in, or asks about it. A task that is exactly as it was shown is what the human said yes to.
func (k *Ward) judge(tx *store.Tx, id int64, held queue.Hold, shown string, v *verdict, r *Seen) error {
	t, ok, err := tx.Task(id)
	if err != nil || !ok || t.State != roster.TaskQueued {
		return err
	}
	may, err := roster.MayStart(&tx.View, k.seals, t)
	if err != nil || may && held == queue.Free {
		return err
	}
	right, err := roster.SealOf(&tx.View, k.seals, t)
	switch {
	case err != nil:
		return err
	case !may && right != shown:
		if len(v.asked) >= mostAsked {
			return nil
		}
		e, err := enteredBy(&tx.View, t)
		v.asked[id] = right
		r.Asked = append(r.Asked, e)
		return err
	case !may:
		if err := tx.SealTask(id, right); err != nil {
			return err
		}
	}
	v.in = append(v.in, id)
	if roster.FromOutside(t.Origin) {
		e, err := enteredBy(&tx.View, t)
		r.Outside = append(r.Outside, e)
		return err
	}
	return nil
}

// apply applies a verdict.
func (k *Ward) apply(v verdict) {
	k.fleet.Lock()
	defer k.fleet.Unlock()
	for _, id := range v.in {
		k.seals.Renew(id)
		delete(k.shown, id)
		if q := k.fleet.Queue.Task(id); q != nil {
			q.Held = queue.Free
		}
	}
	for id, right := range v.asked {
		k.shown[id] = right
		if q := k.fleet.Queue.Task(id); q != nil {
			q.Held = queue.Unsealed
		}
	}
	k.fleet.Told()
}

// Mistrust holds a task that was about to start and that this host did not write as it is, with all of its queue like
// it. One notice says so.
func (k *Ward) Mistrust(id int64) error {
	k.fleet.Lock()
	var owner int64
	ids := []int64{id}
	if q := k.fleet.Queue.Task(id); q != nil {
		owner = q.Slot.Owner
		for _, other := range k.fleet.Queue.Of(owner) {
			if other.ID != id && other.Held == queue.Free {
				ids = append(ids, other.ID)
			}
		}
	}
	k.fleet.Unlock()
	err := k.db.Write(context.WithoutCancel(k.fleet.Context()), "hold tasks", func(tx *store.Tx) error {
		var odd []store.Task
		for _, id := range ids {
			t, ok, err := tx.Task(id)
			if err != nil {
				return err
			}
			if !ok || t.State != roster.TaskQueued {
				continue
			}
			may, err := roster.MayStart(&tx.View, k.seals, t)
			if err != nil {
				return err
			}
			if !may {
				odd = append(odd, t)
			}
		}
		tx.AfterCommit(func() { k.hold(id, odd) })
		return k.tellHeld(tx, owner, odd)
	})
	if err != nil {
		return fmt.Errorf("hold tasks: %w", err)
	}
	return nil
}

// hold holds tasks, and frees the slot that was reserved for one that does not start now.
func (k *Ward) hold(reserved int64, odd []store.Task) {
	k.fleet.Lock()
	defer k.fleet.Unlock()
	for _, t := range odd {
		if q := k.fleet.Queue.Task(t.ID); q != nil {
			q.Held = queue.Unsealed
		}
	}
	k.fleet.Queue.Free(-reserved)
	k.fleet.Told()
}

// tellHeld notes in the tab of an agent which of its queued tasks wait for the human's word.
func (k *Ward) tellHeld(tx *store.Tx, agent int64, odd []store.Task) error {
	if len(odd) == 0 || agent == 0 {
		return nil
	}
	const most = 5
	var parts []string
	for _, t := range odd[:min(most, len(odd))] {
		e, err := enteredBy(&tx.View, t)
		if err != nil {
			return err
		}
		parts = append(parts, e.Name+" ("+e.Asks+")")
	}
	more := ""
	if len(odd) > most {
		more = fmt.Sprintf(" and %d more", len(odd)-most)
	}
	what := "1 task is"
	if len(odd) > 1 {
		what = fmt.Sprintf("%d tasks are", len(odd))
	}
	text := fmt.Sprintf("%s in the queue that this host did not write, or not as now: %s%s. Nothing starts "+
		"without your word: /run shows all and asks.", what, strings.Join(parts, ", "), more)
	_, err := k.fleet.Book(agent).Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: text})
	return err
}

// Unknown marks the tasks that came into the queues by other hands than this host's, among those that are not known
// yet, and returns by queue which of them claim to be the human's or an agent's.
func (k *Ward) Unknown(v *store.View, known map[int64]bool, queued []roster.QueuedTask) (odd map[int64][]store.Task, err error) {
	odd = map[int64][]store.Task{}
	for i := range queued {
		q := &queued[i]
		if known[q.Task.ID] {
			continue
		}
		may, err := roster.MayStart(v, k.seals, q.Task)
		if err != nil {
			return nil, err
		}
		if q.Unsealed = !may; !may && !roster.FromOutside(q.Task.Origin) {
			odd[q.Task.Queue] = append(odd[q.Task.Queue], q.Task)
		}
	}
	return odd, nil
}

// TellUnknown notes in the tabs which tasks claim to be the human's or an agent's.
func (k *Ward) TellUnknown(tx *store.Tx, odd map[int64][]store.Task) error {
	for _, agent := range slices.Sorted(maps.Keys(odd)) {
		if err := k.tellHeld(tx, agent, odd[agent]); err != nil {
			return err
		}
	}
	return nil
}

// String lists both for the human.
func (r Seen) String() string { return entered(r.Outside) + asked(r.Asked) }

// entered lists what came in from outside, for the human to see what it wants.
func entered(es []Entered) string {
	if len(es) == 0 {
		return ""
	}
	const listed = 12
	s := "\nFrom outside, and asking before all they do but reading:"
	for i, e := range es {
		if i == listed {
			return s + fmt.Sprintf("\n  - and %d more: /queue --all lists them", len(es)-listed)
		}
		s += "\n  - " + e.Name + ": " + e.Asks
	}
	return s
}

// asked lists all that is asked about: what is not shown is not let in.
func asked(es []Entered) string {
	if len(es) == 0 {
		return ""
	}
	s := "\nNot started: an earlier host wrote these, or none did, or they were changed. /run again starts them as they are here:"
	for _, e := range es {
		s += "\n  - " + e.Name + ": " + e.Asks
	}
	return s
}

// enteredBy shows the human a task.
func enteredBy(v *store.View, t store.Task) (Entered, error) {
	asks := strings.Join(strings.Fields(history.Fit(roster.Typed(t), history.MostSubject)), " ")
	e := Entered{t.Name, llm.Clip(asks, 200)}
	if t.SpawnedBy == 0 || !roster.FromOutside(t.Origin) {
		return e, nil
	}
	name, _, err := v.Pusher(t.ID)
	if name != "" {
		e.Name += " (pushed by " + name + "'s command)"
	}
	return e, err
}
