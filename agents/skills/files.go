package skills

import (
	"strings"

	"fantail/tools"
	"fantail/tools/files"
)

// Limits of reading files.
const (
	maxFile  = 256 << 10 // bytes of a file
	maxHead  = 36 << 10  // of those that say what it is: the matter, and what follows
	maxFiles = 2000      // in a directory and below it
	maxDepth = 4         // directories below that of commands or agents
)

// place is a directory that holds files of a kind.
type place struct {
	tree files.Root
	rel  string // in the tree
	show string // as people name it
	kind Kind
	of   string // the directory that they are for

	below string // the same from the root, if a tool had to touch it first
}

// flat returns text on one line, at most that many bytes, without control characters.
func flat(s string, most int) string {
	if len(s) <= most && isFlat(s) {
		return s
	}
	var b strings.Builder
	for _, w := range strings.Fields(s) {
		for part := range strings.SplitSeq(w, "\x00") {
			if w = tools.Line(part); w == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			if b.Len()+len(w) > most {
				return b.String() + "…"
			}
			b.WriteString(w)
		}
	}
	return b.String()
}

// isFlat reports whether a text is one line of plain words already, as most are.
func isFlat(s string) bool {
	blank := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && blank {
			return false
		}
		blank = s[i] == ' '
	}
	return !blank || s == ""
}
