package tasks

import (
	"encoding/json"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/store"
)

// kept is a role as its row stores it.
type kept struct {
	event.Role
	Text string
}

// KeepRole stores a role, and returns the name of its row.
func KeepRole(tx *store.Tx, r *event.Role) (string, error) {
	data, err := json.Marshal(kept{*r, r.Text})
	if err != nil {
		return "", fmt.Errorf("keep what an agent is: %w", err)
	}
	return store.PutRole(tx, string(data))
}

// lost returns the role of an agent whose row was altered. It has no tools, since the original ones are not known.
func lost() *event.Role {
	return &event.Role{Name: "unknown", Source: "the database", Text: "What you are can't be read any more. Say so.", Tools: []string{}}
}

// RoleNamed returns the role stored under a name; nil for none.
func RoleNamed(v *store.View, name string) (*event.Role, error) {
	if name == "" {
		return nil, nil
	}
	data, err := store.RoleOf(v, name)
	if errors.Is(err, store.ErrAltered) {
		return lost(), nil
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal([]byte(data), &k); err != nil {
		return nil, fmt.Errorf("read what an agent is: %w", err)
	}
	k.Role.Text = k.Text
	return &k.Role, nil
}

// role adds its role from a file.
func role(v *store.View, row store.Agent, i *event.Info) (err error) {
	i.Role, err = RoleNamed(v, row.Role)
	return err
}
