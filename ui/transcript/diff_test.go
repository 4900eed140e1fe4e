package transcript

import (
	"fmt"
	"strings"
	"testing"

	"fantail/agents/history"
)

// edited is a call that made a change.
func edited(id, diff string) []history.Entry {
	return []history.Entry{called(id, "edit_file", "edit login.go"), gave(history.Result{ID: id, Name: "edit_file", Text: "edited", Diff: diff})}
}

// An edit shows its lines while its turn goes on. Then it is one line until it is unfolded.
func TestEdit_foldsAfterItsTurn(t *testing.T) {
	const line, one = "11 +         return errNoUser", "✓ edit login.go +2 −1 · ctrl+o"
	v, _ := view(t)
	v.Append(script(append([]history.Entry{asked("go")}, edited("a", fix)...)...))
	if s := plain(v.Lines(60, 30)); !strings.Contains(s, line) || !strings.Contains(s, "✓ edit login.go +2 −1\n") {
		t.Errorf("while the turn goes on it shows\n%s", s)
	}
	v.Append(script(over(history.End{Outcome: history.Completed})))
	if s := plain(v.Lines(60, 30)); strings.Contains(s, "errNoUser") || !strings.Contains(s, one) {
		t.Errorf("after the turn it shows\n%s", s)
	}
	press(v, "ctrl+o")
	if s := plain(v.Lines(60, 30)); !strings.Contains(s, line) {
		t.Errorf("unfolded it shows\n%s", s)
	}
	v, _ = view(t)
	v.Append(script(said("done"), over(history.End{Outcome: history.Completed})))
	v.Prepend(edited("b", fix), false)
	if s := plain(v.Lines(60, 30)); !strings.Contains(s, one) {
		t.Errorf("on an older page it shows\n%s", s)
	}
}

// A long change shows its first and last rows, and unfolded all of them.
func TestEdit_isCut(t *testing.T) {
	var diff strings.Builder
	diff.WriteString("--- a.go\n+++ a.go\n@@ -0,0 +1,900 @@\n")
	for i := range 900 {
		fmt.Fprintf(&diff, "+\tx := %d\n", i)
	}
	v, _ := view(t)
	v.Append(script(edited("a", diff.String())...))
	s := plain(v.Lines(60, 1000))
	if n := strings.Count(s, "x := "); n != 20 || !strings.Contains(s, "… 880 more lines · ctrl+o") {
		t.Errorf("%d lines show:\n%s", n, s[:900])
	}
	press(v, "ctrl+o")
	if n := strings.Count(plain(v.Lines(60, 1000)), "x := "); n != 900 {
		t.Errorf("%d lines show unfolded, want 900", n)
	}
}
