package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"fantail/tools/files"
	"fantail/tools/permission"
)

//go:embed list_files.md
var listFilesText string

const listMax = 1000 // entries of a result

func listFiles() tool {
	return tool{
		name: "list_files", text: listFilesText, readOnly: true,
		schema: `{"type":"object","properties":{` +
			`"path":{"type":"string","description":"The directory, absolute or relative to the workspace; default the workspace"},` +
			`"depth":{"type":"integer","description":"How many levels, 1 to 10; default 1"},` +
			`"all":{"type":"boolean","description":"Also what git ignores; default false"}},` +
			`"additionalProperties":false}`,
		parse: parseList,
		title: func(a loose) string {
			if p := a.word("path"); p != "" {
				return "list " + p
			}
			return "list ."
		},
	}
}

func parseList(c call) (*Call, error) {
	a, err := decode[struct {
		Path  string `json:"path"`
		Depth *int   `json:"depth"`
		All   bool   `json:"all"`
	}](c)
	if err != nil {
		return nil, err
	}
	depth := 1
	if a.Depth != nil {
		depth = *a.Depth
	}
	if err := between("depth", depth, 1, 10); err != nil {
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
		return c.env.list(ctx, t, depth, a.All)
	}}, nil
}

// list lists a directory, one path a line.
func (e *Runtime) list(ctx context.Context, t files.Target, depth int, all bool) Result {
	var b strings.Builder
	n, more := 0, false
	w := e.tree().Walk(t)
	w.All = all
	err := w.Run(ctx, func(en files.Entry) error {
		if n == listMax {
			more = true
			return fs.SkipAll
		}
		n++
		b.WriteString(en.Rel)
		switch {
		case en.Kind.IsDir():
			b.WriteByte('/')
		case en.Kind&fs.ModeSymlink != 0:
			to, _ := en.Dir.Readlink(en.Name)
			b.WriteString(" -> " + to)
		case en.Kind.IsRegular():
			if fi, err := en.Dir.Lstat(en.Name); err == nil {
				fmt.Fprintf(&b, "  %d", fi.Size())
			}
		default:
			b.WriteString("  (not a file)")
		}
		b.WriteByte('\n')
		if en.Kind.IsDir() && strings.Count(en.Rel, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return missing("list", t, err)
	}
	switch {
	case n == 0:
		b.WriteString("[nothing to list")
		if !all {
			b.WriteString("; what git ignores is left out, set all to see it")
		}
		b.WriteString("]\n")
	case more:
		fmt.Fprintf(&b, "[only the first %d entries; list a directory below]\n", listMax)
	}
	note(&b, w)
	return Result{Text: strings.ToValidUTF8(b.String(), "\uFFFD")}
}

// note says what the walk left out.
func note(b *strings.Builder, w *files.Walk) {
	if w.Denied > 0 {
		fmt.Fprintf(b, "[%d directories could not be read]\n", w.Denied)
	}
	if w.Barred > 0 {
		fmt.Fprintf(b, "[%d files or directories that a rule keeps from being read were passed over]\n", w.Barred)
	}
	if w.Sensitive > 0 {
		fmt.Fprintf(b, "[%d files that may hold secrets were passed over; read_file asks for them]\n", w.Sensitive)
	}
}

// missing is the result of a search that could not begin.
func missing(verb string, t files.Target, err error) Result {
	if errors.Is(err, fs.ErrNotExist) {
		return fail("%s: %s does not exist", verb, t.Show())
	}
	return fail("%s %s: %v", verb, t.Show(), err)
}
