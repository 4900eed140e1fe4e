package budget

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/roster"
	"fantail/store"
	"fantail/tools/allowance"
)

// Begin gives the agent of a task the budget the task names, or the usual one, and counts it to those of who dispatched
// it. What an earlier task of the agent used counts no more then. It returns the agent's own; nil: it has none.
func (r *Room) Begin(tx *store.Tx, agent int64, t store.Task) (*event.Budget, error) {
	if err := store.JoinBudgets(tx, agent, t.Queue); err != nil {
		return nil, err
	}
	if t.SpawnedBy != 0 { // whose queue it stands in may have changed
		turn, _, err := tx.Turn(t.SpawnedBy)
		if err == nil {
			err = store.JoinBudgets(tx, agent, turn.Agent)
		}
		if err != nil {
			return nil, err
		}
	}
	of := r.Usual
	if t.Budget != "" {
		var err error
		if of, err = allowance.Parse(t.Budget); err != nil {
			return nil, err
		}
		if most := r.Usual; t.Origin != roster.OriginHuman && most.N != 0 && (most.Money != of.Money || of.N > most.N) {
			of = most // only the human gives more
		}
	}
	if t.Kind != roster.KindCommand && of.N != 0 {
		if err := store.PutBudget(tx, store.Budget{Owner: agent, Money: of.Money, Amount: of.N}); err != nil {
			return nil, err
		}
	}
	return Of(&tx.View, agent)
}

// Of returns an agent's own budget; nil: it has none.
func Of(v *store.View, agent int64) (*event.Budget, error) {
	bs, err := store.Budgets(v, agent)
	if err != nil || len(bs) == 0 || bs[0].Owner != agent {
		return nil, err
	}
	return event.BudgetOf(bs[0]), nil
}

// Set gives an agent that budget, or takes the one it has away (none). What was used of one in the same unit stays used;
// else it counts from now on.
func (r *Room) Set(ctx context.Context, agent int64, to allowance.Amount) (now *event.Budget, err error) {
	a, err := r.Fleet.Agent(agent)
	if err != nil {
		return nil, err
	}
	if m, _ := a.Present(); to.Money && m.Price == nil {
		return nil, Unpriced(m.Name, to)
	}
	return now, r.change(ctx, agent, func(tx *store.Tx, was *event.Budget) error {
		now = nil
		if to.N == 0 {
			return store.DropBudget(tx, agent)
		}
		now = &event.Budget{Amount: to}
		if was != nil && was.Amount.Money == to.Money {
			now.Used = was.Used
		}
		return put(tx, agent, now)
	})
}

// More gives an agent so much more than it has used.
func (r *Room) More(ctx context.Context, agent int64, by allowance.Amount) error {
	return r.change(ctx, agent, func(tx *store.Tx, was *event.Budget) error {
		if was == nil {
			return nil // it was taken away meanwhile, so nothing is in the way
		}
		if was.Amount.Money != by.Money {
			return fmt.Errorf("its budget is %s: more of it is in the same unit", was.Amount)
		}
		return put(tx, agent, &event.Budget{Amount: allowance.Amount{N: was.Used + by.N, Money: by.Money}, Used: was.Used})
	})
}

func put(tx *store.Tx, agent int64, b *event.Budget) error {
	return store.PutBudget(tx, store.Budget{Owner: agent, Money: b.Amount.Money, Amount: b.Amount.N, Used: b.Used})
}

// change changes an agent's budget, and shows it.
func (r *Room) change(ctx context.Context, agent int64, f func(tx *store.Tx, was *event.Budget) error) error {
	err := r.DB.Write(ctx, "set a budget", func(tx *store.Tx) error {
		was, err := Of(&tx.View, agent)
		if err == nil {
			err = f(tx, was)
		}
		if err != nil {
			return err
		}
		now, err := Of(&tx.View, agent)
		tx.AfterCommit(func() {
			if a, err := r.Fleet.Agent(agent); err == nil {
				a.Set(func(i *event.Info) { i.Budget = now })
			}
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("set the budget: %w", err)
	}
	return nil
}

// Fits refuses a budget that the work of that model can't be kept in.
func (r *Room) Fits(model, budget string) error {
	of, err := allowance.Parse(budget)
	if err != nil || !of.Money {
		return err
	}
	m, err := r.Resolve(model)
	if err == nil && m.Price == nil {
		err = Unpriced(m.Name, of)
	}
	return err
}

// Text lists the budgets of those agents, a line each.
func Text(is []event.Info) (string, error) {
	var lines []string
	for _, i := range is {
		if i.Budget != nil {
			lines = append(lines, fmt.Sprintf("  - %s: %s", i.Name, i.Budget))
		}
	}
	if len(lines) == 0 {
		return "", errors.New("no agent has a budget; /budget NAME 50k (or $2) sets one, and so does budget= of /push")
	}
	return "Budgets, with all that each agent dispatched:\n" + strings.Join(lines, "\n"), nil
}
