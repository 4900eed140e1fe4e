package tree

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Func is one of our functions: a declared one, or a literal, which has no Object.
type Func struct {
	In     *Package
	Node   ast.Node // *ast.FuncDecl or *ast.FuncLit
	Object *types.Func
	Outer  *Func // of a literal: the function around it
	Type   *types.Signature
	Calls  []Call
}

// Call is a call in a function's body, of our function or another one. A function passed as an
// argument and a literal count as calls too. Calls through an interface or a variable are not
// followed.
type Call struct {
	At     ast.Node
	Callee *types.Func // nil: a literal
	Body   *Func       // body of the callee, if it is ours
	Held   []string    // mutexes held at the call, as written
	Given  string      // of a function argument: the name of the function that gets it, without package or type
	Later  bool        // a literal that a go statement or a variable runs at another time
}

// Calls returns the functions of the tree with their calls. It computes them once.
func (t *Tree) Calls() ([]*Func, error) {
	if t.calls != nil {
		return t.calls, nil
	}
	typed, err := t.Typed()
	if err != nil {
		return nil, err
	}
	g := &grapher{declared: map[*types.Func]*Func{}}
	for _, dir := range slices.Sorted(maps.Keys(typed)) {
		p := typed[dir]
		for _, file := range p.Files {
			for _, d := range file.Syntax.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					f := &Func{In: p, Node: d, Object: p.Info.Defs[d.Name].(*types.Func)}
					f.Type = f.Object.Signature()
					g.declared[f.Object] = f
					g.all = append(g.all, f)
				}
			}
		}
	}
	for _, f := range slices.Clone(g.all) {
		w := walker{g: g, f: f, info: f.In.Info}
		w.list(f.Node.(*ast.FuncDecl).Body.List, nil)
	}
	t.calls = g.all
	return t.calls, nil
}

type grapher struct {
	declared map[*types.Func]*Func
	all      []*Func
}

// walker goes through a function in the order of execution, and tracks which mutexes it holds.
type walker struct {
	g    *grapher
	f    *Func
	info *types.Info
}

// list walks statements and returns the mutexes held after them. on is false if nothing after them
// runs.
func (w *walker) list(ss []ast.Stmt, held []string) (after []string, on bool) {
	for _, s := range ss {
		if held, on = w.stmt(s, held); !on {
			return held, false
		}
	}
	return held, true
}

// branches walks bodies of which one runs. none reports that possibly none of them runs.
func (w *walker) branches(held []string, none bool, bodies ...[]ast.Stmt) ([]string, bool) {
	var after []string
	on := none
	if none {
		after = held
	}
	for _, b := range bodies {
		if got, goes := w.list(b, held); goes {
			on = true
			for _, m := range got {
				if !slices.Contains(after, m) {
					after = append(slices.Clip(after), m)
				}
			}
		}
	}
	return after, on
}

func (w *walker) stmt(s ast.Stmt, held []string) ([]string, bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		w.expr(s.X, held)
		if c, ok := s.X.(*ast.CallExpr); ok {
			if Name(c.Fun) == "panic" {
				return held, false
			}
			return w.mutex(c, held), true
		}
	case *ast.DeferStmt:
		if w.unlocks(s.Call) {
			return held, true // held to the end
		}
		w.expr(s.Call, held)
	case *ast.GoStmt:
		w.later(s.Call, held)
	case *ast.BlockStmt:
		return w.list(s.List, held)
	case *ast.LabeledStmt:
		return w.stmt(s.Stmt, held)
	case *ast.ReturnStmt, *ast.BranchStmt:
		w.exprs(s, held)
		return held, false
	case *ast.IfStmt:
		if s.Init != nil {
			held, _ = w.stmt(s.Init, held)
		}
		w.expr(s.Cond, held)
		if s.Else == nil {
			return w.branches(held, true, s.Body.List)
		}
		return w.branches(held, false, s.Body.List, []ast.Stmt{s.Else})
	case *ast.ForStmt:
		if s.Init != nil {
			held, _ = w.stmt(s.Init, held)
		}
		if s.Cond != nil {
			w.expr(s.Cond, held)
		}
		return w.branches(held, true, s.Body.List)
	case *ast.RangeStmt:
		w.expr(s.X, held)
		return w.branches(held, true, s.Body.List)
	case *ast.SwitchStmt:
		if s.Init != nil {
			held, _ = w.stmt(s.Init, held)
		}
		if s.Tag != nil {
			w.expr(s.Tag, held)
		}
		return w.clauses(s.Body, held)
	case *ast.TypeSwitchStmt:
		w.exprs(s.Assign, held)
		return w.clauses(s.Body, held)
	case *ast.SelectStmt:
		held, _ = w.clauses(s.Body, held)
	default:
		w.exprs(s, held)
	}
	return held, true
}

func (w *walker) clauses(body *ast.BlockStmt, held []string) ([]string, bool) {
	var bodies [][]ast.Stmt
	none := true
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			none = none && c.List != nil
			for _, e := range c.List {
				w.expr(e, held)
			}
			bodies = append(bodies, c.Body)
		case *ast.CommClause:
			if c.Comm != nil {
				w.exprs(c.Comm, held)
			}
			bodies = append(bodies, c.Body)
		}
	}
	return w.branches(held, none, bodies...)
}

func (w *walker) expr(e ast.Expr, held []string) { w.exprs(e, held) }

// exprs records the calls in n.
func (w *walker) exprs(n ast.Node, held []string) {
	given := map[*ast.FuncLit]string{}
	called := map[*ast.FuncLit]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			to, passed := given[n]
			w.literal(n, held, to, !passed && !called[n])
			return false
		case *ast.CallExpr:
			callee := Callee(w.info, n)
			c := Call{At: n, Callee: callee, Held: held}
			for _, a := range n.Args {
				a = ast.Unparen(a)
				if lit, ok := a.(*ast.FuncLit); ok {
					given[lit] = last(n.Fun)
				} else if f := Named(w.info, a); f != nil {
					w.f.Calls = append(w.f.Calls, Call{At: a, Callee: f, Body: w.g.declared[f], Held: held, Given: last(n.Fun)})
				}
			}
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
				called[lit] = true
			}
			if callee != nil {
				c.Body = w.g.declared[callee]
				w.f.Calls = append(w.f.Calls, c)
			}
		}
		return true
	})
}

// later records the calls in the arguments of a call that is made at another time.
func (w *walker) later(c *ast.CallExpr, held []string) {
	for _, a := range c.Args {
		w.expr(a, held)
	}
	if lit, ok := c.Fun.(*ast.FuncLit); ok {
		w.literal(lit, held, "", true)
	}
}

func (w *walker) literal(lit *ast.FuncLit, held []string, to string, later bool) {
	f := &Func{In: w.f.In, Node: lit, Outer: w.f}
	f.Type, _ = w.info.TypeOf(lit).(*types.Signature)
	w.g.all = append(w.g.all, f)
	w.f.Calls = append(w.f.Calls, Call{At: lit, Body: f, Held: held, Given: to, Later: later})
	(&walker{g: w.g, f: f, info: w.info}).list(lit.Body.List, nil)
}

// Callee returns the function that a call calls, as far as the source shows.
func Callee(info *types.Info, c *ast.CallExpr) *types.Func { return Named(info, ast.Unparen(c.Fun)) }

// last returns the last part of a name: f of pkg.f.
func last(e ast.Expr) string {
	name := Name(e)
	return name[strings.LastIndex(name, ".")+1:]
}

// Named returns the function that an expression names; nil: it names none.
func Named(info *types.Info, e ast.Expr) *types.Func {
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	case *ast.IndexListExpr:
		e = x.X
	}
	var o types.Object
	switch x := e.(type) {
	case *ast.Ident:
		o = info.Uses[x]
	case *ast.SelectorExpr:
		o = info.Uses[x.Sel]
	}
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return nil
}

// Locks and Unlocks report whether f locks or unlocks a mutex.
func Locks(f *types.Func) bool   { return mutexes(f, "Lock", "RLock") }
func Unlocks(f *types.Func) bool { return mutexes(f, "Unlock", "RUnlock") }

func mutexes(f *types.Func, names ...string) bool {
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "sync" && f.Signature().Recv() != nil && slices.Contains(names, f.Name())
}

func (w *walker) unlocks(c *ast.CallExpr) bool { return Unlocks(Callee(w.info, c)) }

// mutex returns the mutexes held after a call.
func (w *walker) mutex(c *ast.CallExpr, held []string) []string {
	callee := Callee(w.info, c)
	if !Locks(callee) && !Unlocks(callee) {
		return held
	}
	name := types.ExprString(c.Fun.(*ast.SelectorExpr).X)
	if Locks(callee) {
		return append(slices.Clip(held), name)
	}
	return slices.DeleteFunc(slices.Clone(held), func(m string) bool { return m == name })
}

// Recv returns the name of a method's type; "" for a function.
func Recv(f *types.Func) string {
	r := f.Signature().Recv()
	if r == nil {
		return ""
	}
	t := types.Unalias(r.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}
