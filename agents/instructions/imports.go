package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// reference is a word of the form @path.
type reference struct {
	path         string
	line, column int // from 1
}

// imports reads the files that a file imports. chain are the resolved files on the way to it, itself the last.
func (r *reader) imports(f File, t text, path string, chain []string) {
	for _, ref := range references(string(t.data)) {
		r.follow(f, ref, path, chain)
	}
}

// follow reads one file that f imports.
func (r *reader) follow(f File, ref reference, path string, chain []string) {
	note := func(why Why, format string, args ...any) {
		r.note(Note{Name: f.Name, Line: ref.line, Column: ref.column, Why: why, Text: fmt.Sprintf(format, args...)})
	}
	var t text
	var to string
	err := errAbsent
	for _, word := range spellings(ref.path) {
		if to = r.target(word, filepath.Dir(path)); to == "" {
			continue
		}
		if t, err = r.open(to, f.Kind); !errors.Is(err, errAbsent) {
			break
		}
		if t.path != "" && f.Kind == Project && !r.place.Within(t.path) {
			r.outside(f, ref, t.path)
			return
		}
	}
	switch {
	case errors.Is(err, errAbsent):
		// @types/node and @somebody are not meant as files.
		if word := spellings(ref.path); strings.HasSuffix(word[len(word)-1], ".md") {
			note(Broken, "there is no file %s", word[len(word)-1])
			r.watched(filepath.Dir(to))
		}
		return
	case err != nil:
		note(Broken, "%s: %s", r.place.Name(to), reason(err))
		return
	case slices.Contains(chain, t.path):
		note(Refused, "not read again: %s leads back to it", r.place.Name(to))
		return
	case r.had[t.path]:
		return
	case len(chain) > depth:
		note(Refused, "%s is not read: imports are followed %d deep", r.place.Name(to), depth)
		return
	}
	if why := r.secret(t); why != "" {
		note(Refused, "%s is not read: %s", r.place.Name(to), why)
		return
	}
	if len(bytes.TrimSpace(t.data)) == 0 {
		return
	}
	r.add(File{
		Path: t.path, Name: r.place.Name(to), Kind: t.kind, Rule: f.Rule, By: f.Name, Dir: f.Dir, Paths: f.Paths, Text: words(t.data),
	}, t, to, chain)
}

// outside notes an import that the user has not allowed.
func (r *reader) outside(f File, ref reference, path string) {
	r.note(Note{
		Name: f.Name, Line: ref.line, Column: ref.column, Why: Outside, Path: path,
		Text: fmt.Sprintf("%s is outside the workspace and not read; /memory files allow %s reads it", r.place.Name(path), r.place.Name(path)),
	})
}

// target returns the path that a word means in a file of that directory; "": none.
func (r *reader) target(word, dir string) string {
	switch {
	case word == "":
		return ""
	case strings.HasPrefix(word, "~/"):
		if r.place.Home == "" {
			return ""
		}
		return filepath.Join(r.place.Home, word[2:])
	case filepath.IsAbs(word):
		return filepath.Clean(word)
	}
	return filepath.Join(dir, word)
}

// spellings returns the paths that a word may mean: as it is, and without the punctuation of its sentence.
func spellings(word string) []string {
	word, _, _ = strings.Cut(word, "#")
	if short := strings.TrimRight(word, ".,;:!?)]}>\"'*_"); short != word && short != "" {
		return []string{word, short}
	}
	return []string{word}
}

// references returns the words of the form @path in a Markdown text, outside of code and comments.
func references(text string) (refs []reference) {
	if !strings.Contains(text, "@") {
		return nil
	}
	fence, comment, n := "", comments{}, 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if fence != "" {
			if closes(line, fence) {
				fence = ""
			}
			continue
		}
		if !comment.in {
			if fence = opens(line); fence != "" {
				continue
			}
		}
		refs = append(refs, inLine(uncoded(comment.strip(line)), n)...)
	}
	return refs
}

// opens returns the fence that a line opens; "": it opens none.
func opens(line string) string {
	s := strings.TrimLeft(line, " \t>-*+")
	for _, c := range []string{"`", "~"} {
		if n := len(s) - len(strings.TrimLeft(s, c)); n >= 3 && (c == "~" || !strings.Contains(s[n:], c)) {
			return s[:n]
		}
	}
	return ""
}

// closes reports whether a line closes the fence.
func closes(line, fence string) bool {
	s := strings.Trim(line, " \t>")
	return len(s) >= len(fence) && strings.Trim(s, fence[:1]) == ""
}

// comments tracks whether a text is inside a comment, line by line.
type comments struct{ in bool }

// strip returns the next line with spaces in place of comments.
func (c *comments) strip(line string) string {
	var b strings.Builder
	for line != "" {
		mark := "<!--"
		if c.in {
			mark = "-->"
		}
		at := strings.Index(line, mark)
		to := at + len(mark)
		if at < 0 {
			at, to = len(line), len(line)
		}
		if c.in {
			b.WriteString(strings.Repeat(" ", to))
		} else {
			b.WriteString(line[:at] + strings.Repeat(" ", to-at))
		}
		if at < len(line) {
			c.in = !c.in
		}
		line = line[to:]
	}
	return b.String()
}

// uncoded returns a line with backticks in place of code.
func uncoded(line string) string {
	var b strings.Builder
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			break
		}
		b.WriteString(line[:at])
		line = line[at:]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		end := n
		if to := closing(line[n:], n); to >= 0 {
			end = n + to + n
		}
		b.WriteString(strings.Repeat("`", end))
		line = line[end:]
	}
	return b.String() + line
}

// closing returns where the next run of exactly n backticks begins; -1: nowhere.
func closing(s string, n int) int {
	for at := 0; at < len(s); {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if run == n {
			return at
		}
		at += run
	}
	return -1
}

// inLine returns the references of one line. A space in a path is written "\ ".
func inLine(line string, n int) (refs []reference) {
	for i := 0; i < len(line); i++ {
		if line[i] != '@' || i > 0 && line[i-1] != ' ' && line[i-1] != '\t' {
			continue
		}
		var path strings.Builder
		j := i + 1
		for ; j < len(line) && line[j] != ' ' && line[j] != '\t' && line[j] != '`'; j++ {
			if line[j] == '\\' && j+1 < len(line) && line[j+1] == ' ' {
				j++
			}
			path.WriteByte(line[j])
		}
		if path.Len() > 0 {
			refs = append(refs, reference{path.String(), n, i + 1})
		}
		i = j
	}
	return refs
}
