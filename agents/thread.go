package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/store"
)

// Thread returns the messages of the thread that a message belongs to, in the order
// they came, with only the beginnings of their texts.
func (ls *letters) Thread(ctx context.Context, id int64) ([]inbox.Message, error) {
	return ls.inbox.Thread(ctx, id)
}

// Reply answers a message in the name of the agent it was sent to, in its thread.
func (ls *letters) Reply(ctx context.Context, agent, id int64, text string) (Sent, error) {
	return ls.respond(ctx, agent, id, Letter{Body: text}, func(m inbox.Message, ok bool) error {
		switch {
		case !ok:
			return fmt.Errorf("there is no message #%d; /inbox lists those that wait", id)
		case m.Recipient != agent:
			return fmt.Errorf("message #%d was sent to another agent: reply in its tab; /messages show %d prints it", id, id)
		case m.Asks():
			return fmt.Errorf("message #%d is a question and waits for your answer: /answer %d", id, id)
		case m.Sender == 0 && m.Outside():
			return fmt.Errorf("message #%d came from outside (%s), where nobody has an inbox", id, inbox.Label(m.From))
		case m.Sender == 0:
			return fmt.Errorf("message #%d is a %s: nobody wrote it who could read a reply", id, m.Kind)
		}
		return nil
	})
}

// respond sends a letter to the sender of a message, if may allows it.
func (ls *letters) respond(ctx context.Context, from, id int64, l Letter, may func(m inbox.Message, ok bool) error) (sent Sent, err error) {
	err = ls.db.Write(ctx, "reply", func(tx *store.Tx) error {
		m, ok, err := inbox.Find(&tx.View, id)
		if err == nil {
			err = may(m, ok)
		}
		if err != nil {
			return err
		}
		about := m.Subject
		if about == "" {
			about = inbox.Label(m.Body)
		}
		if !strings.HasPrefix(about, "Re: ") {
			about = "Re: " + about
		}
		whom, err := roster.Reader(&tx.View, m.Sender)
		if err != nil {
			return err
		}
		sent.To = whom.Name
		re := inbox.Message{
			Recipient: whom.ID, Sender: from, Kind: inbox.Mail, Deliver: inbox.Next, Body: l.Body, InReplyTo: id, Subject: history.Fit(about, history.MostSubject), Hops: l.hops,
		}
		sent.held = re.Endless()
		sent.ID, err = ls.post(tx, re)
		return err
	})
	if err != nil {
		return Sent{}, fmt.Errorf("reply to #%d: %w", id, err)
	}
	return sent, nil
}
