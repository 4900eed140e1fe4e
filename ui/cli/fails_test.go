package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fantail/.ci/long"
	"fantail/store/paths"
	"fantail/ui"
	"fantail/ui/cells"
	"fantail/ui/crash"
	"fantail/ui/host"
	"fantail/ui/screen"
	"fantail/ui/shell"
)

// childEnv names what the test binary is to be as a child.
const childEnv = "FANTAIL_TEST_CHILD"

// beChild shows a screen that fails. It never returns.
func beChild(kind string) {
	g := crash.New(os.Environ(), crash.Options{Out: os.Stderr, Exit: os.Exit, Clean: cells.Clean, Version: screen.Version()})
	g.CrashIn(os.Getenv("CRASH_DIR"))
	broken := func() string { panic("the branch broke") }
	o := ui.Options{Environ: os.Environ(), Start: "builtin", Root: "/", Branch: func() string { return "" }}
	if kind == "command" {
		o.Branch = broken
	}
	log, err := host.Keep("", g.Go)
	if err != nil {
		panic(err)
	}
	open := func() error {
		switch kind {
		case "open":
			return errors.New("the database is upside down")
		case "goroutine":
			broken()
		case "host":
			// Once the screen stands and after its end could be reached.
			g.AtEnd(func() { select {} })
			g.Go("an agent", func() { broken() })
		}
		if wild, is := strings.CutPrefix(kind, "fault "); is && wild != "none" {
			_, _ = os.ReadFile(filepath.Join(os.Getenv("CRASH_DIR"), "go")) // waits
			fault(wild)
		}
		select {}
	}
	h := host.New(host.Options{
		Guard: g, Log: log,
		Screen: func(host.Hello) (ui.Options, error) { return o, nil },
		Open:   func(context.Context, host.Hello) (host.Workspace, error) { return host.Workspace{}, open() },
	})
	signals := g.Watch(func() { h.End(ok, "") })
	code, err := h.Alone(screen.Hello(nil, "/"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "fantail:", err)
		code = shell.ExitCode(err)
	}
	if n, signalled := signals.Code(); signalled {
		code = n
	}
	g.Exit(code)
}

func TestScreenThatFailsLeavesTheTerminalRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind string
		said string
		file bool
	}{
		{"command", "this screen failed; details are in ", true},
		{"goroutine", "this screen failed; details are in ", true},
		{"host", "the program failed (an agent): the branch broke", true},
		{"open", "the database is upside down", false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+c.kind, "CRASH_DIR="+dir, "TERM=xterm-256color")
			con := open(t, cmd)
			if code := con.exited(t); code != failed {
				t.Errorf("exit code %d", code)
			}
			con.restored(t)
			said := con.written()
			// Said on the main screen, where it stays.
			if at := strings.LastIndex(said, c.said); at < 0 || at < strings.LastIndex(said, "\x1b[?1049l") {
				t.Errorf("the terminal got %q", said)
			}
			files, err := filepath.Glob(filepath.Join(dir, "crash-*.txt"))
			if err != nil || c.file != (len(files) == 1) {
				t.Fatalf("crash files: %q, %v", files, err)
			}
			if !c.file {
				return
			}
			if text, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(text), "the branch broke") {
				t.Errorf("the crash file: %q, %v", text, err)
			}
		})
	}
}

// fault ends the program in a way that no program survives.
func fault(kind string) {
	switch kind {
	case "nil":
		go func() { var p *crash.Guard; p.Say() }()
	case "map":
		m := map[int]int{}
		for range 8 {
			go func() {
				for i := 0; ; i++ {
					m[i%64] = i
				}
			}()
		}
	case "stack":
		debug.SetMaxStack(1 << 20)
		var deep func(n int) int
		deep = func(n int) int { return deep(n+1) + 1 }
		go func() { _ = deep(0) }()
	case "exit":
		os.Exit(7) // somebody's, without asking
	}
}

// Whatever ends the program, the terminal is as it was: modes, screen, cursor,
// mouse, paste, keyboard. SIGPROF and the signals from 34 on are not here: the
// runtime takes them and does nothing, so the program goes on.
func TestTheTerminalIsRestored(t *testing.T) {
	t.Parallel()
	signals := []syscall.Signal{ // a short run tries the first of them
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGILL, syscall.SIGSYS, syscall.SIGTRAP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU,
	}
	try := func(name, kind string, sig syscall.Signal) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"=fault "+kind, "CRASH_DIR="+dir, "TERM=xterm-256color", "TMPDIR="+dir,
				"GOMAXPROCS=2") // with one, no two goroutines write a map at once
			if err := syscall.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
				t.Fatal(err)
			}
			con := open(t, cmd)
			before := con.found
			con.shows(t, "\x1b[?1049h")
			if raw := con.modes(t); raw == before {
				t.Fatal("the screen did not change the terminal's modes")
			}
			var err error
			if sig != 0 {
				err = cmd.Process.Signal(sig)
			} else {
				err = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600) // the fault waits for it
			}
			if err != nil {
				t.Fatal(err)
			}
			if code := con.exited(t); code == ok {
				t.Errorf("exit code %d", code)
			}
			con.restored(t)
			if after := con.modes(t); after != before {
				t.Errorf("the terminal's modes were %v and are %v", before, after)
			}
		})
	}
	for _, sig := range signals[:min(long.Times(6, len(signals)), len(signals))] {
		for n := range long.Times(1, 2) {
			try(fmt.Sprintf("%d-%d", int(sig), n), "none", sig)
		}
	}
	for _, kind := range []string{"nil", "map", "stack", "exit"} {
		try(kind, kind, 0)
	}
}

// The first screen after a crash tells what the runtime wrote first at its end, and where the rest is.
func TestLastCrashIsTold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, errs, code := s.run(t, "", "send", "main", "hello"); code != ok { // makes the workspace
		t.Fatal(out, errs)
	}
	if err := os.WriteFile(filepath.Join(s.data(t), "fatal.txt"), []byte("fatal error: concurrent map writes\n\ngoroutine 1 [running]:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, s.command())
	const said = "failed the last time (fatal error: concurrent map writes)"
	c.shows(t, said)
	c.typed(t, "/quit\r")
	if code := c.exited(t); code != ok {
		t.Errorf("exit code %d", code)
	}
	for _, pid := range s.hosts() {
		outlives(strconv.Itoa(pid)) // it ends by itself
	}
	log, err := os.ReadFile(filepath.Join(s.data(t), paths.HostLog))
	if want := said + "; details are in " + filepath.Join(s.data(t), "crash-"); err != nil || !strings.Contains(string(log), want) {
		t.Errorf("%v: the log has no %q:\n%s", err, want, log)
	}
}
