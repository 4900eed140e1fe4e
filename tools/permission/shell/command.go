package shell

import (
	"strings"
)

// Unwrap returns the command that timeout runs, without the options that change nothing.
func Unwrap(c Command) Command {
	if w := c.Words; len(w) > 2 && w[0].Text == "timeout" && w[0].Pattern == "" && duration.MatchString(w[1].Text) {
		c.Words = w[2:]
		return Unwrap(c)
	}
	c.Words = Trim(c.Words)
	return c
}

var duration = lazy(`^[0-9]+(\.[0-9]+)?[smh]?$`)

// filters read their standard input if they have at most this many operands.
var filters = map[string]int{"head": 0, "tail": 0, "wc": 0, "cat": 0, "sort": 0, "uniq": 0, "nl": 0, "cut": 0, "tr": 2, "grep": 1}

// Harmless reports whether a command needs no rule next to others that have one: it changes nothing, and reads nothing
// but its standard input.
func Harmless(c Command, dir string) bool {
	head := c.Words[0]
	if head.Pattern != "" || Never(c.Words) != "" {
		return false
	}
	switch head.Text {
	case "true", "false", ":", "pwd", "echo", "exit":
		return forms[head.Text].uncovered(c.Words[1:], dir) == ""
	case "cd":
		return c.NamesDir() && c.Words[1].BadPath(dir) == ""
	}
	most, ok := filters[head.Text]
	if !ok || !c.Piped {
		return false
	}
	f := forms[head.Text]
	v := f.read(c.Words[1:], dir)
	return v.why == "" && len(v.operands) <= most && !v.has(f.deep) && !v.has(f.pattern)
}

// TakesText reports whether a command uses its input only as text, and runs and obeys nothing in it.
func TakesText(c Command) bool {
	name := c.Words[0].Text
	_, filter := filters[name]
	return filter || name == "jq" || name == "sed" || name == "git" && len(c.Words) > 1 && c.Words[1].Text == "commit"
}

// Unrepeatable says why no rule is offered for a command, not even its exact words.
func Unrepeatable(c Command, dir string) string {
	head := c.Words[0].Text
	_, listed := forms[head]
	for _, w := range c.Words[1:] {
		if w.Pattern != "" {
			return w.Text + " is a pattern"
		}
		if why := w.BadPath(dir); why != "" {
			return why
		}
		name, _, _ := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		switch {
		case !listed && w.Text != "." && runs[w.Text] != "":
			return head + " may run " + w.Text
		case risky[name] && (!listed || len(name) > 1 || strings.Contains("fDiX", name)):
			return head + " " + w.Text + " may destroy, run or publish something"
		case strings.Contains(w.Text, "@") && strings.Contains(w.Text, "/") || strings.Contains(w.Text, "::"):
			return head + " " + w.Text + " may run code from elsewhere"
		}
	}
	return ""
}

// FromAbove reports whether a go command in a subdirectory does the same as in the workspace's root: the packages that
// it names begin with .. and are relative to the subdirectory, as climbed has them. Go refuses that where the
// subdirectory is a module of its own.
func FromAbove(c, climbed Command) bool {
	if c.Words[0].Text != "go" {
		return false
	}
	above := false
	for i, w := range c.Words {
		switch {
		case strings.HasSuffix(w.Text, ".go"):
			return false
		case w.Text != climbed.Words[i].Text:
			above = true
		case w.Pattern != "" || strings.HasPrefix(w.Text, "."):
			return false
		}
	}
	return above
}

// readers are commands that only read the files that they name, or name none. They do the same in every directory, and
// run nothing of the workspace.
var readers = set("true,false,:,pwd,echo,printf,exit,cd,test,[,sleep,seq,ls,cat,head,tail,wc,stat,du,df,file,tree,which,whereis,basename,dirname,realpath,readlink," +
	"diff,cmp,comm,cut,tr,nl,tac,rev,fold,column,paste,join,expand,od,hexdump,xxd,strings,jq,md5sum,sha1sum,sha256sum,sha512sum,cksum,b2sum,ps,id,whoami,uname,uptime,free,nproc,arch,groups,date," +
	"sort,uniq,sed,grep,egrep,fgrep,rg,fd,find")

// Anywhere reports whether the command does the same in every directory, in the uses that a rule with a * covers: its
// exact words may write (sort -o).
func Anywhere(c Command) bool { return readers[c.Words[0].Text] }

// set is the names of a list separated by commas.
func set(list string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.SplitSeq(list, ",") {
		out[n] = true
	}
	return out
}
