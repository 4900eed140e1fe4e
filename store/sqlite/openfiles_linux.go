package sqlite

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// openFiles holds the files that SQLite has open. It never opens or closes the file or -shm: that would drop SQLite's
// locks. An O_PATH descriptor affects no lock and keeps the inode number of a deleted file from being reused.
type openFiles struct {
	pins []int // O_PATH descriptors of the three files
	log  wal
	file int    // one of SQLite's own descriptors of the file; -1: unknown
	seen *state // of the file at the last look; nil: none yet
}

// identity is which file it is.
type identity struct{ dev, ino uint64 }

// state is when a file's content last changed, how far the log had been copied into it before, and a sample of the
// content.
type state struct {
	size   int64
	mtime  time.Time
	copied progress
	sample sample
}

const oPath = 0x200000 // O_PATH, which package syscall lacks

// hold records the files that SQLite has open for those in h.
func (o *openFiles) hold(h *Held) error {
	o.file = -1
	index, descriptors := -1, descriptors()
	for i, p := range h.paths {
		fd, err := syscall.Open(p, oPath|syscall.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "look at", Path: p, Err: err}
		}
		o.pins = append(o.pins, fd)
		var s syscall.Stat_t
		err = syscall.Fstat(fd, &s)
		id, own := identity{s.Dev, s.Ino}, descriptors[identity{s.Dev, s.Ino}]
		if err != nil || id != identify(h.noted[i]) || descriptors != nil && len(own) == 0 {
			return (&Damage{File, p, "was replaced while it was opened"}).Err("try again")
		}
		switch {
		case i == 0 && len(own) > 0:
			o.file = own[0]
		case i == 2 && len(own) > 0:
			index = own[0]
		}
	}
	o.log = openLog(o.pins[1], index)
	if before := o.begin(); before.known {
		o.seen = o.state(h, h.noted[0], before)
	}
	return nil
}

func (o *openFiles) release() {
	for _, fd := range o.pins {
		_ = syscall.Close(fd)
	}
	if o.pins != nil {
		o.log.close()
	}
	*o = openFiles{}
}

func identify(f os.FileInfo) identity {
	s := f.Sys().(*syscall.Stat_t)
	return identity{s.Dev, s.Ino}
}

// descriptors are this process's open files except O_PATH ones; nil if unknown.
func descriptors() map[identity][]int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	open := make(map[identity][]int, len(names))
	for _, n := range names {
		fd, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		flags, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
		var s syscall.Stat_t
		if e != 0 || flags&oPath != 0 || syscall.Fstat(fd, &s) != nil {
			continue
		}
		id := identity{s.Dev, s.Ino}
		open[id] = append(open[id], fd)
	}
	return open
}

// link is a path to the file of a descriptor, even if its name is gone.
func link(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// begin returns the log's head before the paths are checked, so that a copy into the file in between counts as not
// seen.
func (o *openFiles) begin() head { return o.log.head() }

// gone says how the i-th file left path, and whether it was moved.
func (o *openFiles) gone(i int, path string) (what string, moved bool) {
	var s syscall.Stat_t
	if syscall.Fstat(o.pins[i], &s) == nil && s.Nlink == 0 {
		return "was deleted", false
	}
	to, err := os.Readlink(link(o.pins[i]))
	if err != nil || to == path || strings.HasSuffix(to, " (deleted)") {
		return "was moved", true
	}
	return "was moved to " + to, true
}

// content finds a log that lacks committed frames, and a file that changed although SQLite copied nothing into it,
// according to the log's head. Setting a file's times is no change of its content.
func (o *openFiles) content(h *Held, before head, file os.FileInfo) *Damage {
	if !before.known {
		return nil
	}
	if what := o.log.lacks(before); what != "" {
		return &Damage{Log, h.paths[1], what}
	}
	seen := o.seen
	if seen == nil {
		o.seen = o.state(h, file, before)
		return nil
	}
	if file.Size() == seen.size && file.ModTime().Equal(seen.mtime) {
		if before.progress != seen.copied { // its end may fall into the same tick of the file's clock
			o.seen = o.state(h, file, before)
		}
		return nil
	}
	if after := o.begin(); after.known && after.progress == seen.copied && !seen.copied.runs() {
		if file.Size() != seen.size || !o.holds(h, seen.sample) {
			return &Damage{File, h.paths[0], "was overwritten"}
		}
		seen.mtime = file.ModTime()
		return nil
	}
	o.seen = o.state(h, file, before)
	return nil
}

// state is the file's state when the log's head is before.
func (o *openFiles) state(h *Held, file os.FileInfo, before head) *state {
	return &state{file.Size(), file.ModTime(), before.progress, o.take(h, file.Size(), before)}
}
