package observer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fantail/agents/checks"
	"fantail/agents/llm"
	"fantail/agents/observer"
	"fantail/store"
	"fantail/tools/permit"
	"fantail/tools/sandbox"
)

// Where no sandbox prevents what a check must not do, none runs, and the observer and the human are told why. A row that
// somebody else wrote is judged like what is typed.
// Spec, O-69.
func TestChecks_failClosed(t *testing.T) {
	box := func(string) func(sandbox.Profile, sandbox.Leave, []string) (*sandbox.Box, error) {
		return func(sandbox.Profile, sandbox.Leave, []string) (*sandbox.Box, error) {
			return nil, errors.New("it can't be made")
		}
	}
	for name, c := range map[string]struct {
		s    setting
		want string
	}{
		"none":        {setting{}, "there is none here"},
		"no boxes":    {setting{wall: permit.Prevents}, "there is none here"},
		"detects":     {setting{wall: permit.Detects, box: box}, "only detects it"},
		"can't begin": {setting{wall: permit.Prevents, box: box}, "it can't be made"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []llm.ToolResult
			c.s.reply = func(_ context.Context, n int, req *llm.Request) ([]llm.Part, error) {
				if n == 0 {
					return calls(n, "run_check", `{"name":"touch"}`, `{"name":"forged"}`), nil
				}
				got = results(req)
				return says("it can't run here"), nil
			}
			w := open(t, c.s)
			add, err := checks.Parse("touch touch new")
			check(t, err)
			_, err = w.pool.Observe.Checks().Add(t.Context(), add)
			check(t, err)
			check(t, w.db.Write(t.Context(), "forge", func(tx *store.Tx) error {
				_, err := store.SetCheck(tx, store.Check{Name: "forged", Argv: []string{"sh", "-c", "touch new"}})
				return err
			}))
			w.observes(observer.Order{Checks: []string{"touch", "forged"}})
			if len(got) != 2 || !strings.Contains(got[0].Text, c.want) || !strings.Contains(got[1].Text, "that can't be a check") {
				t.Errorf("%+v", got)
			}
			if _, err := w.pool.Observe.Checks().Run(t.Context(), "touch"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the human is told %v", err)
			}
		})
	}
}
