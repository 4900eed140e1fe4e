package policy

import (
	"encoding/json"
	"fmt"

	"fantail/store"
)

// quietKey is the workspace's setting for Quiet.
const quietKey = "quiet"

// Override stores the human's settings for an agent's mail, in place of earlier ones.
func Override(tx *store.Tx, agent int64, o Overrides) error {
	data, err := json.Marshal(o)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO policies (agent, data) VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET data = excluded.data`, agent, string(data))
	}
	if err != nil {
		return fmt.Errorf("keep the policy of agent %d: %w", agent, err)
	}
	return nil
}

// Overridden returns the stored overrides by agent. Unreadable ones are empty.
func Overridden(v *store.View) (map[int64]Overrides, error) {
	rows, err := v.Query(`SELECT agent, data FROM policies`)
	if err != nil {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	defer rows.Close()
	all := map[int64]Overrides{}
	for rows.Next() {
		var agent int64
		var data string
		var o Overrides
		if err := rows.Scan(&agent, &data); err != nil {
			return nil, fmt.Errorf("read the policies: %w", err)
		}
		if json.Unmarshal([]byte(data), &o) == nil {
			all[agent] = o
		}
	}
	return all, rows.Err()
}

// OverridesOf returns the stored overrides of one agent; they are empty if unreadable.
func OverridesOf(v *store.View, agent int64) (o Overrides, err error) {
	var data string
	switch err := v.QueryRow(`SELECT ifnull((SELECT data FROM policies WHERE agent = ?), '{}')`, agent).Scan(&data); {
	case err != nil:
		return o, fmt.Errorf("read the policy of agent %d: %w", agent, err)
	case json.Unmarshal([]byte(data), &o) != nil:
		return Overrides{}, nil
	}
	return o, nil
}

// SetQuiet stores whether it is quiet.
func SetQuiet(tx *store.Tx, q Quiet) error {
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("keep quiet: %w", err)
	}
	return tx.SetSetting(quietKey, string(data))
}

// IsQuiet returns the state that SetQuiet stored. If it is unreadable it is not quiet.
func IsQuiet(v *store.View) (q Quiet, err error) {
	data, _, err := v.Setting(quietKey)
	if err == nil && json.Unmarshal([]byte(data), &q) != nil {
		q = Quiet{}
	}
	return q, err
}
