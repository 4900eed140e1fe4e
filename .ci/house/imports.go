package house

import (
	"slices"
	"strconv"
	"strings"

	"fantail/.ci/house/tree"
)

// imports are the rules on what packages import.
func (plan Plan) imports() []Rule {
	return []Rule{
		{Name: "imports follow the arrows", Check: plan.checkArrows, Bad: []string{
			"-- store/a.go --\npackage store\nimport _ \"fantail/inbox\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"fantail/agents/llm/openai\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"fantail/store/config\"\n",
			"-- tools/a.go --\npackage tools\nimport _ \"fantail/agents\"\n",
			"-- tools/a_test.go --\npackage tools\nimport _ \"fantail/ui\"\n",
			"-- ui/dialog/a.go --\npackage dialog\nimport _ \"fantail/store\"\n",
			"-- extra/a.go --\npackage extra\n",
		}, Good: []string{
			"-- inbox/a.go --\npackage inbox\nimport _ \"fantail/store\"\n",
			"-- tools/a_test.go --\npackage tools\nimport _ \"fantail/store\"\n",
			"-- main.go --\npackage main\nimport _ \"fantail/ui/cli\"\n",
		}},
		{Name: "other modules stay in their places", Check: plan.checkConfined, Bad: []string{
			"-- inbox/a.go --\npackage inbox\nimport _ \"database/sql\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"modernc.org/sqlite\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"charm.land/lipgloss/v2\"\n",
			"-- themes/a.go --\npackage themes\nimport _ \"charm.land/bubbletea/v2\"\n",
			"-- agents/llm/openai/a.go --\npackage openai\nimport _ \"github.com/anthropics/anthropic-sdk-go\"\n",
			"-- ui/cli/a_test.go --\npackage cli\nimport _ \"database/sql\"\n",
		}, Good: []string{
			"-- store/a.go --\npackage store\nimport _ \"database/sql\"\n",
			"-- ui/markdown/a.go --\npackage markdown\nimport _ \"charm.land/lipgloss/v2\"\n",
		}},
		{Name: "the start gate waits for little", Check: plan.checkEarly, Bad: []string{
			"-- ui/screen/a.go --\npackage screen\nimport _ \"path/filepath\"\n",
			"-- store/config/paths/a.go --\npackage paths\nimport _ \"os/user\"\n",
		}, Good: []string{
			"-- ui/screen/a.go --\npackage screen\nimport _ \"path\"\n",
			"-- ui/screen/a_test.go --\npackage screen\nimport _ \"path/filepath\"\n",
			"-- ui/cli/a.go --\npackage cli\nimport _ \"path/filepath\"\n",
		}},
	}
}

func (plan Plan) checkArrows(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		allowed, known := plan.Arrows[s.Dir]
		if !known {
			f.Add("%s: the package %s has no place in the map; give it one in arrows of main_test.go, with what it may import", s.Path, s.Dir)
			continue
		}
		for _, i := range s.Syntax.Imports {
			p, own := tree.Ours(i)
			switch {
			case !own || p == s.Dir || slices.Contains(allowed, "*") || slices.Contains(allowed, p):
			case s.Test && (tree.Under(s.Dir, []string{"ui/..."}) || !tree.Under(p, []string{"ui/..."})):
			default:
				f.Add("%s: %s must not import %s (it may import: %s); let the caller hand in what is needed, or move the code", t.At(i), s.Dir, p, strings.Join(allowed, ", "))
			}
		}
	}
	return f
}

func (plan Plan) checkConfined(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		for _, i := range s.Syntax.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			for _, c := range plan.Confined {
				if (p == c.Module || strings.HasPrefix(p, c.Module+"/")) && !tree.Under(s.Dir, c.Places) && !(s.Test && s.Dir == ".") {
					f.Add("%s: %s belongs into %s only; use what that package offers", t.At(i), c.Module, strings.Join(c.Places, ", "))
				}
			}
		}
	}
	return f
}

// early are the packages of the standard library that are initialised before most others: Go initialises, of those
// whose imports are ready, the first by name.
var early = []string{
	"bytes", "context", "crypto/sha256", "encoding/binary", "encoding/hex", "errors", "fmt", "io", "io/fs", "os", "os/signal", "path",
	"runtime", "slices", "strconv", "strings", "sync", "sync/atomic", "syscall", "time", "unsafe",
}

func (plan Plan) checkEarly(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Test || s.Dir != plan.Gate && !slices.Contains(plan.Arrows[plan.Gate], s.Dir) {
			continue
		}
		for _, i := range s.Syntax.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if _, own := tree.Ours(i); !own && !slices.Contains(early, p) {
				f.Add("%s: the start gate would wait for %s, and for all that is initialised before it; do without, or see with GODEBUG=inittrace=1 that it is early", t.At(i), p)
			}
		}
	}
	return f
}
