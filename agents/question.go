package agents

import (
	"errors"
)

// errParked ends an agent's loop but not its turn: the program closes while a
// question is open, and the next start goes on from there.
var errParked = errors.New("it waits for an answer")
