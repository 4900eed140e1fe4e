package agents_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/tools/permission"
)

// A rule given for the session ends when another agent changed what it lets run:
// it is asked again, with the reason, and can be given anew.
func TestAsks_againWhenAnAgentChangedWhatARuleRuns(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte("all:\n\t@true\n"), 0o600))
	reply := func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if len(results(req)) > 0 {
			return text("done"), nil
		}
		switch asked(req) {
		case "make":
			return call("a", "bash", `{"command":"make"}`), nil
		case "append":
			return call("a", "bash", `{"command":"echo '# more' >>Makefile"}`), nil
		case "source":
			return call("a", "write_file", `{"path":"main.c","content":"int main;"}`), nil
		}
		return call("a", "write_file", `{"path":"GNUmakefile","content":"all:\n\t@true\n"}`), nil
	}
	w := open(t, &model{Reply: reply}, setting{Dir: dir, Mode: permission.Ask})
	n := 0
	do := func(prompt string, again string, answer permission.Choice) {
		t.Helper()
		n++
		name := strings.Repeat("x", n)
		w.Push(name, prompt)
		w.Run(0)
		if answer != "" {
			q := w.asks(name)
			if q.Again != again {
				t.Errorf("%s %d asks again because %q, want %q", prompt, n, q.Again, again)
			}
			if kept, err := w.Pool.Asks.Asked(t.Context(), q.Message); err != nil || kept.Again != again {
				t.Errorf("its row says %q, %v", kept.Again, err)
			}
			if _, m := w.row(q.ID); again != "" && !strings.Contains(m.Body, again) {
				t.Errorf("its message does not say why: %q", m.Body)
			}
			check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Choice: answer}))
		}
		w.State(name, event.Done)
	}
	do("make", "", permission.Session)
	do("make", "", "")
	do("source", "", permission.Once)
	do("make", "", "")
	do("append", "", permission.Once)
	do("make", "Makefile was changed by an agent since you allowed this", permission.Session)
	do("make", "", "")
	do("write", "", permission.Once)
	do("make", "GNUmakefile was changed by an agent since you allowed this", permission.Once)
}
