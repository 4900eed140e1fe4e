package agents_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/approval"
	"fantail/agents/llm"
	"fantail/store"
	"fantail/tools/permission"
)

// touching is a model that makes the file its prompt names.
func touching(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	if len(results(req)) > 0 {
		return text("done"), nil
	}
	return call("a", "bash", `{"command":"mkdir -p `+asked(req)+`"}`), nil
}

// TestPermissions_project: a yes for the project is a row once it is given, before its call runs. It holds at the next
// start, until it is taken back.
func TestPermissions_project(t *testing.T) {
	s := setting{Mode: permission.Ask, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
	w := open(t, &model{Reply: touching}, s)
	made := func(name string) bool { _, err := os.Stat(filepath.Join(w.Dir, name)); return err == nil }
	w.Prompt("d")
	q := w.asks("main")
	if q.Rule == "" {
		t.Fatalf("no rule is offered: %+v", q)
	}
	kept := ""
	w.Answer(q.ID, permission.Project)
	check(t, w.DB.Read(t.Context(), func(rx *store.Rx) error {
		gs, err := store.Grants(&rx.View)
		for _, g := range gs {
			kept = g.Rule
		}
		return err
	}))
	if kept != string(q.Rule) {
		t.Errorf("once it was answered the row is %q", kept)
	}
	w.Settle()
	if !made("d") {
		t.Fatal("it did not run")
	}
	check(t, os.Remove(filepath.Join(w.Dir, "d")))
	check(t, w.Pool.Clear(t.Context(), w.Main()))
	w.Close()
	w = open(t, &model{Reply: touching}, s)
	w.Prompt("d")
	w.Settle()
	if !made("d") {
		t.Error("at the next start it asks")
	}
	check(t, w.Pool.Permissions.Revoke(t.Context(), kept))
	check(t, os.Remove(filepath.Join(w.Dir, "d")))
	w.Prompt("d")
	w.asks("main")

	// A file that denies it meanwhile answers the question.
	r, err := permission.ParseToolRule("Bash(mkdir *)", permission.Places{Root: w.Dir})
	check(t, err)
	check(t, w.Pool.Permissions.Load(t.Context(), approval.RuleReading{Lines: []approval.RuleLine{{ToolRule: r, List: permission.DenyList, From: "settings.json:1:1"}}}))
	w.Settle()
	if made("d") {
		t.Error("it ran though a file denies it")
	}
	w.Prompt("d")
	w.Settle()
	if said := lastResult(w.Entries("main")); made("d") || !strings.Contains(said, "settings.json:1:1") {
		t.Errorf("the model was told %q", said)
	}
}
