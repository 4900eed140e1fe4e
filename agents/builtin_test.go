package agents_test

import (
	"strings"
	"testing"

	"fantail/agents/history"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools/permission"
)

// TestBuiltin_failedIsFailed: with the engine that needs no model a task fails with what
// it did; what there was so far is its partial output, what stands behind it is not done,
// and what waits for it does not start.
//
// Spec, N-34.
func TestBuiltin_failedIsFailed(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		mode   permission.Mode
		cause  string
		soFar  string
	}{
		"a command":       {"run echo out; exit 3 then write made: ran", permission.Yolo, "`echo out; exit 3` · exit 3", "out"},
		"the next line":   {"run echo first\nrun false\nwrite made: ran", permission.Yolo, "`false` · exit 1", "first"},
		"grep of a shell": {"run echo x | grep y\nwrite made: ran", permission.Yolo, "`echo x | grep y` · exit 1", ""},
		"a missing file":  {"read gone\nwrite made: ran", permission.Yolo, "`read gone`: ", ""},
		"a refused call":  {"write made: ran\nsay y", permission.Plan, "`write made`: ", ""},
		"a bad edit":      {"write other: b\nedit other: nothing => c\nwrite made: ran", permission.Yolo, "`edit other`: ", ""},
		"a signal":        {"run kill -KILL $$\nwrite made: ran", permission.Yolo, "`kill -KILL $$` · ended by the signal KILL", ""},
		"free text":       {"please refactor", permission.Yolo, "No language model is configured: `please refactor` is not one of the instructions", ""},
		"as told":         {"say so far then fail on purpose", permission.Yolo, "on purpose", "so far"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, builtin.New(), setting{Mode: c.mode})
			w.Push("bad", c.prompt)
			w.after("next", "say never", "bad")
			w.Run(0)
			w.Settle()
			m := w.mail()["bad"]
			if m.Kind != inbox.Failure || m.Outcome != string(history.OutFailed) || !strings.HasPrefix(m.Error, c.cause) || strings.Contains(m.Error, "\n") ||
				!strings.Contains(m.Partial, c.soFar) || c.soFar == "" && strings.Contains(m.Partial, "instruction") {
				t.Errorf("bad ended with %+v", m)
			}
			if n := w.mail()["next"]; n.Kind != inbox.Failure || !strings.HasPrefix(n.Error, "not started: bad failed: ") || n.Partial != "" {
				t.Errorf("next ended with %+v", n)
			}
			if w.ran("made") != 0 {
				t.Error("what stands behind it was done")
			}
		})
	}
}

// TestBuiltin_noFailure: a search that finds nothing is none.
func TestBuiltin_noFailure(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	w.Push("ok", "grep nowhere\nfind *.none\ncheck\nsay done")
	w.Run(0)
	w.Settle()
	if m := w.mail()["ok"]; m.Kind != inbox.Result || !strings.HasSuffix(m.Body, "done") {
		t.Errorf("ok ended with %+v", m)
	}
}
