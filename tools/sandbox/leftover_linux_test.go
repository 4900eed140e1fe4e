package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fantail/.ci/long"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

// Processes that a command leaves running end with it, also in a session of their own, in every kind of sandbox and
// however the command ends. A process that this program started for itself does not.
func TestLeftovers(t *testing.T) {
	needs(t, "setsid")
	t.Parallel()
	own := exec.Command("sleep", "300")
	must(t, own.Start())
	defer func() {
		if p, there := proc.Look(own.Process.Pid); !there || p.Ended() {
			t.Error("a process that is no command's was ended")
		}
		_ = own.Process.Kill()
		_ = own.Wait()
	}()
	g := small(t)
	mark := "fantail-left-" + filepath.Base(filepath.Dir(g.Root)) + strconv.Itoa(os.Getpid())
	must(t, os.WriteFile(filepath.Join(g.Root, "hop"), []byte("(setsid bash hop $1 &)\n"), 0o644))
	const daemon = `(setsid bash -c "exec -a $M sleep 300" </dev/null >/dev/null 2>&1 &); sleep 0.1; `
	for name, c := range long.SomeOf(t, 2, map[string]struct {
		how     string
		timeout time.Duration
		hurry   bool
	}{
		"daemon":   {how: daemon},
		"family":   {how: `(setsid bash -c "(setsid bash -c 'exec -a $M sleep 300' &) ; exec -a $M sleep 300" </dev/null >/dev/null 2>&1 &); sleep 0.1`},
		"hopping":  {how: `bash hop $M </dev/null >/dev/null 2>&1; sleep 0.1`},
		"timeout":  {how: daemon + `sleep 300`, timeout: 200 * time.Millisecond},
		"stubborn": {how: `trap "" TERM; ` + daemon + `while :; do sleep 1; done`, timeout: 200 * time.Millisecond, hurry: true},
		"killed":   {how: daemon + `kill -9 $PPID; for t in /proc/$PPID/task/*; do kill -9 ${t##*/}; done; kill -9 $$`},
	}) {
		for _, k := range kinds {
			w := sandbox.Find(t.Context(), k)
			if w.Level() == sandbox.None {
				continue
			}
			box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
			must(t, err)
			s := proc.Spec{Shell: c.how, Dir: g.Root, Env: []string{"PATH=" + os.Getenv("PATH"), "M=" + mark}, Box: box, Timeout: c.timeout, Head: 1 << 10, Tail: 1 << 10}
			if c.hurry {
				now := make(chan struct{})
				close(now)
				s.Hurry = now
			}
			r, err := proc.Run(context.Background(), s)
			must(t, err)
			// What was killed may wait for a processor before it is gone.
			all := running(t, mark)
			for wait := time.Now().Add(time.Minute); len(all) > 0 && time.Now().Before(wait); all = running(t, mark) {
				<-time.After(10 * time.Millisecond)
			}
			if len(all) > 0 {
				t.Errorf("%s, %s: %v outlive it: %q", k, name, all, r.Text)
				for _, pid := range all {
					_ = unix.Kill(pid, unix.SIGKILL)
				}
			}
			if k != sandbox.Bubblewrap && c.timeout == 0 && name != "killed" && !r.Left {
				t.Errorf("%s, %s: nothing is said of what was left: %+v", k, name, r)
			}
		}
	}
}

// small is a small workspace.
func small(t *testing.T) sandbox.Workspace {
	t.Helper()
	base := t.TempDir()
	g := sandbox.Workspace{Root: filepath.Join(base, "work"), Scratch: filepath.Join(base, "scratch")}
	must(t, errors.Join(os.Mkdir(g.Root, 0o755), os.Mkdir(g.Scratch, 0o755)))
	return g
}

// needs skips a test where there is no such program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("there is no " + program)
	}
}

// doomed is the kind of sandbox in which a program runs an endless command in its workspace, to be killed meanwhile.
const doomed = "FE_DOOMED"

// A process that a command left in a session of its own also ends with a program that is killed.
func TestLeftovers_programKilled(t *testing.T) {
	needs(t, "setsid")
	if kind := sandbox.Kind(os.Getenv(doomed)); kind != "" {
		w := sandbox.Find(t.Context(), kind)
		g := sandbox.Workspace{Root: os.Getenv("FE_ROOT"), Scratch: os.Getenv("FE_SCRATCH")}
		box, err := w.Box(g, sandbox.Command, sandbox.Leave{}, g.Root)
		must(t, err)
		_, err = proc.Run(t.Context(), proc.Spec{
			Shell: `(setsid bash -c "exec -a $M sleep 300" </dev/null >/dev/null 2>&1 &); sleep 0.1; echo x >begun; sleep 300`,
			Dir:   g.Root, Env: os.Environ(), Box: box, Head: 1 << 10, Tail: 1 << 10,
		})
		must(t, err)
		return
	}
	for _, k := range kinds {
		if sandbox.Find(t.Context(), k).Level() == sandbox.None {
			continue
		}
		g := small(t)
		mark := "fantail-doomed-" + string(k) + strconv.Itoa(os.Getpid())
		c := exec.Command(os.Args[0], "-test.run", "^TestLeftovers_programKilled$")
		c.Env = []string{"PATH=" + os.Getenv("PATH"), doomed + "=" + string(k), "FE_ROOT=" + g.Root, "FE_SCRATCH=" + g.Scratch, "M=" + mark}
		must(t, c.Start())
		until(t, "the command does not begin", func() bool { _, err := os.Stat(filepath.Join(g.Root, "begun")); return err == nil })
		if len(running(t, mark)) == 0 {
			t.Errorf("%s: it left nothing behind", k)
		}
		must(t, c.Process.Kill())
		_ = c.Wait()
		until(t, string(k)+": what a command left outlives the program", func() bool { return len(running(t, mark)) == 0 })
	}
}

// until waits until so returns true.
func until(t *testing.T, fault string, so func() bool) {
	t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatal(fault)
		}
	}
}

// running returns the processes with the mark in their command line.
func running(t *testing.T, mark string) (all []int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, f := range list {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), mark) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			must(t, err)
			all = append(all, pid)
		}
	}
	return all
}
