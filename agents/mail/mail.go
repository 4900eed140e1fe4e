// Package mail delivers messages: it applies policies, carries letters between agents, and takes in what other
// processes hand over.
package mail

import "fantail/inbox"

// The taker of a message, if it was not taken by a typed command.
const (
	ByShow = "show" // a human, for their own eyes: the model doesn't read it
	ByTool = "tool" // a call of the model
)

// Fate says what happened to m, as the continuation of a sentence.
func Fate(m inbox.Message) string {
	f := m.Fate()
	if f != "entered a turn" && f != "came with its task" {
		return "it is " + f
	}
	return "it " + f
}
