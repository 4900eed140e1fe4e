package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// Letter is mail as its sender writes it.
type Letter struct {
	To       []string // names
	Body     string
	Priority inbox.Priority // "": normal
	Tags     []string
	Key      string // a retry with the same key is the same message, stored once; "": none

	Hops int // how many messages of agents led to this one, with no human involved; 0: none
}

// Sent is a letter that was put into an inbox.
type Sent struct {
	ID int64
	To string // the agent's full name

	Held bool // held until the human takes it: agents have kept each other going for too long
}

// Letters is what humans and agents do with messages in inboxes without taking them into a conversation: write, list,
// set aside, put back. It knows nothing of turns.
type Letters struct {
	db     *store.DB
	inbox  *inbox.Inbox
	now    func() time.Time
	fleet  *fleet.Fleet
	reader func(ctx context.Context, name string) (event.Info, error) // who reads the mail for that name
	snooze func()                                                     // called after a message was snoozed; the callee keeps the timer
}

// NewLetters returns the letters in the inboxes of box, for the agents of fl. reader finds who reads the mail for a name.
func NewLetters(
	db *store.DB, box *inbox.Inbox, now func() time.Time, fl *fleet.Fleet,
	reader func(ctx context.Context, name string) (event.Info, error), snooze func(),
) *Letters {
	return &Letters{db: db, inbox: box, now: now, fleet: fl, reader: reader, snooze: snooze}
}

// Mail puts an agent's letter into the inboxes of all its addressees, or of none, in one transaction. Names are looked
// up once, before: if a name is given to another agent later, the reader stays the same.
func (ls *Letters) Mail(ctx context.Context, from int64, l Letter) ([]Sent, error) {
	if _, err := ls.fleet.Agent(from); err != nil {
		return nil, err
	}
	if len(l.To) == 0 {
		return nil, errors.New("send: to whom?")
	}
	to, err := ls.Addressees(ctx, l.To)
	if err != nil {
		return nil, fmt.Errorf("send to %w; nothing was sent", err)
	}
	m := inbox.Message{
		Sender: from, Kind: inbox.Mail, Deliver: inbox.Next, Priority: l.Priority, Tags: l.Tags, Body: l.Body,
		Key: l.Key, Hops: l.Hops,
	}
	var sent []Sent
	err = ls.db.Write(ctx, "send", func(tx *store.Tx) error {
		sent = nil
		for _, i := range to {
			m.Recipient = i.ID
			id, err := ls.Post(tx, m)
			if err != nil {
				return err
			}
			sent = append(sent, Sent{ID: id, To: i.Name, Held: m.Endless()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w; nothing was sent", strings.Join(l.To, ", "), err)
	}
	return sent, nil
}

// Send is Mail to one agent.
func (ls *Letters) Send(ctx context.Context, from int64, to, body string, pr inbox.Priority) (int64, error) {
	sent, err := ls.Mail(ctx, from, Letter{To: []string{to}, Body: body, Priority: pr})
	if err != nil {
		return 0, err
	}
	return sent[0].ID, nil
}

// Addressees returns the agents that the names mean, without duplicates.
func (ls *Letters) Addressees(ctx context.Context, names []string) ([]event.Info, error) {
	var to []event.Info
	for _, name := range names {
		i, err := ls.addressee(ctx, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(to, func(j event.Info) bool { return j.ID == i.ID }) {
			to = append(to, i)
		}
	}
	return to, nil
}

// addressee returns the agent that reads the mail for that name.
func (ls *Letters) addressee(ctx context.Context, name string) (i event.Info, err error) {
	var forked bool
	if err := ls.db.Read(ctx, func(rx *store.Rx) error {
		a, ok, err := rx.AgentByName(name)
		if err != nil || !ok || !event.Kind(a.Kind).Handles() {
			return err
		}
		to, err := tasks.Reader(&rx.View, a.ID)
		i, forked = event.Info{ID: to.ID, Name: to.Name}, to.ID != a.ID
		return err
	}); err != nil || forked {
		return i, err
	}
	return ls.reader(ctx, name)
}

// Post deposits mail for an agent that can still read it; mail for a fork that has ended goes to its parent.
func (ls *Letters) Post(tx *store.Tx, m inbox.Message) (int64, error) {
	a, err := tasks.Reader(&tx.View, m.Recipient)
	if err != nil {
		return 0, err
	}
	if event.State(a.State).Terminal() {
		return 0, tasks.HasEnded(a.Name, event.State(a.State))
	}
	m.Recipient = a.ID
	if m.Sender != 0 {
		by, _, err := tx.Agent(m.Sender)
		if err != nil {
			return 0, err
		}
		m.ByFork = event.Kind(by.Kind).Handles()
	}
	id, err := ls.inbox.Add(tx, m)
	if err != nil || !m.Endless() {
		return id, err
	}
	_, err = ls.fleet.Book(a.ID).Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: fmt.Sprintf(
		"Message #%d is held: the agents wrote the %d before it because of each other, without you. "+
			"/messages next lets it in, and they go on from there; /messages show %d prints it.",
		id, inbox.MaxHops, id)})
	return id, err
}

// Look lists the agent's messages that q selects, with only the beginnings of their texts: the pending ones, or with
// taken the newest of all. It takes none.
func (ls *Letters) Look(ctx context.Context, agent int64, q inbox.Query, taken bool) ([]inbox.Message, error) {
	q.Recipient = agent
	return ls.inbox.Look(ctx, q, taken)
}

// Whose returns the ID, Name and State of the agent whose inbox a word means, whether its tab is open or closed.
func (ls *Letters) Whose(ctx context.Context, word string) (i event.Info, err error) {
	err = ls.db.Read(ctx, func(rx *store.Rx) error {
		a, err := tasks.AgentMeant(&rx.View, word)
		i = event.Info{ID: a.ID, Name: a.Name, State: event.State(a.State)}
		return err
	})
	return i, err
}

// Peek returns agent's pending messages that match q, with their full texts; it takes none.
func (ls *Letters) Peek(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, error) {
	var err error
	if q.From, err = ls.Sender(ctx, agent, q.From); err != nil {
		return nil, err
	}
	q.Recipient = agent
	return ls.inbox.List(ctx, q)
}

// Inbox lists the pending messages of agent.
func (ls *Letters) Inbox(ctx context.Context, agent int64) ([]inbox.Message, error) {
	return ls.Peek(ctx, agent, inbox.Query{})
}

// Message returns one message, taken or not.
func (ls *Letters) Message(ctx context.Context, id int64) (inbox.Message, bool, error) {
	return ls.inbox.Get(ctx, id)
}

// Sender returns the full name of the sender that a word means in the recipient's inbox.
func (ls *Letters) Sender(ctx context.Context, recipient int64, word string) (name string, err error) {
	if word == "" {
		return "", nil
	}
	err = ls.db.Read(ctx, func(rx *store.Rx) error {
		name, err = tasks.SenderMeant(&rx.View, recipient, word)
		return err
	})
	return name, err
}

// Thread returns the messages of the thread that a message belongs to, in order of arrival, with only the beginnings of
// their texts.
func (ls *Letters) Thread(ctx context.Context, id int64) ([]inbox.Message, error) {
	return ls.inbox.Thread(ctx, id)
}

// Reply answers a message on behalf of the agent it was sent to, in its thread.
func (ls *Letters) Reply(ctx context.Context, agent, id int64, text string) (Sent, error) {
	return ls.Respond(ctx, agent, id, Letter{Body: text}, func(m inbox.Message, ok bool) error {
		switch {
		case !ok:
			return fmt.Errorf("there is no message #%d. /inbox to list your mail", id)
		case m.Recipient != agent:
			return fmt.Errorf("message #%d was sent to another agent: reply in its tab; /messages show %d prints it",
				id, id)
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

// Respond sends a letter to the sender of a message, if may allows it.
func (ls *Letters) Respond(
	ctx context.Context, from, id int64, l Letter, may func(m inbox.Message, ok bool) error,
) (sent Sent, err error) {
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
		whom, err := tasks.Reader(&tx.View, m.Sender)
		if err != nil {
			return err
		}
		sent.To = whom.Name
		re := inbox.Message{
			Recipient: whom.ID, Sender: from, Kind: inbox.Mail, Deliver: inbox.Next, Body: l.Body, InReplyTo: id,
			Subject: history.Fit(about, history.MaxSubject), Hops: l.Hops,
		}
		sent.Held = re.Endless()
		sent.ID, err = ls.Post(tx, re)
		return err
	})
	if err != nil {
		return Sent{}, fmt.Errorf("reply to #%d: %w", id, err)
	}
	return sent, nil
}
