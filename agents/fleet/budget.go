package fleet

import (
	"context"
	"errors"
	"fmt"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Percents of a budget.
const (
	warnAt = 80 // the dispatcher of its owner gets a notice
	wrapAt = 95 // the agents that use it are told to finish with what they have
)

// Budgets manages budgets. They are rows, so that a restart gives no agent more.
//
// A request is counted before it is sent, as the tokens it will use at least: so agents that share a budget see each
// other's requests under way. A budget is exceeded by at most one request of each agent that was under way when it was
// used up, or by one request of a single agent.
type Budgets struct {
	DB    *store.DB
	Inbox *inbox.Inbox
	Fleet *Fleet

	Usual   tools.Amount // of a task that names none; zero: it has none
	Resolve func(model string) (llm.Model, error)
}

// OverBudget says that a budget is used up.
type OverBudget struct {
	Owner  int64
	Name   string // of the owner
	Other  bool   // it is not the agent's own
	Amount tools.Amount
	Used   int64
}

func (o *OverBudget) Error() string {
	whose := "its budget"
	if o.Other {
		whose = "the budget of " + o.Name + ", which it works for,"
	}
	return fmt.Sprintf("%s is used up: %s; /budget %s AMOUNT gives more", whose, o.Amount.Used(o.Used), o.Name)
}

// Charge is the amount counted for a request before it was sent. The zero value is of an agent that has no budget.
type Charge struct {
	agent, tokens, money int64
	counts               bool
}

// Counts reports whether the request is counted to any budget.
func (c Charge) Counts() bool { return c.counts }

// Ahead is the result of counting a request.
type Ahead struct {
	Charge
	Refused error       // the request may not be sent: an [Over], or why its cost can't be known
	Wrap    string      // text for its agent before the request, as it is one of its last; "": none
	Last    *LastBudget // why its agent may call no more tools; nil: it may
}

// LastBudget is the error of a tool call of an agent that was told to finish: the rest of the budget is for its
// answer.
type LastBudget struct{ used string }

func (l *LastBudget) Error() string {
	return "your budget is nearly used up: " + l.used + ". No tool runs any more: answer with what you have."
}

// Note returns a remark to append to the answer.
func (l *LastBudget) Note() string {
	return "\n\n(Its budget was nearly used up, " + l.used + ": it was told to answer with what it had.)"
}

// Uses reports whether anything an agent uses counts to a budget.
func (r *Budgets) Uses(ctx context.Context, agent int64) (uses bool, err error) {
	err = r.DB.Read(context.WithoutCancel(ctx), func(rx *store.Rx) error {
		bs, err := store.Budgets(&rx.View, agent)
		uses = len(bs) > 0
		return err
	})
	return uses, err
}

// Ahead counts a request of about that many tokens, unless a budget is used up.
func (r *Budgets) Ahead(tx *store.Tx, agent int64, m llm.Model, tokens int) (a Ahead, err error) {
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
			a.Refused = &OverBudget{Owner: b.Owner, Name: b.Name, Other: b.Owner != agent, Amount: of, Used: b.Used}
		}
		if a.Refused != nil {
			a.Wrap = ""
			return a, nil
		}
		if b.Wrapped && a.Last == nil {
			a.Last = &LastBudget{of.Used(b.Used)}
		}
		if next := b.Used + a.of(b); of.Percent(next) >= wrapAt && !b.Wrapped {
			a.Last = &LastBudget{of.Used(b.Used)}
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

// of returns the charge in the unit of that budget.
func (c Charge) of(b store.Budget) int64 {
	if b.Money {
		return c.money
	}
	return c.tokens
}

// Unpriced says why a model can't work on a budget in dollars.
func Unpriced(model string, a tools.Amount) error {
	return fmt.Errorf("a budget of %s can't be kept: the price of %s is unknown; a budget in tokens can (budget=50k), "+
		"or a price in the configuration", a, model)
}

// Settle replaces the amount counted in advance by what the request has used, in the transaction that records its
// reply. said is the approximate size of the reply in tokens: if the model did not report its usage, that and the
// advance count are used.
func (r *Budgets) Settle(tx *store.Tx, c Charge, m llm.Model, u llm.Usage, said int) error {
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
		if p := amount(b).Percent(b.Used); p >= warnAt && p < 100 && !b.Warned { // a budget that is used up is reported elsewhere
			if err := r.warn(tx, b); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { r.shows(b) })
	}
	return nil
}

// warn tells the dispatcher of an agent, or the reader of its tab, that most of its budget is used.
func (r *Budgets) warn(tx *store.Tx, b store.Budget) error {
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

// shows updates the budget on the screens.
func (r *Budgets) shows(b store.Budget) {
	if a, err := r.Fleet.Agent(b.Owner); err == nil {
		a.Set(func(i *event.Info) { i.Budget = event.BudgetOf(b) })
	}
}

func amount(b store.Budget) tools.Amount { return event.BudgetOf(b).Amount }
