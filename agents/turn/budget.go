package turn

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
)

// Afford charges the next request to the budgets that the agent uses, before it is sent, and
// refuses it if one is used up. It tells an agent whose work ends with its turn when this is one of
// its last requests.
func (l *Loop) Afford(ctx context.Context, model llm.Model) (fleet.Charge, error) {
	l.own.last = nil
	uses, err := l.o.Budget.Uses(ctx, l.Agent.ID)
	if err != nil || !uses {
		return fleet.Charge{}, err
	}
	about, _ := l.fills()
	if about == 0 {
		about = history.Estimate(l.request())
	}
	var a fleet.Ahead
	var seq int64
	err = l.Keep(ctx, "count a request", func(tx *store.Tx) (err error) {
		seq = 0
		if a, err = l.o.Budget.Ahead(tx, l.Agent.ID, model, about); err != nil {
			return err
		}
		if a.Wrap == "" || l.own.turn == 0 || l.Agent.Kind.HasPrompt() {
			return nil
		}
		if seq, err = l.Agent.Book().Batch(tx).Add(l.own.turn, history.Entry{Kind: history.EntryHost, Text: a.Wrap}); err != nil {
			return err
		}
		return tx.SetSentUpTo(l.own.turn, seq)
	})
	if !l.Agent.Kind.HasPrompt() {
		l.own.last = a.Last
	}
	if err == nil {
		err = l.readUpTo(ctx, seq)
	}
	if err == nil {
		err = a.Refused
	}
	return a.Charge, err
}

// settle charges what the request used, in the transaction that records its reply.
func (l *Loop) settle(tx *store.Tx, paid fleet.Charge, model llm.Model, r *event.Reply) error {
	if !paid.Counts() {
		return nil
	}
	said := 0
	if r.Before > 0 {
		said = history.TokensOf(r.Before)
	}
	for _, e := range r.Entries(model.Name, l.fixed.tools.Title) {
		said += history.Weight(e)
	}
	return l.o.Budget.Settle(tx, paid, model, r.Usage, said)
}

// answer gets the model's reply within the budgets. If one is used up and a human is there, it asks
// for more.
func (l *Loop) answer(ctx context.Context) (*event.Reply, error) {
	for {
		r, err := l.answerOnce(ctx)
		over := (*fleet.OverBudget)(nil)
		if !errors.As(err, &over) || !l.Agent.Kind.HasPrompt() || l.fixed.unattended {
			return r, err
		}
		// The question is a row. Its name must be the same if the next start of the program asks it
		// again.
		call := fmt.Sprintf("%d-%d%s", l.own.turn, over.Used, event.Spending)
		ans, failed := l.askText(ctx, textQuestion(call, "go on over the budget", over.Question()), approval.Alone)
		if failed != nil {
			return nil, failed
		}
		more := over.Given(ans)
		if more.N == 0 {
			return nil, err
		}
		if err := l.o.Budget.More(ctx, over.Owner, more); err != nil {
			return nil, err
		}
	}
}
