package store

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

// heal makes the paths lead to all that was acknowledged, if that is certain, and
// opens the files anew.
func (db *DB) heal(d *damage) error {
	t := db.files.Load()
	switch d.harm {
	case index:
		return db.reopen(t)
	case journal:
		if err := db.putBack(t); err != nil {
			return fmt.Errorf("its content could not be put back: %w", err)
		}
		return db.reopen(t)
	case deleted:
		if err := db.restore(t); err != nil {
			return fmt.Errorf("it could not be written anew: %w", err)
		}
		return db.reopen(t)
	}
	return errHopeless
}

// reopen closes all connections without changing any file and opens the
// database anew. The lock is one that another process could hold: with it no
// connection is the last one, which would copy the log, by an index nobody else
// sees any more, and delete it.
func (db *DB) reopen(t *trio) error {
	resume, ok := db.readers.pause(busyTimeout)
	if !ok {
		return errors.New("a read does not end")
	}
	defer resume()
	fence, err := syscall.Open(link(t.pins[0].fd), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("lock the old file: %w", err)
	}
	lock := syscall.Flock_t{Type: syscall.F_RDLCK, Start: sharedByte, Len: sharedSize}
	if err := syscall.FcntlFlock(uintptr(fence), setOFDLock, &lock); err != nil {
		return fmt.Errorf("lock the old file: %w", err) // open: to close it drops SQLite's own locks
	}
	db.readers.close()
	if err = db.writer.conn.close(); err != nil {
		err = fmt.Errorf("close the old files: %w", err)
	}
	db.writer.conn = nil
	_ = syscall.Close(fence) // it was only read
	db.writer.gate.close()   // its files may be others as well
	if err != nil {
		return err
	}
	if err := db.renew(); err != nil {
		return fmt.Errorf("open it again: %w", err)
	}
	return nil
}

// putBack gives -wal's content its name back, unless somebody has made another
// one: that one would have to hold all that is committed in this one. While this
// process has the file open nobody deletes a -wal in the ordinary way, so where
// there is none, nobody has opened the file since.
func (db *DB) putBack(t *trio) (err error) {
	if t.log.file == nil {
		return errors.New("it can't be read")
	}
	c := db.writer.conn
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil { // the log is whole and stays as it is
		return err
	}
	defer func() { err = errors.Join(err, c.rollback()) }()
	info, err := t.log.file.Stat()
	if err != nil {
		return err
	}
	path := t.pins[1].path
	name := db.beside(path, "copy")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	_, err = io.Copy(f, io.NewSectionReader(t.log.file, 0, info.Size()))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(name, path); errors.Is(err, fs.ErrExist) {
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

// restore writes a deleted file anew under its name, with all that is in the one
// that is still open. It is an error if the name was given to another one.
func (db *DB) restore(t *trio) error {
	real := db.realPath()
	if err := makeDir(filepath.Dir(real)); err != nil {
		return err
	}
	name := db.beside(real, "restored")
	if err := db.copyOut(name); err != nil {
		return err
	}
	aside := db.setAside(real) // a log beside a file that it does not belong to would be copied into it
	for _, p := range t.pins[1:] {
		if _, err := os.Lstat(p.path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("all that was acknowledged is in %s, but there is another %s", name, p.path)
		}
	}
	if err := os.Link(name, real); err != nil {
		return fmt.Errorf("all that was acknowledged is in %s: %w", name, err)
	}
	for _, old := range append(aside, name) {
		_ = os.Remove(old) // its content has the database's name again
	}
	syncDir(filepath.Dir(real))
	return nil
}

// setAside renames -wal and -shm if they are those that are open, and returns
// their new names.
func (db *DB) setAside(real string) (names []string) {
	t := db.files.Load()
	for _, p := range t.pins[1:] {
		var s syscall.Stat_t
		if syscall.Stat(p.path, &s) != nil {
			continue
		}
		if id := identify(&s, 0); id.dev != p.id.dev || id.ino != p.id.ino {
			continue
		}
		name := db.beside(real, "aside") + strings.TrimPrefix(p.path, real)
		if os.Rename(p.path, name) == nil {
			names = append(names, name)
		}
	}
	return names
}
