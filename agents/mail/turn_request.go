package mail

import (
	"errors"
	"fmt"
	"slices"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// TurnRequest is a human's request for a turn with mail. It waits until the current turn has ended, and takes nothing before
// its own begins.
type TurnRequest struct {
	ID     int64              // this message; 0: the most urgent
	Oldest bool               // the oldest instead of the most urgent
	All    bool               // all pending messages, in one turn
	IDs    []int64            // of those, only these, all of them or none
	Steady bool               // only if the agent's last turn completed
	Text   string             // the prompt that goes with them; "": none
	Prompt int64              // the row that stores the command until then; 0: none
	from   *fleet.Environment // of the human who asks; nil: unknown
	reply  chan Took
}

// Took is the result of a TurnRequest.
type Took struct {
	Messages []inbox.Message
	Left     int
	Err      error
}

// Asked returns the channel that w's answer arrives on. It is called once, before w is shared.
func (w *TurnRequest) Asked() <-chan Took {
	w.reply = make(chan Took, 1)
	return w.reply
}

// Answer sends w's result; only the first one counts.
func (w *TurnRequest) Answer(t Took) {
	select {
	case w.reply <- t:
	default:
	}
}

// Query returns a query for what w could take.
func (w *TurnRequest) Query(agent int64) inbox.Query {
	return inbox.Query{Recipient: agent, ID: w.ID, IDs: w.IDs}
}

// ErrTakenBack is the error of a command that the human withdrew before its turn began.
var ErrTakenBack = errors.New("it was taken back")

// barred says why w's turn must not begin; nil: it may.
func (w *TurnRequest) barred(tx *store.Tx, agent int64) error {
	if !w.Steady {
		return nil
	}
	last, _, err := tx.LastTurn(agent)
	if err == nil && last.Outcome != string(history.Completed) {
		err = fmt.Errorf("the turn with the last message did not complete (%s), so those behind it stay in the inbox; "+
			"/messages wait goes on with them", last.Outcome)
	}
	return err
}

// Refused says why w can't be carried out; nil: it may be.
func (w *TurnRequest) Refused(tx *store.Tx, agent int64, waiting []store.Prompt) error {
	if !w.keeps(waiting) {
		return ErrTakenBack
	}
	if err := AllWait(&tx.View, agent, w.IDs); err != nil {
		return err
	}
	return w.barred(tx, agent)
}

// keeps reports whether w's row, if it has one, is still there.
func (w *TurnRequest) keeps(waiting []store.Prompt) bool {
	return w.Prompt == 0 || slices.ContainsFunc(waiting, func(q store.Prompt) bool { return q.ID == w.Prompt })
}
