package keep

import (
	"time"

	"golang.org/x/sys/unix"
)

// entry is one thing as a look saw it.
type entry struct {
	dev, ino, rdev uint64
	mode           uint32 // kind and permissions, as the system has them
	uid, gid       uint32
	size           int64
	mtime, ctime   int64 // nanoseconds since 1970

	target  string   // of a link
	hash    [32]byte // of a file that was read
	content []byte   // of a file whose content is kept; nil: it is not
	read    bool     // the file was read
	closed  bool     // the directory could not be looked into
	passage bool     // the directory only leads to what is looked at; what else is in it, and its mode, is nobody's concern
}

func entryOf(st *unix.Stat_t) *entry {
	e := &entry{
		dev: uint64(st.Dev), ino: st.Ino, rdev: uint64(st.Rdev), mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid, size: st.Size,
		mtime: unix.TimespecToNsec(st.Mtim), ctime: unix.TimespecToNsec(st.Ctim),
	}
	if e.kind() == unix.S_IFDIR {
		e.size = 0 // file systems count it as they like
	}
	return e
}

// kind is S_IFREG and the like; 0 for what is not there.
func (e *entry) kind() uint32 {
	if e == nil {
		return 0
	}
	return e.mode & unix.S_IFMT
}

// one reports whether both are the same file.
func (e *entry) one(n *entry) bool { return e.dev == n.dev && e.ino == n.ino && e.rdev == n.rdev }

// untouched reports whether nothing says that the file was touched between the looks.
func (e *entry) untouched(n *entry) bool {
	return e.one(n) && e.mode == n.mode && e.size == n.size && e.mtime == n.mtime && e.ctime == n.ctime
}

// settled reports whether the file was last touched well before t.
func (e *entry) settled(t time.Time) bool { return e.ctime < t.Add(-coarse).UnixNano() }

// differ says what became of o; "" if nothing did.
func differ(o, n *entry) What {
	switch {
	case o == nil && n == nil:
		return ""
	case o == nil:
		if n.passage {
			return "" // what stands in it is looked at by itself
		}
		return Made
	case n == nil:
		if o.passage {
			return ""
		}
		return Removed
	case o.kind() != n.kind():
		return Replaced
	case o.passage:
		if !o.one(n) {
			return Replaced
		}
		return ""
	}
	return o.differ(n)
}

// differ says how two of a kind differ.
func (o *entry) differ(n *entry) What {
	switch o.kind() {
	case unix.S_IFREG:
		if o.read && n.read {
			if o.size != n.size || o.hash != n.hash {
				return Changed
			}
		} else if !o.untouched(n) {
			return Changed
		}
	case unix.S_IFLNK:
		if o.target != n.target {
			return Changed
		}
		if !o.one(n) {
			return Replaced
		}
		return "" // its permissions mean nothing
	case unix.S_IFDIR:
		if o.closed != n.closed || o.closed && !o.untouched(n) {
			return Changed
		}
		fallthrough
	default:
		if !o.one(n) {
			return Replaced
		}
	}
	if o.mode != n.mode || o.uid != n.uid || o.gid != n.gid {
		return Mode
	}
	return ""
}
