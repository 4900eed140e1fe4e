package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/agents/turn"
	"fantail/store"
	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/permission/shell"
	"fantail/tools/sandbox"
)

// walled is a workspace whose commands run in a sandbox, of those kinds or Landlock, and a directory beside it.
func walled(t *testing.T, mode permission.Mode, wall permission.Sandbox, kinds ...sandbox.Kind) (s setting, beside string) {
	t.Helper()
	if len(kinds) == 0 {
		kinds = []sandbox.Kind{sandbox.Landlock}
	}
	w := sandbox.Find(t.Context(), kinds...)
	if w.Level() == sandbox.None {
		t.Skip(w.Why())
	}
	base, err := os.MkdirTemp("/tmp", "walled-") // not in memory: there a sandbox has a place of its own
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(base)) })
	beside = filepath.Join(base, "beside")
	g := sandbox.Workspace{
		Root: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch"), Secret: shell.Sensitive,
	}
	for _, d := range []string{g.Root, g.Home, g.Scratch, beside, filepath.Join(g.Home, ".ssh")} {
		check(t, os.Mkdir(d, 0o700))
	}
	g.Kept = func() []string { return files.Protected(g.Root, nil, g.Home) }
	tree := files.ObeyedIn(g.Root, nil, g.Home)
	box := func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
		return w.Box(g, p, leave, g.Root)
	}
	watch := func(gate *permission.Gate) *turn.ProtectedFiles {
		return turn.NewProtectedFiles(turn.ProtectedOptions{
			Root: g.Root, Before: tree.Before, After: tree.After, Aside: filepath.Join(base, "aside"), Changes: gate.Changes(), Now: time.Now,
			Harmless: tree.Harmless,
		})
	}
	return setting{Dir: g.Root, Mode: mode, Wall: wall, Box: box, Kept: watch, Env: []string{"PATH=" + os.Getenv("PATH")}}, beside
}

// In mode auto a command runs unasked. What its sandbox keeps it from is one question, which names it; with a yes it
// runs again, and an answer for longer is one for longer.
func TestSandbox_auto(t *testing.T) {
	s, beside := walled(t, permission.Auto, permission.Prevents)
	w := open(t, &model{Reply: asking}, s)
	w.Prompt("run inside")
	w.Settle()
	if w.ran("inside") != 1 {
		t.Fatal("it did not run")
	}
	out, want := filepath.Join(beside, "x"), permission.WriteRule(beside)
	refused := func(c permission.Choice, ran int, reason ...string) {
		t.Helper()
		out += "x" // to make a file takes the right to change its directory
		w.Prompt("run " + out + "; false")
		q := w.asks("main")
		if q.Action.Kind != permission.Widen || q.Rule != want || !strings.Contains(q.Again, beside) || q.Auto {
			t.Fatalf("it asks %+v", q)
		}
		w.Answer(q.ID, c, reason...)
		w.Settle()
		if n := w.ran(out); n != ran {
			t.Errorf("after %s it ran %d times, want %d", c, n, ran)
		}
	}
	refused(permission.No, 0, "not there")
	if said := lastResult(w.Entries("main")); !strings.Contains(said, "[its sandbox keeps it from changing "+beside+"]") || !strings.Contains(said, "not there") {
		t.Errorf("the model was told %q", said)
	}
	refused(permission.Once, 1)
	refused(permission.Session, 1)
	w.Prompt("run " + out + "; false")
	w.Settle()
	if n := w.ran(out); n != 2 {
		t.Errorf("with the session's rule it ran %d times, want 2", n)
	}
	check(t, w.Pool.Clear(t.Context(), w.Main())) // and takes the rule back
	refused(permission.Project, 1)
	check(t, w.Pool.Clear(t.Context(), w.Main()))
	w.Close()
	w = open(t, &model{Reply: asking}, s)
	w.Prompt("run " + out + "; false")
	w.Settle()
	if n := w.ran(out); n != 2 {
		t.Errorf("with the project's rule it ran %d times after a restart, want 2", n)
	}
	check(t, w.DB.Read(t.Context(), func(rx *store.Rx) error {
		gs, err := store.Grants(&rx.View)
		if len(gs) != 1 || gs[0].Rule != string(want) {
			t.Errorf("the rows are %+v", gs)
		}
		return err
	}))
}

// lastResult is the text of the last result.
func lastResult(es []history.Entry) (text string) {
	for _, e := range es {
		if e.Result != nil {
			text = e.Result.Text
		}
	}
	return text
}

// Where commands ask, one that may run runs in its sandbox all the same, and a yes to it is none to what the sandbox
// keeps it from. A program that ends at the second question asks both again.
func TestSandbox_asks(t *testing.T) {
	s, beside := walled(t, permission.Ask, permission.Prevents)
	w := open(t, &model{Reply: asking}, s)
	asks := func(k permission.Kind) (q *event.Question) {
		t.Helper()
		w.Until("it asks, as "+string(k), func() bool {
			i := w.Info("main")
			q = i.Question
			return i.State == event.Asking && q != nil && q.Action.Kind == k
		})
		return q
	}
	out := filepath.Join(beside, "x")
	w.Prompt("run " + out + "; false")
	q := asks(permission.Command)
	if !q.Auto {
		t.Errorf("auto is not offered: %+v", q)
	}
	w.Answer(q.ID, permission.Once)
	asks(permission.Widen)
	w.Close()
	w = open(t, &model{Reply: asking}, s)
	w.Answer(asks(permission.Command).ID, permission.Once)
	w.Answer(asks(permission.Widen).ID, permission.Once)
	w.Settle()
	if n := w.ran(out); n != 1 {
		t.Errorf("it ran %d times, want once", n)
	}
}

// A question about a command that names a secret says so, and the model hears that a yes does not show it the secret.
func TestSandbox_secret(t *testing.T) {
	s, beside := walled(t, permission.Ask, permission.Prevents)
	w := open(t, &model{Reply: asking}, s)
	secret := filepath.Join(filepath.Dir(beside), "home", ".ssh")
	w.Prompt("run inside; ls " + secret)
	q := w.asks("main")
	if q.Action.Sensitive == "" || q.Auto {
		t.Errorf("it asks %+v", q)
	}
	w.Answer(q.ID, permission.Once)
	w.Settle()
	if said := lastResult(w.Entries("main")); !strings.Contains(said, "[its sandbox hides "+secret+" ") {
		t.Errorf("the model was told %q", said)
	}
	w.Prompt("run inside; ls")
	if q := w.asks("main"); q.Action.Sensitive != "" {
		t.Errorf("a harmless one is called sensitive: %s", q.Action.Sensitive)
	} else {
		w.Answer(q.ID, permission.No)
	}
	w.Settle()
}

// Mode auto is remembered for the workspace; leaving the mode is too.
func TestSandbox_freely(t *testing.T) {
	s, _ := walled(t, permission.Ask, permission.Prevents)
	w := open(t, &model{Reply: asking}, s)
	remembered := func(want permission.Mode) {
		t.Helper()
		if c, err := agents.RememberedChoices(t.Context(), w.DB, tasks.LoadLastingSeal(w.Dir)); err != nil || c.Mode != want {
			t.Errorf("remembered is %q, %v; want %q", c.Mode, err, want)
		}
	}
	w.Prompt("run inside")
	q := w.asks("main")
	if !q.Auto {
		t.Fatalf("auto is not offered: %+v", q)
	}
	check(t, w.Pool.SetMode(t.Context(), permission.Auto))
	w.Answer(q.ID, permission.Once)
	w.Settle()
	if w.ran("inside") != 1 {
		t.Error("it did not run")
	}
	remembered(permission.Auto)
	check(t, w.Pool.SetMode(t.Context(), permission.Plan))
	remembered("")
	check(t, w.Pool.SetMode(t.Context(), permission.Ask))
	w.Prompt("run inside; cat .env")
	if q := w.asks("main"); q.Auto {
		t.Error("auto is offered where it would ask too")
	} else {
		w.Answer(q.ID, permission.No)
	}
	w.Settle()
}

// Where the sandbox only detects, auto is not offered; where there is none, it can't be.
func TestSandbox_offered(t *testing.T) {
	for _, wall := range []permission.Sandbox{permission.NoSandbox, permission.Detects} {
		s, _ := walled(t, permission.Ask, wall)
		if wall == permission.NoSandbox {
			s.Box = nil
		}
		w := open(t, &model{Reply: asking}, s)
		w.Prompt("run inside")
		q := w.asks("main")
		if q.Auto {
			t.Errorf("auto is offered behind %v", wall)
		}
		if err := w.Pool.SetMode(t.Context(), permission.Auto); (err == nil) != (wall == permission.Detects) {
			t.Errorf("behind %v: %v", wall, err)
		}
		w.Answer(q.ID, permission.No)
		w.Settle()
	}
}

// In mode yolo a command runs as the user.
func TestSandbox_yolo(t *testing.T) {
	s, beside := walled(t, permission.Yolo, permission.Prevents)
	w := open(t, &model{Reply: asking}, s)
	out := filepath.Join(beside, "x")
	w.Prompt("run " + out + "; false")
	w.Settle()
	if n := w.ran(out); n != 1 {
		t.Errorf("it ran %d times, want once", n)
	}
}

// What a command changed of what is protected is asked about before any other command runs: it stays, or is put back.
func TestSandbox_kept(t *testing.T) {
	s, _ := walled(t, permission.Auto, permission.Detects)
	at := func(rel string) string { return filepath.Join(s.Dir, rel) }
	check(t, os.MkdirAll(at(".git/hooks"), 0o700))
	check(t, os.WriteFile(at(".git/config"), []byte("[core]\n"), 0o600))
	w := open(t, &model{Reply: asking}, s)
	tampers := func(file, says string, c permission.Choice) {
		t.Helper()
		w.Prompt("run " + file)
		q := w.asks("main")
		if q.Action.Kind != permission.Tamper || !strings.Contains(q.Again, says) || !strings.Contains(q.Action.Diff, "+ran") || q.Rule != "" {
			t.Fatalf("it asks %+v", q)
		}
		beside := "beside-" + strings.Trim(filepath.Base(file), ".")
		w.Push(beside, "run beside")
		w.Run(0)
		w.Until("another works", func() bool { return w.Info(beside).State == event.Running })
		if w.ran("beside") > 0 {
			t.Error("another agent's command ran while it was not decided")
		}
		w.Answer(q.ID, c)
		w.Settle()
		check(t, os.Remove(at("beside")))
	}
	tampers(".git/config", "changed .git/config", permission.No)
	if text, err := os.ReadFile(at(".git/config")); err != nil || string(text) != "[core]\n" {
		t.Errorf("put back, it holds %q, %v", text, err)
	}
	if said := lastResult(w.Entries("main")); !strings.Contains(said, "that was put back") {
		t.Errorf("the model was told %q", said)
	}
	tampers(".git/hooks/post-checkout", "made .git/hooks/post-checkout", permission.No)
	if _, err := os.Lstat(at(".git/hooks/post-checkout")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("put back, it is there: %v", err)
	}
	tampers(".mcp.json", "made .mcp.json", permission.Once)
	if w.ran(".mcp.json") != 1 {
		t.Error("kept, it is gone")
	}
	w.Prompt("run plain")
	w.Settle() // what was kept is not asked about again
	if w.ran("plain") != 1 {
		t.Error("it did not run")
	}
}

// Where nobody is there to be asked, and where the program ends before there is an answer, it is put back.
func TestSandbox_keptWithout(t *testing.T) {
	s, _ := walled(t, permission.Auto, permission.Detects)
	w := open(t, &model{Reply: asking}, s)
	w.Prompt("run .mcp.json")
	w.asks("main")
	w.Close()
	if _, err := os.Lstat(filepath.Join(s.Dir, ".mcp.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	w = open(t, &model{Reply: asking}, s)
	w.Settle()
	if said := lastResult(w.Entries("main")); !strings.Contains(said, "that was put back") {
		t.Errorf("the model was told %q", said)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(s.Dir), "aside", "*", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("put aside lies %q, %v", left, err)
	}
}

// TestSandbox_tracks: git notes what branches track, and nobody is asked. A command that does more can't have it write there.
func TestSandbox_tracks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for kind, wall := range map[sandbox.Kind]permission.Sandbox{sandbox.Bubblewrap: permission.Prevents, sandbox.Namespaces: permission.Prevents, sandbox.Landlock: permission.Detects} {
		t.Run(string(kind), func(t *testing.T) {
			s, beside := walled(t, permission.Auto, wall, kind)
			ours := func(args ...string) string {
				c := exec.Command("git", args...)
				c.Dir, c.Env = s.Dir, append(os.Environ(), "HOME="+beside, "GIT_CONFIG_NOSYSTEM=1")
				out, err := c.CombinedOutput()
				if err != nil && args[0] != "config" {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			ours("init", "-q", "-b", "main", "--template=")
			ours("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a")
			ours("init", "-q", "--bare", "--template=", filepath.Join(beside, "o.git"))
			ours("remote", "add", "origin", filepath.Join(beside, "o.git"))
			ours("push", "-q", "origin", "main:dev")
			bin := filepath.Join(s.Dir, "bin")
			check(t, os.Mkdir(bin, 0o700))
			check(t, os.WriteFile(filepath.Join(bin, "tail"), []byte("#!/bin/sh\n: >ran\n"), 0o700))
			s.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "BASH_ENV=" + filepath.Join(bin, "tail")}
			w := open(t, &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
				if len(results(req)) > 0 {
					return text("done"), nil
				}
				command, err := json.Marshal(asked(req))
				return call("a", "bash", `{"command":`+string(command)+`}`), err
			}}, s)
			for _, c := range []struct{ command, key, value string }{
				{"git checkout -b feat origin/dev", "branch.feat.merge", "refs/heads/dev"},
				{"git switch -q -c two origin/dev && git status -sb", "branch.two.remote", "origin"},
				{"git checkout -q -b three origin/dev | tail -1", "branch.three.merge", "refs/heads/dev"},
				{"git branch -m feat moved", "branch.moved.merge", "refs/heads/dev"},
				{"git branch -D moved", "branch.moved.merge", ""},
				{"git branch --unset-upstream two", "branch.two.merge", ""},
				{"git branch -u origin/dev two", "branch.two.merge", "refs/heads/dev"},
			} {
				w.Prompt(c.command)
				w.Settle()
				if got := ours("config", c.key); got != c.value {
					t.Errorf("%s: %s is %q; %s", c.command, c.key, got, lastResult(w.Entries("main")))
				}
				if said := lastResult(w.Entries("main")); strings.Contains(said, "sandbox") || strings.Contains(said, "put back") {
					t.Errorf("%s: %s", c.command, said)
				}
			}
			if _, err := os.Stat(filepath.Join(s.Dir, "ran")); err == nil {
				t.Error("a program of the workspace ran where git may write its configuration")
			}
			if wall != permission.Prevents {
				return
			}
			w.Prompt("git checkout -q -b more origin/dev; git config core.fsmonitor ./x; true")
			w.Settle()
			if said := lastResult(w.Entries("main")); ours("config", "core.fsmonitor") != "" || ours("config", "branch.more.merge") != "" || !strings.Contains(said, "its sandbox keeps it from changing") {
				t.Errorf("with more beside it: %s", said)
			}
		})
	}
}
