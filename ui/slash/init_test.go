package slash

import (
	"context"
	"strings"
	"testing"
)

func (a *asked) Tell(_ context.Context, name, text string) error {
	a.did = append(a.did, "tell "+name+": "+text)
	return a.err
}

// TestInit: the agent of the tab gets the prompt, with what the human adds; one without a model could not carry it out.
func TestInit(t *testing.T) {
	a := &asked{}
	e := crowd(a)
	e.Tabs.Main().Info.Model = "test/one"
	if s := says(t, e, "/init Keep it short."); strings.HasPrefix(s, "!") {
		t.Fatal(s)
	}
	if len(a.did) != 1 || !strings.HasPrefix(a.did[0], "tell main: Write the file AGENTS.md") || !strings.HasSuffix(a.did[0], "\nKeep it short.") {
		t.Errorf("%q", a.did)
	}
	e.Tabs.Main().Info.Model = "builtin"
	if s := says(t, e, "/init"); !strings.Contains(s, "needs a language model") || len(a.did) != 1 {
		t.Error(s, a.did)
	}
}
