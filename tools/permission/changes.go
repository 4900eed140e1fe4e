package permission

import (
	"slices"
	"sync"
	"time"
)

const (
	// blur is how far the time of a file's change may be from the clock's: file
	// systems take it from the kernel's last tick.
	blur = 20 * time.Millisecond
	// maxSpans bounds how many runs of commands are remembered separately; beyond it the two closest to each other
	// count as one.
	maxSpans = 4096
)

// Stamp identifies a version of a file: which file is at a path, and when the file or its place last changed (the
// inode's change time, which no program sets back). Of two changes in one tick of the kernel only the size can tell.
type Stamp struct {
	Dev, Ino uint64
	Size     int64
	Changed  time.Time
}

// Changes records what agents may have changed: the files that their tools wrote, and when their commands ran. It does
// no I/O. It is safe for concurrent use; nil records nothing.
type Changes struct {
	mu      sync.Mutex
	written map[string]time.Time // absolute path -> last written
	ran     []span               // in order, without overlaps
	open    map[int]time.Time    // commands that run -> since when
	next    int
}

// span is a time in which commands ran.
type span struct{ from, to time.Time }

func newChanges() *Changes {
	return &Changes{written: map[string]time.Time{}, open: map[int]time.Time{}}
}

// Wrote records that an agent's tool writes the file. Call it before the write and after it, so that no decision falls
// in between.
func (c *Changes) Wrote(path string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written[path] = time.Now()
}

// Runs records that an agent's command runs until done is called.
func (c *Changes) Runs() (done func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.next
	c.next++
	c.open[n] = time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.add(span{c.open[n].Add(-blur), time.Now().Add(blur)})
		delete(c.open, n)
	}
}

// add merges a span into the others.
func (c *Changes) add(s span) {
	i := 0
	for i < len(c.ran) && c.ran[i].to.Before(s.from) {
		i++
	}
	j := i
	for j < len(c.ran) && !c.ran[j].from.After(s.to) {
		if c.ran[j].from.Before(s.from) {
			s.from = c.ran[j].from
		}
		if c.ran[j].to.After(s.to) {
			s.to = c.ran[j].to
		}
		j++
	}
	c.ran = slices.Replace(c.ran, i, j, s)
	if len(c.ran) <= maxSpans {
		return
	}
	near := 0
	for k := 1; k+1 < len(c.ran); k++ {
		if c.ran[k+1].from.Sub(c.ran[k].to) < c.ran[near+1].from.Sub(c.ran[near].to) {
			near = k
		}
	}
	c.ran = slices.Replace(c.ran, near, near+2, span{c.ran[near].from, c.ran[near+1].to})
}

// during reports whether a command ran at that time.
func (c *Changes) during(t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, from := range c.open {
		if !t.Before(from.Add(-blur)) {
			return true
		}
	}
	i, _ := slices.BinarySearchFunc(c.ran, t, func(s span, t time.Time) int { return s.to.Compare(t) })
	return i < len(c.ran) && !t.Before(c.ran[i].from)
}

// Written are the files that agents' tools wrote after that time.
func (c *Changes) Written(t time.Time) []string {
	_, written := c.since(t)
	return written
}

// since reports whether a command ran after that time, and which files were written.
func (c *Changes) since(t time.Time) (ran bool, written []string) {
	if c == nil {
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for p, when := range c.written {
		if !when.Before(t) {
			written = append(written, p)
		}
	}
	slices.Sort(written)
	return len(c.open) > 0 || len(c.ran) > 0 && c.ran[len(c.ran)-1].to.After(t), written
}
