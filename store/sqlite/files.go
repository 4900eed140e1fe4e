package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrChanged is the error of a write or read that found that another program had deleted, replaced or overwritten the
// open files. Such a write is not acknowledged.
var ErrChanged = errors.New("somebody changed the database's files while they were open")

// ErrStopped is the ErrChanged of a database that is no longer used: a new process must open it.
var ErrStopped = fmt.Errorf("%w, and it is not used any more", ErrChanged)

// Harm is the kind of damage to the open files.
type Harm int

const (
	Away  Harm = iota + 1 // the file is elsewhere, has a second name or is unreadable: it may come back
	Index                 // -shm is gone or another: nothing is lost, but new processes don't see the others
	Log                   // -wal is gone, another, or overwritten
	File                  // the file is gone, another, or overwritten; its log belongs to no other
)

// Damage is one difference between the files that SQLite has open and the files at their paths.
type Damage struct {
	Harm Harm
	File string // its path
	what string // how it changed
}

// Err returns the damage as an error. next says what it means and what to do next.
func (d *Damage) Err(next string) error {
	return fmt.Errorf("%w: %s %s: %s", ErrChanged, d.File, d.what, next)
}

// Stop is Err for a database that is not used any more.
func (d *Damage) Stop(next string) error {
	return fmt.Errorf("%w: %s %s: %s", ErrStopped, d.File, d.what, next)
}

// Held are the files of one database as this process's connections have them open. Only the goroutine that is writing
// uses it.
type Held struct {
	paths  [3]string      // of the file, -wal and -shm
	noted  [3]os.FileInfo // the files at their paths; nil: not held
	dir    os.FileInfo    // the file's directory; nil: it was unreadable
	linked bool           // the file's path is a symbolic link

	open openFiles
}

// Hold records the files of path, which a connection has open and has read from. It returns an error if it recorded
// another file before.
func (h *Held) Hold(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	now := Held{paths: [3]string{path, real + "-wal", real + "-shm"}, linked: real != path}
	for i, p := range now.paths {
		if now.noted[i], err = os.Stat(p); err != nil {
			return err
		}
	}
	if n := links(now.noted[0]); n > 1 {
		return (&Damage{Away, path, fmt.Sprintf("has %d names (hard links)", n)}).Err(
			"whoever opens it by another one overwrites what is written here: remove the others (find DIR -samefile FILE lists them)")
	}
	if h.noted[0] != nil && !os.SameFile(now.noted[0], h.noted[0]) {
		return (&Damage{File, path, "was replaced by another file"}).Stop("end this program, see which file is to be there, and start it again")
	}
	now.dir, _ = os.Stat(filepath.Dir(path))
	if err := now.open.hold(&now); err != nil {
		now.open.release()
		return err
	}
	h.open.release()
	*h = now
	return nil
}

// Release undoes Hold.
func (h *Held) Release() {
	h.open.release()
	*h = Held{}
}

// Damage compares the files with those that were held. It returns nil if they are unchanged, or were not held.
func (h *Held) Damage() *Damage {
	if h.noted[0] == nil {
		return nil
	}
	before := h.open.begin()
	var file os.FileInfo
	for i, p := range h.paths {
		now, err := os.Stat(p)
		if i == 0 {
			file = now
		}
		harm := [...]Harm{File, Log, Index}[i]
		switch {
		case err == nil && !os.SameFile(now, h.noted[i]):
			return &Damage{harm, p, "was replaced by another file"}
		case err == nil && i == 0 && links(now) > 1:
			return &Damage{Away, p, fmt.Sprintf("has %d names (hard links)", links(now))}
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return &Damage{Away, p, "can't be looked at: " + err.Error()}
		}
		what, moved := h.open.gone(i, p)
		if moved && i == 0 {
			harm = Away
		}
		return &Damage{harm, p, what}
	}
	return h.open.content(h, before, file)
}

// Lost reports whether the file's directory is missing or another one. An unreadable one is not lost: a file server may
// not respond for a while.
func (h *Held) Lost() bool {
	if h.dir == nil {
		return false
	}
	is, err := os.Stat(filepath.Dir(h.paths[0]))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	return !os.SameFile(is, h.dir)
}

// RenameLog renames -wal and -shm, if these are the open files, to name with their endings, and returns their new
// names. SQLite would copy a log that it finds next to another file into that file.
func (h *Held) RenameLog(name string) (names []string) {
	for i, p := range h.paths {
		if now, err := os.Stat(p); i == 0 || err != nil || !os.SameFile(now, h.noted[i]) {
			continue
		}
		to := name + p[strings.LastIndexByte(p, '-'):]
		if os.Rename(p, to) == nil {
			names = append(names, to)
		}
	}
	return names
}

// links is how many names a file has. Other names of -wal and -shm don't matter: SQLite opens neither by them.
func links(f os.FileInfo) uint64 {
	s, ok := f.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(s.Nlink) //nolint:unconvert // narrower elsewhere
}
