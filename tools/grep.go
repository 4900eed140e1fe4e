package tools

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"fantail/tools/permit"
	"fantail/tools/secret"
)

//go:embed grep.md
var grepText string

const (
	grepMax   = 200      // matching lines, or files, of a result that names no limit
	grepWidth = 500      // bytes of a line that are shown
	grepBytes = 48 << 10 // bytes of a result
	grepLine  = 1 << 20  // bytes of a line that are searched
)

func grepFiles() tool {
	return tool{
		name: "grep", text: grepText, readOnly: true,
		schema: `{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"A regular expression (RE2 syntax)"},` +
			`"path":{"type":"string","description":"The directory or file to search, absolute or relative to the workspace; default the workspace"},` +
			`"glob":{"type":"string","description":"Only files whose path matches, for example *.go or src/**/*.ts"},` +
			`"ignore_case":{"type":"boolean","description":"Ignore case; default false"},` +
			`"context":{"type":"integer","description":"Lines to show around each match, 0 to 10; default 0"},` +
			`"files_only":{"type":"boolean","description":"Answer with the paths of matching files only; default false"},` +
			`"limit":{"type":"integer","description":"How many matches, 1 to 1000; default 200"}},` +
			`"required":["pattern"],"additionalProperties":false}`,
		parse: parseGrep,
		title: func(a loose) string {
			s := "grep " + a.word("pattern")
			if p := a.word("path"); p != "" {
				s += " in " + p
			}
			if g := a.word("glob"); g != "" {
				s += " (" + g + ")"
			}
			return s
		},
	}
}

// search is a parsed grep.
type search struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	Context    int    `json:"context"`
	FilesOnly  bool   `json:"files_only"`
	Limit      *int   `json:"limit"`

	limit int
	re    *regexp.Regexp
}

func parseGrep(c call) (*Call, error) {
	s, err := decode[search](c)
	if err == nil {
		err = need("pattern", s.Pattern)
	}
	if err == nil {
		err = between("context", s.Context, 0, 10)
	}
	s.limit = grepMax
	if s.Limit != nil && err == nil {
		s.limit = *s.Limit
		err = between("limit", s.limit, 1, 1000)
	}
	if err != nil {
		return nil, err
	}
	flags := "(?m)"
	if s.IgnoreCase {
		flags = "(?mi)"
	}
	if s.re, err = regexp.Compile(flags + s.Pattern); err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression in RE2 syntax (%w); escape characters that are meant literally", err)
	}
	if strings.HasPrefix(s.Glob, "!") {
		return nil, fmt.Errorf("the glob %q would leave files out; write which ones are wanted, for example *.go or src/**/*.ts", s.Glob)
	}
	if err := checkGlob("glob", s.Glob); err != nil {
		return nil, err
	}
	if s.Path == "" {
		s.Path = "."
	}
	t, err := c.env.target(s.Path, permit.Read)
	if err != nil {
		return nil, err
	}
	return &Call{Action: t.touch(c.action(permit.Read)), Run: func(ctx context.Context) Result {
		return c.env.grep(ctx, t, s)
	}}, nil
}

// found collects what a search shows.
type found struct {
	search  search
	keys    *secret.Keys // what is neither found nor shown
	out     strings.Builder
	matches int
	files   int
	more    bool
	last    string // the file of the last line
	line    int    // its number
}

// grep searches with ripgrep where it is installed, else by walking.
func (e *Env) grep(ctx context.Context, t target, s search) Result {
	if err := t.refused(); err != nil {
		return fail("grep: %v", err)
	}
	fi, err := os.Lstat(t.abs)
	if err != nil {
		return missing("grep", t, plain(err))
	}
	f := &found{search: s, keys: e.Keys}
	w := e.newWalk(t, false, nil)
	rg := ""
	if fi.IsDir() {
		rg = e.ripgrep()
	}
	switch {
	case !fi.IsDir():
		err = e.grepFile(ctx, t, f)
	case rg != "":
		err = w.ripgrep(ctx, rg, f)
	default:
		err = w.grep(ctx, f)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return missing("grep", t, err)
	}
	switch {
	case f.matches == 0:
		f.out.WriteString("[no match")
		if s.Glob != "" {
			f.out.WriteString(" in files that match " + s.Glob)
		}
		f.out.WriteString("]\n")
	case f.more && s.FilesOnly:
		fmt.Fprintf(&f.out, "[only the first %d files; narrow the search]\n", f.files)
	case f.more:
		fmt.Fprintf(&f.out, "[only the first %d matches; narrow the search with path or glob]\n", f.matches)
	}
	w.note(&f.out)
	return Result{Text: strings.ToValidUTF8(f.out.String(), "\uFFFD")}
}

// grepFile searches one file.
func (e *Env) grepFile(ctx context.Context, t target, f *found) error {
	h, _, err := e.openFile(t)
	if err != nil {
		return err
	}
	defer h.Close()
	return f.scan(ctx, h, t.show())
}

// grep searches by walking.
func (w *walk) grep(ctx context.Context, f *found) error {
	w.visit = func(en entry) error {
		if !en.kind.IsRegular() || !matchGlob(f.search.Glob, en.rel) {
			return nil
		}
		h, fi, err := openIn(en.dir, en.name, w.closed)
		if err != nil {
			return nil // unreadable, or no longer there
		}
		defer h.Close()
		if w.secret(en, fi, h) {
			return nil
		}
		return f.scan(ctx, h, en.show)
	}
	return w.run(ctx)
}

// matchGlob matches as ripgrep does: a pattern without a slash speaks of names.
func matchGlob(glob, rel string) bool {
	if glob == "" {
		return true
	}
	if !strings.Contains(glob, "/") {
		rel = path.Base(rel)
	}
	ok, _ := doublestar.Match(strings.TrimPrefix(glob, "/"), rel)
	return ok
}

// scan searches one file line by line. What is not text is passed over.
func (f *found) scan(ctx context.Context, h io.Reader, name string) error {
	r := bufio.NewReaderSize(f.keys.Reader(h), 64<<10)
	head, err := r.Peek(sniff)
	if err != nil && !errors.Is(err, io.EOF) || binary(head) != "" {
		return nil
	}
	type held struct {
		n    int
		text string
	}
	var before []held
	after := 0
	for n := 1; ; n++ {
		text, _, err := readLine(ctx, r, grepLine)
		if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return nil
		}
		s := strings.TrimSuffix(string(text), "\r")
		hit := matches(ctx, f.search.re, s)
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
			if f.search.FilesOnly {
				return nil
			}
			after = f.search.Context
		case after > 0:
			after--
			f.show(name, n, '-', s)
		case f.search.Context > 0:
			if len(before) == f.search.Context {
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

// match shows a matching line; errEnough ends the search.
func (f *found) match(name string, n int, text string) error {
	if f.matches == f.search.limit || f.out.Len() > grepBytes {
		f.more = true
		return errEnough
	}
	f.matches++
	if f.search.FilesOnly {
		f.files++
		f.out.WriteString(name + "\n")
		return nil
	}
	f.show(name, n, ':', text)
	return nil
}

// show writes a line; what does not follow the line before it is set apart.
func (f *found) show(name string, n int, mark byte, text string) {
	if f.search.Context > 0 && f.last != "" && (f.last != name || n != f.line+1) {
		f.out.WriteString("--\n")
	}
	f.last, f.line = name, n
	if len(text) > grepWidth {
		text = strings.ToValidUTF8(text[:grepWidth], "") + " […]"
	}
	fmt.Fprintf(&f.out, "%s%c%d%c%s\n", name, mark, n, mark, text)
}

// isRegular reports whether a path without links holds a regular file.
func isRegular(p string) (fs.FileInfo, bool) {
	fi, err := os.Lstat(p)
	if err != nil || !fi.Mode().IsRegular() {
		return nil, false
	}
	at, err := filepath.EvalSymlinks(p)
	return fi, err == nil && at == p
}
