package agents

import (
	"errors"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/memory"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/store"
)

// findings is how many bytes of a fork's final message go into a message to another.
const findings = 4 << 10

// conclude makes of what a fork found what its parent's policy says, in the
// transaction that ends it; after anything but a success its parent hears of that.
// What waits for the fork passes to its parent.
func (f *forks) conclude(tx *store.Tx, a *agent, e ending) error {
	text, err := a.said(tx)
	if err != nil {
		return err
	}
	if e.outcome == Completed {
		err = f.outcomes(tx, a.id, text)
	} else {
		err = f.unhandled(tx, a.id, e, text)
	}
	return errors.Join(err, f.p.ends.Pass(tx, a.id, a.restState(e.outcome)))
}

// outcomes carries out what the policy says of a message that was handled.
func (f *forks) outcomes(tx *store.Tx, fork int64, text string) error {
	h := f.handled(fork)
	m, ok, err := f.p.inbox.Find(tx, h.message.ID)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "message %d", h.message.ID))
	}
	above, err := roster.Heir(tx, fork)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if name := h.outcomes.Memory; name != "" && text != "" {
		if err := memory.Write(tx, fork, name, text); err != nil {
			why := fmt.Sprintf("what was found about message #%d from %s was not kept as the memory document %s: %v", m.ID, inbox.Label(m.From), inbox.Label(name), err)
			if err := f.tell(tx, above, fork, m, why, text, OutFailed); err != nil {
				return err
			}
		}
	}
	if o := h.outcomes.ToParent; o != "" {
		body := fmt.Sprintf("%s (#%d from %s)", o, m.ID, inbox.Label(m.From))
		if text != "" {
			body += "\n\n" + llm.Clip(text, findings)
		}
		if _, err := f.p.Post(tx, inbox.Message{
			Recipient: above, Sender: fork, Kind: inbox.Mail, Deliver: inbox.Next, Body: body, InReplyTo: m.ID, Hops: m.Hops + 1,
		}); err != nil {
			return err
		}
	}
	if h.outcomes.Escalate == "" {
		return nil
	}
	return f.escalate(tx, fork, above, h.outcomes.Escalate, m, text)
}

// escalate forwards the message to whom the policy names; if nobody of that name
// reads mail, the parent hears so.
func (f *forks) escalate(tx *store.Tx, fork, above int64, name string, m inbox.Message, text string) error {
	to, ok, err := tx.AgentByName(name)
	if err != nil {
		return err
	}
	if !ok || State(to.State).Terminal() || !to.Closed.IsZero() {
		why := "there is no agent " + inbox.Label(name)
		if ok {
			why = fmt.Sprintf("the agent %s has ended (%s)", inbox.Label(name), to.State)
		}
		return f.tell(tx, above, fork, m, fmt.Sprintf("message #%d from %s was handled, but not forwarded to %s: %s. /messages show %d prints it",
			m.ID, inbox.Label(m.From), inbox.Label(name), why, m.ID), text, OutFailed)
	}
	if to.ID == m.Sender {
		return nil // it knows the message
	}
	whom, _, err := tx.AgentName(m.Recipient)
	if err != nil {
		return err
	}
	body := fmt.Sprintf("Forwarded: message #%d from %s to %s.\n\n%s", m.ID, inbox.Label(m.From), whom, quoted(history.Fit(m.Text(), inbox.MaxBody/2)))
	if text != "" {
		body += "\n\nWhat its fork says of it:\n\n" + llm.Clip(text, findings)
	}
	_, err = f.p.Post(tx, inbox.Message{
		Recipient: to.ID, Sender: fork, Kind: inbox.Mail, Deliver: inbox.Next, Priority: m.Priority, Tags: m.Tags,
		Subject: history.Fit(inbox.Label(m.Subject), forkSubject), Body: body, InReplyTo: m.ID, Hops: m.Hops + 1,
	})
	return err
}

// quoted sets a text off as somebody else's.
func quoted(s string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n> ")
}

// unhandled tells who is above a fork that it did not handle its message, in the
// transaction that ends it. The message stays in its transcript.
func (f *forks) unhandled(tx *store.Tx, fork int64, e ending, text string) error {
	row, ok, err := tx.Agent(fork)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "agent %d", fork))
	}
	m, ok, err := f.p.inbox.Find(tx, row.Handles)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "message %d", row.Handles))
	}
	above, err := roster.Heir(tx, fork)
	if err != nil {
		return err
	}
	cause := strings.ReplaceAll(string(e.outcome), "_", " ")
	if strings.HasPrefix(e.cause, cause) {
		cause = e.cause
	} else if e.cause != "" {
		cause += ": " + e.cause
	}
	return f.tell(tx, above, fork, m, fmt.Sprintf("message #%d from %s was not handled (%s). /messages show %d prints it", m.ID, inbox.Label(m.From), cause, m.ID), text, e.outcome)
}

// tell deposits what went wrong with the message m that a fork handled, as urgent
// as the message is.
func (f *forks) tell(tx *store.Tx, to, fork int64, m inbox.Message, why, text string, o Outcome) error {
	_, err := f.p.Post(tx, inbox.Message{
		Recipient: to, Sender: fork, Kind: inbox.Failure, Deliver: inbox.Next, Priority: m.Priority,
		Subject: history.Fit(inbox.Label(m.Text()), forkSubject), Outcome: string(o), Error: history.Fit(why, history.MostSubject), Partial: history.Fit(text, inbox.MaxBody), InReplyTo: m.ID, Hops: m.Hops + 1,
	})
	return err
}
