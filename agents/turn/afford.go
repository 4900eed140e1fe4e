package turn

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/budget"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/questions"
	"fantail/agents/repeats"
	"fantail/agents/reply"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permit"
)

// afford counts the next request to the budgets its agent uses, before it is sent, and refuses it where one is used up.
// An agent whose work ends with its turn is told when this is one of its last.
func (c *conversation) afford(ctx context.Context, model llm.Model) (budget.Charge, error) {
	c.last = nil
	uses, err := c.o.Budget.Uses(ctx, c.ID)
	if err != nil || !uses {
		return budget.Charge{}, err
	}
	about, _ := c.fills()
	if about == 0 {
		about = history.Estimate(c.request())
	}
	var a budget.Ahead
	var seq int64
	err = c.Keep(ctx, "count a request", func(tx *store.Tx) (err error) {
		seq = 0
		if a, err = c.o.Budget.Ahead(tx, c.ID, model, about); err != nil {
			return err
		}
		if a.Wrap == "" || c.turn == 0 || c.Kind.HasPrompt() {
			return nil
		}
		if seq, err = c.Book().Batch(tx).Add(c.turn, history.Entry{Kind: history.EntryHost, Text: a.Wrap}); err != nil {
			return err
		}
		return tx.SetSentUpTo(c.turn, seq)
	})
	if !c.Kind.HasPrompt() {
		c.last = a.Last
	}
	if err == nil {
		err = c.readUpTo(ctx, seq)
	}
	if err == nil {
		err = a.Refused
	}
	return a.Charge, err
}

// settle counts what the request has used, in the transaction that records its reply.
func (c *conversation) settle(tx *store.Tx, paid budget.Charge, model llm.Model, r *reply.Reply) error {
	if !paid.Counts() {
		return nil
	}
	said := 0
	if r.Before > 0 {
		said = history.TokensOf(r.Before)
	}
	for _, e := range r.Entries(model.Name, c.tools.Title) {
		said += history.Weight(e)
	}
	return c.o.Budget.Settle(tx, paid, model, r.Usage, said)
}

// payer is an agent's loop that pays for what it asks.
type payer struct{ *Loop }

// answer is that of the loop. Where a budget is used up and somebody is there to give more, it asks them.
func (p payer) answer(ctx context.Context) (*reply.Reply, error) {
	for {
		r, err := p.Loop.answer(ctx)
		over := (*budget.Over)(nil)
		if !errors.As(err, &over) || !p.Kind.HasPrompt() || p.unattended {
			return r, err
		}
		// The question is a row, whose name is the same when the next start of the program asks it again.
		call := fmt.Sprintf("%d-%d%s", p.turn, over.Used, event.Spending)
		ans, failed := p.asksHuman(ctx, call, "go on over the budget", over.Question())
		if failed != nil {
			return nil, failed
		}
		more := over.Given(ans)
		if more.N == 0 {
			return nil, err
		}
		if err := p.o.Budget.More(ctx, over.Owner, more); err != nil {
			return nil, err
		}
	}
}

// repeated asks the human about a call that repeats itself. It returns why the call may not run; "": it may.
func (w *workbench) repeated(ctx context.Context, c history.Call) (why string, err error) {
	switch {
	case !w.repeats.Asks(c.ID):
		return "", nil
	case w.unattended || !w.Kind.Nature().Asks:
		return repeats.Unasked(), nil
	}
	ans, err := w.asksHuman(ctx, c.ID+event.Repeating, c.Title, repeats.Question(w.Known().Name, c))
	if err != nil {
		return "", err
	}
	return repeats.Refusal(ans), nil
}

// asksHuman puts a question of the program's own, and returns what was answered.
func (w *workbench) asksHuman(ctx context.Context, call, title string, ask tools.Question) (string, error) {
	return w.asksAs(ctx, call, title, ask, questions.Alone)
}

// asksFor puts a question of a program that works on a call. No restart asks it again: the program has forgotten it then.
func (w *workbench) asksFor(ctx context.Context, call, title string, ask tools.Question) (string, error) {
	return w.asksAs(ctx, call+event.Inquiring, title, ask, questions.Beside)
}

func (w *workbench) asksAs(ctx context.Context, call, title string, ask tools.Question, by questions.Company) (string, error) {
	q := event.Question{Question: permit.Question{Call: call, Action: permit.Action{Title: title}}, Asks: &ask}
	ans, err := w.o.Asks.Put(ctx, asker{w}, q, by)
	return ans.Text, err
}
