package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// small has the site keep its data on a disk of its own, which fill fills to the last byte and empty makes room on.
func (s *site) small(t *testing.T) (fill, empty func()) {
	t.Helper()
	data := s.dir + ".data"
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("SKIPPED, no small disk to fill: mount: %v", err)
	}
	t.Cleanup(func() {
		s.ends(t)
		if !comes(func() bool { return syscall.Unmount(data, 0) == nil }, wait) { // the hosts end
			t.Error("the disk stays in use")
		}
	})
	for i, e := range s.env {
		if strings.HasPrefix(e, "XDG_DATA_HOME=") {
			s.env[i] = "XDG_DATA_HOME=" + data
		}
	}
	ballast := filepath.Join(data, "ballast")
	fill = func() {
		t.Helper()
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for n := 64 << 10; n > 0; {
			if _, err := f.Write(make([]byte, n)); err != nil {
				n /= 2
			}
		}
	}
	empty = func() {
		t.Helper()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	return fill, empty
}

// With the disk full no host starts: the screen says why and leaves its terminal right. Once there is room it works.
func TestDiskFullWhileStarting(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill, empty := s.small(t)
	fill()
	c := open(t, s.command())
	was := c.found
	c.left(t, failed, was)
	if said := c.written(); !strings.Contains(said, "fantail: ") || !strings.Contains(said, "no space left") || strings.Contains(said, "goroutine ") {
		t.Errorf("the terminal got %q", tail(said))
	}
	if hosts := s.hosts(); len(hosts) != 0 {
		t.Errorf("hosts stay: %d", hosts)
	}
	empty()
	c = open(t, s.command())
	c.until(t, home, ready)
	if out, errs, code := s.run(t, "", "host", "stop"); code != ok {
		t.Fatal(out, errs)
	}
	c.exited(t)
	fill() // now there is a database, which can be read
	c = open(t, s.command())
	c.left(t, failed, c.found)
	if said := c.written(); !strings.Contains(said, "the disk is full, nothing was written: free some space and try again") || strings.Contains(said, "goroutine ") {
		t.Errorf("the terminal got %q", tail(said))
	}
}

// A screen that attaches to a host whose disk is full shows what there is and says what is wrong; the host and the screens
// that are there go on, and so does the new one once there is room.
func TestDiskFullWhileAttaching(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill, empty := s.small(t)
	a := open(t, s.command())
	a.until(t, home, ready)
	a.typed(t, "say before it was full\r")
	a.until(t, "▌ say before it was full", "· 1 step") // and written down
	host := s.host(t)
	fill()
	b := open(t, s.command())
	was := b.found
	b.until(t, home, "before it was full", "the disk is full")
	a.typed(t, "still here")
	a.until(t, "› still here")
	a.typed(t, "\x15")
	if s.host(t) != host {
		t.Errorf("the host was %d and is %d", host, s.host(t))
	}
	if err := b.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	b.left(t, 128+int(syscall.SIGHUP), was)
	empty()
	c := open(t, s.command())
	c.until(t, home, ready)
	c.typed(t, "say there is room\r")
	a.until(t, "there is room")
	if s.host(t) != host {
		t.Errorf("the host was %d and is %d", host, s.host(t))
	}
}
