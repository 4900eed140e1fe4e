package inbox_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Fields of a message that others wrote: a model reads them only inside an envelope.
var quoted = map[string]bool{"Subject": true, "Body": true, "Error": true, "Partial": true, "Text": true, "Raw": true, "SoFar": true, "Gist": true, "words": true, "gist": true, "Listed": true, "Headed": true, "Listing": true, "ListingLines": true}

// quoters are the functions that make a text of such fields, with what becomes of it. The test holds all of inbox and
// agents to this list: anyone who adds a function decides who reads its text.
var quoters = map[string]string{
	"inbox.Envelope inbox.Part inbox.Reported":                                                 "it is in an envelope",
	"inbox.labelled inbox.labels inbox.cause":                                                  "it is in an envelope",
	"inbox.Text inbox.SoFar inbox.Gist inbox.words inbox.gist inbox.Listed inbox.ListingLines": "whose callers are held to the same",
	"inbox.Headed":                         "people read it, in a terminal",
	"agents/hooks.told agents/hooks.tasks": "programs of the human's read it, as data",
	"inbox.MarshalJSON":                    "an entry's data, rendered when it is sent",
	"inbox.check inbox.earlier inbox.insert inbox.scanMessage":                           "its row",
	"agents/tasks.ResultOf agents.brief agents.escalate agents.tell agents/mail.Respond": "another message",
	"agents/event.About agents.Output agents/mail.summary":                               "people read it, on the screen",
	"agents.Read agents/history.MessageTokens agents/history.names":                      "it is measured or searched, and not shown",
}

// source type-checks this module's packages without imports from elsewhere: values of foreign packages have no type,
// and are ignored.
type source struct {
	fset  *token.FileSet
	known map[string]*types.Package
	info  *types.Info
}

func (s *source) Import(path string) (*types.Package, error) {
	if p := s.known[path]; p != nil {
		return p, nil
	}
	dir, ours := strings.CutPrefix(path, "fantail/")
	if !ours {
		p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
		p.MarkComplete()
		return p, nil
	}
	files, err := s.parse(filepath.Join("..", dir))
	if err != nil {
		return nil, err
	}
	return s.check(path, files), nil
}

func (s *source) parse(dir string) (files []*ast.File, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, err
}

func (s *source) check(path string, files []*ast.File) *types.Package {
	c := types.Config{Importer: s, Error: func(error) {}} // values of foreign packages have no type
	p, _ := c.Check(path, s.fset, files, s.info)
	s.known[path] = p
	return p
}

func newSource() *source {
	return &source{token.NewFileSet(), map[string]*types.Package{}, &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}}}
}

// quotes are the functions that make a text of a message's fields, by package and name.
func (s *source) quotes(path string, files []*ast.File) map[string]token.Position {
	found := map[string]token.Position{}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := path + "." + fn.Name.Name
			asked := compared(fn.Body)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok && quoted[x.Sel.Name] && !asked[x] && s.ofMessage(x) {
					found[name] = s.fset.Position(x.Pos())
				}
				return true
			})
		}
	}
	return found
}

// ofMessage reports whether the selector is of an inbox.Message, also of an embedded one.
func (s *source) ofMessage(x *ast.SelectorExpr) bool {
	sel := s.info.Selections[x]
	if sel == nil {
		fn, ok := s.info.Uses[x.Sel].(*types.Func) // inbox.Listing, of many
		return ok && strings.HasPrefix(fn.FullName(), "fantail/inbox.Listing")
	}
	t := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		st, ok := under(t).Underlying().(*types.Struct)
		if !ok {
			return false
		}
		t = st.Field(i).Type()
	}
	n, ok := under(t).(*types.Named)
	return ok && n.Obj().Name() == "Message" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "fantail/inbox"
}

// under is the type that a pointer points to.
func under(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// compared are the operands of == and !=, and the targets of assignments: these don't quote.
func compared(body *ast.BlockStmt) map[ast.Expr]bool {
	out := map[ast.Expr]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				out[n.X], out[n.Y] = true, true
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				out[x] = n.Tok == token.ASSIGN
			}
		}
		return true
	})
	return out
}

// TestQuotesOnlyInEnvelopes: every function that uses a message's text is on the list, with what becomes of the text;
// so no new function leads a message's words to a model except in an envelope.
func TestQuotesOnlyInEnvelopes(t *testing.T) {
	known := map[string]bool{}
	for names := range quoters {
		for _, name := range strings.Fields(names) {
			known["fantail/"+name] = false
		}
	}
	s := newSource() // one, so that each package is checked once
	for _, dir := range []string{"inbox", "agents"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			files, err := s.parse(p)
			if err != nil || len(files) == 0 {
				return err
			}
			path := "fantail/" + filepath.ToSlash(strings.TrimPrefix(p, ".."+string(filepath.Separator)))
			s.check(path, files)
			for name, at := range s.quotes(path, files) {
				if _, ok := known[name]; !ok {
					t.Errorf("%s: %s reads what a message says: render it with Rendering, or say here who reads it", at, name)
				}
				known[name] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, found := range known {
		if !found {
			t.Errorf("%s reads nothing that a message says: it has no place in the list", name)
		}
	}
}

// TestQuotes_refuses: code that uses a text without an envelope is found.
func TestQuotes_refuses(t *testing.T) {
	s := newSource()
	for body, want := range map[string]bool{
		`return "Mail: " + m.Body`:                                          true,
		`s := m.Subject; return s`:                                          true,
		`return fmt.Sprintf("%s failed: %s", m.From, m.Error)`:              true,
		`var b strings.Builder; b.WriteString(m.Text()); return ""`:         true,
		`f := m.Text; return f()`:                                           true,
		`p := &m; return p.Partial`:                                         true,
		`return (*(&m)).Gist()`:                                             true,
		`for _, x := range []inbox.Message{m} { return x.Body }; return ""`: true,
		`return func() string { return m.Body }()`:                          true,
		`type mine struct{ inbox.Message }; return mine{m}.Body`:            true,
		`if m.Body == "" { return "no text" }; return ""`:                   false,
		`m.Body = "x"; return envelope.Rendering{}.Envelope(m)`:             false,
		`return inbox.Listing([]inbox.Message{m}, time.Time{})`:             true,
		`return inbox.ListingLines([]inbox.Message{m}, time.Time{})`:        true,
		`return m.Listed(time.Time{})`:                                      true,
		`return q.Body`:                                                     false,
	} {
		f, err := parser.ParseFile(s.fset, "x.go", "package x\nimport (\"fmt\"; \"strings\"; \"time\"; \"fantail/inbox\"; \"fantail/inbox/envelope\")\ntype other struct{ Body string }\nvar q other\nfunc f(m inbox.Message) string { "+body+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.check("fantail/x", []*ast.File{f})
		if got := len(s.quotes("fantail/x", []*ast.File{f})) > 0; got != want {
			t.Errorf("%s: refused: %t, want %t", body, got, want)
		}
	}
}
