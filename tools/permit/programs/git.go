package programs

import (
	"strings"

	"fantail/tools/permit/bash"
)

// gitReading are the sub-commands of git that change nothing and call nobody.
var gitReading = set("status,diff,log,show,ls-files,ls-tree,grep,blame,annotate,branch,rev-parse,rev-list,describe,shortlog,merge-base,name-rev," +
	"cat-file,for-each-ref,show-ref,show-branch,diff-tree,diff-index,diff-files,whatchanged,cherry,check-ignore,check-attr,check-mailmap,count-objects,reflog,range-diff,fsck,version,help,var")

// GitReads reports whether a command calls git, and only to read.
func GitReads(command string) bool {
	s, err := bash.Parse(command)
	if err != nil {
		return false
	}
	found := false
	for _, c := range s.Commands {
		switch c = Unwrap(c); {
		case c.Words[0].Text == "?", c.Words[0].Text == "git" && !OnlyReads(c): // ? is inside what is not judged further
			return false
		case c.Words[0].Text == "git":
			found = true
		}
	}
	return found
}

// OnlyReads reports whether a call of git only reads.
func OnlyReads(c bash.Command) bool {
	for i := 1; i < len(c.Words); i++ {
		switch w := c.Words[i].Text; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace" || w == "--config-env":
			i++
		case !strings.HasPrefix(w, "-"):
			return gitReading[w]
		}
	}
	return true
}
