package proc

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/tools/sandbox"
)

// walled returns a function that runs commands in a sandbox that is worth starting ahead, the Ahead that it uses, and
// the workspace.
func walled(t *testing.T, k sandbox.Kind) (run func(shell string, changes ...func(*Spec)) Result, a *Ahead, g sandbox.Workspace) {
	t.Helper()
	w := sandbox.Find(t.Context(), k)
	if w.Level() == sandbox.None {
		t.Skip(w.Why())
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g = sandbox.Workspace{Root: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch")}
	g.Private = []string{filepath.Join(g.Home, "private")}
	g.Kept = func() []string { return []string{filepath.Join(base, "work", ".vscode")} }
	for _, d := range []string{g.Root, g.Private[0], g.Scratch} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a = &Ahead{}
	t.Cleanup(a.Close)
	return func(shell string, changes ...func(*Spec)) Result {
		t.Helper()
		s := Spec{Shell: shell, Dir: g.Root, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home}, Ahead: a, Head: 1 << 16, Tail: 1 << 10}
		for _, c := range changes {
			c(&s)
		}
		if s.Box, err = w.Box(g, sandbox.Command, sandbox.Leave{}, s.Dir); err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), s)
		if err != nil {
			t.Fatalf("%s: %v", shell, err)
		}
		a.busy.Wait()
		return r
	}, a, g
}

// kinds are the sandboxes in which these tests run.
var kinds = []sandbox.Kind{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.Landlock}

// eachWall runs a test in each kind of sandbox.
func eachWall(t *testing.T, test func(*testing.T, sandbox.Kind)) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) { test(t, k) })
	}
}

// inKind reports whether the case of that number is tried in that kind of sandbox: in one of the three, and in all in
// a long run.
func inKind(i int, k sandbox.Kind) bool {
	return long.Wanted() || i%len(kinds) == slices.Index(kinds, k)
}

// one is the process that waits.
func (a *Ahead) one(t *testing.T) int {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) != 1 {
		t.Fatalf("%d commands wait, want 1", len(a.waiting))
	}
	return a.waiting[0].cmd.Process.Pid
}

// A command like the last one runs in the waiting shell, and can't be told from one that did not.
func TestAhead(t *testing.T) { eachWall(t, next) }

func next(t *testing.T, k sandbox.Kind) {
	run, a, _ := walled(t, k)
	const tells = `echo "$0 $# $- $SHLVL $PWD"; env | sort; ls -l /proc/self/fd | wc -l; tr '\0' ' ' < /proc/$$/cmdline; umask`
	first := run(tells)
	var next Result
	for tries := 1; ; tries++ {
		pid, ran := a.one(t), Group{}
		next = run(tells, func(s *Spec) {
			s.Started = func(g Group) error {
				ran = g
				return nil
			}
		})
		if ran.PGID == pid {
			break
		}
		// A socket that another program makes or closes meanwhile makes the sandbox different.
		if tries == 5 {
			t.Fatalf("%d ran, %d had waited, and so five times", ran.PGID, pid)
		}
		for len(a.waiting) > 0 {
			a.drop(a.waiting[0])
		}
		run(tells)
	}
	if first.Text != next.Text || first.Exit != 0 {
		t.Errorf("one that waited says\n%s\nthe one before it\n%s", next.Text, first.Text)
	}
	for i, text := range []string{
		"printf '%s\\n' a 'b  c' \"d\ne\"\n\n", "cat <<'X'\n\\ $HOME `x` \\\\\nX\n", "echo 'ÄÖ\xff\xfe'", "exit 7", "kill -TERM $$", "true # \\", "\n\n",
		"sleep 60 & echo left", "echo \"$FANTAIL_NEXT${FANTAIL_NEXT-unset}\"", "cat", "printf x; exec 2>&1; printf y >&2",
	} {
		if !inKind(i, k) {
			continue
		}
		want, got := run(text, func(s *Spec) { s.Ahead = nil }), run(text)
		want.Duration, got.Duration = 0, 0
		if want != got {
			t.Errorf("%q:\none that waited: %+v\none that did not: %+v", text, got, want)
		}
	}
}

// Whatever is not as it was is not run where it was.
func TestAhead_other(t *testing.T) { eachWall(t, other) }

func other(t *testing.T, k sandbox.Kind) {
	run, a, g := walled(t, k)
	cases := map[string]struct {
		change func() error
		spec   func(*Spec)
	}{
		"a hidden directory is another one": {change: func() error {
			if err := os.Rename(g.Private[0], g.Private[0]+"-old"); err != nil {
				return err
			}
			return os.Mkdir(g.Private[0], 0o700)
		}},
		"something is protected that was not there": {change: func() error { return os.Mkdir(filepath.Join(g.Root, ".vscode"), 0o700) }},
		"the workspace is another one": {change: func() error {
			if err := os.Rename(g.Root, g.Root+"-old"); err != nil {
				return err
			}
			return os.Mkdir(g.Root, 0o700)
		}},
		"the environment":                {spec: func(s *Spec) { s.Env = append(s.Env, "MORE=1") }},
		"the umask":                      {spec: func(s *Spec) { s.Umask = UmaskOf(0o077) }},
		"a long text":                    {spec: func(s *Spec) { s.Shell += strings.Repeat(" ", longest) }},
		"bytes that bash has for itself": {spec: func(s *Spec) { s.Shell += " '\x01'" }},
		"a start-up file":                {spec: func(s *Spec) { s.Env = append(s.Env, "BASH_ENV=/dev/null") }},
	}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if !inKind(i, k) {
			continue
		}
		c := cases[name]
		run("true")
		pid := 0
		for _, w := range a.waiting {
			pid = w.cmd.Process.Pid
		}
		if c.change != nil {
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
		}
		ran := 0
		run("true", func(s *Spec) {
			s.Started = func(g Group) error {
				ran = g.PGID
				return nil
			}
			if c.spec != nil {
				c.spec(s)
			}
		})
		if pid == 0 || ran == pid {
			t.Errorf("%s: %d ran, and had waited for a command before that", name, ran)
		}
		a.Close()
		a.closed = false
	}
}

// Waiting shells end when there are too many, when they are killed, when no command comes, and at the end.
func TestAhead_ends(t *testing.T) { eachWall(t, ends) }

func ends(t *testing.T, k sandbox.Kind) {
	run, a, _ := walled(t, k)
	gone := func(pid int) bool { _, there := Look(pid); return !there }
	run("true")
	first := a.one(t)
	for _, v := range []string{"A=1", "A=2", "A=3", "A=4"} {
		run("true", func(s *Spec) { s.Env = append(s.Env, v) })
	}
	if len(a.waiting) != maxAhead || !gone(first) {
		t.Errorf("%d wait, want %d; the first is gone: %t", len(a.waiting), maxAhead, gone(first))
	}
	killed := a.waiting[3]
	killed.late.Reset(time.Nanosecond)
	<-killed.exited
	a.mu.Lock() // it was removed from the waiting ones before it ended
	n := len(a.waiting)
	a.mu.Unlock()
	if n != maxAhead-1 {
		t.Errorf("after the time of one %d wait", n)
	}
	victim := a.waiting[0]
	if err := victim.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-victim.exited
	if r := run("echo runs", func(s *Spec) { s.Env = append(s.Env, "A=1") }); r.Text != "runs\n" {
		t.Errorf("in place of one that was killed: %+v", r)
	}
	last := a.waiting[0].cmd.Process.Pid
	a.Close()
	if !gone(last) || len(a.waiting) > 0 {
		t.Errorf("at the end %d wait", len(a.waiting))
	}
	if run("true"); len(a.waiting) > 0 {
		t.Error("after the end one waits")
	}
}
