package permission

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestParseMode(t *testing.T) {
	for _, m := range Modes() {
		if got, err := ParseMode(string(m)); err != nil || got != m {
			t.Errorf("ParseMode(%q) = %q, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "ASK", "bypass"} {
		if _, err := ParseMode(s); err == nil || !strings.Contains(err.Error(), "ask, accept-edits, auto, plan, yolo") {
			t.Errorf("ParseMode(%q): %v", s, err)
		}
	}
}

func TestCycle(t *testing.T) {
	for m, want := range map[Mode][3]Mode{
		Ask: {AcceptEdits, AcceptEdits, AcceptEdits}, AcceptEdits: {Plan, Plan, Auto}, Auto: {Plan, Plan, Plan}, Plan: {Ask, Ask, Ask}, Yolo: {Ask, Ask, Ask},
	} {
		for _, w := range []Sandbox{NoSandbox, Detects, Prevents} {
			if got := m.Cycle(w); got != want[w] {
				t.Errorf("%s cycles to %s, want %s over the sandbox %d", m, got, want[w], w)
			}
		}
	}
}

// TestStep: of a mode that a key selected, the tighter part applies at once, and the looser part only once settled,
// unless another mode was chosen meanwhile, by key or by name.
func TestStep(t *testing.T) {
	if got := (Yolo).Tighter("strange"); got != Yolo {
		t.Error(got)
	}
	order := []Mode{Plan, Ask, AcceptEdits, Auto, Yolo}
	rows := 0
	for i, was := range order {
		for j, m := range order {
			if rows++; was.Tighter(m) != order[min(i, j)] {
				t.Errorf("of %s and %s the tighter is %s", was, m, was.Tighter(m))
			}
			g := gate(t, was)
			g.Boxes(Prevents)
			settle, err := g.Step(m)
			holds, coming := g.Modes()
			if err != nil || holds != order[min(i, j)] || (settle != nil) != (j > i) || (coming == m) != (j > i) {
				t.Errorf("from %s to %s: %s holds, %q comes, %v", was, m, holds, coming, err)
			}
			if settle == nil {
				continue
			}
			if again, _ := g.Step(m); settle() || g.Mode() != was || !again() || g.Mode() != m {
				t.Errorf("from %s to %s: the first press counts, or the second does not", was, m)
			}
			for _, by := range []func() error{func() error { _, err := g.Step(was); return err }, func() error { return g.SetMode(was) }} {
				_ = g.SetMode(was)
				settle, _ := g.Step(m)
				if err := by(); err != nil || settle() || g.Mode() != was {
					t.Errorf("from %s to %s and back: %s holds", was, m, g.Mode())
				}
			}
		}
	}
	// After passing through all of them the tightest one applies.
	g := gate(t, AcceptEdits)
	g.Boxes(Prevents)
	var last func() bool
	for _, want := range []Mode{AcceptEdits, Plan, Plan, Plan, Plan} {
		_, shown := g.Modes()
		if shown == "" {
			shown = g.Mode()
		}
		if settle, _ := g.Step(shown.Cycle(Prevents)); settle != nil {
			last = settle
		}
		if g.Mode() != want {
			t.Errorf("%s holds, want %s", g.Mode(), want)
		}
	}
	if !last() || g.Mode() != Auto {
		t.Errorf("in the end %s holds", g.Mode())
	}
	if _, err := gate(t, Ask).Step(Auto); err == nil {
		t.Error("auto without a sandbox")
	}
}

// TestAgain: rules decide about an open question, and no mode does.
func TestAgain(t *testing.T) {
	write := Action{Kind: Write, Paths: []string{root + "/a.go"}, Dir: root}
	command := Action{Kind: Command, Command: "go test ./...", Dir: root, Boxed: true}
	guarded := Action{Kind: Command, Command: "touch .git/hooks/x", Dir: root, Boxed: true}
	for _, m := range Modes() {
		for _, a := range []Action{write, command, {Kind: Read, Paths: []string{"/etc/x"}, Outside: true, Dir: root}, {Kind: Foreign, Tool: "x"}} {
			g := gate(t, m)
			g.Boxes(Prevents)
			if v := g.Again(a); v.Decision != AskHuman || v.Free {
				t.Errorf("%s in %s: %s", a.Kind, m, v.Decision)
			}
		}
		g := gate(t, m, "bash(go test *)", "bash(touch *)")
		g.Boxes(Prevents)
		if v := g.Again(command); (v.Decision == Allow) != (m != Plan) || v.Decision == Deny {
			t.Errorf("a rule covers it, in %s: %s", m, v.Decision)
		}
		if v := g.Again(guarded); m == Yolo && v.Decision != AskHuman {
			t.Errorf("what runs outside the sandbox, in %s: %s", m, v.Decision)
		}
	}
}

func TestDecide_modes(t *testing.T) {
	in, out := []string{root + "/a.go"}, []string{"/etc/x"}
	read, write := Action{Kind: Read, Paths: in, Dir: root}, Action{Kind: Write, Paths: in, Dir: root}
	readOut, writeOut := Action{Kind: Read, Paths: out, Outside: true, Dir: root}, Action{Kind: Write, Paths: out, Outside: true, Dir: root}
	secret := Action{Kind: Read, Paths: []string{root + "/.env"}, Dir: root, Sensitive: "environment secrets"}
	secretOut := Action{Kind: Read, Paths: out, Outside: true, Dir: root, Sensitive: "keys"}
	agentsFile := Action{Kind: Write, Paths: []string{root + "/AGENTS.md"}, Dir: root, Sensitive: "instructions"}
	rcFile := Action{Kind: Write, Paths: []string{"/home/u/.bashrc"}, Outside: true, Dir: root, Sensitive: "a shell start file"}
	command := Action{Kind: Command, Command: "go test ./...", Dir: root}
	broken := Action{Kind: Command, Command: "go (", Dir: root}
	inner := Action{Kind: Internal}
	forbidden := Action{Kind: Read, Paths: in, Dir: root, Forbidden: "the database"}
	strange := Action{Kind: "strange"}
	for _, c := range []struct {
		name                    string
		a                       Action
		ask, accept, plan, yolo Decision
	}{
		{"read", read, Allow, Allow, Allow, Allow},
		{"read outside", readOut, AskHuman, AskHuman, AskHuman, Allow},
		{"read secret", secret, AskHuman, AskHuman, AskHuman, AskHuman},
		{"read secret outside", secretOut, AskHuman, AskHuman, AskHuman, AskHuman},
		{"write", write, AskHuman, Allow, Deny, Allow},
		{"write outside", writeOut, AskHuman, AskHuman, Deny, Allow},
		{"write instructions", agentsFile, AskHuman, AskHuman, Deny, Allow},
		{"write start file", rcFile, AskHuman, AskHuman, Deny, AskHuman},
		{"command", command, AskHuman, AskHuman, Deny, Allow},
		{"broken command", broken, Deny, Deny, Deny, Allow},
		{"internal", inner, Allow, Allow, Allow, Allow},
		{"forbidden", forbidden, Deny, Deny, Deny, Deny},
		{"unknown kind", strange, AskHuman, AskHuman, Deny, AskHuman},
	} {
		for m, want := range map[Mode]Decision{Ask: c.ask, AcceptEdits: c.accept, Plan: c.plan, Yolo: c.yolo} {
			v := gate(t, m).Decide(c.a)
			if v.Decision != want || v.Reason == "" {
				t.Errorf("%s in %s: %s (%s), want %s", c.name, m, v.Decision, v.Reason, want)
			}
			// Rules never cover a sensitive or forbidden action, nor plan mode.
			g := gate(t, m, "read(*)", "write(*)", "read(/**)", "write(/**)", "bash(go test *)")
			w := g.Decide(c.a)
			if (c.a.Sensitive != "" || c.a.Forbidden != "" || want == Deny) && w.Decision != want {
				t.Errorf("%s in %s with rules: %s, want %s", c.name, m, w.Decision, want)
			}
		}
	}
	if v := gate(t, Plan).Decide(command); !strings.Contains(v.Reason, "plan mode") {
		t.Errorf("the model is not told of plan mode: %q", v.Reason)
	}
}

// No rule covers, and no mode loosens, a request from outside.
//
// Spec: R-49, E-17.
func TestDecide_strict(t *testing.T) {
	in := []string{root + "/a.go"}
	for _, m := range []Mode{Ask, AcceptEdits, Plan, Yolo} {
		g, err := NewGate(m, []Rule{"bash(go test *)", "write(a.go)", "read(/etc/x)"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []Action{
			{Kind: Command, Command: "go test ./...", Dir: root},
			{Kind: Write, Paths: in, Dir: root},
			{Kind: Read, Paths: []string{"/etc/x"}, Outside: true, Dir: root},
		} {
			want := AskHuman
			if m == Plan && a.Kind != Read {
				want = Deny
			}
			a.Strict = true
			if v := g.Decide(a); v.Decision != want || v.Rule != "" {
				t.Errorf("%s %s: %+v, want %s", m, a.Kind, v, want)
			}
		}
		if v := g.Decide(Action{Kind: Read, Paths: in, Dir: root, Strict: true}); v.Decision != Allow {
			t.Errorf("%s: reading in the workspace: %+v", m, v)
		}
	}
}

// TestDecide_note: a memory document is written without a question, except in plan mode, and for requests from outside.
func TestDecide_note(t *testing.T) {
	for m, want := range map[Mode]Decision{Ask: Allow, AcceptEdits: Allow, Yolo: Allow, Plan: Deny} {
		if v := gate(t, m).Decide(Action{Kind: Note}); v.Decision != want {
			t.Errorf("%s: %+v", m, v)
		}
		if want == Allow {
			want = AskHuman
		}
		if v := gate(t, m, "write(*)").Decide(Action{Kind: Note, Strict: true}); v.Decision != want || v.Rule != "" {
			t.Errorf("%s, strict: %+v", m, v)
		}
	}
}

func TestDecide_pathRules(t *testing.T) {
	for _, c := range []struct {
		rule    Rule
		kind    Kind
		path    string
		outside bool
		want    Decision
	}{
		{"write(a.go)", Write, root + "/a.go", false, Allow},
		{"write(a.go)", Write, root + "/b.go", false, AskHuman},
		{"write(a.go)", Write, root + "/a.go/x", false, AskHuman},
		{"write(a.go)", Write, root + "/sub/a.go", false, AskHuman},
		{"write(*)", Write, root + "/x/y", false, Allow},
		{"write(*)", Write, "/etc/x", true, AskHuman},
		{"write(docs/**)", Write, root + "/docs/a/b", false, Allow},
		{"write(docs/**)", Write, root + "/docsx", false, AskHuman},
		{"write(docs/**)", Write, root + "/docs2/x", false, AskHuman},
		{"write(/etc/x)", Write, "/etc/x", true, Allow},
		{"write(/etc/x)", Write, "/etc/xy", true, AskHuman},
		{"read(/etc/**)", Read, "/etc/x/y", true, Allow},
		{"read(/etc/**)", Write, "/etc/x", true, AskHuman},
		{"read(/etc/x)", Read, "/etc/x", true, Allow},
		{"read(*)", Read, "/etc/x", true, AskHuman},
		{"write(./a.go)", Write, root + "/a.go", false, Allow},
		{"write(../x)", Write, "/work/x", true, Allow},
	} {
		a := Action{Kind: c.kind, Paths: []string{c.path}, Outside: c.outside, Dir: root}
		if v := gate(t, Ask, c.rule).Decide(a); v.Decision != c.want {
			t.Errorf("%s and %s %s: %s (%s), want %s", c.rule, c.kind, c.path, v.Decision, v.Reason, c.want)
		}
	}
	two := Action{Kind: Write, Paths: []string{root + "/a", root + "/b"}, Dir: root}
	if v := gate(t, Ask, "write(a)").Decide(two); v.Decision != AskHuman {
		t.Errorf("a rule for one path covers two: %+v", v)
	}
	if v := gate(t, Ask, "write(*)").Decide(Action{Kind: Write, Dir: root}); v.Decision != AskHuman {
		t.Errorf("a rule covers an action without a path: %+v", v)
	}
}

func TestDecide_pathRulesOffered(t *testing.T) {
	for path, want := range map[string]Rule{
		root + "/a.go": "write(a.go)", root + "/a b/(c).go": "write(a b/(c).go)", root + "/*": "", root + "/x/**": "", root + "/a\nb": "", root + "/~x": "",
	} {
		a := Action{Kind: Write, Paths: []string{path}, Dir: root}
		v := gate(t, Ask).Decide(a)
		if v.Rule != want {
			t.Errorf("%q offers %q, want %q", path, v.Rule, want)
		}
		if want != "" {
			if w := gate(t, Ask, v.Rule).Decide(a); w.Decision != Allow {
				t.Errorf("%q is not covered by its rule", path)
			}
		}
	}
	v := gate(t, Ask).Decide(Action{Kind: Read, Paths: []string{"/etc/hosts"}, Outside: true, Dir: root})
	if v.Rule != "read(/etc/hosts)" {
		t.Errorf("outside offers %q", v.Rule)
	}
}

func TestParseRule(t *testing.T) {
	for in, want := range map[string]Rule{
		"bash(go test *)": "bash(go test *)", " bash(go  test   *) ": "bash(go test *)", `bash(git commit -m "a b")`: "bash(git commit -m 'a b')", `bash(go test '*')`: "bash(go test '*')",
		"bash(terraform plan)": "bash(terraform plan)", "bash(git --no-pager log *)": "bash(git log *)", "bash(gofmt -w *)": "bash(gofmt -w *)", "bash(grep -rn *)": "bash(grep -rn *)", "write(*)": "write(*)", "read(/a b)": "read(/a b)", "bash(python3 -m pytest *)": "bash(python3 -m pytest *)", "write(a/**)": "write(a/**)",
	} {
		got, err := parseRule(in)
		if err != nil || got != want {
			t.Errorf("parseRule(%q) = %q, %v; want %q", in, got, err, want)
		}
		if again, err := parseRule(string(got)); err != nil || again != got {
			t.Errorf("parseRule(%q) = %q, %v the second time", got, again, err)
		}
	}
	for in, cause := range map[string]string{
		"": "write it as", "go test": "write it as", "bash(go test": "write it as", "edit(x)": "neither", "bash()": "empty", "bash(*)": "no command", "bash(rm *)": "deletes",
		"bash(sudo *)": "another command", "bash(env go test *)": "another command", "bash(bash -c x)": "any code", "bash(python3 *)": "any code", "bash(python3 x.py)": "any code",
		"bash(node *)": "any code", "bash(go test * x)": "only a * at the end", "bash(go te*)": "only a * at the end", "bash(a; b)": "one command", "bash(a && b)": "one command",
		"bash(a | b)": "one command", "bash(a $X)": "contains $X", "bash(X=1 a)": "assignment", "bash(a > b)": "redirection", "bash(a &)": "background", "bash(a ()": "parsed",
		"bash(/bin/ls *)": "path", "bash(./x *)": "path", "bash(git -c x *)": "option -c", "bash(git config *)": "changes what git runs", "bash(npx *)": "another command", "bash(eval *)": "changes the shell",
		"bash(terraform plan *)": "no list says which options of terraform plan", "bash(mytool *)": "write the whole command, without the *", "bash(diff *)": "without the *", "bash(make *)": "without the *",
		"bash(go *)": "name it too, as in bash(go build *)", "bash(git *)": "as in bash(git add *)", "bash(go mod *)": "as in bash(go mod download *)", "bash(npm run *)": "without the *", "bash(go mod vendor *)": "without the *",
		"bash(go build -o x *)": "-o is not on the list of harmless options", "bash(go test -run *)": "-run lacks its value", "bash(git --no-pager -c a=b log *)": "option -c",
		"write()": "no path", "write(a*)": "patterns", "read(~/x)": "~", "write(a\nb)": "one line", "bash($(x))": "substitution", "bash(l\\s\\\n)": "one line",
	} {
		_, err := parseRule(in)
		if err == nil || !strings.Contains(err.Error(), cause) {
			t.Errorf("parseRule(%q): %v, want it to say %q", in, err, cause)
		} else if !strings.Contains(err.Error(), "parse rule") {
			t.Errorf("parseRule(%q) does not name the rule: %v", in, err)
		}
		if _, err := NewGate(Ask, []Rule{Rule(in)}); err == nil {
			t.Errorf("NewGate takes %q", in)
		}
	}
	if _, err := NewGate("wild", nil); err == nil {
		t.Error("NewGate takes an unknown mode")
	}
}

func TestGate_concurrent(t *testing.T) {
	g := gate(t, Ask)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				if err := g.Allow(Rule("write(" + strings.Repeat("x", i+1) + ")")); err != nil {
					t.Error(err)
				}
				if err := g.SetMode(g.Mode().Cycle(NoSandbox)); err != nil {
					t.Error(err)
				}
				g.Decide(Action{Kind: Command, Command: "go test ./...", Dir: root})
			}
		})
	}
	wg.Wait()
	if len(g.rules) != 8 {
		t.Errorf("%d rules, want 8: a rule stands once", len(g.rules))
	}
}

func BenchmarkDecide(b *testing.B) {
	g := gate(b, Ask, append(slices.Clone(plausible), "bash(go test *) in sub")...)
	a := Action{Kind: Command, Command: "cd sub && timeout 60 go test -run 'TestX' ./... 2>&1 | grep -v ok | tail -20", Dir: root}
	for b.Loop() {
		if v := g.Decide(a); v.Decision != Allow {
			b.Fatal(v)
		}
	}
}

// TestGate_ground: in a workspace that is another one everything is asked, in every mode and under every rule; a
// forbidden action stays forbidden.
func TestGate_ground(t *testing.T) {
	g, err := NewGate(Yolo, []Rule{"bash(go test *)"})
	if err != nil {
		t.Fatal(err)
	}
	var moved error
	g.Stands(func() error { return moved })
	for _, a := range []Action{
		{Kind: Command, Command: "go test ./...", Dir: "/w"},
		{Kind: Command, Command: "rm x", Dir: "/w"},
		{Kind: Read, Dir: "/w"},
		{Kind: Write, Dir: "/w"},
	} {
		moved = nil
		if v := g.Decide(a); v.Decision != Allow {
			t.Errorf("%v: %+v", a.Kind, v)
		}
		moved = errors.New("the workspace is elsewhere")
		if v := g.Decide(a); v.Decision != AskHuman || !strings.Contains(v.Reason, "elsewhere") || v.Rule != "" {
			t.Errorf("%v, moved: %+v", a.Kind, v)
		}
		a.Forbidden = "no"
		if v := g.Decide(a); v.Decision != Deny {
			t.Errorf("%v, forbidden: %+v", a.Kind, v)
		}
	}
	if v := g.Decide(Action{Kind: Internal}); v.Decision != Allow {
		t.Errorf("internal: %+v", v)
	}
}

// TestGate_Forget: rules of the session end, configured ones stay, even if they were given again.
func TestGate_Forget(t *testing.T) {
	g, err := NewGate(Ask, []Rule{"bash(go test *)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Rule{"bash(go test *)", "bash(go build *)"} {
		if err := g.Allow(r); err != nil {
			t.Fatal(err)
		}
	}
	g.Forget()
	for command, want := range map[string]Decision{"go test ./...": Allow, "go build ./...": AskHuman} {
		if v := g.Decide(Action{Kind: Command, Command: command, Dir: "/w"}); v.Decision != want {
			t.Errorf("%s: %+v, want %v", command, v, want)
		}
	}
}

// TestGate_Configure: the configuration's rules are replaced as a whole, the session's stay, and a bad rule changes
// nothing.
func TestGate_Configure(t *testing.T) {
	g, err := NewGate(Ask, []Rule{"bash(go test *)"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Allow("bash(go build *)"); err != nil {
		t.Fatal(err)
	}
	if err := g.Configure([]Rule{"bash(go vet *)", "nonsense("}); err == nil {
		t.Error("a bad rule is taken")
	}
	holds := func(want map[string]Decision) {
		t.Helper()
		for command, want := range want {
			if v := g.Decide(Action{Kind: Command, Command: command, Dir: "/w"}); v.Decision != want {
				t.Errorf("%s: %+v, want %v", command, v, want)
			}
		}
	}
	holds(map[string]Decision{"go test ./...": Allow, "go build ./...": Allow, "go vet ./...": AskHuman})
	if err := g.Configure([]Rule{"bash(go vet *)"}); err != nil {
		t.Fatal(err)
	}
	holds(map[string]Decision{"go test ./...": AskHuman, "go build ./...": Allow, "go vet ./...": Allow})
	g.Forget()
	holds(map[string]Decision{"go test ./...": AskHuman, "go build ./...": AskHuman, "go vet ./...": Allow})
}

// TestGate_wall: mode auto needs a sandbox, and a refused mode changes nothing; its tightest mode is ask.
func TestGate_wall(t *testing.T) {
	for w, ok := range map[Sandbox]bool{NoSandbox: false, Detects: true, Prevents: true} {
		g := gate(t, Ask)
		g.Boxes(w)
		err := g.SetMode(Auto)
		if (err == nil) != ok || g.Wall() != w || (g.Mode() == Auto) != ok {
			t.Errorf("%d: %v, the mode is %s", w, err, g.Mode())
		}
		if !ok && (!strings.Contains(err.Error(), "sandbox") || !strings.Contains(err.Error(), "accept-edits")) {
			t.Errorf("the error names no cause or no next step: %v", err)
		}
	}
	g, looks := gate(t, Ask), 0
	g.Seeks(func() Sandbox { looks++; return Prevents })
	if g.Known() != NoSandbox || looks != 0 {
		t.Errorf("what is known is %d, after %d looks", g.Known(), looks)
	}
	if err := g.SetMode(Auto); err != nil || g.Wall() != Prevents || looks == 0 {
		t.Errorf("it is not looked for: %v, %d looks", err, looks)
	}
	looks = 0
	if g.Boxes(Detects); g.Known() != Detects || g.Wall() != Detects || looks != 0 {
		t.Errorf("once it is known: %d, %d, %d looks", g.Known(), g.Wall(), looks)
	}
	if Auto.Tightest() != Ask {
		t.Error(Auto.Tightest())
	}
}

// TestVerdict_free: only commands that yolo allows run outside the sandbox, and only where yolo applies to them.
func TestVerdict_free(t *testing.T) {
	for _, m := range Modes() {
		g := gate(t, m, "bash(go test *)")
		for _, a := range []Action{
			{Kind: Command, Command: "go test ./...", Dir: root},
			{Kind: Command, Command: "go test ./...", Dir: root, Strict: true},
			{Kind: Command, Command: "go test ./...", Dir: root, Mode: Ask},
			{Kind: Command, Command: "go test ./...", Dir: root, Mode: Yolo},
			{Kind: Command, Command: "make", Dir: root, Boxed: true},
		} {
			want := (m == Yolo || a.Mode == Yolo) && a.Mode != Ask && !a.Strict
			if v := g.Decide(a); v.Free != want {
				t.Errorf("%s, %+v: %+v", m, a, v)
			}
		}
	}
}

// parseRule returns a rule in its shown form.
func parseRule(s string) (Rule, error) {
	p, err := Rule(s).parse()
	return p.text, err
}

// TestVerdict_edits: mode accept-edits is offered for a write that it would allow, and for no other call.
func TestVerdict_edits(t *testing.T) {
	inside := Action{Kind: Write, Paths: []string{root + "/a.go"}, Dir: root}
	change := func(f func(*Action)) Action { a := inside; f(&a); return a }
	for name, c := range map[string]struct {
		a    Action
		want bool
	}{
		"inside":       {inside, true},
		"outside":      {change(func(a *Action) { a.Outside = true }), false},
		"sensitive":    {change(func(a *Action) { a.Sensitive = "it holds keys" }), false},
		"strict":       {change(func(a *Action) { a.Strict = true }), false},
		"its own mode": {change(func(a *Action) { a.Mode = Ask }), false},
		"a command":    {Action{Kind: Command, Command: "touch x", Dir: root}, false},
		"a read":       {Action{Kind: Read, Paths: []string{"/etc/x"}, Outside: true, Dir: root}, false},
	} {
		if v := gate(t, Ask).Decide(c.a); v.Decision != AskHuman || v.Edits != c.want {
			t.Errorf("%s: %s, edits %t", name, v.Decision, v.Edits)
		}
	}
	g := gate(t, Ask)
	g.Unread("a file")
	if g.Decide(inside).Edits {
		t.Error("it is offered while a file that may deny can't be read")
	}
}
