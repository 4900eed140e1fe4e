package tools

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"fantail/tools/files"
	"fantail/tools/permission"
)

//go:embed glob.md
var globText string

const globMax = 1000 // paths of a result

func globFiles() tool {
	return tool{
		name: "glob", text: globText, readOnly: true,
		schema: `{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"For example **/*_test.go or src/**/*.{ts,tsx}"},` +
			`"path":{"type":"string","description":"The directory to search, absolute or relative to the workspace; default the workspace"}},` +
			`"required":["pattern"],"additionalProperties":false}`,
		parse: parseGlob,
		title: func(a loose) string {
			if p := a.word("path"); p != "" {
				return "glob " + a.word("pattern") + " in " + p
			}
			return "glob " + a.word("pattern")
		},
	}
}

func parseGlob(c call) (*Call, error) {
	a, err := decode[struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
	}](c)
	if err == nil {
		err = need("pattern", a.Pattern)
	}
	if err != nil {
		return nil, err
	}
	if err := files.CheckGlob("pattern", a.Pattern); err != nil {
		return nil, err
	}
	// The plain directories a pattern begins with are where the search begins.
	base, pattern := doublestar.SplitPattern(a.Pattern)
	start := a.Path
	switch {
	case filepath.IsAbs(base):
		start = base
	case start == "":
		start = base
	default:
		start = strings.TrimSuffix(start, "/") + "/" + base
	}
	t, err := c.env.tree().Target(start, permission.Read)
	if err != nil {
		return nil, err
	}
	return &Call{Action: t.Touch(c.action(permission.Read)), Run: func(ctx context.Context) Result {
		return c.env.glob(ctx, t, strings.TrimPrefix(pattern, "./"), a.Pattern)
	}}, nil
}

// glob lists the files that match, by path.
func (e *Runtime) glob(ctx context.Context, t files.Target, pattern, whole string) Result {
	var b strings.Builder
	n, more := 0, false
	w := e.tree().Walk(t)
	err := w.Run(ctx, func(en files.Entry) error {
		if ok, err := doublestar.Match(pattern, en.Rel); err != nil || !ok || en.Kind.IsDir() {
			return err
		}
		if n == globMax {
			more = true
			return fs.SkipAll
		}
		n++
		b.WriteString(en.Shown + "\n")
		return nil
	})
	if err != nil {
		return missing("glob", t, err)
	}
	switch {
	case n == 0 && !strings.Contains(whole, "**"):
		fmt.Fprintf(&b, "[no file matches %s; to look in all directories begin the pattern with **/]\n", whole)
	case n == 0:
		fmt.Fprintf(&b, "[no file matches %s; what git ignores is left out]\n", whole)
	case more:
		fmt.Fprintf(&b, "[only the first %d files; use a narrower pattern]\n", globMax)
	}
	note(&b, w)
	return Result{Text: strings.ToValidUTF8(b.String(), "\uFFFD")}
}
