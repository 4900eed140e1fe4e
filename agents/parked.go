package agents

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/agents/questions"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permit"
)

// parked is a turn that awaited an answer when the program ended, and goes on
// there: nothing of it has been done that the transcript does not show.
type parked struct {
	turn    store.Turn
	row     store.Approval // the question
	calls   []Call         // of the last reply, those without a result; the question is the first one's
	timeout time.Duration  // of the task
}

// parkedAt finds out whether all that was under way in a turn was a question: the
// first call without a result has one that nothing was done upon, and none behind
// it had begun. nil: no.
func parkedAt(t store.Turn, es []Entry, rows []store.Approval) *parked {
	var open []Call
	begun := map[string]bool{}
	for _, e := range es {
		switch {
		case e.Kind == EntryCall && e.Call != nil:
			open = append(open, *e.Call)
		case (e.Kind == EntryStarted || e.Kind == EntryDelegated) && e.Call != nil:
			begun[e.Call.ID] = true
		case e.Kind == EntryResult && e.Result != nil:
			open = slices.DeleteFunc(open, func(c Call) bool { return c.ID == e.Result.ID })
		}
	}
	if len(open) == 0 || slices.ContainsFunc(open, func(c Call) bool { return begun[c.ID] }) {
		return nil
	}
	var row *store.Approval
	for i := range rows {
		if rows[i].Call == open[0].ID {
			row = &rows[i]
		}
	}
	var d event.QuestionRow
	if row == nil || !row.Acted.IsZero() || json.Unmarshal([]byte(row.Data), &d) != nil || d.Beside && len(open) > 1 {
		return nil
	}
	return &parked{turn: t, row: *row, calls: open}
}

// park gives an agent that was just loaded the turn that it goes on with.
func (a *agent) park(k *parked) error {
	a.parked, a.shownTurn, a.timeout = k, k.turn.ID, k.timeout
	a.info.State, a.info.Why = Asking, ""
	if !k.row.Answered.IsZero() {
		if a.p.o.Attended {
			a.info.State, a.info.Doing = Running, "starting"
		}
		return nil
	}
	q, err := event.QuestionOf(k.row, a.info.Name)
	a.info.Question = &q
	return err
}

// dormant reports whether the agent stays at its question, because nobody is
// here to be asked: its loop does not run. The caller holds mu.
func (a *agent) dormant() bool { return !a.p.o.Attended && a.info.State == Asking }

// goOn takes a parked turn up with the calls that have no result. The gate
// judges the first anew; where it still asks the same, the question and what was
// answered count.
func (a *agent) goOn(ctx context.Context) error {
	k := a.parked
	a.parked = nil
	a.turn, a.began, a.steps = k.turn.ID, k.turn.Started, k.turn.Steps
	still := a.asksStill(k)
	if !still || !k.row.Answered.IsZero() {
		if err := a.regain(ctx); errors.Is(err, event.ErrClosing) {
			return questions.ErrParked
		} else if err != nil {
			return err
		}
	}
	if still {
		a.p.Asks.Park(k.row)
		return a.runCalls(ctx, k.calls)
	}
	err := a.keep(ctx, "settle a question", func(tx *store.Tx) error {
		row, _, err := tx.Approval(k.row.ID)
		if err == nil && row.Answered.IsZero() {
			err = a.p.Asks.Reply(tx, row, Answer{Settled: "what it asked is not asked any more"}, inbox.BySettle)
		}
		if err == nil {
			_, err = tx.ActApproval(row.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	a.set(func(i *Info) { i.Question = nil })
	return a.runCalls(ctx, k.calls)
}

// asksStill reports whether the first call of a parked turn asks what its
// question says: to do the very same, in the mode and by the rules of now.
func (a *agent) asksStill(k *parked) bool {
	var d event.QuestionRow
	call, err := a.parse(k.calls[0])
	if err != nil || json.Unmarshal([]byte(k.row.Data), &d) != nil || !k.row.Answered.IsZero() && event.AnswerOf(k.row).Settled != "" {
		return false
	}
	if call.Asks != nil || d.Asks != nil {
		return call.Asks != nil && d.Asks != nil
	}
	now, err := json.Marshal(call.Action)
	then, err2 := json.Marshal(d.Action)
	return err == nil && err2 == nil && string(now) == string(then) && a.p.o.Gate.Decide(call.Action).Decision == permit.AskHuman
}
