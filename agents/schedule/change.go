package schedule

import (
	"context"
	"errors"
	"fmt"

	"fantail/store"
)

// Meant finds the schedule of that name that has not ended, among those that the agent owner registered, or all if
// owner is 0. The human's schedules are not an agent's, even if it gets their mail.
func Meant(v *store.View, name string, owner int64) (Schedule, error) {
	s, ok, err := find(v, name)
	if err == nil && (!ok || owner != 0 && (s.Owner != owner || s.Origin != Agent)) {
		err = &NoneError{name}
	}
	return s, err
}

// All is [List] in a transaction of its own.
func (r *Scheduler) All(ctx context.Context, owner int64) (ss []Schedule, err error) {
	err = r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		ss, err = List(&rx.View, owner)
		return err
	})
	return ss, err
}

// Past is [Past.List] in a transaction of its own.
func (r *Scheduler) Past(ctx context.Context, p Past) (ss []Schedule, err error) {
	err = r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		ss, err = p.List(&rx.View)
		return err
	})
	return ss, err
}

// About returns the schedule that name means, or the last that had it, with its newest runs.
func (r *Scheduler) About(ctx context.Context, name string) (Schedule, []Run, error) {
	return r.about(ctx, func(v *store.View) (Schedule, error) { return Known(v, name) })
}

// Look is About for the schedule with that number.
func (r *Scheduler) Look(ctx context.Context, id int64) (Schedule, []Run, error) {
	return r.about(ctx, func(v *store.View) (Schedule, error) {
		s, ok, err := r.byID(v, id)
		if err == nil && !ok {
			err = fmt.Errorf("there is no schedule with the number %d; /schedule lists them", id)
		}
		return s, err
	})
}

func (r *Scheduler) about(ctx context.Context, which func(v *store.View) (Schedule, error)) (s Schedule, runs []Run, err error) {
	err = r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		if s, err = which(&rx.View); err == nil {
			runs, err = Runs(&rx.View, s.ID, 10)
		}
		return err
	})
	return s, runs, err
}

// Known finds the schedule of that name, or the last that had it.
func Known(v *store.View, name string) (Schedule, error) {
	s, ok, err := one(v, scanSchedule, `SELECT `+columns+from+`WHERE s.name = ? ORDER BY s.state = 'ended', s.id DESC LIMIT 1`, name)
	if err == nil && !ok {
		err = &NoneError{name}
	}
	return s, err
}

// NoneError says that there is no schedule of a name.
type NoneError struct{ Name string }

func (e *NoneError) Error() string {
	return fmt.Sprintf("there is no schedule %s; /schedule lists them", e.Name)
}

// change finds the schedule that name means and changes it.
func (r *Scheduler) change(ctx context.Context, what, name string, owner int64, f func(tx *store.Tx, s Schedule) error) (s Schedule, err error) {
	err = r.o.DB.Write(ctx, what, func(tx *store.Tx) (err error) {
		if s, err = Meant(&tx.View, name, owner); err != nil {
			return err
		}
		if err = f(tx, s); err != nil {
			return err
		}
		r.changed(tx)
		s, _, err = r.byID(&tx.View, s.ID)
		return err
	})
	return s, err
}

// Remove ends a schedule that the agent owner registered, or any if owner is 0, for that reason.
func (r *Scheduler) Remove(ctx context.Context, name string, owner int64, why string) (Schedule, error) {
	return r.change(ctx, "remove a schedule", name, owner, func(tx *store.Tx, s Schedule) error { return r.end(tx, s, why) })
}

// Pause stops a schedule from firing until Resume.
func (r *Scheduler) Pause(ctx context.Context, name string, owner int64) (Schedule, error) {
	return r.change(ctx, "pause a schedule", name, owner, func(tx *store.Tx, s Schedule) error {
		if err := r.own(&tx.View, s); err != nil {
			return err
		}
		if s.State == Paused {
			return fmt.Errorf("%s is paused already", name)
		}
		return r.set(tx, s.ID, `state = 'paused', due_at = NULL`)
	})
}

// Resume makes a paused schedule fire again. One that is due only once fires late if its time is over.
func (r *Scheduler) Resume(ctx context.Context, name string, owner int64) (Schedule, error) {
	return r.change(ctx, "resume a schedule", name, owner, func(tx *store.Tx, s Schedule) error {
		if err := r.own(&tx.View, s); err != nil {
			return err
		}
		if s.State != Paused {
			return fmt.Errorf("%s is not paused", name)
		}
		return r.goOn(tx, s)
	})
}

// goOn makes a schedule due again.
func (r *Scheduler) goOn(tx *store.Tx, s Schedule) error {
	if s.State != Active {
		if err := r.room(tx, s.Kind); err != nil {
			return err
		}
	}
	base := s.Created
	if s.When.Repeats() {
		base = r.now(tx)
	}
	due, err := s.When.First(base.In(r.o.Zone))
	if err != nil {
		return err
	}
	return r.set(tx, s.ID, `state = 'active', failures = 0, due_at = ?`, due.UnixMilli())
}

// Fire fires a schedule now, in addition to its due times.
func (r *Scheduler) Fire(ctx context.Context, name string, owner int64) (s Schedule, err error) {
	var cant *refusal
	now := func(tx *store.Tx, s Schedule) error {
		if err := r.own(&tx.View, s); err != nil {
			return err
		}
		switch busy, err := Open(&tx.View, s.ID); {
		case err != nil:
			return err
		case busy:
			return fmt.Errorf("%s runs already", name)
		case s.Left() == 0:
			return fmt.Errorf("%s has no runs left", name)
		}
		s.Runs++
		if err := r.set(tx, s.ID, `runs = ?`, s.Runs); err != nil {
			return err
		}
		at := milli(tx.Now())
		return r.begin(tx, s, Run{Schedule: s.ID, Due: at, Fired: at}, cant)
	}
	s, err = r.change(ctx, "fire a schedule now", name, owner, now)
	if errors.As(err, &cant) {
		return s, fmt.Errorf("%s can't start: %w", name, cant.why)
	}
	return s, err
}
