package house

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"fantail/.ci/house/tree"
)

// state returns the rules on package variables and init functions.
func (plan Plan) state() []Rule {
	return []Rule{
		{Name: "no init", Check: plan.checkInit, Bad: []string{
			"-- a.go --\npackage main\nfunc init() {}\n",
			"-- ui/screen/wire/a.go --\npackage wire\nfunc init() {}\n",
		}, Good: []string{
			"-- a.go --\npackage main\ntype t int\nfunc (t) init() {}\n",
			"-- ui/screen/a.go --\npackage screen\nfunc init() { act() }\n",
		}},
		{Name: "no state in packages", Check: checkState, Bad: []string{
			"-- a.go --\npackage main\nvar n int\n",
			"-- a.go --\npackage main\nimport \"sync\"\nvar m sync.Mutex\n",
			"-- a.go --\npackage main\nvar m = make(map[string]int)\n",
			"-- a.go --\npackage main\nvar p = &struct{ n int }{}\n",
			"-- a.go --\npackage main\nvar m = map[string]int{}\nfunc f() { m[\"a\"] = 1 }\n",
			"-- a.go --\npackage main\nvar m = map[string]int{}\nfunc f() { delete(m, \"a\") }\n",
			"-- a.go --\npackage main\nvar n = 1\n-- b.go --\npackage main\nfunc f() { n++ }\n",
			"-- a.go --\npackage main\nvar n = 1\nfunc f() *int { return &n }\n",
			"-- a.go --\npackage main\nvar s = []int{2, 1}\nfunc f() { slices.Sort(s) }\n",
			"-- a.go --\npackage main\nvar s = struct{ n int }{}\nfunc f() { s.n = 2 }\n",
			"-- a.go --\npackage main\nvar c = open()\nfunc open() *int { return nil }\n",
			"-- a.go --\npackage main\nvar f = flag.Bool(\"x\", false, \"\")\n",
			"-- a_test.go --\npackage main\nvar n int\n",
			"-- a.go --\npackage main\nvar p, q = 1, &struct{}{}\n",
		}, Good: []string{
			"-- a.go --\npackage main\nvar _ I = T{}\nvar e = errors.New(\"x\")\nvar r = regexp.MustCompile(`x`)\n//go:embed a.md\nvar s string\nvar t = []T{{1, 2}, {n: 3}}\nvar w = words()\nfunc words() []string { return nil }\n",
			"-- a.go --\npackage main\nvar n = 1\nfunc f() { n := 2; n++; for n = range 3 {} }\n",
			"-- a_test.go --\npackage main\nvar f = flag.Bool(\"x\", false, \"\")\n",
		}},
	}
}

func (plan Plan) checkInit(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Dir == plan.Gate {
			continue
		}
		for _, d := range s.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				f.Add("%s: no init functions; let main call what must happen first", t.At(fn))
			}
		}
	}
	return f
}

// makers are calls whose result never changes.
var makers = []string{
	"errors.New", "fmt.Errorf", "fmt.Sprintf", "regexp.MustCompile", "lazy", "reflect.TypeFor", "time.Date", "time.Duration",
	"json.RawMessage", "sync.OnceValue", "sync.OnceValues", "len", "string", "int", "int64", "float64", "rune", "byte",
}

// checkState refuses package variables that are, or may become, state.
func checkState(t *tree.Tree) (f tree.Findings) {
	ps := t.Packages()
	for _, dir := range slices.Sorted(maps.Keys(ps)) {
		vars := map[string]*ast.ValueSpec{}
		results := map[string]ast.Expr{} // result types of functions with one result
		for _, s := range ps[dir] {
			for _, d := range s.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Type.Results.NumFields() == 1 {
					results[fn.Name.Name] = fn.Type.Results.List[0].Type
				}
			}
		}
		for _, s := range ps[dir] {
			for _, d := range s.Syntax.Decls {
				gen, ok := d.(*ast.GenDecl)
				if !ok || gen.Tok != token.VAR {
					continue
				}
				for _, spec := range gen.Specs {
					v := spec.(*ast.ValueSpec)
					embedded := embeds(gen.Doc) || embeds(v.Doc) || v.Type != nil && tree.Name(v.Type) == "embed.FS"
					for i, n := range v.Names {
						switch {
						case n.Name == "_" || embedded:
						case len(v.Values) == 0:
							f.Add("%s: the package variable %s is state; put it into a value that somebody owns", t.At(n), n.Name)
						case !fixed(v.Values[min(i, len(v.Values)-1)], results, s.Test, true):
							f.Add("%s: the package variable %s may be state; allowed are constants, tables, sentinel errors and regexps", t.At(n), n.Name)
						}
						if n.Name != "_" {
							vars[n.Name] = v
						}
					}
				}
			}
		}
		for _, s := range ps[dir] {
			changes(s.Syntax, func(n ast.Node, id *ast.Ident, how string) {
				v := vars[id.Name]
				if v != nil && (id.Obj == nil || id.Obj.Decl == v) {
					f.Add("%s: the package variable %s is %s; a table stays as it was written", t.At(n), id.Name, how)
				}
			})
		}
	}
	return f
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// fixed reports whether the value of a package variable never changes.
func fixed(e ast.Expr, results map[string]ast.Expr, test, outermost bool) bool {
	in := func(e ast.Expr) bool { return fixed(e, results, test, false) }
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr, *ast.FuncLit:
		return true
	case *ast.ParenExpr:
		return in(e.X)
	case *ast.BinaryExpr:
		return in(e.X) && in(e.Y)
	case *ast.KeyValueExpr:
		return in(e.Value)
	case *ast.IndexExpr:
		return in(e.X)
	case *ast.UnaryExpr:
		return (e.Op != token.AND || !outermost) && in(e.X)
	case *ast.CompositeLit:
		if n := tree.Name(e.Type); strings.HasPrefix(n, "sync.") || strings.HasPrefix(n, "atomic.") {
			return false
		}
		return !slices.ContainsFunc(e.Elts, func(e ast.Expr) bool { return !in(e) })
	case *ast.CallExpr:
		called := tree.Name(e.Fun)
		switch _, array := e.Fun.(*ast.ArrayType); {
		case array, slices.Contains(makers, called), strings.HasPrefix(called, "strings."), test && strings.HasPrefix(called, "flag."):
		case results[called] != nil:
			switch results[called].(type) {
			case *ast.StarExpr, *ast.ChanType, *ast.InterfaceType:
				return false
			}
		default:
			return false
		}
		return !slices.ContainsFunc(e.Args, func(e ast.Expr) bool { return !in(e) })
	}
	return false
}

// changes finds variables that are assigned, incremented, cleared, sorted or passed by address.
func changes(file *ast.File, found func(n ast.Node, id *ast.Ident, how string)) {
	hit := func(n ast.Node, e ast.Expr, how string) {
		if id := tree.Root(e); id != nil {
			found(n, id, how)
		}
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					if n.Tok != token.DEFINE {
						hit(n, l, "assigned")
					}
				}
			case *ast.IncDecStmt:
				hit(n, n.X, "counted")
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					hit(n, n.Key, "assigned")
				}
			case *ast.UnaryExpr:
				if _, whole := n.X.(*ast.CompositeLit); n.Op == token.AND && !whole {
					hit(n, n.X, "handed out by its address")
				}
			case *ast.CallExpr:
				if len(n.Args) == 0 {
					break
				}
				switch c := tree.Name(n.Fun); {
				case c == "delete" || c == "clear" || c == "copy":
					hit(n, n.Args[0], "changed by "+c)
				case strings.HasPrefix(c, "slices.Sort") || strings.HasPrefix(c, "sort.") || c == "slices.Reverse":
					hit(n, n.Args[0], "reordered")
				}
			}
			return true
		})
	}
}
