package permit

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// nowhere is a directory that can't be told.
const nowhere = "?"

// maxDirs is how many directories a command may run in, as far as is told.
const maxDirs = 8

// whereabouts finds for every simple command the directories it may run in, as
// the script's cds name them: "" is where the script begins. What follows cd in
// an && list runs where cd went; after a ; it may also run where it was.
type whereabouts struct{ *script }

// list walks statements that follow one another and returns where the shell may be after them.
func (w whereabouts) list(l []*syntax.Stmt, in []string) []string {
	for _, st := range l {
		_, in = w.stmt(st, in)
	}
	return in
}

// stmt walks one statement: good is where the shell is if it succeeded, any if it
// only ended.
func (w whereabouts) stmt(st *syntax.Stmt, in []string) (good, any []string) {
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
	w.stmt(c.X, in) // both sides of a pipe run in shells of their own
	w.stmt(c.Y, in)
	return in, in
}

// call notes where a command runs and follows cd.
func (w whereabouts) call(c *syntax.CallExpr, in []string) (good, any []string) {
	i, ok := w.at[c]
	if !ok {
		return in, in
	}
	w.cmds[i].dirs = in
	cmd := w.cmds[i]
	if cmd.words[0].text != "cd" {
		return in, in
	}
	for _, d := range in {
		switch to := ""; {
		case !named(cmd) || d == nowhere:
			good = []string{nowhere}
		case path.IsAbs(cmd.words[1].text):
			good = union(good, []string{path.Clean(cmd.words[1].text)})
		default:
			if to = path.Join(d, cmd.words[1].text); to == "." {
				to = ""
			}
			good = union(good, []string{to})
		}
	}
	return good, union(in, good)
}

// union is what is in either; too many are nowhere.
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

// dir is the one directory the command runs in, counted from root: "" is root
// itself. ok is false if there may be several, or it can't be told.
func (c simple) dir(root string) (dir string, ok bool) {
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

// readers are commands that only read what they name, or name nothing: wherever
// they run they do the same, and no content of the workspace is run by them.
var readers = names([][2]string{{"reads", "true,false,:,pwd,echo,printf,exit,cd,test,[,sleep,seq,ls,cat,head,tail,wc,stat,du,df,file,tree,which,whereis,basename,dirname,realpath,readlink," +
	"diff,cmp,comm,cut,tr,nl,tac,rev,fold,column,paste,join,expand,od,hexdump,xxd,strings,jq,md5sum,sha1sum,sha256sum,sha512sum,cksum,b2sum,ps,id,whoami,uname,uptime,free,nproc,arch,groups,date," +
	"sort,uniq,sed,grep,egrep,fgrep,rg,fd,find"}})

// anywhere reports whether it does not matter where the command runs, as far as a
// rule with a * covers it: its exact words may write (sort -o).
func anywhere(c simple) bool { return readers.exact[c.words[0].text] != "" }

// here reports whether the command runs in the directory the rule was given in.
func (r parsed) here(c simple, root string) bool {
	dir, ok := c.dir(root)
	return r.star && anywhere(c) || ok && dir == r.dir
}

// at is the rule for where the command runs; why says that this can't be told.
func (r Rule) at(c simple, root string) (q Rule, why string) {
	dir, ok := c.dir(root)
	switch {
	case strings.HasSuffix(string(r), " *)") && anywhere(c):
		return r, ""
	case !ok:
		return "", "it may run in several directories (cd DIR && … names one)"
	}
	return r.in(dir), ""
}

// in is the rule for the directory, in its shown form.
func (r Rule) in(dir string) Rule {
	if dir == "" || r == "" {
		return r
	}
	return r + Rule(" in "+dir)
}

// cutDir takes a command's rule into its text and its directory.
func cutDir(s string) (rule, dir string, err string) {
	if strings.HasSuffix(s, ")") {
		return s, "", ""
	}
	i := strings.LastIndex(s, ") in ")
	if i < 0 || !strings.HasPrefix(s, "bash(") {
		return s, "", ""
	}
	rule, dir = s[:i+1], strings.TrimSuffix(strings.TrimSpace(s[i+len(") in "):]), "/")
	switch {
	case dir == "." || dir == "":
		return rule, "", ""
	case !filepath.IsLocal(dir) || path.Clean(dir) != dir || strings.ContainsAny(dir, "~*?[\n\r\x00"):
		return s, "", "a rule's directory is one of the workspace, written from there, as in bash(make) in third_party/x"
	}
	return rule, dir, ""
}
