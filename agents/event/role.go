package event

import "fantail/tools/permit"

// Role is what an agent is that a file describes, as that said when work was given to it.
type Role struct {
	Name   string
	Source string      // the file, as people name it
	Text   string      `json:"-"` // what stands in its system prompt
	Tools  []string    // that it may call; nil: all
	Not    []string    // that it may not
	Mode   permit.Mode // that its calls are judged in; "": as those of others are
	Steps  int         // requests that it may make for a task; 0: any number
}
