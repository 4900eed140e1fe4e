package permission

import (
	"slices"
	"strings"
	"testing"
)

// Additions to sandboxes: by the configuration, for the project, and for a session; only a human's can be revoked.
func TestGate_grants(t *testing.T) {
	g, err := NewGate(Auto, []Rule{"sandbox(write /srv/data/)", "bash(go test *)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() error{
		func() error { return g.Keep(NetworkRule) },
		func() error { return g.Allow(WriteRule("/a b")) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	want := []Grant{{"sandbox(write /srv/data)", "by the configuration"}, {NetworkRule, "in this project"}, {"sandbox(write /a b)", "in this session"}}
	if got := g.Grants(); !slices.Equal(got, want) {
		t.Errorf("granted is %+v", got)
	}
	leave := func(a Action) Leave { a.Kind, a.Dir = Command, "/w"; return g.Leave(a) }
	if l := leave(Action{}); !l.Network || !slices.Equal(l.Write, []string{"/srv/data", "/a b"}) {
		t.Errorf("it adds %+v", l)
	}
	if l := leave(Action{Mode: Auto}); !l.Network || !slices.Equal(l.Write, []string{"/srv/data"}) {
		t.Errorf("for who is judged without the session it adds %+v", l)
	}
	if l := leave(Action{Strict: true}); l.Network || len(l.Write) > 0 {
		t.Errorf("for who is judged strictly it adds %+v", l)
	}
	if v := g.Decide(Action{Kind: Widen, Wants: NetworkRule}); v.Decision != Allow {
		t.Errorf("what was granted is decided as %+v", v)
	}
	g.Forget()
	if l := leave(Action{}); !l.Network || !slices.Equal(l.Write, []string{"/srv/data"}) {
		t.Errorf("after the session it adds %+v", l)
	}
	if err := g.Revoke(NetworkRule); err != nil || leave(Action{}).Network {
		t.Errorf("taken back: %v, %+v", err, leave(Action{}))
	}
	for r, says := range map[Rule]string{NetworkRule: "no sandbox was given", "sandbox(write /srv/data)": "stands in the configuration", "bash(go test *)": "stands in the configuration", "bash(go vet *)": "was not given"} {
		if err := g.Revoke(r); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("taking back %s: %v", r, err)
		}
	}
	if v := g.Decide(Action{Kind: Widen, Wants: NetworkRule}); v.Decision != AskHuman || v.Rule != NetworkRule {
		t.Errorf("what was taken back is decided as %+v", v)
	}
	for _, r := range []Rule{"sandbox()", "sandbox(write )", "sandbox(write /)", "sandbox(write ~/x)", "sandbox(read /x)", "sandbox(network x)"} {
		if _, err := parseRule(string(r)); err == nil {
			t.Errorf("%s is taken for a rule", r)
		}
	}
	if err := g.Keep("nonsense"); err == nil {
		t.Error("a rule that can't be read is kept in the workspace")
	}
}
