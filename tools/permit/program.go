package permit

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// known finds the form of a command: its own, or that of the sub-command its
// first words name. depth says how many words those are.
func known(words []word) (f form, depth int) {
	f, ok := tools[words[0].text]
	if !ok {
		return form{}, 1
	}
	for depth = 1; depth < len(words) && words[depth].pattern == ""; depth++ {
		sub, ok := f.subs[words[depth].text]
		if !ok {
			break
		}
		f = sub
	}
	return f, depth
}

// plainly leaves out the harmless options before a sub-command, so that a rule
// for the sub-command speaks of it with and without them.
func plainly(words []word) []word {
	front := strings.Fields(tools[words[0].text].front)
	n := 1
	for n < len(words) && words[n].pattern == "" && slices.Contains(front, words[n].text) {
		n++
	}
	if n == 1 {
		return words
	}
	return append(words[:1:1], words[n:]...)
}

// worded reports whether the sub-commands are words; those of prettier are options.
func (f form) worded() bool {
	for name := range f.subs {
		if name[0] != '-' {
			return true
		}
	}
	return len(f.subs) == 0
}

// example is the name of a sub-command that a rule may leave open.
func (f form) example() string {
	for _, name := range slices.Sorted(maps.Keys(f.subs)) {
		if sub := f.subs[name]; sub.opens {
			return name
		}
		if sub := f.subs[name]; len(sub.subs) > 0 {
			return name + " " + sub.example()
		}
	}
	return "WORD"
}

// neverSub says why no rule covers a sub-command.
func neverSub(words []word) string {
	f, depth := known(words)
	if len(f.subs) == 0 && len(f.never) == 0 || depth == len(words) {
		return ""
	}
	name := words[depth].text
	switch {
	case name == "":
		return "an empty word is no sub-command"
	case f.opens: // the words are its own
		return ""
	case f.never[name] != "":
		return f.never[name]
	case name == "--version" || name == "--help" || name == "-h" || name == "-v" || name == "-V":
		return ""
	case depth == 1 && f.worded() && (name[:1] == "-" || name[:1] == "+"):
		return "the option " + name + " before a sub-command changes what runs"
	}
	return f.never["*"]
}

var interpreter = regexp.MustCompile(`^(python|pypy|ruby|perl|php|lua|node|nodejs|tclsh|guile|java|R)[0-9.]*$`)

// never says why no rule covers a command of these words; "" if one may.
func never(words []word) string {
	head := words[0].text
	if why := runs[head]; why != "" {
		return head + " " + why
	}
	if head == "./gradlew" || head == "./mvnw" {
		return ""
	}
	if strings.Contains(head, "/") {
		return head + " is named by a path: what stands there may change"
	}
	if head != ":" && head != "[" && !plainName.MatchString(head) {
		return head + " is no plain name of a command"
	}
	if _, depth := known(words); interpreter.MatchString(head) && depth < 3 { // 3: -m and a module with a form
		return head + " runs any code"
	}
	if why := neverSub(words); why != "" {
		return head + ": " + why
	}
	return ""
}

// pattern of a sed script that only prints, deletes or replaces.
var plainSed = regexp.MustCompile(`^(([0-9]+|\$)(,([0-9]+|\$|\+[0-9]+))?|/[^/\\\n]*/)?[pdq=]$|^s/[^/\n\\]*/[^/\n\\]*/[gpiI0-9]*$`)

// denySed allows scripts that neither write nor run.
func denySed(args []word) string {
	script := false
	for i := 0; i < len(args); i++ {
		switch a := args[i].text; {
		case a == "-n" || a == "-E" || a == "-r" || a == "-s" || a == "-nE" || a == "-En" || a == "-nr":
		case a == "-e" && i+1 < len(args):
			i++
			script = true
			if args[i].pattern != "" || !plainSed.MatchString(args[i].text) {
				return "may write or run something with this script"
			}
		case strings.HasPrefix(a, "-"):
			return "with " + a + " may write or run something"
		case !script:
			script = true
			if args[i].pattern != "" || !plainSed.MatchString(a) {
				return "may write or run something with this script"
			}
		}
	}
	return ""
}

// What ps shows without the processes' environments. A word of letters is a
// cluster of options with or without its dash, so that e may mean either.
var plainPs = regexp.MustCompile(`^(-e[fFlLjo]*|-[AafFljLo]+|[auxfjlwo]+|-?[0-9][0-9,]*|-[pCuUt]|--forest|--no-headers|--sort=[a-z%,+-]+)$`)

// denyPs refuses environments.
func denyPs(args []word) string {
	value := false // of the option before
	for _, a := range args {
		if a.pattern != "" || !plainPs.MatchString(a.text) && !value || strings.Contains(a.text, "env") {
			return "with " + a.text + " may print the environment of processes"
		}
		value = !value && (strings.HasSuffix(a.text, "o") || len(a.text) == 2 && a.text[0] == '-' && strings.Contains("pCuUt", a.text[1:]))
	}
	return ""
}

// denyTest allows the tests that evaluate nothing.
func denyTest(args []word) string {
	for _, a := range args {
		switch a.text {
		case "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z", "=", "==", "!=", "!", "-a", "]":
		default:
			if strings.HasPrefix(a.text, "-") || strings.ContainsAny(a.text, "[]$`") {
				return "with " + a.text + " may evaluate something"
			}
		}
	}
	return ""
}
