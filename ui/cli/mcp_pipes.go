package cli

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// Where the kernel has no namespaces for a sandbox, no program in one makes a socket. Who can't comes in by two pipes of
// its own: it makes them at the door, and writes their name into the door's.
const (
	bell        = "mcp.bell" // the door's pipe
	spoken      = ".in"      // ends the name of the pipe into which it speaks
	serverHeard = ".out"     // and of that out of which it hears
)

// named are the names that pipes have.
var named = regexp.MustCompile(`^[A-Z0-9]{26}$`)

// way is how somebody is spoken with who has come in.
type way interface {
	io.ReadWriteCloser
	SetReadDeadline(at time.Time) error
}

// pipes are a way: what one end writes into the one pipe, and hears out of the other.
type pipes struct{ r, w *os.File }

func (p *pipes) Read(b []byte) (int, error)         { return p.r.Read(b) }
func (p *pipes) Write(b []byte) (int, error)        { return p.w.Write(b) }
func (p *pipes) SetReadDeadline(at time.Time) error { return p.r.SetReadDeadline(at) }
func (p *pipes) Close() error                       { return errors.Join(p.r.Close(), p.w.Close()) }

// hung is the door's pipe, at which names are heard.
type hung struct {
	root *os.Root
	pipe *os.File
}

func hang(dir string) (h hung, err error) {
	if err := syscall.Mkfifo(filepath.Join(dir, bell), 0o600); err != nil {
		return h, &fs.PathError{Op: "mkfifo", Path: bell, Err: err}
	}
	if h.root, err = os.OpenRoot(dir); err != nil {
		return h, err
	}
	// For both, so that it does not end when somebody leaves.
	if h.pipe, err = openPipe(h.root, bell, os.O_RDWR); err != nil {
		return h, errors.Join(err, h.root.Close())
	}
	return h, nil
}

// hears lets in who rings, until the bell is taken down.
func (h hung) hears(lets func(way)) {
	lines := bufio.NewReaderSize(h.pipe, 4096)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue // no name is that long
		}
		if err != nil {
			return
		}
		name := string(line[:len(line)-1])
		if !named.MatchString(name) {
			continue
		}
		if p, err := h.open(name); err == nil {
			lets(p)
		}
	}
}

// open opens the pipes of that name, which the other end holds open.
func (h hung) open(name string) (*pipes, error) {
	r, err := openPipe(h.root, name+spoken, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	w, err := openPipe(h.root, name+serverHeard, os.O_WRONLY)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &pipes{r, w}, nil
}

func (h hung) close() error { return errors.Join(h.pipe.Close(), h.root.Close()) }

// openPipe opens a pipe of the door's: what lies there instead of one was put there by a program in a sandbox.
func openPipe(root *os.Root, name string, mode int) (*os.File, error) {
	f, err := root.OpenFile(name, mode|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if i, err := f.Stat(); err != nil || i.Mode()&fs.ModeNamedPipe == 0 {
		return nil, errors.Join(fmt.Errorf("%s is no pipe", name), err, f.Close())
	}
	return f, nil
}

// ring comes in by pipes. came is to be called once something was heard: from then on it is heard too that the other end
// leaves.
func ring(dir string) (p *pipes, came func() error, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	name := rand.Text()
	opens := func(end string, mode int) (f *os.File) {
		if err == nil {
			f, err = openPipe(root, name+end, mode)
		}
		return f
	}
	for _, end := range []string{spoken, serverHeard} {
		if err == nil {
			err = syscall.Mkfifo(filepath.Join(dir, name+end), 0o600)
		}
	}
	both := opens(serverHeard, os.O_RDWR) // so that it does not end before the other end has come
	p = &pipes{r: opens(serverHeard, os.O_RDONLY), w: opens(spoken, os.O_RDWR)}
	var at *os.File
	if err == nil {
		at, err = openPipe(root, bell, os.O_WRONLY)
	}
	if err == nil {
		_, err = io.WriteString(at, name+"\n")
		err = errors.Join(err, at.Close())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("come in by pipes: %w", errors.Join(err, both.Close(), p.Close()))
	}
	return p, func() error {
		return errors.Join(both.Close(), os.Remove(filepath.Join(dir, name+spoken)), os.Remove(filepath.Join(dir, name+serverHeard)))
	}, nil
}
