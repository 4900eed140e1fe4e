package shell

import (
	"slices"
	"strings"
)

// Reading describes the files that a command which only reads finds by itself and prints. The files that it names have
// been judged already.
type Reading struct {
	Below  []string               // files, and directories with everything below
	Hidden bool                   // also hidden files, and those that git ignores
	Only   func(name string) bool // the files with such names; nil: all
	Git    []string               // the words of a git that lists the files; nil: it is no such git
}

// besides are readers that show more than the workspace, or nothing.
var besides = set("ps,sleep,seq")

// Reads says what a command reads, if it only reads in the workspace and runs no other program. Otherwise why says why
// it is not such a command.
func Reads(c Command, root string) (r Reading, why string) {
	name := c.Words[0].Text
	if why := Never(c.Words); why != "" || c.Words[0].Pattern != "" {
		return r, name + " is no command that only reads" // a pattern may be any command
	}
	switch {
	case name == "git":
		return gitReads(c.Words[1:], root)
	case !readers[name] || besides[name] || !forms[name].opens:
		return r, name + " is no command that only reads"
	case name == "cd" && !c.NamesDir():
		return r, "cd without a directory leads outside"
	}
	f := forms[name]
	f.opts += " " + f.wide
	v := f.read(c.Words[1:], root)
	if f.check != nil {
		for _, w := range v.operands {
			v.file(w)
		}
	}
	if v.why != "" || f.narrow == "" || f.deep != "" && !v.has(f.deep) {
		return r, v.whole()
	}
	if v.has("--files") { // their names
		return r, v.whole()
	}
	files := v.operands
	if !v.has(f.pattern) {
		files = files[min(1, len(files)):]
	}
	for _, w := range files {
		if w.Pattern != "" {
			return r, w.Text + " may match a directory with secrets"
		}
		r.Below = append(r.Below, w.Text)
	}
	if len(files) == 0 {
		r.Below = []string{"."}
	}
	if r.Hidden = f.hidden == "" || v.has(f.hidden); v.has(f.coded) {
		r.Only = kinds["source"]
	}
	return r, v.whole()
}

// whole says why the words may mean more than was read, or ""; files that they find by themselves don't count.
func (v *invocation) whole() string {
	if v.why != "" {
		return v.why
	}
	v.f.narrow = ""
	return v.lacks()
}

// Options that print patches, which are on no list: a rule with a * must not cover them.
var patches = lazy(`^(-p|-u|--patch|-U[0-9]+|--unified=[0-9]+|--word-diff(=(color|plain|porcelain|none))?|-W|--function-context)$`)

// Options that only change how a list of names looks, and would add text between the names.
var looks = lazy(`^--(stat|numstat|shortstat|summary|dirstat|compact-summary|raw|graph|oneline|format|pretty|color|decorate|abbrev|name-only|name-status|exit-code)\b`)

// gitReads is Reads for git, given the words after it.
func gitReads(words []Word, root string) (r Reading, why string) {
	if len(words) == 0 || words[0].Pattern != "" {
		return r, "git without a sub-command it is known by"
	}
	sub := words[0].Text
	f, ok := gitTool.subs[sub]
	if !ok || !f.opens || f.writes || !gitReading[sub] {
		return r, "git " + sub + " is no command that only reads"
	}
	args, patch := words[1:], false
	switch sub {
	case "log", "show", "diff":
		end := slices.IndexFunc(args, func(w Word) bool { return w.Text == "--" })
		if end < 0 {
			end = len(args)
		}
		plain := slices.DeleteFunc(slices.Clone(args[:end]), func(w Word) bool { return w.Pattern == "" && patches.MatchString(w.Text) })
		patch = len(plain) < end
		args = append(plain, args[end:]...)
		if f.one, f.narrow = "", ""; f.after != nil {
			f.after = &form{args: "path...", least: 1}
		}
		if sub == "show" {
			f.args = "commit..."
		}
	case "grep":
		f.narrow, f.after = "", &form{args: "path...", least: 1}
	}
	if sub == "show" && len(args) > 0 && !patch && slices.ContainsFunc(args, func(w Word) bool { return strings.Contains(w.Text, ":") }) {
		return r, blobs(args, root)
	}
	v := f.read(args, root)
	if v.why == "" {
		v.why = v.lacks()
	}
	if v.why != "" {
		return r, v.why
	}
	if patch && v.has("-s --no-patch -q --quiet") { // which of them wins depends on git's version
		return r, "git " + sub + " is asked for a patch and for none"
	}
	switch sub {
	case "grep":
		r.Git = []string{"ls-files", "-z"}
	case "blame":
		for _, w := range v.operands {
			v.file(w)
		}
	case "log":
		if patch {
			r.Git = list("log", args, "-m")
		}
	case "diff":
		if patch || !v.has(gitSums+" --quiet") {
			r.Git = list("diff", args)
		}
	case "show":
		if patch || !v.has(gitSums+" --no-patch -s") { // log shows contents only with commits
			r.Git = list("log", args, "-m", "--no-walk")
		}
	}
	return r, v.why
}

// list returns a git command that lists the files in the patch of the same words: a renamed file by both names, which
// --follow needs.
func list(sub string, args []Word, options ...string) []string {
	out := append([]string{sub, "--name-status", "-z"}, options...)
	if sub == "log" {
		out = append(out, "--format=")
	}
	end := len(args)
	for i, w := range args {
		if w.Text == "--" {
			end = i
			break
		}
		if !looks.MatchString(w.Text) {
			out = append(out, w.Text)
		}
	}
	return append(out, Texts(args[end:])...)
}

// blobs judges the words of a git show of files as they were in commits: COMMIT:PATH.
func blobs(args []Word, root string) string {
	for _, w := range args {
		at, name, ok := strings.Cut(w.Text, ":")
		if !ok || at == "" || name == "" || !kinds["commit"](at) || w.Pattern != "" {
			return w.Text + " is not known to be the file of a commit"
		}
		if why := w.BadInput(root); why != "" {
			return why
		}
		if why := SensitiveFile(name); why != "" {
			return w.Text + " names " + why
		}
	}
	return ""
}

// gathers are programs that read all files that they find, or make others read them, with options that no list has.
var gathers = set("tar,zip,7z,7za,cpio,pax,rsync,ag,ack,ugrep,rg,xargs,parallel,bsdtar,ar")

// Gathers reports whether a command may read everything below its directory.
func Gathers(c Command) bool {
	words := Texts(c.Words)
	has := func(letters string, long ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool {
			return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters) || slices.Contains(long, w)
		})
	}
	switch name := words[0]; {
	case gathers[name]:
		return true
	case name == "cp" || name == "scp":
		return has("rRa", "--recursive", "--archive")
	case name == "grep" || name == "egrep" || name == "fgrep":
		return has("rRd", "--recursive", "--dereference-recursive") || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--directories") })
	case name == "diff":
		return has("r", "--recursive")
	case name == "find" || name == "fd":
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(w, "-exec") || strings.HasPrefix(w, "-ok") || strings.HasPrefix(w, "--exec") || w == "-x" || w == "-X"
		})
	case name == "git" && len(words) > 1:
		return slices.ContainsFunc(words[1:], func(w string) bool { return w == "grep" || w == "archive" || w == "bundle" })
	}
	return false
}
