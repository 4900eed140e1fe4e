package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/tools"
)

// Begin gives the agent of a task the budget that the task names, or the usual one, and counts its use to the budgets
// of its dispatcher too. An agent that continues, and is given no other budget, keeps its own with what it has used.
// Begin returns the agent's own budget; nil: it has none.
func (r *Budgets) Begin(tx *store.Tx, agent int64, t store.Task) (*event.Budget, error) {
	if err := store.JoinBudgets(tx, agent, t.Queue); err != nil {
		return nil, err
	}
	if t.SpawnedBy != 0 { // the task may have moved to another queue since
		turn, _, err := tx.Turn(t.SpawnedBy)
		if err == nil {
			err = store.JoinBudgets(tx, agent, turn.Agent)
		}
		if err != nil {
			return nil, err
		}
	}
	if keeps, err := keeps(tx, agent, t); err != nil || keeps {
		own, e := BudgetOf(&tx.View, agent)
		return own, errors.Join(err, e)
	}
	of := r.Usual
	if t.Budget != "" {
		var err error
		if of, err = tools.ParseAmount(t.Budget); err != nil {
			return nil, err
		}
		if most := r.Usual; t.Origin != tasks.OriginHuman && most.N != 0 && (most.Money != of.Money || of.N > most.N) {
			of = most // only the human may give more
		}
	}
	if t.Kind != tasks.KindCommand && of.N != 0 {
		if err := store.PutBudget(tx, store.Budget{Owner: agent, Money: of.Money, Amount: of.N}); err != nil {
			return nil, err
		}
	}
	return BudgetOf(&tx.View, agent)
}

// keeps reports whether a task continues with the budget that its agent has.
func keeps(tx *store.Tx, agent int64, t store.Task) (bool, error) {
	if t.Resumes == 0 {
		return false, nil
	}
	own, err := BudgetOf(&tx.View, agent)
	if err != nil || own == nil {
		return false, err
	}
	ts, err := tx.TasksOf(agent)
	ts = slices.DeleteFunc(ts, func(other store.Task) bool { return other.ID >= t.ID })
	return len(ts) > 0 && ts[len(ts)-1].Budget == t.Budget, err
}

// BudgetOf returns an agent's own budget; nil: it has none.
func BudgetOf(v *store.View, agent int64) (*event.Budget, error) {
	bs, err := store.Budgets(v, agent)
	if err != nil || len(bs) == 0 || bs[0].Owner != agent {
		return nil, err
	}
	return event.BudgetOf(bs[0]), nil
}

// Set gives an agent that budget, or removes the one it has (none). What was used of one in the same unit stays used;
// otherwise counting starts at 0.
func (r *Budgets) Set(ctx context.Context, agent int64, to tools.Amount) (now *event.Budget, err error) {
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

// More grants an agent that much more than it has used.
func (r *Budgets) More(ctx context.Context, agent int64, by tools.Amount) error {
	return r.change(ctx, agent, func(tx *store.Tx, was *event.Budget) error {
		if was == nil {
			return nil // the budget was removed meanwhile, so nothing limits the agent
		}
		if was.Amount.Money != by.Money {
			return fmt.Errorf("its budget is %s: more of it is in the same unit", was.Amount)
		}
		return put(tx, agent, &event.Budget{Amount: tools.Amount{N: was.Used + by.N, Money: by.Money}, Used: was.Used})
	})
}

func put(tx *store.Tx, agent int64, b *event.Budget) error {
	return store.PutBudget(tx, store.Budget{Owner: agent, Money: b.Amount.Money, Amount: b.Amount.N, Used: b.Used})
}

// change changes an agent's budget, and shows it.
func (r *Budgets) change(ctx context.Context, agent int64, f func(tx *store.Tx, was *event.Budget) error) error {
	err := r.DB.Write(ctx, "set a budget", func(tx *store.Tx) error {
		was, err := BudgetOf(&tx.View, agent)
		if err == nil {
			err = f(tx, was)
		}
		if err != nil {
			return err
		}
		now, err := BudgetOf(&tx.View, agent)
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

// Fits refuses a budget that can't be enforced for that model.
func (r *Budgets) Fits(model, budget string) error {
	of, err := tools.ParseAmount(budget)
	if err != nil || !of.Money {
		return err
	}
	m, err := r.Resolve(model)
	if err == nil && m.Price == nil {
		err = Unpriced(m.Name, of)
	}
	return err
}

// BudgetText lists the budgets of those agents, a line each.
func BudgetText(is []event.Info) string {
	var lines []string
	for _, i := range is {
		if i.Budget != nil {
			lines = append(lines, fmt.Sprintf("  - %s: %s", i.Name, i.Budget))
		}
	}
	if len(lines) == 0 {
		return "No budgets set. /budget NAME 50k or $2 to add one"
	}
	return "Budgets, with all that each agent dispatched:\n" + strings.Join(lines, "\n")
}
