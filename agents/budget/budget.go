// Package budget keeps what agents use within what they may.
//
// Does: give an agent a budget, which it shares with all it dispatches; count each request before it is sent, and as
// what it was once its reply is recorded; refuse it where a budget is used up; warn whoever dispatched the agent.
//
// Does not: send a request or end a turn (agents/turn), ask the human, know prices (agents/llm).
//
// Imports: agents/event, agents/fleet, agents/history, agents/llm, agents/roster, inbox, store, tools,
// tools/allowance.
package budget

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools/allowance"
)

// Percents of a budget.
const (
	warnAt = 80 // who dispatched its owner is told
	wrapAt = 95 // those who use it are told to finish with what they have
)

// Room is where budgets are kept. They are rows, so that no restart gives anybody more.
//
// A request is counted before it is sent, as the tokens it will have at least: agents that share a budget find what the
// others have on the way. So a budget is exceeded by at most one request of each agent that was on the way when it was
// used up, and by the one request of an agent alone.
type Room struct {
	DB    *store.DB
	Inbox *inbox.Inbox
	Fleet *fleet.Fleet

	Usual   allowance.Amount // of a task that names none; zero: it has none
	Resolve func(model string) (llm.Model, error)
}

// Over says that a budget is used up.
type Over struct {
	Owner  int64
	Name   string // of the owner
	Other  bool   // it is not that of the agent itself
	Amount allowance.Amount
	Used   int64
}

func (o *Over) Error() string {
	whose := "its budget"
	if o.Other {
		whose = "the budget of " + o.Name + ", which it works for,"
	}
	return fmt.Sprintf("%s is used up: %s; /budget %s AMOUNT gives more", whose, o.Amount.Used(o.Used), o.Name)
}

// Charge is what was counted of a request before it was sent. The zero value is of an agent that has no budget.
type Charge struct {
	agent, tokens, money int64
	counts               bool
}

// Counts reports whether the request is counted to any budget.
func (c Charge) Counts() bool { return c.counts }

// Ahead is what came of counting a request.
type Ahead struct {
	Charge
	Refused error  // it may not be sent: an [Over], or why its cost can't be known
	Wrap    string // what its agent is to be told before, as this is one of its last; "": nothing
	Last    *Last  // why its agent calls no more tools; nil: it may
}

// Last is why an agent that was told to finish calls no more tools: what is left is for its answer.
type Last struct{ used string }

func (l *Last) Error() string {
	return "your budget is nearly used up: " + l.used + ". No tool runs any more: answer with what you have."
}

// Note stands behind the answer.
func (l *Last) Note() string {
	return "\n\n(Its budget was nearly used up, " + l.used + ": it was told to answer with what it had.)"
}

// Uses reports whether anything an agent uses counts to a budget.
func (r *Room) Uses(ctx context.Context, agent int64) (uses bool, err error) {
	err = r.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error {
		bs, err := store.Budgets(&rx.View, agent)
		uses = len(bs) > 0
		return err
	})
	return uses, err
}

// Ahead counts a request of about so many tokens, unless a budget is used up.
func (r *Room) Ahead(tx *store.Tx, agent int64, m llm.Model, tokens int) (a Ahead, err error) {
	bs, err := store.Budgets(&tx.View, agent)
	if err != nil || len(bs) == 0 {
		return a, err
	}
	a.Charge = Charge{agent: agent, tokens: int64(tokens), counts: true}
	if m.Price != nil {
		a.money = m.Price(llm.Usage{CacheRead: tokens})
	}
	for _, b := range bs {
		of := amount(b)
		switch {
		case b.Money && m.Price == nil:
			a.Refused = Unpriced(m.Name, of)
		case b.Used >= b.Amount:
			a.Refused = &Over{Owner: b.Owner, Name: b.Name, Other: b.Owner != agent, Amount: of, Used: b.Used}
		}
		if a.Refused != nil {
			a.Wrap = ""
			return a, nil
		}
		if b.Wrapped && a.Last == nil {
			a.Last = &Last{of.Used(b.Used)}
		}
		if next := b.Used + a.of(b); of.Percent(next) >= wrapAt && !b.Wrapped {
			a.Last = &Last{of.Used(b.Used)}
			a.Wrap = "Your budget is nearly used up: " + of.Used(b.Used) +
				". Call no more tools: answer now with what you have found and done, and say what is left to do."
		}
	}
	if a.Wrap != "" {
		if err := store.WrappedBudgets(tx, agent); err != nil {
			return a, err
		}
	}
	return a, store.SpendBudgets(tx, agent, a.tokens, a.money)
}

// of is what the charge is in the unit of that budget.
func (c Charge) of(b store.Budget) int64 {
	if b.Money {
		return c.money
	}
	return c.tokens
}

// Unpriced says why a model can't work on a budget in dollars.
func Unpriced(model string, a allowance.Amount) error {
	return fmt.Errorf("a budget of %s can't be kept: the price of %s is unknown; a budget in tokens can (budget=50k), "+
		"or a price in the configuration", a, model)
}

// Settle replaces what was counted ahead by what the request has used, in the transaction that records its reply. said is
// about how many tokens came of one that counts: where the model did not say what it used, that and the request's own count.
func (r *Room) Settle(tx *store.Tx, c Charge, m llm.Model, u llm.Usage, said int) error {
	if u.Context() == 0 && said > 0 {
		u = llm.Usage{Input: int(c.tokens), Output: said}
	}
	tokens, money := int64(u.Context()), int64(0)
	if m.Price != nil {
		money = m.Price(u)
	}
	if err := store.SpendBudgets(tx, c.agent, tokens-c.tokens, money-c.money); err != nil {
		return err
	}
	bs, err := store.Budgets(&tx.View, c.agent)
	if err != nil {
		return err
	}
	for _, b := range bs {
		if p := amount(b).Percent(b.Used); p >= warnAt && p < 100 && !b.Warned { // what is used up is told by itself
			if err := r.warn(tx, b); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { r.shows(b) })
	}
	return nil
}

// warn tells who dispatched an agent, or who reads its tab, that most of its budget is used.
func (r *Room) warn(tx *store.Tx, b store.Budget) error {
	if err := store.WarnedBudget(tx, b.Owner); err != nil {
		return err
	}
	a, ok, err := tx.Agent(b.Owner)
	if err != nil || !ok {
		return errors.Join(err, store.Missing(ok, "agent %d", b.Owner))
	}
	used := "has used " + amount(b).Used(b.Used) + " of its budget"
	if event.Kind(a.Kind).HasPrompt() {
		text := fmt.Sprintf("%s %s. When it is used up you are asked; /budget %s AMOUNT gives more.", b.Name, used, b.Name)
		_, err := r.Fleet.Book(b.Owner).Batch(tx).Add(0, history.Entry{Kind: history.EntryNotice, Text: text})
		return err
	}
	t, _, err := tx.Task(a.Task)
	if err != nil {
		return err
	}
	m := inbox.Message{
		Recipient: a.Parent, Sender: b.Owner, Kind: inbox.Notice, Deliver: inbox.Next, Subject: b.Name + " " + used,
		Body: fmt.Sprintf("%s %s. When it is used up it ends, and what it has found by then comes as its result; "+
			"/budget %s AMOUNT gives it more.", b.Name, used, b.Name),
	}
	if inbox.Deliver(t.Deliver) == inbox.Hold {
		m.Deliver = inbox.Hold
	}
	_, err = r.Inbox.Add(tx, m)
	return err
}

// shows has the screens show what is used of a budget.
func (r *Room) shows(b store.Budget) {
	if a, err := r.Fleet.Agent(b.Owner); err == nil {
		a.Set(func(i *event.Info) { i.Budget = event.BudgetOf(b) })
	}
}

func amount(b store.Budget) allowance.Amount { return event.BudgetOf(b).Amount }
