package programs

import (
	"slices"
	"strings"

	"fantail/tools/pattern"
	"fantail/tools/permit/bash"
	"fantail/tools/permit/filenames"
)

// form is what a rule with a * covers of a tool, or of one of its sub-commands:
// the options known to be harmless and what each word means. An invocation with
// anything else asks, so that an option nobody listed can do no harm.
type form struct {
	opens  bool   // a rule may leave the further words open; else it names them all
	style  style  // how options are written
	opts   string // the harmless options, see [form.option]
	args   string // the kinds of the operands in order; one that ends in ... stands for all further ones
	least  int    // how many operands it takes to mean only what it was read as
	one    string // options of which one must be there, for the same reason
	tame   bool   // no option at all does harm, so that a file may be named like one
	writes bool   // .git is a danger to it
	names  bool   // it prints nothing that stands in files
	check  func(args []bash.Word) string

	// What prints the contents of files it finds by itself would print secrets
	// too. It has to be narrowed: by one of these options, by files of source code
	// as its operands, or by what stands behind --.
	narrow  string
	deep    string // only one of these options makes it find files by itself
	coded   string // those of narrow that leave it files of source code only
	wide    string // further options under which it only reads; a rule with a * does not cover them
	hidden  string // those that make it find what is hidden or ignored too; of a tool that else passes it over
	pattern string // options that take the place of the first operand

	after *form // what may stand behind --; nil: operands as before it

	front string            // harmless options before a sub-command
	subs  map[string]form   // by sub-command, or by the option that makes another tool of it
	never map[string]string // sub-commands that no rule covers, with the reason
}

// style is how a tool's options are written.
type style int

const (
	gnu   style = iota // -a -bc -n5 -n 5 --long --long=x --long x, also behind operands
	apart              // as gnu, but a letter's value is always the next word
	dash               // -long -long=x -long x, as package flag reads them; -- means the same as -
	find               // -long x, and the operators of an expression
)

// option is one of a form's list.
type option struct {
	kind string // of its value; "" for none
	may  bool   // the value may be missing: it never is the next word
}

// option finds an option in the list. There -a is a letter, -abc three of them
// (in style gnu and apart), -# a number as in -20, -n=num a value of that kind
// and -n[num] one that may be missing.
func (f form) option(name string) (option, bool) {
	letter := f.style <= apart && len(name) == 2
	for o := range strings.FieldsSeq(f.opts) {
		id, kind, must := strings.Cut(o, "=")
		may := false
		if !must {
			id, kind, may = strings.Cut(o, "[")
			kind = strings.TrimSuffix(kind, "]")
		}
		if id == name || letter && !must && !may && id[1] != '-' && strings.Contains(id[1:], name[1:]) {
			return option{kind, may}, true
		}
	}
	return option{}, false
}

// invocation is an invocation taken apart: the options it has and its operands.
type invocation struct {
	f        form
	dir      string
	options  []string
	operands []bash.Word
	behind   int // words behind --
	why      string
}

// uncovered says why a rule with a * does not cover these words of the tool.
func (f form) uncovered(args []bash.Word, dir string) string {
	v := f.read(args, dir)
	if v.why != "" {
		return v.why
	}
	return v.lacks()
}

// read takes the words apart as the tool itself does. Each word is judged as the
// path it may be, and by the kind that the form gives it.
func (f form) read(args []bash.Word, dir string) *invocation {
	v := &invocation{f: f, dir: dir}
	if f.check != nil {
		v.operands = args
		for _, w := range args {
			v.judge("text", w)
			v.glob(w)
		}
		if v.why == "" {
			v.why = f.check(args)
		}
		return v
	}
	for i := 0; i < len(args) && v.why == ""; {
		switch w := args[i]; {
		case w.Text == "--" && f.style <= apart:
			v.rest(args[i+1:])
			return v
		case f.style == find && slices.Contains([]string{"(", ")", "!", ","}, w.Text):
			i++
		case len(w.Text) > 1 && w.Text[0] == '-':
			i += v.flag(w, args[i+1:])
		default:
			v.operand(w)
			i++
		}
	}
	return v
}

// rest takes what stands behind --.
func (v *invocation) rest(args []bash.Word) {
	v.behind = len(args)
	if v.f.after != nil {
		v.why = v.f.after.uncovered(args, v.dir)
		return
	}
	for _, w := range args {
		v.operand(w)
	}
}

// fault records the first thing that is not covered.
func (v *invocation) fault(words ...string) {
	if v.why == "" {
		v.why = strings.Join(words, " ")
	}
}

// flag takes a word of options and returns how many words it and its value are.
func (v *invocation) flag(w bash.Word, next []bash.Word) int {
	name, value, has := strings.Cut(w.Text, "=")
	if strings.HasPrefix(name, "--") && v.f.style == dash {
		name = name[1:]
	}
	if v.f.style <= apart && !strings.HasPrefix(name, "--") {
		return v.cluster(w, next)
	}
	o, ok := v.f.option(name)
	switch {
	case !ok || v.f.style == find && has:
		v.fault(w.Text, "is not on the list of harmless options")
	case has && o.kind == "" && (v.f.style != dash || value != "true" && value != "false"):
		v.fault(w.Text, "has a value, which this option has not")
	case has && o.kind != "":
		v.value(name, o.kind, bash.Word{Text: value, Pattern: strings.TrimPrefix(w.Pattern, name+"=")})
	case !has && o.kind != "" && !o.may:
		return v.next(name, o.kind, next)
	default:
		v.options = append(v.options, name)
	}
	return 1
}

// cluster takes a word of letters. The first that has a value ends it.
func (v *invocation) cluster(w bash.Word, next []bash.Word) int {
	if w.Pattern != "" {
		v.fault(w.Text, "may match a name that is another option")
		return 1
	}
	if _, ok := v.f.option("-#"); ok && digits.MatchString(w.Text[1:]) {
		v.options = append(v.options, "-#")
		return 1
	}
	for i := 1; i < len(w.Text); i++ {
		name := "-" + w.Text[i:i+1]
		o, ok := v.f.option(name)
		value := w.Text[i+1:]
		switch {
		case !ok:
			v.fault(w.Text, "is not on the list of harmless options")
			return 1
		case o.kind == "":
			v.options = append(v.options, name)
			continue
		case o.may && value == "":
			v.options = append(v.options, name)
		case value == "":
			return v.next(name, o.kind, next)
		case v.f.style == apart:
			v.fault(w.Text, "is read in more than one way")
		default:
			v.value(name, o.kind, bash.Word{Text: value})
		}
		return 1
	}
	return 1
}

// next takes the value of an option from the next word.
func (v *invocation) next(name, kind string, next []bash.Word) int {
	switch {
	case len(next) == 0:
		v.fault(name, "lacks its value")
	case next[0].Pattern != "":
		v.fault(next[0].Text, "may match several names, which shifts all words behind it")
	case strings.HasPrefix(next[0].Text, "-") && kind != "num":
		v.fault(next[0].Text, "stands where "+name+" has its value")
	default:
		v.value(name, kind, next[0])
	}
	return 2
}

// value takes an option with its value.
func (v *invocation) value(name, kind string, w bash.Word) {
	v.judge(kind, w)
	if kind != "glob" || !strings.HasPrefix(w.Text, "!") { // what leaves files out does not narrow
		v.options = append(v.options, name)
	}
}

// operand takes a word that is no option.
func (v *invocation) operand(w bash.Word) {
	if len(w.Text) > 1 && w.Text[0] == '-' { // behind --, which not every tool knows
		v.fault(w.Text, "may be read as an option")
	}
	kinds := strings.Fields(v.f.args)
	n := len(v.operands)
	if n >= len(kinds) && (len(kinds) == 0 || !strings.HasSuffix(kinds[len(kinds)-1], "...")) {
		v.fault(w.Text, "is more than the rule was given for")
		return
	}
	kind, many := strings.CutSuffix(kinds[min(n, len(kinds)-1)], "...")
	if w.Pattern != "" && !many {
		v.fault(w.Text, "may match several names, which shifts all words behind it")
	}
	v.glob(w)
	v.judge(kind, w)
	v.operands = append(v.operands, w)
}

// glob refuses a pattern that may match a name which is an option, and one that
// may match secrets: few names of those are known, and * stands for any.
func (v *invocation) glob(w bash.Word) {
	switch {
	case w.Pattern == "":
	case strings.IndexByte("-*?[", w.Text[0]) >= 0 && !v.f.tame:
		v.fault(w.Text, "may match a name that is an option")
	case !v.f.names && !kinds["source"](w.Text):
		v.fault(w.Text, "may match a file with secrets")
	}
}

// judge holds a word against its kind. What a tool takes for a text of people's
// or for an expression of its own is no path; all else may be one.
func (v *invocation) judge(kind string, w bash.Word) {
	if kind != "prose" && kind != "jq" {
		bad := w.BadInput
		if v.f.writes {
			bad = w.BadPath
		}
		if why := bad(v.dir); why != "" {
			v.fault(why)
		}
	}
	if kind == "path" {
		v.file(w)
	}
	if k := kinds[kind]; !k(w.Text) {
		v.fault(w.Text, "is no "+kind+" that is known to be harmless")
	}
}

// file refuses a path whose file, if it is one, holds a secret that would be printed.
func (v *invocation) file(w bash.Word) {
	if why := filenames.SensitiveFile(w.Text); why != "" && !v.f.names {
		v.fault(w.Text, "may name "+why)
	}
}

// lacks says what the invocation would need to be only what was read.
func (v *invocation) lacks() string {
	f := v.f
	if f.pattern != "" && v.has(f.pattern) && len(v.operands) > 0 {
		if v.file(v.operands[0]); v.why != "" { // it was taken for the pattern
			return v.why
		}
	}
	switch {
	case f.after != nil && f.pattern != "" && v.has(f.pattern) == (len(v.operands) > 0):
		return "it needs one pattern before --, or what stands there is read as another thing"
	case len(v.operands) < f.least:
		return "it needs an operand"
	case f.one != "" && !v.has(f.one):
		return "it needs one of " + f.one
	case f.narrow == "" || f.deep != "" && !v.has(f.deep) || v.has(f.narrow) || f.after != nil && v.behind > 0:
		return ""
	}
	files := v.operands
	if f.pattern != "" && !v.has(f.pattern) {
		files = files[min(1, len(files)):]
	}
	if len(files) == 0 || f.after != nil || slices.ContainsFunc(files, func(w bash.Word) bool { return !kinds["source"](w.Text) }) {
		return "it may print secrets it finds by itself; name files of source code"
	}
	return ""
}

// has reports whether one of the options is there.
func (v *invocation) has(list string) bool {
	return slices.ContainsFunc(v.options, func(o string) bool { return slices.Contains(strings.Fields(list), o) })
}

// Source code, which holds no secrets: file names end so, and ripgrep's types
// match only such names. Types with .env, .properties and the like are not here.
const (
	codeEnd  = `(go|py|pyi|js|jsx|mjs|cjs|ts|tsx|mts|rs|c|h|cc|cpp|hpp|java|kt|rb|php|cs|swift|lua|sql|css|scss|vue|svelte|proto|md|mod|sum)`
	codeType = `(go|py|python|js|ts|typescript|rust|c|cpp|cs|csharp|css|kotlin|lua|markdown|md|swift|sql|protobuf|vue|svelte)`
)

// kinds say which words are harmless as a value or operand of that kind.
var kinds = map[string]func(string) bool{
	"text":   func(string) bool { return true },
	"prose":  func(string) bool { return true },
	"path":   func(s string) bool { return s != "" && s[0] != '@' },                                  // many tools read options from @file
	"new":    func(s string) bool { return filenames.Obeyed(s) == "" && filenames.SelfRun(s) == "" }, // a file or directory to be made
	"tests":  tests.MatchString,
	"num":    number.MatchString,
	"word":   pattern.Of(`^[-A-Za-z0-9_.,:+%!^]*$`).MatchString,
	"source": pattern.Of(`^[A-Za-z0-9_.*?][^:@]*\.` + codeEnd + `$`).MatchString,
	"glob":   pattern.Of(`^(!.*|(\*\*/|[A-Za-z0-9_-]+/)*[A-Za-z0-9_*?-]*\.(` + codeEnd + `|\{` + codeEnd + `(,` + codeEnd + `)*\}))$`).MatchString,
	"type":   pattern.Of(`^` + codeType + `$`).MatchString,
	"key":    pattern.Of(`^[0-9.]+[bdfgiMhnRrV]*(,[0-9.]+[bdfgiMhnRrV]*)?$`).MatchString,
	"dir":    func(s string) bool { return plainPkg.MatchString(s) && !strings.HasSuffix(s, ".go") }, // a file's name is that of the program
	"pkg":    plainPkg.MatchString,
	"select": pattern.Of(`^[A-Za-z0-9_ .-]*$`).MatchString, // an expression; older versions run what has parentheses
	"units": func(s string) bool {
		return s == "discover" || testPkg.MatchString(s) || strings.HasSuffix(s, ".py") && tests.MatchString(s)
	},
	"goenv": pattern.Of(`^(GOPATH|GOROOT|GOOS|GOARCH|GOVERSION|GOMOD|GOCACHE|GOMODCACHE|GOBIN|GOWORK|GOTOOLCHAIN|CGO_ENABLED)$`).MatchString,
	"tip":   tip,
	"commit": func(s string) bool { // by whatever name; that it is no file's content is for others to find out
		from, to, _ := strings.Cut(s, "..")
		for _, r := range []string{from, strings.TrimPrefix(to, ".")} {
			if !revision.MatchString(r) && !commit.MatchString(r) {
				return false
			}
		}
		return s != ""
	},
	"ref":   pattern.Of(`^[#A-Za-z0-9_][A-Za-z0-9_./-]*$`).MatchString, // of a forge: a number or a branch
	"label": pattern.Of(`^[A-Za-z0-9 _./-]*$`).MatchString,
	// With %n bash's printf sets a variable, such as PATH.
	"template": func(s string) bool { return !stores.MatchString(s) },
	"pretty":   func(s string) bool { return !signer.MatchString(s) }, // which runs gpg.program
	"format":   pattern.Of(`^\+`).MatchString,                         // date: without its + it sets the clock
	"crate":    pattern.Of(`^[A-Za-z0-9_:-]+$`).MatchString,
	"jq":       func(s string) bool { return s != "" && s[0] != '-' && plainJq.MatchString(s) },
}

var (
	plainPkg = pattern.Of(`^[A-Za-z0-9_./-]*$`)
	digits   = pattern.Of(`^[0-9]+$`)
	number   = pattern.Of(`^[+-]?[0-9]+(\.[0-9]+)?[bcwkKMG%]?$`)
	revision = pattern.Of(`^(@|[A-Za-z_][A-Za-z0-9_/.-]*)?(@\{[A-Za-z0-9]+\})?([~^][0-9]*)*$`)
	commit   = pattern.Of(`^[0-9a-fA-F]{4,64}([~^][0-9]*)*$`)
	stores   = pattern.Of(`%[^A-Za-z%]*[hjlLtz]*n`)
	signer   = pattern.Of(`%[-+ ]*G`)
	// hash finds the name of any object: a bare hash, and the name that git describe
	// makes of one, of which git reads nothing but the hash.
	hash = pattern.Of(`^([0-9a-fA-F]*|.*-g[0-9a-fA-F]+)$`)
	// What is imported as a test: by directories, or by the names that rules are bound to.
	tests   = pattern.Of(`^([A-Za-z0-9_./-]*/)?(test_[A-Za-z0-9_-]*\.py|[A-Za-z0-9_-]*_test\.py|tests?/[A-Za-z0-9_./-]*\.py|[A-Za-z0-9_-]+|\.?)(::[A-Za-z0-9_:]+(\[[^]/]*\])?)?$`)
	testPkg = pattern.Of(`^tests([./][A-Za-z0-9_./]*)?$`)
)

// tip knows the names of commits and ranges of them. A hash may be that of a
// file's content, which git would print.
func tip(s string) bool {
	from, to, _ := strings.Cut(s, "..")
	for _, r := range []string{from, strings.TrimPrefix(to, ".")} {
		if !revision.MatchString(r) || r != "" && hash.MatchString(r) {
			return false
		}
	}
	return s != ""
}

// plainJq is a filter that reads its input only: fields, literals, operators and
// these functions. Others read the environment and any file.
var plainJq = pattern.Of(`^(\.[A-Za-z_][A-Za-z0-9_]*|\{ *[A-Za-z_][A-Za-z0-9_]* *:|[0-9]+|"[^"\\]*"|[][(){}|,.:?!=<>+*/ -]|` +
	`length|keys|keys_unsorted|values|type|add|map|select|sort|sort_by|group_by|unique|unique_by|min|max|min_by|max_by|first|last|has|contains|test|startswith|` +
	`endswith|split|join|tostring|tonumber|to_entries|from_entries|with_entries|flatten|reverse|not|empty|null|true|false|and|or|any|all|ascii_downcase|ascii_upcase)*$`)
