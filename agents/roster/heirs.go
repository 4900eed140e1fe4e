package roster

import (
	"errors"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// Heir is the nearest agent above that one that lives.
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

// ResultOf is the message a task ends with.
func ResultOf(t store.Task, agent int64, o history.Outcome, cause, text string) inbox.Message {
	m := inbox.Message{
		Recipient: t.Queue, Sender: agent, From: t.Name, Kind: inbox.Result, Deliver: inbox.Deliver(t.Deliver),
		Subject: history.Fit(Typed(t), history.MostSubject), Outcome: string(o), Task: t.ID, Body: history.Fit(text, inbox.MaxBody),
	}
	if o != history.Completed {
		m.Error = history.Fit(cause, history.MostSubject)
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

// Reader is who reads the mail for an agent: itself, or for a fork that has ended
// the agent that it was a fork of.
func Reader(v *store.View, id int64) (store.Agent, error) {
	for {
		a, ok, err := v.Agent(id)
		if err != nil || !ok {
			return a, errors.Join(err, store.Missing(ok, "agent %d", id))
		}
		if event.Kind(a.Kind) != event.Fork || !event.State(a.State).Terminal() || a.Parent == 0 {
			return a, nil
		}
		id = a.Parent
	}
}

// Above is the nearest agent from that one upwards whom the human talks to.
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
