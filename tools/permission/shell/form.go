package shell

import (
	"slices"
	"strings"
)

// form says which invocations of a tool, or of one of its subcommands, a rule with a * covers: the options known to be
// harmless and what each word means. An invocation with anything else asks, so that an unlisted option can do no harm.
type form struct {
	opens  bool   // a rule may leave further words open; else it names all words
	style  style  // how options are written
	opts   string // the harmless options, see [form.option]
	args   string // the kinds of the operands in order; ... at the end repeats the last one
	least  int    // how many operands it needs; with fewer it means something else
	one    string // options of which it needs one, for the same reason
	tame   bool   // no option does harm, so a file may be named like one
	writes bool   // it may damage .git
	names  bool   // it prints no contents of files
	check  func(args []Word) string

	// A tool that prints the contents of files that it finds by itself would also print secrets. It must be narrowed:
	// by one of these options, by files of source code as its operands, or by the words after --.
	narrow  string
	deep    string // it finds files by itself only with one of these options
	coded   string // those of narrow that restrict it to files of source code
	wide    string // further options with which it only reads; a rule with a * does not cover them
	hidden  string // options that make it find hidden or ignored files too, if it skips these otherwise
	pattern string // options that replace the first operand

	after *form // the form of the words after --; nil: operands as before it

	front string            // harmless options before a sub-command
	subs  map[string]form   // by subcommand, or by an option that makes it another tool
	never map[string]string // sub-commands that no rule covers, with the reason
}

// style is how a tool's options are written.
type style int

const (
	gnu   style = iota // -a -bc -n5 -n 5 --long --long=x --long x, also after operands
	apart              // as gnu, but a letter's value is always the next word
	dash               // -long -long=x -long x, as package flag reads them; -- means the same as -
	find               // -long x, and the operators of an expression
)

// option is one of a form's list.
type option struct {
	kind string // of its value; "" for none
	may  bool   // the value is optional, and never the next word
}

// option finds an option in the list. In it, -a is a letter, -abc three of them (in style gnu and apart), -# a number
// as in -20, -n=num a value of that kind and -n[num] an optional one.
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

// invocation is a parsed invocation: its options and operands.
type invocation struct {
	f        form
	dir      string
	options  []string
	operands []Word
	behind   int // words after --
	why      string
}

// uncovered says why a rule with a * does not cover these words of the tool.
func (f form) uncovered(args []Word, dir string) string {
	v := f.read(args, dir)
	if v.why != "" {
		return v.why
	}
	return v.lacks()
}

// read parses the words as the tool itself does. It judges each word as a path, and by its kind in the form.
func (f form) read(args []Word, dir string) *invocation {
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

// rest takes the words after --.
func (v *invocation) rest(args []Word) {
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

// flag reads a word of options and returns the number of words of it and its value.
func (v *invocation) flag(w Word, next []Word) int {
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
		v.value(name, o.kind, Word{Text: value, Pattern: strings.TrimPrefix(w.Pattern, name+"=")})
	case !has && o.kind != "" && !o.may:
		return v.next(name, o.kind, next)
	default:
		v.options = append(v.options, name)
	}
	return 1
}

// cluster reads a word of letters. The first one that has a value ends it.
func (v *invocation) cluster(w Word, next []Word) int {
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
			v.value(name, o.kind, Word{Text: value})
		}
		return 1
	}
	return 1
}

// next reads the value of an option from the next word.
func (v *invocation) next(name, kind string, next []Word) int {
	switch {
	case len(next) == 0:
		v.fault(name, "lacks its value")
	case next[0].Pattern != "":
		v.fault(next[0].Text, "may match several names, which shifts all words behind it")
	case strings.HasPrefix(next[0].Text, "-") && kind != "num" && !(kind == "input" && next[0].Text == "-"):
		v.fault(next[0].Text, "stands where "+name+" has its value")
	default:
		v.value(name, kind, next[0])
	}
	return 2
}

// value reads an option with its value.
func (v *invocation) value(name, kind string, w Word) {
	v.judge(kind, w)
	if kind != "glob" || !strings.HasPrefix(w.Text, "!") { // an exclusion does not narrow
		v.options = append(v.options, name)
	}
}

// operand reads a word that is no option.
func (v *invocation) operand(w Word) {
	if len(w.Text) > 1 && w.Text[0] == '-' { // after --, which not every tool knows
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

// glob refuses a pattern that may match a file whose name is an option, or a file with secrets: few names of those are
// known, and * matches any.
func (v *invocation) glob(w Word) {
	switch {
	case w.Pattern == "":
	case strings.IndexByte("-*?[", w.Text[0]) >= 0 && !v.f.tame:
		v.fault(w.Text, "may match a name that is an option")
	case !v.f.names && !kinds["source"](w.Text):
		v.fault(w.Text, "may match a file with secrets")
	}
}

// judge checks a word against its kind. A text for people or an expression of the tool's own is no path; any other word
// may be one.
func (v *invocation) judge(kind string, w Word) {
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

// file refuses a path to a file whose secret would be printed.
func (v *invocation) file(w Word) {
	if why := SensitiveFile(w.Text); why != "" && !v.f.names {
		v.fault(w.Text, "may name "+why)
	}
}

// lacks says what the invocation lacks to mean only what was read, or "".
func (v *invocation) lacks() string {
	f := v.f
	if f.pattern != "" && v.has(f.pattern) && len(v.operands) > 0 {
		if v.file(v.operands[0]); v.why != "" { // it was read as the pattern
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
	if len(files) == 0 || f.after != nil || slices.ContainsFunc(files, func(w Word) bool { return !kinds["source"](w.Text) }) {
		return "it may print secrets it finds by itself; name files of source code"
	}
	return ""
}

// has reports whether the invocation has one of the options.
func (v *invocation) has(list string) bool {
	return slices.ContainsFunc(v.options, func(o string) bool { return slices.Contains(strings.Fields(list), o) })
}

// Source code, which holds no secrets: its file names have these endings, and ripgrep's types match only such names.
// Types with .env, .properties and the like are not here.
const (
	codeEnd  = `(go|py|pyi|js|jsx|mjs|cjs|ts|tsx|mts|rs|c|h|cc|cpp|hpp|java|kt|rb|php|cs|swift|lua|sql|css|scss|vue|svelte|proto|md|mod|sum)`
	codeType = `(go|py|python|js|ts|typescript|rust|c|cpp|cs|csharp|css|kotlin|lua|markdown|md|swift|sql|protobuf|vue|svelte)`
)

// kinds say which words are harmless as a value or operand of that kind.
var kinds = map[string]func(string) bool{
	"text":   func(string) bool { return true },
	"prose":  func(string) bool { return true },
	"path":   func(s string) bool { return s != "" && s[0] != '@' },              // many tools read options from @file
	"new":    func(s string) bool { return Obeyed(s) == "" && SelfRun(s) == "" }, // a file or directory to be made
	"tests":  tests.MatchString,
	"input":  func(s string) bool { return s == "-" }, // standard input, no file
	"num":    number.MatchString,
	"word":   lazy(`^[-A-Za-z0-9_.,:+%!^]*$`).MatchString,
	"source": lazy(`^[A-Za-z0-9_.*?][^:@]*\.` + codeEnd + `$`).MatchString,
	"glob":   lazy(`^(!.*|(\*\*/|[A-Za-z0-9_-]+/)*[A-Za-z0-9_*?-]*\.(` + codeEnd + `|\{` + codeEnd + `(,` + codeEnd + `)*\}))$`).MatchString,
	"type":   lazy(`^` + codeType + `$`).MatchString,
	"key":    lazy(`^[0-9.]+[bdfgiMhnRrV]*(,[0-9.]+[bdfgiMhnRrV]*)?$`).MatchString,
	"dir":    func(s string) bool { return plainPkg.MatchString(s) && !strings.HasSuffix(s, ".go") }, // a file's name is that of the program
	"pkg":    plainPkg.MatchString,
	"select": lazy(`^[A-Za-z0-9_ .-]*$`).MatchString, // an expression; older versions run the text in parentheses
	"units": func(s string) bool {
		return s == "discover" || testPkg.MatchString(s) || strings.HasSuffix(s, ".py") && tests.MatchString(s)
	},
	"goenv": lazy(`^(GOPATH|GOROOT|GOOS|GOARCH|GOVERSION|GOMOD|GOCACHE|GOMODCACHE|GOBIN|GOWORK|GOTOOLCHAIN|CGO_ENABLED)$`).MatchString,
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
	"ref":   lazy(`^[#A-Za-z0-9_][A-Za-z0-9_./-]*$`).MatchString, // of a forge: a number or a branch
	"label": lazy(`^[A-Za-z0-9 _./-]*$`).MatchString,
	// With %n bash's printf sets a variable, such as PATH.
	"template": func(s string) bool { return !stores.MatchString(s) },
	"pretty":   func(s string) bool { return !signer.MatchString(s) }, // which runs gpg.program
	"format":   lazy(`^\+`).MatchString,                               // date: without its + it sets the clock
	"crate":    lazy(`^[A-Za-z0-9_:-]+$`).MatchString,
	"jq":       func(s string) bool { return s != "" && s[0] != '-' && plainJq.MatchString(s) },
}

var (
	plainPkg = lazy(`^[A-Za-z0-9_./-]*$`)
	digits   = lazy(`^[0-9]+$`)
	number   = lazy(`^[+-]?[0-9]+(\.[0-9]+)?[bcwkKMG%]?$`)
	revision = lazy(`^(@|[A-Za-z_][A-Za-z0-9_/.-]*)?(@\{[A-Za-z0-9]+\})?([~^][0-9]*)*$`)
	commit   = lazy(`^[0-9a-fA-F]{4,64}([~^][0-9]*)*$`)
	stores   = lazy(`%[^A-Za-z%]*[hjlLtz]*n`)
	signer   = lazy(`%[-+ ]*G`)
	// hash matches the name of any object: a bare hash, and the name that git describe makes of one, of which git reads
	// only the hash.
	hash = lazy(`^([0-9a-fA-F]*|.*-g[0-9a-fA-F]+)$`)
	// Modules that may be imported as a test: by directories, or by the names that rules are bound to.
	tests   = lazy(`^([A-Za-z0-9_./-]*/)?(test_[A-Za-z0-9_-]*\.py|[A-Za-z0-9_-]*_test\.py|tests?/[A-Za-z0-9_./-]*\.py|[A-Za-z0-9_-]+|\.?)(::[A-Za-z0-9_:]+(\[[^]/]*\])?)?$`)
	testPkg = lazy(`^tests([./][A-Za-z0-9_./]*)?$`)
)

// tip matches the names of commits and ranges of them. It matches no hash, which may be that of a file's content, which
// git would print.
func tip(s string) bool {
	from, to, _ := strings.Cut(s, "..")
	for _, r := range []string{from, strings.TrimPrefix(to, ".")} {
		if !revision.MatchString(r) || r != "" && hash.MatchString(r) {
			return false
		}
	}
	return s != ""
}

// plainJq matches a filter that only reads its input: fields, literals, operators and these functions. Others read the
// environment and any file.
var plainJq = lazy(`^(\.[A-Za-z_][A-Za-z0-9_]*|\{ *[A-Za-z_][A-Za-z0-9_]* *:|[0-9]+|"[^"\\]*"|[][(){}|,.:?!=<>+*/ -]|` +
	`length|keys|keys_unsorted|values|type|add|map|select|sort|sort_by|group_by|unique|unique_by|min|max|min_by|max_by|first|last|has|contains|test|startswith|` +
	`endswith|split|join|tostring|tonumber|to_entries|from_entries|with_entries|flatten|reverse|not|empty|null|true|false|and|or|any|all|ascii_downcase|ascii_upcase)*$`)
