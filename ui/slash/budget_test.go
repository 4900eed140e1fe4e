package slash

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/tools/allowance"
)

// Set notes which budget the human gives.
func (a *asked) Set(_ context.Context, agent int64, to allowance.Amount) (*event.Budget, error) {
	a.did = append(a.did, fmt.Sprintf("%d %s", agent, to))
	if to.N == 0 || a.err != nil {
		return nil, a.err
	}
	return &event.Budget{Amount: to, Used: to.N / 2}, nil
}

// TestBudget: /budget shows, sets and takes away, of the agent it is typed in or of one that is named.
func TestBudget(t *testing.T) {
	for line, want := range map[string][2]string{
		"/budget":             {"", "Budgets, with all that each agent dispatched:\n  - auth: 41.2k of 50k tokens (82%)"},
		"/budget auth":        {"", "  - auth: 41.2k of 50k tokens (82%)"},
		"/budget main":        {"", "! no agent has a budget; /budget NAME 50k (or $2) sets one"},
		"/budget auth 100k":   {"2 100k", "auth and all it dispatches: 50k of 100k tokens (50%) used"},
		"/budget $2":          {"1 $2", "main and all it dispatches: $1.00 of $2 (50%) used"},
		"/budget auth off":    {"2 ", "auth has no budget of its own any more"},
		"/budget off":         {"1 ", "main has no budget of its own any more"},
		"/budget nobody 5k":   {"", "! there is no agent nobody"},
		"/budget nobody":      {"", "! there is no agent nobody"},
		"/budget auth much":   {"", `! /budget: "much" is no budget: it is tokens (50000, 50k, 1.5M) or dollars ($2, $0.50)`},
		"/budget auth 5k now": {"", "! /budget: it takes a name and an amount"},
	} {
		a := &asked{}
		e := crowd(a)
		e.Pool.Budgets = a
		e.Tabs.ByName("auth").Info.Budget = &event.Budget{Amount: allowance.Amount{N: 50_000}, Used: 41_290}
		if got := says(t, e, line); !strings.HasPrefix(got, want[1]) && !strings.Contains(got, want[1]) || strings.Join(a.did, ", ") != want[0] {
			t.Errorf("%s says %q and does %q, want %q and %q", line, got, a.did, want[1], want[0])
		}
	}
}

// TestPushBudget: budget= of /push.
func TestPushBudget(t *testing.T) {
	a := &asked{}
	if got := says(t, crowd(a), "/push budget=1.5M fix it"); a.pushed.Budget != (allowance.Amount{N: 1_500_000}) {
		t.Errorf("%s: %+v", got, a.pushed)
	}
	a = &asked{}
	if got := says(t, crowd(a), "/push budget=some fix it"); a.pushed.Prompt != "" || !strings.Contains(got, `budget=: "some" is no budget`) {
		t.Errorf("%s: %+v", got, a.pushed)
	}
}
