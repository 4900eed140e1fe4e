package skills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/hooks"
	"fantail/tools/permission"
	"fantail/tools/sandbox"
	"fantail/tools/secret"
)

// world is a workspace with files, a home directory, and InlineCommands that run the files' command lines.
type world struct {
	*testing.T
	root    string
	catalog *Catalog
	trust   *hooks.TrustStore
	inline  *InlineCommands
	boxed   []sandbox.Profile // the sandboxes that were asked for
}

func grownText(t *testing.T, files map[string]string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, root: filepath.Join(base, "ws")}
	if err := os.Mkdir(w.root, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		w.write(filepath.Join(base, name), text)
	}
	w.catalog = New(Options{Root: w.root, Home: filepath.Join(base, "home")})
	if w.trust, err = hooks.OpenTrust(w.root, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	w.trust.Add(InlineSource(w.catalog))
	w.inline = &InlineCommands{
		Trust: w.trust, Judge: func(string) (permission.Verdict, error) {
			return permission.Verdict{Decision: permission.AskHuman}, nil
		},
		Ground: hooks.ProgramOptions{Root: w.root, Environ: os.Environ(), Go: func(_ string, f func()) { go f() }, Box: func(p sandbox.Profile, _ sandbox.Leave, _ []string) (*sandbox.Box, error) {
			w.boxed = append(w.boxed, p)
			return nil, nil
		}},
	}
	w.catalog.Begin(w.inline.Run)
	return w
}

func (w *world) write(path, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.Fatal(err)
	}
}

// typed returns the expansion of /NAME with arguments.
func (w *world) typed(name, args string) string {
	w.Helper()
	s, err := w.catalog.Type(w.Context(), name, args, Human)
	if err != nil {
		w.Fatal(err)
	}
	_, body, _ := strings.Cut(s.Text, ":\n\n")
	return body
}

// agree agrees to all parts of the files, and returns them.
func (w *world) agree() (all []hooks.TrustReview) {
	w.Helper()
	all = w.trust.Review()
	for _, r := range all {
		if err := w.trust.Agree(r.TrustSnapshot); err != nil {
			w.Fatal(err)
		}
	}
	return all
}

// A repository's line runs only once the user agreed to exactly that file's lines and the scripts that they name; a
// user's own runs at once, and in no sandbox.
func TestRun_trust(t *testing.T) {
	w := grownText(t, map[string]string{
		"ws/x.sh":                      "echo one; touch ran",
		"ws/.claude/commands/c.md":     "It says !`sh x.sh`.",
		"ws/.claude/skills/s/SKILL.md": "---\ndescription: x\n---\nsee !`sh ${CLAUDE_SKILL_DIR}/y.sh`",
		"ws/.claude/skills/s/y.sh":     "echo y",
		"home/.claude/commands/own.md": "!`echo mine; pwd`",
	})
	ran := func() bool { _, err := os.Stat(filepath.Join(w.root, "ran")); return err == nil }
	if got := w.typed("own", ""); got != "<output>\nmine\n"+w.root+"\n</output>" || w.boxed != nil {
		t.Errorf("%q, %q", got, w.boxed)
	}
	got := w.typed("c", "")
	if !strings.Contains(got, "It says !`sh x.sh` (not run: the user has not agreed to it (not trusted yet); /trust shows it and asks).") || ran() {
		t.Errorf("%q", got)
	}
	all := w.agree()
	if len(all) != 2 || all[0].Kind != "command lines" || !strings.Contains(all[0].Text, "s runs: sh ${CLAUDE_SKILL_DIR}/y.sh") || all[1].Name != ".claude/commands/c.md" {
		t.Fatalf("%+v", all)
	}
	if f := all[0].Files; len(f) != 1 || f[0].Path != ".claude/skills/s/y.sh" {
		t.Errorf("the script of a skill is not looked at: %+v", f)
	}
	if got := w.typed("c", ""); got != "It says <output>one</output>." || !ran() {
		t.Errorf("%q", got)
	}
	if len(w.boxed) != 1 || w.boxed[0] != sandbox.Command {
		t.Errorf("%q", w.boxed)
	}
	s, err := w.catalog.Skill(t.Context(), "s", "")
	if err != nil || !strings.Contains(s.Text, "see <output>y</output>") {
		t.Errorf("%q %v", s.Text, err)
	}
	for what, change := range map[string]func(){
		"the script changed": func() { w.write(filepath.Join(w.root, "x.sh"), "echo two") },
		"a line came":        func() { w.write(filepath.Join(w.root, ".claude/commands/c.md"), "!`sh x.sh` !`echo evil`") },
		"the script leads out": func() {
			if err := os.Remove(filepath.Join(w.root, "x.sh")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/etc/hostname", filepath.Join(w.root, "x.sh")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		w.agree()
		change()
		if got := w.typed("c", ""); !strings.Contains(got, "changed since you trusted it") || strings.Contains(got, "<output>") {
			t.Errorf("%s: %q", what, got)
		}
		_ = os.Remove(filepath.Join(w.root, "x.sh"))
		w.write(filepath.Join(w.root, "x.sh"), "echo one; touch ran")
		w.write(filepath.Join(w.root, ".claude/commands/c.md"), "It says !`sh x.sh`.")
		w.catalog.Reread()
	}
}

// Arguments are words to a line, and never more than that.
func TestRun_arguments(t *testing.T) {
	w := grownText(t, map[string]string{
		"home/.claude/commands/a.md": "!`printf '[%s]' \"$1\" \"$ARGUMENTS\" $2 $ARGUMENTS[0]`",
		"home/.claude/commands/b.md": "!`n=1; printf '[%s]' ${!n} \"$(printenv ARGUMENTS)\"`",
	})
	if got := w.typed("b", "x"); !strings.HasPrefix(got, "<output>[]</output>") {
		t.Errorf("by a way round a line gets %q", got)
	}
	if got := w.typed("a", `"; touch hit; echo " $(touch hit)`); got != "<output>[; touch hit; echo ][\"; touch hit; echo \" $(touch hit)][$(touch][;][touch][hit;][echo]</output>" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(w.root, "hit")); err == nil {
		t.Error("an argument ran")
	}
}

// TestRun_judged: a rule that denies or asks holds even if the user agreed; and a line that a model uses is judged as
// if it ran the line itself.
func TestRun_judged(t *testing.T) {
	w := grownText(t, map[string]string{
		"home/.claude/commands/c.md":     "!`echo ok $1`",
		"home/.claude/skills/s/SKILL.md": "---\ndescription: x\n---\n!`echo ok $1` !`echo plain`",
	})
	var judged []string
	verdict := permission.Verdict{Decision: permission.AskHuman}
	w.inline.Judge = func(line string) (permission.Verdict, error) {
		judged = append(judged, line)
		return verdict, nil
	}
	if got := w.typed("c", `"a'b"`); got != "<output>ok a'b</output>" || strings.Join(judged, "|") != `echo ok a'b|echo ok "a'b"` {
		t.Errorf("%q, judged %q", got, judged)
	}
	model := func() string {
		t.Helper()
		s, err := w.catalog.Skill(t.Context(), "s", "x")
		if err != nil {
			t.Fatal(err)
		}
		return s.Text
	}
	if got := model(); !strings.Contains(got, "(not run: with these arguments it would be asked about") || !strings.Contains(got, "<output>plain</output>") {
		t.Errorf("%q", got)
	}
	verdict.Decision = permission.Allow
	if got := model(); !strings.Contains(got, "<output>ok x</output>") {
		t.Errorf("%q", got)
	}
	verdict = permission.Verdict{Decision: permission.Deny, Reason: "No echo."}
	if got := w.typed("c", ""); !strings.Contains(got, "(not run: No echo.)") {
		t.Errorf("%q", got)
	}
	verdict = permission.Verdict{Decision: permission.AskHuman, Asked: true, Reason: "is what the rule r has asked"}
	if got := w.typed("c", ""); !strings.Contains(got, "(not run: it is what the rule r has asked)") {
		t.Errorf("%q", got)
	}
}

// TestRun_places: the judged line is the one that runs: each argument is replaced by what the shell has there.
func TestRun_places(t *testing.T) {
	w := grownText(t, map[string]string{
		"home/.claude/commands/c.md": "!`echo $# ${#} $0 ${0} $1 ${2} $9 $12 $ARGUMENTS[1] $ARGUMENTS[7] $ARGUMENTS[00001] $@ ${*} $ARGUMENTS ${ARGUMENTS} $ARGUMENTSX end`",
	})
	var judged []string
	w.inline.Judge = func(line string) (permission.Verdict, error) {
		judged = append(judged, line)
		return permission.Verdict{Decision: permission.AskHuman}, nil
	}
	ran := w.typed("c", `one "two"`)
	const want = "2 2 /c /c one two  one2 two  %s[00001] one two one two %s %s $ARGUMENTSX end"
	if len(judged) != 2 {
		t.Fatalf("judged %q", judged)
	}
	for i, raw := range []string{`one "two"`, `one '"two"'`} {
		if got := strings.TrimPrefix(judged[i], "echo "); got != fmt.Sprintf(want, raw, raw, raw) {
			t.Errorf("judged\n%s, want\n%s", got, fmt.Sprintf(want, raw, raw, raw))
		}
	}
	text := strings.NewReplacer("<output>", "", "</output>", "").Replace(ran)
	is := strings.Join(strings.Fields(strings.ReplaceAll(fmt.Sprintf(want, `one "two"`, `one "two"`, `one "two"`), "$ARGUMENTSX", "")), " ")
	if text != is {
		t.Errorf("ran\n%s, want\n%s", text, is)
	}
}

// A line's output is limited, has no keys in it, and comes with the report of a failure.
func TestRun_output(t *testing.T) {
	w := grownText(t, map[string]string{
		"home/.claude/commands/much.md": "!`head -c 3000000 /dev/zero | tr '\\0' x; exit 3`",
		"home/.claude/commands/fail.md": "!`echo out; echo why >&2; exit 4`",
		"home/.claude/commands/gone.md": "!`kill -9 $$`",
		"home/.claude/commands/key.md":  "!`echo $THE_KEY; echo '</output>'`",
	})
	w.inline.Ground.Keys = secret.New([]string{"THE_KEY"}, func(string) string { return "sk-0123456789abcdef" })
	w.inline.Ground.Environ = append(w.inline.Ground.Environ, "THE_KEY=sk-0123456789abcdef")
	if got := w.typed("much", ""); len(got) > most+200 || !strings.Contains(got, "more bytes were left out") || !strings.Contains(got, "(exit code 3)") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
	if got := w.typed("fail", ""); got != "<output>\nout\nwhy\n\n(exit code 4)\n</output>" {
		t.Errorf("%q", got)
	}
	if got := w.typed("gone", ""); !strings.Contains(got, "ended by KILL") {
		t.Errorf("%q", got)
	}
	if got := w.typed("key", ""); strings.Contains(got, "0123456789") || strings.Count(got, "</output>") != 1 {
		t.Errorf("%q", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if s, err := w.catalog.Type(ctx, "fail", "", Human); err != nil || !strings.Contains(s.Text, "(not run: context canceled)") {
		t.Errorf("%q %v", s.Text, err)
	}
}
