package host

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"fantail/ui/crash"
	"fantail/ui/screen/wire"
)

// visitor is a connection that speaks or not.
type visitor struct{ speaks, closed bool }

func (v *visitor) spoke() bool { return v.speaks }

func (v *visitor) Close() error {
	v.closed = true
	return nil
}

// TestLobby: silent connections make room for new ones, the longest silent first.
func TestLobby(t *testing.T) {
	var l lobby
	var all []*visitor
	admit := func(speaks bool) (leave func()) {
		all = append(all, &visitor{speaks: speaks})
		return l.admit(all[len(all)-1])
	}
	closed := func() (which []int) {
		for i, v := range all {
			if v.closed {
				which = append(which, i)
			}
		}
		return which
	}
	first := admit(true)
	for range maxSilent - 1 {
		admit(false)
	}
	if got := closed(); got != nil {
		t.Errorf("with room for all, closed: %d", got)
	}
	admit(false)
	if got := closed(); !slices.Equal(got, []int{1}) {
		t.Errorf("one too many, closed: %d", got)
	}
	first()
	first() // it may end twice
	admit(false)
	if got := closed(); len(got) != 1 {
		t.Errorf("with room for one, closed: %d", got)
	}
	for range 1000 {
		admit(false)
	}
	if len(l.waiting) != maxSilent || len(closed()) != 1001 || all[0].closed {
		t.Errorf("after a flood %d wait, %d are closed", len(l.waiting), len(closed()))
	}
	for range 2 * maxSilent {
		admit(true)
	}
	if len(l.waiting) != maxSilent {
		t.Errorf("after a flood of those that begin to speak %d wait", len(l.waiting))
	}
}

// TestCallerSpoke: bytes that were sent are noticed and stay to be read.
func TestCallerSpoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	from, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	conn, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := caller{conn}
	if c.spoke() {
		t.Error("it spoke before it did")
	}
	if _, err := from.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if !c.spoke() {
		t.Error("it did not speak")
	}
	buf := make([]byte, 10)
	if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "hello" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	from.Close()
	if c.spoke() {
		t.Error("it speaks after its end")
	}
}

// TestManyScreens: a host has a limit of screens, and says so to the next one.
func TestManyScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		var last *client
		for range maxScreens {
			last = &client{}
			if err := h.join(last); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.join(&client{}); !errors.Is(err, errManyScreens) {
			t.Errorf("one too many: %v", err)
		}
		h.leave(last)
		if err := h.join(last); err != nil {
			t.Errorf("after one left: %v", err)
		}
	})
}

// TestManyReaders: a program beyond the limit is refused with a text, and let in once another has gone.
func TestManyReaders(t *testing.T) {
	h := New(Options{Guard: crash.New(nil, crash.Options{Out: io.Discard, Exit: func(int) {}, Clean: strings.Clone})})
	for range maxReaders {
		h.readers <- struct{}{}
	}
	for _, want := range []string{"takes no more", errNoAgents} {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ends [2]*net.UnixConn
		for i, fd := range fds {
			f := os.NewFile(uintptr(fd), "end")
			c, err := net.FileConn(f)
			_ = f.Close()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ends[i] = c.(*net.UnixConn)
		}
		h.attach(ends[0], Hello{}, wire.Fields{wire.Name + "=auth"})
		_, body, _, err := wire.Read(ends[1], wire.MaxFrame, nil)
		if said := wire.FieldsOf(body).Get(wire.Refused); err != nil || !strings.Contains(said, want) {
			t.Errorf("refused with %q, %v", said, err)
		}
		<-h.readers
	}
}
