package slash

import (
	"context"

	"fantail/agents/event"
	"fantail/ui/composer"
	"fantail/ui/intent"
)

func runBudget(in input) (intent.Intent, error) {
	var all []event.Info
	for _, t := range in.Tabs.All {
		all = append(all, t.Info)
	}
	do, understood, err := ReadBudget(in.rest, in.here.Info, all)
	switch {
	case !understood:
		return nil, in.wrong("%v", err)
	case err != nil:
		return nil, err
	}
	return in.act(func(ctx context.Context) (string, error) { return do(ctx, in.Pool.Budgets) }), nil
}

func budgetArguments(e Options, before []string, _ string) []composer.Item {
	switch len(before) {
	case 0:
		return items(e.names(func(event.Info) bool { return true })...)
	case 1:
		return items("50k", "200k", "$1", "$5", NoBudget)
	}
	return nil
}
