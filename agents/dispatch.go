package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
)

// dispatcher starts tasks. Nothing else does.
func (p *Pool) dispatcher() {
	for {
		select {
		case <-p.fleet.Context().Done():
			return
		case <-p.fleet.Due:
		}
		if p.o.DB.SawOthers() {
			p.Refresh(p.fleet.Context())
		}
		for {
			q := p.fleet.Line.Next()
			if q == nil {
				break
			}
			if q.Foreign { // it may run command lines from files first, which can take long
				p.fleet.Start("start a task from outside", func() { p.launch(q) })
			} else if !p.launch(q) {
				return
			}
		}
	}
}

// launch starts a task. It shows a failure in the tab of the task's owner and retries until it
// succeeds, because the disk may be full. It returns false if the pool closes.
func (p *Pool) launch(q *tasks.QueuedWork) bool {
	var trouble string
	show := func(why string) {
		p.fleet.Lock()
		defer p.fleet.Unlock()
		if a := p.fleet.Of(q.Slot.Owner); a != nil && (trouble == "" || a.Info.Why == trouble) {
			a.Change(func(i *event.Info) { i.Why = why })
		}
		trouble = why
	}
	began := p.o.Now()
	var late *tasks.Late // read once: reading may run command lines
	for {
		var err error
		if late == nil {
			var l tasks.Late
			if l, err = p.Tasks.Late(p.fleet.Context(), q.ID); err == nil {
				late = &l
			} else {
				err = fmt.Errorf("start a task: %w", err)
			}
		}
		if err == nil {
			err = p.begin(q.ID, *late)
		}
		if err == nil {
			if trouble != "" {
				show("")
			}
			return true
		}
		show(err.Error() + "; trying again")
		p.disk.Refused(began, err)
		t := time.NewTimer(2 * time.Second)
		select {
		case <-t.C:
		case <-p.fleet.Context().Done():
			t.Stop()
			return false
		}
	}
}

// begin creates the agent of a task in one transaction and starts it. The slot that
// [fleet.Line.Next] reserved becomes the agent's. After an error the slot is still reserved.
func (p *Pool) begin(id int64, late tasks.Late) error {
	var b beginning
	ctx := context.WithoutCancel(p.fleet.Context())
	err := p.o.DB.Write(ctx, "start a task", func(tx *store.Tx) error {
		b = beginning{}
		return b.record(tx, p, id, late)
	})
	if errors.Is(err, errUnsealed) {
		return p.held.Mistrust(id)
	}
	gone := errors.Is(err, errGone)
	if err != nil && !gone {
		return fmt.Errorf("start %s: %w", b.task.Name, err)
	}
	var i event.Info
	if !gone {
		i = p.newInfo(b)
	}
	p.fleet.Lock()
	defer p.fleet.Unlock()
	q, slot, from := p.fleet.Line.Leaves(id)
	p.fleet.Told()
	if gone {
		p.fleet.Serve()
		return nil
	}
	t := b.task
	i.Parent = slot.Owner // the task may have passed to another owner meanwhile
	l := p.loops.Make(i, id)
	if t.Kind == tasks.KindCommand {
		l.SetCommand(t.Prompt, t.Sandbox)
	}
	limit := t.Timeout
	if limit == 0 && q != nil {
		limit = q.Limit
	}
	if w, open := p.fleet.Queue.Window(t.Queue); open && limit == 0 {
		limit = w.Limit
	}
	l.SetTimeout(cmp.Or(limit, p.o.Limit))
	l.Agent.Inherit(p.fleet.Of(t.Queue))
	l.Agent.Env.Adopt(from)
	l.Agent.Info.Window, l.Agent.Info.Priced = l.Agent.Model.Window, l.Agent.Model.Price != nil
	p.fleet.Queue.Take(l.Agent.ID, l.Agent.Slot())
	p.fleet.Open(l.Agent)
	l.Start()
	return nil
}

// beginning is a task that starts: its row, its agent's row, and the agent's first prompt. A
// command has no prompt.
type beginning struct {
	task  store.Task
	agent store.Agent
	first []event.Prompt
	may   *event.Budget // nil: no limit
	role  *event.Role   // the role from a file; nil: none
}

// record writes the start of the task with that id. The error is errGone if the task is no longer
// queued, and errUnsealed if it may not start.
func (b *beginning) record(tx *store.Tx, p *Pool, id int64, late tasks.Late) error {
	t, ok, err := tx.Task(id)
	switch b.task = t; {
	case err != nil:
		return err
	case !ok || t.State != tasks.TaskQueued:
		return errGone
	}
	switch may, err := tasks.MayStart(&tx.View, p.seals, t); {
	case err != nil:
		return err
	case !may:
		return errUnsealed
	}
	if err := late.Becomes(tx, &t); err != nil {
		return err
	}
	if t.Model == "" && t.Kind != tasks.KindCommand {
		t.Model = p.fleet.ModelOf(t.Queue)
	}
	trust, err := tasks.TrustOf(&tx.View, t)
	if err != nil {
		return err
	}
	var row store.Agent
	if t.Resumes != 0 {
		row, err = tasks.Revive(tx, t, trust)
	} else {
		row = store.Agent{
			Name: t.Name, Kind: string(event.Sub), Trust: trust.String(), Parent: t.Queue, Task: id, Model: t.Model,
			State: string(event.Running), Role: t.Role,
		}
		row.ID, err = tx.AddAgent(row)
		row.Created = tx.Now()
	}
	if err == nil {
		b.role, err = tasks.RoleNamed(&tx.View, row.Role)
	}
	if err != nil {
		return err
	}
	b.task, b.agent = t, row
	if started, err := tx.StartTask(id, row.ID); err != nil || !started {
		return cmp.Or(err, errGone)
	}
	tx.AfterCommit(func() { p.seals.Spend(id) })
	if b.may, err = p.Budgets.Begin(tx, row.ID, t); err != nil {
		return err
	}
	if t.Kind == tasks.KindCommand {
		return nil
	}
	q := event.Prompt{Text: t.Prompt}
	if q.ID, err = tx.AddPrompt(row.ID, t.Prompt, false); err != nil {
		return err
	}
	b.first = []event.Prompt{q}
	return p.brief(tx, row.ID, t)
}

// newInfo returns the Info of an agent that starts with a task. For a resumed agent it includes
// what the agent did before; newInfo then waits until the loop of its last task has ended.
func (p *Pool) newInfo(b beginning) event.Info {
	row, t := b.agent, b.task
	i := event.Info{
		ID: row.ID, Name: row.Name, Kind: event.Sub, Parent: t.Queue, Created: row.Created, Started: row.Created, Attempt: 1,
	}
	if t.Resumes != 0 {
		if known, err := p.known(p.fleet.Context(), row); err == nil { // on an error only the sums are missing
			i = known
		}
		i.Outcome, i.Ended, i.Started = "", time.Time{}, p.o.Now()
		if old, err := p.fleet.Agent(row.ID); err == nil {
			<-old.Gone
		}
	}
	i.State, i.Doing, i.Why, i.Await = event.Running, "starting", "", nil
	if t.Interactive {
		i.Await = &event.Await{For: t.Idle}
	}
	i.Model, i.Task, i.Prompt, i.Prompts, i.Budget = t.Model, t.ID, tasks.Typed(t), b.first, b.may
	i.Role = b.role
	tasks.TrustIn(row).Mark(&i)
	return i
}

// The errors that keep a task from starting and are no failure of the task.
var (
	errGone     = errors.New("the task is no longer queued")
	errUnsealed = errors.New("this host did not write the task as it is")
)

// brief gives a new agent the results of the tasks it waited for, and the human's hint. They are
// messages to the agent, taken at once. Other mail of a resumed agent stays pending. Together they
// use at most a quarter of the model's window, so that the agent can read the rest of what was cut.
func (p *Pool) brief(tx *store.Tx, id int64, t store.Task) error {
	needs, err := tx.Needs(t.ID)
	if err != nil {
		return err
	}
	var ms []inbox.Message
	for _, n := range needs {
		m, ok, err := p.inbox.End(&tx.View, n.ID)
		if err != nil {
			return err
		}
		if ok {
			ms = append(ms, inbox.Message{
				Recipient: id, Sender: m.Sender, From: m.From, Kind: m.Kind, Subject: m.Subject,
				Body: m.Body, Outcome: m.Outcome, Error: m.Error, Partial: m.Partial,
			})
		}
	}
	if t.Hint != "" {
		ms = append(ms, inbox.Message{Recipient: id, Sender: t.Queue, Kind: inbox.Mail, Body: t.Hint})
	}
	if len(ms) == 0 {
		return nil
	}
	var ids []int64
	for _, m := range ms {
		id, err := p.inbox.Add(tx, m)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	room := history.SomeWindow
	if m, err := p.o.Resolve(t.Model); err == nil && m.Window > 0 {
		room = m.Window
	}
	r := inbox.NewRendering(tx.Now(), history.BytesOf(min(history.ItemTokens, room/4/len(ms))))
	b := p.fleet.Book(id).Batch(tx)
	_, _, err = p.inbox.Take(tx, inbox.Query{Recipient: id, IDs: ids}, "start", func(ms []inbox.Message) (int64, error) {
		var parts []string
		for _, m := range ms {
			parts = append(parts, r.Envelope(m))
		}
		text := strings.Join(parts, "\n\n")
		return b.Add(0, history.Entry{Kind: history.EntryMessage, By: "start", Messages: ms, Text: text})
	})
	return err
}
