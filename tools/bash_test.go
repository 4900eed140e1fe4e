package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"fantail/tools/permission"
	"fantail/tools/proc"
)

func TestBash(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/a.txt", "hello\n")
	c := parse(t, e, "bash", "command", "cat a.txt; pwd; echo $HOME")
	if c.Action.Kind != permission.Command || c.Action.Command != "cat a.txt; pwd; echo $HOME" || c.Action.Dir != e.Root || c.Beside != "" {
		t.Errorf("the action is %+v", c.Action)
	}
	r := c.Run(t.Context())
	if want := "hello\n" + e.Root + "\n" + e.home() + "\n"; r.Text != want || r.Error || *r.Exit != 0 || r.File != "" {
		t.Errorf("got %+v, want %q", r, want)
	}
	for command, want := range map[string]string{
		"echo x; exit 3": "x\n[exit code 3]", "true": "[no output]", "printf x; kill -KILL $$": "x\n[ended by the signal KILL]",
		"sleep 1000 & echo x": "x\n[processes left running in the background were ended with the command]",
		"printf 'a\\xffb'":    "a\uFFFDb", "cd /; true && pwd": "/\n",
	} {
		if r := do(t, e, "bash", "command", command); r.Text != want || r.Error != (*r.Exit != 0) {
			t.Errorf("%q gave %+v, want %q", command, r, want)
		}
	}
}

func TestBash_longOutputIsInAFileThatCanBeRead(t *testing.T) {
	e := place(t)
	var started, ticked string
	e.Started = func(_ context.Context, id, out string, _ proc.Group) error { started = id + " " + out; return nil }
	e.Tick = func(id, tail string) { ticked = id }
	r := ok(t, e, "bash", "command", "seq 1 100000")
	if len(r.Text) > 30<<10 || !strings.HasPrefix(r.Text, "1\n2\n") || !strings.HasSuffix(r.Text, "\n100000\n") || !strings.Contains(r.Text, r.File) {
		t.Errorf("the text has %d bytes", len(r.Text))
	}
	if r.File != e.Outputs+"/call-2.out" && r.File != e.Outputs+"/call.out" || started != "call "+r.File || ticked != "call" && ticked != "" {
		t.Errorf("file %q, started %q, ticked %q", r.File, started, ticked)
	}
	got := ok(t, e, "read_file", "path", r.File, "offset", 50000, "limit", 1)
	if !strings.HasPrefix(got.Text, "50000\t50000\n") {
		t.Errorf("the file's line 50000 is %q", got.Text)
	}
}

func TestBash_outputsAreNeverOverwritten(t *testing.T) {
	e := place(t)
	first := text(t, e.Outputs+"/call.out")
	r := ok(t, e, "bash", "command", "seq 1 100000")
	if r.File == e.Outputs+"/call.out" || text(t, e.Outputs+"/call.out") != first {
		t.Errorf("the output went to %s", r.File)
	}
	c, err := New().Parse(e, "../../evil/\x00id", "bash", args(t, "command", "seq 1 100000"))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Run(t.Context()); filepath.Dir(r.File) != e.Outputs {
		t.Errorf("a hostile id wrote to %s", r.File)
	}
}

func TestBash_timeoutAndStop(t *testing.T) {
	e := place(t)
	r := do(t, e, "bash", "command", "echo before; sleep 1000", "timeout", 1)
	if !r.Error || !strings.HasPrefix(r.Text, "before\n[ended after 1s") || *r.Exit != -1 {
		t.Errorf("got %+v", r)
	}
	says := e.Root + "/says"
	if err := syscall.Mkfifo(says, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan Result)
	go func() { done <- parse(t, e, "bash", "command", "echo before; echo x >says; sleep 1000").Run(ctx) }()
	_ = text(t, says) // opening waits for the writer
	stop()
	if r := <-done; !r.Error || r.Text != "before\n[stopped before it ended]" {
		t.Errorf("got %+v", r)
	}
}

func TestBash_noOutputDirectory(t *testing.T) {
	e := place(t)
	e.Outputs = e.Root + "/file/x"
	put(t, e.Root+"/file", "")
	if r := do(t, e, "bash", "command", "echo x"); !r.Error || !strings.Contains(r.Text, "directory for output") {
		t.Errorf("got %+v", r)
	}
	e.Outputs = ""
	if r := ok(t, e, "bash", "command", "echo x"); r.Text != "x\n" {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(e.Root + "/says"); err == nil {
		t.Error("something was left")
	}
}

// A rule reads the words of a command; links of the workspace must not make them another place.
func TestBash_rulesDoNotReachThroughLinks(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/a.txt", "a")
	put(t, e.Root+"/sub/b.txt", "b")
	put(t, e.Root+"/.git/hooks/x", "")
	link(t, "a.txt", e.Root+"/fine")
	link(t, "sub", e.Root+"/also")
	link(t, "../else/other.txt", e.Root+"/out.txt")
	link(t, "../../else", e.Root+"/sub/else")
	link(t, top(e)+"/home/.ssh", e.Root+"/docs")
	link(t, ".git/hooks", e.Root+"/hooks")
	link(t, top(e)+"/data/fantail.db", e.Root+"/notes.txt2")
	if err := os.Link(top(e)+"/home/.ssh/id_rsa", e.Root+"/readme.md"); err != nil {
		t.Fatal(err)
	}
	g, err := permission.NewGate(permission.Ask, []permission.Rule{"bash(cat *)", "bash(touch *)", "bash(ls *)", "bash(head *)"})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]permission.Decision{
		"cat a.txt fine also/b.txt": permission.Allow, "cat no-such-file": permission.Allow, "cd also && cat b.txt": permission.Allow, "ls sub al*": permission.Allow, "cat " + e.Root + "/fine": permission.Allow,
		"cat out.txt": permission.AskHuman, "cat " + e.Root + "/out.txt": permission.AskHuman, "cat ./sub/../out.txt": permission.AskHuman, "head -1 -- out.txt": permission.AskHuman, "cat < out.txt": permission.AskHuman, "cat o*": permission.AskHuman,
		"cat docs/config": permission.AskHuman, "cd docs && cat config": permission.AskHuman, "cat docs/*g": permission.AskHuman, "ls --x=docs": permission.AskHuman,
		"cd sub && cat else/other.txt": permission.AskHuman, "cd sub && ls el*": permission.AskHuman, "cd also; cd else; ls": permission.AskHuman, "timeout 5 cat out.txt": permission.AskHuman,
		"touch hooks/pre-commit": permission.AskHuman, "cat notes.txt2": permission.AskHuman, "cat readme.md": permission.AskHuman, "cat *.md": permission.AskHuman, "ls s*/e*/*": permission.AskHuman,
	} {
		v := g.Decide(parse(t, e, "bash", "command", command).Action)
		if v.Decision != want || want == permission.AskHuman && v.Rule != "" {
			t.Errorf("%s: %s, offers %q (%s), want %s", command, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// The touched files of a call are known once it has run: those that a command made and went to, and the paths of file
// tools.
func TestTouched(t *testing.T) {
	e := place(t)
	put(t, e.Root+"/a.txt", "hello\n")
	for _, c := range []struct {
		tool string
		args []any
		want []string
	}{
		{"bash", []any{"command", "mkdir -p made && cd made && touch x"}, []string{e.Root + "/made", e.Root + "/made/x"}},
		{"read_file", []any{"path", "a.txt"}, []string{e.Root + "/a.txt"}},
		{"list_messages", nil, nil},
	} {
		call := parse(t, e, c.tool, c.args...)
		if c.tool != "list_messages" {
			call.Run(t.Context())
		}
		if got := call.Touched(); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}
