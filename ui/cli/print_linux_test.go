package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// began starts the program without a screen and returns what it was told to say once it is at work.
func (s *site) began(t *testing.T, args ...string) (p *printing, pids []string) {
	t.Helper()
	first := s.fifo(t, "started")
	p = &printing{t: t, done: make(chan struct{})}
	c := s.command(args...)
	c.Stdout, c.Stderr = &p.out, &p.errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p.process = c.Process
	go func() {
		_ = c.Wait()
		p.code = c.ProcessState.ExitCode()
		close(p.done)
	}()
	return p, strings.Fields(first(nil))
}

// printing is a run without a screen.
type printing struct {
	t         *testing.T
	process   *os.Process
	out, errs bytes.Buffer
	code      int
	done      chan struct{}
}

// ended waits until it has ended, with that exit code.
func (p *printing) ended(code int) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(wait):
		_ = p.process.Kill()
		p.t.Fatal("it does not end")
	}
	if p.code != code {
		p.t.Errorf("exit code %d, output %q, errors %q", p.code, p.out.String(), p.errs.String())
	}
}

const sleeps = "run echo $$ > started; exec sleep 600"

// A prompt without a screen runs in the host that is there, as it would in one of its own: in a conversation of its
// own, that the screens show while it runs, and that asks none of them. Stopped, it alone stops.
func TestPrintInTheHostOfAScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command("--yolo")) // which is the session's, and not the prompt's
	c.until(t, home, ready)
	host := s.host(t)
	c.typed(t, "run echo goes on; sleep 600\r")
	c.until(t, "running bash")

	if out, errs, code := s.run(t, "", "-p", "run touch made"); code != failed || strings.Count(errs, "nobody is here to be asked") != 1 {
		t.Errorf("what would ask: exit code %d, output %q, errors %q", code, out, errs)
	}
	p, pids := s.began(t, "-p", "say before then "+sleeps, "--yolo", "--output-format", "json")
	c.until(t, "prompt-")
	if err := p.process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.ended(130)
	var r result
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil || !*r.IsError || !strings.HasPrefix(r.Session, "prompt-") {
		t.Errorf("%v: %s", err, p.out.String())
	}
	for _, pid := range pids {
		if outlives(pid) {
			t.Errorf("its command (process %s) still runs", pid)
		}
	}
	c.until(t, "!prompt-", "running bash") // the screen's own goes on
	if out, errs, code := s.run(t, "", "-p", "--resume", r.Session, "say on with it", "--output-format", "json"); code != ok || !strings.Contains(out, r.Session) {
		t.Errorf("gone on with: exit code %d, output %q, errors %q", code, out, errs)
	}
	if now := s.host(t); now != host {
		t.Errorf("the host is %d, was %d", now, host)
	}
}

// A host that a prompt started ends with it, and nothing is left that was not recorded.
func TestPrintLeavesNoHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if out, errs, code := s.run(t, "", "-p", "say alone"); code != ok || out != "alone\n" || errs != "" {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	if !comes(func() bool { return len(s.hosts()) == 0 }, wait) {
		t.Errorf("hosts %d stay", s.hosts())
	}
	if out, errs, code := s.run(t, "", "-p", "-c", "say more", "--output-format", "json"); code != ok || !strings.Contains(out, `"session_id":"prompt-2"`) {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	c := open(t, s.command())
	c.until(t, home, ready)
	if text := c.text(); strings.Contains(text, "alone") || strings.Contains(text, "prompt-") {
		t.Errorf("main's screen shows it:\n%s", text)
	}
}

// Whoever is killed, nothing that ran goes on, and what was said can be gone on with.
func TestPrintKilled(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the process", "its host"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			p, pids := s.began(t, "-p", "say remembered then run sleep 601 & (sleep 602; true) & echo $$ $! > started; wait", "--yolo")
			if len(pids) != 2 {
				t.Fatalf("it began with %q", pids)
			}
			if who == "its host" {
				if err := syscall.Kill(s.host(t), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				p.ended(failed)
				if said := p.errs.String(); !strings.Contains(said, "--continue") || strings.Count(said, "\n") != 1 {
					t.Errorf("it said %q", said)
				}
			} else {
				_ = p.process.Kill()
				p.ended(-1)
			}
			for _, pid := range pids {
				if outlives(pid) {
					t.Errorf("process %s outlives it", pid)
				}
			}
			if !comes(func() bool { return len(s.hosts()) == 0 }, 5*time.Second) {
				t.Errorf("hosts %d stay", s.hosts())
			}
			if out, errs, code := s.run(t, "", "-p", "-c", "say on", "--output-format", "stream-json"); code != ok || !strings.Contains(out, `"session_id":"prompt-2"`) {
				t.Errorf("gone on with: exit code %d, output %q, errors %q", code, out, errs)
			}
		})
	}
}

// Where no host can be, or will, a prompt runs in a database of its own, which is gone with it.
func TestPrintWithoutAHost(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(t *testing.T, s *site){
		"no place for its socket": func(_ *testing.T, s *site) {
			s.env = append(s.env, "XDG_RUNTIME_DIR="+os.DevNull)
		},
		"another holds the workspace": func(t *testing.T, s *site) {
			if _, errs, code := s.run(t, "", "-p", "say x"); code != ok { // makes the directory
				t.Fatal(errs)
			}
			locks, _ := filepath.Glob(filepath.Join(s.getenv("XDG_DATA_HOME"), "fantail", "*", "host.lock"))
			if len(locks) != 1 || !comes(func() bool { return len(s.hosts()) == 0 }, 5*time.Second) {
				t.Fatalf("locks %q, hosts %d", locks, s.hosts())
			}
			f, err := os.OpenFile(locks[0], os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			hinder(t, s)
			out, errs, code := s.run(t, "", "-p", "say beside")
			if code != ok || out != "beside\n" || !strings.Contains(errs, "temporary database") {
				t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
			}
			if _, errs, code := s.run(t, "", "-p", "-c", "say x"); code != failed || !strings.Contains(errs, "no earlier conversation") {
				t.Errorf("going on there: exit code %d, errors %q", code, errs)
			}
			if left, _ := filepath.Glob(filepath.Join(s.getenv("TMPDIR"), "*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// An agent's command that prompts runs beside the host it runs in, and ends with what started it.
func TestPrintByAnAgentsCommand(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	out, errs, code := s.run(t, "", "-p", "run "+s.typed()+" -p 'say inner' 2>&1", "--yolo")
	if code != ok || !strings.Contains(out, "inner") || !strings.Contains(out, "temporary database") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
}

// A prompt comes through whole, however long and whatever is in it.
func TestPrintLongPrompts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, size := range []int{1 << 20, 5<<20 + 3} {
		out, errs, code := s.run(t, "say "+strings.Repeat("0123456789abcde ", size/16), "-p", "--output-format", "json")
		var r result
		if err := json.Unmarshal([]byte(out), &r); code != ok || err != nil || len(r.Result) < size*9/10 {
			t.Errorf("%d bytes: exit code %d, %v, %d bytes of answer, errors %q", size, code, err, len(r.Result), errs)
		}
	}
	out, errs, code := s.run(t, "say a\x00b", "-p")
	if code != ok || !strings.Contains(out, "b") {
		t.Errorf("a NUL: exit code %d, output %q, errors %q", code, out, errs)
	}
}

// Many prompts at once run in one host, each in its own conversation, and each gets its own answer.
func TestPrintManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	const n = 12
	type answer struct{ want, out, errs string }
	answers := make(chan answer, n)
	for k := range n {
		go func() {
			want := "number " + strconv.Itoa(k)
			out, errs, code := s.run(t, "", "-p", "say "+want)
			answers <- answer{want + "\n", out, fmt.Sprint(errs, code)}
		}()
	}
	for range n {
		if a := <-answers; a.out != a.want || a.errs != "0" {
			t.Errorf("%q: output %q, errors and exit code %q", a.want, a.out, a.errs)
		}
	}
	if !comes(func() bool { return len(s.hosts()) == 0 }, 5*time.Second) {
		t.Errorf("hosts %d stay", s.hosts())
	}
}

// A host whose socket is gone once it is there, as one that ends late may take it away, listens anew for who has started it.
func TestPrint_socketTakenAway(t *testing.T) {
	t.Parallel()
	for range 20 { // until it is taken while the host lives
		if takesSocket(t) {
			return
		}
	}
	t.Error("the socket was never taken away in time")
}

// takesSocket asks while the host's socket is taken away, and reports whether it was there to be taken.
func takesSocket(t *testing.T) bool {
	t.Helper()
	s := newSite(t)
	path := s.socket(t)
	ctx, over := context.WithCancel(t.Context())
	taken := make(chan bool, 1)
	go func() {
		again := time.NewTicker(50 * time.Microsecond)
		defer again.Stop()
		for ctx.Err() == nil {
			if info, err := os.Lstat(path); err == nil && info.Mode().Perm() == 0o600 {
				taken <- os.Remove(path) == nil
				return
			}
			<-again.C
		}
		taken <- false
	}()
	out, errs, code := s.run(t, "", "-p", "say it", "--model", "builtin")
	over()
	if code != ok || out != "it\n" || errs != "" {
		t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
	}
	return <-taken
}
