package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var at = Places{Root: "/w", Base: "/w", Home: "/home/u"}

func limit(t testing.TB, list List, text string) Limit {
	t.Helper()
	r, err := ParseToolRule(text, at)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return Limit{ToolRule: r, List: list, From: "settings.json:1:1"}
}

// row is one line of the table of rules of files and commands.
type row struct {
	list          List
	rule, command string
	want          Decision
}

func limitRows(t testing.TB) (rows []row) {
	t.Helper()
	data, err := os.ReadFile("testdata/limits.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list, rule string
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSuffix(l, "\n")
		if head, is := strings.CutPrefix(l, "# "); is {
			list, rule, _ = strings.Cut(head, " ")
			continue
		}
		want, command, _ := strings.Cut(l, "\t")
		command = strings.ReplaceAll(strings.ReplaceAll(command, `\\n`, "\x00"), `\n`, "\n")
		command = strings.ReplaceAll(command, "\x00", "\\\n")
		rows = append(rows, row{List(list), rule, command, Decision(want)})
	}
	return rows
}

// TestLimits: decisions by rules of files, in the mode that allows most and in all others.
func TestLimits(t *testing.T) {
	rows := limitRows(t)
	if len(rows) < 150 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, r := range rows {
		l := limit(t, r.list, r.rule)
		a := Action{Tool: "bash", Kind: Command, Command: r.command, Dir: "/w", Boxed: true}
		g := gate(t, Yolo)
		g.Limit(Limits{l})
		v := g.Decide(a)
		if v.Decision != r.want {
			t.Errorf("%s %s: %q: %s (%s), want %s", r.list, r.rule, r.command, v.Decision, v.Reason, r.want)
		}
		if v.Decision == AskHuman && (v.Rule != "" || v.Auto) {
			t.Errorf("%s: a rule of the session is offered against a file's: %q", r.command, v.Rule)
		}
		if v.Decision != Allow && !strings.Contains(v.Reason, "settings.json:1:1") {
			t.Errorf("%s: the reason does not name the rule: %s", r.command, v.Reason)
		}
		for _, m := range Modes() {
			loose, tight := gate(t, m), gate(t, m)
			loose.Boxes(Prevents)
			tight.Boxes(Prevents)
			tight.Limit(Limits{l})
			if was, is := loose.Decide(a).Decision, tight.Decide(a).Decision; rank(is) < rank(was) || r.want == Deny && is != Deny || r.want == AskHuman && is == Allow {
				t.Errorf("%s %s: %q in %s: %s without it, %s with it", r.list, r.rule, r.command, m, was, is)
			}
		}
	}
}

// rank orders decisions: the higher the stricter.
func rank(d Decision) int {
	switch d {
	case Deny:
		return 2
	case AskHuman:
		return 1
	}
	return 0
}

// TestLimits_order: deny takes precedence over ask, and ask over allow, in any order.
func TestLimits_order(t *testing.T) {
	a := Action{Tool: "bash", Kind: Command, Command: "go test ./...", Dir: "/w"}
	g := gate(t, Ask, "bash(go test *)")
	if v := g.Decide(a); v.Decision != Allow {
		t.Fatalf("without a limit: %+v", v)
	}
	ask, deny := limit(t, AskList, "Bash(go test *)"), limit(t, DenyList, "Bash(go *)")
	g.Limit(Limits{ask})
	if v := g.Decide(a); v.Decision != AskHuman || !strings.Contains(v.Changed, "Bash(go test *)") {
		t.Errorf("ask over allow: %+v", v)
	}
	if err := g.Allow("bash(go test *)"); err != nil {
		t.Fatal(err)
	}
	if v := g.Decide(a); v.Decision != AskHuman {
		t.Errorf("a rule of the session loosens what a file asks: %+v", v)
	}
	g.Limit(Limits{ask, deny})
	if v := g.Decide(a); v.Decision != Deny {
		t.Errorf("deny after ask: %+v", v)
	}
	g.Limit(Limits{deny, ask})
	if v := g.Decide(a); v.Decision != Deny {
		t.Errorf("deny before ask: %+v", v)
	}
	g.Limit(nil)
	if v := g.Decide(a); v.Decision != Allow {
		t.Errorf("after all limits are gone: %+v", v)
	}
}

// TestLimits_tools: rules for other tools than bash, by other programs' names and by ours.
func TestLimits_tools(t *testing.T) {
	secret, other := "/w/secret/x", "/w/a.go"
	for _, c := range []struct {
		rule string
		a    Action
		want Decision
	}{
		{"Read(./secret/**)", Action{Tool: "read_file", Kind: Read, Paths: []string{secret}}, Deny},
		{"Read(secret/**)", Action{Tool: "grep", Kind: Read, Paths: []string{"/w/secret"}}, Deny},
		{"Read(/secret)", Action{Tool: "list_files", Kind: Read, Paths: []string{secret}}, Deny},
		{"read(secret)", Action{Tool: "read_file", Kind: Read, Paths: []string{"/w/a/SECRET"}}, Deny},
		{"Read(./secret/**)", Action{Tool: "read_file", Kind: Read, Paths: []string{other}}, Allow},
		{"Read(./secret/**)", Action{Tool: "write_file", Kind: Write, Paths: []string{secret}}, Allow},
		{"Read", Action{Tool: "glob", Kind: Read, Paths: []string{other}}, Deny},
		{"Grep", Action{Tool: "grep", Kind: Read, Paths: []string{other}}, Deny},
		{"Grep", Action{Tool: "read_file", Kind: Read, Paths: []string{other}}, Allow},
		{"Grep(secret/**)", Action{Tool: "grep", Kind: Read, Paths: []string{secret}}, Deny},
		{"Edit(./secret/**)", Action{Tool: "write_file", Kind: Write, Paths: []string{secret}}, Deny},
		{"Write(*.go)", Action{Tool: "edit_file", Kind: Write, Paths: []string{other}}, Deny},
		{"Edit", Action{Tool: "write_file", Kind: Write, Paths: []string{other}}, Deny},
		{"MultiEdit(**/x)", Action{Tool: "edit_file", Kind: Write, Paths: []string{secret}}, Deny},
		{"edit_file", Action{Tool: "edit_file", Kind: Write, Paths: []string{other}}, Deny},
		{"edit_file", Action{Tool: "write_file", Kind: Write, Paths: []string{other}}, Allow},
		{"Task", Action{Tool: "delegate", Kind: Internal}, Deny},
		{"Agent", Action{Tool: "push", Kind: Internal}, Deny},
		{"send", Action{Tool: "send", Kind: Internal}, Deny},
		{"mcp__github__create_issue", Action{Tool: "mcp__github__create_issue", Kind: Internal}, Deny},
		{"mcp__github__*", Action{Tool: "mcp__github__create_issue", Kind: Internal}, Deny},
		{"mcp__github", Action{Tool: "mcp__github__create_issue", Kind: Internal}, Deny},
		{"mcp__git", Action{Tool: "mcp__github__create_issue", Kind: Internal}, Allow},
		{"*", Action{Tool: "read_file", Kind: Read, Paths: []string{other}}, Deny},
	} {
		c.a.Dir = "/w"
		g := gate(t, Yolo)
		g.Limit(Limits{limit(t, DenyList, c.rule)})
		if v := g.Decide(c.a); v.Decision != c.want {
			t.Errorf("%s: %s %v: %s (%s), want %s", c.rule, c.a.Tool, c.a.Paths, v.Decision, v.Reason, c.want)
		}
	}
}

// TestBarred: paths that searches skip, and those that a sandbox hides.
func TestBarred(t *testing.T) {
	g := gate(t, Ask)
	g.Limit(Limits{limit(t, DenyList, "Read(./secret/**)"), limit(t, AskList, "Read(*.pem)"), limit(t, DenyList, "Edit(./gen/**)"), limit(t, DenyList, "Read(~/x)"), limit(t, DenyList, "Read(**/y)")})
	for p, want := range map[string]bool{"/w/secret": true, "/w/secret/a/b": true, "/w/k.pem": true, "/w/gen/a": false, "/w/a": false} {
		if got := g.Barred(p) != ""; got != want {
			t.Errorf("%s is barred: %t", p, got)
		}
	}
	if got := strings.Join(g.Hidden(), " "); got != "/w/secret /home/u/x" {
		t.Errorf("hidden: %s", got)
	}
}

// TestImport: the meaning of a rule that allows, and the part of it that is reported as lost.
func TestImport(t *testing.T) {
	for _, c := range []struct{ text, want, lost string }{
		{"Bash(go test:*)", "bash(go test *)", "not on the list"},
		{"Bash(go test *)", "bash(go test *)", "not on the list"},
		{"Bash(npm run build)", "bash(npm run build)", ""},
		{"Bash(./x.sh *)", "", "nothing of it"},
		{"Bash(rm -rf *)", "", "nothing of it"},
		{"Bash(git * main)", "", "only a * at the end"},
		{"Bash(make lint)", "bash(make lint)", ""},
		{"bash(go test *)", "bash(go test *)", ""},
		{"Read(src/**)", "read(/w/src/**)", ""},
		{"Edit(./docs/**)", "write(/w/docs/**)", ""},
		{"Edit(*.md)", "", "no other pattern"},
		{"Edit", "write(*)", "outside the workspace"},
		{"WebFetch(domain:x.org)", "", "nothing of it"},
		{"sandbox(network)", "sandbox(network)", ""},
	} {
		r, err := ParseToolRule(c.text, at)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		rules, lost := Import(r)
		var got []string
		for _, r := range rules {
			got = append(got, string(r))
		}
		if strings.Join(got, " ") != c.want || !strings.Contains(lost, c.lost) || (lost == "") != (c.lost == "") {
			t.Errorf("%s: %q, lost %q; want %q, %q", c.text, got, lost, c.want, c.lost)
		}
	}
	r, _ := ParseToolRule("Bash(git *)", at)
	rules, lost := Import(r)
	if len(rules) < 5 || lost == "" {
		t.Errorf("git *: %v, %q", rules, lost)
	}
	for _, r := range rules {
		if strings.Contains(string(r), "push") || !strings.HasPrefix(string(r), "bash(git ") {
			t.Errorf("git * allows %s", r)
		}
	}
}

// TestImport_hostile: whatever is imported, no command of the corpus runs unasked.
func TestImport_hostile(t *testing.T) {
	var all []Filed
	for _, text := range []string{"Bash", "Bash(*)", "Bash(git *)", "Bash(npm *)", "Bash(go *)", "Bash(find:*)", "Bash(sed *)", "Bash(rm *)", "Bash(* )", "Read", "Edit", "Bash(python *)"} {
		r, err := ParseToolRule(text, at)
		if err != nil {
			t.Fatal(err)
		}
		rules, _ := Import(r)
		for _, r := range rules {
			all = append(all, Filed{r, "x:1:1"})
		}
	}
	g := gate(t, Ask)
	g.Admit(all)
	for class, lines := range corpus(t) {
		for _, l := range lines {
			if v := g.Decide(Action{Tool: "bash", Kind: Command, Command: l, Dir: root}); v.Decision == Allow {
				t.Errorf("%s: %q runs: %s", class, l, v.Reason)
			}
		}
	}
}

// TestAdmit: rules of files come and go with their files; a human's rule stays, and outlives the session if it is for
// the project.
func TestAdmit(t *testing.T) {
	g := gate(t, Ask, "bash(go vet *)")
	a := Action{Tool: "bash", Kind: Command, Command: "go test ./...", Dir: root}
	decide := func(want Decision, when string) {
		t.Helper()
		if v := g.Decide(a); v.Decision != want {
			t.Errorf("%s: %s (%s), want %s", when, v.Decision, v.Reason, want)
		}
	}
	g.Admit([]Filed{{"bash(go test *)", "a:1:1"}, {"nonsense", "a:2:1"}})
	decide(Allow, "while a file allows it")
	g.Forget()
	decide(Allow, "after the session")
	if err := g.Revoke("bash(go test *)"); err == nil || !strings.Contains(err.Error(), "a:1:1") {
		t.Errorf("a file's rule is taken back here: %v", err)
	}
	g.Admit(nil)
	decide(AskHuman, "once the file is gone")
	if err := g.Keep("bash(go test *)"); err != nil {
		t.Fatal(err)
	}
	decide(Allow, "kept for the project")
	g.Admit([]Filed{{"bash(go test *)", "a:1:1"}})
	g.Admit(nil)
	g.Forget()
	decide(Allow, "kept, after a file said the same for a time")
	if err := g.Revoke("bash(go test *)"); err != nil {
		t.Fatal(err)
	}
	decide(AskHuman, "taken back")
	if n := len(g.Allowed()); n != 1 {
		t.Errorf("%d rules are left: %+v", n, g.Allowed())
	}
}

// FuzzLimits: a deny rule never allows more, with any other rules; and it never makes the parser fail.
func FuzzLimits(f *testing.F) {
	for _, r := range limitRows(f) {
		f.Add(r.rule, r.command, string(r.list))
	}
	f.Fuzz(func(t *testing.T, rule, command, list string) {
		r, err := ParseToolRule(rule, at)
		if err != nil {
			return
		}
		which := DenyList
		if list == "ask" {
			which = AskList
		}
		base := limit(t, DenyList, "Bash(git push *)")
		for _, a := range []Action{
			{Tool: "bash", Kind: Command, Command: command, Dir: "/w"},
			{Tool: "read_file", Kind: Read, Paths: []string{filepath.Join("/w", command)}, Dir: "/w"},
			{Tool: "write_file", Kind: Write, Paths: []string{filepath.Join("/w", command)}, Dir: "/w"},
		} {
			for _, m := range []Mode{Ask, Yolo} {
				g := gate(t, m, "bash(go test *)")
				for _, before := range []Limits{nil, {base}} {
					g.Limit(before)
					was := g.Decide(a).Decision
					g.Limit(append(append(Limits{}, before...), Limit{r, which, "x:1:1"}))
					if is := g.Decide(a).Decision; rank(is) < rank(was) {
						t.Fatalf("%s %q makes %q %s that was %s", which, rule, command, is, was)
					}
				}
			}
		}
	})
}

// TestUnread: while a file that may deny calls can't be read, no mode, rule or answer allows anything, and the question
// offers no rule; a denied call stays denied, and actions inside the program go on.
func TestUnread(t *testing.T) {
	actions := []Action{
		{Tool: "bash", Kind: Command, Command: "ls", Dir: root},
		{Tool: "bash", Kind: Command, Command: "mkdir x", Dir: root},
		{Tool: "bash", Kind: Command, Command: "go test ./...", Dir: root, Boxed: true},
		{Tool: "read_file", Kind: Read, Paths: []string{root + "/main.go"}, Dir: root},
		{Tool: "edit_file", Kind: Write, Paths: []string{root + "/main.go"}, Dir: root},
		{Tool: "mcp__a__b", Kind: Foreign, Reads: true},
		{Tool: "delegate", Kind: Abroad, Vendor: "claude"},
		{Tool: "push", Kind: Internal, About: "reviewer"},
		{Tool: "remember", Kind: Note},
		{Tool: "bash", Kind: Widen, Wants: NetworkRule},
		{Tool: "bash", Kind: Command, Command: "mkdir y", Dir: root, Mode: Yolo},
	}
	for _, mode := range []Mode{Ask, AcceptEdits, Auto, Yolo} {
		g := gate(t, Ask, "bash(go test *)", "bash(mkdir *)", "read(*)", "write(*)", "mcp__a__b", NetworkRule)
		g.Boxes(Prevents)
		if err := g.SetMode(mode); err != nil {
			t.Fatal(err)
		}
		const why = ".claude/settings.json:1:1: it is broken"
		g.Unread(why)
		for _, a := range actions {
			v := g.Decide(a)
			if v.Decision != AskHuman || v.Rule != "" || v.Auto || v.Free || !v.Asked || v.Vendor != "" || !strings.Contains(v.Reason, why) {
				t.Errorf("%s: %s %s: %+v", mode, a.Tool, a.Command, v)
			}
		}
		if v := g.Decide(Action{Tool: "push", Kind: Internal}); v.Decision != Allow {
			t.Errorf("%s: what stays inside: %+v", mode, v)
		}
		if v := g.Decide(Action{Tool: "bash", Kind: Command, Command: "x", Forbidden: "never"}); v.Decision != Deny {
			t.Errorf("%s: what is forbidden: %+v", mode, v)
		}
		g.Unread("")
		for _, a := range actions[1:3] {
			if v := g.Decide(a); v.Decision != Allow {
				t.Errorf("%s: repaired: %s: %+v", mode, a.Command, v)
			}
		}
	}
}
