package house

import (
	"bufio"
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fantail/.ci/house/tree"
)

// limits are the limits of sizes. Larger ones are in the list of sizes with their number, which may
// only fall. The methods of a type, the fields of a struct and the lines of a package have no
// limit: they follow from the design, and Report lists them.
var limits = map[string]int{
	"interface": 15, // methods of an interface
	"bools":     0,  // functions with a parameter of type bool
}

// Sizes are the exceptions to limits: sizes by kind and name, as in "methods ui.App".
type Sizes map[string]int

// ReadSizes parses the list: a kind, a name and a number a line.
func ReadSizes(text string) (Sizes, error) {
	s := Sizes{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 3 {
			return nil, fmt.Errorf("the sizes: %q is not KIND NAME NUMBER", lines.Text())
		}
		n, err := strconv.Atoi(words[2])
		if _, known := limits[words[0]]; err != nil || !known {
			return nil, fmt.Errorf("the sizes: %q is not KIND NAME NUMBER", lines.Text())
		}
		s[words[0]+" "+words[1]] = n
	}
	return s, nil
}

// String returns the list in the format of ReadSizes.
func (s Sizes) String() string {
	var b strings.Builder
	b.WriteString("# What is larger than it should be, and by how much it may be that. A number only falls:\n# go test . -run TestSizes -lower writes what a cut has reached.\n")
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintln(&b, name, s[name])
	}
	return b.String()
}

// Lowered returns s with the sizes that the tree has reached. No size rises, and none is added.
func (s Sizes) Lowered(t *tree.Tree) (Sizes, error) {
	now, err := measure(t)
	low := Sizes{}
	for name, n := range s {
		if n = min(n, now[name]); n > limits[kind(name)] {
			low[name] = n
		}
	}
	return low, err
}

// kind returns the first word of a size's name.
func kind(name string) string {
	k, _, _ := strings.Cut(name, " ")
	return k
}

// measure returns all sizes of a tree.
func measure(t *tree.Tree) (Sizes, error) {
	typed, err := t.Typed()
	if err != nil {
		return nil, err
	}
	s := Sizes{}
	for dir, p := range typed {
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			named, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || named.IsAlias() {
				continue
			}
			switch u := named.Type().Underlying().(type) {
			case *types.Interface:
				s["interface "+dir+"."+name] = u.NumMethods()
			case *types.Struct:
				s["fields "+dir+"."+name] = u.NumFields()
			}
			if n, ok := named.Type().(*types.Named); ok {
				s["methods "+dir+"."+name] = n.NumMethods()
			}
		}
	}
	for _, f := range t.Files {
		if f.Test || strings.HasPrefix(f.Dir, ".ci/") {
			continue
		}
		s["lines "+f.Dir] += t.Set.File(f.Syntax.Pos()).LineCount()
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && chooses(fn) {
				if fn.Name.IsExported() {
					s["bools exported"]++
				} else {
					s["bools unexported"]++
				}
			}
		}
	}
	return s, nil
}

// Report lists the largest sizes of each kind, up to most of each, for a person to read.
func Report(t *tree.Tree, most int) (lines []string, err error) {
	now, err := measure(t)
	kinds := map[string][]string{}
	for name := range now {
		kinds[kind(name)] = append(kinds[kind(name)], name)
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		names := slices.SortedFunc(slices.Values(kinds[k]), func(a, b string) int {
			return cmp.Or(cmp.Compare(now[b], now[a]), cmp.Compare(a, b))
		})
		for _, name := range names[:min(most, len(names))] {
			lines = append(lines, fmt.Sprintf("%s %d", name, now[name]))
		}
	}
	return lines, err
}

// Single returns the packages that only one other package imports, with that package. It leaves out
// known ones, which are separate on purpose: protocols, drivers and parts of the program that
// another starts.
func Single(t *tree.Tree, known []string) (lines []string) {
	importers := map[string]map[string]bool{}
	for _, s := range t.Files {
		for _, i := range s.Syntax.Imports {
			if p, own := tree.Ours(i); own && !s.Test && p != s.Dir {
				if importers[p] == nil {
					importers[p] = map[string]bool{}
				}
				importers[p][s.Dir] = true
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(importers)) {
		if by := slices.Collect(maps.Keys(importers[p])); len(by) == 1 && !slices.Contains(known, p) {
			lines = append(lines, p+" by "+by[0])
		}
	}
	return lines
}

// chooses reports whether a parameter of fn is a bool.
func chooses(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(p *ast.Field) bool { return tree.Name(p.Type) == "bool" })
}

// checkSizes refuses sizes beyond their limit or beyond the list.
func (plan Plan) checkSizes(t *tree.Tree) (f tree.Findings) {
	now, err := measure(t)
	if err != nil {
		return tree.Findings{err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		limit, limited := limits[kind(name)]
		if granted := max(limit, plan.Sizes[name]); limited && now[name] > granted {
			f.Add("%s: %d; it may have %d: %s (what only moved or got a new name is written into .ci/house/sizes.txt by hand: %s %d)", name, now[name], granted, remedies[kind(name)], name, now[name])
		}
	}
	return f
}

// remedies say what to do about a size, by kind.
var remedies = map[string]string{
	"interface": "take several interfaces, each where it is used, or the concrete type",
	"bools":     "make it two functions, or give the choice a named type",
}

// checkLower refuses a list that allows more than needed: a size that fell must not rise again.
func (plan Plan) checkLower(t *tree.Tree) (f tree.Findings) {
	low, err := plan.Sizes.Lowered(t)
	if err != nil {
		return tree.Findings{err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Sizes)) {
		if low[name] != plan.Sizes[name] {
			f.Add("%s fell from %d to %s: go test . -run TestSizes -lower writes it down", name, plan.Sizes[name], cmp.Or(strings.TrimPrefix(strconv.Itoa(low[name]), "0"), "what all may have"))
		}
	}
	return f
}

// sizes returns the rules on sizes.
func (plan Plan) sizes() []Rule {
	row := func(n int, format string) (s string) {
		for i := range n {
			s += fmt.Sprintf(format, i)
		}
		return s
	}
	const head = "-- a/a.go --\npackage a\n"
	return []Rule{
		{Name: "nothing grows too large", Check: plan.checkSizes, Whole: plan.checkLower, Bad: []string{
			head + "type T interface {\n" + row(16, "m%d()\n") + "}\n",
			head + "type A interface {\n" + row(9, "m%d()\n") + "}\ntype B interface {\n" + row(9, "n%d()\n") + "}\ntype T interface { A; B }\n",
			head + row(200, "func F%d(whether bool) {}\n"),
			head + row(200, "func f%d(n int, this, that bool) {}\n"),
		}, Good: []string{
			head + "type T struct {\n" + row(60, "f%d int\n") + "}\n" + row(60, "func (T) m%d() {}\n"),
			head + "type U interface {\n" + row(15, "m%d()\n") + "}\ntype V = U\n",
			head + strings.Repeat("\n", 9000) + "-- a/a_test.go --\npackage a\nfunc f(x bool) {}\n",
		}},
	}
}
