package tasks

import (
	"errors"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Heir returns the nearest living agent, starting with that one and going up.
func Heir(tx *store.Tx, id int64) (int64, error) {
	for {
		a, ok, err := tx.Agent(id)
		if err != nil || !ok {
			return 0, errors.Join(err, store.Missing(ok, "agent %d", id))
		}
		if !event.State(a.State).Terminal() {
			return id, nil
		}
		id = a.Parent
	}
}

// ResultOf returns the message that reports an end.
func ResultOf(t store.Task, end End) inbox.Message {
	o := end.Outcome
	m := inbox.Message{
		Recipient: t.Queue, Sender: end.Agent, From: t.Name, Kind: inbox.Result, Deliver: inbox.Deliver(t.Deliver),
		Subject: history.Fit(Typed(t), history.MaxSubject), Outcome: string(o), Task: t.ID, Turn: end.Turn,
		Body: history.Fit(end.Text, inbox.MaxBody),
	}
	if o != history.Completed {
		m.Error = history.Fit(end.Cause, history.MaxSubject)
	}
	switch {
	case o == history.Interrupted && m.Body != "": // what it has so far is its result
	case o != history.Completed:
		m.Kind, m.Partial, m.Body = inbox.Failure, m.Body, ""
	case m.Body == "":
		m.Body = "(no output)"
	}
	return m
}

// Reader returns the agent that reads an agent's mail: the agent itself, or, for a fork that has ended, its parent.
func Reader(v *store.View, id int64) (store.Agent, error) {
	for {
		a, ok, err := v.Agent(id)
		if err != nil || !ok {
			return a, errors.Join(err, store.Missing(ok, "agent %d", id))
		}
		if !event.Kind(a.Kind).Handles() || !event.State(a.State).Terminal() || a.Parent == 0 {
			return a, nil
		}
		id = a.Parent
	}
}

// Above returns the nearest agent that the human talks to, starting with that one and going up.
func Above(tx *store.Tx, id int64) (int64, error) {
	for {
		a, ok, err := tx.Agent(id)
		if err != nil || !ok {
			return 0, errors.Join(err, store.Missing(ok, "agent %d", id))
		}
		if event.Kind(a.Kind).HasPrompt() {
			return id, nil
		}
		id = a.Parent
	}
}
