package permission

import (
	"strings"
	"testing"
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

// An offered rule can be given, and a file's deny rule still applies.
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
		r, err := ParseToolRule(text, Places{})
		if err != nil {
			t.Fatal(err)
		}
		for list, want := range map[List]Decision{DenyList: Deny, AskList: AskHuman} {
			g.Limit(Limits{{ToolRule: r, List: list, From: "settings.json:1:1"}})
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
	r, _ := ParseToolRule("mcp__db__drop", Places{})
	if rules, lost := Import(r); len(rules) != 1 || rules[0] != "mcp__db__drop" || lost != "" {
		t.Error(rules, lost)
	}
}

// Rules name a server's tools as the model sees them, by the names that people gave, and, if they restrict, also as
// Claude Code writes them.
func TestForeign_spellings(t *testing.T) {
	long := strings.Repeat("n", 80)
	for _, c := range []struct {
		server, own, sent string
		rule              string
		allows, denies    bool
	}{
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my_server__get_issue", true, true},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my server__get.issue", true, true},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my server", true, true},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my server__*", true, true},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my server__get.*", true, true},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my_server__get_*", true, true},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my server__set.*", false, false},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my", false, false},
		{"my server", "get.issue", "mcp__my_server__get_issue", "mcp__my@server", false, false},
		{"my server", "get.issue", "mcp__my_server-1234abcd__get_issue", "mcp__my server", true, true},
		{"my server", "get.issue", "mcp__my_server-1234abcd__get_issue", "mcp__my_server", false, true}, // maybe another server
		{"@scope/name", "x", "mcp___scope_name__x", "mcp__@scope/name__x", true, true},
		{"@scope/name", "x", "mcp___scope_name__x", "mcp__@scope/name", true, true},
		{"@scope/name", "x", "mcp___scope_name__x", "mcp___scope_name", true, true},
		{"github.com", "x", "mcp__github_com__x", "mcp__github.com__x", true, true},
		{"größe", "x", "mcp__gr_e__x", "mcp__größe", true, true},
		{"größe", "x", "mcp__gr_e__x", "mcp__gr__e__x", false, true},
		{"🚀", "x", "mcp__server-1234abcd__x", "mcp__🚀__x", true, true},
		{"👩‍💻", "x", "mcp__server-1234abcd__x", "mcp__👩‍💻__*", true, true},
		{"a__b", "x", "mcp__a_b__x", "mcp__a__b__x", false, true},
		{"a__b", "x", "mcp__a_b__x", "mcp__a__b", false, true},
		{"a__b", "x", "mcp__a_b__x", "mcp__a_b__x", true, true},
		{"a", "b__x", "mcp__a__b__x", "mcp__a__b__x", true, true},
		{"files (old)", "x", "mcp__files__old___x", "mcp__files (old)__x", false, true}, // allow needs the sent name
		{"files (old)", "x", "mcp__files__old___x", "mcp__files (old)", false, true},
		{"files", "read", "mcp__files__read", "mcp__files__read(x)", false, false},
		{long, "x", "mcp__nnn-1234abcd__x", "mcp__" + long + "__x", true, true},
		{long, "x", "mcp__nnn-1234abcd__x", "mcp__" + long, true, true},
		{"s", long, "mcp__s__nnn_1234abcd", "mcp__s__" + long, true, true},
		{"s", long, "mcp__s__nnn_1234abcd", "mcp__s__" + long + "o", false, false},
		{"", "", "mcp__db__drop", "mcp__db__drop", true, true},
	} {
		a := Action{Tool: c.sent, Server: c.server, Calls: c.own, Kind: Foreign, Dir: "/w"}
		r, err := ParseToolRule(c.rule, Places{})
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		g, err := NewGate(Ask, nil)
		if err != nil {
			t.Fatal(err)
		}
		rules, _ := Import(r)
		for _, rule := range rules {
			if err := g.Allow(rule); err != nil {
				t.Fatal(err)
			}
		}
		if v := g.Decide(a); (v.Decision == Allow) != c.allows {
			t.Errorf("%s of %q allows a call of %q of %q: %v", c.rule, rules, c.own, c.server, v.Decision == Allow)
		}
		if v := g.In(Yolo, a); v.Decision != Allow {
			t.Errorf("%+v", v)
		}
		g.Limit(Limits{{ToolRule: r, List: DenyList, From: "settings.json:1:1"}})
		if v := g.In(Yolo, a); (v.Decision == Deny) != c.denies {
			t.Errorf("%s denies a call of %q of %q: %v", c.rule, c.own, c.server, v.Decision == Deny)
		}
		if never := r.Never(append(ToolSpellings(c.server, c.own), c.sent)); (never == "") != c.denies {
			t.Errorf("%s: it never matches: %q", c.rule, never)
		}
	}
}
