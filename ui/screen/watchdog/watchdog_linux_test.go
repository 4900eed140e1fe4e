package watchdog

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"fantail/ui/screen/tty"
)

// dies is what the process does when this one dies, and is waited for.
func (w *Watchdog) dies(t *testing.T) {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = w.process.Kill() })
	defer late.Stop()
	_ = w.pipe.Close()
	w.pipe = nil
	if state, err := w.process.Wait(); err != nil || !state.Exited() {
		t.Errorf("it ended with %v, %v", state, err)
	}
}

// sleeper returns a process in a group of its own that does nothing.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

// TestTerminal holds that a terminal is restored as it was if no other process could do that or has done it, and that
// no other terminal is touched.
func TestTerminal(t *testing.T) {
	t.Parallel()
	lives := func(*testing.T, *os.Process) {}
	killed := func(t *testing.T, p *os.Process) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		if err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Error(err)
		}
	}
	reaped := func(t *testing.T, p *os.Process) { killed(t, p); _, _ = p.Wait() }
	stopped := func(t *testing.T, p *os.Process) {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			t.Error(err)
		}
		if err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
			t.Error(err)
		}
	}
	dies := func(t *testing.T, w *Watchdog, _ Terminal) { w.dies(t) }
	const undo, advice = "undone", "stty sane"
	for _, c := range []struct {
		name  string
		host  func(*testing.T, *os.Process)
		raw   bool // the modes are still those of the screen
		lines bool // else: they are not raw at all
		does  func(*testing.T, *Watchdog, Terminal)
		back  bool // the modes are as they were
		says  string
	}{
		{"host dead", reaped, true, false, dies, true, undo + "\r\n"},
		{"host dead and not reaped", killed, true, false, dies, true, undo + "\r\n"},
		{"host stopped", stopped, true, false, dies, true, undo + "\r\n"},
		{"host lives", lives, true, false, dies, false, ""},
		{"the shell has its own modes", reaped, false, true, dies, false, undo + "\r\n"},
		{"the shell made its modes of the screen's", reaped, false, false, dies, false, undo + "\r\n" + advice + "\r\n"},
		{"restored", reaped, true, false, func(t *testing.T, w *Watchdog, _ Terminal) { w.Restored(); w.dies(t) }, false, ""},
		{"taken again", reaped, true, false, func(t *testing.T, w *Watchdog, has Terminal) { w.Restored(); w.Restores(has); w.dies(t) }, true, undo + "\r\n"},
		{"an orderly end", reaped, true, false, func(_ *testing.T, w *Watchdog, _ Terminal) { w.Leave() }, false, ""},
		{"an orderly end, stopped", reaped, true, false, func(t *testing.T, w *Watchdog, _ Terminal) { stopped(t, w.process); w.Leave() }, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			defer slave.Close()
			fd := int(slave.Fd())
			was, err := tty.Get(fd)
			if err != nil {
				t.Fatal(err)
			}
			is := was.Raw()
			if !c.raw {
				is = is.Signalled()
			}
			if c.lines {
				is = was.Signalled()
			}
			if err := is.Set(fd); err != nil {
				t.Fatal(err)
			}
			host, has := sleeper(t), Terminal{Was: was.Stty(), Raw: was.Raw().Stty(), Undo: undo, Advice: advice}
			has.Host = host.Process.Pid
			var w Watchdog
			if err := w.Start(fd); err != nil {
				t.Fatal(err)
			}
			p := w.process
			w.Restores(has)
			c.host(t, host.Process)
			c.does(t, &w, has)
			if err := p.Signal(syscall.Signal(0)); err == nil || w.PID() != 0 {
				t.Errorf("the watchdog goes on: %v", err)
			}
			now, err := tty.Get(fd)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]tty.Modes{true: was, false: is}[c.back]; now != want {
				t.Errorf("the modes are %s, want %s", now.Stty(), want.Stty())
			}
			if err := was.Raw().Set(fd); err != nil { // the mark below comes as it is
				t.Fatal(err)
			}
			if _, err := slave.WriteString("|"); err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			for buf := make([]byte, 1); !strings.HasSuffix(said.String(), "|"); {
				if _, err := io.ReadFull(master, buf); err != nil {
					t.Fatal(err)
				}
				said.Write(buf)
			}
			if got := strings.ReplaceAll(strings.TrimSuffix(said.String(), "|"), "\r\r\n", "\r\n"); got != c.says {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
}

// TestGroups holds that only the remaining groups are killed, and that the watchdog survives if all processes with the
// program's name on their command line are killed.
func TestGroups(t *testing.T) {
	t.Parallel()
	var w Watchdog
	if err := w.Start(-1); err != nil {
		t.Fatal(err)
	}
	all := []*exec.Cmd{sleeper(t), sleeper(t), sleeper(t)}
	for _, c := range all {
		w.Kills(c.Process.Pid)
	}
	w.Spares(all[1].Process.Pid)
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", w.PID()))
	if err != nil || strings.Contains(string(words), "fantail") {
		t.Errorf("its command line is %q, %v", words, err)
	}
	w.dies(t)
	for _, n := range []int{0, 2} {
		if state, err := all[n].Process.Wait(); err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("group %d: %v, %v", n, state, err)
		}
	}
	if err := all[1].Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the group that is spared: %v", err)
	}
}

// TestStart holds that the process has a session of its own, and is started once.
func TestStart(t *testing.T) {
	t.Parallel()
	var w, none Watchdog
	var nothing *Watchdog
	none.Restored()
	none.Leave()
	nothing.Restored()
	nothing.Leave()
	if err := w.Start(-1); err != nil {
		t.Fatal(err)
	}
	defer w.Leave()
	pid := w.PID()
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("process %d is of session %d, %v", pid, session, err)
	}
	if err := w.Start(-1); err != nil || w.PID() != pid {
		t.Errorf("started twice: processes %d and %d, %v", pid, w.PID(), err)
	}
}
