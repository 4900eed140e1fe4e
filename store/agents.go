package store

import (
	"database/sql"
	"fmt"
	"time"

	"fantail/store/sqlite"
)

// Rows of the transcripts. Zero times mean NULL. Strings such as kinds and states are the caller's; store does not
// interpret them.

// Agent is a participant. Its name is unique among the agents that are not closed.
type Agent struct {
	ID       int64
	Name     string
	Kind     string
	Trust    string
	Parent   int64 // 0: none
	Task     int64 // 0: none
	Branch   int64 // the turn its conversation branched from; 0: none
	Handles  int64 // of a fork: the message it was made for; 0: none
	Model    string
	Role     string // the digest of its role, from PutRole; "": none
	State    string
	Created  time.Time
	Ended    time.Time
	Closed   time.Time
	Deadline time.Time // when it ends if it stays idle; zero: never
}

const agentColumns = `id, name, kind, trust, ifnull(parent, 0), ifnull(task, 0), model, state, created_at, ended_at, closed_at,
	ifnull(branch, 0), ifnull(handles, 0), deadline, role`

func scanAgent(s scanner) (a Agent, err error) {
	var created, ended, closed, deadline sql.NullInt64
	err = s.Scan(&a.ID, &a.Name, &a.Kind, &a.Trust, &a.Parent, &a.Task, &a.Model, &a.State, &created, &ended, &closed, &a.Branch, &a.Handles, &deadline, &a.Role)
	a.Deadline = moment(deadline)
	a.Created, a.Ended, a.Closed = moment(created), moment(ended), moment(closed)
	return a, err
}

// AddAgent adds a and returns its id. If Created is zero it is now; an empty Trust means "attended". ErrTaken: an agent
// that is not closed has the name.
func (tx *Tx) AddAgent(a Agent) (int64, error) {
	if a.Created.IsZero() {
		a.Created = tx.Now()
	}
	if a.Trust == "" {
		a.Trust = "attended"
	}
	id, err := tx.insert(`INSERT INTO agents (name, kind, trust, parent, task, model, state, created_at, ended_at, closed_at, branch, handles, role)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.Name, a.Kind, a.Trust, null(a.Parent), null(a.Task), a.Model, a.State, stamp(a.Created), stamp(a.Ended), stamp(a.Closed), null(a.Branch), null(a.Handles), a.Role)
	if err != nil {
		return 0, fmt.Errorf("add agent: %w", taken(a.Name, err))
	}
	if a.Parent != 0 {
		err = JoinBudgets(tx, id, a.Parent) // of any kind: the agent that it works for pays
	}
	return id, err
}

// taken replaces the error of a unique index of names by ErrTaken.
func taken(name string, err error) error {
	if sqlite.Unique(err) {
		return fmt.Errorf("%w: %q, choose another: %w", ErrTaken, name, err)
	}
	return err
}

// SetAgentState sets the state. ended sets the time of the end, once; false clears it. Either clears the deadline.
func (tx *Tx) SetAgentState(id int64, state string, ended bool) error {
	query := `UPDATE agents SET state = ?, ended_at = NULL, deadline = NULL WHERE id = ?`
	args := []any{state, id}
	if ended {
		query = `UPDATE agents SET state = ?, ended_at = ifnull(ended_at, ?), deadline = NULL WHERE id = ?`
		args = []any{state, stamp(tx.Now()), id}
	}
	if err := tx.one(query, args...); err != nil {
		return fmt.Errorf("set state of agent %d: %w", id, err)
	}
	return nil
}

// SetDeadline sets when an idle agent ends; zero: never. It returns false if the agent has ended.
func (tx *Tx) SetDeadline(id int64, at time.Time) (bool, error) {
	n, err := tx.count(`UPDATE agents SET deadline = ? WHERE id = ? AND ended_at IS NULL`, stamp(at), id)
	if err != nil {
		return false, fmt.Errorf("set the deadline of agent %d: %w", id, err)
	}
	return n > 0, nil
}

// ReviveAgent gives an ended agent a new task from another agent's queue: it is open and not ended again. It returns
// false if the agent has not ended. ErrTaken as for AddAgent.
func (tx *Tx) ReviveAgent(a Agent) (bool, error) {
	n, err := tx.count(`UPDATE agents SET parent = ?, task = ?, trust = ?, model = ?, state = ?, ended_at = NULL, closed_at = NULL
		WHERE id = ? AND ended_at IS NOT NULL`, null(a.Parent), null(a.Task), a.Trust, a.Model, a.State, a.ID)
	if err != nil {
		return false, fmt.Errorf("revive agent %d: %w", a.ID, taken(a.Name, err))
	}
	return n > 0, nil
}

// OpenAgent reopens the tab of an agent, with the trust in a. ErrTaken as for AddAgent.
func (tx *Tx) OpenAgent(a Agent) error {
	if err := tx.one(`UPDATE agents SET closed_at = NULL, trust = ? WHERE id = ?`, a.Trust, a.ID); err != nil {
		return fmt.Errorf("open agent %d: %w", a.ID, taken(a.Name, err))
	}
	return nil
}

// PassAgents moves the live agents below one agent to another.
func (tx *Tx) PassAgents(from, to int64) error {
	if _, err := tx.count(`UPDATE agents SET parent = ? WHERE parent = ? AND ended_at IS NULL`, to, from); err != nil {
		return fmt.Errorf("pass the agents below agent %d to agent %d: %w", from, to, err)
	}
	return nil
}

// SetAgentModel sets the model of the agent's next requests.
func (tx *Tx) SetAgentModel(id int64, model string) error {
	if err := tx.one(`UPDATE agents SET model = ? WHERE id = ?`, model, id); err != nil {
		return fmt.Errorf("set model of agent %d: %w", id, err)
	}
	return nil
}

// RenameAgent renames the agent. ErrTaken as for AddAgent.
func (tx *Tx) RenameAgent(id int64, name string) error {
	if err := tx.one(`UPDATE agents SET name = ? WHERE id = ?`, name, id); err != nil {
		return fmt.Errorf("rename agent %d: %w", id, taken(name, err))
	}
	known, err := names(tx)
	delete(known, id)
	return err
}

// CloseEnded closes the tabs of all ended agents except the newest keep.
func (tx *Tx) CloseEnded(keep int) error {
	_, err := tx.Exec(`
		UPDATE agents SET closed_at = ?
		WHERE ended_at IS NOT NULL AND closed_at IS NULL AND id NOT IN (
			SELECT id FROM agents WHERE ended_at IS NOT NULL AND closed_at IS NULL ORDER BY id DESC LIMIT ?)`,
		stamp(tx.Now()), keep)
	if err != nil {
		return fmt.Errorf("close old tabs: %w", err)
	}
	return nil
}

// CloseAgent marks the agent closed: Agents leaves it out and its name is free. Its transcript and its mail stay.
func (tx *Tx) CloseAgent(id int64) error {
	if err := tx.one(`UPDATE agents SET closed_at = ifnull(closed_at, ?) WHERE id = ?`, stamp(tx.Now()), id); err != nil {
		return fmt.Errorf("close agent %d: %w", id, err)
	}
	return nil
}

// Agents returns those that are not closed, by id.
func (v *View) Agents() ([]Agent, error) {
	as, err := all(v, scanAgent, `SELECT `+agentColumns+` FROM agents WHERE closed_at IS NULL ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list agents: %w", err)
	}
	return as, nil
}

// AgentsOf returns the newest `limit` agents with that parent, closed or not, by id.
func (v *View) AgentsOf(parent int64, limit int) ([]Agent, error) {
	as, err := all(v, scanAgent, `SELECT * FROM (SELECT `+agentColumns+` FROM agents WHERE parent = ? ORDER BY id DESC LIMIT ?) ORDER BY 1`, parent, limit)
	if err != nil {
		return nil, fmt.Errorf("list the agents of agent %d: %w", parent, err)
	}
	return as, nil
}

// Agent returns the agent with that id, closed or not.
func (v *View) Agent(id int64) (Agent, bool, error) {
	a, ok, err := first(v, scanAgent, `SELECT `+agentColumns+` FROM agents WHERE id = ?`, id)
	if err != nil {
		return a, false, fmt.Errorf("read agent %d: %w", id, err)
	}
	return a, ok, nil
}

// AgentName returns the name of the agent with that id, closed or not.
func (v *View) AgentName(id int64) (name string, ok bool, err error) {
	name, ok, err = first(v, scanText, `SELECT name FROM agents WHERE id = ?`, id)
	if err != nil {
		return "", false, fmt.Errorf("read name of agent %d: %w", id, err)
	}
	return name, ok, nil
}

// NameOf is [View.AgentName] for a writer: it needs no read until another process writes.
func NameOf(tx *Tx, id int64) (name string, ok bool, err error) {
	known, err := names(tx)
	if err != nil {
		return "", false, err
	}
	if name, ok = known[id]; ok {
		return name, true, nil
	}
	if name, ok, err = tx.AgentName(id); ok {
		if len(known) >= remembered {
			clear(known)
		}
		known[id] = name
	}
	return name, ok, err
}

// remembered bounds of how many agents a writer knows the name.
const remembered = 256

type namesKey struct{}

// names are agents' names in the file, by id.
func names(tx *Tx) (map[int64]string, error) {
	known, err := tx.Known(namesKey{}, func() (any, error) { return map[int64]string{}, nil })
	if err != nil {
		return nil, err
	}
	return known.(map[int64]string), nil
}

// LastAgent returns the highest id of any agent; 0: there is none.
func LastAgent(v *View) (int64, error) {
	var id int64
	if err := v.QueryRow(`SELECT ifnull(max(id), 0) FROM agents`).Scan(&id); err != nil {
		return 0, fmt.Errorf("read the last agent: %w", err)
	}
	return id, nil
}

// LastTrusted returns the agent of that kind and one of the two trusts that is open, or else was closed last.
func LastTrusted(v *View, kind, trust, or string) (Agent, bool, error) {
	a, ok, err := first(v, scanAgent, `SELECT `+agentColumns+` FROM agents WHERE kind = ? AND trust IN (?, ?)
		ORDER BY closed_at IS NOT NULL, closed_at DESC, id DESC LIMIT 1`, kind, trust, or)
	if err != nil {
		return a, false, fmt.Errorf("read the last agent of trust %q: %w", trust, err)
	}
	return a, ok, nil
}

// AgentByName returns the agent of that name: the one that is not closed, or
// else the last closed one.
func (v *View) AgentByName(name string) (Agent, bool, error) {
	a, ok, err := first(v, scanAgent, `SELECT `+agentColumns+` FROM agents WHERE name = ?
		ORDER BY closed_at IS NOT NULL, id DESC LIMIT 1`, name)
	if err != nil {
		return a, false, fmt.Errorf("read agent %q: %w", name, err)
	}
	return a, ok, nil
}
