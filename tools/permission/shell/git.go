package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// gitReading are the git subcommands that change nothing and contact no other host.
var gitReading = set("status,diff,log,show,ls-files,ls-tree,grep,blame,annotate,branch,rev-parse,rev-list,describe,shortlog,merge-base,name-rev," +
	"cat-file,for-each-ref,show-ref,show-branch,diff-tree,diff-index,diff-files,whatchanged,cherry,check-ignore,check-attr,check-mailmap,count-objects,reflog,range-diff,fsck,version,help,var")

// GitReads reports whether a command runs git, and only reads.
func GitReads(command string) bool {
	s, err := Parse(command)
	if err != nil {
		return false
	}
	found := false
	for _, c := range s.Commands {
		switch c = Unwrap(c); {
		case c.Words[0].Text == "?", c.Words[0].Text == "git" && !OnlyReads(c): // ? marks a command that is not judged
			return false
		case c.Words[0].Text == "git":
			found = true
		}
	}
	return found
}

// OnlyReads reports whether a git command only reads.
func OnlyReads(c Command) bool {
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

// gitTracking are the options of git's subcommands that make, rename, delete or send branches, if git runs no program
// of the repository for them. A value after a blank counts as an argument.
var gitTracking = map[string]map[string]bool{
	"branch": set("-d,-D,-m,-M,-c,-C,-f,-q,-t,-u,-r,-a,-v,-vv,-l,--delete,--move,--copy,--force,--quiet,--track,--no-track,--set-upstream-to," +
		"--unset-upstream,--list,--all,--remotes,--verbose,--show-current"),
	"checkout": set("-b,-B,-t,-q,-f,-d,--track,--no-track,--guess,--no-guess,--quiet,--force,--detach,--orphan,--"),
	"switch":   set("-c,-C,-t,-q,-f,-d,--create,--force-create,--track,--no-track,--guess,--no-guess,--quiet,--force,--discard-changes,--detach,--orphan"),
	"push":     set("-u,-q,-v,-n,-f,--set-upstream,--quiet,--verbose,--dry-run,--force,--force-with-lease,--force-if-includes,--tags,--follow-tags,--progress,--porcelain"),
}

// besideTracking are programs that may be in one command with git where it may record what branches track.
var besideTracking = set("echo,printf,true,head,tail,cat,grep,wc")

// besideGit are the subcommands that only read and write no file with any words except --output.
var besideGit = set("status,log,rev-parse,show-ref")

// remoteName matches the name of a remote.
var remoteName = regexp.MustCompile(`^\w[\w-]*$`)

// Tracks reports whether a command only has git make, rename, delete or send branches, and read, so that git may record
// in its configuration what they track: any other program could write there, too. remote is the name of the remote that
// it sends one to; "": none.
func Tracks(command string) (tracks bool, remote string) {
	s, err := Parse(command)
	if err != nil || s.Why != "" || s.Beside || len(s.Outs) > 0 || len(s.Reads) > 0 {
		return false, ""
	}
	for _, c := range s.Commands {
		if c.Sets || len(c.Given) > 0 || slices.ContainsFunc(c.Words, func(w Word) bool { return w.Pattern != "" }) {
			return false, ""
		}
		name, sub := c.Words[0].Text, ""
		if name == "git" && len(c.Words) > 1 {
			sub = c.Words[1].Text
		}
		switch {
		case besideTracking[name]:
		case besideGit[sub] && !slices.ContainsFunc(c.Words, func(w Word) bool { return strings.HasPrefix(w.Text, "--o") && w.Text != "--oneline" }):
		case gitTracking[sub] != nil:
			to, ok := gitTracks(sub, c.Words[2:])
			if !ok || remote != "" && to != "" && to != remote {
				return false, ""
			}
			tracks, remote = true, cmp.Or(remote, to)
		default:
			return false, ""
		}
	}
	return tracks, remote
}

// gitTracks reports whether a git subcommand with those words only makes, renames, deletes or sends branches, and to
// which remote it sends.
func gitTracks(sub string, words []Word) (remote string, ok bool) {
	for _, w := range words {
		option, _, _ := strings.Cut(w.Text, "=")
		switch {
		case strings.HasPrefix(w.Text, "-"):
			if !gitTracking[sub][option] {
				return "", false
			}
		case sub == "push" && remote == "":
			if remote = w.Text; !remoteName.MatchString(remote) {
				return "", false
			}
		}
	}
	if sub == "push" {
		remote = cmp.Or(remote, "origin")
	}
	return remote, true
}
