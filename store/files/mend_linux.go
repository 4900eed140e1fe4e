package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Fence locks the file as another process could: until lift is called no connection that
// is closed is the last one, which would copy the log, by an index nobody else sees any
// more, and delete it.
func (h *Held) Fence() (lift func(), err error) {
	fence, err := syscall.Open(link(h.trio.Load().pins[0].fd), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("lock the old file: %w", err)
	}
	lock := syscall.Flock_t{Type: syscall.F_RDLCK, Start: sharedByte, Len: sharedSize}
	if err := syscall.FcntlFlock(uintptr(fence), setOFDLock, &lock); err != nil {
		return nil, fmt.Errorf("lock the old file: %w", err) // open: to close it drops SQLite's own locks
	}
	return func() { _ = syscall.Close(fence) }, nil // it was only read
}

// PutBack gives -wal's content its name back, unless somebody has made another one:
// that one would have to hold all that is committed in this one. While this process has
// the file open nobody deletes a -wal in the ordinary way, so where there is none,
// nobody has opened the file since. A transaction keeps the log whole meanwhile; copied
// is the name of a file that is made and removed.
func (h *Held) PutBack(copied string) error {
	t := h.trio.Load()
	if t.log.file == nil {
		return errors.New("it can't be read")
	}
	info, err := t.log.file.Stat()
	if err != nil {
		return err
	}
	path := t.pins[1].path
	f, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(copied)
	_, err = io.Copy(f, io.NewSectionReader(t.log.file, 0, info.Size()))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(copied, path); errors.Is(err, fs.ErrExist) {
		return t.continued(path)
	}
	if err == nil {
		syncDir(filepath.Dir(path))
	}
	return err
}

// continued is nil if the log at path begins with all that is committed in t's.
func (t *trio) continued(path string) error {
	if h, known := t.log.head(); known && h.frames == 0 {
		return nil
	}
	ours, err := io.ReadAll(io.NewSectionReader(t.log.file, 0, 1<<40))
	if err != nil {
		return err
	}
	ours = ours[:committed(ours)]
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	theirs := make([]byte, len(ours))
	if _, err := io.ReadFull(f, theirs); err != nil || !bytes.Equal(ours, theirs) {
		return errors.New("another process has made a new one meanwhile")
	}
	return nil
}

// committed is how many bytes of a log are its last commit and what is before it.
func committed(log []byte) (n int) {
	if len(log) < logHead {
		return 0
	}
	size := frameHead + int(binary.BigEndian.Uint32(log[8:]))
	for at := logHead; at+size <= len(log); at += size {
		frame := log[at:]
		if !bytes.Equal(frame[8:16], log[16:24]) {
			break // of an earlier round
		}
		if binary.BigEndian.Uint32(frame[4:]) != 0 {
			n = at + size
		}
	}
	return n
}

// Replace gives a deleted file's name to the one called name, which holds all that is in
// the one that is still open; the old log is set aside for it, as aside. It is an error if
// the name was given to another one.
func (h *Held) Replace(name, aside string) error {
	t, real := h.trio.Load(), h.Real()
	old := h.SetAside(aside) // a log beside a file that it does not belong to would be copied into it
	for _, p := range t.pins[1:] {
		if _, err := os.Lstat(p.path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("all that was acknowledged is in %s, but there is another %s", name, p.path)
		}
	}
	if err := os.Link(name, real); err != nil {
		return fmt.Errorf("all that was acknowledged is in %s: %w", name, err)
	}
	for _, old := range append(old, name) {
		_ = os.Remove(old) // its content has the database's name again
	}
	syncDir(filepath.Dir(real))
	return nil
}

// SetAside renames -wal and -shm, if they are those that are open, to name with their
// endings, and returns their new names.
func (h *Held) SetAside(name string) (names []string) {
	t, real := h.trio.Load(), h.Real()
	for _, p := range t.pins[1:] {
		var s syscall.Stat_t
		if syscall.Stat(p.path, &s) != nil {
			continue
		}
		if id := identify(&s, 0); id.dev != p.id.dev || id.ino != p.id.ino {
			continue
		}
		to := name + strings.TrimPrefix(p.path, real)
		if os.Rename(p.path, to) == nil {
			names = append(names, to)
		}
	}
	return names
}
