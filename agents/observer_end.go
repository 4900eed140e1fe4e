package agents

import (
	"errors"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/store"
)

const (
	subject = 100 // characters of the prompt quoted in the report
	nothing = "(nothing)"
)

// Conclude deposits an observer's report, in the transaction that ends the observer.
func (r *Observers) Conclude(tx *store.Tx, l *turn.Loop, e turn.Ending, state event.State) error {
	text, err := l.Said(tx)
	if err != nil {
		return err
	}
	kind := inbox.Scheduled
	if l.Turn() == 0 {
		kind = inbox.Failure // it could not start
	}
	return errors.Join(r.report(tx, l.Agent.ID, kind, e, text), r.o.Ends.Pass(tx, l.Agent.ID, state))
}

// Unseen deposits the findings of an observer that a crash cut, in the transaction that ends it.
func (r *Observers) Unseen(tx *store.Tx, agent int64, why, text string) error {
	return r.report(tx, agent, inbox.Scheduled, turn.Ending{Outcome: history.OutCrashed, Cause: why}, text)
}

// report deposits an observer's end with the owner of its schedule. Its key allows only one report
// of an agent.
func (r *Observers) report(tx *store.Tx, agent int64, kind inbox.Kind, e turn.Ending, text string) error {
	o, ok, err := store.ObserverOf(&tx.View, agent)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "what agent %d observes", agent))
	}
	to, err := tasks.Heir(tx, agent)
	if err != nil {
		return err
	}
	m := inbox.Message{
		Recipient: to, Sender: agent, Kind: kind, Deliver: inbox.Deliver(o.Deliver), Priority: inbox.Priority(o.Priority),
		Subject: first(o.Prompt), Outcome: string(e.Outcome), Error: history.Fit(e.Cause, history.MaxSubject), Key: "report",
	}
	if kind == inbox.Failure {
		m.Subject = history.Fit(o.Prompt, history.MaxSubject)
	} else if m.Body, err = r.body(tx, o, text); err != nil {
		return err
	}
	id, err := r.o.Inbox.Add(tx, m)
	if err != nil || r.Ended == nil {
		return err
	}
	finding := text
	if e.Cause != "" {
		finding = e.Cause
	}
	return r.Ended(tx, ObserverEnded{Schedule: o.Schedule, Agent: agent, Outcome: string(e.Outcome), Finding: finding, Message: id})
}

// body returns the text of a report.
func (r *Observers) body(tx *store.Tx, o store.Observer, text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		text = nothing
	}
	if o.Mark != "" {
		text = "[" + o.Mark + "]\n" + text
	}
	if r.Over != nil {
		over, err := r.Over(&tx.View, o.Agent)
		if err != nil {
			return "", err
		}
		if over {
			text += "\n\nThe watch has ended: " + o.Name + " is not scheduled any more."
		}
	}
	return history.Fit(text, inbox.MaxBody), nil
}

// first returns the beginning of a prompt.
func first(prompt string) string {
	if rs := []rune(prompt); len(rs) > subject {
		return string(rs[:subject])
	}
	return prompt
}
