package agents

import (
	"context"
	"encoding/json"
	"errors"

	"fantail/agents/event"
	"fantail/agents/questions"
	"fantail/agents/recovery"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permit"
)

// park gives an agent that was just loaded the turn that it goes on with.
func (a *agent) park(k *recovery.Parked) error {
	a.parked, a.shownTurn, a.timeout = k, k.Turn.ID, k.Timeout
	a.info.State, a.info.Why = Asking, ""
	if !k.Row.Answered.IsZero() {
		if a.p.o.Attended {
			a.info.State, a.info.Doing = Running, "starting"
		}
		return nil
	}
	q, err := event.QuestionOf(k.Row, a.info.Name)
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
	a.turn, a.began, a.steps = k.Turn.ID, k.Turn.Started, k.Turn.Steps
	still := a.asksStill(k)
	if !still || !k.Row.Answered.IsZero() {
		if err := a.regain(ctx); errors.Is(err, event.ErrClosing) {
			return questions.ErrParked
		} else if err != nil {
			return err
		}
	}
	if still {
		a.p.Asks.Park(k.Row)
		return a.runCalls(ctx, k.Calls)
	}
	err := a.keep(ctx, "settle a question", func(tx *store.Tx) error {
		row, _, err := tx.Approval(k.Row.ID)
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
	return a.runCalls(ctx, k.Calls)
}

// asksStill reports whether the first call of a parked turn asks what its
// question says: to do the very same, in the mode and by the rules of now.
func (a *agent) asksStill(k *recovery.Parked) bool {
	var d event.QuestionRow
	call, err := a.parse(k.Calls[0])
	if err != nil || json.Unmarshal([]byte(k.Row.Data), &d) != nil || !k.Row.Answered.IsZero() && event.AnswerOf(k.Row).Settled != "" {
		return false
	}
	if call.Asks != nil || d.Asks != nil {
		return call.Asks != nil && d.Asks != nil
	}
	now, err := json.Marshal(call.Action)
	then, err2 := json.Marshal(d.Action)
	return err == nil && err2 == nil && string(now) == string(then) && a.p.o.Gate.Decide(call.Action).Decision == permit.AskHuman
}
