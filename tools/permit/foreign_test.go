package permit

import (
	"strings"
	"testing"

	"fantail/tools/permit/toolrule"
)

func TestForeign(t *testing.T) {
	call := func(name string) Action { return Action{Tool: name, Kind: Foreign, Dir: "/w"} }
	reads := func(name string) Action { a := call(name); a.Reads = true; return a }
	changed := func(name string) Action { a := reads(name); a.Sensitive, a.Guarded = "it changed", true; return a }
	for _, c := range []struct {
		name  string
		mode  Mode
		rules []Rule
		act   Action
		want  Decision
		offer Rule
	}{
		{"asks", Ask, nil, call("mcp__db__drop"), AskHuman, "mcp__db__drop"},
		{"edits are others", AcceptEdits, []Rule{"write(*)"}, call("mcp__db__drop"), AskHuman, "mcp__db__drop"},
		{"is in no sandbox of commands", Auto, []Rule{"bash(go test *)"}, call("mcp__db__drop"), AskHuman, "mcp__db__drop"},
		{"yolo", Yolo, nil, call("mcp__db__drop"), Allow, ""},
		{"plan", Plan, []Rule{"mcp__db__drop"}, call("mcp__db__drop"), Deny, ""},
		{"plan, reads", Plan, nil, reads("mcp__db__list"), Allow, ""},
		{"reads", Ask, nil, reads("mcp__db__list"), Allow, ""},
		{"by its name", Ask, []Rule{"mcp__db__drop"}, call("mcp__db__drop"), Allow, ""},
		{"not another", Ask, []Rule{"mcp__db__dro"}, call("mcp__db__drop"), AskHuman, "mcp__db__drop"},
		{"not a longer one", Ask, []Rule{"mcp__db__drop"}, call("mcp__db__drop_all"), AskHuman, "mcp__db__drop_all"},
		{"all of a program", Ask, []Rule{"mcp__db__*"}, call("mcp__db__drop"), Allow, ""},
		{"the same, without the star", Ask, []Rule{"mcp__db"}, call("mcp__db__drop"), Allow, ""},
		{"not of one that is called alike", Ask, []Rule{"mcp__db"}, call("mcp__dbx__drop"), AskHuman, "mcp__dbx__drop"},
		{"those that begin so", Ask, []Rule{"mcp__db__dr*"}, call("mcp__db__drop"), Allow, ""},
		{"not those that do not", Ask, []Rule{"mcp__db__get_*"}, call("mcp__db__drop"), AskHuman, "mcp__db__drop"},
		{"nor those of another", Ask, []Rule{"mcp__db__dr*"}, call("mcp__dbx__drop"), AskHuman, "mcp__dbx__drop"},
		{"what changed asks", Ask, []Rule{"mcp__db"}, changed("mcp__db__list"), AskHuman, ""},
		{"what changed asks in yolo", Yolo, []Rule{"mcp__db"}, changed("mcp__db__list"), AskHuman, ""},
	} {
		g, err := NewGate(Ask, c.rules)
		if err != nil {
			t.Fatal(c.name, err)
		}
		g.Boxes(Prevents)
		if err := g.SetMode(c.mode); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(c.act); v.Decision != c.want || v.Rule != c.offer {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// What is offered can be given, and what a file denies is denied all the same.
func TestForeign_rules(t *testing.T) {
	g, err := NewGate(Ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := Action{Tool: "mcp__db__drop", Kind: Foreign, Dir: "/w"}
	if err := g.Allow(g.Decide(a).Rule); err != nil {
		t.Fatal(err)
	}
	if v := g.Decide(a); v.Decision != Allow || !strings.Contains(v.Reason, "mcp__db__drop") {
		t.Errorf("%+v", v)
	}
	for _, text := range []string{"mcp__db", "mcp__db__*", "mcp__db__drop", "mcp__*"} {
		r, err := toolrule.Parse(text, toolrule.Places{})
		if err != nil {
			t.Fatal(err)
		}
		for list, want := range map[toolrule.List]Decision{toolrule.Deny: Deny, toolrule.Ask: AskHuman} {
			g.Limit(Limits{{Rule: r, List: list, From: "settings.json:1:1"}})
			if v := g.Decide(a); v.Decision != want {
				t.Errorf("%s %s: %+v", list, text, v)
			}
		}
	}
	for _, bad := range []Rule{"mcp__", "mcp__*", "mcp__db__", "mcp__d*", "mcp__db__**", "mcp__*__drop", "mcp__db__g*t", "mcp__db(x)", "mcp__db__drop\n"} {
		if _, err := bad.parse(); err == nil && strings.TrimSpace(string(bad)) == string(bad) {
			t.Errorf("%q is read as a rule", bad)
		}
	}
	r, _ := toolrule.Parse("mcp__db__drop", toolrule.Places{})
	if rules, lost := Import(r); len(rules) != 1 || rules[0] != "mcp__db__drop" || lost != "" {
		t.Error(rules, lost)
	}
}
