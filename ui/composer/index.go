package composer

import (
	"strings"
)

// FileIndex finds paths by a few of their letters. It is immutable and may be shared.
type FileIndex struct {
	paths []string
	low   []string // in small letters
	base  []int    // where the name begins in low
}

// NewFileIndex makes an index of paths. Of equally good matches the earlier path is found first.
func NewFileIndex(paths []string) *FileIndex {
	x := &FileIndex{paths: paths, low: make([]string, len(paths)), base: make([]int, len(paths))}
	for i, p := range paths {
		x.low[i] = strings.ToLower(p)
		x.base[i] = strings.LastIndexByte(x.low[i], '/') + 1
	}
	return x
}

// Len returns the number of paths.
func (x *FileIndex) Len() int { return len(x.paths) }

// The ways a path matches, the best first.
const (
	named    = iota // the name is the word, or is it without its extension
	begins          // the path or the name begins with it
	within          // the name holds it
	anywhere        // the path holds it
	letters         // the path holds its letters in order
	ways
)

// Find returns at most n paths that contain the letters of word in order, the best first. It ignores case. Without a
// word it returns the first n.
func (x *FileIndex) Find(word string, n int) []string {
	if n <= 0 {
		return nil
	}
	if word == "" {
		return x.paths[:min(n, len(x.paths)):min(n, len(x.paths))]
	}
	word = strings.ToLower(word)
	var found [ways][]int
	for i, low := range x.low {
		way := match(low, x.base[i], word)
		if way < ways && len(found[way]) < n {
			found[way] = append(found[way], i)
		}
	}
	var out []string
	for _, places := range found {
		for _, i := range places {
			if len(out) == n {
				return out
			}
			out = append(out, x.paths[i])
		}
	}
	return out
}

// match returns the way in which low matches, ways if it does not.
func match(low string, base int, word string) int {
	at := strings.Index(low, word)
	if at < 0 {
		if subsequence(low, word) {
			return letters
		}
		return ways
	}
	name := low[base:]
	if strings.HasPrefix(name, word) {
		if rest := name[len(word):]; rest == "" || rest[0] == '.' {
			return named
		}
		return begins
	}
	switch {
	case at == 0:
		return begins
	case at >= base || strings.Contains(name, word):
		return within
	default:
		return anywhere
	}
}

// subsequence reports whether low contains the bytes of word in order.
func subsequence(low, word string) bool {
	for i := range len(word) {
		at := strings.IndexByte(low, word[i])
		if at < 0 {
			return false
		}
		low = low[at+1:]
	}
	return true
}
