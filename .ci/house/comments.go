package house

import (
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"fantail/.ci/house/tree"
)

// comments returns the rules on comments and documentation.
func (plan Plan) comments() []Rule {
	return []Rule{
		{Name: "each package says what it is", Check: checkPackages, Bad: []string{
			"-- store/a.go --\npackage store\n",
			"-- store/a.go --\n// The rows.\npackage store\n",
			"-- store/a.go --\n// Package store is.\n//\n// Imports: nothing of ours.\npackage store\n",
			"-- ui/a.go --\n// Package ui is.\npackage ui\n-- ui/b.go --\n// Package ui is.\npackage ui\n",
		}, Good: []string{
			"-- inbox/a.go --\n// Package inbox is.\n//\n// Does: x.\n//\n// Does not: y.\npackage inbox\n-- inbox/b.go --\npackage inbox\n",
			"-- inbox/a_test.go --\npackage inbox\n",
		}},
		{Name: "CONTRIBUTING.md lists each package once", Check: checkMap, Bad: []string{
			"-- .github/CONTRIBUTING.md --\n- `store`: rows\n", "-- .github/CONTRIBUTING.md --\n- `store`: rows\n- `store`: rows\n-- store/a.go --\npackage store\n",
			"-- .github/CONTRIBUTING.md --\n- `store`: rows\n-- store/a.go --\npackage store\n-- inbox/a.go --\npackage inbox\n",
		}, Good: []string{"-- .github/CONTRIBUTING.md --\n- `store`: rows\n-- store/a.go --\npackage store\n-- main.go --\npackage main\n-- .ci/a/a.go --\npackage a\n"}},
		{Name: "a comment on a declaration begins on a line of its own", Check: checkGlued, Bad: []string{
			"-- store/a.go --\npackage store\nimport (\n\t\"io\"\n) // DB is one.\ntype DB io.Reader\n",
		}, Good: []string{
			"-- store/a.go --\npackage store\nimport (\n\t\"io\" // for one\n)\n\n// DB is one.\ntype DB io.Reader\n",
		}},
		{Name: "what the documentation names exists", Check: plan.checkExists, Bad: []string{
			"-- README.md --\nsee `store/gone.go`\n", "-- README.md --\n`store.Gone` does it\n-- store/a.go --\npackage store\n", "-- README.md --\n[x](ui/none.svg)\n", "-- README.md --\n[x](#none)\n",
			"-- store/a.go --\n// Package store is [Gone].\npackage store\n", "-- store/a.go --\n// Package store calls store.Open.\npackage store\n",
			"-- store/a.go --\n// Package store stands beside inbox/gone.\npackage store\n", "-- main.go --\n// main is in ui/gone.go.\npackage main\n",
			"-- store/a.go --\n// Package store has [DB.Gone].\npackage store\ntype DB struct{}\n",
		}, Good: []string{
			"-- README.md --\n# A b\n`store` [x](#a-b) `store/*.go` `go test ./...`\n```sh\n`ui/gone`\n```\n-- store/a.go --\n// Package store has [DB.Write], store.DB and io.Reader.\npackage store\ntype DB struct{}\nfunc (*DB) Write() {}\n",
		}},
	}
}

// contributing is the page with the map of the packages. mapped matches a line of it.
const contributing = ".github/CONTRIBUTING.md"

var mapped = regexp.MustCompile("(?m)^- `([a-z/]+)`: ")

// checkMap refuses a package that is missing in the map, and a line of the map without a package.
func checkMap(t *tree.Tree) (f tree.Findings) {
	text, ok := t.Texts[contributing]
	if !ok {
		return nil
	}
	packages := map[string]bool{}
	for _, s := range t.Files {
		if s.Dir != "." && !tree.Under(s.Dir, []string{".ci/..."}) {
			packages[s.Dir] = true
		}
	}
	lines := map[string]int{}
	for _, m := range mapped.FindAllStringSubmatch(text, -1) {
		if lines[m[1]]++; !packages[m[1]] {
			f.Add("%s: there is no package %s; take its line away", contributing, m[1])
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if lines[dir] != 1 {
			f.Add("%s: it has %d lines for the package %s; write one that says what is in it", contributing, lines[dir], dir)
		}
	}
	return f
}

// checkGlued refuses a comment that begins after the bracket of an import: it looks like the
// documentation of what follows but is not.
func checkGlued(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		line := func(p token.Pos) int { return t.Set.Position(p).Line }
		for _, d := range s.Syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || !g.Rparen.IsValid() {
				continue
			}
			for _, c := range s.Syntax.Comments {
				if c.Pos() > g.Rparen && line(c.Pos()) == line(g.Rparen) {
					f.Add("%s: a comment begins behind a bracket; give it a line of its own", t.At(c))
				}
			}
		}
	}
	return f
}

// checkPackages requires one comment for each package, without a list of its imports.
func checkPackages(t *tree.Tree) (f tree.Findings) {
	for dir, files := range t.Packages() {
		var doc *ast.CommentGroup
		code := false
		for _, s := range files {
			if s.Test {
				continue
			}
			code = true
			if s.Syntax.Doc != nil && doc != nil {
				f.Add("%s: the package has a second comment; keep the one at %s", t.At(s.Syntax.Doc), t.At(doc))
			} else if s.Syntax.Doc != nil {
				doc = s.Syntax.Doc
			}
		}
		switch {
		case !code:
		case doc == nil:
			f.Add("%s: the package has no comment; say what it is in one or two sentences", dir)
		case files[0].Syntax.Name.Name != "main" && !strings.HasPrefix(doc.Text(), "Package "+files[0].Syntax.Name.Name+" "):
			f.Add("%s: the comment of %s does not begin with \"Package %s\"", t.At(doc), dir, files[0].Syntax.Name.Name)
		case strings.Contains(doc.Text(), "\nImports:"):
			f.Add("%s: the imports stand below; leave the paragraph out", t.At(doc))
		}
	}
	slices.Sort(f)
	return f
}

var (
	fenced    = regexp.MustCompile("(?sm)^```.*?^```")
	indented  = regexp.MustCompile(`(?m)^[\t ].*$`)
	ticked    = regexp.MustCompile("`([A-Za-z0-9_./*-]+)`")
	barePath  = regexp.MustCompile(`(?:^|[\s(])((?:agents|inbox|store|themes|tools|ui)/[A-Za-z0-9_./*-]+)`)
	qualified = regexp.MustCompile(`(?:^|[^\w/.])([a-z]+)\.([A-Z]\w*)(?:\.([A-Za-z]\w*))?`)
	docLink   = regexp.MustCompile(`\[\*?([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// checkExists checks that each path and name in the documentation exists.
func (plan Plan) checkExists(t *tree.Tree) (f tree.Findings) {
	all := declared(t)
	look := func(at, pkg, text string) {
		for _, m := range ticked.FindAllStringSubmatch(text, -1) {
			plan.checkPath(t, &f, at, m[1])
		}
		for _, m := range barePath.FindAllStringSubmatch(text, -1) {
			plan.checkPath(t, &f, at, m[1])
		}
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			names, known := all[m[1]]
			full := m[2]
			if m[3] != "" && names[m[2]+"."+m[3]] {
				full += "." + m[3]
			}
			if known && !names[full] {
				f.Add("%s: %s.%s does not exist; correct the sentence", at, m[1], full)
			}
		}
		if pkg != "" {
			for _, m := range docLink.FindAllStringSubmatch(indented.ReplaceAllString(text, ""), -1) {
				if !all[pkg][m[1]] {
					f.Add("%s: [%s] does not exist in %s; correct the sentence", at, m[1], pkg)
				}
			}
		}
	}
	for _, s := range t.Files {
		if s.Syntax.Doc != nil && !s.Test {
			pkg := s.Syntax.Name.Name
			if pkg == "main" {
				pkg = ""
			}
			look(t.At(s.Syntax.Doc), pkg, s.Syntax.Doc.Text())
		}
	}
	readme := fenced.ReplaceAllString(t.Texts["README.md"], "")
	look("README.md", "", readme)
	anchors := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(readme, -1) {
		anchors["#"+strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	for _, m := range mdLink.FindAllStringSubmatch(readme, -1) {
		if to := m[1]; !strings.Contains(to, "://") && !anchors[to] && (strings.HasPrefix(to, "#") || !t.Exists(to)) {
			f.Add("README.md: the link to %s leads nowhere", to)
		}
	}
	return f
}

// checkPath checks that a path below one of our folders exists.
func (plan Plan) checkPath(t *tree.Tree, f *tree.Findings, at, p string) {
	p = strings.TrimRight(p, "./")
	first, _, _ := strings.Cut(p, "/")
	if first != ".ci" && (first == tree.Module || !slices.Contains(plan.Top, first)) {
		return
	}
	if before, _, stars := strings.Cut(p, "**"); stars {
		p = strings.TrimRight(before, "/")
	}
	if found, err := fs.Glob(t.FS, p); err != nil || len(found) == 0 {
		f.Add("%s: %s does not exist; correct the sentence", at, p)
	}
}

// declared returns the names of each package, by the package's name: T, T.Method, T.Field, Func.
func declared(t *tree.Tree) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, s := range t.Files {
		pkg := s.Syntax.Name.Name
		if s.Test || pkg == "main" {
			continue
		}
		names := all[pkg]
		if names == nil {
			names = map[string]bool{}
			all[pkg] = names
		}
		for _, d := range s.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else if r := tree.Receiver(d.Recv.List[0].Type); r != nil {
					names[r.Name+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					declare(names, spec)
				}
			}
		}
	}
	return all
}

func declare(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		var fields *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			fields = typ.Fields
		case *ast.InterfaceType:
			fields = typ.Methods
		default:
			return
		}
		for _, field := range fields.List {
			for _, n := range field.Names {
				names[spec.Name.Name+"."+n.Name] = true
			}
		}
	}
}
