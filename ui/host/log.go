package host

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Log takes what is written to standard error while no terminal shows it, and writes it to a file. A full file is
// renamed, and only one such old file is kept.
type Log struct {
	path    string // "": no file
	watched bool   // the output also goes to was
	was     *os.File
	w       *os.File
	done    chan struct{}

	mu   sync.Mutex
	file *os.File
	size int64
	tail []byte

	asking sync.Mutex    // held by a caller that waits for a mark
	marked chan struct{} // gets a token when a mark has come through
}

// mark is a byte that only Tail writes, to see it come through.
const mark = 0

// The largest size of the file, and of the tail in memory, in bytes.
const (
	logSize = 8 << 20
	logTail = 256 << 10
)

// Keep redirects standard error into the file of that path, or nowhere if it is "", until End. start starts a
// goroutine.
func Keep(path string, start func(name string, f func())) (*Log, error) {
	return (&Log{path: path}).begin(start)
}

// Copy is Keep for a standard error that is read, as a service's is: all output also goes where it went before.
func Copy(path string, start func(name string, f func())) (*Log, error) {
	return (&Log{path: path, watched: true}).begin(start)
}

func (l *Log) begin(start func(name string, f func())) (*Log, error) {
	l.was, l.done, l.marked = os.Stderr, make(chan struct{}), make(chan struct{}, 1)
	if l.path != "" {
		if err := l.open(); err != nil {
			return nil, fmt.Errorf("keep a log: %w", err)
		}
		if err := l.redirect(); err != nil {
			return nil, fmt.Errorf("keep a log: %w", err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("set standard error aside: %w", err)
	}
	// Fd makes reads block a thread in the kernel. The runtime wakes up a goroutine that waits in its poller at every
	// tick of every timer.
	_ = r.Fd()
	l.w, os.Stderr = w, w
	log.SetOutput(w)
	start("standard error", func() {
		defer close(l.done)
		defer r.Close()
		_, _ = io.Copy(l, r)
	})
	return l, nil
}

// redirect sends the Go runtime's own messages, which bypass os.Stderr, to the file too.
func (l *Log) redirect() error {
	if l.watched {
		return nil // standard error is read already
	}
	return unix.Dup2(int(l.file.Fd()), syscall.Stderr)
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write implements [io.Writer]. Bytes that can't be written are lost: there is no place left to report that.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	if bytes.IndexByte(p, mark) >= 0 {
		p = bytes.ReplaceAll(p, []byte{mark}, nil)
		defer func() {
			select {
			case l.marked <- struct{}{}:
			default:
			}
		}()
	}
	l.tail = append(l.tail, p...)
	l.tail = l.tail[max(0, len(l.tail)-logTail):]
	if l.watched {
		_, _ = l.was.Write(p)
	}
	if l.file == nil {
		return n, nil
	}
	if l.size+int64(len(p)) > logSize {
		_ = l.file.Close()
		_ = os.Rename(l.path, l.path+".1")
		if err := l.open(); err != nil {
			l.file = nil
			return n, nil
		}
		_ = l.redirect()
	}
	written, _ := l.file.Write(p)
	l.size += int64(written)
	return n, nil
}

// Printf adds a line with the time.
func (l *Log) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(l, time.Now().UTC().Format(time.RFC3339)+" "+format+"\n", args...)
}

// Tail returns what was written last, including all that this process has written until now.
func (l *Log) Tail() string {
	l.through()
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.tail)
}

// through waits until what was written to standard error has come through the pipe.
func (l *Log) through() {
	l.asking.Lock()
	defer l.asking.Unlock()
	select {
	case <-l.marked: // from a caller that did not wait for it
	default:
	}
	if _, err := l.w.Write([]byte{mark}); err != nil {
		return // it has ended
	}
	late := time.NewTimer(endsWithin)
	defer late.Stop()
	select {
	case <-l.marked:
	case <-late.C:
	}
}

// End restores standard error.
func (l *Log) End() {
	os.Stderr = l.was
	log.SetOutput(l.was)
	_ = l.w.Close()
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
	}
}
