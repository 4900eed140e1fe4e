package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Task is queued work. Its name is unique among the tasks that are queued or running.
type Task struct {
	ID          int64
	Queue       int64 // the agent whose queue it is in
	Name        string
	Prompt      string // or the command line
	Kind        string // prompt command; "" on Add: prompt
	Origin      string // the origin of the request: human agent cli mcp; "" on Add: human
	Hint        string // the human's, for another attempt
	Resumes     int64  // the ended agent whose transcript it continues; 0: none
	Model       string
	Timeout     time.Duration
	Budget      string // budget of its agent: 50k, $2; "": not set
	Deliver     string
	Interactive bool          // its agent waits for input when a turn ends
	Idle        time.Duration // for how long; 0: for ever
	SpawnedBy   int64
	State       string // queued running finished removed
	Outcome     string
	Error       string
	Agent       int64 // 0 until it started
	Created     time.Time
	Started     time.Time
	Finished    time.Time
	Place       int64    // its order in the queue; set by AddTask
	After       []string // the names of the unfinished tasks it waits for
	Needs       string   // the ids of all tasks that it waited for, in the order of the index
	Seal        string   // see SealTask
	Role        string   // the digest of its agent's role, from PutRole; "": none
	Sandbox     string   // of a command: "on" requires the sandbox, "" runs it as the user
}

const taskColumns = `id, queue, name, prompt, model, timeout_ms, deliver, idle_ms, ifnull(spawned_by, 0), state, outcome, error,
	ifnull(agent, 0), created_at, started_at, finished_at, kind, origin, ifnull(resumes, 0), hint, place,
	(SELECT ifnull(group_concat(n.name, ' '), '') FROM task_needs d JOIN tasks n ON n.id = d.needs
		WHERE d.task = tasks.id AND n.state IN ('queued', 'running')),
	(SELECT ifnull(group_concat(needs, ' '), '') FROM task_needs WHERE task = tasks.id), seal, budget, role, sandbox`

func scanTask(s scanner) (t Task, err error) {
	var timeout int64
	var idle, created, started, finished sql.NullInt64
	var after string
	err = s.Scan(&t.ID, &t.Queue, &t.Name, &t.Prompt, &t.Model, &timeout, &t.Deliver, &idle, &t.SpawnedBy, &t.State, &t.Outcome, &t.Error,
		&t.Agent, &created, &started, &finished, &t.Kind, &t.Origin, &t.Resumes, &t.Hint, &t.Place, &after, &t.Needs, &t.Seal, &t.Budget, &t.Role, &t.Sandbox)
	t.After = strings.Fields(after)
	t.Timeout = time.Duration(timeout) * time.Millisecond
	t.Interactive, t.Idle = idle.Valid, time.Duration(idle.Int64)*time.Millisecond
	t.Created, t.Started, t.Finished = moment(created), moment(started), moment(finished)
	return t, err
}

// AddTask queues t at the end of its queue, to wait until the tasks that it needs have finished, and returns its id.
// ErrTaken: a queued or running task has the name.
func (tx *Tx) AddTask(t Task, needs ...int64) (int64, error) {
	if t.Created.IsZero() {
		t.Created = tx.Now()
	}
	if t.Kind == "" {
		t.Kind = "prompt"
	}
	if t.Origin == "" {
		t.Origin = "human"
	}
	var idle any
	if t.Interactive {
		idle = t.Idle.Milliseconds()
	}
	id, err := tx.insert(`INSERT INTO tasks (queue, name, prompt, kind, origin, hint, resumes, model, timeout_ms, deliver, idle_ms, spawned_by, created_at, budget, role, sandbox)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.Queue, t.Name, t.Prompt, t.Kind, t.Origin, t.Hint, null(t.Resumes), t.Model, t.Timeout.Milliseconds(), t.Deliver, idle,
		null(t.SpawnedBy), stamp(t.Created), t.Budget, t.Role, t.Sandbox)
	if err == nil {
		err = tx.one(`UPDATE tasks SET place = id WHERE id = ?`, id)
	}
	if err != nil {
		return 0, fmt.Errorf("add task: %w", taken(t.Name, err))
	}
	for _, n := range needs {
		if _, err := tx.Exec(`INSERT INTO task_needs (task, needs) VALUES (?, ?) ON CONFLICT DO NOTHING`, id, n); err != nil {
			return 0, fmt.Errorf("make task %d wait for task %d: %w", id, n, err)
		}
	}
	return id, nil
}

// SealTask sets the seal of a task's row.
func (tx *Tx) SealTask(id int64, seal string) error {
	if err := tx.one(`UPDATE tasks SET seal = ? WHERE id = ?`, seal, id); err != nil {
		return fmt.Errorf("seal task %d: %w", id, err)
	}
	return nil
}

// StartTask gives a queued task to agent; false: it was no longer queued.
func (tx *Tx) StartTask(id, agent int64) (bool, error) {
	n, err := tx.count(`UPDATE tasks SET state = 'running', agent = ?, started_at = ? WHERE id = ? AND state = 'queued'`,
		agent, stamp(tx.Now()), id)
	if err != nil {
		return false, fmt.Errorf("start task %d: %w", id, err)
	}
	return n > 0, nil
}

// FinishTask ends a running task, or one that could not start; false: it had
// finished already or was removed.
func (tx *Tx) FinishTask(id int64, outcome, cause string) (bool, error) {
	n, err := tx.count(`UPDATE tasks SET state = 'finished', outcome = ?, error = ?, finished_at = ?
		WHERE id = ? AND state IN ('queued', 'running')`, outcome, cause, stamp(tx.Now()), id)
	if err != nil {
		return false, fmt.Errorf("finish task %d: %w", id, err)
	}
	return n > 0, nil
}

// RemoveTask removes a queued task; false: it was no longer queued.
func (tx *Tx) RemoveTask(id int64) (bool, error) {
	n, err := tx.count(`UPDATE tasks SET state = 'removed', finished_at = ? WHERE id = ? AND state = 'queued'`, stamp(tx.Now()), id)
	if err != nil {
		return false, fmt.Errorf("remove task %d: %w", id, err)
	}
	return n > 0, nil
}

// PlaceTask sets the order of a queued task; false: it was no longer queued.
func (tx *Tx) PlaceTask(id, place int64) (bool, error) {
	n, err := tx.count(`UPDATE tasks SET place = ? WHERE id = ? AND state = 'queued'`, place, id)
	if err != nil {
		return false, fmt.Errorf("move task %d: %w", id, err)
	}
	return n > 0, nil
}

// EditTask changes the prompt of a queued task; false: it was no longer queued.
func (tx *Tx) EditTask(id int64, prompt string) (bool, error) {
	n, err := tx.count(`UPDATE tasks SET prompt = ? WHERE id = ? AND state = 'queued'`, prompt, id)
	if err != nil {
		return false, fmt.Errorf("edit task %d: %w", id, err)
	}
	return n > 0, nil
}

// Needs returns the tasks that a task waits for, by id, ended ones too.
func (v *View) Needs(task int64) ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks
		WHERE id IN (SELECT needs FROM task_needs WHERE task = ?) ORDER BY id`, task)
	if err != nil {
		return nil, fmt.Errorf("list what task %d waits for: %w", task, err)
	}
	return ts, nil
}

// NeededBy returns the queued tasks that wait for a task, by id.
func (v *View) NeededBy(task int64) ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks
		WHERE id IN (SELECT task FROM task_needs WHERE needs = ?) AND state = 'queued' ORDER BY id`, task)
	if err != nil {
		return nil, fmt.Errorf("list what waits for task %d: %w", task, err)
	}
	return ts, nil
}

// PassTasks moves the queued and running tasks of one queue to another.
func (tx *Tx) PassTasks(from, to int64) error {
	_, err := tx.count(`UPDATE tasks SET queue = ? WHERE queue = ? AND state IN ('queued', 'running')`, to, from)
	if err != nil {
		return fmt.Errorf("pass the tasks of agent %d to agent %d: %w", from, to, err)
	}
	return nil
}

// QueuedTasks returns the queued tasks of all queues, by queue and in its order.
func (v *View) QueuedTasks() ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE state = 'queued' ORDER BY queue, place, id`)
	if err != nil {
		return nil, fmt.Errorf("list queued tasks: %w", err)
	}
	return ts, nil
}

// RunningTasks returns the running tasks of all queues, by id.
func (v *View) RunningTasks() ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE state = 'running' ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list running tasks: %w", err)
	}
	return ts, nil
}

// Tasks returns the tasks of a queue in its order, without removed ones.
func (v *View) Tasks(queue int64) ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE queue = ? AND state <> 'removed' ORDER BY place, id`, queue)
	if err != nil {
		return nil, fmt.Errorf("list tasks of agent %d: %w", queue, err)
	}
	return ts, nil
}

// Task returns one task.
func (v *View) Task(id int64) (Task, bool, error) {
	t, ok, err := first(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE id = ?`, id)
	if err != nil {
		return t, false, fmt.Errorf("read task %d: %w", id, err)
	}
	return t, ok, nil
}

// TaskNamed returns the queued or running task of that name, else the last finished one.
func (v *View) TaskNamed(name string) (Task, bool, error) {
	t, ok, err := first(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE name = ? AND state <> 'removed'
		ORDER BY state = 'finished', id DESC LIMIT 1`, name)
	if err != nil {
		return t, false, fmt.Errorf("look for a task %q: %w", name, err)
	}
	return t, ok, nil
}

// PushedBy reports whether a turn of that agent pushed a task.
func (v *View) PushedBy(task, agent int64) (own bool, err error) {
	err = v.QueryRow(`SELECT EXISTS (SELECT 1 FROM tasks t JOIN turns s ON s.id = t.spawned_by WHERE t.id = ? AND s.agent = ?)`, task, agent).Scan(&own)
	if err != nil {
		return false, fmt.Errorf("find who pushed task %d: %w", task, err)
	}
	return own, nil
}

// pushedIn joins up.agent to the turn that pushed its task, where no human did.
const pushedIn = `up JOIN agents a ON a.id = up.agent JOIN tasks t ON t.id = a.task JOIN turns s ON s.id = t.spawned_by
	WHERE t.origin IN ('agent', 'cli', 'mcp')`

// Origin returns the agent that an agent ultimately works for: it follows each task to the agent in whose turn it was
// pushed, until a task that a human pushed. An agent that continues may work for one that worked for it: among those it
// returns the oldest. told is when a human last typed a prompt for any of them; zero: never.
func (v *View) Origin(agent int64) (first int64, told time.Time, err error) {
	var at sql.NullInt64
	err = v.QueryRow(`WITH RECURSIVE up (agent) AS (SELECT ? UNION SELECT s.agent FROM `+pushedIn+`)
		SELECT min(agent), (SELECT max(p.created_at) FROM prompts p WHERE p.agent IN (SELECT agent FROM up) AND p.removed_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.agent = p.agent AND t.prompt = p.text AND t.origin IN ('agent', 'cli', 'mcp')))
		FROM up`, agent).Scan(&first, &at)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("find for whom agent %d works: %w", agent, err)
	}
	return first, moment(at), nil
}

// Pushed counts the tasks since then that were pushed in the turns of an agent, and of those that ultimately work for
// it. oldest is the time of the first. It leaves out tasks that a human pushed, and the tasks that follow from these.
func (v *View) Pushed(first int64, since time.Time) (n int, oldest time.Time, err error) {
	var at sql.NullInt64
	err = v.QueryRow(`WITH RECURSIVE up (task, at, agent) AS (
			SELECT t.id, t.created_at, s.agent FROM tasks t JOIN turns s ON s.id = t.spawned_by
				WHERE t.origin IN ('agent', 'cli', 'mcp') AND t.created_at >= ?1
			UNION
			SELECT up.task, up.at, s.agent FROM `+pushedIn+` AND up.agent <> ?2)
		SELECT count(DISTINCT task), min(at) FROM up WHERE agent = ?2`, stamp(since), first).Scan(&n, &at)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("count what agent %d and those that work for it pushed: %w", first, err)
	}
	return n, moment(at), nil
}

// Attempts counts the tasks that an agent carried out or carries out.
func (v *View) Attempts(agent int64) (n int, err error) {
	if err = v.QueryRow(`SELECT count(*) FROM tasks WHERE agent = ?`, agent).Scan(&n); err != nil {
		return 0, fmt.Errorf("count the tasks of agent %d: %w", agent, err)
	}
	return n, nil
}

// TasksOf returns the tasks that an agent carried out or carries out, oldest first.
func (v *View) TasksOf(agent int64) ([]Task, error) {
	ts, err := all(v, scanTask, `SELECT `+taskColumns+` FROM tasks WHERE agent = ? ORDER BY id`, agent)
	if err != nil {
		return nil, fmt.Errorf("list the tasks of agent %d: %w", agent, err)
	}
	return ts, nil
}

// TaskQueued reports whether a task of that name is queued or runs.
func (v *View) TaskQueued(name string) (queued bool, err error) {
	err = v.QueryRow(`SELECT EXISTS (SELECT 1 FROM tasks WHERE name = ? AND state IN ('queued', 'running'))`, name).Scan(&queued)
	if err != nil {
		return false, fmt.Errorf("look for a task %q: %w", name, err)
	}
	return queued, nil
}

// Spawner returns the turn that pushed a task and that turn's conversation; a task that the human pushed has neither.
func (v *View) Spawner(task int64) (turn, conversation int64, err error) {
	err = v.QueryRow(`SELECT ifnull(t.spawned_by, 0), ifnull(s.conversation, 0)
		FROM tasks t LEFT JOIN turns s ON s.id = t.spawned_by WHERE t.id = ?`, task).Scan(&turn, &conversation)
	if err != nil {
		return 0, 0, fmt.Errorf("find who pushed task %d: %w", task, err)
	}
	return turn, conversation, nil
}

// Pusher returns the name and the trust of the agent in whose turn a task was pushed; "" if it was pushed in no turn.
func (v *View) Pusher(task int64) (name, trust string, err error) {
	err = v.QueryRow(`SELECT a.name, a.trust FROM tasks t
		JOIN turns s ON s.id = t.spawned_by JOIN agents a ON a.id = s.agent WHERE t.id = ?`, task).Scan(&name, &trust)
	if err != nil && !errors.Is(err, ErrNoRows) {
		return "", "", fmt.Errorf("find who pushed task %d: %w", task, err)
	}
	return name, trust, nil
}
