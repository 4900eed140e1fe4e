package files

import (
	"crypto/sha256"
	"io/fs"
	"sync"
	"time"
)

// Seen remembers the state of files when they were read (device, inode, size, time, hash). It is safe for concurrent
// use; a nil Seen remembers nothing.
type Seen struct {
	mu    sync.Mutex
	files map[string]state
}

// state is how a file was. Of a file too large to be read whole there is no hash.
type state struct {
	id     id
	size   int64
	mtime  time.Time
	sum    [sha256.Size]byte
	hashed bool
}

// NewSeen returns an empty Seen.
func NewSeen() *Seen { return &Seen{files: map[string]state{}} }

// Put records a file; data is nil if it was not read whole.
func (s *Seen) Put(path string, fi fs.FileInfo, data []byte) {
	if s == nil {
		return
	}
	st := state{id: identity(fi), size: fi.Size(), mtime: fi.ModTime()}
	if data != nil {
		st.sum, st.hashed = sha256.Sum256(data), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = st
}

// Has reports whether the file was read.
func (s *Seen) Has(path string) bool {
	_, ok := s.get(path)
	return ok
}

// Same reports whether the file, which now holds data, is as it was when it was read. If there is a hash, it decides:
// times are too coarse to distinguish two quick writes, and a file with only a new time is the same.
func (s *Seen) Same(path string, fi fs.FileInfo, data []byte) bool {
	st, ok := s.get(path)
	switch {
	case !ok:
		return false
	case st.hashed:
		return st.sum == sha256.Sum256(data)
	}
	return st.id == identity(fi) && st.size == fi.Size() && st.mtime.Equal(fi.ModTime())
}

func (s *Seen) get(path string) (state, bool) {
	if s == nil {
		return state{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.files[path]
	return st, ok
}
