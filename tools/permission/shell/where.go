package shell

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// nowhere is an unknown directory.
const nowhere = "?"

// maxDirs is how many directories are tracked in which a command may run.
const maxDirs = 8

// whereabouts finds for every simple command the directories in which it may run, by the script's cds: "" is the
// directory that the script starts in. After cd in an && list a command runs in the new directory; after a ; it may
// also run in the old one.
type whereabouts struct{ *Script }

// list walks consecutive statements and returns where the shell may be after them.
func (w whereabouts) list(l []*syntax.Stmt, in []string) []string {
	for _, st := range l {
		_, in = w.stmt(st, in)
	}
	return in
}

// stmt walks one statement: good is where the shell is if it succeeded, any if it only ended.
func (w whereabouts) stmt(st *syntax.Stmt, in []string) (good, any []string) {
	if st.Background { // it runs in a subshell
		one := *st
		one.Background = false
		w.stmt(&one, in)
		return in, in
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		good, any = w.call(c, in)
	case *syntax.BinaryCmd:
		good, any = w.binary(c, in)
	case *syntax.Subshell:
		w.list(c.Stmts, in)
		good, any = in, in
	case *syntax.Block:
		any = w.list(c.Stmts, in)
		good = any
	case *syntax.TimeClause:
		good, any = in, in
		if c.Stmt != nil {
			good, any = w.stmt(c.Stmt, in)
		}
	case *syntax.IfClause:
		any = in
		for i := c; i != nil; i = i.Else {
			in = w.list(i.Cond, in)
			any = union(any, union(in, w.list(i.Then, in)))
		}
		good = any
	default: // no rule covers it
		good, any = []string{nowhere}, []string{nowhere}
	}
	if st.Negated {
		good = any
	}
	return good, any
}

func (w whereabouts) binary(c *syntax.BinaryCmd, in []string) (good, any []string) {
	switch c.Op {
	case syntax.AndStmt:
		good, any = w.stmt(c.X, in)
		yes, ended := w.stmt(c.Y, good)
		return yes, union(any, ended)
	case syntax.OrStmt:
		good, any = w.stmt(c.X, in)
		yes, ended := w.stmt(c.Y, any)
		return union(good, yes), union(good, ended)
	}
	w.stmt(c.X, in) // both sides of a pipe run in subshells
	w.stmt(c.Y, in)
	return in, in
}

// call records where a command runs and follows cd.
func (w whereabouts) call(c *syntax.CallExpr, in []string) (good, any []string) {
	i, ok := w.at[c]
	if !ok {
		return in, in
	}
	w.Commands[i].dirs = in
	cmd := w.Commands[i]
	if cmd.Words[0].Text != "cd" {
		return in, in
	}
	for _, d := range in {
		switch to := ""; {
		case !cmd.NamesDir() || d == nowhere:
			good = []string{nowhere}
		case path.IsAbs(cmd.Words[1].Text):
			good = union(good, []string{path.Clean(cmd.Words[1].Text)})
		default:
			if to = path.Join(d, cmd.Words[1].Text); to == "." {
				to = ""
			}
			good = union(good, []string{to})
		}
	}
	return good, union(in, good)
}

// union returns the directories in either; beyond maxDirs that is nowhere.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return []string{nowhere}
	}
	return out
}

// Dir is the only directory that the command may run in, relative to root: "" is root itself. ok is false if there may
// be several, or if it is unknown.
func (c Command) Dir(root string) (dir string, ok bool) {
	if len(c.dirs) == 0 {
		return "", true
	}
	if len(c.dirs) > 1 || c.dirs[0] == nowhere {
		return "", false
	}
	dir = c.dirs[0]
	if path.IsAbs(dir) {
		rel, err := filepath.Rel(root, dir)
		if err != nil || !filepath.IsLocal(rel) {
			return "", false
		}
		dir = rel
	}
	if dir == "." {
		dir = ""
	}
	return dir, true
}

// Climbed returns the command with its words that begin with .. made relative to root, if it runs in one directory
// below root and they stay inside: it is judged in that form. Links on the way are checked elsewhere.
func (c Command) Climbed(root string) Command {
	dir, ok := c.Dir(root)
	if !ok || dir == "" {
		return c
	}
	c.Words = slices.Clone(c.Words)
	for i, w := range c.Words {
		if i == 0 || w.Pattern != "" || w.Text != ".." && !strings.HasPrefix(w.Text, "../") {
			continue
		}
		if to := path.Join(dir, w.Text); to != ".." && !strings.HasPrefix(to, "../") {
			c.Words[i].Text = "./" + to
		}
	}
	return c
}

// NamesDir reports whether cd goes to a named directory, not home or back.
func (c Command) NamesDir() bool {
	w := c.Words
	return len(w) == 2 && w[1].Pattern == "" && w[1].Text != "" && w[1].Text[0] != '-'
}
