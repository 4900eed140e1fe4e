package store

import (
	"database/sql"
	"fmt"
	"time"
)

// Approval is a question to the human: whether a call may run, or a question of an agent.
type Approval struct {
	ID       int64
	Agent    int64
	Turn     int64
	Call     string // the id of the waiting call
	Kind     string // approval question
	Data     string // JSON
	Message  int64  // its row in an inbox; 0: none
	Answer   string // JSON; "": none yet
	Created  time.Time
	Answered time.Time // zero: it is open
	Acted    time.Time // when the call that it allowed was about to begin; zero: not yet
	Seal     string    // see SealApproval
}

const approvalColumns = `id, agent, turn, call, kind, data, ifnull(message, 0), answer, created_at, answered_at, acted_at, seal`

func scanApproval(s scanner) (a Approval, err error) {
	var created, answered, acted sql.NullInt64
	err = s.Scan(&a.ID, &a.Agent, &a.Turn, &a.Call, &a.Kind, &a.Data, &a.Message, &a.Answer, &created, &answered, &acted, &a.Seal)
	a.Created, a.Answered, a.Acted = moment(created), moment(answered), moment(acted)
	return a, err
}

// AddApproval adds an open question and returns its id.
func (tx *Tx) AddApproval(a Approval) (int64, error) {
	id, err := tx.insert(`INSERT INTO approvals (agent, turn, call, kind, data, message, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		a.Agent, a.Turn, a.Call, a.Kind, a.Data, null(a.Message), stamp(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("add a question of agent %d: %w", a.Agent, err)
	}
	return id, nil
}

// SealApproval sets a question's data, message, answer and seal from a. Without an answer in a, the question becomes
// open again.
func (tx *Tx) SealApproval(a Approval) error {
	var answered any
	if !a.Answered.IsZero() {
		answered = stamp(a.Answered)
	}
	err := tx.one(`UPDATE approvals SET data = ?, message = ?, answer = ?, answered_at = ?, seal = ? WHERE id = ?`,
		a.Data, null(a.Message), a.Answer, answered, a.Seal, a.ID)
	if err != nil {
		return fmt.Errorf("seal question %d: %w", a.ID, err)
	}
	return nil
}

// ActApproval records that the call which a question allowed begins. It returns false if it had begun before.
func (tx *Tx) ActApproval(id int64) (bool, error) {
	n, err := tx.count(`UPDATE approvals SET acted_at = ? WHERE id = ? AND acted_at IS NULL`, stamp(tx.Now()), id)
	if err != nil {
		return false, fmt.Errorf("act on question %d: %w", id, err)
	}
	return n > 0, nil
}

// Approval returns one question.
func (v *View) Approval(id int64) (Approval, bool, error) {
	a, ok, err := first(v, scanApproval, `SELECT `+approvalColumns+` FROM approvals WHERE id = ?`, id)
	if err != nil {
		return a, false, fmt.Errorf("read question %d: %w", id, err)
	}
	return a, ok, nil
}

// ApprovalOf returns the question of a message.
func (v *View) ApprovalOf(message int64) (Approval, bool, error) {
	a, ok, err := first(v, scanApproval, `SELECT `+approvalColumns+` FROM approvals WHERE message = ?`, message)
	if err != nil {
		return a, false, fmt.Errorf("read the question of message %d: %w", message, err)
	}
	return a, ok, nil
}

// Approvals returns the questions of a turn, oldest first.
func (v *View) Approvals(turn int64) ([]Approval, error) {
	as, err := all(v, scanApproval, `SELECT `+approvalColumns+` FROM approvals WHERE turn = ? ORDER BY id`, turn)
	if err != nil {
		return nil, fmt.Errorf("list the questions of turn %d: %w", turn, err)
	}
	return as, nil
}

// OpenApprovals returns the open questions of an agent, or of all agents (0), oldest first.
func (v *View) OpenApprovals(agent int64) ([]Approval, error) {
	as, err := all(v, scanApproval, `SELECT `+approvalColumns+` FROM approvals WHERE answered_at IS NULL AND ? IN (agent, 0) ORDER BY id`, agent)
	if err != nil {
		return nil, fmt.Errorf("list the open questions of agent %d: %w", agent, err)
	}
	return as, nil
}
