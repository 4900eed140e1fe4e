package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"fantail/tools/secret"
)

const (
	SearchLineWidth = 500      // bytes shown of a line
	MaxText         = 48 << 10 // bytes shown in all
	maxLine         = 1 << 20  // bytes of a line that are searched
)

// SearchQuery describes a search. Compile must be called first.
type SearchQuery struct {
	Pattern    string // a regular expression, RE2 syntax
	Glob       string // of the files to search; "": all
	IgnoreCase bool
	Context    int  // lines shown around a match
	FilesOnly  bool // show the files' names, not the lines
	Limit      int  // matching lines, or files, to show

	re     *regexp.Regexp
	prefix []byte // what each match begins with; empty: unknown
}

// Compile checks the query; the error tells the model what to write instead.
func (q *SearchQuery) Compile() (err error) {
	flags := "(?m)"
	if q.IgnoreCase {
		flags = "(?mi)"
	}
	if q.re, err = regexp.Compile(flags + q.Pattern); err != nil {
		return fmt.Errorf("the pattern is not a regular expression in RE2 syntax (%w); escape characters that are meant literally", err)
	}
	prefix, _ := q.re.LiteralPrefix()
	q.prefix = []byte(prefix)
	if strings.HasPrefix(q.Glob, "!") {
		return fmt.Errorf("the glob %q would leave files out; write which ones are wanted, for example *.go or src/**/*.ts", q.Glob)
	}
	return CheckGlob("glob", q.Glob)
}

// SearchHits is the result of a search.
type SearchHits struct {
	Text    string // the lines to show, or the names of the files
	Matches int    // lines that match, or files
	More    bool   // there are more matches
	Missed  string // files that were not searched, and why; "": none
}

// File searches one text, the content of a file that is shown under that name. A key is neither found nor shown.
func (q *SearchQuery) File(ctx context.Context, r io.Reader, name string, keys *secret.Keys) (SearchHits, error) {
	f := &found{query: q, keys: keys}
	return f.hits(f.scan(ctx, r, name))
}

// Walk searches the files of a walk: with ripgrep if rg is its path and it would find the same, else by itself.
func (q *SearchQuery) Walk(ctx context.Context, w *Walk, rg string, keys *secret.Keys) (SearchHits, error) {
	f := &found{query: q, keys: keys}
	if rg != "" {
		plain, err := w.PlainIgnores(ctx)
		switch {
		case err != nil:
			return SearchHits{}, err
		case plain:
			return f.hits(f.ripgrep(ctx, w, rg))
		}
	}
	return f.hits(f.walk(ctx, w))
}

// found collects the results of a search.
type found struct {
	query   *SearchQuery
	keys    *secret.Keys  // keys that are neither found nor shown
	reader  *bufio.Reader // of each file in turn; made for the first
	out     strings.Builder
	matches int
	more    bool
	last    string // the file of the last line
	line    int    // its number
	missed  []string
	missing int // files that were not fully searched; the first few are in missed
	binary  int // files that are not text
}

// maxMissed is how many such files are named.
const maxMissed = 5

// miss records that a file was not fully searched.
func (f *found) miss(name, why string) {
	if f.missing++; f.missing <= maxMissed {
		f.missed = append(f.missed, name+" ("+why+")")
	}
}

// misses says which files were not searched. It mentions binary files, which most directories have, only if nothing was
// found.
func (f *found) misses() string {
	all := slices.Clone(f.missed)
	if more := f.missing - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more such files", more))
	}
	switch {
	case f.matches > 0:
	case f.binary == 1:
		all = append(all, "1 binary file")
	case f.binary > 1:
		all = append(all, fmt.Sprintf("%d binary files", f.binary))
	}
	return strings.Join(all, ", ")
}

// hits is the result of a search that ended with err.
func (f *found) hits(err error) (SearchHits, error) {
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return SearchHits{f.out.String(), f.matches, f.more, f.misses()}, err
}

// walk searches without ripgrep.
func (f *found) walk(ctx context.Context, w *Walk) error {
	return w.Run(ctx, func(en Entry) error {
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

// scan searches one file line by line. It skips a file that is not text, and records that.
func (f *found) scan(ctx context.Context, h io.Reader, name string) error {
	if f.reader == nil {
		f.reader = bufio.NewReaderSize(nil, 64<<10)
	}
	r := f.reader
	r.Reset(f.keys.Reader(h))
	defer r.Reset(nil)
	switch what, err := Binary(r); {
	case err != nil:
		return nil
	case strings.HasPrefix(what, "UTF-16"):
		f.miss(name, what)
		return nil
	case what != "":
		f.binary++
		return nil
	}
	type held struct {
		n    int
		text string
	}
	var before []held
	after, cut := 0, false
	for n := 1; ; n++ {
		n += f.skip(r)
		text, rest, err := nextLine(ctx, r)
		if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
			return ctx.Err()
		}
		text = bytes.TrimSuffix(text, []byte("\r"))
		hit := matchesLine(ctx, f.query.re, text)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if rest > 0 && !hit && !cut {
			cut = true
			f.miss(name, fmt.Sprintf("of line %d only the first of %d MiB", n, (int64(len(text))+rest)>>20+1))
		}
		switch {
		case hit:
			for _, b := range before {
				f.show(name, b.n, '-', b.text, 0)
			}
			before = before[:0]
			if err := f.match(ctx, name, n, string(text)); err != nil {
				return err
			}
			if f.query.FilesOnly {
				return nil
			}
			after = f.query.Context
		case after > 0:
			after--
			f.show(name, n, '-', string(text), 0)
		case f.query.Context > 0:
			if len(before) == f.query.Context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, held{n, string(text)})
		}
		if err != nil {
			return nil
		}
	}
}

// skip passes over the whole lines in the reader's buffer that no match begins in, and counts them. It skips none that
// may be shown around a match.
func (f *found) skip(r *bufio.Reader) (lines int) {
	if len(f.query.prefix) == 0 || f.query.Context > 0 {
		return 0
	}
	if _, err := r.Peek(1); err != nil {
		return 0
	}
	text, _ := r.Peek(r.Buffered())
	if at := bytes.Index(text, f.query.prefix); at >= 0 {
		text = text[:at]
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	_, _ = r.Discard(len(text)) // they are in the buffer
	return bytes.Count(text, []byte{'\n'})
}

// nextLine is ReadLine without a copy of a line that is whole in the reader's buffer: it is valid until the next read.
func nextLine(ctx context.Context, r *bufio.Reader) (text []byte, rest int64, err error) {
	text, _ = r.Peek(r.Buffered())
	if at := bytes.IndexByte(text, '\n'); at >= 0 {
		_, _ = r.Discard(at + 1) // it is in the buffer
		return text[:at], 0, nil
	}
	return ReadLine(ctx, r, maxLine)
}

// shortLine is how many bytes are matched at once: a tenth of a second for the slowest pattern.
const shortLine = 4 << 10

// matchesLine reports whether the line matches. The end of ctx ends it.
func matchesLine(ctx context.Context, re *regexp.Regexp, line []byte) bool {
	if len(line) <= shortLine {
		return re.Match(line)
	}
	return re.MatchReader(&runes{ctx: ctx, left: string(line)})
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
func (f *found) match(ctx context.Context, name string, n int, text string) error {
	if f.matches == f.query.Limit || f.out.Len() > MaxText {
		f.more = true
		return fs.SkipAll
	}
	f.matches++
	if f.query.FilesOnly {
		f.out.WriteString(name + "\n")
		return nil
	}
	at := 0
	if len(text) > SearchLineWidth {
		if is := f.query.re.FindReaderIndex(&runes{ctx: ctx, left: text}); is != nil {
			at = is[0]
		}
	}
	f.show(name, n, ':', text, at)
	return nil
}

// ahead is how many bytes of a long line are shown before its match.
const ahead = SearchLineWidth / 4

// show writes a line, or of a long one the part around the byte at. A line that does not follow the one before is set
// apart.
func (f *found) show(name string, n int, mark byte, text string, at int) {
	if f.query.Context > 0 && f.last != "" && (f.last != name || n != f.line+1) {
		f.out.WriteString("--\n")
	}
	f.last, f.line = name, n
	if len(text) > SearchLineWidth {
		from := min(max(at-ahead, 0), len(text)-SearchLineWidth)
		if at+ahead < SearchLineWidth {
			from = 0
		}
		shown := strings.ToValidUTF8(text[from:from+SearchLineWidth], "")
		if from > 0 {
			shown = "[…] " + shown
		}
		if from+SearchLineWidth < len(text) {
			shown += " […]"
		}
		text = shown
	}
	fmt.Fprintf(&f.out, "%s%c%d%c%s\n", name, mark, n, mark, text)
}
