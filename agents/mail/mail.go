// Package mail is what becomes of messages between their inboxes and the transcripts.
//
// Does: write letters; list, archive, snooze, restore and pin the messages of an inbox,
// put back what a human took last; tell the writers of messages that were never read.
//
// Does not: run a turn, know agents in memory except through the interfaces it declares,
// show anything.
//
// Imports: agents/event, agents/history, agents/roster, inbox, store.
package mail

import "fantail/inbox"

// Who took a message, where that is not the name of what they typed.
const (
	ByShow = "show" // a human, for their own eyes: the model doesn't read it
	ByTool = "tool" // a call of the model
)

// Fate says what happened to m, in a sentence that goes on from another.
func Fate(m inbox.Message) string {
	f := m.Fate()
	if f != "entered a turn" && f != "came with its task" {
		return "it is " + f
	}
	return "it " + f
}
