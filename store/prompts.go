package store

import (
	"database/sql"
	"fmt"
	"time"
)

// Prompt is a text that the human sent and that has not entered a transcript yet.
type Prompt struct {
	ID      int64
	Agent   int64
	Text    string
	Held    bool // not sent automatically: typed before a crash, or a command
	Created time.Time
}

func scanPrompt(s scanner) (p Prompt, err error) {
	var created sql.NullInt64
	err = s.Scan(&p.ID, &p.Agent, &p.Text, &p.Held, &created)
	p.Created = moment(created)
	return p, err
}

// AddPrompt adds a waiting prompt, held or not, and returns its id.
func (tx *Tx) AddPrompt(agent int64, text string, held bool) (int64, error) {
	id, err := tx.insert(`INSERT INTO prompts (agent, text, held, created_at) VALUES (?, ?, ?, ?)`, agent, text, held, stamp(tx.Now()))
	if err != nil {
		return 0, fmt.Errorf("add prompt for agent %d: %w", agent, err)
	}
	return id, nil
}

// Prompts returns the agent's waiting prompts, oldest first, including held ones.
func (v *View) Prompts(agent int64) ([]Prompt, error) {
	ps, err := all(v, scanPrompt, `SELECT id, agent, text, held, created_at FROM prompts
		WHERE agent = ? AND entry IS NULL AND removed_at IS NULL ORDER BY id`, agent)
	if err != nil {
		return nil, fmt.Errorf("list prompts of agent %d: %w", agent, err)
	}
	return ps, nil
}

// WaitingPrompts is Prompts.
func (tx *Tx) WaitingPrompts(agent int64) ([]Prompt, error) { return tx.Prompts(agent) }

// EnterPrompt records the entry of a waiting prompt. ErrNoRows: it is not waiting.
func (tx *Tx) EnterPrompt(id, entry int64) error {
	err := tx.one(`UPDATE prompts SET entry = ? WHERE id = ? AND entry IS NULL AND removed_at IS NULL`, entry, id)
	if err != nil {
		return fmt.Errorf("enter prompt %d: %w", id, err)
	}
	return nil
}

// RemovePrompt removes a waiting prompt; false: it had entered already.
func (tx *Tx) RemovePrompt(id int64) (bool, error) {
	n, err := tx.count(`UPDATE prompts SET removed_at = ? WHERE id = ? AND entry IS NULL AND removed_at IS NULL`, stamp(tx.Now()), id)
	if err != nil {
		return false, fmt.Errorf("remove prompt %d: %w", id, err)
	}
	return n > 0, nil
}

// HoldPrompts holds all waiting prompts of an agent, or of all agents (0).
func (tx *Tx) HoldPrompts(agent int64) error {
	if _, err := tx.count(`UPDATE prompts SET held = 1 WHERE entry IS NULL AND removed_at IS NULL AND ? IN (agent, 0)`, agent); err != nil {
		return fmt.Errorf("hold prompts: %w", err)
	}
	return nil
}

// Unheld returns the prompts that enter automatically.
func Unheld(waiting []Prompt) (ps []Prompt) {
	for _, q := range waiting {
		if !q.Held {
			ps = append(ps, q)
		}
	}
	return ps
}
