package roster

import (
	"encoding/json"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/store"
)

// kept is a role as its row keeps it.
type kept struct {
	event.Role
	Text string
}

// KeepRole keeps what an agent is, and returns the name under which it is kept.
func KeepRole(tx *store.Tx, r *event.Role) (string, error) {
	data, err := json.Marshal(kept{*r, r.Text})
	if err != nil {
		return "", fmt.Errorf("keep what an agent is: %w", err)
	}
	return store.PutRole(tx, string(data))
}

// lost is what an agent is whose row does not hold what it was. It has no tools: which they were is not known.
func lost() *event.Role {
	return &event.Role{Name: "unknown", Source: "the database", Text: "What you are can't be read any more. Say so.", Tools: []string{}}
}

// RoleNamed returns what is kept under a name; nil for none.
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

// role adds what a file says that it is.
func role(v *store.View, row store.Agent, i *event.Info) (err error) {
	i.Role, err = RoleNamed(v, row.Role)
	return err
}
