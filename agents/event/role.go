package event

import (
	"fantail/tools/permission"
)

// Role is an agent's role from a file, as the file was when the agent got its work.
type Role struct {
	Name   string
	Source string          // the file, as people name it
	Text   string          `json:"-"` // for its system prompt
	Tools  []string        // tools that it may call; nil: all
	Not    []string        // tools that it may not
	Mode   permission.Mode // that its calls are judged in; "": as those of others are
	Steps  int             // how many requests it may make for a task; 0: any number
}
