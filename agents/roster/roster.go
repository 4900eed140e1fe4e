// Package roster is the rows of agents and tasks: who there is and what they are called.
//
// Does: find the agent that a word means, give names, say what a task is, needs and
// became, who inherits what an agent leaves, what an agent's trust is, make main.
//
// Does not: know agents in memory, start or end one, hold anything between two
// transactions.
//
// Imports: agents/event, agents/history, agents/llm, inbox, store, tools.
package roster

import (
	"errors"
)

// Errors of who names an agent that can't be meant (wrapped, with the names in the text).
var (
	ErrNoAgent  = errors.New("no such agent")
	ErrNoPrompt = errors.New("this agent has no prompt box")
)
