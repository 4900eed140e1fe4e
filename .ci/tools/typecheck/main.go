// Typecheck finds what does not compile on another system.
//
//	typecheck GOOS GOARCH [PACKAGE...]
//
// Does: check the types of the module's packages and tests as that system sees them. Of what they import only the
// declarations are read.
//
// Does not: compile anything.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	n, err := check(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if n > 0 {
		os.Exit(1)
	}
}

// check prints the errors and returns their number.
func check(system, machine string, patterns []string) (n int, err error) {
	here, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	all, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(files *token.FileSet, path string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
			if rel, e := filepath.Rel(here, path); f != nil && (e != nil || strings.HasPrefix(rel, "..")) {
				for _, d := range f.Decls {
					if fn, is := d.(*ast.FuncDecl); is {
						fn.Body = nil
					}
				}
			}
			return f, err
		},
	}, patterns...)
	if err != nil {
		return 0, err
	}
	said := map[string]bool{}
	for _, p := range all {
		if strings.HasSuffix(p.PkgPath, ".test") {
			continue // the program that runs a package's tests, which is none of the module's
		}
		for _, e := range p.Errors {
			if text := e.Error(); !said[text] {
				said[text] = true
				fmt.Println(text)
			}
		}
	}
	return len(said), nil
}
