package schedule

import (
	"cmp"
	"errors"
	"strings"

	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// TimetableWork starts and ends the work of schedules.
type TimetableWork struct {
	Inbox *inbox.Inbox

	// Order queues a task of the human's in the transaction, to start at once. It may get another name.
	Order func(tx *store.Tx, t tasks.Task) (tasks.Task, error)

	// Close closes the tab of an agent that has ended.
	Close func(tx *store.Tx, agent int64) error

	// Finish ends a task that has not begun.
	Finish func(tx *store.Tx, t tasks.Task, end tasks.End) (bool, error)

	// Observe starts an observer with the prompt of a firing, and calls Began. nil: there are none.
	Observe func(tx *store.Tx, f Firing) error
}

// Fire begins what a firing is to do, as [Options.Fire].
func (w *TimetableWork) Fire(tx *store.Tx, f Firing) error {
	if f.Kind != Command {
		if w.Observe == nil {
			return errors.New("no observers work here; /schedule WHEN !COMMAND runs a command")
		}
		return w.Observe(tx, f)
	}
	if err := w.clear(tx, f.Run); err != nil {
		return err
	}
	t, err := w.Order(tx, tasks.Task{
		Queue: f.Recipient, Name: f.Name, Prompt: f.Text, Kind: tasks.KindCommand, Origin: tasks.OriginHuman,
		Deliver: string(f.Deliver), State: tasks.TaskQueued, Sandbox: sandboxOf(f.Schedule),
	})
	if err != nil {
		return err
	}
	return Began(tx, f.Run.ID, t.ID, 0)
}

// sandboxOf returns the sandbox for the command of a schedule. It runs without one only if the human said so.
func sandboxOf(s Schedule) string {
	if s.Sandbox == NoSandbox && s.Origin == Human {
		return ""
	}
	return tasks.Sandboxed
}

// clear closes the tab of the previous run, so that a schedule has at most one.
func (w *TimetableWork) clear(tx *store.Tx, r Run) error {
	last, ok, err := Before(&tx.View, r)
	if err != nil || !ok || last.Task == 0 {
		return err
	}
	t, ok, err := tx.Task(last.Task)
	if err != nil || !ok || t.Agent == 0 {
		return err
	}
	return w.Close(tx, t.Agent)
}

// Ended reports a task's end if a schedule started it. It returns false if none did; then others report it.
func (w *TimetableWork) Ended(tx *store.Tx, t tasks.Task, end tasks.End) (bool, error) {
	s, r, ok, err := OfTask(&tx.View, t.ID)
	if err != nil || !ok || s.Kind != Command {
		return false, err
	}
	outcome := string(end.Outcome)
	if end.Cause != "" {
		outcome += ": " + end.Cause
	}
	last, before, err := Before(&tx.View, r)
	if err != nil {
		return false, err
	}
	var message int64
	if !before || s.Always || last.Outcome != outcome {
		m := Firing{Schedule: s, Run: r, Recipient: t.Queue}.Message(inbox.Scheduled)
		m.Sender, m.Subject, m.Outcome, m.Task, m.Turn = end.Agent, "!"+s.Subject(), string(end.Outcome), t.ID, end.Turn
		body := history.Fit(cmp.Or(end.Text, "(no output)"), inbox.MaxBody/2)
		if mark := r.Mark(); mark != "" {
			body += "\n(" + mark + ")"
		}
		if end.Outcome != history.Completed {
			m.Error = history.Fit(cmp.Or(end.Cause, outcome), history.MaxSubject)
		}
		if before && last.Outcome != outcome {
			body += "\n(the time before: " + last.Outcome + ")"
		}
		m.Body = body
		if message, err = w.Inbox.Add(tx, m); err != nil {
			return false, err
		}
	}
	_, err = End(tx, r.ID, outcome, lastLine(end.Text), message)
	return true, err
}

// lost is the error of a due command that had not started when the program ended.
const lost = "the program ended before it began"

// Recover ends the runs whose command the last process did not start, at the start of a process that has the agents: a
// queued task would wait for the human, and a schedule for its run. The recipient gets a message.
func (w *TimetableWork) Recover(tx *store.Tx) error {
	runs, err := Unfinished(&tx.View)
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
		case ok && t.State == tasks.TaskQueued:
			_, err = w.Finish(tx, t, tasks.End{Outcome: history.OutCrashed, Cause: lost})
		case !ok || t.State != tasks.TaskRunning:
			_, err = End(tx, r.ID, string(history.OutCrashed), lost, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Removed ends the run of a task that was removed from its queue.
func (w *TimetableWork) Removed(tx *store.Tx, t tasks.Task) error {
	_, r, ok, err := OfTask(&tx.View, t.ID)
	if err == nil && ok {
		_, err = End(tx, r.ID, tasks.TaskRemoved, "", 0)
	}
	return err
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.Trim(text, " \n`")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
