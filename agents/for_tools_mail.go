package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// The mail tools reach the inboxes through these methods. The transaction that takes messages also
// appends the call's result.

func (d toolAgents) Send(ctx context.Context, m tools.Mail) (string, error) {
	if err := d.p.forks.MayWrite(ctx, d.l.Agent, m.To); err != nil {
		return "", err
	}
	goOn, err := d.untilStarted(ctx, m.To)
	if err != nil {
		return "", err
	}
	sent, err := d.p.Letters.Mail(ctx, d.l.Agent.ID, mail.Letter{
		To: m.To, Body: m.Body, Priority: inbox.Priority(m.Priority), Tags: m.Tags, Hops: d.l.Talk().Hops(),
	})
	goOn()
	if err != nil {
		return "", err
	}
	return InInboxes(sent) + ".", nil
}

// untilStarted waits, without a slot, for those names that are tasks about to start: the sender's
// own slot may be what a task waits for. The caller sends before it calls goOn. goOn takes the slot
// back and lets the last of the tasks begin; the earlier ones may have finished by then.
func (d toolAgents) untilStarted(ctx context.Context, names []string) (goOn func(), err error) {
	until, release := d.l.Agent.Steerable(ctx)
	defer release()
	goOn = func() {}
	sent := goOn
	for _, name := range names {
		task := d.p.starting(name)
		if task == 0 {
			continue
		}
		sent() // the next task may need the earlier one's result
		sent = d.p.fleet.Letters.Writes(task)
		w := d.p.waits.Begin(&tasks.Wait{Agent: d.l.Agent.ID, From: name})
		regain, before := d.l.Agent.Aside("waiting for "+name+" to start"), goOn
		goOn = func() {
			sent()
			before()
			_ = regain(ctx) // an error is the end of the turn, which runCall sees
		}
		started := func() bool { return d.p.starting(name) != task }
		err := w.Until(until, func() (bool, error) { return started(), nil })
		w.End()
		if err == nil || started() {
			continue
		}
		goOn()
		if never := (tasks.Nothing{}); errors.As(err, &never) {
			return nil, fmt.Errorf("send to %s: %s; nothing was sent", name, never.Why)
		}
		return nil, fmt.Errorf("send to %s: it has not started: %w; nothing was sent", name, err)
	}
	return goOn, nil
}

// starting returns the queued task of that name that starts by itself when it can; 0: none.
func (p *Pool) starting(name string) int64 {
	if task, starts := p.fleet.Line.Waiting(name); starts {
		return task
	}
	return 0
}

// InInboxes says where a letter arrived: `Message #4 is in the inbox of lint`.
func InInboxes(sent []mail.Sent) string {
	if len(sent) == 1 {
		text := fmt.Sprintf("Message #%d is in the inbox of %s", sent[0].ID, sent[0].To)
		if sent[0].Held {
			text += fmt.Sprintf(", where it is held until the user lets it in: agents wrote the %d messages before it "+
				"because of each other", inbox.MaxHops)
		}
		return text
	}
	parts := make([]string, len(sent))
	for i, s := range sent {
		parts[i] = fmt.Sprintf("%s (#%d)", s.To, s.ID)
	}
	return "Messages are in the inboxes of " + strings.Join(parts, ", ")
}

// grasp is the entry that a call's take appended, and its text.
type grasp struct {
	entry int64
	text  string
}

// taken appends the result of a call that took messages, as one entry.
func (d toolAgents) taken(call, name string, g *grasp) mail.Into {
	return func(b *history.Batch, ms []inbox.Message, text string) (seq int64, err error) {
		g.text = text
		e := result(call, name, ms, &history.Result{Text: text})
		g.entry, err = b.Add(d.l.Turn(), e)
		return g.entry, err
	}
}

// result returns the entry for what a call took out of the inbox. An external engine reports its
// own calls, so a call of one has no name here and its messages get an entry of their own.
func result(call, name string, ms []inbox.Message, r *history.Result) history.Entry {
	if call == "" {
		return history.Entry{Kind: history.EntryMessage, By: mail.ByTool, Messages: ms, Text: r.Text}
	}
	r.ID, r.Name = call, name
	return history.Entry{Kind: history.EntryResult, By: name, Messages: ms, Result: r}
}

func (d toolAgents) Receive(ctx context.Context, call, from string, lifo bool, timeout time.Duration) (string, int64, error) {
	from, err := d.p.Letters.Sender(ctx, d.l.Agent.ID, from)
	if err != nil {
		return "", 0, err
	}
	if timeout, err = d.p.forks.MayWait(d.l.Agent.ID, timeout); err != nil {
		return "", 0, err
	}
	until, release := d.l.Agent.Steerable(ctx)
	defer release()
	if timeout > 0 { // else it waits for as long as a message can arrive
		var cancel context.CancelFunc
		until, cancel = context.WithTimeoutCause(until, timeout, fleet.ErrTimeout)
		defer cancel()
	}
	var g grasp
	how := mail.Patience{By: mail.ByTool, HasMail: d.l.Agent.HasMail, Into: d.taken(call, "receive", &g)}
	how.Stands = func(why string) func() {
		regain := d.l.Agent.Aside(why)
		return func() { _ = regain(ctx) } // an error is the end of the turn, which runCall sees
	}
	_, err = d.p.takes.Receive(until, d.l.Agent.Book(), inbox.Query{From: from, LIFO: lifo}, how)
	switch {
	case errors.Is(err, fleet.ErrSteered):
		return "No message was taken: the user wrote to you meanwhile.", 0, nil
	case timeout > 0 && errors.Is(err, fleet.ErrTimeout):
		d.p.forks.WaitedFor(d.l.Agent.ID, timeout)
		err = fmt.Errorf(
			"no message came within %s; messages arrive by themselves, so end your turn instead of waiting again", timeout)
	case errors.Is(err, tasks.ErrNothing):
		if m := d.l.Talk().Entered(from); m.ID != 0 {
			return fmt.Sprintf("Message #%d from %s has entered this conversation by itself: it stands above. "+
				"More does not come: %v.", m.ID, m.By(), err), 0, nil
		}
	}
	return g.text, g.entry, err
}

func (d toolAgents) Check(ctx context.Context, call, from string, lifo bool) (string, int64, error) {
	from, err := d.p.Letters.Sender(ctx, d.l.Agent.ID, from)
	if err != nil {
		return "", 0, err
	}
	var g grasp
	rest := func(b *history.Batch, left int) error {
		_, err := b.Add(d.l.Turn(), history.Entry{Kind: history.EntryHost, Text: fmt.Sprintf("%s more: check again", inbox.Left(left))})
		return err
	}
	q := inbox.Query{From: from, LIFO: lifo}
	ms, _, err := d.p.takes.Check(ctx, d.l.Agent.Book(), q, mail.ByTool, d.taken(call, "check", &g), rest)
	if err == nil && len(ms) == 0 {
		g.text = "No messages ready."
	}
	return g.text, g.entry, err
}

// maxListed limits the messages that one call lists.
const maxListed = 50

func (d toolAgents) Messages(ctx context.Context, f tools.Filter) (string, error) {
	from, err := d.p.Letters.Sender(ctx, d.l.Agent.ID, f.From)
	if err != nil {
		return "", err
	}
	ms, err := d.p.inbox.Look(ctx, inbox.Query{
		Recipient: d.l.Agent.ID, From: from, Priority: inbox.Priority(f.Priority), Limit: maxListed + 1,
	}, f.Taken)
	if err != nil {
		return "", err
	}
	more := ""
	if len(ms) > maxListed {
		ms, more = ms[:maxListed], fmt.Sprintf("\n(only the first %d are listed)", maxListed)
	}
	return inbox.NewRendering(d.p.o.Now(), 0).Listing(ms) + more, nil
}

// Read returns a message to or from the agent. It takes a pending one. One that was taken or sent
// before is only shown again.
func (d toolAgents) Read(ctx context.Context, call string, id int64, offset int) (string, int64, error) {
	p := d.p
	r := inbox.NewRendering(p.o.Now(), history.BytesOf(min(history.ItemTokens, d.l.Agent.Book().Room())))
	var g grasp
	err := p.o.DB.Write(ctx, "read a message", func(tx *store.Tx) error {
		g = grasp{}
		m, ok, err := inbox.Find(&tx.View, id)
		switch {
		case err != nil:
			return err
		case !ok || (!d.p.forks.Concerns(d.l.Agent.ID, m.Recipient, id) && m.Sender != d.l.Agent.ID):
			return fmt.Errorf("you have no message #%d; look at your inbox", id)
		case offset < 0 || offset > len(m.Text()):
			return fmt.Errorf("message #%d has %d bytes; the offset %d is not in it", id, len(m.Text()), offset)
		}
		if r.To, _, err = tx.AgentName(m.Recipient); err != nil {
			return err
		}
		if !d.p.forks.Concerns(d.l.Agent.ID, m.Recipient, id) {
			g.text = fmt.Sprintf("You sent this message; %s.\n%s", mail.Fate(m), r.Part(m, offset))
			return nil
		}
		if m.Aside() {
			return fmt.Errorf("message #%d is not in your inbox: the user put it away (%s)", id, m.Fate())
		}
		if m.Asks() {
			g.text = fmt.Sprintf("This is a question to the user, which only they answer; %s.\n%s",
				mail.Fate(m), r.Part(m, offset))
			return nil
		}
		if !m.Taken.IsZero() {
			g.text = fmt.Sprintf("You have had this message before: %s, %s ago.\n%s",
				mail.Fate(m), inbox.Age(tx.Now().Sub(m.Taken)), r.Part(m, offset))
			return nil
		}
		b := d.l.Agent.Book().Batch(tx)
		of := inbox.Query{Recipient: d.l.Agent.ID, ID: id}
		_, _, err = p.inbox.Take(tx, of, mail.ByTool, func(ms []inbox.Message) (int64, error) {
			return d.taken(call, "read_message", &g)(b, ms, r.Part(m, offset))
		})
		return err
	})
	return g.text, g.entry, err
}

// Reply answers a message that was sent to the agent, in the same thread.
func (d toolAgents) Reply(ctx context.Context, id int64, body string) (string, error) {
	may := func(m inbox.Message, ok bool) error {
		switch {
		case !ok || !d.p.forks.Concerns(d.l.Agent.ID, m.Recipient, id):
			return fmt.Errorf("nobody sent you a message #%d; look at your inbox", id)
		case m.Sender == 0:
			return fmt.Errorf("message #%d came from outside (%s): nobody there has an inbox; say it in your answer", id, m.By())
		case m.Asks():
			return fmt.Errorf("message #%d is a question to the user: only they answer it", id)
		}
		return nil
	}
	sent, err := d.p.Letters.Respond(ctx, d.l.Agent.ID, id, mail.Letter{Body: body, Hops: d.l.Talk().Hops()}, may)
	if err != nil {
		return "", err
	}
	return InInboxes([]mail.Sent{sent}) + fmt.Sprintf(", in reply to #%d.", id), nil
}
