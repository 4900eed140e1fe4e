package bash

import (
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// FuzzParse: a command in which nothing is found that can't be judged has nothing of what
// the shell would compute, and runs nothing in the background.
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
		calls := 0
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst, *syntax.ParamExp, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob, *syntax.FuncDecl, *syntax.Assign, *syntax.TestClause, *syntax.WhileClause, *syntax.ForClause:
				t.Errorf("%q passes and contains %T", command, n)
			case *syntax.Stmt:
				if n.Background || n.Coprocess {
					t.Errorf("%q passes and runs in the background", command)
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
