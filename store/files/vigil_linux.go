package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Vigil hears of what is done to the files while nobody looks at them: to their names, to the directories above, and to
// their content. Of each only the first is heard, so that a commit costs nothing but after a rest.
type Vigil struct {
	in   *os.File // of inotify
	news chan struct{}
}

const (
	anyChange = fileChanges | itMoves
	once      = 0x80000000 // IN_ONESHOT
)

// NewVigil makes one, whose ears start runs until Close. nil: the kernel can't be asked.
func NewVigil(start func(name string, f func())) *Vigil {
	in, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	v := &Vigil{in: os.NewFile(uintptr(in), "inotify"), news: make(chan struct{}, 1)}
	start("hear what is done to the database's files", v.hear)
	return v
}

func (v *Vigil) hear() {
	var notes [4096]byte
	for {
		_, err := v.in.Read(notes[:])
		switch {
		case errors.Is(err, fs.ErrClosed):
			return
		case err != nil:
			_ = v.in.Close() // so that Begin says that nothing is heard
		}
		select {
		case v.news <- struct{}{}:
		default:
		}
	}
}

// Begin has all heard that is done to the files from now on; a look must follow. It is false if not all can be heard: the
// path is a symbolic link, or leads to a file system that others change too.
func (v *Vigil) Begin(h *Held) bool {
	t := h.held()
	if v == nil || t == nil || !t.watchable {
		return false
	}
	select {
	case <-v.news:
	default:
	}
	ears, err := v.in.SyscallConn()
	if err != nil {
		return false
	}
	ok := true
	err = ears.Control(func(in uintptr) {
		add := func(path string, mask uint32) {
			var fs syscall.Statfs_t
			if ok = ok && syscall.Statfs(path, &fs) == nil && local[int64(fs.Type)]; ok { //nolint:unconvert // narrower elsewhere
				_, err := syscall.InotifyAddWatch(int(in), path, mask|once)
				ok = err == nil
			}
		}
		for _, p := range t.pins {
			add(link(p.fd), anyChange)
		}
		dir := filepath.Dir(t.pins[0].path)
		add(dir, namesChange|itMoves|syscall.IN_ONLYDIR)
		for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
			add(up, itMoves|syscall.IN_ONLYDIR)
		}
	})
	return ok && err == nil
}

// News returns a channel that holds a token when something was done since Begin.
func (v *Vigil) News() <-chan struct{} { return v.news }

// Close ends the vigil. The kernel may take tens of milliseconds for it.
func (v *Vigil) Close() {
	if v != nil {
		_ = v.in.Close()
	}
}
