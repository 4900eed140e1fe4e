package agents_test

import (
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/tools/permission"
)

// A command that the human changed is judged like a new one, and asked about again even where a rule or the mode allows
// it. One that is refused leaves the question as it was, with the refused text. The model and the audit get both texts.
func TestAsks_changedCommand(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	w.Push("job", "run made")
	w.Run(0)
	first := w.asks("job")
	change := func(of int64, to string) *event.Question {
		t.Helper()
		check(t, w.Pool.Asks.Answer(t.Context(), of, event.Answer{Choice: permission.Edited, Command: to}))
		w.Until("it asks again", func() bool { q := w.Info("job").Question; return q != nil && q.ID > of })
		return w.Info("job").Question
	}
	if err := w.Pool.Asks.Answer(t.Context(), first.ID, event.Answer{Choice: permission.Edited, Command: " "}); err == nil {
		t.Error("an empty command is taken")
	}
	if !first.Editable || first.Was != "" {
		t.Errorf("first: %+v", first)
	}
	const bad, good = "echo 'unfinished", "ls"
	refused := change(first.ID, bad)
	if refused.Draft != bad || !strings.HasPrefix(refused.Again, "your change may not run: ") || refused.Action.Command != first.Action.Command || refused.Was != "" {
		t.Errorf("refused: %+v", refused)
	}
	check(t, w.Pool.SetMode(t.Context(), permission.Yolo))
	last := change(refused.ID, good)
	if last.Action.Command != good || last.Was != first.Action.Command || last.Draft != "" {
		t.Errorf("changed: %+v", last)
	}
	if err := w.Pool.Asks.Review(t.Context()); err != nil || w.Info("job").State != event.Asking {
		t.Errorf("a rule allows it: %v, %s", err, w.Info("job").State)
	}
	if a, _ := w.row(last.ID); !strings.Contains(a.Data, `"was":"echo ran`) || !strings.Contains(a.Data, `"Command":"ls"`) {
		t.Errorf("row %s", a.Data)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), last.ID, event.Answer{Choice: permission.Once}))
	w.Settle()
	if n := w.ran("made"); n != 0 {
		t.Errorf("the command of the model ran %d times", n)
	}
	if got := w.mail()["job"].Body; !strings.HasPrefix(got, "[The user changed the command to: ls\nThe command before the change: echo ran") {
		t.Errorf("the model got %q", got)
	}
	var both bool
	for _, row := range w.audited("job") {
		both = both || strings.Contains(row, "yes, for ls instead of echo ran")
	}
	if !both {
		t.Errorf("the audit has\n%s", strings.Join(w.audited("job"), "\n"))
	}
}
