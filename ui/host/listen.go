package host

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"fantail/store/paths"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// Anew is the signal that makes a host bind its socket once more: a logout removes the directory of sockets while
// hosts stay.
const Anew = syscall.SIGUSR1

// Listen makes the socket on which screens reach the host. The caller holds the workspace's lock, so a socket that is
// already there is left over.
func Listen(path string) (*net.UnixListener, error) {
	if err := paths.MakePrivate(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("listen for screens: %w", err)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("listen for screens: %w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("listen for screens: %s is not a socket; remove it", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen for screens: remove a dead host's socket: %w", err)
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for screens: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for screens: %w", err), l.Close())
	}
	return l, nil
}

// Answers reports whether a process listens there.
func Answers(path string) bool {
	c, err := net.Dial("unix", path)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Rebinds makes the host listen on path once more whenever it gets the signal. start starts a goroutine.
func (h *Host) Rebinds(start func(name string, f func()), path string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, Anew)
	h.listening.Add(1)
	start("listen again", func() {
		defer h.listening.Done()
		defer signal.Stop(asked)
		for {
			select {
			case <-asked:
			case <-h.ended:
				return
			}
			select {
			case <-h.ended: // the next host takes its place
				return
			default:
			}
			if Answers(path) {
				continue
			}
			l, err := Listen(path)
			if err != nil {
				h.o.Log.Printf("%v", err)
				continue
			}
			h.listen(l)
		}
	})
}

// Alone shows the host on this process's own terminal, and nowhere else, and returns the exit code.
func (h *Host) Alone(hello wire.Fields) (code int, err error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, fmt.Errorf("show the screen: %w", err)
	}
	f := os.NewFile(uintptr(ends[0]), "screen")
	conn, err := net.FileConn(f)
	_ = f.Close()
	if err != nil {
		_ = syscall.Close(ends[1])
		return 0, fmt.Errorf("show the screen: %w", err)
	}
	h.single = true
	shown := make(chan int, 1)
	h.o.Guard.AtEnd(func() {
		h.farewell(1, nil)
		shown <- <-shown
	})
	h.o.Guard.Go("relay", func() {
		code, _ := screen.Relay(ends[1], hello)
		shown <- code
	})
	h.Show(conn.(*net.UnixConn), func() {})
	code = <-shown
	shown <- code
	h.o.Log.End()
	h.End(code, "")
	if n, err := h.close(); err != nil || code == 0 {
		return n, err
	}
	return code, nil
}
