package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// States of a task's row.
const (
	taskQueued   = "queued"
	taskRunning  = "running"
	taskFinished = "finished"
)

// maxLive is how many sub-agents may live at once, those that wait included.
const maxLive = 64

// Task is a task as it stands in its queue.
type Task = store.Task

// Push queues a task in the queue of `by` and returns it with its name. Nothing
// runs until Run, unless a window is open or the task asks to start.
func (p *Pool) Push(ctx context.Context, by int64, t tools.Task) (Task, error) {
	a, err := p.agent(by)
	if err != nil {
		return Task{}, err
	}
	p.mu.Lock()
	info, live := a.info, 0
	for _, b := range p.agents {
		if b.kind == Sub && !b.info.State.Terminal() {
			live++
		}
	}
	p.mu.Unlock()
	row := Task{Queue: by, Prompt: t.Prompt, Model: t.Model, Timeout: t.Timeout, Deliver: t.Deliver, State: taskQueued}
	if row.Prompt == "" {
		return Task{}, errors.New("a task needs a prompt")
	}
	if live >= maxLive {
		return Task{}, fmt.Errorf("%d agents live already; wait for some to end, or /kill one", live)
	}
	if row.Model == "" {
		row.Model = info.Model
	} else if m, err := p.o.Resolve(row.Model); err != nil {
		return Task{}, err
	} else {
		row.Model = m.Name
	}
	switch inbox.Deliver(row.Deliver) {
	case "":
		row.Deliver = string(inbox.Hold)
	case inbox.Hold, inbox.Next, inbox.Wake:
	default:
		return Task{}, fmt.Errorf("deliver=%s: it is hold, next or wake", row.Deliver)
	}
	row.SpawnedBy = a.turnNow()
	err = p.o.DB.Write(ctx, "push", func(tx *store.Tx) error {
		var err error
		if row.Name, err = p.taskName(tx, t.Name); err != nil {
			return err
		}
		if row.ID, err = tx.AddTask(row); err != nil {
			return err
		}
		row.Created = tx.Now()
		queued := row
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.noteQueued(queued)
			if t.Start {
				p.now[queued.ID] = true
			}
			p.told()
		})
		return nil
	})
	if err != nil {
		return Task{}, fmt.Errorf("push: %w", err)
	}
	return row, nil
}

// turnNow is the turn that runs, 0 if none does.
func (a *agent) turnNow() int64 {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.shownTurn
}

// noteQueued keeps a queued task in memory. The caller holds mu, or is alone.
func (p *Pool) noteQueued(t store.Task) {
	if p.queued[t.Queue] == nil {
		p.queued[t.Queue] = map[int64]string{}
	}
	p.queued[t.Queue][t.ID] = t.Name
}

// unqueue forgets a queued task. The caller holds mu.
func (p *Pool) unqueue(task int64) {
	for owner, tasks := range p.queued {
		if delete(tasks, task); len(tasks) == 0 {
			delete(p.queued, owner)
		}
	}
	delete(p.now, task)
}

// Ran tells what Run did.
type Ran struct{ Running, Queued, Window int } // Window 0: unlimited

// Run opens a window: the queue of `by` drains with at most n tasks running at
// once (0: as many as the pool's cap allows). A second Run replaces the window;
// tasks pushed while it is open join it.
func (p *Pool) Run(ctx context.Context, by int64, n int) (Ran, error) {
	if _, err := p.agent(by); err != nil {
		return Ran{}, err
	}
	if n < 0 {
		return Ran{}, fmt.Errorf("run %d: the number of tasks at once can't be negative", n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	running := 0
	for _, b := range p.agents {
		if b.kind == Sub && b.info.Parent == by && !b.info.State.Terminal() {
			running++
		}
	}
	queued := len(p.queued[by])
	if _, open := p.windows[by]; queued == 0 && !open {
		return Ran{Running: running, Window: n}, nil
	}
	p.windows[by] = n
	holding := 0
	for _, o := range p.running {
		if o == by {
			holding++
		}
	}
	free := p.o.Cap - len(p.running)
	if n > 0 {
		free = min(free, n-holding)
	}
	starts := max(0, min(free, queued))
	p.told()
	return Ran{Running: running + starts, Queued: queued - starts, Window: n}, nil
}

// Queue lists the tasks of the queue of `by` by id.
func (p *Pool) Queue(ctx context.Context, by int64) (ts []Task, err error) {
	err = p.o.DB.Read(ctx, func(rx *store.Rx) error {
		ts, err = rx.Tasks(by)
		return err
	})
	return ts, err
}

// dispatcher is the only one that starts tasks.
func (p *Pool) dispatcher() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.dispatch:
		}
		for {
			owner, task, ok := p.ready()
			if !ok {
				break
			}
			if !p.launch(owner, task) {
				return
			}
		}
	}
}

// launch begins a task. A failure shows in the tab of whose task it is, and is
// tried again until it works: the disk may be full. False: the pool closes.
func (p *Pool) launch(owner, task int64) bool {
	var trouble string
	show := func(why string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if a := p.agents[owner]; a != nil && (trouble == "" || a.info.Why == trouble) {
			a.change(func(i *Info) { i.Why = why })
		}
		trouble = why
	}
	for {
		err := p.begin(task)
		if err == nil {
			if trouble != "" {
				show("")
			}
			return true
		}
		show(err.Error() + "; trying again")
		t := time.NewTimer(2 * time.Second)
		select {
		case <-t.C:
		case <-p.ctx.Done():
			t.Stop()
			return false
		}
	}
}

// ready is the next task that may start: the oldest of a queue whose window has
// room. It reserves the slot under the negative id of the task.
func (p *Pool) ready() (owner, task int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return 0, 0, false
	}
	p.closeWindows()
	for o, tasks := range p.queued {
		_, open := p.windows[o]
		for id := range tasks {
			if (open || p.now[id]) && (task == 0 || id < task) && p.fits(o) {
				owner, task, ok = o, id, true
			}
		}
	}
	if ok {
		p.running[-task] = owner
	}
	return owner, task, ok
}

// closeWindows forgets the windows of queues that are drained. The caller holds mu.
func (p *Pool) closeWindows() {
	for o := range p.windows {
		if len(p.queued[o]) > 0 {
			continue
		}
		live := false
		for _, a := range p.agents {
			live = live || (a.kind == Sub && a.info.Parent == o && !a.info.State.Terminal())
		}
		if !live {
			delete(p.windows, o)
		}
	}
}

// begin makes the agent of a task, in one transaction, and starts it: the slot
// that ready reserved becomes the agent's. After an error it is still reserved.
func (p *Pool) begin(id int64) error {
	var row store.Agent
	var t store.Task
	var first Prompt
	started := false
	err := p.o.DB.Write(context.WithoutCancel(p.ctx), "start a task", func(tx *store.Tx) error {
		var ok bool
		var err error
		started = false
		if t, ok, err = tx.Task(id); err != nil || !ok {
			return err
		}
		row = store.Agent{Name: t.Name, Kind: string(Sub), Trust: "attended", Parent: t.Queue, Task: id, Model: t.Model, State: string(Running)}
		if row.ID, err = tx.AddAgent(row); err != nil {
			return err
		}
		row.Created = tx.Now()
		if started, err = tx.StartTask(id, row.ID); err != nil {
			return err
		}
		if !started {
			return errGone
		}
		first = Prompt{Text: t.Prompt}
		first.ID, err = tx.AddPrompt(row.ID, t.Prompt)
		return err
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	gone := errors.Is(err, errGone) || (err == nil && !started)
	if err != nil && !gone {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	p.unqueue(id)
	delete(p.running, -id)
	if gone {
		p.serve()
		p.told()
		return nil
	}
	i := Info{
		ID: row.ID, Name: row.Name, Kind: Sub, Parent: t.Queue, State: Running, Doing: "starting", Model: t.Model,
		Prompt: t.Prompt, Created: row.Created, Started: row.Created, Prompts: []Prompt{first},
	}
	m, err := p.o.Resolve(t.Model)
	if err == nil {
		i.Window, i.Priced = m.Window, m.Price != nil
	}
	a := p.newAgent(i, id)
	a.timeout = t.Timeout
	p.agents[a.id] = a
	p.running[a.id] = t.Queue
	p.hub.emit(Changed{i})
	p.told()
	p.start("agent "+i.Name, a.loop)
	return nil
}

var errGone = errors.New("the task is no longer queued")

// carryOut is the life of a sub-agent: one turn, bounded by its time-out.
func (a *agent) carryOut(ctx context.Context) {
	if a.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.timeout, fmt.Errorf("%w after %s", errTimeout, a.timeout))
		defer cancel()
	}
	a.p.mu.Lock()
	name, configured := a.info.Model, a.model.Provider != nil
	a.p.mu.Unlock()
	if !configured {
		a.refuse(ending{OutFailed, "the model " + name + " is not configured"})
	} else if err := a.work(ctx); err != nil {
		a.refuse(a.endingOf(ctx, err))
	}
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.letGo(a)
	a.p.told()
}

// refuse ends a sub-agent whose turn could not even begin. Like finish it does
// not give up before the program closes.
func (a *agent) refuse(e ending) {
	state := a.restState(e.outcome)
	err := a.persist(a.p.ctx, "record the end of the task", anyError, func() error {
		return a.p.o.DB.Write(context.WithoutCancel(a.p.ctx), "refuse a task", func(tx *store.Tx) error {
			b := a.batch(tx, false)
			if _, err := b.add(0, Entry{Kind: EntryEnded, End: &End{Outcome: e.outcome, Error: e.cause}}); err != nil {
				return err
			}
			if err := tx.SetAgentState(a.id, string(state), true); err != nil {
				return err
			}
			return a.report(tx, e)
		})
	})
	if err != nil {
		return // the next start finds the task running and reports it
	}
	a.set(func(i *Info) {
		i.State, i.Doing, i.Why, i.Outcome, i.Ended, i.Prompts = state, "", e.cause, e.outcome, a.p.o.Now(), nil
	})
}

// Kill ends the sub-agent of that name now, with everything it runs, and
// returns when it ended; a queued task of that name is removed.
func (p *Pool) Kill(ctx context.Context, name string) error {
	for {
		owner, id, ok := p.queuedTask(name)
		if !ok {
			break
		}
		removed := false
		err := p.o.DB.Write(ctx, "remove a task", func(tx *store.Tx) (err error) {
			removed, err = tx.RemoveTask(id)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove %s from the queue: %w", name, err)
		}
		if removed {
			p.mu.Lock()
			p.unqueue(id)
			p.told()
			p.mu.Unlock()
			return nil
		}
		// It has just started: its agent is there in a moment.
		p.mu.Lock()
		changed, still := p.changed, p.queued[owner][id] != ""
		p.mu.Unlock()
		if !still {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to start: %w", name, ctx.Err())
		}
	}
	a, i, err := p.named(name)
	switch {
	case err != nil:
		return err
	case i.Kind.HasPrompt():
		return fmt.Errorf("the agent %s can't be killed; Esc stops its turn", name)
	case i.State.Terminal():
		return fmt.Errorf("the agent %s has ended already (%s)", name, i.State)
	}
	a.halt(errKilled)
	select {
	case <-a.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for %s to end: %w", name, ctx.Err())
	}
}

// queuedTask finds a queued task by name.
func (p *Pool) queuedTask(name string) (owner, id int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for o, tasks := range p.queued {
		for t, n := range tasks {
			if n == name {
				return o, t, true
			}
		}
	}
	return 0, 0, false
}
