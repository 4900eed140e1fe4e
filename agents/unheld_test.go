package agents_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/llm"
	"fantail/agents/schedule"
	"fantail/store"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
)

// Where no sandbox prevents what a check must not do, none runs, and the observer and the human are told why. A row that
// somebody else wrote does not run anywhere.
// Spec, O-69.
func TestChecks_failClosed(t *testing.T) {
	box := func(string) func(sandbox.Profile, sandbox.Leave, []string) (*sandbox.Box, error) {
		return func(sandbox.Profile, sandbox.Leave, []string) (*sandbox.Box, error) {
			return nil, errors.New("it can't be made")
		}
	}
	for name, c := range map[string]struct {
		s    observerSetting
		want string
	}{
		"none":        {observerSetting{}, "there is none here"},
		"no boxes":    {observerSetting{wall: permission.Prevents}, "there is none here"},
		"detects":     {observerSetting{wall: permission.Detects, box: box}, "only detects it"},
		"can't begin": {observerSetting{wall: permission.Prevents, box: box}, "it can't be made"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []llm.ToolResult
			c.s.reply = func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
				if n == 0 {
					return calls(n, "run_check", `{"name":"touch"}`, `{"name":"forged"}`), nil
				}
				got = observerResults(req)
				return says("it can't run here"), nil
			}
			w := observerOpen(t, c.s)
			add, err := schedule.ParseCheck("touch touch new")
			observerCheck(t, err)
			_, err = w.pool.Observe.Checks().Add(t.Context(), add)
			observerCheck(t, err)
			observerCheck(t, w.db.Write(t.Context(), "forge", func(tx *store.Tx) error {
				_, err := store.SetCheck(tx, store.Check{Name: "forged", Argv: []string{"sh", "-c", "touch new"}})
				return err
			}))
			w.observes(agents.ObserverOrder{Checks: []string{"touch", "forged"}})
			if len(got) != 2 || !strings.Contains(got[0].Text, c.want) || !strings.Contains(got[1].Text, "another program wrote it") {
				t.Errorf("%+v", got)
			}
			if _, err := w.pool.Observe.Checks().Run(t.Context(), "touch"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the human is told %v", err)
			}
		})
	}
}
