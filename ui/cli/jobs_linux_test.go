package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/tools/proc"
	"fantail/ui/screen/tty"
)

// shells are those in which a screen is started as a human does.
var shells = []struct {
	name string
	args []string
}{
	{"bash", []string{"--norc", "--noprofile", "-i"}},
	{"zsh", []string{"-f", "-i"}},
}

// shelled is an interactive shell on a terminal.
type shelled struct {
	*console
	site    *site
	asks    tty.Modes // the terminal's while the shell reads a line
	gives   string    // and those it gives to commands, as stty spells them
	answers int
}

// inShells runs a test in each shell that is installed; a short run tries the first.
func inShells(t *testing.T, test func(t *testing.T, in *shelled)) {
	t.Parallel()
	for _, sh := range shells[:min(long.Times(1, len(shells)), len(shells))] {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(sh.name)
			if err != nil {
				t.Skipf("%s is not installed", sh.name)
			}
			test(t, newSite(t).shell(t, path, sh.args...))
		})
	}
}

// shell starts a shell in the workspace.
func (s *site) shell(t *testing.T, path string, args ...string) *shelled {
	t.Helper()
	c := exec.Command(path, args...)
	c.Dir, c.Env = s.dir, append([]string{"PS1=at ease> ", "HISTFILE="}, s.env...)
	in := &shelled{console: open(t, c), site: s}
	in.until(t, "at ease>")
	in.asks = in.modes(t)
	in.gives = in.given(t)
	return in
}

// reads checks that keys reach the shell.
func (in *shelled) reads(t *testing.T) {
	t.Helper()
	in.answers++
	in.typed(t, fmt.Sprintf("echo key-$((%d*1000+7))\r", in.answers))
	in.until(t, fmt.Sprintf("key-%d007", in.answers))
}

// given are the modes that the shell gives to commands.
func (in *shelled) given(t *testing.T) string {
	t.Helper()
	in.typed(t, "stty -g >modes\r")
	in.reads(t)
	text, err := os.ReadFile(filepath.Join(in.site.dir, "modes"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// starts starts the program and returns its process, once it shows the agents.
func (in *shelled) starts(t *testing.T) (pid int) {
	t.Helper()
	in.typed(t, in.site.typed()+"\r")
	in.until(t, home, ready)
	// What the terminal answered to the program's questions was read, or it would be the shell's.
	in.typed(t, "x")
	in.until(t, "› x")
	in.typed(t, "\x15")
	in.until(t, "!› x")
	return in.job(t)
}

// job is the process that the shell runs.
func (in *shelled) job(t *testing.T) (pid int) {
	t.Helper()
	shell := strconv.Itoa(in.cmd.Process.Pid)
	holds(t, "the shell runs a program", func() bool {
		list, err := os.ReadFile(filepath.Join("/proc", shell, "task", shell, "children"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(string(list), &pid)
		return pid > 0
	})
	return pid
}

// asksAgain checks that the shell reads lines again, with its own modes, in time, and that what it
// runs gets those that it got before.
func (in *shelled) asksAgain(t *testing.T) {
	t.Helper()
	if !comes(func() bool { return in.modes(t) == in.asks }, wait) {
		t.Errorf("the shell's modes were %s and are %s", in.asks, in.modes(t))
	}
	in.reads(t)
	if now := in.given(t); now != in.gives {
		t.Errorf("the shell gave the modes %s and gives %s", in.gives, now)
	}
}

// shown waits for the screen to have the terminal.
func (in *shelled) shown(t *testing.T) {
	t.Helper()
	in.until(t, home, ready, "!at ease>")
	holds(t, "the modes are the screen's", func() bool { return in.modes(t) == in.found.Raw() })
}

// undone waits for the host to undo what a killed screen had set. The shell may have set its own
// meanwhile.
func (in *shelled) undone(t *testing.T, killed int) {
	t.Helper()
	const said = "fantail: this screen was killed"
	if !comes(func() bool { return strings.Count(in.written(), said) == killed }, wait) {
		t.Fatalf("nothing is undone after kill %d: %q", killed, tail(in.written()))
	}
	for _, wrong := range leftovers(in.written()) {
		if !strings.HasPrefix(wrong, "bracketed paste") {
			t.Error(wrong)
		}
	}
}

// TestKilledScreenInAShell: whoever kills a screen has the shell back, and every key goes there.
func TestKilledScreenInAShell(t *testing.T) {
	inShells(t, func(t *testing.T, in *shelled) {
		host := 0
		for n := range long.Times(2, 4) {
			pid := in.starts(t)
			if host == 0 {
				host = in.site.host(t)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			in.undone(t, n+1)
			if strings.HasSuffix(in.cmd.Path, "/zsh") && !comes(func() bool { return in.modes(t) == in.asks }, 3*time.Second) {
				// It was faster than the host, and is told so.
				t.Log("zsh kept the modes of the screen")
				in.shows(t, "stty sane")
				in.typed(t, "stty "+in.gives+"\r")
			}
			in.asksAgain(t)
		}
		if now := in.site.host(t); now != host {
			t.Errorf("the host was %d and is %d", host, now)
		}
	})
}

// TestJobControl: however a screen is stopped the shell has the terminal, and the screen has it
// again once it is continued in the foreground.
func TestJobControl(t *testing.T) {
	inShells(t, func(t *testing.T, in *shelled) {
		pid := in.starts(t)
		send := func(sig syscall.Signal) {
			t.Helper()
			if err := syscall.Kill(pid, sig); err != nil {
				t.Fatal(err)
			}
		}
		stopped := func(what string) {
			t.Helper()
			holds(t, "it is stopped by "+what, func() bool {
				p, _ := proc.Look(pid)
				return p.State == 'T' && p.Foreground != p.Group
			})
			in.asksAgain(t)
		}
		for _, stop := range []struct {
			name   string
			do     func()
			undoes bool // there was somebody to ask
		}{
			{"Ctrl+Z", func() { in.typed(t, "\x1a") }, true},
			{"SIGTSTP", func() { send(syscall.SIGTSTP) }, true},
			{"SIGSTOP", func() { send(syscall.SIGSTOP) }, false},
		} {
			stop.do()
			stopped(stop.name)
			if wrong := leftovers(in.written()); stop.undoes && len(wrong) > 1 {
				t.Errorf("%s: %q", stop.name, wrong)
			}
			// In the background it stops once more: the terminal is the shell's.
			in.typed(t, "bg\r")
			comes(func() bool { // it goes on for a moment; who misses that finds it stopped again
				p, _ := proc.Look(pid)
				return p.State != 'T'
			}, time.Second)
			stopped(stop.name + " and bg")
			in.typed(t, "fg\r")
			in.shown(t)
			in.typed(t, "say after "+stop.name+"\r")
			in.until(t, "after "+stop.name)
			if set := strings.LastIndex(in.written(), "\x1b[?2004h"); set < strings.LastIndex(in.written(), "\x1b[?2004l") {
				t.Errorf("%s: what is pasted comes as if it were typed", stop.name)
			}
		}
		// One that is stopped ends when it is told to, whoever has the terminal.
		send(syscall.SIGSTOP)
		stopped("SIGSTOP")
		in.typed(t, "kill %1\r")
		if outlives(strconv.Itoa(pid)) {
			t.Error("a stopped screen outlives kill %1")
		}
		in.asksAgain(t)
		for _, wrong := range leftovers(in.written()) {
			if !strings.HasPrefix(wrong, "bracketed paste") {
				t.Error(wrong)
			}
		}
	})
}

// TestContinuedScreen: a screen that is continued takes the terminal again, and paints.
func TestContinuedScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	raw := c.modes(t)
	for range long.Times(2, 5) {
		// Twice in a row, for the second comes before the first is long over.
		for range 2 {
			if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			holds(t, "the screen is stopped", func() bool {
				p, _ := proc.Look(c.cmd.Process.Pid)
				return p.State == 'T'
			})
			c.sets(t, c.found)
			if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			holds(t, "it has taken the terminal", func() bool { return c.modes(t) == raw })
		}
		c.mu.Lock()
		c.raw = nil
		c.mu.Unlock()
		if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		c.shows(t, "\x1b[?1049h")
		c.shows(t, "builtin")
	}
}

// sets sets the terminal's modes.
func (c *console) sets(t *testing.T, m tty.Modes) {
	t.Helper()
	raw, err := c.tty.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if e := raw.Control(func(fd uintptr) { err = m.Set(int(fd)) }); e != nil || err != nil {
		t.Fatal(e, err)
	}
}

// TestEditorOnTheScreen: an editor has the terminal as the shell gave it, and every key, until it ends.
func TestEditorOnTheScreen(t *testing.T) {
	inShells(t, func(t *testing.T, in *shelled) {
		editor := filepath.Join(in.site.dir, "editor")
		script := "#!/bin/sh\nstty -g >edits\necho >>count\nprintf 'now-%s>' $(wc -l <count)\nread -r line\nprintf '%s' \"$line\" >\"$1\"\n"
		if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		in.typed(t, "export VISUAL="+editor+"\r")
		in.reads(t)
		in.starts(t)
		for n := range 2 {
			in.typed(t, "\x07")
			in.until(t, fmt.Sprintf("now-%d>", n+1))
			in.typed(t, fmt.Sprintf("say edited %d\r", n))
			in.until(t, fmt.Sprintf("› say edited %d", n), "!now-", home)
			if text, err := os.ReadFile(filepath.Join(in.site.dir, "edits")); strings.TrimSpace(string(text)) != in.gives {
				t.Errorf("the editor has the modes %s instead of %s: %v", text, in.gives, err)
			}
			in.typed(t, "\r")
			in.until(t, fmt.Sprintf("▌ say edited %d", n), "!› say edited")
		}
		if err := syscall.Kill(in.job(t), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		in.asksAgain(t)
	})
}

// TestKilledTogether: when screen and host are killed at once, or the screen of a host that is stopped, the shell has the
// terminal back: nobody but the watchdog is left to give it. What another program has by then, and what the screen gave
// back itself, it leaves alone.
func TestKilledTogether(t *testing.T) {
	inShells(t, func(t *testing.T, in *shelled) {
		const said = "fantail: the program was killed or failed"
		killed := 0
		for _, c := range long.Some(t, 2, []struct {
			name   string
			before func(screen, host int)
			kills  func(screen, host int) []int
			spares bool
		}{
			{name: "host first", kills: func(screen, host int) []int { return []int{host, screen} }},
			{name: "screen first", kills: func(screen, host int) []int { return []int{screen, host} }},
			{name: "the group", kills: func(screen, host int) []int { return []int{host, -screen} }},
			{
				name:   "the host was stopped",
				before: func(_, host int) { in.signals(t, host, syscall.SIGSTOP) },
				kills:  func(screen, host int) []int { return []int{screen, host} },
			},
			{
				name:   "another job has the terminal",
				before: func(screen, _ int) { in.signals(t, screen, syscall.SIGSTOP); in.asksAgain(t); in.other(t) },
				kills:  func(screen, host int) []int { return []int{host, screen} }, spares: true,
			},
			{
				name:   "Ctrl+Z",
				before: func(int, int) { in.typed(t, "\x1a"); in.asksAgain(t) },
				kills:  func(screen, host int) []int { return []int{host, screen} }, spares: true,
			},
		}) {
			dog := 0
			for tries := 1; ; tries++ {
				screen := in.starts(t)
				host := in.site.host(t)
				dog = in.watchdog(t, screen)
				if c.before != nil {
					c.before(screen, host)
				}
				if in.kills(t, c.kills(screen, host)...) {
					break
				}
				if tries == 5 {
					t.Fatalf("%s: one always ends by itself before both are killed", c.name)
				}
				in.asksAgain(t)
			}
			holds(t, "the watchdog ends: "+c.name, func() bool { _, there := proc.Look(dog); return !there })
			if c.spares {
				if n := strings.Count(in.written(), said); n != killed {
					t.Errorf("%s: what is undone, is undone again: %q", c.name, tail(in.written()))
				}
				in.typed(t, "\r") // ends the other job
				in.reads(t)
				continue
			}
			killed++
			if n := strings.Count(in.written(), said); n != killed {
				t.Fatalf("%s: nothing is undone: %q", c.name, tail(in.written()))
			}
			for _, wrong := range leftovers(in.written()) {
				if !strings.HasPrefix(wrong, "bracketed paste") {
					t.Errorf("%s: %s", c.name, wrong)
				}
			}
			if strings.HasSuffix(in.cmd.Path, "/zsh") && in.modes(t) != in.asks { // it was faster, and is told so
				in.shows(t, "stty sane")
				in.typed(t, "stty "+in.gives+"\r")
			}
			in.asksAgain(t)
		}
		// An orderly end leaves none behind.
		screen := in.starts(t)
		dog := in.watchdog(t, screen)
		in.signals(t, screen, syscall.SIGTERM)
		in.asksAgain(t)
		if p, there := proc.Look(dog); there {
			t.Errorf("the screen's watchdog lives on: %+v", p)
		}
	})
}

// watchdog is the process that outlives a screen.
func (in *shelled) watchdog(t *testing.T, screen int) (pid int) {
	t.Helper()
	holds(t, "the screen has a watchdog", func() bool {
		for _, child := range childrenOf(t, screen) {
			if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)); err == nil && strings.HasSuffix(string(line), "\x00watchdog\x00") {
				pid = child
			}
		}
		return pid > 0
	})
	return pid
}

// childrenOf are the processes that a process has started.
func childrenOf(t *testing.T, pid int) (pids []int) {
	t.Helper()
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, child)
		}
	}
	return pids
}

// signals sends a signal.
func (in *shelled) signals(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// kills kills them at once; false: the death of the first ended another before it was killed.
func (in *shelled) kills(t *testing.T, pids ...int) bool {
	t.Helper()
	for i, pid := range pids {
		err := syscall.Kill(pid, syscall.SIGKILL)
		if i > 0 && errors.Is(err, syscall.ESRCH) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return true
}

// other has the shell run a program that reads a line from the terminal.
func (in *shelled) other(t *testing.T) {
	t.Helper()
	in.typed(t, "sh -c 'echo other-$((1+1)); read -r line'\r")
	in.until(t, "other-2")
}
