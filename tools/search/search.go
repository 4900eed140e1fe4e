// Package search finds lines in files.
//
// Does: search a text, or the files a walk meets, for a regular expression, with ripgrep where it would find the same
// and else by itself; match globs; keep keys out of what is found.
//
// Does not: choose or judge files (workspace does), or word what a tool says beside the lines.
//
// Imports: tools/content, tools/secret, tools/workspace.
package search

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"fantail/tools/content"
	"fantail/tools/secret"
	"fantail/tools/workspace"
)

const (
	LineWidth = 500      // bytes of a line that are shown
	MaxText   = 48 << 10 // bytes of all that is shown
	maxLine   = 1 << 20  // bytes of a line that are searched
)

// Query is what is looked for. It must be compiled first.
type Query struct {
	Pattern    string // a regular expression, RE2 syntax
	Glob       string // of the files that are searched; "": all
	IgnoreCase bool
	Context    int  // lines that are shown around a match
	FilesOnly  bool // show the files' names, not the lines
	Limit      int  // matching lines, or files, that are shown

	re *regexp.Regexp
}

// Compile checks the query; the error tells the model what to write instead.
func (q *Query) Compile() (err error) {
	flags := "(?m)"
	if q.IgnoreCase {
		flags = "(?mi)"
	}
	if q.re, err = regexp.Compile(flags + q.Pattern); err != nil {
		return fmt.Errorf("the pattern is not a regular expression in RE2 syntax (%w); escape characters that are meant literally", err)
	}
	if strings.HasPrefix(q.Glob, "!") {
		return fmt.Errorf("the glob %q would leave files out; write which ones are wanted, for example *.go or src/**/*.ts", q.Glob)
	}
	return CheckGlob("glob", q.Glob)
}

// Hits is what a search found.
type Hits struct {
	Text    string // the lines as they are shown, or the names of the files
	Matches int    // lines that match, or files
	More    bool   // there are more, which are not shown
}

// File searches one text, the content of a file that is shown by that name. A key is
// neither found nor shown.
func (q *Query) File(ctx context.Context, r io.Reader, name string, keys *secret.Keys) (Hits, error) {
	f := &found{query: q, keys: keys}
	return f.hits(f.scan(ctx, r, name))
}

// Walk searches the files that a walk meets: with ripgrep if rg is its path and it would
// find the same, else by itself.
func (q *Query) Walk(ctx context.Context, w *workspace.Walk, rg string, keys *secret.Keys) (Hits, error) {
	f := &found{query: q, keys: keys}
	if rg != "" {
		plain, err := w.PlainIgnores(ctx)
		switch {
		case err != nil:
			return Hits{}, err
		case plain:
			return f.hits(f.ripgrep(ctx, w, rg))
		}
	}
	return f.hits(f.walk(ctx, w))
}

// found collects what a search shows.
type found struct {
	query   *Query
	keys    *secret.Keys // what is neither found nor shown
	out     strings.Builder
	matches int
	more    bool
	last    string // the file of the last line
	line    int    // its number
}

// hits is what was found by a search that ended with err.
func (f *found) hits(err error) (Hits, error) {
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return Hits{f.out.String(), f.matches, f.more}, err
}

// walk searches without ripgrep.
func (f *found) walk(ctx context.Context, w *workspace.Walk) error {
	return w.Run(ctx, func(en workspace.Entry) error {
		if !en.Kind.IsRegular() || !matchGlob(f.query.Glob, en.Rel) {
			return nil
		}
		h, ok := w.Open(en)
		if !ok {
			return nil
		}
		defer h.Close()
		return f.scan(ctx, h, en.Shown)
	})
}

// scan searches one file line by line. What is not text is passed over.
func (f *found) scan(ctx context.Context, h io.Reader, name string) error {
	r := bufio.NewReaderSize(f.keys.Reader(h), 64<<10)
	if what, err := content.Binary(r); err != nil || what != "" {
		return nil
	}
	type held struct {
		n    int
		text string
	}
	var before []held
	after := 0
	for n := 1; ; n++ {
		text, _, err := content.ReadLine(ctx, r, maxLine)
		if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return nil
		}
		s := strings.TrimSuffix(string(text), "\r")
		hit := matches(ctx, f.query.re, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case hit:
			for _, b := range before {
				f.show(name, b.n, '-', b.text)
			}
			before = before[:0]
			if err := f.match(name, n, s); err != nil {
				return err
			}
			if f.query.FilesOnly {
				return nil
			}
			after = f.query.Context
		case after > 0:
			after--
			f.show(name, n, '-', s)
		case f.query.Context > 0:
			if len(before) == f.query.Context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, held{n, s})
		}
		if err != nil {
			return nil
		}
	}
}

// shortLine is how many bytes are matched in one go: a tenth of a second for the
// slowest pattern there is.
const shortLine = 4 << 10

// matches reports whether the line matches. The end of ctx ends it.
func matches(ctx context.Context, re *regexp.Regexp, line string) bool {
	if len(line) <= shortLine {
		return re.MatchString(line)
	}
	return re.MatchReader(&runes{ctx: ctx, left: line})
}

// runes reads a text that ends when ctx does.
type runes struct {
	ctx  context.Context
	left string
	n    int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.n++; r.left == "" || r.n%1024 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRuneInString(r.left)
	r.left = r.left[size:]
	return c, size, nil
}

// match shows a matching line; fs.SkipAll ends the search.
func (f *found) match(name string, n int, text string) error {
	if f.matches == f.query.Limit || f.out.Len() > MaxText {
		f.more = true
		return fs.SkipAll
	}
	f.matches++
	if f.query.FilesOnly {
		f.out.WriteString(name + "\n")
		return nil
	}
	f.show(name, n, ':', text)
	return nil
}

// show writes a line; what does not follow the line before it is set apart.
func (f *found) show(name string, n int, mark byte, text string) {
	if f.query.Context > 0 && f.last != "" && (f.last != name || n != f.line+1) {
		f.out.WriteString("--\n")
	}
	f.last, f.line = name, n
	if len(text) > LineWidth {
		text = strings.ToValidUTF8(text[:LineWidth], "") + " […]"
	}
	fmt.Fprintf(&f.out, "%s%c%d%c%s\n", name, mark, n, mark, text)
}
