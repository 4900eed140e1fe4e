// Package tree is the source of a module for the rules.
//
// Does: read the files of a folder (Go as syntax, the rest as text), determine the types of its
// packages, and which function calls which.
//
// Does not: know a rule.
package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"
)

// Module is the path of the module.
const Module = "fantail"

// File is one Go file.
type File struct {
	Path, Dir string
	Test      bool
	Syntax    *ast.File
}

// Tree is a module's source.
type Tree struct {
	FS    fs.FS
	Set   *token.FileSet
	Files []*File
	Texts map[string]string // SQL, markdown, themes and scripts

	built   *Built
	typed   map[string]*Package // nil: not computed yet
	untyped error
	calls   []*Func
}

// Read reads a tree. It skips folders that begin with a dot, except .ci and .github. Typed needs
// built.
func Read(fsys fs.FS, built *Built) (*Tree, error) {
	t := &Tree{FS: fsys, Set: token.NewFileSet(), Texts: map[string]string{}, built: built}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(name, ".") && p != ".ci" && p != ".github" || name == "testdata" || p == ".ci/bin") {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			return t.parse(p)
		case ".sql", ".md", ".toml", ".sh", ".mod":
		default:
			if p != ".ci/run" {
				return nil
			}
		}
		data, err := fs.ReadFile(fsys, p)
		t.Texts[p] = string(data)
		return err
	})
	return t, err
}

func (t *Tree) parse(p string) error {
	data, err := fs.ReadFile(t.FS, p)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.Set, p, data, parser.ParseComments)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, &File{p, path.Dir(p), strings.HasSuffix(p, "_test.go"), syntax})
	return nil
}

// Small returns a tree of files in the format "-- PATH --" and text. Its packages may import each
// other and what b was built of.
func Small(text string, b *Built) (*Tree, error) {
	fsys := fstest.MapFS{}
	for _, part := range strings.Split(text, "-- ")[1:] {
		p, body, _ := strings.Cut(part, " --\n")
		fsys[p] = &fstest.MapFile{Data: []byte(body)}
	}
	if b != nil {
		b = &Built{exports: b.exports}
	}
	return Read(fsys, b)
}

// At returns the position of a piece of syntax.
func (t *Tree) At(n ast.Node) string {
	p := t.Set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// Exists reports whether the file exists.
func (t *Tree) Exists(p string) bool {
	_, err := fs.Stat(t.FS, p)
	return err == nil
}

// Packages groups the files by folder. External tests of a package are left out.
func (t *Tree) Packages() map[string][]*File {
	ps := map[string][]*File{}
	for _, s := range t.Files {
		if !strings.HasSuffix(s.Syntax.Name.Name, "_test") {
			ps[s.Dir] = append(ps[s.Dir], s)
		}
	}
	return ps
}

// Under reports whether dir is one of the places. A place that ends in /... includes all folders
// below it.
func Under(dir string, places []string) bool {
	return slices.ContainsFunc(places, func(p string) bool {
		root, deep := strings.CutSuffix(p, "/...")
		return dir == root || deep && strings.HasPrefix(dir, root+"/")
	})
}

// Ours returns the path of one of our packages without the module's name. It returns false for
// other imports.
func Ours(s *ast.ImportSpec) (string, bool) {
	p, _ := strconv.Unquote(s.Path.Value)
	if p == Module {
		return ".", true
	}
	return strings.CutPrefix(p, Module+"/")
}

// Literals calls do with each string of a file, except its imports.
func (s *File) Literals(do func(n ast.Node, text string)) {
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				do(n, text)
			}
		}
		return true
	})
}

// Name returns a called function's name: f, pkg.F.
func Name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := Name(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	case *ast.IndexExpr:
		return Name(e.X)
	}
	return ""
}

// Root returns the variable that an expression reaches into; nil: none.
func Root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// Receiver returns a method's type without its type parameters.
func Receiver(e ast.Expr) *ast.Ident {
	if l, ok := e.(*ast.IndexListExpr); ok {
		e = l.X
	}
	return Root(e)
}

// Findings collects violations, in the order of the files.
type Findings []string

// Add adds a finding: where it is, what is wrong and what to do.
func (f *Findings) Add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }
