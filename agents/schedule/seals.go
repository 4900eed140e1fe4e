package schedule

import (
	"fmt"

	"fantail/agents/tasks"
	"fantail/store"
)

// Held is the state of a schedule that would be active, but whose row is not as this program wrote it: it waits for
// the human's confirmation.
const Held State = "held"

// sealed reports whether the row of a schedule is as this program wrote it.
func (r *Scheduler) sealed(v *store.View, s Schedule) (bool, error) {
	return r.o.Seals.Sealed(v, store.Schedules, s.ID)
}

// own refuses a schedule that is not sealed.
func (r *Scheduler) own(v *store.View, s Schedule) error {
	ok, err := r.sealed(v, s)
	if err == nil && !ok {
		err = fmt.Errorf("the schedule %s is of an older version, or another program wrote it: it waits for your yes on a screen (/confirm)", s.Name)
	}
	return err
}

// hold stops an active schedule from firing until the human confirms it.
func (r *Scheduler) hold(tx *store.Tx, s Schedule) error {
	r.changed(tx)
	return r.set(tx, s.ID, `state = 'held', due_at = NULL`)
}

// holdAll holds all active schedules that are not sealed.
func (r *Scheduler) holdAll(tx *store.Tx) error {
	all, err := List(&tx.View, 0)
	for _, s := range all {
		if err != nil || s.State != Active {
			continue
		}
		var ok bool
		if ok, err = r.sealed(&tx.View, s); err == nil && !ok {
			err = r.hold(tx, s)
		}
	}
	return err
}

var _ tasks.SealKeeper = &Scheduler{}

// Unsealed returns the schedules that have not ended and are not sealed. It implements [tasks.SealKeeper].
func (r *Scheduler) Unsealed(v *store.View) (rows []tasks.SealedRow, err error) {
	all, err := List(v, 0)
	for _, s := range all {
		var ok bool
		if err == nil {
			ok, err = r.sealed(v, s)
		}
		if err != nil || ok {
			continue
		}
		rows = append(rows, tasks.SealedRow{Kind: "schedule", Name: s.Name, Says: s.says(), Table: store.Schedules, Key: s.ID})
	}
	return rows, err
}

// says returns everything that decides what a schedule starts.
func (s Schedule) says() string {
	text := s.When.Text + ": "
	switch s.Kind {
	case Command:
		text += "!" + s.Text
	case Reminder:
		text += "reminds: " + s.Text
	default:
		text += s.Text
	}
	add := func(label, value string) {
		if value != "" {
			text += "\n" + label + " " + value
		}
	}
	add("until", s.CancelWhen)
	add("checks", s.Checks)
	add("in", s.Dir)
	if s.Sandbox == NoSandbox {
		add("sandbox=off:", "it runs as you")
	}
	add("deliver", string(s.Deliver))
	if s.State == Paused {
		add("it is", "paused")
	}
	return text
}

// Confirm lets a schedule continue as it is.
func (r *Scheduler) Confirm(tx *store.Tx, row tasks.SealedRow) error {
	s, ok, err := r.byID(&tx.View, row.Key)
	if err != nil || !ok {
		return err
	}
	r.changed(tx)
	if s.State == Paused {
		return nil
	}
	return r.goOn(tx, s)
}

// Drop ends a schedule.
func (r *Scheduler) Drop(tx *store.Tx, row tasks.SealedRow) error {
	s, ok, err := r.byID(&tx.View, row.Key)
	if err != nil || !ok {
		return err
	}
	return r.end(tx, s, "you did not confirm it")
}

func (r *Scheduler) byID(v *store.View, id any) (Schedule, bool, error) {
	return one(v, scanSchedule, `SELECT `+columns+from+`WHERE s.id = ?`, id)
}
