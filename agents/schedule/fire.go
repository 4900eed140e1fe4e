package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/inbox"
	"fantail/store"
)

// Run fires due schedules until ctx ends. Only the process that has the agents calls it, once. It sleeps until the
// next schedule is due, or indefinitely while there is none, and looks at the rows when it is poked.
func (r *Scheduler) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var trouble error
	for {
		err := r.round(ctx)
		if ctx.Err() != nil {
			return
		}
		if r.o.Trouble != nil && (err != nil || trouble != nil) {
			r.o.Trouble(err)
		}
		trouble = err
		timer.Stop()
		switch next := r.next.Load(); {
		case err != nil:
			timer.Reset(retry)
		case next != 0:
			timer.Reset(max(time.Millisecond, time.UnixMilli(next).Sub(r.o.Now())))
		}
		select {
		case <-ctx.Done():
			return
		case <-r.poke:
		case <-timer.C:
		}
	}
}

// Recover ends the runs that the previous process started and this one does not continue, and holds the schedules that
// are not sealed. It is called once, before the agents are loaded.
func (r *Scheduler) Recover(ctx context.Context) error {
	return r.o.DB.Write(ctx, "end what was due", func(tx *store.Tx) (err error) {
		if r.o.Recover != nil {
			err = r.o.Recover(tx)
		}
		if err == nil && r.o.Seals.Err() == nil {
			err = r.holdAll(tx)
		}
		return err
	})
}

// CatchUp fires the schedules that became due while no process had the agents, so that the process that starts shows
// their mail. Run does so as well.
func (r *Scheduler) CatchUp(ctx context.Context) error { return r.round(ctx) }

// round fires all due schedules, and finds when the next is due.
func (r *Scheduler) round(ctx context.Context) error {
	if r.o.Seals.Err() != nil {
		return nil // without seals no schedule is known to be the human's; the rows stay as they are
	}
	if r.leapt.Swap(false) {
		if err := r.o.DB.Write(ctx, "mend schedules", r.mend); err != nil {
			r.leapt.Store(true)
			return fmt.Errorf("look at the schedules by the clock: %w", err)
		}
	}
	for {
		fired, err := r.fireNext(ctx)
		if err != nil {
			return fmt.Errorf("fire a schedule: %w", err)
		}
		if !fired {
			break
		}
	}
	var active, next int64
	if err := r.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		active, next, err = summary(&rx.View)
		return err
	}); err != nil {
		return err
	}
	r.active.Store(active)
	r.next.Store(next)
	r.o.Changed()
	if r.o.Alarm == nil {
		return nil
	}
	_, at := r.Summary()
	return r.o.Alarm(at)
}

// mend recalculates due times after the clock was changed.
func (r *Scheduler) mend(tx *store.Tx) error {
	all, err := List(&tx.View, 0)
	if err != nil {
		return err
	}
	now := r.now(tx)
	for _, s := range all {
		if s.State != Active {
			continue
		}
		due, err := s.When.Mend(s.Due, now)
		switch {
		case err != nil:
			err = r.end(tx, s, err.Error())
		case !due.Equal(s.Due):
			err = r.set(tx, s.ID, `due_at = ?`, due.UnixMilli())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refusal is why the work of a schedule can't start. Its transaction is rolled back; the next one reports it.
type refusal struct {
	schedule int64
	why      error
}

func (e *refusal) Error() string { return e.why.Error() }
func (e *refusal) Unwrap() error { return e.why }

// fireNext fires the schedule that has been due longest. It returns false if none is due.
func (r *Scheduler) fireNext(ctx context.Context) (fired bool, err error) {
	var cant *refusal
	next := func(tx *store.Tx) error {
		s, ok, err := one(&tx.View, scanSchedule, `SELECT `+columns+from+`WHERE s.due_at <= ? ORDER BY s.due_at, s.id LIMIT 1`, tx.Now().UnixMilli())
		fired = ok
		if err != nil || !ok {
			return err
		}
		switch ok, err = r.sealed(&tx.View, s); {
		case err != nil:
			return err
		case !ok:
			tx.AfterCommit(func() { r.o.Held(ctx, s.Name) })
			return r.hold(tx, s)
		}
		return r.fire(tx, s, cant)
	}
	err = r.o.DB.Write(ctx, "fire a schedule", next)
	if errors.As(err, &cant) {
		err = r.o.DB.Write(ctx, "fire a schedule in vain", next)
	}
	return fired, err
}

// fire fires s, which is due, and calculates its next time. It reports work that can't start.
func (r *Scheduler) fire(tx *store.Tx, s Schedule, cant *refusal) error {
	now := r.now(tx)
	run := Run{Schedule: s.ID, Due: s.Due, Fired: milli(now)}
	var next time.Time
	if s.When.Repeats() {
		var err error
		if next, run.Missed, err = s.When.Next(s.Due, now); err != nil {
			return r.end(tx, s, err.Error())
		}
	}
	if busy, err := Open(&tx.View, s.ID); err != nil || busy { // the last run has not ended
		if next.IsZero() {
			next = now.Add(lateAfter)
		}
		return errors.Join(err, r.set(tx, s.ID, `due_at = ?`, next.UnixMilli()))
	}
	s.Runs++
	var err error
	switch {
	case next.IsZero():
		err = r.end(tx, s, "it fired")
	case s.Runs >= MaxRuns:
		err = r.endLoudly(tx, s, fmt.Sprintf("it ran %d times", s.Runs))
	default:
		err = r.set(tx, s.ID, `due_at = ?, runs = ?`, next.UnixMilli(), s.Runs)
	}
	if err != nil {
		return err
	}
	return r.begin(tx, s, run, cant)
}

// begin begins a run: it deposits the reminder, or starts the work. It reports work that can't start.
func (r *Scheduler) begin(tx *store.Tx, s Schedule, run Run, cant *refusal) (err error) {
	r.changed(tx)
	if run.ID, err = addRun(tx, run); err != nil {
		return err
	}
	s.Last = run
	f := Firing{Schedule: s, Run: run}
	if f.Recipient, err = r.o.Heir(tx, s.Owner); err != nil {
		return err
	}
	switch {
	case s.Kind == Reminder:
		return r.remind(tx, f)
	case cant != nil && cant.schedule == s.ID:
		return r.inVain(tx, f, cant.why)
	case r.o.Fire == nil:
		return &refusal{s.ID, errors.New("nothing here carries out scheduled tasks")}
	}
	if err := r.o.Fire(tx, f); err != nil {
		return &refusal{s.ID, err}
	}
	return r.set(tx, s.ID, `failures = 0`)
}

// Message returns a message of that kind about a firing, without a text.
func (f Firing) Message(kind inbox.Kind) inbox.Message {
	return inbox.Message{
		Recipient: f.Recipient, From: f.Name, Kind: kind, Deliver: f.Deliver, Priority: f.Priority,
		Key: fmt.Sprintf("schedule %d run %d", f.ID, f.Run.ID),
	}
}

// maxSubject is how much of a task a message names.
const maxSubject = 100

// Subject returns the beginning of a schedule's text, for messages.
func (s Schedule) Subject() string {
	if rs := []rune(s.Text); len(rs) > maxSubject {
		return string(rs[:maxSubject])
	}
	return s.Text
}

// remind deposits a reminder.
func (r *Scheduler) remind(tx *store.Tx, f Firing) error {
	m := f.Message(inbox.Reminder)
	body := f.Text
	if mark := f.Run.Mark(); mark != "" {
		body += " (" + mark + ")"
	}
	m.Body = body
	id, err := r.o.Inbox.Add(tx, m)
	if err == nil {
		_, err = End(tx, f.Run.ID, "completed", "", id)
	}
	return err
}

// inVain reports that a run can't start. After several of those in a row the schedule ends.
func (r *Scheduler) inVain(tx *store.Tx, f Firing, why error) error {
	m := f.Message(inbox.Failure)
	m.Subject, m.Outcome, m.Error = f.Subject(), "failed", "it could not start: "+why.Error()
	id, err := r.o.Inbox.Add(tx, m)
	if err == nil {
		_, err = End(tx, f.Run.ID, "failed", why.Error(), id)
	}
	if err == nil {
		err = r.set(tx, f.ID, `failures = failures + 1`)
	}
	if err != nil {
		return err
	}
	n, _, err := one(&tx.View, scanInt, `SELECT failures FROM schedules WHERE id = ? AND state = 'active'`, f.ID)
	if err != nil || n < maxFails {
		return err
	}
	return r.endLoudly(tx, f.Schedule, fmt.Sprintf("it could not start %d times in a row: %s", n, why))
}

// end ends a schedule.
func (r *Scheduler) end(tx *store.Tx, s Schedule, why string) error {
	r.changed(tx)
	return r.set(tx, s.ID, `state = 'ended', due_at = NULL, why = ?, runs = ?`, why, s.Runs)
}

// endLoudly ends a schedule that its owner expects to go on.
func (r *Scheduler) endLoudly(tx *store.Tx, s Schedule, why string) error {
	if err := r.end(tx, s, why); err != nil {
		return err
	}
	to, err := r.o.Heir(tx, s.Owner)
	if err == nil {
		_, err = r.o.Inbox.Add(tx, inbox.Message{
			Recipient: to, From: s.Name, Kind: inbox.Notice, Deliver: s.Deliver, Subject: s.Subject(),
			Body: fmt.Sprintf("The schedule %s (%s) ended: %s. Schedule it anew if it is still wanted.", s.Name, s.When.Text, why),
			Key:  fmt.Sprintf("schedule %d ended", s.ID),
		})
	}
	return err
}
