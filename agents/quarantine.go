package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/store"
)

// Quarantine holds queued tasks that this host did not write. An agent's command can write to the
// database, but can't seal what it writes.
type Quarantine struct {
	db    *store.DB
	fleet *fleet.Fleet
	seals *tasks.SealKey
	shown map[int64]string // by task: the seal for what /run showed and asked about. The fleet's mutex guards it
}

// NewQuarantine returns a Quarantine that has shown nothing yet.
func NewQuarantine(db *store.DB, f *fleet.Fleet, seals *tasks.SealKey) *Quarantine {
	return &Quarantine{db: db, fleet: f, seals: seals, shown: map[int64]string{}}
}

// QuarantineEntered is a task that was let in or is asked about, and the beginning of its prompt.
type QuarantineEntered struct{ Name, Asks string }

// QuarantineSeen is what one /run let in and what it asks about.
type QuarantineSeen struct {
	Outside []QuarantineEntered // tasks from outside that were let in
	Asked   []QuarantineEntered // tasks that the next /run lets in if they are still as shown here
}

// maxAsked limits the tasks that one /run asks about.
const maxAsked = 500

// verdict is what LetIn decided about the tasks of a queue.
type verdict struct {
	in    []int64          // they may start now
	asked map[int64]string // what is shown, by task: the seal it would get
}

// LetIn lets in the tasks that the human's /run allows, and shows those it asks about.
func (k *Quarantine) LetIn(ctx context.Context, by int64) (r QuarantineSeen, err error) {
	k.fleet.Lock()
	var ids []int64
	held := map[int64]tasks.Hold{}
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
		r = QuarantineSeen{}
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
		return QuarantineSeen{}, fmt.Errorf("let tasks in: %w", err)
	}
	return r, nil
}

// allPlain reports whether none of the tasks needs the human's consent.
func (k *Quarantine) allPlain(ctx context.Context, ids []int64, held map[int64]tasks.Hold) (plain bool, err error) {
	err = k.db.Read(ctx, func(rx *store.Rx) error {
		plain = true
		for _, id := range ids {
			t, ok, err := rx.Task(id)
			if err != nil {
				return err
			}
			if !ok || t.State != tasks.TaskQueued {
				continue
			}
			may, err := tasks.MayStart(&rx.View, k.seals, t)
			if err != nil {
				return err
			}
			plain = plain && may && held[id] == tasks.Free
		}
		return nil
	})
	return plain, err
}

// judge lets one task in or asks about it. The human has consented to a task that is exactly as
// shown.
func (k *Quarantine) judge(tx *store.Tx, id int64, held tasks.Hold, shown string, v *verdict, r *QuarantineSeen) error {
	t, ok, err := tx.Task(id)
	if err != nil || !ok || t.State != tasks.TaskQueued {
		return err
	}
	may, err := tasks.MayStart(&tx.View, k.seals, t)
	if err != nil || may && held == tasks.Free {
		return err
	}
	right, err := tasks.SealOf(&tx.View, k.seals, t)
	switch {
	case err != nil:
		return err
	case !may && right != shown:
		if len(v.asked) >= maxAsked {
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
	if tasks.FromOutside(t.Origin) {
		e, err := enteredBy(&tx.View, t)
		r.Outside = append(r.Outside, e)
		return err
	}
	return nil
}

// apply applies a verdict.
func (k *Quarantine) apply(v verdict) {
	k.fleet.Lock()
	defer k.fleet.Unlock()
	for _, id := range v.in {
		k.seals.Renew(id)
		delete(k.shown, id)
		if q := k.fleet.Queue.Task(id); q != nil {
			q.Held = tasks.Free
		}
	}
	for id, right := range v.asked {
		k.shown[id] = right
		if q := k.fleet.Queue.Task(id); q != nil {
			q.Held = tasks.Unsealed
		}
	}
	k.fleet.Told()
}

// Mistrust holds a task that was about to start but is not as this host wrote it, and all such
// tasks of the same queue. One notice names them.
func (k *Quarantine) Mistrust(id int64) error {
	k.fleet.Lock()
	var owner int64
	ids := []int64{id}
	if q := k.fleet.Queue.Task(id); q != nil {
		owner = q.Slot.Owner
		for _, other := range k.fleet.Queue.Of(owner) {
			if other.ID != id && other.Held == tasks.Free {
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
			if !ok || t.State != tasks.TaskQueued {
				continue
			}
			may, err := tasks.MayStart(&tx.View, k.seals, t)
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

// hold holds tasks, and frees the slot reserved for one that does not start now.
func (k *Quarantine) hold(reserved int64, odd []store.Task) {
	k.fleet.Lock()
	defer k.fleet.Unlock()
	for _, t := range odd {
		if q := k.fleet.Queue.Task(t.ID); q != nil {
			q.Held = tasks.Unsealed
		}
	}
	k.fleet.Queue.Free(-reserved)
	k.fleet.Told()
}

// tellHeld notes in an agent's tab which of its queued tasks need the human's consent.
func (k *Quarantine) tellHeld(tx *store.Tx, agent int64, odd []store.Task) error {
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

// Unknown marks the tasks that this host did not write. It returns, by queue, those that claim to be
// the human's or an agent's.
func (k *Quarantine) Unknown(v *store.View, queued []tasks.QueuedTask) (odd map[int64][]store.Task, err error) {
	odd = map[int64][]store.Task{}
	for i := range queued {
		q := &queued[i]
		may, err := tasks.MayStart(v, k.seals, q.Task)
		if err != nil {
			return nil, err
		}
		if q.Unsealed = !may; !may && !tasks.FromOutside(q.Task.Origin) {
			odd[q.Task.Queue] = append(odd[q.Task.Queue], q.Task)
		}
	}
	return odd, nil
}

// TellUnknown notes in the tabs which tasks claim to be the human's or an agent's.
func (k *Quarantine) TellUnknown(tx *store.Tx, odd map[int64][]store.Task) error {
	for _, agent := range slices.Sorted(maps.Keys(odd)) {
		if err := k.tellHeld(tx, agent, odd[agent]); err != nil {
			return err
		}
	}
	return nil
}

// String lists both kinds for the human.
func (r QuarantineSeen) String() string { return entered(r.Outside) + asked(r.Asked) }

// entered lists the tasks let in from outside, with what each asks for.
func entered(es []QuarantineEntered) string {
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

// asked lists all tasks that are asked about. A task that is not listed is not let in.
func asked(es []QuarantineEntered) string {
	if len(es) == 0 {
		return ""
	}
	s := "\nNot started: an earlier host wrote these, or none did, or they were changed. /run again starts them as they are here:"
	for _, e := range es {
		s += "\n  - " + e.Name + ": " + e.Asks
	}
	return s
}

// enteredBy describes a task for the human.
func enteredBy(v *store.View, t store.Task) (QuarantineEntered, error) {
	asks := strings.Join(strings.Fields(history.Fit(tasks.Typed(t), history.MaxSubject)), " ")
	e := QuarantineEntered{t.Name, llm.Clip(asks, 200)}
	if t.SpawnedBy == 0 || !tasks.FromOutside(t.Origin) {
		return e, nil
	}
	name, _, err := v.Pusher(t.ID)
	if name != "" {
		e.Name += " (pushed by " + name + "'s command)"
	}
	return e, err
}
