package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// A fork is a temporary copy of an agent that handles one message while the agent goes on
// undisturbed. Its transcript begins with a snapshot of its parent's transcript and with the
// message. A fork reads and writes mail and memory documents, changes nothing else, and closes
// itself after its only turn. Nothing of it enters its parent's transcript: what is meant for the
// parent is mail.

const (
	forkLimit   = 10 * time.Minute // how long a fork may run once it has a slot
	forkIdle    = 5 * time.Minute  // how long it may wait for a message, and how long its tab stays open at its end
	maxForks    = 32               // living forks of one agent
	forkSubject = 200              // bytes of the message's subject shown in its fork's name
)

// handling is the message that a fork handles, and how.
type handling struct {
	message  inbox.Message // without its texts
	outcomes policy.Outcomes
	waited   bool // it has used up its time to wait for a message
}

// ForkOptions are what Forks needs.
type ForkOptions struct {
	DB      *store.DB
	Inbox   *inbox.Inbox
	Fleet   *fleet.Fleet
	Loops   *turn.Loops
	Waits   *tasks.Waits
	Mail    *mail.Delivery
	Letters *mail.Letters
	Ends    *tasks.Ends
	Resolve func(model string) (llm.Model, error)
}

// Forks runs the forks. The fleet's mutex guards what they handle.
type Forks struct {
	o       ForkOptions
	handles map[int64]*handling // by fork; living ones only
}

var (
	_ mail.Forker = &Forks{}
	_ turn.Life   = &Forks{}
)

// NewForks returns a Forks without forks. Mail delivery and the loops need it, and it needs them:
// call Begin before the first message arrives.
func NewForks() *Forks { return &Forks{handles: map[int64]*handling{}} }

// Begin sets what forks need.
func (f *Forks) Begin(o ForkOptions) { f.o = o }

// Ended forgets what a fork handled. The caller holds the fleet's mutex.
func (f *Forks) Ended(i event.Info) { delete(f.handles, i.ID) }

// handled returns a copy of what the agent handles; nil: it is not a fork.
func (f *Forks) handled(agent int64) *handling {
	f.o.Fleet.Lock()
	defer f.o.Fleet.Unlock()
	h := f.handles[agent]
	if h == nil {
		return nil
	}
	now := *h
	return &now
}

// Fork makes a fork for a message that waits for its parent. One transaction writes the fork's row,
// takes the message and begins the transcript. If the message was taken first, or the agent itself
// waits for it, Fork makes no fork and returns nil.
func (f *Forks) Fork(ctx context.Context, agent, message int64) error {
	parent, err := f.o.Fleet.Agent(agent)
	if err != nil {
		return err
	}
	of, model, err := f.able(parent)
	if err != nil {
		return fmt.Errorf("fork %s: %w", of.Name, err)
	}
	says, err := f.o.Mail.Policy(parent.ID)
	if err != nil {
		return err
	}
	h, from := &handling{outcomes: says.Rules.Outcomes}, parent.Env.Now()
	seen, err := f.snapshot(ctx, of)
	if err != nil {
		return fmt.Errorf("fork %s: %w", of.Name, err)
	}
	err = f.o.DB.Write(ctx, "fork", func(tx *store.Tx) error {
		above, ok, err := tx.Agent(parent.ID)
		if err != nil || !ok {
			return errors.Join(err, store.Missing(ok, "agent %d", parent.ID))
		}
		row := store.Agent{
			Kind: string(event.Fork), Trust: above.Trust, Parent: parent.ID, Model: model.Name,
			State: string(event.Queued), Handles: message, Role: above.Role,
		}
		if m, _, err := inbox.Find(&tx.View, message); err != nil || f.o.Waits.Awaited(parent.ID, m) {
			return err
		}
		if row.Name, err = tasks.ForkName(&tx.View, above.Name); err != nil {
			return err
		}
		asked := inbox.Query{Recipient: parent.ID, ID: message}
		begin := func(ms []inbox.Message) (seq int64, err error) {
			if row.ID, err = tx.AddAgent(row); err != nil {
				return 0, err
			}
			return f.instruct(tx, row, h, seen, ms[0])
		}
		ms, _, err := f.o.Inbox.Take(tx, asked, inbox.ByForkOf(row.Name), begin)
		if err != nil || len(ms) == 0 {
			return err
		}
		h.message = brief(ms[0])
		i := event.Info{
			ID: row.ID, Name: row.Name, Kind: event.Fork, Parent: row.Parent, State: event.Queued,
			Model: model.Name, Spent: event.Spent{Window: model.Window, Priced: model.Price != nil},
			Created: tx.Now(), Started: tx.Now(), Attempt: 1, Judged: event.Judged{Role: of.Role},
		}
		tasks.TrustIn(row).Mark(&i)
		i.About(ms[0])
		tx.AfterCommit(func() {
			f.o.Fleet.Lock()
			defer f.o.Fleet.Unlock()
			if f.o.Fleet.Closing() {
				return // the next start of the program tells the parent
			}
			l := f.o.Loops.Make(i, 0)
			l.Agent.Env.Adopt(from)
			f.handles[l.Agent.ID] = h
			f.o.Fleet.Open(l.Agent)
			fleet.LineUp(l.Agent)
			l.Start()
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("fork %s for message #%d: %w", of.Name, message, err)
	}
	return nil
}

// able returns what a fork of the agent starts with, or an error if the agent can't be forked.
func (f *Forks) able(parent *fleet.Agent) (event.Info, llm.Model, error) {
	f.o.Fleet.Lock()
	defer f.o.Fleet.Unlock()
	n := 0
	for a := range f.o.Fleet.Living() {
		if a.Kind.Handles() && a.Info.Parent == parent.ID {
			n++
		}
	}
	vendor, abroad := parent.Info.Abroad()
	switch i := parent.Info; {
	case abroad:
		return i, parent.Model, fmt.Errorf("it is an agent of %s, which is not forked", vendor)
	case !parent.Kind.Nature().Forks:
		return i, parent.Model, errors.New("it is a fork itself, and a fork is not forked")
	case i.State.Terminal():
		return i, parent.Model, fmt.Errorf("it has ended (%s)", i.State)
	case f.o.Fleet.Closing():
		return i, parent.Model, event.ErrClosing
	case n >= maxForks:
		return i, parent.Model, fmt.Errorf("%w (%d)", mail.ErrForks, maxForks)
	}
	return parent.Info, parent.Model, nil
}

// brief returns m without its texts.
func brief(m inbox.Message) inbox.Message {
	m.Body, m.Error, m.Partial, m.Subject = "", "", "", ""
	return m
}

// instruct begins a fork's transcript: a snapshot of its parent's, what happens with its findings,
// who sent the message, and the message in the usual envelope. It returns the message's entry.
func (f *Forks) instruct(tx *store.Tx, row store.Agent, h *handling, seen string, m inbox.Message) (int64, error) {
	of, _, err := tx.AgentName(row.Parent)
	if err != nil {
		return 0, err
	}
	who, err := sender(&tx.View, m)
	if err != nil {
		return 0, err
	}
	b := f.o.Fleet.Book(row.ID).Batch(tx)
	told := fmt.Sprintf("You are a fork of %s. "+
		"What follows is a snapshot of its last turns, made when the message came. "+
		"%s goes on by itself, does not see you, and may have gone on since: "+
		"this is for you to know, not to carry out.\n\n", of, of)
	snapshot := inbox.NewRendering(tx.Now(), 0).Snapshot(of, seen)
	if _, err := b.Add(0, history.Entry{Kind: history.EntrySnapshot, Text: told + snapshot}); err != nil {
		return 0, err
	}
	told = fmt.Sprintf("You handle message #%d to %s. %s %s", m.ID, of, who, h.fate(of))
	if _, err := b.Add(0, history.Entry{Kind: history.EntryHost, Text: told}); err != nil {
		return 0, err
	}
	room := history.SomeWindow
	if model, err := f.o.Resolve(row.Model); err == nil && model.Window > 0 {
		room = model.Window
	}
	r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room/4)))
	return b.Add(0, history.Entry{
		Kind: history.EntryMessage, By: "fork", Messages: []inbox.Message{m},
		Text: inbox.QuoteLine(m) + "\n\n" + r.Envelope(m),
	})
}

// sender tells a fork who wrote the message it handles.
func sender(v *store.View, m inbox.Message) (string, error) {
	name := m.By()
	if m.Sender == 0 {
		return fmt.Sprintf("It came from outside (%s): nobody there reads an answer.", name), nil
	}
	a, _, err := v.Agent(m.Sender)
	switch {
	case err != nil:
		return "", err
	case event.State(a.State).Terminal() && !event.Kind(a.Kind).Handles():
		return fmt.Sprintf("%s, who wrote it, has ended (%s) and reads no mail.", name, a.State), nil
	}
	return fmt.Sprintf("%s, who wrote it, is a %s agent (%s); reply_to_message %d answers it.",
		name, a.Kind, a.State, m.ID), nil
}

// fate tells a fork what happens with its final message.
func (h *handling) fate(of string) string {
	var parts []string
	if o := h.outcomes; o.Memory != "" {
		parts = append(parts, "it is kept as the memory document "+inbox.Label(o.Memory))
	}
	if h.outcomes.ToParent != "" {
		parts = append(parts, "its beginning is sent to "+of)
	}
	if h.outcomes.Escalate != "" {
		parts = append(parts, "it goes to "+inbox.Label(h.outcomes.Escalate)+" together with the message")
	}
	if len(parts) == 0 {
		return "Nobody reads your final message unless you send it: " +
			"what " + of + " must know goes to it with the tool send."
	}
	return "When your turn ends, your final message is used: " + strings.Join(parts, "; ") + "."
}
