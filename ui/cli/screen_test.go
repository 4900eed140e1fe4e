package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// home is what the status line shows in main's tab.
const home = "[Agent: main"

// ready is in it once the agents are there.
const ready = "builtin · "

func TestSignalsLeaveTheTerminalRight(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newSite(t)
			first := s.fifo(t, "started")
			c := open(t, s.command("--yolo"))
			c.until(t, home, ready)
			c.typed(t, "run echo $$ > started; exec sleep 600\r")
			pid := first(c)
			if err := c.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			code, took := c.exited(t)
			if code != 128+int(sig) || took > 2*time.Second {
				t.Errorf("exit code %d after %v", code, took)
			}
			c.restored(t)
			if outlives(pid) {
				t.Errorf("the command (process %s) still runs", pid)
			}
			crashes, _ := filepath.Glob(filepath.Join(s.data(t), "crash-*"))
			if want := sig == syscall.SIGQUIT; (len(crashes) == 1) != want {
				t.Errorf("crash files: %q", crashes)
			}
			// The next start goes on from there.
			again := open(t, s.command())
			again.until(t, home, "sleep 600")
		})
	}
}

// outlives reports whether the process still runs some time after it was signalled.
func outlives(pid string) bool {
	late := time.NewTimer(3 * time.Second)
	defer late.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for alive(pid) {
		select {
		case <-late.C:
			return true
		case <-again.C:
		}
	}
	return false
}

// alive reports whether the process exists and is no zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// data is the workspace's data directory.
func (s *site) data(t testing.TB) string {
	t.Helper()
	for _, e := range s.env {
		if dir, found := strings.CutPrefix(e, "XDG_DATA_HOME="); found {
			paths, err := filepath.Glob(filepath.Join(dir, "fantail", "*"))
			if err != nil || len(paths) != 1 {
				t.Fatalf("data directories: %q, %v", paths, err)
			}
			return paths[0]
		}
	}
	t.Fatal("no data directory")
	return ""
}

func TestClosedTerminalEndsTheProgram(t *testing.T) {
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	if err := c.tty.Close(); err != nil {
		t.Fatal(err)
	}
	code, took := c.exited(t)
	if code != 128+int(syscall.SIGHUP) || took > 2*time.Second {
		t.Errorf("exit code %d after %v", code, took)
	}
}

func TestSecondStartIsRefusedAndPrintWorksBeside(t *testing.T) {
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)

	second := open(t, s.command())
	code, _ := second.exited(t)
	said := second.written()
	if code != failed || !strings.Contains(said, fmt.Sprintf("process %d, since ", c.cmd.Process.Pid)) || !strings.Contains(said, "-p") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if strings.Contains(said, "\x1b[?1049h") {
		t.Error("the refused start took the screen")
	}

	out, errs, code := s.run(t, "", "-p", "say beside")
	if code != ok || !strings.Contains(out, "beside") || !strings.Contains(errs, "temporary") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	// Nothing stays of the temporary database.
	for _, e := range s.env {
		if dir, found := strings.CutPrefix(e, "TMPDIR="); found {
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		}
	}

	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.exited(t)
	third := open(t, s.command())
	third.until(t, home)
	if strings.Contains(third.text(), "beside") {
		t.Errorf("the temporary run is in the workspace's history:\n%s", third.text())
	}
}

func TestKilledProgramReportsItsTaskOnce(t *testing.T) {
	s := newSite(t)
	first := s.fifo(t, "started")
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	// It gives the program time to record that it runs.
	c.typed(t, "/push name=slow run echo partial; sleep 0.5; echo $$ > started; exec sleep 600\r")
	c.until(t, "1 queued")
	c.typed(t, "/run\r")
	pid := first(c)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.exited(t)

	again := open(t, s.command())
	again.until(t, home, "1 pending]")
	if outlives(pid) {
		t.Errorf("the command (process %s) still runs", pid)
	}
	if err := again.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	again.exited(t)
	// A second crash and recovery deposits nothing more.
	once := open(t, s.command())
	once.until(t, home, "1 pending]", ready)
	once.typed(t, "/check\r")
	once.until(t, "slow", "crashed")
	once.until(t, home+"]")
	if err := once.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	once.exited(t)
	once.restored(t)
}

func TestQuitCommandEndsWithZero(t *testing.T) {
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	c.typed(t, "/quit\r")
	if code, _ := c.exited(t); code != ok {
		t.Errorf("exit code %d; the terminal got %q", code, c.written())
	}
	c.restored(t)
}
