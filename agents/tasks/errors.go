package tasks

import (
	"errors"
)

// Errors for naming an agent that does not fit; they are wrapped, with the names in the text.
var (
	ErrNoAgent  = errors.New("no such agent")
	ErrNoPrompt = errors.New("this agent has no prompt box")
)
