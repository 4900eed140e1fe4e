// Package mail moves messages from inboxes to transcripts.
//
// Does: keep policies, rules and quiet, and decide by them what enters at a seam ([Room.Arrivals]); sort what arrives,
// and fork agents for it; keep the one timer of all that comes at its time (pauses, quiet's end, snoozed mail); take
// messages into transcripts ([Takes]), for a human too ([Pickup]); write letters; list, archive, snooze and restore the
// messages of an inbox and put back what a human took last ([Letters]).
//
// Does not: run a turn or begin one: it says what there is to begin one with, and pokes the agent. Make forks, or
// change what is seen of an agent, but where a human's command shows in its tab ([Pickup]).
//
// Imports: agents/event, agents/fleet, agents/history, agents/roster, agents/waits, inbox, inbox/envelope,
// inbox/policy, store.
package mail

import "fantail/inbox"

// Who took a message, where that is not the command they typed.
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
