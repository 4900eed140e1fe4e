package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Still is the state of a file and its log when reading without locks began.
type Still struct {
	path string // of the file, without symbolic links
	file os.FileInfo
	log  os.FileInfo // nil: there was none
}

// Look records the state of the file at real, which is no symbolic link, and its log.
func Look(real string) (s *Still, err error) {
	s = &Still{path: real}
	if s.file, err = os.Stat(real); err != nil {
		return nil, err
	}
	if s.log, err = os.Stat(real + "-wal"); err != nil {
		s.log = nil
	}
	return s, nil
}

// Empty reports whether the log is empty or missing.
func (s *Still) Empty() bool { return s.log == nil || s.log.Size() == 0 }

// Moved returns an error (ErrChanged) if the file was written since.
func (s *Still) Moved() error {
	same := func(a, b os.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	}
	if now, err := Look(s.path); err != nil || !same(now.file, s.file) || !same(now.log, s.log) {
		return fmt.Errorf("%w: somebody wrote to %s while it was read without locks: try again", ErrChanged, s.path)
	}
	return nil
}

// CopyTo copies the file and its log into dir and returns where the copy is.
func (s *Still) CopyTo(dir string) (path string, err error) {
	path = filepath.Join(dir, filepath.Base(s.path))
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(s.path+suffix, path+suffix); err != nil {
			return "", err
		}
	}
	return path, s.Moved()
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
