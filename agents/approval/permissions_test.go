package approval

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/audit"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
)

var root = "/w"

// asked has no questions; it counts how often they were looked at.
type asked struct {
	gate    *permission.Gate
	reviews int
}

func (a *asked) Review(context.Context) error { a.reviews++; return nil }

func (a *asked) Revoke(_ context.Context, r permission.Rule) error { return a.gate.Revoke(r) }

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func permissions(t *testing.T, db *store.DB) (*Rules, *permission.Gate, *asked) {
	t.Helper()
	gate, err := permission.NewGate(permission.Ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.Context(), audit.Options{DB: db, Dir: t.TempDir(), Mode: "ask", Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	asks := &asked{gate: gate}
	return NewRules(RulesOptions{DB: db, Gate: gate, Seals: tasks.LoadLastingSeal(t.TempDir()), Audit: log, Asks: asks, Tools: tools.New(), Env: tools.Runtime{Root: t.TempDir()}}), gate, asks
}

// line returns a file's rule on a line of its own.
func line(t *testing.T, list permission.List, text, file string) RuleLine {
	t.Helper()
	r, err := permission.ParseToolRule(text, permission.Places{Root: root, Base: root, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return RuleLine{ToolRule: r, List: list, File: file, From: file + ":1:1", Project: !strings.HasPrefix(file, "~")}
}

func decides(t *testing.T, g *permission.Gate, command string, want permission.Decision, when string) {
	t.Helper()
	if v := g.Decide(permission.Action{Tool: "bash", Kind: permission.Command, Command: command, Dir: root}); v.Decision != want {
		t.Errorf("%s: %s: %s (%s), want %s", when, command, v.Decision, v.Reason, want)
	}
}

// TestLoad: an allow rule of a user's file applies; one of a workspace's file only once it was accepted, as long as
// the file has exactly that text, also at later starts; what either denies is denied at once.
func TestLoad(t *testing.T) {
	db := open(t)
	r, gate, asks := permissions(t, db)
	const file = ".claude/settings.json"
	says := RuleReading{Lines: []RuleLine{
		line(t, permission.AllowList, "Bash(go vet:*)", "~/.claude/settings.json"),
		line(t, permission.AllowList, "Bash(go test:*)", file),
		line(t, permission.AllowList, "Bash(rm -rf *)", file),
		line(t, permission.DenyList, "Bash(git push *)", file),
	}}
	ctx := audit.As(t.Context(), "someone")
	BeginRules(gate, says)
	decides(t, gate, "go test ./...", permission.AskHuman, "before there is a room")
	decides(t, gate, "git push", permission.Deny, "before there is a room")
	if err := r.Load(ctx, says); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go vet ./...", permission.Allow, "the user's file")
	decides(t, gate, "go test ./...", permission.AskHuman, "only offered")
	decides(t, gate, "git push", permission.Deny, "denied")
	if n := r.Waiting(); n != 2 {
		t.Errorf("%d rules wait for an answer", n)
	}
	if _, err := r.Answer(ctx, 2, "", Accepted); err == nil || !strings.Contains(err.Error(), "nothing of it") {
		t.Errorf("what allows nothing is accepted: %v", err)
	}
	if _, err := r.Answer(ctx, 1, "Bash(other)", Accepted); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("another text is accepted: %v", err)
	}
	for _, n := range []int{0, 3, 9} {
		if _, err := r.Answer(ctx, n, "", Accepted); err == nil {
			t.Errorf("rule %d is accepted", n)
		}
	}
	was := asks.reviews
	if _, err := r.Answer(ctx, 1, "Bash(go test:*)", Accepted); err != nil {
		t.Fatal(err)
	}
	if asks.reviews == was {
		t.Error("open questions were not looked at")
	}
	decides(t, gate, "go test ./...", permission.Allow, "accepted")
	if n := r.Waiting(); n != 1 {
		t.Errorf("%d rules wait for an answer after one", n)
	}
	changed := RuleReading{Lines: []RuleLine{line(t, permission.AllowList, "Bash(go test *)", file)}}
	if err := r.Load(ctx, changed); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permission.AskHuman, "the file says it in other words")
	elsewhere := RuleReading{Lines: []RuleLine{line(t, permission.AllowList, "Bash(go test:*)", ".fantail/config.toml")}}
	if err := r.Load(ctx, elsewhere); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permission.AskHuman, "another file says it")

	later, gate, _ := permissions(t, db)
	later.o.Seals = r.o.Seals
	if err := later.Load(ctx, says); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permission.Allow, "accepted at an earlier start")
	if _, err := later.Answer(ctx, 1, "", Refused); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permission.AskHuman, "refused")
	all, _, _ := later.List()
	var text []string
	for _, e := range all {
		text = append(text, string(e.List)+" "+e.Text+" "+string(e.State))
	}
	if got := strings.Join(text, "; "); got != "deny Bash(git push *) ; allow Bash(go test:*) refused; allow Bash(rm -rf *) offered; allow Bash(go vet:*) " {
		t.Errorf("listed: %s", got)
	}
}

// TestList_never: a rule that can match nothing is marked so.
func TestList_never(t *testing.T) {
	r, _, _ := permissions(t, open(t))
	says := RuleReading{Faults: []string{"x:1:1: wrong"}, Ignored: []string{"y:1:1: env"}}
	want := map[string]string{
		"Bsh(git *)": "no tool Bsh", "WebFetch(domain:x.org)": "no such tool", "mcp__github__*": "no MCP server", "Task(explorer)": "", "mcp__github__x(y)": "no MCP server",
		"Bash(git *)": "", "Read(x)": "", "Task": "", "grep": "", "Write(./x)": "",
	}
	for text := range want {
		says.Lines = append(says.Lines, line(t, permission.DenyList, text, "~/x"))
	}
	if err := r.Load(t.Context(), says); err != nil {
		t.Fatal(err)
	}
	all, broken, ignored := r.List()
	if len(all) != len(want) || len(broken) != 1 || len(ignored) != 1 {
		t.Fatalf("%d rules, %v, %v", len(all), broken, ignored)
	}
	for _, e := range all {
		if (e.Note == "") != (want[e.Text] == "") || !strings.Contains(e.Note, want[e.Text]) {
			t.Errorf("%s: %q, want %q", e.Text, e.Note, want[e.Text])
		}
	}
}

// TestTest: the decision, and every rule that matches the command.
func TestTest(t *testing.T) {
	r, gate, _ := permissions(t, open(t))
	if err := gate.Allow("bash(git status *)"); err != nil {
		t.Fatal(err)
	}
	err := r.Load(t.Context(), RuleReading{Lines: []RuleLine{
		line(t, permission.AskList, "Bash(git *)", "~/a"), line(t, permission.DenyList, "Bash(git push *)", "~/b"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.Test("make && git -C x push")
	if got := strings.Join(v.Others, "; "); err != nil || v.Decision != permission.Deny || !strings.Contains(v.Reason, "~/b:1:1") || !strings.Contains(got, "ask Bash(git *)") || !strings.Contains(got, "deny Bash(git push *)") {
		t.Errorf("%+v, %q, %v", v, got, err)
	}
	v, err = r.Test("git status")
	if got := strings.Join(v.Others, "; "); err != nil || v.Decision != permission.AskHuman || !strings.Contains(got, "allow bash(git status *) covers git") {
		t.Errorf("%+v, %q, %v", v, got, err)
	}
	modes := map[permission.Mode]permission.Decision{}
	for _, m := range v.Modes {
		modes[m.Mode] = m.Decision
	}
	if v.Mode != permission.Ask || len(modes) != len(permission.Modes()) || modes[permission.Yolo] != permission.AskHuman {
		t.Errorf("in %s; in all: %v", v.Mode, modes)
	}
	if v, err = r.Test("make"); err != nil || v.Decision != permission.AskHuman {
		t.Errorf("%+v, %v", v, err)
	}
	for _, m := range v.Modes {
		if want := map[permission.Mode]permission.Decision{permission.Yolo: permission.Allow, permission.Plan: permission.Deny}[m.Mode]; want != "" && m.Decision != want {
			t.Errorf("make in %s: %s, want %s", m.Mode, m.Decision, want)
		}
	}
	if _, err := r.Test(" "); err == nil {
		t.Error("an empty command is tested")
	}
}

// TestTest_sandbox: a command that auto allows in a sandbox is reported as allowed if one works, not if there merely
// could be one.
func TestTest_sandbox(t *testing.T) {
	r, gate, _ := permissions(t, open(t))
	r.o.Boxed = true
	auto := func() permission.Decision {
		t.Helper()
		v, err := r.Test("make")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range v.Modes {
			if m.Mode == permission.Auto {
				return m.Decision
			}
		}
		return ""
	}
	if d := auto(); d != permission.AskHuman {
		t.Errorf("where no sandbox works: %s", d)
	}
	if gate.Boxes(permission.Prevents); auto() != permission.Allow {
		t.Errorf("where one works: %s", auto())
	}
}

// TestList_first: a rule that another one overrides is marked as never used, a rule's meaning here is given, and so is
// which rules a human gave.
func TestList_first(t *testing.T) {
	r, gate, _ := permissions(t, open(t))
	for _, rule := range []permission.Rule{"bash(go test *)", "bash(go vet *)"} {
		if err := gate.Allow(rule); err != nil {
			t.Fatal(err)
		}
	}
	err := r.Load(t.Context(), RuleReading{Lines: []RuleLine{
		line(t, permission.AllowList, "Bash(git push origin *)", ".claude/settings.json"), line(t, permission.AllowList, "Bash(npm test:*)", "~/a"),
		line(t, permission.AskList, "Bash(go vet *)", "~/a"), line(t, permission.AskList, "Bash(git push)", "~/a"), line(t, permission.DenyList, "Bash(git push *)", "~/b"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	notes, all := map[string]RuleEntry{}, []RuleEntry(nil)
	all, _, _ = r.List()
	for _, e := range all {
		notes[string(e.List)+" "+e.Text] = e
	}
	for text, want := range map[string]string{
		"allow Bash(git push origin *)": "never used: deny Bash(git push *) (~/b:1:1) comes first", "ask Bash(git push)": "never used: deny Bash(git push *) (~/b:1:1) comes first",
		"allow bash(go vet *)": "never used: ask Bash(go vet *) (~/a:1:1) comes first", "allow bash(go test *)": "", "deny Bash(git push *)": "",
	} {
		if e, is := notes[text]; !is || e.Never != (want != "") || !strings.HasPrefix(e.Note, want) {
			t.Errorf("%s: %+v, want %q", text, e, want)
		}
	}
	if e := notes["allow bash(go test *)"]; !e.Given {
		t.Errorf("%+v", e)
	}
	if e := notes["allow Bash(npm test:*)"]; e.Here != "bash(npm test)" || e.Given {
		t.Errorf("%+v", e)
	}
}

// TestTest_tools: not only command lines are tested, but everything that rules can name, in their spelling.
func TestTest_tools(t *testing.T) {
	r, _, _ := permissions(t, open(t))
	at := permission.Places{Root: r.o.Env.Root, Base: r.o.Env.Root}
	says := RuleReading{}
	for _, text := range []string{"Read(./secret/**)", "Edit(./gen/**)", "Agent(lone)", "Skill(quiet)", "Grep(./hush/**)"} {
		rule, err := permission.ParseToolRule(text, at)
		if err != nil {
			t.Fatal(err)
		}
		says.Lines = append(says.Lines, RuleLine{ToolRule: rule, List: permission.DenyList, File: "~/x", From: "~/x:1:1"})
	}
	if err := r.Load(t.Context(), says); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]permission.Decision{
		"Read(secret/key)": permission.Deny, "Read(other)": permission.Allow, "Write(gen/x)": permission.Deny, "Edit(src/x)": permission.AskHuman,
		"Agent(lone)": permission.Deny, "Task(other)": permission.AskHuman, "Skill(quiet)": permission.Deny, "Skill(loud)": permission.Allow,
		"Grep(secret)": permission.Deny, "Grep(hush)": permission.Deny, "LS(src)": permission.Allow, "cat secret/key": permission.Deny,
	} {
		if v, err := r.Test(text); err != nil || v.Decision != want {
			t.Errorf("%s: %s (%s), %v, want %s", text, v.Decision, v.Reason, err, want)
		}
	}
}

// TestLoad_unread: while a file can't be read everything asks, and that is reported once; repaired, everything is as
// before.
func TestLoad_unread(t *testing.T) {
	r, gate, _ := permissions(t, open(t))
	var told []string
	r.o.Tell = func(_ context.Context, text string) { told = append(told, text) }
	good := RuleReading{Lines: []RuleLine{line(t, permission.AllowList, "Bash(go test:*)", "~/.claude/settings.json")}}
	bad := RuleReading{Lines: good.Lines, Unread: []string{".claude/settings.json:1:1: broken", "x: y"}}
	for _, step := range []struct {
		is   RuleReading
		want permission.Decision
		told int
	}{{good, permission.Allow, 0}, {bad, permission.AskHuman, 1}, {bad, permission.AskHuman, 1}, {good, permission.Allow, 2}, {good, permission.Allow, 2}} {
		if err := r.Load(t.Context(), step.is); err != nil {
			t.Fatal(err)
		}
		decides(t, gate, "go test ./...", step.want, r.Blind())
		if len(told) != step.told {
			t.Errorf("told: %q", told)
		}
	}
	if !strings.Contains(told[0], ".claude/settings.json:1:1: broken (and 1 more)") || !strings.Contains(told[0], "Repair") {
		t.Errorf("told: %s", told[0])
	}
}
