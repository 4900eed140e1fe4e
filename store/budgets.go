package store

import "fmt"

// Budget is the limit of an agent and everything it dispatches.
type Budget struct {
	Owner   int64 // the agent that it belongs to
	Name    string
	Money   bool // millionths of a dollar; else tokens
	Amount  int64
	Used    int64
	Warned  bool // the owner's dispatcher was told that most of it is used
	Wrapped bool // this agent was told to finish
}

// Budgets returns the budgets that count an agent's use, its own first.
func Budgets(v *View, agent int64) ([]Budget, error) {
	bs, err := all(v, func(s scanner) (b Budget, err error) {
		err = s.Scan(&b.Owner, &b.Name, &b.Money, &b.Amount, &b.Used, &b.Warned, &b.Wrapped)
		return b, err
	}, `SELECT b.agent, a.name, b.money, b.amount, b.used, b.warned, u.wrapped
		FROM budget_users u JOIN budgets b ON b.agent = u.owner JOIN agents a ON a.id = b.agent
		WHERE u.agent = ? ORDER BY b.agent <> u.agent, b.agent DESC`, agent)
	if err != nil {
		return nil, fmt.Errorf("read the budgets of agent %d: %w", agent, err)
	}
	return bs, nil
}

// SpendBudgets adds an agent's use to all budgets that it uses. The amounts may be negative.
func SpendBudgets(tx *Tx, agent, tokens, money int64) error {
	_, err := tx.count(`UPDATE budgets SET used = max(0, used + iif(money, ?, ?))
		WHERE agent IN (SELECT owner FROM budget_users WHERE agent = ?)`, money, tokens, agent)
	if err != nil {
		return fmt.Errorf("count what agent %d used: %w", agent, err)
	}
	return nil
}

// PutBudget sets an agent's budget. Its use, and that of all agents below it, counts from now on.
func PutBudget(tx *Tx, b Budget) error {
	_, err := tx.count(`INSERT INTO budgets (agent, money, amount, used) VALUES (?, ?, ?, ?)
		ON CONFLICT (agent) DO UPDATE SET money = excluded.money, amount = excluded.amount, used = excluded.used, warned = 0`,
		b.Owner, b.Money, b.Amount, b.Used)
	if err == nil {
		_, err = tx.count(`WITH RECURSIVE below(agent) AS (
				SELECT ? UNION SELECT a.id FROM agents a JOIN below ON a.parent = below.agent)
			INSERT INTO budget_users (agent, owner) SELECT agent, ? FROM below WHERE true
			ON CONFLICT DO NOTHING`, b.Owner, b.Owner)
	}
	if err == nil {
		_, err = tx.count(`UPDATE budget_users SET wrapped = 0 WHERE owner = ?`, b.Owner)
	}
	if err != nil {
		return fmt.Errorf("give agent %d a budget: %w", b.Owner, err)
	}
	return nil
}

// DropBudget takes an agent's budget away, if it has one.
func DropBudget(tx *Tx, agent int64) error {
	_, err := tx.count(`DELETE FROM budget_users WHERE owner = ?`, agent)
	if err == nil {
		_, err = tx.count(`DELETE FROM budgets WHERE agent = ?`, agent)
	}
	if err != nil {
		return fmt.Errorf("take the budget of agent %d away: %w", agent, err)
	}
	return nil
}

// JoinBudgets has an agent's use count to all budgets that the one above it uses.
func JoinBudgets(tx *Tx, agent, above int64) error {
	_, err := tx.count(`INSERT INTO budget_users (agent, owner) SELECT ?, owner FROM budget_users WHERE agent = ?
		ON CONFLICT DO NOTHING`, agent, above)
	if err != nil {
		return fmt.Errorf("count agent %d to the budgets of agent %d: %w", agent, above, err)
	}
	return nil
}

// WarnedBudget records that the owner's dispatcher was told.
func WarnedBudget(tx *Tx, owner int64) error {
	if err := tx.one(`UPDATE budgets SET warned = 1 WHERE agent = ?`, owner); err != nil {
		return fmt.Errorf("keep a warning of agent %d's budget: %w", owner, err)
	}
	return nil
}

// WrappedBudgets records that an agent was told to finish, for all budgets that it uses.
func WrappedBudgets(tx *Tx, agent int64) error {
	if _, err := tx.count(`UPDATE budget_users SET wrapped = 1 WHERE agent = ?`, agent); err != nil {
		return fmt.Errorf("keep that agent %d was told to finish: %w", agent, err)
	}
	return nil
}
