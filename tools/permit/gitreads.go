package permit

import "strings"

// gitReading are the sub-commands of git that change nothing and call nobody.
var gitReading = names([][2]string{{"reads", "status,diff,log,show,ls-files,ls-tree,grep,blame,annotate,branch,rev-parse,rev-list,describe,shortlog,merge-base,name-rev," +
	"cat-file,for-each-ref,show-ref,show-branch,diff-tree,diff-index,diff-files,whatchanged,cherry,check-ignore,check-attr,check-mailmap,count-objects,reflog,range-diff,fsck,version,help,var"}})

// GitReads reports whether a command calls git, and only to read.
func GitReads(command string) bool {
	s, err := analyse(command)
	if err != nil {
		return false
	}
	found := false
	for _, c := range s.cmds {
		switch c = unwrap(c); {
		case c.words[0].text == "?", c.words[0].text == "git" && !gitReads(c): // ? is inside what is not judged further
			return false
		case c.words[0].text == "git":
			found = true
		}
	}
	return found
}

// gitReads reports whether a call of git only reads.
func gitReads(c simple) bool {
	for i := 1; i < len(c.words); i++ {
		switch w := c.words[i].text; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace" || w == "--config-env":
			i++
		case !strings.HasPrefix(w, "-"):
			return gitReading.whole("", w) != ""
		}
	}
	return true
}

// gits says why no rule covers a script in which git would run what the
// repository's configuration names.
func (j judge) gits(s *script) string {
	if j.git == nil {
		return ""
	}
	found, reads := false, true
	for _, c := range s.cmds {
		if c = unwrap(c); c.words[0].text == "git" {
			found, reads = true, reads && gitReads(c)
		}
	}
	if !found {
		return ""
	}
	return j.git(reads)
}
