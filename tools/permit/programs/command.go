package programs

import (
	"strings"

	"fantail/tools/pattern"
	"fantail/tools/permit/bash"
)

// Unwrap returns what timeout runs, without the options that change nothing.
func Unwrap(c bash.Command) bash.Command {
	if w := c.Words; len(w) > 2 && w[0].Text == "timeout" && w[0].Pattern == "" && duration.MatchString(w[1].Text) {
		c.Words = w[2:]
		return Unwrap(c)
	}
	c.Words = Trim(c.Words)
	return c
}

var duration = pattern.Of(`^[0-9]+(\.[0-9]+)?[smh]?$`)

// filters read their standard input, if this is how many operands they have.
var filters = map[string]int{"head": 0, "tail": 0, "wc": 0, "cat": 0, "sort": 0, "uniq": 0, "nl": 0, "cut": 0, "tr": 2, "grep": 1}

// Harmless reports whether a command needs no rule beside others that have one:
// it changes nothing, and reads nothing but its standard input.
func Harmless(c bash.Command, dir string) bool {
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

// Unrepeatable says why not even a rule of a command's exact words is offered.
func Unrepeatable(c bash.Command, dir string) string {
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

// readers are commands that only read what they name, or name nothing: wherever
// they run they do the same, and no content of the workspace is run by them.
var readers = set("true,false,:,pwd,echo,printf,exit,cd,test,[,sleep,seq,ls,cat,head,tail,wc,stat,du,df,file,tree,which,whereis,basename,dirname,realpath,readlink," +
	"diff,cmp,comm,cut,tr,nl,tac,rev,fold,column,paste,join,expand,od,hexdump,xxd,strings,jq,md5sum,sha1sum,sha256sum,sha512sum,cksum,b2sum,ps,id,whoami,uname,uptime,free,nproc,arch,groups,date," +
	"sort,uniq,sed,grep,egrep,fgrep,rg,fd,find")

// Anywhere reports whether it does not matter where the command runs, as far as a
// rule with a * covers it: its exact words may write (sort -o).
func Anywhere(c bash.Command) bool { return readers[c.Words[0].Text] }

// set is the names of a list separated by commas.
func set(list string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.SplitSeq(list, ",") {
		out[n] = true
	}
	return out
}
