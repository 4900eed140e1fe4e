// Package promises is what the specification promises, and which tests hold it.
//
// Does: read the numbers that the comments of tests name, find those that none does.
//
// Does not: know the specification, or run a test.
//
// Imports: .ci/house/tree.
package promises

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"unicode"

	"fantail/.ci/house/tree"
)

// Range is the numbers of one letter that are promised, from and to.
type Range struct {
	Letter   string
	From, To int
}

var (
	specNote   = regexp.MustCompile(`Spec: ([^.]*)\.`)
	specNumber = regexp.MustCompile(`^[A-Z]-[1-9][0-9]*$`)
)

// Held returns which promises the comments of tests name, and the tests that do.
func Held(t *tree.Tree) (table map[string][]string, f tree.Findings) {
	table = map[string][]string{}
	for _, s := range t.Files {
		for _, d := range s.Syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, m := range specNote.FindAllStringSubmatch(fn.Doc.Text(), -1) {
				for _, id := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
					switch {
					case !s.Test || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz"):
						f.Add("%s: %s stands at %s, which is no test; name it where it is tested", t.At(fn), id, fn.Name.Name)
					case !specNumber.MatchString(id):
						f.Add("%s: %q is no number of the specification", t.At(fn), id)
					default:
						table[id] = append(table[id], fn.Name.Name)
					}
				}
			}
		}
	}
	return table, f
}

// Check finds those that no test names.
func Check(t *tree.Tree, all []Range) (f tree.Findings) {
	table, f := Held(t)
	for _, p := range all {
		for n := p.From; n <= p.To; n++ {
			if id := fmt.Sprintf("%s-%d", p.Letter, n); len(table[id]) == 0 {
				f.Add("%s: no test names it; write one, or name it in the comment of the test that holds it (Spec: %s)", id, id)
			}
		}
	}
	return f
}
