package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// Client is how a process that does not run the agents reaches them. It also works while their owner is not running.
// Everything that comes in through it is marked as external and is data, never an instruction. Each method returns
// after its COMMIT.
type Client struct {
	DB      *store.DB
	Origin  string                            // tasks.OriginCLI or tasks.OriginMCP
	Model   string                            // main's, in a new workspace
	Resolve func(name string) (string, error) // a model's full name; nil: names are taken as they are
	Ring    func()                            // called after each commit, to wake the owner of the agents
	Seals   *tasks.SealKey                    // the host's, if used in the host; nil: the human is asked about each task before it starts
	Command *OutsideCommand                   // which came through it; nil: none of an agent's
}

// OutsideCommand is an agent's command that uses a Client.
type OutsideCommand struct {
	Agent string // its name, which is the sender's of its mail
	Turn  int64  // in which it runs
}

// name returns the sender of mail through this Client.
func (d *Client) name() string {
	if d.Command != nil {
		return d.Command.Agent
	}
	if d.Origin == tasks.OriginMCP {
		return tasks.OutsideMCP
	}
	return tasks.OutsideName
}

// write runs f in a transaction, with main in the database, and wakes the host once it is committed.
func (d *Client) write(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	err := d.DB.Write(ctx, what, func(tx *store.Tx) error {
		if _, err := tasks.OpenMain(tx, d.Model); err != nil {
			return err
		}
		return f(tx)
	})
	if err == nil {
		d.Ring()
	}
	return err
}

// OutsideDeposit is mail from outside as its sender writes it.
type OutsideDeposit struct {
	To       []string // names
	Body     string
	Priority inbox.Priority // "": normal
	Tags     []string
	Key      string // a retry with the same key is the same message, stored once; "": none
}

// OutsideReceipt says where a deposit went.
type OutsideReceipt struct {
	ID int64
	To string // the agent's full name
}

// Mail puts a deposit into the inboxes of all its addressees, or of none. It is held there until it is taken.
func (d *Client) Mail(ctx context.Context, dep OutsideDeposit) (sent []OutsideReceipt, err error) {
	box := inbox.New(d.DB, nil)
	m := inbox.Message{
		From: d.name(), Kind: inbox.Mail, Deliver: inbox.Hold, Priority: dep.Priority, Tags: dep.Tags, Body: dep.Body,
		Key: dep.Key,
	}
	err = d.write(ctx, "send from outside", func(tx *store.Tx) error {
		sent = nil
		for _, name := range dep.To {
			a, err := tasks.Addressee(&tx.View, name)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(sent, func(s OutsideReceipt) bool { return s.To == a.Name }) {
				continue
			}
			m.Recipient = a.ID
			id, err := box.Add(tx, m)
			if err != nil {
				return err
			}
			sent = append(sent, OutsideReceipt{ID: id, To: a.Name})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w; nothing was sent", strings.Join(dep.To, ", "), err)
	}
	return sent, nil
}

// OutsideOrder is a task from outside.
type OutsideOrder struct {
	Name, Prompt, Model string
	Timeout             time.Duration
	Budget              string   // of its agent and all below: 50k, $2; "": the usual one
	After               []string // the tasks it waits for
}

// Push adds a task to main's queue. It starts when the human says /run, and its agent asks before doing anything but
// reading.
func (d *Client) Push(ctx context.Context, t OutsideOrder) (tasks.Task, error) {
	row := tasks.Task{
		Prompt: strings.TrimSpace(t.Prompt), Model: t.Model, Timeout: t.Timeout, Budget: t.Budget,
		Kind: tasks.KindPrompt, Origin: d.Origin, Deliver: string(inbox.Hold), State: tasks.TaskQueued,
	}
	if d.Command != nil {
		row.SpawnedBy = d.Command.Turn
	}
	switch {
	case row.Prompt == "":
		return tasks.Task{}, errors.New("push: a task needs a prompt")
	case strings.HasPrefix(row.Prompt, "!"):
		return tasks.Task{}, errors.New("push: only the human can queue a command (/push !CMD in the program); " +
			"from outside, write what is to be done as a prompt")
	}
	if row.Model != "" && d.Resolve != nil {
		var err error
		if row.Model, err = d.Resolve(row.Model); err != nil {
			return tasks.Task{}, fmt.Errorf("queue the task: %w", err)
		}
	}
	err := d.write(ctx, "push from outside", func(tx *store.Tx) error {
		if d.Command != nil {
			turn, _, err := tx.Turn(d.Command.Turn)
			if err == nil {
				err = tasks.MaySpawn(tx, turn.Agent)
			}
			if err != nil {
				return err
			}
		}
		owner, err := tasks.OpenMain(tx, d.Model)
		if err != nil {
			return err
		}
		row.Queue = owner.ID
		if row.Name, err = tasks.NameFor(tx, t.Name, nil); err != nil {
			return err
		}
		needs, err := tasks.Needed(&tx.View, t.After)
		if err != nil && d.Origin == tasks.OriginMCP {
			err = tasks.Unquoted(err)
		}
		if err != nil {
			return err
		}
		if row.ID, err = tx.AddTask(row, tasks.IDs(needs)...); err != nil {
			return err
		}
		row.Created, row.After = tx.Now(), t.After
		if d.Seals == nil {
			return nil
		}
		_, err = tasks.SealTask(tx, d.Seals, row.ID)
		return err
	})
	if err != nil {
		return tasks.Task{}, fmt.Errorf("queue the task: %w", err)
	}
	return row, nil
}

// Inbox returns the pending messages of the named agent that match q, in q's order.
func (d *Client) Inbox(ctx context.Context, name string, q inbox.Query) ([]inbox.Message, error) {
	q, err := d.look(ctx, name, q)
	if err != nil {
		return nil, err
	}
	return inbox.New(d.DB, nil).List(ctx, q)
}

// Matching returns how many pending messages of the named agent match q; [inbox.Left] formats it.
func (d *Client) Matching(ctx context.Context, name string, q inbox.Query) (int, error) {
	q, err := d.look(ctx, name, q)
	if err != nil {
		return 0, err
	}
	return inbox.New(d.DB, nil).Matching(ctx, q)
}

// Since returns the messages the named agent got after the one with that id, taken or not.
func (d *Client) Since(ctx context.Context, name string, after int64) ([]inbox.Message, error) {
	id, err := d.whose(ctx, name)
	if err != nil {
		return nil, err
	}
	return inbox.New(d.DB, nil).Since(ctx, id, after)
}

// Newest returns the id of the newest message in the workspace.
func (d *Client) Newest(ctx context.Context) (int64, error) { return inbox.New(d.DB, nil).Newest(ctx) }

// maxHandedIn is how many messages one take takes at most.
const maxHandedIn = 200

// Check takes the messages that match, at most 200, for the caller: they enter no conversation, and a notice in the
// agent's transcript, written in the same transaction, says so. left counts those that match but stay.
func (d *Client) Check(ctx context.Context, name string, q inbox.Query) (ms []inbox.Message, left int, err error) {
	if q, err = d.look(ctx, name, q); err != nil {
		return nil, 0, err
	}
	q.Limit = maxHandedIn
	box := inbox.New(d.DB, nil)
	err = d.write(ctx, "check from outside", func(tx *store.Tx) error {
		b := history.Writer{Agent: q.Recipient}.Batch(tx)
		ms, left, err = box.Take(tx, q, d.Origin, func(ms []inbox.Message) (int64, error) {
			return b.Add(0, history.Entry{Kind: history.EntryNotice, By: d.Origin, Text: carriedOff(ms, d.name())})
		})
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("take messages: %w", err)
	}
	return ms, left, nil
}

// carriedOff returns the notice for an agent's transcript that says which messages were taken out of its inbox, and who
// took them.
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
	return fmt.Sprintf("%s taken by %s, not into this conversation: %s. /messages show %d prints one.",
		what, by, strings.Join(list, ", "), ms[0].ID)
}

// Transcript returns the state of the agent that a word means, its tab open or closed, and at most that many entries
// of its transcript after that one.
func (d *Client) Transcript(ctx context.Context, word string, after int64, most int) (i event.Info, es []history.Entry, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		row, err := tasks.AgentMeant(&rx.View, word)
		if err != nil {
			return err
		}
		if i, err = tasks.Known(&rx.View, row); err != nil {
			return err
		}
		rows, err := rx.EntriesAfter(row.ID, after, most)
		es = history.DecodeAll(rows)
		return err
	})
	if err != nil {
		err = fmt.Errorf("read a transcript: %w", err)
	}
	return i, es, err
}

// Agents returns the state of the agents whose tab is open. The row of an agent at work says that it runs, even while
// it waits.
func (d *Client) Agents(ctx context.Context) (all []event.Info, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		all = nil
		rows, err := rx.Agents()
		if err != nil {
			return err
		}
		for _, row := range rows {
			i, err := tasks.Known(&rx.View, row)
			if err != nil {
				return err
			}
			all = append(all, i)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the agents: %w", err)
	}
	return all, nil
}

// Queue returns the queue of the named agent.
func (d *Client) Queue(ctx context.Context, name string) (q tasks.QueueView, err error) {
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

// Task returns one task.
func (d *Client) Task(ctx context.Context, id int64) (t tasks.Task, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		row, ok, err := rx.Task(id)
		t = row
		return errors.Join(err, store.Missing(ok, "task %d", id))
	})
	return t, err
}

// Message returns one message, taken or not, and the name of its recipient.
func (d *Client) Message(ctx context.Context, id int64) (m inbox.Message, of string, ok bool, err error) {
	if m, ok, err = inbox.New(d.DB, nil).Get(ctx, id); err != nil || !ok {
		return m, "", ok, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		of, _, err = rx.AgentName(m.Recipient)
		return err
	})
	return m, of, true, err
}

// whose returns the agent that a word means, which may have ended. In a new workspace main has no row yet: its id is 0.
func (d *Client) whose(ctx context.Context, word string) (id int64, err error) {
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		a, err := tasks.AgentMeant(&rx.View, word)
		if id = a.ID; errors.Is(err, tasks.ErrNoAgent) && word == string(event.Main) {
			return nil
		}
		return err
	})
	return id, err
}

// look completes a query with the recipient's id and the sender's full name.
func (d *Client) look(ctx context.Context, name string, q inbox.Query) (inbox.Query, error) {
	var err error
	if q.Recipient, err = d.whose(ctx, name); err != nil || q.From == "" {
		return q, err
	}
	err = d.DB.Read(ctx, func(rx *store.Rx) error {
		q.From, err = tasks.SenderMeant(&rx.View, q.Recipient, q.From)
		return err
	})
	return q, err
}
