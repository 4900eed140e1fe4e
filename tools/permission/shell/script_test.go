package shell

import (
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzParse: a command that can be judged has nothing that the shell would compute, and runs nothing in the background.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("../testdata/hostile.txt")
	if err != nil {
		f.Fatal(err)
	}
	for l := range strings.SplitSeq(string(data), "\n") {
		f.Add(l)
	}
	for _, l := range []string{"go test ./... 2>&1 | tail -20", "cd sub && make", "if true; then echo 'a b'; fi", "( cat < a.txt; ls *.go )", `echo "a\"b" \* {a`, "time ls", "! true || { pwd; }"} {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, command string) {
		s, err := Parse(command)
		if err != nil || s.Why != "" {
			return
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
		if err != nil {
			t.Fatalf("%q passes and does not parse: %v", command, err)
		}
		constants(file, command)
		calls := 0
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ParamExp, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob, *syntax.FuncDecl, *syntax.TestClause, *syntax.WhileClause, *syntax.ForClause:
				t.Errorf("%q passes and contains %T", command, n)
			case *syntax.Stmt:
				if n.Coprocess || n.Background && !s.Beside {
					t.Errorf("%q passes and runs beside others", command)
				}
			case *syntax.Assign:
				if !inert[n.Name.Value] || n.Append {
					t.Errorf("%q passes and sets %s", command, n.Name.Value)
				}
			case *syntax.CallExpr:
				calls++
			}
			return true
		})
		if calls != len(s.Commands) {
			t.Errorf("%q has %d commands, %d are judged", command, calls, len(s.Commands))
		}
	})
}
