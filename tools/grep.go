package tools

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"

	"fantail/tools/files"
	"fantail/tools/permission"
)

//go:embed grep.md
var grepText string

const grepMax = 200 // matching lines, or files, of a result that names no limit

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

func parseGrep(c call) (*Call, error) {
	a, err := decode[struct {
		Pattern    string `json:"pattern"`
		Path       string `json:"path"`
		Glob       string `json:"glob"`
		IgnoreCase bool   `json:"ignore_case"`
		Context    int    `json:"context"`
		FilesOnly  bool   `json:"files_only"`
		Limit      *int   `json:"limit"`
	}](c)
	if err == nil {
		err = need("pattern", a.Pattern)
	}
	if err == nil {
		err = between("context", a.Context, 0, 10)
	}
	limit := grepMax
	if a.Limit != nil && err == nil {
		limit = *a.Limit
		err = between("limit", limit, 1, 1000)
	}
	if err != nil {
		return nil, err
	}
	q := files.SearchQuery{Pattern: a.Pattern, Glob: a.Glob, IgnoreCase: a.IgnoreCase, Context: a.Context, FilesOnly: a.FilesOnly, Limit: limit}
	if err := q.Compile(); err != nil {
		return nil, err
	}
	if a.Path == "" {
		a.Path = "."
	}
	t, err := c.env.tree().Target(a.Path, permission.Read)
	if err != nil {
		return nil, err
	}
	return &Call{Action: t.Touch(c.action(permission.Read)), Run: func(ctx context.Context) Result {
		return c.env.grep(ctx, t, &q)
	}}, nil
}

// grep searches with ripgrep if it is installed, else by walking.
func (e *Runtime) grep(ctx context.Context, t files.Target, q *files.SearchQuery) Result {
	if err := t.Refused(); err != nil {
		return fail("grep: %v", err)
	}
	fi, err := os.Lstat(t.Abs)
	if err != nil {
		return missing("grep", t, files.PlainError(err))
	}
	tree := e.tree()
	w := tree.Walk(t)
	var hits files.SearchHits
	if fi.IsDir() {
		hits, err = q.Walk(ctx, w, tree.Program("rg", e.path()), e.Keys)
	} else {
		hits, err = e.grepFile(ctx, t, q)
	}
	if err != nil {
		return missing("grep", t, err)
	}
	var b strings.Builder
	b.WriteString(hits.Text)
	switch {
	case hits.Matches == 0:
		b.WriteString("[no match")
		if q.Glob != "" {
			b.WriteString(" in files that match " + q.Glob)
		}
		b.WriteString("]\n")
	case hits.More && q.FilesOnly:
		fmt.Fprintf(&b, "[only the first %d files; narrow the search]\n", hits.Matches)
	case hits.More:
		fmt.Fprintf(&b, "[only the first %d matches; narrow the search with path or glob]\n", hits.Matches)
	}
	if hits.Missed != "" {
		fmt.Fprintf(&b, "[not searched: %s]\n", hits.Missed)
	}
	note(&b, w)
	return Result{Text: strings.ToValidUTF8(b.String(), "\uFFFD")}
}

// grepFile searches one file.
func (e *Runtime) grepFile(ctx context.Context, t files.Target, q *files.SearchQuery) (files.SearchHits, error) {
	h, _, err := e.tree().Open(t)
	if err != nil {
		return files.SearchHits{}, err
	}
	defer h.Close()
	return q.File(ctx, h, t.Show(), e.Keys)
}
