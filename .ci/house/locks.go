package house

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"fantail/.ci/house/tree"
)

// Two rules on data in memory beside the database. They see calls of functions by name, in all our
// packages, and function literals where they are written. They don't follow calls through an
// interface or a variable.

// stored is a package that replaces the store in small trees.
const stored = "-- store/a.go --\npackage store\nimport \"context\"\ntype View struct{}\nfunc (*View) Agent() int { return 1 }\ntype Tx struct{ View }\nfunc (*Tx) Set(n int) {}\n" +
	"func (*Tx) AfterCommit(f func()) {}\ntype DB struct{}\nfunc (*DB) Write(ctx context.Context, f func(tx *Tx) error) error { return nil }\n"

// pooled begins a package whose values are guarded by a mutex.
const pooled = stored + "-- agents/a.go --\npackage agents\nimport (\n\t\"context\"\n\t\"fantail/store\"\n\t\"sync\"\n)\n" +
	"type pool struct {\n\tdb *store.DB\n\tmu sync.Mutex\n\tn int\n\tGo func(f func())\n}\n" +
	"func (p *pool) now() int {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\treturn p.n\n}\n" +
	"func (p *pool) keep(f func(tx *store.Tx) error) error { return p.db.Write(context.Background(), f) }\n"

// locks returns the rules on data in memory beside the database.
func (plan Plan) locks() []Rule {
	return []Rule{
		{Name: "a transaction reads only its tx", Check: plan.checkWrites, Whole: plan.checkExceptions, Bad: []string{
			pooled + "func (p *pool) inc() { p.keep(func(tx *store.Tx) error {\n\tp.mu.Lock()\n\tn := p.n\n\tp.mu.Unlock()\n\ttx.Set(n + 1)\n\treturn nil\n}) }\n",
			pooled + "func (p *pool) inc() { p.db.Write(nil, func(tx *store.Tx) error { tx.Set(p.now() + 1); return nil }) }\n",
			pooled + "func (p *pool) inc() { p.keep(p.set) }\nfunc (p *pool) set(tx *store.Tx) error { tx.Set(p.next()); return nil }\nfunc (p *pool) next() int { return p.now() + 1 }\n",
			pooled + "func (p *pool) inc() { p.keep(func(tx *store.Tx) error { each(func() { tx.Set(p.now()) }); return nil }) }\nfunc each(f func()) { f() }\n",
			pooled + "func (p *pool) inc() { p.keep(func(tx *store.Tx) error { each(p.look); return nil }) }\nfunc each(f func()) { f() }\nfunc (p *pool) look() { p.now() }\n",
			pooled + "func (p *pool) inc(tx *store.Tx) { defer func() { tx.Set(p.now()) }() }\n",
		}, Good: []string{
			pooled + "func (p *pool) inc() {\n\tn := p.now()\n\tp.keep(func(tx *store.Tx) error {\n\t\ttx.Set(tx.Agent() + n)\n\t\ttx.AfterCommit(func() {\n\t\t\tp.mu.Lock()\n\t\t\tdefer p.mu.Unlock()\n\t\t\tp.n++\n\t\t})\n\t\treturn nil\n\t})\n\tp.now()\n}\n",
		}},
		{Name: "no mutex is held while the database is called", Check: plan.checkLocks, Bad: []string{
			pooled + "func (p *pool) inc() {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tp.db.Write(nil, nil)\n}\n",
			pooled + "func (p *pool) inc() {\n\tp.mu.Lock()\n\tp.keep(nil)\n\tp.mu.Unlock()\n}\n",
			pooled + "func (p *pool) inc(fast bool) {\n\tp.mu.Lock()\n\tif fast {\n\t\tp.mu.Unlock()\n\t\treturn\n\t}\n\tp.more()\n\tp.mu.Unlock()\n}\nfunc (p *pool) more() { p.keep(nil) }\n",
			pooled + "func (p *pool) inc(v *store.View) {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tfor range 3 {\n\t\tp.n = v.Agent()\n\t}\n}\n",
			pooled + "func (p *pool) inc() {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\teach(func() { p.keep(nil) })\n}\nfunc each(f func()) { f() }\n",
			pooled + "func (p *pool) inc(fast bool) {\n\tif fast {\n\t\tp.mu.Lock()\n\t}\n\tp.keep(nil)\n}\n",
		}, Good: []string{
			pooled + "func (p *pool) inc(fast bool) {\n\tp.mu.Lock()\n\tif fast {\n\t\tp.mu.Unlock()\n\t\tp.keep(nil)\n\t\treturn\n\t}\n\tp.n++\n\tp.mu.Unlock()\n\tp.keep(nil)\n}\n",
			pooled + "func (p *pool) inc() {\n\tp.mu.Lock()\n\tdefer p.mu.Unlock()\n\tp.Go(func() { p.keep(nil) })\n\tgo func() { p.keep(nil) }()\n}\n",
		}},
	}
}

// isDatabase reports whether f reads or writes the database: a method of store's types, or a
// function of inbox that uses them.
func isDatabase(f *types.Func) bool {
	if f == nil || f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case tree.Module + "/store", tree.Module + "/store/sqlite":
		switch tree.Recv(f) {
		case "DB":
			return !slices.Contains([]string{"Close", "ReadOnly", "Stopped", "Path"}, f.Name())
		case "Tx", "Rx", "View":
			return !slices.Contains([]string{"AfterCommit", "Now", "Local"}, f.Name())
		}
	case tree.Module + "/inbox", tree.Module + "/inbox/policy":
		return tree.Recv(f) == "Inbox" || takes(f.Signature(), "Tx", "View", "Rx")
	}
	return false
}

// takes reports whether one of the parameters is a pointer to one of store's types.
func takes(s *types.Signature, names ...string) bool {
	if s == nil {
		return false
	}
	for v := range s.Params().Variables() {
		p, ok := v.Type().(*types.Pointer)
		if !ok {
			continue
		}
		n, ok := types.Unalias(p.Elem()).(*types.Named)
		if ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == tree.Module+"/store" && slices.Contains(names, n.Obj().Name()) {
			return true
		}
	}
	return false
}

// elsewhere reports whether a function argument or literal runs at another time than where it is
// written: after a commit, in a goroutine, or when the variable that holds it is called.
func (plan Plan) elsewhere(c tree.Call) bool { return c.Later || slices.Contains(plan.Later, c.Given) }

// reach returns, for each function, the names of the functions on its way to a call for which
// sought is true.
func (plan Plan) reach(all []*tree.Func, sought func(c tree.Call) (string, bool)) map[*tree.Func][]string {
	found := map[*tree.Func][]string{}
	for again := true; again; {
		again = false
		for _, f := range all {
			if found[f] != nil || inStore(f) {
				continue
			}
			for _, c := range f.Calls {
				if plan.elsewhere(c) {
					continue
				}
				if what, ok := sought(c); ok {
					found[f] = []string{what}
				} else if c.Body != nil && found[c.Body] != nil && c.Body != f {
					found[f] = append([]string{called(c)}, found[c.Body]...)
				}
				if found[f] != nil {
					again = true
					break
				}
			}
		}
	}
	return found
}

// called returns the name of what a call calls.
func called(c tree.Call) string {
	if c.Callee == nil {
		return "a literal"
	}
	if r := tree.Recv(c.Callee); r != "" {
		return r + "." + c.Callee.Name()
	}
	return c.Callee.Name()
}

// title returns a function's name with its package: agents.Pool.Push. A literal has the name of the
// function around it.
func title(f *tree.Func) string {
	for f.Outer != nil {
		f = f.Outer
	}
	name := f.Object.Name()
	if r := tree.Recv(f.Object); r != "" {
		name = r + "." + name
	}
	return f.In.Dir + "." + name
}

func inStore(f *tree.Func) bool { return f.In.Dir == "store" || strings.HasPrefix(f.In.Dir, "store/") }

// locked returns where a function itself takes a mutex; nil: nowhere.
func locked(f *tree.Func) ast.Node {
	for _, c := range f.Calls {
		if tree.Locks(c.Callee) {
			return c.At
		}
	}
	return nil
}

// checkWrites refuses to look at memory inside a transaction: a function with a *store.Tx, or one
// that it calls, takes a mutex. Memory is older than what the transaction reads: the hooks of
// transactions committed with it have not run.
func (plan Plan) checkWrites(t *tree.Tree) (f tree.Findings) {
	f, _ = plan.writes(t)
	return f
}

// writes is checkWrites. It also returns which exceptions it met.
func (plan Plan) writes(t *tree.Tree) (f tree.Findings, met map[string]bool) {
	all, err := t.Calls()
	if err != nil {
		return tree.Findings{err.Error()}, nil
	}
	met = map[string]bool{}
	way := map[*tree.Func]string{}
	var inside []*tree.Func // functions that run inside a transaction
	for _, fn := range all {
		if takes(fn.Type, "Tx") && !inStore(fn) {
			way[fn], inside = title(fn), append(inside, fn)
		}
	}
	for n := 0; n < len(inside); n++ {
		fn := inside[n]
		if at := locked(fn); at != nil && plan.Memory[title(fn)] == "" {
			f.Add("%s: %s looks at memory inside a transaction (%s): it does not show yet what commits with this one; read the tx, or change memory in a commit hook", t.At(at), title(fn), way[fn])
		} else if at != nil {
			met[title(fn)] = true
		}
		for _, c := range fn.Calls {
			if c.Body != nil && !plan.elsewhere(c) && !inStore(c.Body) && way[c.Body] == "" {
				way[c.Body], inside = way[fn]+" → "+called(c), append(inside, c.Body)
			}
		}
	}
	slices.Sort(f)
	return f, met
}

// checkLocks refuses calls of the database while a mutex is held: a write waits for the disk, and
// its hooks take the mutex.
func (plan Plan) checkLocks(t *tree.Tree) (f tree.Findings) {
	all, err := t.Calls()
	if err != nil {
		return tree.Findings{err.Error()}
	}
	sought := func(c tree.Call) (string, bool) { return called(c), isDatabase(c.Callee) }
	ways := plan.reach(all, sought)
	for _, fn := range all {
		for _, c := range fn.Calls {
			if inStore(fn) || len(c.Held) == 0 || plan.elsewhere(c) {
				continue
			}
			way := []string{called(c)}
			if _, direct := sought(c); !direct {
				if c.Body == nil || ways[c.Body] == nil {
					continue
				}
				way = append(way, ways[c.Body]...)
			}
			f.Add("%s: %s holds %s and calls the database (%s); read before Lock, write after Unlock", t.At(c.At), title(fn), strings.Join(c.Held, ", "), strings.Join(way, " → "))
		}
	}
	slices.Sort(f)
	return f
}

// checkExceptions finds exceptions that are no longer needed.
func (plan Plan) checkExceptions(t *tree.Tree) (f tree.Findings) {
	_, met := plan.writes(t)
	for _, name := range slices.Sorted(maps.Keys(plan.Memory)) {
		if !met[name] {
			f.Add("%s takes no mutex inside a transaction; take it off the list in main_test.go", name)
		}
	}
	return f
}
