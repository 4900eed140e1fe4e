package files

import (
	"strings"
)

// Index finds paths by a few of their letters. It is immutable and may be shared.
type Index struct {
	paths []string
	low   []string // in small letters
	base  []int    // where the name begins in low
}

// NewIndex makes an index of paths; of equally good ones the earlier is found first.
func NewIndex(paths []string) *Index {
	x := &Index{paths: paths, low: make([]string, len(paths)), base: make([]int, len(paths))}
	for i, p := range paths {
		x.low[i] = strings.ToLower(p)
		x.base[i] = strings.LastIndexByte(x.low[i], '/') + 1
	}
	return x
}

// Len is the number of paths.
func (x *Index) Len() int { return len(x.paths) }

// The ways a path matches, the best first.
const (
	named    = iota // the name is the word, or is it without its extension
	begins          // the path or the name begins with it
	within          // the name holds it
	anywhere        // the path holds it
	letters         // the path holds its letters in order
	ways
)

// Find returns at most n paths that hold the letters of word in order, the best
// first. Capitals do not matter. Without a word they are the first n.
func (x *Index) Find(word string, n int) []string {
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

// match is the way in which low matches, ways if it does not.
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

// subsequence says whether low holds the bytes of word in order.
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
