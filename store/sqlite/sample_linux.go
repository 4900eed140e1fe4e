package sqlite

import (
	"encoding/binary"
	"hash/crc32"
	"syscall"
)

const (
	sampled = 64   // blocks spread over the file: all blocks up to 256 KiB
	recent  = 32   // pages that were copied out of the log last
	block   = 4096 // bytes of a block, and of a page by default
)

// sample is a checksum of some of the file's blocks. The first block distinguishes the file from another database. The
// pages that the log brought last distinguish it from an older state of itself: they were copied because they changed.
type sample struct {
	at  []int64 // where the blocks begin; nil: they could not be read
	sum uint32
}

// take reads the sample of the file, given its size and the log's head before.
func (o *openFiles) take(h *Held, size int64, before head) sample {
	blocks := (size + block - 1) / block
	n := min(blocks, sampled)
	at := make([]int64, 0, n+recent)
	for i := range n {
		at = append(at, i*blocks/n*block)
	}
	if blocks > n && o.log.fd >= 0 && before.page > 0 {
		var page [4]byte
		for frame := int64(before.done); frame > max(0, int64(before.done)-recent); frame-- {
			if got, err := syscall.Pread(o.log.fd, page[:], logHead+(frame-1)*(frameHead+before.page)); err == nil && got == len(page) {
				at = append(at, (int64(binary.BigEndian.Uint32(page[:]))-1)*before.page)
			}
		}
	}
	sum, read := o.sum(h, at)
	if !read {
		return sample{}
	}
	return sample{at, sum}
}

// holds reports whether the file surely has the same content as when s was taken.
func (o *openFiles) holds(h *Held, s sample) bool {
	sum, read := o.sum(h, s.at)
	return read && len(s.at) > 0 && sum == s.sum
}

// sum reads the blocks through SQLite's own descriptor.
func (o *openFiles) sum(h *Held, at []int64) (sum uint32, read bool) {
	id := identify(h.noted[0])
	if !o.own(id) {
		return 0, false
	}
	var b [block]byte
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, offset := range at {
		n, err := syscall.Pread(o.file, b[:], offset)
		if err != nil {
			return 0, false
		}
		sum = crc32.Update(sum, table, b[:n])
	}
	return sum, o.own(id)
}

// own reports whether file is a descriptor of the file. Its connection may have been closed since; then own looks for
// another one's.
func (o *openFiles) own(id identity) bool {
	is := func() bool {
		var s syscall.Stat_t
		return o.file >= 0 && syscall.Fstat(o.file, &s) == nil && id == identity{s.Dev, s.Ino}
	}
	if is() {
		return true
	}
	o.file = -1
	if fds := descriptors()[id]; len(fds) > 0 {
		o.file = fds[0]
	}
	return is()
}
