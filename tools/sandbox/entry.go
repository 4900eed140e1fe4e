package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// entry is the state of one file, link or directory at a look.
type entry struct {
	dev, ino, rdev uint64
	mode           uint32 // kind and permissions, as the system has them
	uid, gid       uint32
	size           int64
	links          uint64 // names
	mtime, ctime   int64  // nanoseconds since 1970

	target  string   // of a link
	hash    [32]byte // of a file that was read
	content []byte   // of a file, if it was kept; else nil
	read    bool     // the file was read
	closed  bool     // the directory was not readable
	passage bool     // the directory only leads to a path of the snapshot: its mode and its other entries don't count
}

func entryOf(st *unix.Stat_t) *entry {
	e := &entry{
		dev: uint64(st.Dev), ino: st.Ino, rdev: uint64(st.Rdev), mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid, size: st.Size, links: uint64(st.Nlink),
		mtime: unix.TimespecToNsec(st.Mtim), ctime: unix.TimespecToNsec(st.Ctim),
	}
	if e.kind() == unix.S_IFDIR {
		e.size = 0 // file systems count it as they like
	}
	return e
}

// kind is S_IFREG and the like, or 0 if there is no file.
func (e *entry) kind() uint32 {
	if e == nil {
		return 0
	}
	return e.mode & unix.S_IFMT
}

// one reports whether both are the same file.
func (e *entry) one(n *entry) bool { return e.dev == n.dev && e.ino == n.ino && e.rdev == n.rdev }

// untouched reports whether nothing shows that the file was touched between e and n.
func (e *entry) untouched(n *entry) bool {
	return e.one(n) && e.mode == n.mode && e.size == n.size && e.mtime == n.mtime && e.ctime == n.ctime
}

// settled reports whether the file was last touched well before t.
func (e *entry) settled(t time.Time) bool { return e.ctime < t.Add(-coarse).UnixNano() }

// differ returns how o changed, or "" if it did not.
func differ(o, n *entry) ChangeKind {
	switch {
	case o == nil && n == nil:
		return ""
	case o == nil:
		if n.passage {
			return "" // its entries are compared by themselves
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

// differ says how two entries of one kind differ.
func (o *entry) differ(n *entry) ChangeKind {
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
		return "" // a link's permissions have no effect
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
	if o.kind() == unix.S_IFREG && n.links > o.links {
		return Linked
	}
	if o.mode != n.mode || o.uid != n.uid || o.gid != n.gid {
		return Mode
	}
	return ""
}
