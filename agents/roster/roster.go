// Package roster is about the rows of agents and tasks: who exists and what they are called.
//
// Does: find the agent that a word means, give names, define what a task is, needs and became, who inherits what an
// agent leaves, how far an agent is trusted, create main.
//
// Does not: know agents in memory, start or end one, keep state between transactions.
//
// Imports: agents/event, agents/history, agents/llm, agents/seal, inbox, store, tools.
package roster

import (
	"errors"
)

// Errors for naming an agent that does not fit; they are wrapped, with the names in the text.
var (
	ErrNoAgent  = errors.New("no such agent")
	ErrNoPrompt = errors.New("this agent has no prompt box")
)
