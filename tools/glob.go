package tools

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"fantail/tools/permit"
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
	if err := checkGlob("pattern", a.Pattern); err != nil {
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
	t, err := c.env.target(start, permit.Read)
	if err != nil {
		return nil, err
	}
	return &Call{Action: t.touch(c.action(permit.Read)), Run: func(ctx context.Context) Result {
		return c.env.glob(ctx, t, strings.TrimPrefix(pattern, "./"), a.Pattern)
	}}, nil
}

// checkGlob says what is wrong with a glob. Matching can't be stopped and tries
// every combination of what braces choose, so those are few.
func checkGlob(name, glob string) error {
	switch {
	case strings.Count(glob, "{") > 4 || strings.Count(glob, ",") > 40 || len(glob) > 1000:
		return fmt.Errorf("the %s has %d bytes, %d {…} and %d commas; at most 1000, 4 and 40 are matched", name, len(glob), strings.Count(glob, "{"), strings.Count(glob, ","))
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf("the %s %q is malformed: * and ? match within a name, ** any directories, [a-z] and {a,b} choose", name, glob)
	}
	return nil
}

// glob lists the files that match, by path.
func (e *Env) glob(ctx context.Context, t target, pattern, whole string) Result {
	var b strings.Builder
	n, more := 0, false
	w := e.newWalk(t, false, func(en entry) error {
		if ok, err := doublestar.Match(pattern, en.rel); err != nil || !ok || en.kind.IsDir() {
			return err
		}
		if n == globMax {
			more = true
			return errEnough
		}
		n++
		b.WriteString(en.show + "\n")
		return nil
	})
	if err := w.run(ctx); err != nil {
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
	w.note(&b)
	return Result{Text: strings.ToValidUTF8(b.String(), "\uFFFD")}
}
