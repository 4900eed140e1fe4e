package agents

import (
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/store"
)

// findings limits the bytes of a fork's final message that are quoted to another agent.
const findings = 4 << 10

// Conclude applies the parent's policy to a fork's findings, in the transaction that ends the fork.
// If the fork did not succeed, Conclude tells the parent. Whatever waits for the fork passes to its
// parent.
func (f *Forks) Conclude(tx *store.Tx, l *turn.Loop, e turn.Ending, state event.State) error {
	text, err := l.Said(tx)
	if err != nil {
		return err
	}
	if e.Outcome == history.Completed {
		err = f.outcomes(tx, l.Agent.ID, text)
	} else {
		err = f.Unhandled(tx, l.Agent.ID, e, text)
	}
	return errors.Join(err, f.o.Ends.Pass(tx, l.Agent.ID, state))
}

// outcomes does what the policy says for a handled message.
func (f *Forks) outcomes(tx *store.Tx, fork int64, text string) error {
	h := f.handled(fork)
	m, ok, err := inbox.Find(&tx.View, h.message.ID)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "message %d", h.message.ID))
	}
	above, err := tasks.Heir(tx, fork)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if name := h.outcomes.Memory; name != "" && text != "" {
		if err := history.WriteDocument(tx, fork, name, text); err != nil {
			why := fmt.Sprintf("what was found about message #%d from %s was not kept as the memory document %s: %v",
				m.ID, inbox.Label(m.From), inbox.Label(name), err)
			if err := f.tell(tx, above, fork, m, why, text, history.OutFailed); err != nil {
				return err
			}
		}
	}
	if o := h.outcomes.ToParent; o != "" {
		body := fmt.Sprintf("%s (#%d from %s)", o, m.ID, inbox.Label(m.From))
		if text != "" {
			body += "\n\n" + llm.Clip(text, findings)
		}
		if _, err := f.o.Letters.Post(tx, inbox.Message{
			Recipient: above, Sender: fork, Kind: inbox.Mail, Deliver: inbox.Next,
			Body: body, InReplyTo: m.ID, Hops: m.Hops + 1,
		}); err != nil {
			return err
		}
	}
	if h.outcomes.Escalate == "" {
		return nil
	}
	return f.escalate(tx, fork, above, h.outcomes.Escalate, m, text)
}

// escalate forwards the message to the agent that the policy names. If no agent of that name reads
// mail, it tells the parent.
func (f *Forks) escalate(tx *store.Tx, fork, above int64, name string, m inbox.Message, text string) error {
	to, ok, err := tx.AgentByName(name)
	if err != nil {
		return err
	}
	if !ok || event.State(to.State).Terminal() || !to.Closed.IsZero() {
		why := "there is no agent " + inbox.Label(name)
		if ok {
			why = fmt.Sprintf("the agent %s has ended (%s)", inbox.Label(name), to.State)
		}
		why = fmt.Sprintf("message #%d from %s was handled, but not forwarded to %s: %s. /messages show %d prints it",
			m.ID, inbox.Label(m.From), inbox.Label(name), why, m.ID)
		return f.tell(tx, above, fork, m, why, text, history.OutFailed)
	}
	if to.ID == m.Sender {
		return nil // it is the sender
	}
	whom, _, err := tx.AgentName(m.Recipient)
	if err != nil {
		return err
	}
	body := fmt.Sprintf("Forwarded: message #%d from %s to %s.\n\n%s",
		m.ID, inbox.Label(m.From), whom, quoted(history.Fit(m.Text(), inbox.MaxBody/2)))
	if text != "" {
		body += "\n\nWhat its fork says of it:\n\n" + llm.Clip(text, findings)
	}
	_, err = f.o.Letters.Post(tx, inbox.Message{
		Recipient: to.ID, Sender: fork, Kind: inbox.Mail, Deliver: inbox.Next, Priority: m.Priority, Tags: m.Tags,
		Subject: history.Fit(inbox.Label(m.Subject), forkSubject), Body: body, InReplyTo: m.ID, Hops: m.Hops + 1,
	})
	return err
}

// quoted marks a text as a quotation.
func quoted(s string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n> ")
}

// Unhandled tells a fork's parent that the message was not handled, in the transaction that ends
// the fork. The message stays in the fork's transcript.
func (f *Forks) Unhandled(tx *store.Tx, fork int64, e turn.Ending, text string) error {
	row, ok, err := tx.Agent(fork)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "agent %d", fork))
	}
	m, ok, err := inbox.Find(&tx.View, row.Handles)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "message %d", row.Handles))
	}
	above, err := tasks.Heir(tx, fork)
	if err != nil {
		return err
	}
	cause := strings.ReplaceAll(string(e.Outcome), "_", " ")
	if strings.HasPrefix(e.Cause, cause) {
		cause = e.Cause
	} else if e.Cause != "" {
		cause += ": " + e.Cause
	}
	why := fmt.Sprintf("message #%d from %s was not handled (%s). /messages show %d prints it",
		m.ID, inbox.Label(m.From), cause, m.ID)
	return f.tell(tx, above, fork, m, why, text, e.Outcome)
}

// tell deposits a failure about the message m that a fork handled, with m's priority.
func (f *Forks) tell(tx *store.Tx, to, fork int64, m inbox.Message, why, text string, o history.Outcome) error {
	_, err := f.o.Letters.Post(tx, inbox.Message{
		Recipient: to, Sender: fork, Kind: inbox.Failure, Deliver: inbox.Next, Priority: m.Priority,
		Subject: history.Fit(inbox.Label(m.Text()), forkSubject), Outcome: string(o),
		Error: history.Fit(why, history.MaxSubject), Partial: history.Fit(text, inbox.MaxBody),
		InReplyTo: m.ID, Hops: m.Hops + 1,
	})
	return err
}
