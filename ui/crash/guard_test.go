package crash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fantail/ui/cells"
)

// childEnv names what the test binary is to be as a child.
const childEnv = "FANTAIL_TEST_CHILD"

// TestMain is a child's main, where the environment names one.
func TestMain(m *testing.M) {
	if child := os.Getenv(childEnv); child != "" {
		beChild(child)
	}
	// The environment of the tests may ignore signals, as nohup does, and children inherit that; a child resets the
	// signals that are handled.
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(m.Run())
}

// beChild plays a program that fails or is signalled. It never returns.
func beChild(name string) {
	g := New(os.Environ(), Options{Out: os.Stderr, Exit: os.Exit, Clean: cells.Clean, Version: "1.2.3"})
	g.CrashIn(os.Getenv("CRASH_DIR"))
	g.AtEnd(func() { fmt.Println("restored") })
	switch name {
	case "goroutine":
		g.Go("the worker", func() {
			panic("lost the thread: " + os.Getenv("SOME_API_KEY"))
		})
	case "wild":
		g.Go("the worker", func() { panic("a title\x1b]0;owned\a and \u009b31m and \u202e") })
	case "concealed":
		Conceal()
		fmt.Print(dumpable())
		os.Exit(0)
	case "two":
		for range 20 {
			g.Go("one of many", func() { panic("all at once") })
		}
	case "hang":
		g.AtEnd(func() { select {} })
		g.AtEnd(func() { panic("the end fails too") })
		g.Go("the worker", func() {
			var none []int
			none[len(os.Args)] = 1
		})
	case "fatal":
		if err := g.Fatal(); err != nil {
			fmt.Println(err)
		}
		go func() { panic("in a goroutine of somebody else") }()
	case "after":
		if err := g.Fatal(); err != nil {
			fmt.Println(err)
		}
		g.Say()
		os.Exit(0)
	case "main":
		defer g.Catch("main")
		var p *Guard
		p.Say()
	case "signals":
		s := g.Watch(func() {
			fmt.Println("ending")
			g.Say()
			os.Exit(99)
		})
		_ = s
		fmt.Println("ready")
	case "stuck":
		g.Watch(func() { fmt.Println("ending") })
		fmt.Println("ready")
	}
	select {}
}

type child struct {
	cmd      *exec.Cmd
	dir      string
	out, err bytes.Buffer
	ready    chan struct{}
}

func startChild(t *testing.T, name string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), dir: t.TempDir(), ready: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childEnv+"="+name, "CRASH_DIR="+c.dir, "SOME_API_KEY=sk-very-secret-0123456789")
	c.cmd.Stdout = &watched{buf: &c.out, want: "ready", seen: c.ready}
	c.cmd.Stderr = &c.err
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// watched closes seen once want was written.
type watched struct {
	mu   sync.Mutex
	buf  *bytes.Buffer
	want string
	seen chan struct{}
	once sync.Once
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if strings.Contains(w.buf.String(), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

// wait returns the exit code.
func (c *child) wait(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode()
}

// crashes returns the crash files that the child wrote.
func (c *child) crashes(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.dir, "crash-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range paths {
		i, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if i.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", p, i.Mode())
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts
}

// A panic's value may hold text from anywhere; the last words go to a terminal, and crash files are read in one.
func TestPanicSteersNoTerminal(t *testing.T) {
	c := startChild(t, "wild")
	c.wait(t)
	for _, s := range append(c.crashes(t), c.err.String()) {
		if !strings.Contains(s, "a title") || strings.ContainsAny(s, "\x1b\a\u009b\u202e") {
			t.Errorf("%q", s)
		}
	}
}

func TestPanicInAGoroutineRestoresAndRecords(t *testing.T) {
	c := startChild(t, "goroutine")
	if code := c.wait(t); code != failed {
		t.Errorf("exit code %d", code)
	}
	if c.out.String() != "restored\n" {
		t.Errorf("standard output: %q", c.out.String())
	}
	files := c.crashes(t)
	if len(files) != 1 {
		t.Fatalf("%d crash files", len(files))
	}
	for _, want := range []string{"panic in the worker: lost the thread: [redacted: SOME_API_KEY]", "guard_test.go:", "time: ", "version: 1.2.3\n"} {
		if !strings.Contains(files[0], want) {
			t.Errorf("no %q in the crash file:\n%s", want, files[0])
		}
	}
	for _, s := range []string{files[0], c.err.String()} {
		if strings.Contains(s, "sk-very") {
			t.Errorf("the key is in it:\n%s", s)
		}
	}
	if !strings.Contains(c.err.String(), c.dir) || !strings.Contains(c.err.String(), "the worker") {
		t.Errorf("standard error names no file: %s", c.err.String())
	}
}

func TestPanicsAtOnceEndOnce(t *testing.T) {
	c := startChild(t, "two")
	if code := c.wait(t); code != failed || len(c.crashes(t)) != 1 || c.out.String() != "restored\n" {
		t.Errorf("exit code %d, %d crash files, output %q", code, len(c.crashes(t)), c.out.String())
	}
}

func TestPanicEndsThoughTheEndHangsAndFails(t *testing.T) {
	c := startChild(t, "hang")
	if code := c.wait(t); code != failed || len(c.crashes(t)) != 1 || c.out.String() != "restored\n" {
		t.Errorf("exit code %d, %d crash files, output %q", code, len(c.crashes(t)), c.out.String())
	}
}

func TestFatalErrorIsFoundByTheNextStart(t *testing.T) {
	c := startChild(t, "fatal")
	if code := c.wait(t); code != 2 || c.out.String() != "" {
		t.Errorf("exit code %d, output %q", code, c.out.String())
	}
	after := func() string {
		t.Helper()
		next := exec.Command(os.Args[0])
		next.Env = append(os.Environ(), childEnv+"=after", "CRASH_DIR="+c.dir)
		out, err := next.CombinedOutput()
		if err != nil {
			t.Errorf("the next start: %v", err)
		}
		return string(out)
	}
	said := after()
	files := c.crashes(t)
	if len(files) != 1 || !strings.Contains(files[0], "panic: in a goroutine of somebody else") {
		t.Fatalf("crash files %q", files)
	}
	if !strings.Contains(said, "(panic: in a goroutine of somebody else)") || !strings.Contains(said, filepath.Join(c.dir, "crash-")) {
		t.Errorf("the next start says %q", said)
	}
	if said := after(); said != "" {
		t.Errorf("the start after that says %q", said)
	}
}

func TestPanicInMain(t *testing.T) {
	c := startChild(t, "main")
	if code := c.wait(t); code != failed {
		t.Errorf("exit code %d", code)
	}
	if files := c.crashes(t); len(files) != 1 || !strings.Contains(files[0], "panic in main: runtime error: invalid memory address") {
		t.Errorf("crash files: %q", files)
	}
}

func TestFirstSignalEndsInOrder(t *testing.T) {
	for _, s := range ending() {
		sig := s.(syscall.Signal)
		t.Run(sig.String(), func(t *testing.T) {
			c := startChild(t, "signals")
			<-c.ready
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := c.wait(t); code != 99 {
				t.Errorf("exit code %d", code)
			}
			files := c.crashes(t)
			if want := slices.Contains(telling(), s); (len(files) == 1) != want {
				t.Errorf("%d crash files", len(files))
			} else if want && (!strings.Contains(files[0], "goroutine 1") || !strings.Contains(files[0], "beChild")) {
				t.Errorf("no stacks of all goroutines:\n%s", files[0])
			}
		})
	}
}

func TestSecondSignalAndDeadlineEndAtOnce(t *testing.T) {
	c := startChild(t, "stuck")
	<-c.ready
	began := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(t); code != 128+15 {
		t.Errorf("exit code %d", code)
	}
	if d := time.Since(began); d < time.Second {
		t.Errorf("a stuck end took %v", d)
	}
	if !strings.Contains(c.out.String(), "restored") {
		t.Errorf("not restored: %q", c.out.String())
	}

	// Once before the deadline is enough: a busy machine may be late.
	sooner := false
	for range 5 {
		c = startChild(t, "stuck")
		<-c.ready
		began = time.Now()
		// The same signal twice may arrive as one.
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
		}
		if code := c.wait(t); code != 128+2 && code != 128+15 {
			t.Errorf("exit code %d", code)
		}
		if sooner = time.Since(began) < time.Second; sooner {
			break
		}
	}
	if !sooner {
		t.Error("a second signal does not end it before the deadline")
	}
}
