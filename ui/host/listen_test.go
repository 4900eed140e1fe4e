package host

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/ui/crash"
)

// TestListensNotAnewAtItsEnd: a host that is to end does not listen again though it is asked to: a process that
// connected would find it gone.
func TestListensNotAnewAtItsEnd(t *testing.T) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, Anew)
	defer signal.Stop(told)
	for range 30 {
		h := &Host{ended: make(chan struct{})}
		path := filepath.Join(t.TempDir(), "s")
		var listensAnew func()
		h.Rebinds(func(_ string, f func()) { listensAnew = f }, path)
		if err := syscall.Kill(os.Getpid(), Anew); err != nil {
			t.Fatal(err)
		}
		<-told
		close(h.ended)
		listensAnew()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("it listens anew: %v", err)
		}
		h.listening.Wait()
	}
}

// It closes its listener before it has ended: then the next host's socket may be there.
func TestClosesItsSocketBeforeItEnds(t *testing.T) {
	h := New(Options{
		Guard: crash.New(nil, crash.Options{Out: io.Discard, Exit: func(int) { t.Error("the guard ended the program") }, Clean: strings.Clone}), Log: &Log{},
	})
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	h.listen(l)
	h.End(0, "")
	if _, err := h.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its socket is there after its end: %v", err)
	}
}
