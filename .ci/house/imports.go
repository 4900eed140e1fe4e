package house

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"fantail/.ci/house/tree"
)

// imports returns the rules on imports.
func (plan Plan) imports() []Rule {
	return []Rule{
		{Name: "imports follow the layers", Check: plan.checkLayers, Bad: []string{
			"-- store/a.go --\npackage store\nimport _ \"fantail/inbox\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"fantail/agents/llm/openai\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"fantail/store/config\"\n",
			"-- tools/a.go --\npackage tools\nimport _ \"fantail/agents\"\n",
			"-- tools/a_test.go --\npackage tools\nimport _ \"fantail/ui\"\n",
			"-- extra/a.go --\npackage extra\n",
			"-- agents/mail/a.go --\npackage mail\nimport _ \"fantail/agents/schedule\"\n",
			"-- store/a.go --\npackage store\nimport _ \"fantail/store/storetest\"\n",
			"-- .ci/house/a.go --\npackage house\nimport _ \"fantail/store\"\n",
		}, Good: []string{
			"-- agents/schedule/a.go --\npackage schedule\nimport _ \"fantail/agents/mail\"\n",
			"-- agents/a_test.go --\npackage agents\nimport _ \"fantail/store/config\"\n",
			"-- agents/agentstest/a.go --\npackage agentstest\nimport _ \"fantail/store/storetest\"\n",
			"-- inbox/a.go --\npackage inbox\nimport _ \"fantail/store\"\n",
			"-- tools/a_test.go --\npackage tools\nimport _ \"fantail/store\"\n",
			"-- main.go --\npackage main\nimport _ \"fantail/ui/cli\"\n",
		}},
		{Name: "other modules stay in their places", Check: plan.checkConfined, Bad: []string{
			"-- inbox/a.go --\npackage inbox\nimport _ \"database/sql\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"modernc.org/sqlite\"\n",
			"-- agents/a.go --\npackage agents\nimport _ \"charm.land/lipgloss/v2\"\n",
			"-- themes/a.go --\npackage themes\nimport _ \"charm.land/bubbletea/v2\"\n",
			"-- ui/cli/a_test.go --\npackage cli\nimport _ \"database/sql\"\n",
		}, Good: []string{
			"-- store/a.go --\npackage store\nimport _ \"database/sql\"\n",
			"-- ui/markdown/a.go --\npackage markdown\nimport _ \"charm.land/lipgloss/v2\"\n",
		}},
		{Name: "the start gate waits for little", Check: plan.checkEarly, Bad: []string{
			"-- ui/screen/a.go --\npackage screen\nimport _ \"path/filepath\"\n",
			"-- ui/screen/a.go --\npackage screen\nimport _ \"fantail/store/paths\"\n-- store/paths/a.go --\npackage paths\nimport _ \"fantail/themes\"\n-- themes/a.go --\npackage themes\nimport _ \"os/user\"\n",
		}, Good: []string{
			"-- ui/screen/a.go --\npackage screen\nimport _ \"path\"\n",
			"-- ui/screen/a_test.go --\npackage screen\nimport _ \"path/filepath\"\n",
			"-- ui/cli/a.go --\npackage cli\nimport _ \"path/filepath\"\n",
			"-- ui/screen/a_test.go --\npackage screen\nimport _ \"fantail/ui\"\n-- ui/a.go --\npackage ui\nimport _ \"path/filepath\"\n",
		}},
	}
}

// support reports whether a package is for tests only.
func (plan Plan) support(dir string) bool {
	return strings.HasSuffix(path.Base(dir), "test") || tree.Under(dir, []string{"ui/uitest/..."})
}

// place returns the layer of a package and its index there; ok is false if no layer has it.
func (plan Plan) place(dir string) (layer, within int, ok bool) {
	for layer, all := range plan.Layers {
		if within := slices.Index(all, dir); within >= 0 {
			return layer, within, true
		}
	}
	return 0, 0, false
}

func (plan Plan) checkLayers(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		checks := tree.Under(s.Dir, []string{".ci/..."})
		layer, within, ok := plan.place(s.Dir)
		if !ok && !checks && !plan.support(s.Dir) {
			f.Add("%s: the package %s has no place; give it one in layers of main_test.go", s.Path, s.Dir)
			continue
		}
		for _, i := range s.Syntax.Imports {
			p, own := tree.Ours(i)
			l, w, _ := plan.place(p)
			switch {
			case !own || p == s.Dir || tree.Under(p, []string{".ci/..."}) && (checks || s.Test || plan.support(s.Dir)):
			case plan.support(s.Dir) && !checks:
			case s.Test && (tree.Under(s.Dir, []string{".", "ui/..."}) || !tree.Under(p, []string{"ui/..."})):
			case checks || plan.support(p):
				f.Add("%s: %s must not import %s: packages for tests and for CI are not part of the program", t.At(i), s.Dir, p)
			case l > layer || l == layer && w > within:
				f.Add("%s: %s must not import %s, which is in a higher layer (see layers in main_test.go); pass in what it needs, or move the code", t.At(i), s.Dir, p)
			case tree.Under(s.Dir, []string{"agents/..."}) && (s.Dir == "agents" && p == "store/config" || plan.provider(p) && !plan.provider(s.Dir)):
				f.Add("%s: %s must not know %s; let the caller hand in what is needed", t.At(i), s.Dir, p)
			}
		}
	}
	return f
}

// provider reports whether a package implements one vendor's protocol.
func (plan Plan) provider(dir string) bool {
	return strings.HasPrefix(dir, "agents/llm/") && !plan.support(dir) && dir != "agents/llm"
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

// early are the packages of the standard library that are initialised before most others: among
// packages whose imports are ready, Go initialises the first by name.
var early = []string{
	"bytes", "context", "crypto/sha256", "encoding/binary", "encoding/hex", "errors", "fmt", "io", "io/fs", "os", "os/signal", "path",
	"runtime", "slices", "strconv", "strings", "sync", "sync/atomic", "syscall", "time", "unsafe",
}

// gate returns our packages that must be initialised before Gate.
func (plan Plan) gate(t *tree.Tree) (all []string) {
	files := t.Packages()
	for all = []string{plan.Gate}; ; {
		before := len(all)
		for _, dir := range all {
			for _, s := range files[dir] {
				for _, i := range s.Syntax.Imports {
					if p, own := tree.Ours(i); own && !s.Test && !slices.Contains(all, p) {
						all = append(all, p)
					}
				}
			}
		}
		if len(all) == before {
			return all
		}
	}
}

func (plan Plan) checkEarly(t *tree.Tree) (f tree.Findings) {
	gate := plan.gate(t)
	for _, s := range t.Files {
		if s.Test || !slices.Contains(gate, s.Dir) {
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
