package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Made is the outcome of the work that a message reports.
type Made struct {
	Message inbox.Message // whole
	Diff    string        // all changes to files, in the order they were made; "": none
	Changes int           // number of changes
}

// Output returns the sender's final text.
func (m Made) Output() string { return m.Message.Text() }

// Made returns what the sender of a message did: in the task that the message ends, or, if it ends
// none, in the turn that sent it.
func (l *Records) Made(ctx context.Context, message int64) (made Made, err error) {
	err = l.pool.o.DB.Read(ctx, func(rx *store.Rx) error {
		made = Made{}
		m, ok, err := inbox.Find(&rx.View, message)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("there is no message #%d. /inbox to list your mail", message)
		}
		made.Message = m
		turns, err := turnsOf(&rx.View, m)
		if err != nil {
			return err
		}
		var diffs []string
		for _, t := range turns {
			rows, err := rx.TurnEntries(t.ID)
			if err != nil {
				return err
			}
			for _, e := range history.DecodeAll(rows) {
				if e.Result != nil && e.Result.Diff != "" && !e.At.After(m.Created) {
					diffs = append(diffs, strings.TrimSuffix(e.Result.Diff, "\n")+"\n")
				}
			}
		}
		made.Diff, made.Changes = strings.Join(diffs, "\n"), len(diffs)
		return nil
	})
	if err != nil {
		return Made{}, fmt.Errorf("read what was made: %w", err)
	}
	return made, nil
}

// turnsOf returns the turns of the work that m reports. It tells them apart by time, because an
// agent carries out one task at a time.
func turnsOf(v *store.View, m inbox.Message) ([]store.Turn, error) {
	worker, from, to := m.Sender, m.Created, m.Created
	if m.Task != 0 {
		t, ok, err := v.Task(m.Task)
		if err != nil || !ok {
			return nil, err
		}
		worker, from, to = t.Agent, t.Started, t.Finished
	}
	if worker == 0 {
		return nil, nil
	}
	ts, err := v.Turns(worker)
	if err != nil {
		return nil, err
	}
	var in []store.Turn
	for _, t := range ts {
		if t.Agent != worker || t.Started.After(to) {
			continue
		}
		if ended := !t.Ended.IsZero() && t.Ended.Before(from); m.Task == 0 && ended ||
			m.Task != 0 && t.Started.Before(from) {
			continue
		}
		in = append(in, t)
	}
	if m.Task == 0 && len(in) > 1 {
		in = in[len(in)-1:]
	}
	return in, nil
}
