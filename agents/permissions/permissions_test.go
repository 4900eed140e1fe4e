package permissions

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/audit"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permit"
	"fantail/tools/permit/toolrule"
)

var root = "/w"

// asked has no questions; it counts how often they were looked at.
type asked struct {
	gate    *permit.Gate
	reviews int
}

func (a *asked) Review(context.Context) error { a.reviews++; return nil }

func (a *asked) Revoke(_ context.Context, r permit.Rule) error { return a.gate.Revoke(r) }

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

func room(t *testing.T, db *store.DB) (*Room, *permit.Gate, *asked) {
	t.Helper()
	gate, err := permit.NewGate(permit.Ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(t.Context(), audit.Options{DB: db, Dir: t.TempDir(), Mode: "ask", Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	asks := &asked{gate: gate}
	return New(Options{DB: db, Gate: gate, Audit: log, Asks: asks, Tools: tools.New(), Env: tools.Env{Root: t.TempDir()}}), gate, asks
}

// line is what a file says at a line of its own.
func line(t *testing.T, list toolrule.List, text, file string) Line {
	t.Helper()
	r, err := toolrule.Parse(text, toolrule.Places{Root: root, Base: root, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return Line{Rule: r, List: list, File: file, From: file + ":1:1", Project: !strings.HasPrefix(file, "~")}
}

func decides(t *testing.T, g *permit.Gate, command string, want permit.Decision, when string) {
	t.Helper()
	if v := g.Decide(permit.Action{Tool: "bash", Kind: permit.Command, Command: command, Dir: root}); v.Decision != want {
		t.Errorf("%s: %s: %s (%s), want %s", when, command, v.Decision, v.Reason, want)
	}
}

// TestLoad: what a user's file allows holds; what a workspace's file allows only once it was accepted, as long as the
// file says it word for word, and also at later starts; what either denies holds at once.
func TestLoad(t *testing.T) {
	db := open(t)
	r, gate, asks := room(t, db)
	const file = ".claude/settings.json"
	says := Reading{Lines: []Line{
		line(t, toolrule.Allow, "Bash(go vet:*)", "~/.claude/settings.json"),
		line(t, toolrule.Allow, "Bash(go test:*)", file),
		line(t, toolrule.Allow, "Bash(rm -rf *)", file),
		line(t, toolrule.Deny, "Bash(git push *)", file),
	}}
	ctx := audit.As(t.Context(), "someone")
	Begin(gate, says)
	decides(t, gate, "go test ./...", permit.AskHuman, "before there is a room")
	decides(t, gate, "git push", permit.Deny, "before there is a room")
	if err := r.Load(ctx, says); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go vet ./...", permit.Allow, "the user's file")
	decides(t, gate, "go test ./...", permit.AskHuman, "only offered")
	decides(t, gate, "git push", permit.Deny, "denied")
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
	decides(t, gate, "go test ./...", permit.Allow, "accepted")
	if n := r.Waiting(); n != 1 {
		t.Errorf("%d rules wait for an answer after one", n)
	}
	changed := Reading{Lines: []Line{line(t, toolrule.Allow, "Bash(go test *)", file)}}
	if err := r.Load(ctx, changed); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permit.AskHuman, "the file says it in other words")
	elsewhere := Reading{Lines: []Line{line(t, toolrule.Allow, "Bash(go test:*)", ".fantail/config.toml")}}
	if err := r.Load(ctx, elsewhere); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permit.AskHuman, "another file says it")

	later, gate, _ := room(t, db)
	if err := later.Load(ctx, says); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permit.Allow, "accepted at an earlier start")
	if _, err := later.Answer(ctx, 1, "", Refused); err != nil {
		t.Fatal(err)
	}
	decides(t, gate, "go test ./...", permit.AskHuman, "refused")
	all, _, _ := later.List()
	var text []string
	for _, e := range all {
		text = append(text, string(e.List)+" "+e.Text+" "+string(e.State))
	}
	if got := strings.Join(text, "; "); got != "deny Bash(git push *) ; allow Bash(go test:*) refused; allow Bash(rm -rf *) offered; allow Bash(go vet:*) " {
		t.Errorf("listed: %s", got)
	}
}

// TestList_never: what can match nothing is said to.
func TestList_never(t *testing.T) {
	r, _, _ := room(t, open(t))
	says := Reading{Faults: []string{"x:1:1: wrong"}, Ignored: []string{"y:1:1: env"}}
	want := map[string]string{
		"Bsh(git *)": "no tool Bsh", "WebFetch(domain:x.org)": "no such tool", "mcp__github__*": "no MCP server", "Task(explorer)": "", "mcp__github__x(y)": "no MCP server",
		"Bash(git *)": "", "Read(x)": "", "Task": "", "grep": "", "Write(./x)": "",
	}
	for text := range want {
		says.Lines = append(says.Lines, line(t, toolrule.Deny, text, "~/x"))
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

// TestTest: the decision, and every rule that speaks of the command.
func TestTest(t *testing.T) {
	r, gate, _ := room(t, open(t))
	if err := gate.Allow("bash(git status *)"); err != nil {
		t.Fatal(err)
	}
	err := r.Load(t.Context(), Reading{Lines: []Line{
		line(t, toolrule.Ask, "Bash(git *)", "~/a"), line(t, toolrule.Deny, "Bash(git push *)", "~/b"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.Test("make && git -C x push")
	if got := strings.Join(v.Others, "; "); err != nil || v.Decision != permit.Deny || !strings.Contains(v.Reason, "~/b:1:1") || !strings.Contains(got, "ask Bash(git *)") || !strings.Contains(got, "deny Bash(git push *)") {
		t.Errorf("%+v, %q, %v", v, got, err)
	}
	v, err = r.Test("git status")
	if got := strings.Join(v.Others, "; "); err != nil || v.Decision != permit.AskHuman || !strings.Contains(got, "allow bash(git status *) covers git") {
		t.Errorf("%+v, %q, %v", v, got, err)
	}
	modes := map[permit.Mode]permit.Decision{}
	for _, m := range v.Modes {
		modes[m.Mode] = m.Decision
	}
	if v.Mode != permit.Ask || len(modes) != len(permit.Modes()) || modes[permit.Yolo] != permit.AskHuman {
		t.Errorf("in %s; in all: %v", v.Mode, modes)
	}
	if v, err = r.Test("make"); err != nil || v.Decision != permit.AskHuman {
		t.Errorf("%+v, %v", v, err)
	}
	for _, m := range v.Modes {
		if want := map[permit.Mode]permit.Decision{permit.Yolo: permit.Allow, permit.Plan: permit.Deny}[m.Mode]; want != "" && m.Decision != want {
			t.Errorf("make in %s: %s, want %s", m.Mode, m.Decision, want)
		}
	}
	if _, err := r.Test(" "); err == nil {
		t.Error("an empty command is tested")
	}
}

// TestTest_sandbox: what auto lets run in a sandbox is said to run where one works, not where there merely could be one.
func TestTest_sandbox(t *testing.T) {
	r, gate, _ := room(t, open(t))
	r.o.Boxed = true
	auto := func() permit.Decision {
		t.Helper()
		v, err := r.Test("make")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range v.Modes {
			if m.Mode == permit.Auto {
				return m.Decision
			}
		}
		return ""
	}
	if d := auto(); d != permit.AskHuman {
		t.Errorf("where no sandbox works: %s", d)
	}
	if gate.Boxes(permit.Prevents); auto() != permit.Allow {
		t.Errorf("where one works: %s", auto())
	}
}

// TestList_first: what another rule leaves nothing to is said to be never used, what a rule means here is said, and which
// were given by a human.
func TestList_first(t *testing.T) {
	r, gate, _ := room(t, open(t))
	for _, rule := range []permit.Rule{"bash(go test *)", "bash(go vet *)"} {
		if err := gate.Allow(rule); err != nil {
			t.Fatal(err)
		}
	}
	err := r.Load(t.Context(), Reading{Lines: []Line{
		line(t, toolrule.Allow, "Bash(git push origin *)", ".claude/settings.json"), line(t, toolrule.Allow, "Bash(npm test:*)", "~/a"),
		line(t, toolrule.Ask, "Bash(go vet *)", "~/a"), line(t, toolrule.Ask, "Bash(git push)", "~/a"), line(t, toolrule.Deny, "Bash(git push *)", "~/b"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	notes, all := map[string]Entry{}, []Entry(nil)
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

// TestTest_tools: not only command lines are tested: what rules speak of is, in their spelling.
func TestTest_tools(t *testing.T) {
	r, _, _ := room(t, open(t))
	at := toolrule.Places{Root: r.o.Env.Root, Base: r.o.Env.Root}
	says := Reading{}
	for _, text := range []string{"Read(./secret/**)", "Edit(./gen/**)", "Agent(lone)", "Skill(quiet)", "Grep(./hush/**)"} {
		rule, err := toolrule.Parse(text, at)
		if err != nil {
			t.Fatal(err)
		}
		says.Lines = append(says.Lines, Line{Rule: rule, List: toolrule.Deny, File: "~/x", From: "~/x:1:1"})
	}
	if err := r.Load(t.Context(), says); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]permit.Decision{
		"Read(secret/key)": permit.Deny, "Read(other)": permit.Allow, "Write(gen/x)": permit.Deny, "Edit(src/x)": permit.AskHuman,
		"Agent(lone)": permit.Deny, "Task(other)": permit.AskHuman, "Skill(quiet)": permit.Deny, "Skill(loud)": permit.Allow,
		"Grep(secret)": permit.Deny, "Grep(hush)": permit.Deny, "LS(src)": permit.Allow, "cat secret/key": permit.Deny,
	} {
		if v, err := r.Test(text); err != nil || v.Decision != want {
			t.Errorf("%s: %s (%s), %v, want %s", text, v.Decision, v.Reason, err, want)
		}
	}
}
