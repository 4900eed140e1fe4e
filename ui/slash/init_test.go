package slash

import (
	"strings"
	"testing"

	"fantail/agents"
)

// TestInit: the agent of the tab gets the prompt, with what the human adds; one without a model could not carry it out.
func TestInit(t *testing.T) {
	w := world(t)
	e := crowd(w)
	e.Tabs.Main().Info.Model = "test/one"
	if s := says(t, e, "/init Keep it short."); strings.HasPrefix(s, "!") {
		t.Fatal(s)
	}
	w.Settle()
	told := w.Entries("main")[0].Text
	if !strings.HasPrefix(told, "Write the file AGENTS.md") || !strings.HasSuffix(told, "\nKeep it short.") {
		t.Errorf("%q", told)
	}
	e.Tabs.Main().Info.Model, e.Pool = "builtin", &agents.Pool{}
	if s := says(t, e, "/init"); !strings.Contains(s, "needs a language model") {
		t.Error(s)
	}
}
