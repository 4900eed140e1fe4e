// Package files is the files of a SQLite database on disk.
//
// Does: say whether they are still those that this process has open, whole and where
// they were ([Held]), and what was done to them ([Damage]); put back what is only in
// what is still open; wait until another process has put back its own; say what may be
// written, and whether anybody wrote meanwhile.
//
// Does not: speak SQL, open a connection, or drop the locks that SQLite holds: closing any
// descriptor of the file would.
//
// Imports: nothing of ours.
package files

import (
	"strings"
	"sync/atomic"
)

// Held are the files of one database as the connections of this process have them open.
// One goroutine at a time, whoever's turn it is to write, looks at them and mends them; Opened, Closed,
// Lapsed and Calm are safe for concurrent use.
type Held struct {
	trio        atomic.Pointer[trio] // nil: none were noted yet
	connections atomic.Int32
	lapsed      atomic.Bool // there was a moment without connections, so trio no longer holds
}

// Opened counts a connection that is about to be opened.
func (h *Held) Opened() { h.connections.Add(1) }

// Closed counts one that was closed, or could not be opened.
func (h *Held) Closed() {
	// SQLite deletes -wal and -shm itself when nobody has them open.
	if h.connections.Add(-1) == 0 {
		h.lapsed.Store(true)
	}
}

// Lapsed reports that there was a moment without connections since the files were noted.
func (h *Held) Lapsed() bool { return h.lapsed.Load() }

// Hold notes the files of path, which a connection has open and has read from.
func (h *Held) Hold(path string) error {
	h.lapsed.Store(false)
	t, err := holdTrio(path)
	if err != nil {
		return err
	}
	if old := h.trio.Swap(t); old != nil {
		old.release()
	}
	return nil
}

// Release lets go of what Hold noted.
func (h *Held) Release() {
	if t := h.trio.Swap(nil); t != nil {
		t.release()
	}
}

// held is the files that the connections have open; nil: that is not known.
func (h *Held) held() *trio {
	if h.lapsed.Load() {
		return nil
	}
	return h.trio.Load()
}

// Damage is what happened to the files; nil: nothing, or they are not known.
func (h *Held) Damage() *Damage {
	if t := h.held(); t != nil {
		return t.look()
	}
	return nil
}

// Glimpse is Damage while the log's lock is held. If nothing was noted of the paths
// only the log is looked at.
func (h *Held) Glimpse() *Damage {
	if t := h.held(); t != nil {
		return t.glance()
	}
	return nil
}

// Taken is what happened to the files while a transaction ran, which is committed.
func (h *Held) Taken() *Damage {
	t := h.held()
	if t == nil {
		return nil
	}
	if d := t.kept(); d != nil || t.calm() {
		return d
	}
	return t.look() // the log may have been copied, or it is where nobody will look
}

// Calm reports that nothing about the files needs a look.
func (h *Held) Calm() bool {
	t := h.trio.Load()
	return t == nil || t.calm()
}

// Log is where -wal belongs, and Real the file, which the path that was held may be a
// link to.
func (h *Held) Log() string { return h.trio.Load().pins[1].path }

// Real is the file's path without symbolic links.
func (h *Held) Real() string { return strings.TrimSuffix(h.Log(), "-wal") }
