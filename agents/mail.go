package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/roster"
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

	hops int // of the message; 0: no agent's mail led to it
}

// Sent is a letter in somebody's inbox.
type Sent struct {
	ID int64
	To string // the agent's whole name

	held bool // until the human takes it: agents went on because of each other for too long
}

// letters is what humans and agents do with the rows of inboxes without taking any into
// a conversation: write, list, put aside, put back. It knows nothing of turns.
type letters struct {
	db     *store.DB
	inbox  *inbox.Inbox
	now    func() time.Time
	who    directory
	snooze func() // called when a message was put aside until a time: somebody keeps the timer
}

func newLetters(db *store.DB, box *inbox.Inbox, now func() time.Time, who directory, snooze func()) *letters {
	return &letters{db: db, inbox: box, now: now, who: who, snooze: snooze}
}

// directory is who reads and writes letters.
type directory interface {
	Open(agent int64) error                                // nil: its tab is open
	Reader(ctx context.Context, name string) (Info, error) // who reads the mail for that name
	Book(agent int64) Book
}

// Mail puts a letter of one agent into the inboxes of all it is addressed to, or
// of none: one transaction. The names are looked up once; a name that is used
// again later does not change who reads it.
func (ls *letters) Mail(ctx context.Context, from int64, l Letter) ([]Sent, error) {
	if err := ls.who.Open(from); err != nil {
		return nil, err
	}
	if len(l.To) == 0 {
		return nil, errors.New("send: to whom?")
	}
	to, err := ls.addressed(ctx, l.To)
	if err != nil {
		return nil, fmt.Errorf("send to %w; nothing was sent", err)
	}
	m := inbox.Message{Sender: from, Kind: inbox.Mail, Deliver: inbox.Next, Priority: l.Priority, Tags: l.Tags, Body: l.Body, Key: l.Key, Hops: l.hops}
	var sent []Sent
	err = ls.db.Write(ctx, "send", func(tx *store.Tx) error {
		sent = nil
		for _, i := range to {
			m.Recipient = i.ID
			id, err := ls.post(tx, m)
			if err != nil {
				return err
			}
			sent = append(sent, Sent{id, i.Name, m.Endless()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w; nothing was sent", strings.Join(l.To, ", "), err)
	}
	return sent, nil
}

// Send is Mail to one agent.
func (ls *letters) Send(ctx context.Context, from int64, to, body string, pr inbox.Priority) (int64, error) {
	sent, err := ls.Mail(ctx, from, Letter{To: []string{to}, Body: body, Priority: pr})
	if err != nil {
		return 0, err
	}
	return sent[0].ID, nil
}

// addressed finds the agents that names mean, each once.
func (ls *letters) addressed(ctx context.Context, names []string) ([]Info, error) {
	var to []Info
	for _, name := range names {
		i, err := ls.addressee(ctx, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(to, func(j Info) bool { return j.ID == i.ID }) {
			to = append(to, i)
		}
	}
	return to, nil
}

// addressee is who reads the mail for that name.
func (ls *letters) addressee(ctx context.Context, name string) (i Info, err error) {
	var forked bool
	if err := ls.db.Read(ctx, func(rx *store.Rx) error {
		a, ok, err := rx.AgentByName(name)
		if err != nil || !ok || Kind(a.Kind) != Fork {
			return err
		}
		to, err := roster.Reader(&rx.View, a.ID)
		i, forked = Info{ID: to.ID, Name: to.Name}, to.ID != a.ID
		return err
	}); err != nil || forked {
		return i, err
	}
	return ls.who.Reader(ctx, name)
}

// post deposits mail for an agent that can still read it, or for the parent of a fork
// that has ended.
func (ls *letters) post(tx *store.Tx, m inbox.Message) (int64, error) {
	a, err := roster.Reader(&tx.View, m.Recipient)
	if err != nil {
		return 0, err
	}
	if State(a.State).Terminal() {
		return 0, roster.HasEnded(a.Name, State(a.State))
	}
	m.Recipient = a.ID
	if m.Sender != 0 {
		by, _, err := tx.Agent(m.Sender)
		if err != nil {
			return 0, err
		}
		m.ByFork = Kind(by.Kind) == Fork
	}
	id, err := ls.inbox.Add(tx, m)
	if err != nil || !m.Endless() {
		return id, err
	}
	_, err = ls.who.Book(a.ID).Batch(tx, false).Add(0, Entry{Kind: EntryNotice, Text: fmt.Sprintf(
		"Message #%d is held: the agents wrote the %d before it because of each other, without you. /messages next lets it in, and they go on from there; /messages show %d prints it.",
		id, inbox.MostHops, id)})
	return id, err
}

// Look lists messages of agent that q selects, with only the beginnings of their
// texts: the pending ones, or with taken the newest of all. It takes none.
func (ls *letters) Look(ctx context.Context, agent int64, q inbox.Query, taken bool) ([]inbox.Message, error) {
	q.Recipient = agent
	return ls.inbox.Look(ctx, q, taken)
}

// Whose finds the agent whose inbox a word means, its tab open or closed: ID, Name
// and State of it.
func (ls *letters) Whose(ctx context.Context, word string) (i Info, err error) {
	err = ls.db.Read(ctx, func(rx *store.Rx) error {
		a, err := roster.AgentMeant(&rx.View, word)
		i = Info{ID: a.ID, Name: a.Name, State: State(a.State)}
		return err
	})
	return i, err
}

// Peek returns the pending messages of agent that match q, whole; none is taken.
func (ls *letters) Peek(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, error) {
	var err error
	if q.From, err = ls.sender(ctx, agent, q.From); err != nil {
		return nil, err
	}
	q.Recipient = agent
	return ls.inbox.List(ctx, q)
}

// Inbox lists the pending messages of agent.
func (ls *letters) Inbox(ctx context.Context, agent int64) ([]inbox.Message, error) {
	return ls.Peek(ctx, agent, inbox.Query{})
}

// Message returns one message, taken or not.
func (ls *letters) Message(ctx context.Context, id int64) (inbox.Message, bool, error) {
	return ls.inbox.Get(ctx, id)
}

// sender is the whole name of whom mail for recipient is wanted from.
func (ls *letters) sender(ctx context.Context, recipient int64, word string) (name string, err error) {
	if word == "" {
		return "", nil
	}
	err = ls.db.Read(ctx, func(rx *store.Rx) error {
		name, err = roster.SenderMeant(&rx.View, recipient, word)
		return err
	})
	return name, err
}
