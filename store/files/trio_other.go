//go:build !linux

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// trio is the database's three files as SQLite has them open. Here it only
// compares what their paths lead to.
type trio struct{ pins [3]pin }

type pin struct {
	path string
	info fs.FileInfo
}

func holdTrio(path string) (*trio, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	t := &trio{}
	for i, p := range [...]string{path, real + "-wal", real + "-shm"} {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		t.pins[i] = pin{p, info}
	}
	return t, nil
}

func (t *trio) release() {}

func (t *trio) calm() bool { return t.look() == nil }

func (t *trio) glance() *Damage { return t.look() }

func (t *trio) kept() *Damage { return nil }

func (t *trio) look() *Damage {
	for i, p := range t.pins {
		now, err := os.Stat(p.path)
		switch {
		case err == nil && os.SameFile(now, p.info):
			continue
		case err == nil:
			return &Damage{[...]Harm{Replaced, Journal, Index}[i], p.path, "was replaced by another file"}
		case errors.Is(err, fs.ErrNotExist):
			return &Damage{[...]Harm{Deleted, Journal, Index}[i], p.path, "was deleted or moved"}
		default:
			return &Damage{Away, p.path, "can't be looked at: " + err.Error()}
		}
	}
	return nil
}
