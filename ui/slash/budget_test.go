package slash

import (
	"strings"
	"testing"

	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/tools"
)

// TestBudget: /budget shows, sets and takes away, of the agent it is typed in or of one that is named.
func TestBudget(t *testing.T) {
	w := world(t)
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "auth", Prompt: "hi", Interactive: true, Idle: tools.Forever})
	agentstest.Check(t, err)
	w.Consent(1)
	w.State("auth", event.Idle)
	budget := func(name string) string {
		for _, i := range w.Pool.Infos() {
			if i.Name == name && i.Budget != nil {
				return i.Budget.Amount.String()
			}
		}
		return ""
	}
	for _, c := range []struct{ line, says, main, auth string }{
		{"/budget", "Budgets, with all that each agent dispatched:\n  - auth: 41.2k of 50k tokens (82%)", "", ""},
		{"/budget auth", "  - auth: 41.2k of 50k tokens (82%)", "", ""},
		{"/budget main", "No budgets set. /budget NAME 50k or $2 to add one", "", ""},
		{"/budget auth 100k", "auth and all it dispatches: 0 of 100k tokens (0%) used", "", "100k"},
		{"/budget 2M", "main and all it dispatches: 0 of 2M tokens (0%) used", "2M", "100k"},
		{"/budget auth off", "auth has no budget of its own now", "2M", ""},
		{"/budget off", "main has no budget of its own now", "", ""},
		{"/budget nobody 5k", "! there is no agent nobody", "", ""},
		{"/budget nobody", "! there is no agent nobody", "", ""},
		{"/budget auth much", `! /budget: "much" is no budget: it is tokens (50000, 50k, 1.5M) or dollars ($2, $0.50)`, "", ""},
		{"/budget auth 5k now", "! /budget: it takes a name and an amount", "", ""},
	} {
		e := crowd(w)
		e.Tabs.ByName("auth").Info.Budget = &event.Budget{Amount: tools.Amount{N: 50_000}, Used: 41_290}
		if got := says(t, e, c.line); !strings.HasPrefix(got, c.says) && !strings.Contains(got, c.says) || budget("main") != c.main || budget("auth") != c.auth {
			t.Errorf("%s says %q, want %q; the budgets are %q and %q, want %q and %q", c.line, got, c.says, budget("main"), budget("auth"), c.main, c.auth)
		}
	}
}

// TestPushBudget: budget= of /push.
func TestPushBudget(t *testing.T) {
	w := world(t)
	got := says(t, crowd(w), "/push budget=1.5M fix it")
	if task := pushed(t, w); task.Budget != "1500k" {
		t.Errorf("%s: %+v", got, task)
	}
	if got = says(t, crowd(w), "/push budget=some fix it"); pushed(t, w).Prompt != "" || !strings.Contains(got, `budget=: "some" is no budget`) {
		t.Error(got)
	}
}
