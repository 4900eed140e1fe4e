package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"fantail/tools/permission"
)

// grown writes files into a new workspace and a new home, and returns the options to find them.
func grown(t *testing.T, files map[string]string) Options {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"ws", "home"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return Options{
		Root: filepath.Join(base, "ws"), Home: filepath.Join(base, "home"), Config: filepath.Join(base, "home/.config/fantail"),
		Words: []string{"model", "skills"}, Vendors: []string{"claude", "codex"}, Tools: []string{"read_file", "bash", "grep"},
		Model: func(name string) (string, error) {
			if name == "anthropic/opus" || name == "opus" {
				return "anthropic/opus", nil
			}
			return "", errors.New("unknown")
		},
	}
}

func skill(about string) string { return "---\ndescription: " + about + "\n---\nDo it.\n" }

// TestShelf_first: of two items with the same name the workspace's wins over the user's, the nearer one in it over the
// farther, a skill over a command, the program's own command over all, and each loser is listed with the winner.
func TestShelf_first(t *testing.T) {
	o := grown(t, map[string]string{
		"ws/.agents/skills/deploy/SKILL.md":             skill("workspace"),
		"ws/.claude/skills/deploy/SKILL.md":             skill("beside"),
		"ws/sub/.claude/skills/deploy/SKILL.md":         skill("nearer"),
		"home/.claude/skills/deploy/SKILL.md":           skill("user"),
		"home/.config/fantail/skills/deploy/SKILL.md":   skill("config"),
		"home/.config/fantail/skills/own/SKILL.md":      skill("own"),
		"home/.agents/skills/review/SKILL.md":           skill("theirs"),
		"ws/.claude/commands/deploy.md":                 "As a command.\n",
		"ws/.claude/commands/model.md":                  "Not this one.\n",
		"ws/.claude/commands/git/push.md":               "Push it.\n",
		"ws/.claude/commands/a/same.md":                 "One.\n",
		"ws/.claude/commands/b/same.md":                 "Two.\n",
		"ws/.opencode/commands/open.md":                 "Open.\n",
		"home/.claude/commands/mine.md":                 "Mine.\n",
		"ws/.claude/agents/claude.md":                   "---\nname: claude\ndescription: no\n---\nx",
		"ws/.claude/agents/reviewer.md":                 "---\nname: reviewer\ndescription: yes\n---\nx",
		"home/.claude/agents/reviewer.md":               "---\nname: reviewer\ndescription: no\n---\nx",
		"home/.config/fantail/agents/in/dir/planner.md": "---\nname: planner\ndescription: plans\n---\nx",
	})
	o.Dir = filepath.Join(o.Root, "sub")
	l := New(o).Now()
	var got []string
	for _, i := range l.Items {
		got = append(got, fmt.Sprintf("%s %s %s | %s %s%s", i.Kind, i.Name, i.Source, i.Slash, i.Out, i.Typed))
	}
	want := []string{
		"skill deploy sub/.claude/skills/deploy/SKILL.md | deploy ",
		"skill deploy .agents/skills/deploy/SKILL.md |  shadowed by sub/.claude/skills/deploy/SKILL.md",
		"skill deploy .claude/skills/deploy/SKILL.md |  shadowed by sub/.claude/skills/deploy/SKILL.md",
		"command a:same .claude/commands/a/same.md | a:same ",
		"command b:same .claude/commands/b/same.md | b:same ",
		"command deploy .claude/commands/deploy.md |  shadowed by sub/.claude/skills/deploy/SKILL.md",
		"command git:push .claude/commands/git/push.md | git:push ",
		"command model .claude/commands/model.md |  /model is a command of the program",
		"command open .opencode/commands/open.md | open ",
		"agent claude .claude/agents/claude.md |  shadowed by claude, another vendor's agent",
		"agent reviewer .claude/agents/reviewer.md |  ",
		"skill deploy ~/.config/fantail/skills/deploy/SKILL.md |  shadowed by sub/.claude/skills/deploy/SKILL.md",
		"skill own ~/.config/fantail/skills/own/SKILL.md | own ",
		"agent planner ~/.config/fantail/agents/in/dir/planner.md |  ",
		"skill review ~/.agents/skills/review/SKILL.md | review ",
		"skill deploy ~/.claude/skills/deploy/SKILL.md |  shadowed by sub/.claude/skills/deploy/SKILL.md",
		"command mine ~/.claude/commands/mine.md | mine ",
		"agent reviewer ~/.claude/agents/reviewer.md |  shadowed by .claude/agents/reviewer.md",
		"skill commit Fantail's own | commit ",
		"skill pr Fantail's own | pr ",
		"skill review Fantail's own |  shadowed by ~/.agents/skills/review/SKILL.md",
	}
	if !slices.Equal(got, want) || l.Broken != nil {
		t.Errorf("found\n%s\nbroken %q", strings.Join(got, "\n"), l.Broken)
	}
	for name, is := range map[string]string{"push": "git:push", "same": "", "model": "", "deploy": "deploy", "a:same": "a:same"} {
		found := ""
		if i := l.Slash(name); i != nil {
			found = i.Name
		}
		if found != is {
			t.Errorf("/%s is %q, want %q", name, found, is)
		}
	}
}

// TestShelf_hostile: a file that can't be read, or must not be, costs a line with its place, and nothing else; no text
// has control characters or is a path.
func TestShelf_hostile(t *testing.T) {
	bomb := "---\ndescription: x\na0: &a0 [x, x]\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	o := grown(t, map[string]string{
		"ws/.claude/skills/fine/SKILL.md":     skill("fine"),
		"ws/.claude/skills/broken/SKILL.md":   "---\nname: x\nabout: " + strings.Repeat("x", 33<<10) + "\n---\nbody",
		"ws/.claude/skills/big/SKILL.md":      skill("big") + strings.Repeat("x", 10<<20),
		"ws/.claude/skills/bomb/SKILL.md":     bomb + "---\nbody",
		"ws/.claude/skills/loud/SKILL.md":     "---\ndescription: \"a\\x1b[31mb\\x07\\u202ec\"\n---\nbody \x1b[2J end",
		"ws/.claude/skills/up/SKILL.md":       "---\nname: ../../etc\ndescription: up\n---\n",
		"ws/.claude/skills/bad\x1bn/SKILL.md": skill("control"),
		"ws/.claude/agents/up.md":             "---\nname: ../up\ndescription: up\n---\n",
		"ws/.claude/agents/iso.md":            "---\nname: iso\ndescription: up\nisolation: worktree\n---\n",
		"secret/SKILL.md":                     skill("secret"),
		"secret.md":                           "secret",
	})
	link := func(to, at string) {
		if err := os.Symlink(to, filepath.Join(o.Root, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("../../../secret", ".claude/skills/out")
	link(filepath.Join(o.Root, "../secret"), ".claude/skills/absolute")
	link("fine", ".claude/skills/inside")
	link("loop", ".claude/skills/loop")
	link("../../../secret.md", ".claude/agents/out.md")
	if err := os.MkdirAll(filepath.Join(o.Root, ".claude/skills/pipe"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(o.Root, ".claude/skills/pipe/SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(o)
	l := s.Now()
	var names []string
	for _, i := range l.Items {
		names = append(names, i.Name)
		for _, text := range []string{i.Name, i.About, i.Source, i.Hint} {
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' }) {
				t.Errorf("%q of %s", text, i.Name)
			}
		}
	}
	slices.Sort(names)
	if want := []string{"bomb", "commit", "fine", "inside", "loud", "pr", "review", "up", "up"}; !slices.Equal(names, want) {
		t.Errorf("found %q, want %q", names, want)
	}
	all := strings.Join(l.Broken, "\n")
	for _, want := range []string{
		".claude/skills/broken/SKILL.md:1:1: its front matter has 338",
		".claude/skills/big/SKILL.md: it has 10485",
		".claude/skills/out/SKILL.md: it leads out of the workspace",
		".claude/skills/absolute/SKILL.md: it leads out of the workspace",
		".claude/skills/pipe/SKILL.md: it is no regular file",
		".claude/skills/loop/SKILL.md: too many levels of symbolic links",
		".claude/agents/out.md: it leads out of the workspace",
		".claude/agents/iso.md:4:1: isolation: worktree can't be had yet, and the agent is not run in the workspace itself instead",
		"the name \"bad\uFFFDn\" does not do",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nobody is told %q of\n%s", want, all)
		}
	}
	if len(l.Broken) != 9 {
		t.Errorf("%d are broken:\n%s", len(l.Broken), all)
	}
	if use, err := s.Skill(t.Context(), "loud", ""); err != nil || strings.ContainsRune(use.Text, 0x1b) {
		t.Errorf("%q, %v", use.Text, err)
	}
	if _, err := s.Skill(t.Context(), "../../../secret", ""); err == nil {
		t.Error("a path is a name")
	}
	if err := os.Remove(filepath.Join(o.Root, ".claude/skills/fine/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	link("../../../../secret/SKILL.md", ".claude/skills/fine/SKILL.md")
	if use, err := s.Skill(t.Context(), "fine", ""); err == nil {
		t.Errorf("a file became a link that leads out, and is read: %q", use.Text)
	}
}

// TestShelf_oddFields: only the odd field is lost, and it is named unless it is empty; one that restricts an agent
// still does.
func TestShelf_oddFields(t *testing.T) {
	for _, c := range []struct{ field, want, note string }{
		{"name: []", "own", ""},
		{"name: null", "own", ""},
		{"name:", "own", ""},
		{`name: "x"`, "x", ""},
		{"name: 0", "0", ""},
		{"name: x\nname: y", "x", ""},
		{"name: API Architect", "own", "does not do, own is used"},
		{"name: [a\nb", "a", ":3:1: left out"},
		{"name: {a: b}", "own", "does not do"},
		{"description: []", "own", ""},
		{"description: null", "own", ""},
		{"description: 0", "own", ""},
		{"description: x\ndescription: y", "own", ""},
		{"model: []", "own", ""},
		{"model: null", "own", ""},
		{"model: 0", "own", "no model 0"},
		{`model: "x"`, "own", "no model x"},
		{"model: {a: b}", "own", "no model"},
		{"tools: []", "own only", ""},
		{"tools: null", "own", ""},
		{"tools: 0", "own only", "no tool here: 0"},
		{`tools: "x"`, "own only", "no tool here: x"},
		{"tools:\n  Bash: false", "own only", "no tool here"},
		{"tools: [Read, Grep\nmodel: inherit", "own only grep list_files read_file", ""},
		{"tools: Read\ntools: Bash", "own only list_files read_file", ""},
		{"disallowedTools: []", "own", ""},
		{"disallowedTools: null", "own", ""},
		{"disallowedTools: 0", "own", "no tool here"},
		{"disallowedTools: [Bash, Write", "own not bash write_file", ""},
		{"disallowedTools: Bash\ndisallowedTools: Write", "own not bash write_file", ""},
		{"permissionMode: []", "own", ""},
		{"permissionMode: null", "own", ""},
		{"permissionMode: 0", "own", "is not used"},
		{"permissionMode: [plan]", "own plan", ""},
		{"permissionMode: plan\npermissionMode: x", "own plan", ""},
		{"maxTurns: []", "own", ""},
		{"maxTurns: null", "own", ""},
		{"maxTurns: 0", "own", "no number"},
		{`maxTurns: "x"`, "own", "no number"},
		{`maxTurns: "3"`, "own 3", ""},
		{"skills: []", "own", ""},
		{"skills: null", "own", ""},
		{"skills: 0", "own", "no skill 0"},
		{"background: []", "own", ""},
		{"background: null", "own", ""},
		{"background: 0", "own", ""},
		{`background: "x"`, "own", "neither true nor false"},
		{"background: yes", "own background", ""},
		{"isolation: []", "own", ""},
		{"isolation: null", "own", ""},
		{"isolation: 0", "own", ""},
		{"isolation: x", "", "can't be had"},
		{"hooks: []", "own", "not used"},
		{"mcpServers: x", "own", "not used"},
		{"color: []\ncolor: x", "own", ""},
		{"message_handling: []", "own", ""},
		{"what is this", "own", ":2:1: its front matter"},
		{"description: a: b\n  user: \"c\": d", "own", ""},
		{"metadata:\n\tversion: 1", "own", ""},
	} {
		l := New(grown(t, map[string]string{"ws/.claude/agents/own.md": "---\n" + c.field + "\n---\nText."})).Now()
		got, notes := "", strings.Join(l.Broken, "\n")
		for _, i := range l.Items {
			if i.Kind != Agent {
				continue
			}
			r := i.Role
			got = i.Name
			if r.Tools != nil {
				got += " " + strings.Join(append([]string{"only"}, r.Tools...), " ")
			}
			if r.Not != nil {
				got += " not " + strings.Join(r.Not, " ")
			}
			if r.Mode != "" {
				got += " " + string(r.Mode)
			}
			if r.Steps > 0 {
				got += fmt.Sprint(" ", r.Steps)
			}
			if r.Background {
				got += " background"
			}
			notes += strings.Join(i.Notes, "\n")
		}
		if got != c.want || !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%q: %q, want %q; notes %q", c.field, got, c.want, notes)
		}
	}
	for field, want := range map[string]string{
		"disable-model-invocation: yes": "typed manual", "disable-model-invocation: x": "typed manual", "disable-model-invocation: []": "typed", "disable-model-invocation: 0": "typed", "disable-model-invocation:": "typed",
		"user-invocable: no": "", "user-invocable: x": "", "user-invocable: []": "typed", "user-invocable: 1": "typed", "user-invocable: null": "typed", "user-invocable: 0": "",
	} {
		l := New(grown(t, map[string]string{"ws/.claude/skills/own/SKILL.md": "---\n" + field + "\n---\nText."})).Now()
		i, got := l.Find(Skill, "own"), ""
		if i.Slash != "" {
			got = "typed"
		}
		if i.Manual {
			got += " manual"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
}

// TestRole: other tools' words about an agent become ours, and what would loosen is named and ignored.
func TestRole(t *testing.T) {
	o := grown(t, map[string]string{
		"ws/.claude/skills/house/SKILL.md": "---\ndescription: rules\n---\nTabs.\n",
		"ws/.claude/agents/r.md": "---\nname: r\ndescription: Reviews\ntools: Read, Grep, Bash(git *), WebFetch, mcp__x__y\ndisallowedTools: [Bash]\n" +
			"model: opus\npermissionMode: bypassPermissions\nmaxTurns: 7\nbackground: true\nskills: house, gone\nhooks:\n  Stop: []\n" +
			"message_handling:\n  default: queue\n---\n\nLook twice.\n",
		"ws/.claude/agents/p.md": "---\nname: p\ndescription: Plans\npermissionMode: plan\nmodel: sonnet-9\ntools: WebFetch\n---\nPlan.",
		"ws/.claude/agents/v.md": "---\nname: v\ndescription: V\nmodel: acp/claude\n---\nV.",
	})
	s := New(o)
	i := s.Now().Find(Agent, "r")
	role, model, err := s.Cast(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(role.Tools, role.Not, string(role.Mode), role.Steps, model, i.Role.Line, i.Role.Policy); got !=
		"[bash grep list_files mcp__x__y read_file] [bash]7anthropic/opus13message_handling:\n  default: queue\n" {
		t.Error(got)
	}
	if want := "Look twice.\n\n# Skill house (.claude/skills/house/SKILL.md; the paths in it begin in " + o.Root + "/.claude/skills/house)\n\nTabs."; role.Text != want {
		t.Errorf("%q", role.Text)
	}
	notes := strings.Join(i.Notes, "\n")
	for _, want := range []string{
		"r.md:4:1: tools names what is no tool here: WebFetch", "r.md:4:1: tools: what stands in brackets is not used, calls are judged as any other: Bash(git *)",
		"r.md:7:1: permissionMode bypassPermissions is not used: a file allows nothing", "r.md:11:1: hooks: not used here", "there is no skill gone",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	role, model, err = s.Cast(t.Context(), "p")
	if err != nil || role.Mode != permission.Plan || role.Tools == nil || len(role.Tools) != 0 || model != "" {
		t.Errorf("%+v %q %v", role, model, err)
	}
	if _, model, err := s.Cast(t.Context(), "v"); err != nil || model != "" {
		t.Errorf("a file sends work to another vendor: %q %v", model, err)
	}
	if _, _, err := s.Cast(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "there is p, r, v") {
		t.Error(err)
	}
}

// TestType: arguments, files and command lines are inserted, and inserted text is not expanded again.
func TestType(t *testing.T) {
	o := grown(t, map[string]string{
		"ws/a.txt": "A $1 @b.txt\n", "ws/.env": "KEY=1", "out.txt": "out", "ws/long.txt": strings.Repeat("y", 100<<10), "ws/bin": "a\x00b",
		"ws/.claude/commands/all.md":   "Fix $ARGUMENTS now",
		"ws/.claude/commands/each.md":  "$2 then $1, $ARGUMENTS[0] and $9.",
		"ws/.claude/commands/none.md":  "Just this",
		"ws/.claude/commands/file.md":  "See @a.txt and me@a.txt, `@a.txt`, @nobody\n```\n@a.txt\n```\n",
		"ws/.claude/commands/bad.md":   "@.env @../out.txt @long.txt @bin @.",
		"ws/.claude/commands/run.md":   "Diff: !`git diff $1`",
		"ws/.claude/skills/s/SKILL.md": "---\ndescription: x\nallowed-tools: Bash(*)\n---\nIn ${CLAUDE_SKILL_DIR}/x.sh",
		"ws/.claude/skills/f/SKILL.md": "---\ndescription: x\ncontext: fork\nagent: r\nmodel: opus\n---\nGo",
		"ws/.claude/skills/g/SKILL.md": "---\ndescription: x\ncontext: fork\nmodel: opus\nagent: Explore\n---\nGo",
		"ws/.claude/agents/r.md":       "---\nname: r\ndescription: x\n---\n",
	})
	s := New(o)
	text := func(name, args string) string {
		t.Helper()
		use, err := s.Type(t.Context(), name, args, Human)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(use.Text, ":\n\n")
		return body
	}
	for _, c := range []struct{ name, args, want string }{
		{"all", "the `!rm` @a.txt $1 bug", "Fix the `!rm` @a.txt $1 bug now"},
		{"each", `one "two three"`, "two three then one, one and ."},
		{"none", "", "Just this"},
		{"none", "with more", "Just this\n\nARGUMENTS: with more"},
		{"file", "", "See \n\n<file path=\"a.txt\">\nA $1 @b.txt\n</file>\n and me@a.txt, `@a.txt`, @nobody\n```\n@a.txt\n```"},
		{"run", "HEAD", "Diff: !`git diff $1` (not run: nothing runs it here)\n\nARGUMENTS: HEAD"},
	} {
		if got := text(c.name, c.args); got != c.want {
			t.Errorf("/%s %s:\n%q, want\n%q", c.name, c.args, got, c.want)
		}
	}
	bad := text("bad", "")
	for _, want := range []string{"@.env (not read: ", "@../out.txt (not read: it is outside of the workspace)", "it has 102400 bytes, the first 65536 stand here", "@bin (not read: it is no text)"} {
		if !strings.Contains(bad, want) {
			t.Errorf("no %q in %.300q", want, bad)
		}
	}
	if strings.Contains(bad, "KEY=1") {
		t.Error("a secret was read")
	}
	if use, err := s.Skill(t.Context(), "s", ""); err != nil || !strings.Contains(use.Text, "In "+o.Root+"/.claude/skills/s/x.sh") || !strings.HasPrefix(use.Text, "Skill s (.claude/skills/s/SKILL.md;") {
		t.Errorf("%q %v", use.Text, err)
	}
	if n := s.Now().Find(Skill, "s").Notes; len(n) != 1 || !strings.Contains(n[0], "SKILL.md:3:1: allowed-tools is not used: a file allows nothing") {
		t.Errorf("%q", n)
	}
	for name, model := range map[string]string{"f": "acp/r", "g": ""} {
		if use, err := s.Skill(t.Context(), name, "x"); err != nil || use.Task == nil || use.Task.Model != model || !strings.Contains(use.Task.Prompt, "ARGUMENTS: x") {
			t.Errorf("%s: %+v %v", name, use.Task, err)
		}
	}
	if _, err := s.Skill(t.Context(), "review", ""); err == nil || !strings.Contains(err.Error(), "only by people") {
		t.Error(err)
	}

	var ran []string
	s.Begin(func(_ context.Context, w Wanted) (string, error) {
		ran = append(ran, fmt.Sprintf("%s %q of %d, %v %q %v", w.Of.Source, w.Line, len(w.All), w.Typed, w.Words, w.Takes()))
		return "@a.txt $1\x1b[0m</output>\n", nil
	})
	if got := text("run", "HEAD"); got != "Diff: <output>@a.txt $1[0m<\\/output></output>" {
		t.Errorf("%q", got)
	}
	if want := []string{`.claude/commands/run.md "git diff $1" of 1, true ["HEAD"] true`}; !slices.Equal(ran, want) {
		t.Errorf("ran %q", ran)
	}
	s.Begin(func(context.Context, Wanted) (string, error) { return "", errors.New("not trusted") })
	if got := text("run", "HEAD"); !strings.Contains(got, "!`git diff $1` (not run: not trusted)") {
		t.Errorf("%q", got)
	}
}

// TestPieces: which parts of a text run. A code span and an example in a block do not; a block of its own, and a line
// by itself in any block, do. The pieces together are the text.
func TestPieces(t *testing.T) {
	for body, want := range map[string]string{
		"!`a`":                               "a",
		"x: !`a b`, and (!`c`)":              "a b|c",
		"say `!` and `b`":                    "",
		"``!`a` `` and `` !`b` ``":           "",
		"wow!`a`":                            "",
		"\\!`a`":                             "",
		"`!`a`":                              "",
		"```\nRun !`a` first\n```":           "",
		"```diff\n!`a`\n  !`b c`\n```\n!`d`": "a|b c|d",
		"````md\n```\nx !`a`\n```\ny !`b`\n````\n!`c`": "c",
		"```!\ngit status\ngit log\n```\n!`b`":         "git status\ngit log|b",
		"~~~!\na\n~~~":                                 "a",
		"```!\n```\n!`a`":                              "a",
		"```!\nnever ends":                             "",
		"!`a\nb`":                                      "",
		"!``":                                          "",
		"!` `":                                         "",
	} {
		var got []string
		whole := ""
		for _, p := range pieces(body) {
			if whole += p.text; p.line != "" {
				got = append(got, p.line)
			}
		}
		if strings.Join(got, "|") != want || whole != body {
			t.Errorf("%q runs %q, want %q; the pieces are %q", body, got, want, whole)
		}
	}
}

// TestOffer: the offer to models stays within its limits, is shortened before items are left out, and has no skills
// that are for people only.
func TestOffer(t *testing.T) {
	if o := New(grown(t, nil)).Offer(); !reflect.DeepEqual(*o, Offer{}) {
		t.Errorf("with nothing, models are told %+v", o)
	}
	for _, c := range []struct{ n, listed, short, left int }{{3, 3, 0, 0}, {60, 60, 60, 0}, {500, 89, 89, 411}} {
		files := map[string]string{
			"ws/.claude/skills/hid/SKILL.md": "---\ndescription: hidden\ndisable-model-invocation: true\n---\n",
			"ws/.claude/agents/r.md":         "---\nname: r\ndescription: Reviews\n---\n",
		}
		for n := range c.n {
			files[fmt.Sprintf("ws/.claude/skills/s%03d/SKILL.md", n)] = skill(strings.Repeat("word ", 40))
		}
		o := New(grown(t, files)).Offer()
		if o.Listed != c.listed || o.Short != c.short || o.Left != c.left || len(o.Skills) > maxSkills+500 || strings.Contains(o.Skills, "hidden") {
			t.Errorf("%d skills: listed %d, short %d, left %d, %d bytes", c.n, o.Listed, o.Short, o.Left, len(o.Skills))
		}
		if !strings.Contains(o.Agents, "- r: Reviews\n") {
			t.Errorf("%q", o.Agents)
		}
	}
}

// TestReread: written, changed and removed files show after the next look, and each is in a directory that Dirs
// returns.
func TestReread(t *testing.T) {
	o := grown(t, nil)
	s := New(o)
	for _, dir := range []string{o.Root, filepath.Join(o.Root, ".claude"), filepath.Join(o.Root, ".agents/skills")} {
		if !slices.Contains(s.Dirs(), dir) {
			t.Errorf("%s does not count among %q", dir, s.Dirs())
		}
	}
	dir := filepath.Join(o.Root, ".claude/skills/new")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(skill("new")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Reread()
	if !slices.Contains(s.Dirs(), dir) || s.Now().Find(Skill, "new") == nil || !s.Offers() {
		t.Errorf("%q", s.Dirs())
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.Reread()
	if s.Now().Find(Skill, "new") != nil || s.Offers() {
		t.Error("what is gone is still there")
	}
}

// TestFlat: a text that isFlat accepts is what the slow way would return.
func TestFlat(t *testing.T) {
	for s, want := range map[string]string{
		"": "", " ": "", "a": "a", "a b": "a b", " a": "a", "a ": "a", "a  b": "a b", "a\nb": "a b", "a\x1bb": "a\uFFFDb", "\u00e4 b": "\u00e4 b", "a\x7f": "a\uFFFD",
	} {
		if got := flat(s, 20); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}

// BenchmarkNew is a start with 500 skills.
func BenchmarkNew(b *testing.B) {
	dir := b.TempDir()
	for n := range 500 {
		d := filepath.Join(dir, fmt.Sprintf(".claude/skills/skill-%03d", n))
		if err := os.MkdirAll(d, 0o700); err != nil {
			b.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: skill-%03d\ndescription: Does this and that where somebody asks for it, and tells what came of it.\nlicense: MIT\n---\n%s", n, strings.Repeat("Do one thing after another.\n", 100))
		if err := os.WriteFile(filepath.Join(d, "SKILL.md"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	defer cpu(b)()
	for b.Loop() {
		if n := len(New(Options{Root: dir}).Now().Items); n != 503 {
			b.Fatal(n)
		}
	}
}

// cpu reports the processor time of each round of a benchmark, which other processes affect less than the clock's.
func cpu(b *testing.B) (done func()) {
	used := func() (n int64) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N)/1e6, "cpu-ms/op") }
}

func FuzzExpand(f *testing.F) {
	f.Add("$1 !`x` @a ${CLAUDE_SKILL_DIR}", "a b")
	f.Add("```\n@x\n``` $ARGUMENTS[99999999999999999999]", "\"")
	s := &Catalog{o: Options{Root: f.TempDir()}}
	f.Fuzz(func(t *testing.T, body, args string) {
		e := expansion{s: s, i: &Item{}, args: args}
		_, _ = e.expand(body)
	})
}

// TestCast_lines: the command lines of the skills that an agent begins with run as it is made, those of its own text
// do not.
func TestCast_lines(t *testing.T) {
	o := grown(t, map[string]string{
		"ws/.claude/skills/s/SKILL.md": "---\nname: s\ndescription: x\n---\nNow !`date`",
		"ws/.claude/agents/r.md":       "---\nname: r\ndescription: x\nskills: s\n---\nIn !`pwd`",
	})
	s := New(o)
	s.Begin(func(_ context.Context, w Wanted) (string, error) { return "ran " + w.Line, nil })
	role, _, err := s.Cast(t.Context(), "r")
	if err != nil || !strings.Contains(role.Text, "In !`pwd`") || !strings.Contains(role.Text, "Now <output>ran date</output>") {
		t.Errorf("%+v %v", role, err)
	}
}

// TestTouch: the items of a subdirectory are there once a tool touched it: never under a name that is taken, nor in
// the offer to all models; and its directories are watched.
func TestTouch(t *testing.T) {
	o := grown(t, map[string]string{
		"ws/.claude/skills/deploy/SKILL.md":              skill("of the root"),
		"home/.claude/skills/mine/SKILL.md":              skill("of the user"),
		"ws/packages/api/.claude/skills/deploy/SKILL.md": skill("of api"),
		"ws/packages/api/.agents/skills/mine/SKILL.md":   skill("of api"),
		"ws/packages/api/.claude/skills/check/SKILL.md":  skill("checks api"),
		"ws/packages/api/.claude/commands/up.md":         "Up.\n",
		"ws/packages/api/.claude/agents/worker.md":       "---\nname: worker\ndescription: x\n---\nx",
		"ws/packages/web/.claude/skills/check/SKILL.md":  skill("checks web"),
		"ws/packages/@o/.claude/skills/check/SKILL.md":   skill("checks o"),
		"ws/bare/a.txt": "a",
	})
	s := New(o)
	var heard []string
	s.Moves(func(dirs []string) { heard = dirs })
	before := s.Offer().Skills
	at := func(names ...string) (dirs []string) {
		for _, n := range names {
			dirs = append(dirs, filepath.Join(o.Root, n))
		}
		return dirs
	}
	if s.Now().Find(Skill, "check") != nil {
		t.Error("a skill of a directory below is there before a tool touched that")
	}
	s.Touch(at("packages", "packages/api"))
	s.Touch(append(at("packages", "packages/web", "packages/@o", "bare"), filepath.Dir(o.Root)))
	for name, about := range map[string]string{
		"deploy": "of the root", "mine": "of the user", "check": "checks api",
		"packages:api:deploy": "of api", "packages:api:mine": "of api", "packages:web:check": "checks web",
	} {
		if i := s.Now().Find(Skill, name); i == nil || i.About != about || i.Slash != name {
			t.Errorf("%s: %+v, want the one %s", name, i, about)
		}
	}
	if i := s.Now().Slash("up"); i == nil || i.Source != "packages/api/.claude/commands/up.md" {
		t.Errorf("the command is %+v", i)
	}
	for _, i := range s.Now().Items {
		if strings.Contains(i.Source, "@o") && !strings.Contains(i.Out, "shadowed by packages/api/.claude/skills/check/SKILL.md") || i.Kind == Agent {
			t.Errorf("%s: %+v", i.Source, i)
		}
	}
	offer := s.Offer()
	if offer.Skills != before {
		t.Errorf("all models are told of it:\n%s", offer.Skills)
	}
	var told []string
	for _, f := range offer.Fitting {
		told = append(told, f.Name+" "+strings.Join(regexp.MustCompile(`(?m)^- (.*):`).FindAllString(f.Text, -1), ""))
		if !f.Speaks(filepath.Join(f.Dir, "x/y")) || !f.Speaks(f.Dir) || f.Speaks(filepath.Join(o.Root, "bare/a.txt")) {
			t.Errorf("%s speaks of something else", f.Name)
		}
	}
	if want := []string{"packages/api/.agents/skills - packages:api:mine:", "packages/api/.claude/skills - check:- packages:api:deploy:", "packages/web/.claude/skills - packages:web:check:"}; !slices.Equal(told, want) {
		t.Errorf("who touched something there is told %q", told)
	}
	for _, dir := range at("bare", "packages/web/.claude/skills/check") {
		if !slices.Contains(heard, dir) {
			t.Errorf("%s is not among those where changes matter: %q", dir, heard)
		}
	}
	late := filepath.Join(o.Root, "bare/.claude/skills/late")
	if err := os.MkdirAll(late, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(late, "SKILL.md"), []byte(skill("late")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Reread()
	if s.Now().Find(Skill, "late") == nil || !slices.Contains(heard, late) {
		t.Errorf("what came later is not found, or not watched: %q", heard)
	}
}

// TestShelf_wide: of an endless tree of directories only a part is read, which is reported once.
func TestShelf_wide(t *testing.T) {
	o := grown(t, map[string]string{"ws/.claude/commands/a.md": "A.\n"})
	for a := range 50 {
		for b := range 50 {
			if err := os.MkdirAll(filepath.Join(o.Root, fmt.Sprintf(".claude/commands/d%d/d%d", a, b)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := New(o).Now()
	if want := []string{".claude/commands: more than 2000 files and directories lie below it, the rest is not read"}; !slices.Equal(l.Broken, want) || l.Find(Command, "a") == nil {
		t.Errorf("%q", l.Broken)
	}
}
