package house

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"fantail/.ci/house/tree"
)

// code returns the rules on what functions do.
func (plan Plan) code() []Rule {
	return []Rule{
		{Name: "tests do not sleep", Check: checkSleep, Bad: []string{
			"-- a_test.go --\npackage main\nfunc f() { time.Sleep(1) }\n",
			"-- a_test.go --\npackage main\nfunc f() { go func() { time.Sleep(time.Second) }() }\n",
		}, Good: []string{"-- a_test.go --\npackage main\nfunc f() { synctest.Test(nil, func() { time.Sleep(1) }) }\n"}},
		{Name: "nothing is left unfinished", Check: checkFinished, Bad: []string{
			"-- a.go --\npackage main\n// TODO: more\n",
			"-- a.go --\npackage main\nfunc f() { panic(\"contract\") }\n",
			"-- a.go --\npackage main\ntype contract struct{}\n",
		}, Good: []string{"-- a.go --\npackage main\nconst s = \"grep TODO\"\nfunc f() { panic(\"store: a Tx inside a Tx\") }\n"}},
		{Name: "goroutines start in their places", Check: plan.checkGo, Bad: []string{
			"-- agents/a.go --\npackage agents\nfunc f() { go f() }\n",
			"-- agents/a.go --\npackage agents\nvar f = func(s string, f func()) { go g() }\n",
		}, Good: []string{"-- tools/proc/a.go --\npackage proc\nfunc f() { go f() }\n-- store/a.go --\npackage store\nvar g = func(_ string, f func()) { go f() }\n-- agents/a_test.go --\npackage agents\nfunc f() { go f() }\n"}},
		{Name: "nobody else has the terminal", Check: plan.checkTerminal, Bad: []string{
			"-- ui/a.go --\npackage ui\nfunc f() tea.Cmd { return tea.Suspend }\n",
			"-- ui/a.go --\npackage ui\nfunc f() tea.Cmd { return tea.ExecProcess(c, nil) }\n",
			"-- ui/cli/a.go --\npackage cli\nfunc f() { signal.Notify(c, syscall.SIGWINCH) }\n",
		}, Good: []string{
			"-- ui/screen/a.go --\npackage screen\nfunc f() { signal.Notify(c, syscall.SIGWINCH) }\n",
			"-- ui/a.go --\npackage ui\nfunc f() tea.Cmd { return tea.Exec(c, nil) }\n",
		}},
		{Name: "no program is started with a key in its environment", Check: plan.checkChildren, Bad: []string{
			"-- tools/a.go --\npackage tools\nfunc f() { exec.Command(\"rg\").Run() }\n",
			"-- ui/a.go --\npackage ui\nfunc f() { c := exec.CommandContext(ctx, \"vi\"); c.Dir = \"/\"; c.Run() }\n",
			"-- ui/a.go --\npackage ui\nfunc f() { c := exec.Command(\"vi\"); c.Env = e; c.Run() }\nvar g = exec.Command(\"vi\")\n",
			"-- ui/a.go --\npackage ui\nfunc f() { c := exec.Cmd{Path: \"vi\"}; c.Env = e }\n",
			"-- tools/a.go --\npackage tools\nfunc f() { os.StartProcess(\"a\", nil, nil) }\n",
			"-- tools/a.go --\npackage tools\nfunc f() { syscall.Exec(\"a\", nil, nil) }\n",
			"-- ui/a.go --\npackage ui\nfunc f() { c := exec.Command(\"vi\"); c.Env = os.Environ() }\n",
			"-- main.go --\npackage main\nvar e = append(os.Environ(), \"A=b\")\n",
		}, Good: []string{
			"-- tools/a.go --\npackage tools\nfunc f() { c := exec.Command(\"rg\"); c.Env = e }\n-- main.go --\npackage main\nvar e = proc.Clean(os.Environ(), keys)\n" +
				"-- tools/a_test.go --\npackage tools\nfunc f() { exec.Command(\"git\").Run() }\n",
		}},
	}
}

func checkSleep(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if !s.Test {
			continue
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch tree.Name(call.Fun) {
			case "synctest.Test", "play": // the ways of tests into a bubble
				return false // time is fake there
			case "time.Sleep":
				f.Add("%s: no time.Sleep in tests; wait for what you wait for, or use fake time (testing/synctest)", t.At(n))
			}
			return true
		})
	}
	return f
}

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func checkFinished(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		for _, g := range s.Syntax.Comments {
			for _, c := range g.List {
				if m := unfinished.FindString(c.Text); m != "" {
					f.Add("%s: a comment says %s; do it, or write down why it is right as it is", t.At(c), m)
				}
			}
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && tree.Name(call.Fun) == "panic" && len(call.Args) == 1 {
				if l, ok := call.Args[0].(*ast.BasicLit); ok && (l.Value == `"contract"` || strings.Contains(strings.ToLower(l.Value), "not implemented")) {
					f.Add("%s: the body is missing; write it", t.At(n))
				}
			}
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "contract" {
				f.Add("%s: the type contract is a placeholder; remove it", t.At(n))
			}
			return true
		})
	}
	return f
}

func (plan Plan) checkGo(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Test || tree.Under(s.Path, plan.Starters) {
			continue
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && plainStart(lit) {
				return false
			}
			if _, ok := n.(*ast.GoStmt); ok {
				f.Add("%s: start goroutines with the function the caller hands in (Go func(name string, f func())), so that a panic restores the terminal", t.At(n))
			}
			return true
		})
	}
	return f
}

// checkTerminal refuses what only the process in the terminal may do: a host would block for ever,
// or stop itself.
func (plan Plan) checkTerminal(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Test || s.Dir == plan.Gate {
			continue
		}
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"tea.Suspend", "tea.ExecProcess", "syscall.SIGWINCH", "unix.SIGWINCH"}, tree.Name(x)) {
				f.Add("%s: %s belongs to the process in the terminal; ask ui.Terminal", t.At(n), tree.Name(x))
			}
			return true
		})
	}
	return f
}

// plainStart reports whether f only starts the function that it is given.
func plainStart(f *ast.FuncLit) bool {
	if len(f.Body.List) != 1 || len(f.Type.Params.List) != 2 {
		return false
	}
	start, ok := f.Body.List[0].(*ast.GoStmt)
	given := f.Type.Params.List[1].Names
	return ok && len(given) == 1 && tree.Name(start.Call.Fun) == given[0].Name && len(start.Call.Args) == 0
}

// cleaners are the functions that may be given the program's own environment: they make the
// environment of other programs from it, or hide its values.
var cleaners = []string{"proc.Own", "proc.Clean", "crash.New"}

// inner carries out a program in the environment that its parent made for it.
const inner = "tools/sandbox/cell"

// checkChildren refuses to start a program without an environment that was made for it: if it is
// left out, the program gets this program's own, with all its keys.
func (plan Plan) checkChildren(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Test || tree.Under(s.Dir, []string{plan.Gate + "/...", ".ci/...", "ui/uitest/...", inner}) {
			continue
		}
		cleaned := map[ast.Node]bool{}
		for _, d := range s.Syntax.Decls {
			given, env := []ast.Node{}, false
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					env = env || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { x, ok := e.(*ast.SelectorExpr); return ok && x.Sel.Name == "Env" })
				case *ast.CompositeLit:
					if n.Type != nil && tree.Name(n.Type) == "exec.Cmd" {
						f.Add("%s: make it with exec.Command, so that this rule finds it", t.At(n))
					}
				case *ast.CallExpr:
					switch called := tree.Name(n.Fun); called {
					case "exec.Command", "exec.CommandContext":
						given = append(given, n)
					case "os.StartProcess", "syscall.StartProcess", "syscall.ForkExec", "syscall.Exec", "unix.Exec":
						f.Add("%s: start programs with exec.Command and an environment, not with %s", t.At(n), called)
					case "os.Environ", "syscall.Environ":
						if !cleaned[n] {
							f.Add("%s: the program's own environment holds keys; it is for %s only", t.At(n), strings.Join(cleaners, ", "))
						}
					default:
						for _, arg := range n.Args {
							cleaned[arg] = slices.Contains(cleaners, called)
						}
					}
				}
				return true
			})
			for _, n := range given {
				if !env {
					f.Add("%s: set the command's Env to one that proc.Own, proc.Clean or proc.Bare made, in the same function", t.At(n))
				}
			}
		}
	}
	return f
}
