package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// known finds the form of a command: its own, or that of the subcommand named by its first words. depth is the number
// of those words.
func known(words []Word) (f form, depth int) {
	f, ok := forms[words[0].Text]
	if !ok {
		return form{}, 1
	}
	for depth = 1; depth < len(words) && words[depth].Pattern == ""; depth++ {
		sub, ok := f.subs[words[depth].Text]
		if !ok {
			break
		}
		f = sub
	}
	return f, depth
}

// Trim removes the harmless options before a subcommand, so that a rule for the subcommand matches with and without
// them.
func Trim(words []Word) []Word {
	front := strings.Fields(forms[words[0].Text].front)
	n := 1
	for n < len(words) && words[n].Pattern == "" && slices.Contains(front, words[n].Text) {
		n++
	}
	if n == 1 {
		return words
	}
	return append(words[:1:1], words[n:]...)
}

// worded reports whether the subcommands are words; those of prettier are options.
func (f form) worded() bool {
	for name := range f.subs {
		if name[0] != '-' {
			return true
		}
	}
	return len(f.subs) == 0
}

// example is the name of a subcommand whose further words a rule may leave open.
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

// neverSub says why no rule covers a subcommand.
func neverSub(words []Word) string {
	f, depth := known(words)
	if len(f.subs) == 0 && len(f.never) == 0 || depth == len(words) {
		return ""
	}
	name := words[depth].Text
	switch {
	case name == "":
		return "an empty word is no sub-command"
	case f.opens: // the words are operands
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

var plainName = lazy(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

var interpreter = lazy(`^(python|pypy|ruby|perl|php|lua|node|nodejs|tclsh|guile|java|R)[0-9.]*$`)

// Never says why no rule covers a command of these words; "" if one may.
func Never(words []Word) string {
	head := words[0].Text
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

// plainSed matches a sed script that only prints, deletes or replaces.
var plainSed = lazy(`^(([0-9]+|\$)(,([0-9]+|\$|\+[0-9]+))?|/[^/\\\n]*/)?[pdq=]$|^s/[^/\n\\]*/[^/\n\\]*/[gpiI0-9]*$`)

// denySed allows scripts that neither write nor run.
func denySed(args []Word) string {
	script := false
	for i := 0; i < len(args); i++ {
		switch a := args[i].Text; {
		case a == "-n" || a == "-E" || a == "-r" || a == "-s" || a == "-nE" || a == "-En" || a == "-nr":
		case a == "-e" && i+1 < len(args):
			i++
			script = true
			if args[i].Pattern != "" || !plainSed.MatchString(args[i].Text) {
				return "may write or run something with this script"
			}
		case strings.HasPrefix(a, "-"):
			return "with " + a + " may write or run something"
		case !script:
			script = true
			if args[i].Pattern != "" || !plainSed.MatchString(a) {
				return "may write or run something with this script"
			}
		}
	}
	return ""
}

// Options of ps that don't show the processes' environments. A word of letters is a cluster of options with or without
// its dash, so that e may mean either.
var plainPs = lazy(`^(-e[fFlLjo]*|-[AafFljLo]+|[auxfjlwo]+|-?[0-9][0-9,]*|-[pCuUt]|--forest|--no-headers|--sort=[a-z%,+-]+)$`)

// denyPs refuses environments.
func denyPs(args []Word) string {
	value := false // of the option before
	for _, a := range args {
		if a.Pattern != "" || !plainPs.MatchString(a.Text) && !value || strings.Contains(a.Text, "env") {
			return "with " + a.Text + " may print the environment of processes"
		}
		value = !value && (strings.HasSuffix(a.Text, "o") || len(a.Text) == 2 && a.Text[0] == '-' && strings.Contains("pCuUt", a.Text[1:]))
	}
	return ""
}

// denyTest allows the tests that evaluate nothing.
func denyTest(args []Word) string {
	for _, a := range args {
		switch a.Text {
		case "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z", "=", "==", "!=", "!", "-a", "]":
		default:
			if strings.HasPrefix(a.Text, "-") || strings.ContainsAny(a.Text, "[]$`") {
				return "with " + a.Text + " may evaluate something"
			}
		}
	}
	return ""
}

// Open lists the programs and subcommands whose further words a rule may leave open.
func Open() []string {
	var out []string
	var walk func(name string, f form)
	walk = func(name string, f form) {
		if f.opens {
			out = append(out, name)
		}
		for sub, g := range f.subs {
			walk(name+" "+sub, g)
		}
	}
	for name, f := range forms {
		walk(name, f)
	}
	slices.Sort(out)
	return out
}

// Covered reports whether a rule of the first depth words and a * covers a command of these words: the program's list
// has each further word.
func Covered(words []Word, dir string) (depth int, ok bool) {
	f, depth := known(words)
	return depth, f.opens && f.uncovered(words[depth:], dir) == ""
}

// Uncovered says why a rule with a * covers no command of these words; "" if one may.
func Uncovered(words []Word, dir string) string {
	f, depth := known(words)
	if !f.opens {
		return "no list says which words of " + words[0].Text + " are harmless: a rule covers only its exact words"
	}
	return f.uncovered(words[depth:], dir)
}

// Openable says why no * may follow these words.
func Openable(words []Word) error {
	f, depth := known(words)
	name := strings.Join(Texts(words), " ")
	switch {
	case f.opens:
		if why := f.read(words[depth:], "").why; why != "" {
			return fmt.Errorf("%s; with it write the whole command, without the *", why)
		}
		return nil
	case len(f.subs) > 0 && depth == len(words):
		return fmt.Errorf("%s does a different thing by the word that follows: name it too, as in bash(%s %s *)", name, name, f.example())
	}
	return fmt.Errorf("no list says which options of %s are harmless, so that a * would cover what nobody read: write the whole command, without the *", name)
}
