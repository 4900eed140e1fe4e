package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/store/paths"
	attachpkg "fantail/ui/attach"
	"fantail/ui/screen/wire"
)

// socket is where the workspace's host listens.
func (s *site) socket(t testing.TB) string {
	t.Helper()
	return paths.Screens(s.getenv, os.Geteuid(), s.dataFor(t, s.dir))
}

// line is a connection to a host that says what the test wants.
type line struct {
	net.Conn
	t testing.TB
}

func (s *site) dials(t testing.TB) line {
	t.Helper()
	var c net.Conn
	var err error
	holds(t, "the host has room for one more", func() bool {
		c, err = net.Dial("unix", s.socket(t))
		return !errors.Is(err, syscall.EAGAIN)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	return line{c, t}
}

func (l line) says(frames []byte) {
	l.t.Helper()
	if _, err := l.Write(frames); err != nil {
		l.t.Fatal(err)
	}
}

// hello is a screen's, of 80 by 24.
func (s *site) hello(more ...string) []byte {
	var f wire.Fields
	f.Add(wire.Dir, s.dir)
	f.Add(wire.Columns, "80x24")
	for _, e := range s.env {
		f.Add(wire.Env, e)
	}
	f = append(f, more...)
	return wire.Append([]byte(wire.Magic), wire.Hello, f.Bytes())
}

// until reads frames until one of that kind, and returns its body and what was painted before.
func (l line) until(k wire.Kind) (body []byte, painted string) {
	l.t.Helper()
	for {
		got, b, _, err := wire.Read(l, wire.MaxFrame, nil)
		switch {
		case err != nil:
			l.t.Fatalf("no frame %q: %v; painted: %q", k, err, tail(painted))
		case got == k:
			return b, painted
		case got == wire.Paint:
			painted += string(b)
		}
	}
}

// paints reads frames until that was painted.
func (l line) paints(text string) {
	l.t.Helper()
	all := ""
	for !strings.Contains(all, text) {
		k, b, _, err := wire.Read(l, wire.MaxFrame, nil)
		if err != nil {
			l.t.Fatalf("%q is not painted: %v; painted: %q", text, err, tail(all))
		}
		if k == wire.Paint {
			all += string(b)
		}
	}
}

// A host serves screens of later versions: it skips fields, frames and parts of frames that it
// does not know.
func TestHostServesALaterScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	l := s.dials(t)
	hello := s.hello("version=99.0", "shape=round", "no field at all", "", "size=wide", "umask=none", "modes=zz")
	l.says(wire.Append(hello, 'q', []byte("what is this?")))
	l.until(wire.Welcome)
	l.paints("builtin")
	l.says(wire.Append(nil, '\xff', bytes.Repeat([]byte("x"), wire.MaxFrame)))
	l.says(wire.Append(nil, wire.Size, []byte{0, 120, 0, 40, 9, 9, 9})) // more than a size
	l.says(wire.Append(nil, wire.Size, []byte{1}))                      // less
	l.says(wire.Append(nil, wire.Back, []byte("since=1")))              // nobody gave it away
	l.says(wire.Append(nil, wire.Hello, nil))                           // once more
	l.says(wire.Append(nil, wire.Keys, []byte("say from a later version\r")))
	c.until(t, "from a later version")
	l.says(wire.Append(nil, wire.Leave, []byte("mood=good\x00"+wire.Signal+"=15")))
	body, _ := l.until(wire.Bye)
	if code := wire.FieldsOf(body).Get(wire.Code); code != "143" {
		t.Errorf("the goodbye has the code %q", code)
	}
}

// A screen shows a host of a later version: it skips what it does not know, and leaves its
// terminal right when that host says something it can't read.
func TestScreenShowsALaterHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		ends []byte
		code int
		says string
	}{
		{"goodbye", wire.Append(nil, wire.Bye, []byte("mood=good\x00code=7\x00say=until then\x00say=twice")), 7, "fantail: until then\r\nfantail: twice\r\n"},
		{"nothing more", nil, failed, "fantail: its host was killed or failed"},
		{"no frame", bytes.Repeat([]byte{0xff}, 100), failed, "fantail: its host was killed or failed"},
		{"half a frame", []byte{byte(wire.Paint), 0, 0, 1, 0, 'x'}, failed, "fantail: its host was killed or failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if err := paths.MakePrivate(filepath.Dir(s.socket(t))); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", s.socket(t))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			con := open(t, s.command())
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			magic := make([]byte, len(wire.Magic))
			if _, err := io.ReadFull(conn, magic); err != nil || string(magic) != wire.Magic {
				t.Fatalf("%q, %v", magic, err)
			}
			k, _, _, err := wire.Read(conn, wire.MaxHello, nil)
			if err != nil || k != wire.Hello {
				t.Fatalf("frame %q, %v", k, err)
			}
			frames := wire.Append(nil, wire.Welcome, []byte("version=99\x00color=blue"))
			frames = wire.Append(frames, 'q', []byte("what is this?"))
			frames = wire.Append(frames, wire.Paint, []byte("\x1b[?1049h\x1b[>1u\x1b[?1000h\x1b[?25lpainted"))
			frames = wire.Append(frames, '\xfe', bytes.Repeat([]byte("x"), wire.MaxFrame))
			if _, err := conn.Write(frames); err != nil {
				t.Fatal(err)
			}
			con.until(t, "painted")
			con.typed(t, "k")
			for key := ""; key != "k"; {
				k, body, _, err := wire.Read(conn, wire.MaxFrame, nil)
				if err != nil {
					t.Fatal(err)
				}
				if k == wire.Keys {
					key = string(body)
				}
			}
			// A host that says goodbye has restored the screen.
			if c.code == 7 {
				c.ends = append(wire.Append(nil, wire.Paint, []byte("\x1b[?1000l\x1b[<1u\x1b[?1049l\x1b[?25h")), c.ends...)
			}
			if _, err := conn.Write(c.ends); err != nil {
				t.Fatal(err)
			}
			if c.code != 7 {
				conn.Close()
			}
			con.left(t, c.code, con.found)
			if said := con.written(); !strings.Contains(said, c.says) {
				t.Errorf("the terminal got %q", tail(said))
			}
			conn.Close()
		})
	}
}

// What the first screen opened stays when it leaves: the host still hears who rings from outside.
func TestHostHearsWithoutItsFirstScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := open(t, s.command())
	a.until(t, home, ready)
	b := open(t, s.command())
	b.until(t, home, ready)
	if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	a.exited(t)
	if !comes(func() bool { out, _, _ := s.run(t, "", "host", "status"); return strings.Contains(out, "1 screen ") }, wait) {
		t.Fatal("the host still has the first screen")
	}
	if out, errs, code := s.run(t, "", "send", "main", "hello"); code != ok {
		t.Fatal(out, errs)
	}
	b.until(t, "1 pending")
}

// passing is how many descriptors a host may open beside what a test counts: once at a later time (a reader of the
// database, a watch of a file), or for a moment. A leak opens one for each connection of a kind, which is more.
const passing = 16

// Whoever says nonsense, too much or too little to a host is no screen, and nobody else notices.
func TestHostEnduresStrangers(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	c := open(t, s.command())
	c.until(t, home, ready)
	host := s.host(t)
	c.typed(t, "say quick\r")
	c.until(t, "▌ say quick", "1 step")
	files := s.descriptors(t)

	// Some stay and say nothing, or a part of what a screen says.
	var silent []line
	for n := range 64 {
		l := s.dials(t)
		hello := s.hello()
		l.says(hello[:n*len(hello)/64])
		silent = append(silent, l)
	}
	r := rand.New(rand.NewPCG(long.Seed(t), 0))
	for n := range long.Times(80, 1000) {
		l := s.dials(t)
		hello := s.hello()
		var b []byte
		switch n % 8 {
		case 0:
			b = bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(8000))
		case 1: // a frame that is announced as huge
			b = append([]byte(wire.Magic), byte(wire.Hello), 0xff, 0xff, 0xff, 0xff)
		case 2: // a hello that ends in the middle
			b = hello[:r.IntN(len(hello))]
		case 3:
			b = bytes.Clone(hello)
			for range 1 + r.IntN(20) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
		case 4:
			b = wire.Append([]byte(wire.Magic), wire.Kind(r.Uint32()), []byte("x"))
		case 5: // an errand that asks for something unknown
			b = wire.Append([]byte(wire.Magic), wire.Ask, []byte("do=fly"))
		case 6: // a screen that says nonsense
			b = append(hello, byte(wire.Keys), 0xff, 0, 0, 0)
		case 7: // one that leaves at once
			b = hello
		}
		_, _ = l.Write(b) // it may be gone already
		l.Close()
	}
	c.typed(t, "say still quick\r")
	c.until(t, "▌ say still quick")
	// Who says too little is left after a while.
	for _, l := range silent {
		if _, err := io.Copy(io.Discard, l); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			t.Fatalf("a connection that says nothing stays: %v", err)
		}
	}
	if !comes(func() bool { return s.descriptors(t) <= files+passing }, wait) {
		t.Errorf("the host has %d descriptors, had %d", s.descriptors(t), files)
	}
	if now := s.host(t); now != host {
		t.Errorf("the host was %d and is %d", host, now)
	}
}

// However many connect and say nothing, a screen gets in, and so does an errand; the host does not grow with them.
func TestSilentStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	files := s.descriptors(t)
	done, flooded := make(chan struct{}), make(chan int, 1)
	go func() {
		var all []net.Conn
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		defer func() {
			for _, c := range all {
				c.Close()
			}
			flooded <- len(all)
		}()
		for {
			select {
			case <-done:
				return
			default:
			}
			if c, err := net.Dial("unix", s.socket(t)); err == nil { // it may be full just now
				all = append(all, c)
			}
			if len(all) > 700 { // the test's own descriptors end too
				all[0].Close()
				all = all[1:]
				<-again.C // the host has no room left: a flood that also takes the machine would prove no more
			}
		}
	}()
	const room = 512
	if !comes(func() bool { return s.descriptors(t) >= files+room-passing }, wait) {
		t.Error("the flood does not come through")
	}
	hello := s.hello()
	for range long.Times(2, 5) {
		l := s.dials(t)
		for tries := 1; ; tries++ { // as a screen does
			_, err := l.Write(hello)
			if err == nil {
				_, _, _, err = wire.Read(l, wire.MaxFrame, nil)
			}
			if err == nil {
				break
			}
			if tries == 5 {
				t.Fatalf("no screen gets in: %v", err)
			}
			l.Close()
			l = s.dials(t)
		}
		l.paints("builtin")
		l.says(wire.Append(nil, wire.Leave, []byte(wire.Signal+"=15")))
		l.until(wire.Bye)
		l.Close()
		if out, errs, code := s.run(t, "", "host", "status"); code != ok {
			t.Errorf("status: exit code %d, %s%s", code, out, errs)
		}
	}
	if !comes(func() bool { return s.descriptors(t) <= files+room+passing }, 5*time.Second) { // those that it closes come in a burst
		t.Errorf("the host has %d descriptors, had %d", s.descriptors(t), files)
	}
	close(done)
	t.Logf("%d connections that said nothing", <-flooded)
}

// descriptors is how many files and sockets the site's host has open, which only it can tell.
func (s *site) descriptors(t testing.TB) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	is, err := attachpkg.Ask(ctx, s.socket(t), attachpkg.Tell)
	if err != nil {
		t.Fatal(err)
	}
	if is.Files == 0 {
		t.Fatal("the host does not say how many files it has open")
	}
	return is.Files
}

// Screens that come and go leave nothing in the host.
func TestAttachesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	n := long.Times(30, 200)
	s := newSite(t)
	c := open(t, s.command())
	c.until(t, home, ready)
	host := s.host(t)
	attach := func() {
		l := s.dials(t)
		l.says(s.hello())
		l.paints("builtin")
		l.says(wire.Append(nil, wire.Leave, []byte(wire.Signal+"=15")))
		l.until(wire.Bye)
		l.Close()
	}
	for range long.Times(20, 50) { // caches fill
		attach()
	}
	files, threads, before := s.descriptors(t), len(strings.Fields(names(t, fmt.Sprintf("/proc/%d/task", host)))), resident(t, host)
	for range n {
		attach()
	}
	holds(t, "the host has no more descriptors than before", func() bool { return s.descriptors(t) <= files+passing })
	after := resident(t, host)
	t.Logf("%d attaches: %d descriptors, %d threads before, %.1f MB before, %.1f MB after", n, files, threads, before, after)
	if after > before*1.1 {
		t.Errorf("after %d attaches the host has %.1f MB instead of %.1f", n, after, before)
	}
}

// fantail host tells who is there and ends the host, which agents at work delay; fantail ls lists
// the hosts of all workspaces.
func TestHostErrands(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	says := func(code int, out, errs string, args ...string) {
		t.Helper()
		o, e, c := s.run(t, "", args...)
		if c != code || !strings.Contains(o, out) || !strings.Contains(e, errs) || out == "" && o != "" || errs == "" && e != "" {
			t.Errorf("%q: exit code %d (want %d), output %q (want %q), errors %q (want %q)", args, c, code, o, out, e, errs)
		}
	}
	says(nothing, "", "", "ls")
	for _, what := range []string{"status", "stop"} {
		says(nothing, "no host runs in "+s.dir, "", "host", what)
	}
	says(usage, "", "did you mean status?", "host", "statsu")
	says(usage, "", "contradict", "host", "stop", "--wait", "--now")

	first := s.fifo(t, "started")
	a := open(t, s.command("--yolo"))
	wasA := a.found
	a.until(t, home, ready)
	b := open(t, s.command())
	b.until(t, home, ready)
	host := s.host(t)
	says(ok, "1 idle · 2 screens · process "+fmt.Sprint(host), "", "host")
	other := *s
	other.dir = t.TempDir()
	o := open(t, other.command())
	o.until(t, home, ready)
	out, errs, _ := s.run(t, "", "ls", "--json")
	var dirs []string
	for l := range strings.Lines(out) {
		var h struct {
			Dir     string `json:"dir"`
			PID     int    `json:"pid"`
			Screens int    `json:"screens"`
		}
		if err := json.Unmarshal([]byte(l), &h); err != nil || h.PID == 0 {
			t.Errorf("%v: %s", err, l)
		}
		dirs = append(dirs, h.Dir)
	}
	if len(dirs) != 2 || !strings.Contains(out, s.dir) || !strings.Contains(out, other.dir) {
		t.Errorf("%q, %q", out, errs)
	}
	if _, e, code := other.run(t, "", "host", "stop"); code != ok {
		t.Errorf("stop the other: exit code %d, %s", code, e)
	}
	o.exited(t)

	a.typed(t, "run echo $$ > started; exec sleep 600\r")
	pid := first(a)
	says(failed, "", "main still at work", "host", "stop")
	says(ok, "has ended", "", "host", "stop", "--now")
	for _, c := range []*console{a, b} {
		if code := c.exited(t); code != ok || !strings.Contains(c.written(), "its host was ended: fantail host stop") {
			t.Errorf("a screen ends with %d: %q", code, tail(c.written()))
		}
	}
	a.restored(t)
	if a.modes(t) != wasA || outlives(pid) {
		t.Errorf("modes %s, were %s; process %s lives: %v", a.modes(t), wasA, pid, alive(pid))
	}
	says(nothing, "", "", "ls")
	says(nothing, "", "", "host", "log")
	if info, err := os.Stat(filepath.Join(s.dataFor(t, s.dir), paths.HostLog)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the host's log: %v, %v", info, err)
	}
}

// dataFor is the data directory of a workspace where there are several.
func (s *site) dataFor(t testing.TB, dir string) string {
	t.Helper()
	root, err := paths.Workspace(dir)
	if err == nil {
		var data string
		if data, err = paths.Data(s.getenv, root); err == nil {
			return data
		}
	}
	t.Fatal(err)
	return ""
}
