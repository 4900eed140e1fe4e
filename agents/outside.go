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

// Door is how a process that does not own the agents reaches them: beside the
// one that does, or while there is none. What comes in by it is marked, and is
// data. Each of its methods returns after its COMMIT.
type Door struct {
	DB      *store.DB
	Origin  string                            // OriginCLI or OriginMCP
	Model   string                            // of main in a workspace nobody used yet
	Resolve func(name string) (string, error) // a model's whole name; the error says what is known
	Ring    func()                            // called after a commit, for the process that owns the agents
}

// name is what senders by this door are called.
func (d *Door) name() string {
	if d.Origin == OriginMCP {
		return OutsideMCP
	}
	return Outside
}

// write is a transaction that others hear of.
func (d *Door) write(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	err := d.DB.Write(ctx, what, func(tx *store.Tx) error {
		if _, err := roster.OpenMain(tx, d.Model); err != nil {
			return err
		}
		return f(tx)
	})
	if err == nil {
		d.Ring()
	}
	return err
}

// Mail puts a letter into the inboxes of all it is addressed to, or of none. It
// waits there until it is taken.
func (d *Door) Mail(ctx context.Context, l Letter) (sent []Sent, err error) {
	box := inbox.New(d.DB, nil)
	m := inbox.Message{From: d.name(), Kind: inbox.Mail, Deliver: inbox.Hold, Priority: l.Priority, Tags: l.Tags, Body: l.Body, Key: l.Key}
	err = d.write(ctx, "send from outside", func(tx *store.Tx) error {
		sent = nil
		for _, name := range l.To {
			a, err := roster.Addressee(&tx.View, name)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(sent, func(s Sent) bool { return s.To == a.Name }) {
				continue
			}
			m.Recipient = a.ID
			id, err := box.Add(tx, m)
			if err != nil {
				return err
			}
			sent = append(sent, Sent{ID: id, To: a.Name})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w; nothing was sent", strings.Join(l.To, ", "), err)
	}
	return sent, nil
}

// Push queues a task in main's queue. It starts when the human says /run, and
// its agent asks before all it does but reading.
func (d *Door) Push(ctx context.Context, t Order) (Task, error) {
	row := Task{
		Prompt: strings.TrimSpace(t.Prompt), Model: t.Model, Timeout: t.Timeout, Kind: roster.KindPrompt, Origin: d.Origin,
		Deliver: string(inbox.Hold), State: roster.TaskQueued,
	}
	switch {
	case row.Prompt == "":
		return Task{}, errors.New("push: a task needs a prompt")
	case strings.HasPrefix(row.Prompt, "!"):
		return Task{}, errors.New("push: only the human can queue a command (/push !CMD in the program); from outside, write what is to be done as a prompt")
	}
	if row.Model != "" && d.Resolve != nil {
		var err error
		if row.Model, err = d.Resolve(row.Model); err != nil {
			return Task{}, fmt.Errorf("queue the task: %w", err)
		}
	}
	err := d.write(ctx, "push from outside", func(tx *store.Tx) error {
		owner, err := roster.OpenMain(tx, d.Model)
		if err != nil {
			return err
		}
		row.Queue = owner.ID
		if row.Name, err = roster.NameFor(tx, t.Name, nil); err != nil {
			return err
		}
		needs, err := roster.Needed(&tx.View, t.After)
		if err != nil && d.Origin == OriginMCP {
			err = roster.Unquoted(err)
		}
		if err != nil {
			return err
		}
		if row.ID, err = tx.AddTask(row); err != nil {
			return err
		}
		row.Created, row.After = tx.Now(), t.After
		for _, n := range needs {
			if err := tx.NeedTask(row.ID, n.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Task{}, fmt.Errorf("queue the task: %w", err)
	}
	return row, nil
}

// Order is a task on its way in.
type Order struct {
	Name, Prompt, Model string
	Timeout             time.Duration
	After               []string // the tasks it waits for
}

// Inbox lists pending messages of the agent of that name, in q's order.
func (d *Door) Inbox(ctx context.Context, name string, q inbox.Query) ([]inbox.Message, error) {
	q, err := d.look(ctx, name, q)
	if err != nil {
		return nil, err
	}
	return inbox.New(d.DB, nil).List(ctx, q)
}

// Since lists messages of the agent that came after that one, taken or not.
func (d *Door) Since(ctx context.Context, name string, after int64) ([]inbox.Message, error) {
	id, err := d.whose(ctx, name)
	if err != nil {
		return nil, err
	}
	return inbox.New(d.DB, nil).Since(ctx, id, after)
}

// Newest is the id of the newest message of the workspace.
func (d *Door) Newest(ctx context.Context) (int64, error) { return inbox.New(d.DB, nil).Newest(ctx) }

// Check takes what matches, at most 200, for who stands outside: the messages
// enter no conversation. A notice in the agent's transcript says so, in the same
// transaction. left counts the others.
func (d *Door) Check(ctx context.Context, name string, q inbox.Query) (ms []inbox.Message, left int, err error) {
	if q, err = d.look(ctx, name, q); err != nil {
		return nil, 0, err
	}
	q.Limit = maxTaken
	box := inbox.New(d.DB, nil)
	err = d.write(ctx, "check from outside", func(tx *store.Tx) error {
		b := Book{Agent: q.Recipient}.Batch(tx, false)
		ms, left, err = box.Take(tx, q, d.Origin, func(ms []inbox.Message) (int64, error) {
			return b.Add(0, Entry{Kind: EntryNotice, By: d.Origin, Text: carriedOff(ms, d.name())})
		})
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("take messages: %w", err)
	}
	return ms, left, nil
}

// carriedOff says what was taken out of an inbox, and who has it now.
func carriedOff(ms []inbox.Message, by string) string {
	const named = 10
	var list []string
	for i, m := range ms {
		if i == named {
			list = append(list, fmt.Sprintf("and %d more", len(ms)-named))
			break
		}
		list = append(list, fmt.Sprintf("#%d from %s", m.ID, inbox.Label(m.From)))
	}
	what := "1 message"
	if len(ms) > 1 {
		what = fmt.Sprintf("%d messages", len(ms))
	}
	return fmt.Sprintf("%s taken by %s, not into this conversation: %s. /messages show %d prints one.", what, by, strings.Join(list, ", "), ms[0].ID)
}

// Queue is the queue of the agent of that name.
func (d *Door) Queue(ctx context.Context, name string) (q Queue, err error) {
	id, err := d.whose(ctx, name)
	if err != nil {
		return q, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		q.Tasks, err = rx.Tasks(id)
		return err
	})
	return q, err
}

// Message returns one message, taken or not, and the name of whose it is.
func (d *Door) Message(ctx context.Context, id int64) (m inbox.Message, of string, ok bool, err error) {
	if m, ok, err = inbox.New(d.DB, nil).Get(ctx, id); err != nil || !ok {
		return m, "", ok, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		of, _, err = rx.AgentName(m.Recipient)
		return err
	})
	return m, of, true, err
}

// whose finds the agent that a word means, ended or not; main is there even where
// nobody used the workspace yet, as 0.
func (d *Door) whose(ctx context.Context, word string) (id int64, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		a, err := roster.AgentMeant(&rx.View, word)
		if id = a.ID; errors.Is(err, ErrNoAgent) && word == string(Main) {
			return nil
		}
		return err
	})
	return id, err
}

// look completes a query: whose inbox, and from whom.
func (d *Door) look(ctx context.Context, name string, q inbox.Query) (inbox.Query, error) {
	var err error
	if q.Recipient, err = d.whose(ctx, name); err != nil || q.From == "" {
		return q, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		q.From, err = roster.SenderMeant(&rx.View, q.Recipient, q.From)
		return err
	})
	return q, err
}
