package slash

import (
	"context"
	"errors"
	"strings"

	"fantail/agents/budget"
	"fantail/agents/event"
	"fantail/tools/allowance"
	"fantail/ui/composer"
	"fantail/ui/intent"
)

// noBudget takes a budget away.
const noBudget = "off"

func runBudget(in input) (intent.Intent, error) {
	words := strings.Fields(in.rest)
	if len(words) > 2 {
		return nil, in.wrong("it takes a name and an amount")
	}
	of, to := in.here.Info, ""
	if n := len(words); n > 0 {
		if t := in.Tabs.ByName(words[0]); t != nil {
			of, words = t.Info, words[1:]
		} else if _, err := allowance.Parse(words[0]); n == 2 || err != nil && words[0] != noBudget {
			return nil, errors.New("there is no agent " + words[0])
		}
		to = strings.Join(words, "")
	}
	if in.rest == "" || to == "" {
		var is []event.Info
		for _, t := range in.Tabs.All {
			if in.rest == "" || t.Info.ID == of.ID {
				is = append(is, t.Info)
			}
		}
		return in.act(func(context.Context) (string, error) { return budget.Text(is) }), nil
	}
	amount, err := allowance.Amount{}, error(nil)
	if to != noBudget {
		if amount, err = allowance.Parse(to); err != nil {
			return nil, in.wrong("%v", err)
		}
	}
	return in.act(func(ctx context.Context) (string, error) {
		now, err := in.Pool.Budgets.Set(ctx, of.ID, amount)
		switch {
		case err != nil:
			return "", err
		case now == nil:
			return of.Name + " has no budget of its own any more", nil
		}
		return of.Name + " and all it dispatches: " + now.String() + " used", nil
	}), nil
}

func budgetArguments(e Env, before []string, _ string) []composer.Item {
	switch len(before) {
	case 0:
		return items(e.names(func(event.Info) bool { return true })...)
	case 1:
		return items("50k", "200k", "$1", "$5", noBudget)
	}
	return nil
}
