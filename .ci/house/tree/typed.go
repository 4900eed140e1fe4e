package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// Built is what the go command knows of built packages: the compiler's export data of each, and
// which of our files belong to this system.
type Built struct {
	exports map[string]string
	files   map[string]bool // by path; nil: all
}

// Build has the go command compile the packages of the module in the current directory and those
// they import. It uses the build cache.
func Build() (*Built, error) {
	all, err := list("-export", "-deps", "-json=ImportPath,Export,GoFiles", "./...")
	if err != nil {
		return nil, err
	}
	b := &Built{exports: map[string]string{}, files: map[string]bool{}}
	for _, p := range all {
		if p.ImportPath != Module && !strings.HasPrefix(p.ImportPath, Module+"/") {
			b.exports[p.ImportPath] = p.Export
			continue
		}
		for _, f := range p.GoFiles {
			b.files[path.Join(dirOf(p.ImportPath), f)] = true
		}
	}
	return b, nil
}

// listed is a package as the go command describes it.
type listed struct {
	ImportPath, Export string
	GoFiles            []string
}

func list(args ...string) (all []listed, err error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w: %s", err, said.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("list the packages: %w", err)
		}
		all = append(all, p)
	}
}

// dirOf returns the folder of one of our packages.
func dirOf(importPath string) string {
	if importPath == Module {
		return "."
	}
	return strings.TrimPrefix(importPath, Module+"/")
}

// Package is one of our packages with its types, without its tests.
type Package struct {
	Dir   string
	Files []*File
	Types *types.Package
	Info  *types.Info
}

// Typed returns the packages of the tree with their types, by folder. It computes them once.
func (t *Tree) Typed() (map[string]*Package, error) {
	if t.typed == nil && t.untyped == nil {
		t.typed, t.untyped = t.check()
	}
	return t.typed, t.untyped
}

func (t *Tree) check() (map[string]*Package, error) {
	c := &checker{t: t, dirs: t.Packages(), done: map[string]*Package{}}
	c.others = importer.ForCompiler(t.Set, "gc", func(p string) (io.ReadCloser, error) {
		if t.built.exports[p] == "" {
			return nil, fmt.Errorf("no export data of %s", p)
		}
		return os.Open(t.built.exports[p])
	})
	for _, dir := range slices.Sorted(maps.Keys(c.dirs)) {
		if strings.HasPrefix(dir, ".ci/") {
			continue // not part of the program
		}
		if _, err := c.Import(path.Join(Module, dir)); err != nil {
			return nil, err
		}
	}
	return c.done, nil
}

// checker determines the types of our packages from the source, and of others from the compiler's
// export data.
type checker struct {
	t      *Tree
	dirs   map[string][]*File
	done   map[string]*Package
	others types.Importer
}

func (c *checker) Import(p string) (*types.Package, error) {
	if p != Module && !strings.HasPrefix(p, Module+"/") {
		return c.others.Import(p)
	}
	dir := dirOf(p)
	if k := c.done[dir]; k != nil {
		return k.Types, nil
	}
	k := &Package{Dir: dir, Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	var syntax []*ast.File
	for _, f := range c.dirs[dir] {
		if !f.Test && (c.t.built.files == nil || c.t.built.files[f.Path]) {
			k.Files, syntax = append(k.Files, f), append(syntax, f.Syntax)
		}
	}
	conf := types.Config{Importer: c}
	var err error
	if k.Types, err = conf.Check(p, c.t.Set, syntax, k.Info); err != nil {
		return nil, fmt.Errorf("find the types of %s: %w", dir, err)
	}
	c.done[dir] = k
	return k.Types, nil
}
