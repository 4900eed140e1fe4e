package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Check is a command that the human lets observers run.
type Check struct {
	Name    string
	Argv    []string // the program and its arguments
	Net     string   // the host that it may reach over the network; "": none
	Created time.Time
}

// SetCheck adds the check, or replaces the one with the same name; replaced says which.
func SetCheck(tx *Tx, c Check) (replaced bool, err error) {
	argv, err := json.Marshal(c.Argv)
	if err == nil {
		_, replaced, err = CheckNamed(&tx.View, c.Name)
	}
	if err == nil {
		_, err = tx.Exec(`INSERT INTO checks (name, argv, net, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET argv = excluded.argv, net = excluded.net, created_at = excluded.created_at`,
			c.Name, string(argv), c.Net, stamp(tx.Now()))
	}
	if err != nil {
		return false, fmt.Errorf("keep the check %s: %w", c.Name, err)
	}
	return replaced, nil
}

// RemoveCheck removes the check of that name. False: there is none.
func RemoveCheck(tx *Tx, name string) (bool, error) {
	n, err := tx.count(`DELETE FROM checks WHERE name = ?`, name)
	if err != nil {
		return false, fmt.Errorf("remove the check %s: %w", name, err)
	}
	return n > 0, nil
}

const checkColumns = `name, argv, net, created_at`

func scanCheck(s scanner) (c Check, err error) {
	var argv string
	var created sql.NullInt64
	if err = s.Scan(&c.Name, &argv, &c.Net, &created); err == nil && json.Unmarshal([]byte(argv), &c.Argv) != nil {
		c.Argv = nil // a row that another hand wrote names no command
	}
	c.Created = moment(created)
	return c, err
}

// Checks returns all checks, by name.
func Checks(v *View) ([]Check, error) {
	cs, err := all(v, scanCheck, `SELECT `+checkColumns+` FROM checks ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read the checks: %w", err)
	}
	return cs, nil
}

// CheckNamed returns the check of that name.
func CheckNamed(v *View, name string) (Check, bool, error) {
	c, ok, err := first(v, scanCheck, `SELECT `+checkColumns+` FROM checks WHERE name = ?`, name)
	if err != nil {
		return c, false, fmt.Errorf("read the check %s: %w", name, err)
	}
	return c, ok, nil
}

// Observer describes the work of an agent that observes.
type Observer struct {
	Agent      int64
	Schedule   int64  // that started it
	Name       string // of the schedule
	Prompt     string
	CancelWhen string // the condition under which it ends its schedule; "": none
	Dir        string // its directory
	Checks     []string
	Mark       string // the beginning of its report
	Deliver    string // of its report
	Priority   string
}

// AddObserver stores the work of an agent that observes.
func AddObserver(tx *Tx, o Observer) error {
	checks, err := json.Marshal(o.Checks)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO observers (agent, schedule, name, prompt, cancel_when, dir, checks, mark, deliver, priority)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			o.Agent, o.Schedule, o.Name, o.Prompt, o.CancelWhen, o.Dir, string(checks), o.Mark, o.Deliver, o.Priority)
	}
	if err != nil {
		return fmt.Errorf("keep what agent %d observes: %w", o.Agent, err)
	}
	return nil
}

// ObserverOf returns the work of an agent that observes. It returns false if the agent is none.
func ObserverOf(v *View, agent int64) (Observer, bool, error) {
	o, ok, err := first(v, func(s scanner) (o Observer, err error) {
		var checks string
		if err = s.Scan(&o.Agent, &o.Schedule, &o.Name, &o.Prompt, &o.CancelWhen, &o.Dir, &checks, &o.Mark, &o.Deliver, &o.Priority); err == nil {
			err = json.Unmarshal([]byte(checks), &o.Checks)
		}
		return o, err
	}, `SELECT agent, schedule, name, prompt, cancel_when, dir, checks, mark, deliver, priority FROM observers WHERE agent = ?`, agent)
	if err != nil {
		return o, false, fmt.Errorf("read what agent %d observes: %w", agent, err)
	}
	return o, ok, nil
}

// Observing returns the running observer of the schedule; 0: none.
func Observing(v *View, schedule int64) (agent int64, err error) {
	err = v.QueryRow(`SELECT o.agent FROM observers o JOIN agents a ON a.id = o.agent
		WHERE o.schedule = ? AND a.ended_at IS NULL ORDER BY o.agent LIMIT 1`, schedule).Scan(&agent)
	if err != nil && !errors.Is(err, ErrNoRows) {
		return 0, fmt.Errorf("read who observes for schedule %d: %w", schedule, err)
	}
	return agent, nil
}
