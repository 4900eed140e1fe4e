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

// Where the kernel has no namespaces for a sandbox, programs in it can't create sockets. Such a
// program connects by two pipes: it creates them in the door's directory, and writes their name to
// the door's pipe.
const (
	bell        = "mcp.bell" // the door's pipe
	spoken      = ".in"      // suffix of the pipe that the program writes to
	serverHeard = ".out"     // suffix of the pipe that the program reads from
)

// named matches the names of pipes.
var named = regexp.MustCompile(`^[A-Z0-9]{26}$`)

// way is the connection to a program at the door.
type way interface {
	io.ReadWriteCloser
	SetReadDeadline(at time.Time) error
}

// pipes is a way of two pipes: one to read, one to write.
type pipes struct{ r, w *os.File }

func (p *pipes) Read(b []byte) (int, error)         { return p.r.Read(b) }
func (p *pipes) Write(b []byte) (int, error)        { return p.w.Write(b) }
func (p *pipes) SetReadDeadline(at time.Time) error { return p.r.SetReadDeadline(at) }
func (p *pipes) Close() error                       { return errors.Join(p.r.Close(), p.w.Close()) }

// hung is the door's pipe, which receives names of pipes.
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
	// Open both ends, so that the pipe does not end when a writer leaves.
	if h.pipe, err = openPipe(h.root, bell, os.O_RDWR); err != nil {
		return h, errors.Join(err, h.root.Close())
	}
	return h, nil
}

// hears calls lets for each program that connects, until the pipe is closed.
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

// open opens the pipes of that name. The other end holds them open.
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

// openPipe opens a pipe in the door's directory. It refuses anything else, which a program in a
// sandbox may have put there.
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

// ring connects by pipes. The caller calls came once it has received something; from then on it
// notices when the other end leaves.
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
	both := opens(serverHeard, os.O_RDWR) // keeps the pipe open until the other end has connected
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
