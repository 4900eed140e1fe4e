// Package tasks handles the rows of agents and their tasks: names, the queue, how a task ends, which agent waits for
// which, and the seals of what a human asked for.
package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Tasks manages the queued tasks, for the human and for agents.
type Tasks struct {
	db      *store.DB
	inbox   *inbox.Inbox
	ends    *Ends
	seals   *SealKey
	resolve func(model string) (name string, err error)
	idle    time.Duration // of tasks that do not say
	line    Line

	// Fits refuses a budget that can't be enforced with a model. Set it before tasks are pushed; nil: all fit.
	Fits func(model, budget string) error

	// Cast returns the role of a task's agent if a file describes it, and sets the role's model in t; a nil role: no
	// file does. Set it before tasks are pushed; nil: there are no roles.
	Cast func(ctx context.Context, t *tools.Task) (*event.Role, error)
}

// Line is the queue in memory, and the agents that own queues. All methods but Owner are called after a commit.
type Line interface {
	// Owner returns the state of the agent whose queue a task joins: its model, its current turn (0: none), and how
	// many sub-agents are alive.
	Owner(agent int64) (model string, turn int64, live int, err error)

	Queued(ctx context.Context, t QueuedTask)
	Moved(tasks, places []int64)
	Renamed(agent int64, name string)
}

// New returns the tasks of a workspace. resolve returns a model's full name; its error lists the known ones. idle is how
// long an agent awaits input if its task does not say.
func New(
	db *store.DB, box *inbox.Inbox, ends *Ends, seals *SealKey, resolve func(model string) (string, error),
	idle time.Duration, line Line,
) *Tasks {
	return &Tasks{db: db, inbox: box, ends: ends, seals: seals, resolve: resolve, idle: idle, line: line}
}

// Push queues a task that the human typed in the queue of `by`, and returns it with its name. It starts with the next
// Run, unless a window is open or the task asks to start. A prompt that begins with `!` is a command.
func (ts *Tasks) Push(ctx context.Context, by int64, t tools.Task) (Task, error) {
	return ts.push(ctx, by, t, OriginHuman, nil)
}

// Start adds a task that the human typed to the queue of `by`, and lets it start before all other queued tasks.
// Its name is made from its prompt.
func (ts *Tasks) Start(ctx context.Context, by int64, prompt string) (Task, error) {
	return ts.push(ctx, by, tools.Task{Prompt: prompt, Suggested: NameFrom(prompt), Start: true}, OriginHuman, nil)
}

// Spawn queues a task that the agent `by` asks for. also, if not nil, adds to the transaction.
func (ts *Tasks) Spawn(
	ctx context.Context, by int64, t tools.Task, also func(tx *store.Tx, row Task) error,
) (Task, error) {
	return ts.push(ctx, by, t, OriginAgent, also)
}

func (ts *Tasks) push(
	ctx context.Context, by int64, t tools.Task, origin string, also func(tx *store.Tx, row Task) error,
) (Task, error) {
	role, err := ts.cast(ctx, &t)
	if err != nil {
		return Task{}, err
	}
	row, err := ts.newTask(by, t, origin)
	if err != nil {
		return Task{}, err
	}
	err = ts.db.Write(ctx, "push", func(tx *store.Tx) error {
		var err error
		if role != nil {
			if row.Role, err = KeepRole(tx, role); err != nil {
				return err
			}
		}
		if origin == OriginAgent {
			if err = MaySpawn(tx, by); err != nil {
				return err
			}
		}
		switch {
		case t.Resume:
			err = Resume(tx, &row, t)
		case t.Name == "" && t.Suggested != "":
			row.Name, err = spareName(&tx.View, t.Suggested)
		default:
			row.Name, err = NameFor(tx, t.Name, ts.line.Renamed)
		}
		if err != nil {
			return err
		}
		needs, err := Needed(&tx.View, t.After)
		if err != nil && origin == OriginAgent {
			err = Unquoted(err)
		}
		if err == nil {
			row, err = ts.addTask(ctx, tx, QueuedTask{Task: row, Needs: needs, Now: t.Start})
		}
		if err == nil && also != nil {
			err = also(tx, row)
		}
		return err
	})
	if err != nil {
		return Task{}, fmt.Errorf("queue the task: %w", err)
	}
	return row, nil
}

// cast returns the role of a task's agent if a file describes it, and replaces the model by the role's.
func (ts *Tasks) cast(ctx context.Context, t *tools.Task) (*event.Role, error) {
	if ts.Cast == nil {
		return nil, nil
	}
	role, err := ts.Cast(ctx, t)
	switch {
	case err != nil || role == nil:
		return nil, err
	case t.Resume:
		return nil, fmt.Errorf("an agent that goes on stays what it was: leave agent=%s away", role.Name)
	case strings.HasPrefix(strings.TrimSpace(t.Prompt), "!"):
		return nil, errors.New("a command needs no agent; leave agent= away")
	}
	return role, nil
}

// Late is the role of a queued task's agent, for a task that was queued by a process that does not read the
// workspace's files.
type Late struct {
	role  *event.Role
	model string
	is    bool
}

// Late looks up the role of a queued task's agent. If its file can't be read, the role's name is taken for a model,
// and there is none of that name. A role's skills may run command lines, so Late reads nothing for a task that may not
// start.
func (ts *Tasks) Late(ctx context.Context, id int64) (l Late, err error) {
	var t Task
	may := false
	err = ts.db.Read(ctx, func(rx *store.Rx) (err error) {
		if t, _, err = rx.Task(id); err == nil && FromOutside(t.Origin) {
			may, err = MayStart(&rx.View, ts.seals, t)
		}
		return err
	})
	if err != nil || ts.Cast == nil || t.Role != "" || !may {
		return l, err
	}
	as := tools.Task{Prompt: t.Prompt, Model: t.Model}
	if role, failed := ts.Cast(ctx, &as); failed == nil {
		l = Late{role, as.Model, true}
	}
	return l, context.Cause(ctx)
}

// Becomes sets the task's role and model. The row in the table is not changed.
func (l Late) Becomes(tx *store.Tx, t *Task) (err error) {
	if !l.is {
		return nil
	}
	t.Model = l.model
	if l.role != nil {
		t.Role, err = KeepRole(tx, l.role)
	}
	return err
}

// Order queues a task in the transaction that starts it, to run at once. It gets another name if its own is not free.
// Its commands run in the program's own environment.
func (ts *Tasks) Order(tx *store.Tx, row Task) (Task, error) {
	name, err := NameFor(tx, row.Name, ts.line.Renamed)
	if err != nil { // another agent has it
		name, err = NameFor(tx, "", nil)
	}
	if err != nil {
		return Task{}, err
	}
	row.Name = name
	return ts.addTask(context.Background(), tx, QueuedTask{Task: row, Now: true})
}

// newTask returns the row of a task, or an error if it may not be pushed.
func (ts *Tasks) newTask(by int64, t tools.Task, origin string) (Task, error) {
	model, turn, live, err := ts.line.Owner(by)
	if err != nil {
		return Task{}, err
	}
	row := Task{
		Queue: by, Prompt: t.Prompt, Kind: KindPrompt, Origin: origin, Model: model, Timeout: t.Timeout,
		Budget: t.Budget.String(), Deliver: t.Deliver, SpawnedBy: turn, State: TaskQueued,
	}
	if t.Interactive {
		row.Interactive, row.Idle = true, max(0, cmp.Or(t.Idle, ts.idle))
	}
	if command, ok := strings.CutPrefix(strings.TrimSpace(t.Prompt), "!"); ok {
		if origin != OriginHuman {
			return Task{}, errors.New("only the human can push a command (!CMD); " +
				"write what is to be done as a prompt, its agent has the tool bash")
		}
		if t.Model != "" {
			return Task{}, errors.New("a command needs no model; leave model= away")
		}
		if row.Budget != "" {
			return Task{}, errors.New("a command uses no model, so it needs no budget; leave budget= away")
		}
		if t.Interactive {
			return Task{}, errors.New("a command reads nothing, so it can't be interactive")
		}
		row.Kind, row.Prompt, row.Model = KindCommand, strings.TrimSpace(command), ""
	}
	if strings.TrimSpace(row.Prompt) == "" {
		return Task{}, errors.New("a task needs a prompt")
	}
	if live >= MaxLive {
		return Task{}, fmt.Errorf("%d agents live already; wait for some to end, or /kill one", live)
	}
	if t.Model != "" {
		if row.Model, err = ts.resolve(t.Model); err != nil {
			return Task{}, err
		}
	}
	if row.Budget != "" && ts.Fits != nil {
		if err := ts.Fits(cmp.Or(row.Model, model), row.Budget); err != nil {
			return Task{}, err
		}
	}
	switch inbox.Deliver(row.Deliver) {
	case "":
		row.Deliver = string(inbox.Hold)
	case inbox.Hold, inbox.Next, inbox.Wake:
	default:
		return Task{}, fmt.Errorf("deliver=%s: it is hold, next or wake", row.Deliver)
	}
	return row, nil
}

// addTask inserts a task's row, sealed unless q says otherwise, and its needs, and queues it after the commit. It
// returns the row.
func (ts *Tasks) addTask(ctx context.Context, tx *store.Tx, q QueuedTask) (Task, error) {
	row := &q.Task
	var err error
	if row.ID, err = tx.AddTask(*row, IDs(q.Needs)...); err != nil {
		return *row, err
	}
	row.Created, row.Place, row.After = tx.Now(), row.ID, nil
	for _, n := range q.Needs {
		if n.State != TaskFinished {
			row.After = append(row.After, n.Name)
		}
	}
	if !q.Unsealed {
		kept, err := SealTask(tx, ts.seals, row.ID)
		if err != nil {
			return *row, err
		}
		row.Needs, row.Seal = kept.Needs, kept.Seal
	}
	tx.AfterCommit(func() { ts.line.Queued(ctx, q) })
	return *row, nil
}

// Remove removes a task from its queue before it starts, without a message.
func (ts *Tasks) Remove(ctx context.Context, name string) error {
	return ts.db.Write(ctx, "remove a task", func(tx *store.Tx) error {
		t, err := StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		_, err = ts.ends.Remove(tx, t)
		return err
	})
}

// Discard is Remove for the agent that owns the queue. If someone else asked for the task, a notice says that it is
// gone.
func (ts *Tasks) Discard(ctx context.Context, agent int64, name string) error {
	return ts.db.Write(ctx, "remove a task", func(tx *store.Tx) error {
		t, err := StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		if t.Queue != agent {
			return fmt.Errorf("%s stands in another queue than yours", name)
		}
		if _, err = ts.ends.Remove(tx, t); err != nil {
			return err
		}
		own, err := tx.PushedBy(t.ID, agent)
		if err != nil || own && t.Origin == OriginAgent {
			return err
		}
		_, err = ts.inbox.Add(tx, inbox.Message{
			Recipient: agent, Sender: agent, Kind: inbox.Notice, Deliver: inbox.Hold,
			Subject: history.Fit(t.Prompt, history.MaxSubject),
			Body: fmt.Sprintf("The agent removed the task %s from its queue before it started. "+
				"/push pushes it again; its prompt was: %s", name, history.Fit(Typed(t), history.MaxSubject)),
		})
		return err
	})
}

// Move moves a queued task to a position of its queue, counted from 1, and returns the position it got.
func (ts *Tasks) Move(ctx context.Context, name string, to int) (at int, err error) {
	err = ts.db.Write(ctx, "move a task", func(tx *store.Tx) error {
		t, err := StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		all, err := tx.Tasks(t.Queue)
		if err != nil {
			return err
		}
		var order, places []int64
		for _, q := range all {
			if q.State == TaskQueued {
				places = append(places, q.Place)
				if q.ID != t.ID {
					order = append(order, q.ID)
				}
			}
		}
		at = min(max(to, 1), len(places))
		order = append(order[:at-1], append([]int64{t.ID}, order[at-1:]...)...)
		for i, id := range order {
			if _, err := tx.PlaceTask(id, places[i]); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { ts.line.Moved(order, places) })
		return nil
	})
	return at, err
}

// Typed returns the prompt of a queued task as it was typed.
func (ts *Tasks) Typed(ctx context.Context, name string) (text string, err error) {
	err = ts.db.Read(ctx, func(rx *store.Rx) error {
		t, err := StillQueued(&rx.View, name)
		text = Typed(t)
		return err
	})
	return text, err
}

// Edit changes the prompt of a task that has not started.
func (ts *Tasks) Edit(ctx context.Context, name, text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return errors.New("a task needs a prompt")
	}
	return ts.db.Write(ctx, "edit a task", func(tx *store.Tx) error {
		t, err := StillQueued(&tx.View, name)
		if err != nil {
			return err
		}
		command, is := strings.CutPrefix(text, "!")
		switch {
		case is != (t.Kind == KindCommand):
			return fmt.Errorf("%s can't change between a prompt and a !command; /queue rm %s and push it anew",
				name, name)
		case is && strings.TrimSpace(command) == "":
			return errors.New("a task needs a command")
		case is:
			text = strings.TrimSpace(command)
		}
		sealed, err := Sealed(&tx.View, ts.seals, t)
		if err != nil {
			return err
		}
		if _, err = tx.EditTask(t.ID, text); err != nil || !sealed {
			return err // only its prompt is the human's: they are asked about the rest
		}
		_, err = SealTask(tx, ts.seals, t.ID)
		return err
	})
}

// Retry pushes the ended task of that name again in the queue of `by`, with its model, time-out and deliver. Its
// prompt is followed by its outcome, which Retry returns as before, and by the human's hint. If the row is not as this
// host wrote it, the task waits until the human has seen it, since they typed only its name.
func (ts *Tasks) Retry(ctx context.Context, by int64, name, hint string) (row Task, before history.Outcome, err error) {
	row, before, err = ts.anew(ctx, by, name, attempt{hint: strings.TrimSpace(hint), briefed: true})
	if err != nil {
		err = fmt.Errorf("retry: %w", err)
	}
	return row, before, err
}

// Respawn pushes the ended task of that name once more as it was: the same prompt, model, time-out, deliver and flags,
// for a new agent that knows nothing of the last one. It starts at once.
func (ts *Tasks) Respawn(ctx context.Context, by int64, name string) (Task, error) {
	row, _, err := ts.anew(ctx, by, name, attempt{now: true})
	if err != nil {
		return row, fmt.Errorf("respawn: %w", err)
	}
	return row, nil
}

// attempt is how an ended task is pushed again.
type attempt struct {
	hint    string // the human's
	briefed bool   // its agent gets the outcome of the last attempt
	now     bool   // it starts at once
}

// anew is the common part of Retry and Respawn.
func (ts *Tasks) anew(
	ctx context.Context, by int64, name string, how attempt,
) (row Task, before history.Outcome, err error) {
	if _, _, _, err := ts.line.Owner(by); err != nil {
		return Task{}, "", err
	}
	err = ts.db.Write(ctx, "retry", func(tx *store.Tx) error {
		old, err := lastOf(tx, name)
		if err != nil {
			return err
		}
		switch {
		case old.State != TaskFinished:
			return fmt.Errorf("%s has not ended; /kill %s ends it", name, name)
		case old.Kind == KindCommand && how.hint != "":
			return errors.New("a command takes no hint; /push !CMD pushes another")
		}
		needs, err := needsAnew(tx, old, how)
		if err != nil {
			return err
		}
		sealed, err := Sealed(&tx.View, ts.seals, old)
		if err != nil {
			return err
		}
		before = history.Outcome(old.Outcome)
		if row, err = rowAnew(tx, old, by, how); err != nil {
			return err
		}
		if row.Name, err = NameFor(tx, old.Name, ts.line.Renamed); err != nil {
			return err
		}
		row, err = ts.addTask(ctx, tx, QueuedTask{Task: row, Needs: needs, Now: how.now, Unsealed: !sealed})
		return err
	})
	if err != nil {
		return Task{}, "", err
	}
	return row, before, nil
}

// needsAnew returns the tasks whose outcomes the agent of a repeated task gets: the last attempt, if how.briefed, and
// the tasks that the old one waited for, by their present names.
func needsAnew(tx *store.Tx, old Task, how attempt) (again []Task, err error) {
	all := []Task{old}
	if old.Resumes != 0 { // it continues with the outcomes that the earlier ones got
		if all, err = tx.TasksOf(old.Agent); err != nil {
			return nil, err
		}
	}
	var needs []Task
	for _, t := range all {
		some, err := tx.Needs(t.ID)
		if err != nil {
			return nil, err
		}
		needs = append(needs, some...)
	}
	if how.briefed {
		again = append(again, old)
	}
	for _, n := range needs {
		if n.Name == old.Name || slices.ContainsFunc(again, func(t Task) bool { return t.Name == n.Name }) {
			continue // an earlier attempt of itself, or in the list already
		}
		now, err := Needed(&tx.View, []string{n.Name})
		if err != nil {
			return nil, err
		}
		again = append(again, now...)
	}
	return again, nil
}

// rowAnew returns the row of a task that is pushed again in the queue of `by`, except its name. It is trusted no more
// than the old one.
func rowAnew(tx *store.Tx, old Task, by int64, how attempt) (row Task, err error) {
	row = old
	row.ID, row.Queue, row.Agent, row.Resumes, row.Hint = 0, by, 0, 0, how.hint
	row.State, row.Outcome, row.Error = TaskQueued, "", ""
	row.Started, row.Finished, row.Created = time.Time{}, time.Time{}, time.Time{}
	_, pusher, err := tx.Pusher(old.ID)
	if err != nil {
		return row, err
	}
	if !TrustIn(store.Agent{Trust: pusher}).Outside { // a task such an agent pushed stays as strict
		last, ok, err := tx.LastTurn(by)
		if err != nil {
			return row, err
		}
		if ok && last.Outcome == "" { // it is still running
			row.SpawnedBy = last.ID
		}
	}
	trust, err := TrustOf(&tx.View, old)
	switch {
	case err != nil:
		return row, err
	case !trust.Outside:
		row.Origin = OriginHuman
	case !FromOutside(row.Origin): // an agent wrote the prompt, but a process outside the program requested its work
		row.Origin = OriginCLI
	}
	return row, nil
}

// lastOf returns the task of the agent of that name, otherwise the last task of that name.
func lastOf(tx *store.Tx, name string) (Task, error) {
	if a, ok, err := tx.AgentByName(name); err != nil {
		return Task{}, err
	} else if ok && strings.Contains(name, "·") && a.Task != 0 {
		t, ok, err := tx.Task(a.Task)
		return t, errors.Join(err, store.Missing(ok, "the task of %s", name))
	}
	t, ok, err := tx.TaskNamed(name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no task %s; /queue --all lists them", name)
	}
	return t, err
}
