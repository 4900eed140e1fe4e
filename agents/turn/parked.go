package turn

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/recovery"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/permission"
)

// Park gives a freshly loaded agent the turn to resume. Call it before Start.
func (l *Loop) Park(k *recovery.Parked) error {
	l.own.parked, l.Agent.ShownTurn, l.fixed.timeout = k, k.Turn.ID, k.Timeout
	l.Agent.Info.State, l.Agent.Info.Why = event.Asking, ""
	q, err := event.QuestionOf(k.Row, l.Agent.Info.Name)
	l.Agent.Info.Question = &q
	return err
}

// resume resumes a parked turn at the calls without a result. The gate decides about the first one
// again; if it still asks the same, that question is asked once more.
func (l *Loop) resume(ctx context.Context) error {
	k := l.own.parked
	l.own.parked = nil
	l.own.turn, l.own.began, l.own.steps = k.Turn.ID, k.Turn.Started, k.Turn.Steps
	l.own.tokens, l.own.cost = k.Turn.Input+k.Turn.Output+k.Turn.CacheRead+k.Turn.CacheWrite, k.Turn.Cost
	if k.Abroad {
		if s, err := l.engine(); err != nil {
			return err
		} else if s != nil {
			return s.GoOn(ctx, k)
		}
	}
	if len(k.Calls) == 0 { // its budget was used up: the turn goes on, and asks again if it still is
		l.o.Asks.Park(k.Row)
		return nil
	}
	still := l.stillAsks(k)
	if !still {
		if err := l.Agent.Regain(ctx); errors.Is(err, event.ErrClosing) {
			return approval.ErrParked
		} else if err != nil {
			return err
		}
	}
	if still {
		l.o.Asks.Park(k.Row)
		return l.runCalls(ctx, k.Calls)
	}
	err := l.Keep(ctx, "settle a question", func(tx *store.Tx) error {
		row, _, err := tx.Approval(k.Row.ID)
		if err == nil && l.o.Asks.Trusted(row).Answered.IsZero() {
			err = l.o.Asks.Reply(tx, row, event.Answer{Settled: "what it asked is not asked any more"}, inbox.BySettle)
		}
		if err == nil {
			_, err = tx.ActApproval(row.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	l.Agent.Set(func(i *event.Info) { i.Question = nil })
	return l.runCalls(ctx, k.Calls)
}

// stillAsks reports whether the first call of a parked turn still asks what its question says:
// exactly the same action, under the current rules. A changed mode does not answer the question.
func (l *Loop) stillAsks(k *recovery.Parked) bool {
	if strings.HasSuffix(k.Row.Call, event.Repeating) {
		l.own.repeats.Again(k.Calls[0].ID)
		return true
	}
	var d event.QuestionRow
	call, err := l.parse(k.Calls[0])
	if err != nil || json.Unmarshal([]byte(k.Row.Data), &d) != nil {
		return false
	}
	if call.Asks != nil || d.Asks != nil {
		return call.Asks != nil && d.Asks != nil
	}
	now, err := json.Marshal(call.Action)
	then, err2 := json.Marshal(d.Action)
	return err == nil && err2 == nil && string(now) == string(then) &&
		l.o.Gate.Again(call.Action).Decision == permission.AskHuman
}
