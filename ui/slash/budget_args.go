package slash

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/tools"
)

// NoBudget removes a budget.
const NoBudget = "off"

// ReadBudget parses the arguments of /budget, typed in the tab of the agent here. If ok is false,
// they are not understood and the error says why. Otherwise an error says why they can't be carried
// out.
func ReadBudget(text string, here event.Info, all []event.Info) (do func(ctx context.Context, r *fleet.Budgets) (string, error), ok bool, err error) {
	words := strings.Fields(text)
	if len(words) > 2 {
		return nil, false, errors.New("it takes a name and an amount")
	}
	of, shown, to := here, all, ""
	if n := len(words); n > 0 {
		if i, known := named(all, words[0]); known {
			of, shown, words = i, []event.Info{i}, words[1:]
		} else if _, err := tools.ParseAmount(words[0]); n == 2 || err != nil && words[0] != NoBudget {
			return nil, true, fmt.Errorf("there is no agent %s", words[0])
		}
		to = strings.Join(words, "")
	}
	if to == "" {
		return func(context.Context, *fleet.Budgets) (string, error) { return fleet.BudgetText(shown), nil }, true, nil
	}
	amount := tools.Amount{}
	if to != NoBudget {
		if amount, err = tools.ParseAmount(to); err != nil {
			return nil, false, err
		}
	}
	return func(ctx context.Context, r *fleet.Budgets) (string, error) {
		now, err := r.Set(ctx, of.ID, amount)
		switch {
		case err != nil:
			return "", err
		case now == nil:
			return of.Name + " has no budget of its own now", nil
		}
		return of.Name + " and all it dispatches: " + now.String() + " used", nil
	}, true, nil
}

func named(all []event.Info, name string) (event.Info, bool) {
	for _, i := range all {
		if i.Name == name {
			return i, true
		}
	}
	return event.Info{}, false
}
