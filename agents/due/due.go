// Package due carries out what schedules that fire are to do.
//
// Does: begin the command of a schedule as a task of its own, or have an observer begin its prompt, and end the run when
// the task has ended: with a message, or without one where a command ended as the last time; answer the agents' tool.
//
// Does not: say when something is due (schedule does), start agents, run commands.
//
// Imports: agents/history, agents/roster, agents/schedule, agents/schedule/when, inbox, store, tools.
package due

import (
	"cmp"
	"errors"
	"strings"

	"fantail/agents/history"
	"fantail/agents/roster"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/store"
)

// Work is how what is due begins and ends.
type Work struct {
	Inbox *inbox.Inbox

	// Order queues a task of the human's in the transaction, to start at once, under a name like its own.
	Order func(tx *store.Tx, t roster.Task) (roster.Task, error)

	// Close closes the tab of an agent that has ended.
	Close func(tx *store.Tx, agent int64) error

	// Finish ends a task that nobody began.
	Finish func(tx *store.Tx, t roster.Task, end roster.End) (bool, error)

	// Observe begins an observer with the prompt of a firing, and tells schedule.Began. nil: there are none.
	Observe func(tx *store.Tx, f schedule.Firing) error
}

// Fire begins what a firing is to do, as [schedule.Options.Fire].
func (w *Work) Fire(tx *store.Tx, f schedule.Firing) error {
	if f.Kind != schedule.Command {
		if w.Observe == nil {
			return errors.New("no observers work here; /schedule WHEN !COMMAND runs a command")
		}
		return w.Observe(tx, f)
	}
	if err := w.clear(tx, f.Run); err != nil {
		return err
	}
	t, err := w.Order(tx, roster.Task{
		Queue: f.Recipient, Name: f.Name, Prompt: f.Text, Kind: roster.KindCommand, Origin: roster.OriginHuman,
		Deliver: string(f.Deliver), State: roster.TaskQueued,
	})
	if err != nil {
		return err
	}
	return schedule.Began(tx, f.Run.ID, t.ID, 0)
}

// clear closes the tab of the run before, so that no more than one stays of a schedule.
func (w *Work) clear(tx *store.Tx, r schedule.Run) error {
	last, ok, err := schedule.Before(&tx.View, r)
	if err != nil || !ok || last.Task == 0 {
		return err
	}
	t, ok, err := tx.Task(last.Task)
	if err != nil || !ok || t.Agent == 0 {
		return err
	}
	return w.Close(tx, t.Agent)
}

// Ended tells of a task's end if a schedule began it. False: none did, and others tell of it.
func (w *Work) Ended(tx *store.Tx, t roster.Task, end roster.End) (bool, error) {
	s, r, ok, err := schedule.OfTask(&tx.View, t.ID)
	if err != nil || !ok || s.Kind != schedule.Command {
		return false, err
	}
	outcome := string(end.Outcome)
	if end.Cause != "" {
		outcome += ": " + end.Cause
	}
	last, before, err := schedule.Before(&tx.View, r)
	if err != nil {
		return false, err
	}
	var message int64
	if !before || s.Always || last.Outcome != outcome {
		m := schedule.Firing{Schedule: s, Run: r, Recipient: t.Queue}.Message(inbox.Scheduled)
		m.Sender, m.Subject, m.Outcome, m.Task, m.Turn = end.Agent, "!"+s.Subject(), string(end.Outcome), t.ID, end.Turn
		body := history.Fit(cmp.Or(end.Text, "(no output)"), inbox.MaxBody/2)
		if mark := r.Mark(); mark != "" {
			body += "\n(" + mark + ")"
		}
		if end.Outcome != history.Completed {
			m.Error = history.Fit(cmp.Or(end.Cause, outcome), history.MostSubject)
		}
		if before && last.Outcome != outcome {
			body += "\n(the time before: " + last.Outcome + ")"
		}
		m.Body = body
		if message, err = w.Inbox.Add(tx, m); err != nil {
			return false, err
		}
	}
	_, err = schedule.End(tx, r.ID, outcome, lastLine(end.Text), message)
	return true, err
}

// lost is why a command did not run that was due when the program ended.
const lost = "the program ended before it began"

// Recover ends, where a process begins that has the agents, the runs whose command the last one did not begin: a queued
// task waits for the human, and a schedule for its run. Who gets the mail is told.
func (w *Work) Recover(tx *store.Tx) error {
	runs, err := schedule.Unfinished(&tx.View)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Task == 0 {
			continue // an observer carries it out
		}
		t, ok, err := tx.Task(r.Task)
		switch {
		case err != nil:
		case ok && t.State == roster.TaskQueued:
			_, err = w.Finish(tx, t, roster.End{Outcome: history.OutCrashed, Cause: lost})
		case !ok || t.State != roster.TaskRunning:
			_, err = schedule.End(tx, r.ID, string(history.OutCrashed), lost, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Removed ends the run of a task that was taken out of its queue.
func (w *Work) Removed(tx *store.Tx, t roster.Task) error {
	_, r, ok, err := schedule.OfTask(&tx.View, t.ID)
	if err == nil && ok {
		_, err = schedule.End(tx, r.ID, roster.TaskRemoved, "", 0)
	}
	return err
}

// lastLine is the last line of a text that says something.
func lastLine(text string) string {
	text = strings.Trim(text, " \n`")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
