package files

import (
	"encoding/binary"
	"hash/crc32"
	"syscall"
)

const (
	sampled = 64   // blocks spread over the file: all of one up to 256 KiB
	recent  = 32   // pages that were copied out of the log last
	block   = 4096 // bytes of a block, and of a page unless somebody chose another
)

// sample is what some of the file's blocks hold. It tells the file from another
// database by the first one, and from an older state of itself by the pages that
// the log brought last: it was copied because they changed.
type sample struct {
	at  []int64 // where the blocks begin; nil: they could not be read
	sum uint32
}

// take reads the sample of a file of that size, whose log has the head h.
func (t *trio) take(size int64, h head) sample {
	blocks := (size + block - 1) / block
	n := min(blocks, sampled)
	at := make([]int64, 0, n+recent)
	for i := range n {
		at = append(at, i*blocks/n*block)
	}
	if blocks > n && t.log.file != nil && h.page > 0 {
		var page [4]byte
		for frame := int64(h.done); frame > max(0, int64(h.done)-recent); frame-- {
			if _, err := t.log.file.ReadAt(page[:], logHead+(frame-1)*(frameHead+h.page)); err == nil {
				at = append(at, (int64(binary.BigEndian.Uint32(page[:]))-1)*h.page)
			}
		}
	}
	sum, read := t.sum(at)
	if !read {
		return sample{}
	}
	return sample{at, sum}
}

// holds reports whether the file surely holds what it held when s was taken.
func (t *trio) holds(s sample) bool {
	sum, read := t.sum(s.at)
	return read && len(s.at) > 0 && sum == s.sum
}

// sum reads the blocks through SQLite's own descriptor.
func (t *trio) sum(at []int64) (sum uint32, read bool) {
	if !t.own() {
		return 0, false
	}
	var b [block]byte
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, offset := range at {
		n, err := syscall.Pread(t.file, b[:], offset)
		if err != nil {
			return 0, false
		}
		sum = crc32.Update(sum, table, b[:n])
	}
	return sum, t.own()
}

// own reports whether file is a descriptor of the file. The connection it belonged
// to may have been closed since; then another one's is looked for.
func (t *trio) own() bool {
	is := func() bool {
		var s syscall.Stat_t
		return t.file >= 0 && syscall.Fstat(t.file, &s) == nil && s.Dev == t.pins[0].id.dev && s.Ino == t.pins[0].id.ino
	}
	if is() {
		return true
	}
	t.file = -1
	if fds := descriptors()[identity{dev: t.pins[0].id.dev, ino: t.pins[0].id.ino}]; len(fds) > 0 {
		t.file = fds[0]
	}
	return is()
}
