package permit

import (
	"regexp"
	"strings"
)

// program is what is known of a command: which words a rule for it names, and
// which options make it do something else than its name says.
type program struct {
	known  bool
	sub    map[string]program // by sub-command
	rest   *program           // the sub-commands not named; nil: as if unknown
	never  string             // why no rule covers it
	star   bool               // a rule may leave the further words open
	long   []string           // long options no rule covers; an abbreviation counts, a * at the end means any ending
	short  string             // short options no rule covers, also in a cluster
	single bool               // long options have one dash (Go's flag package, find)
	reads  bool               // it only reads: .git is no danger to it
	deny   func(args []word) string
	depth  int // how many sub-commands stand before the arguments
}

// lookup finds what is known of the command.
func lookup(c simple) program {
	p, ok := programs[c.words[0].text]
	if !ok {
		return program{}
	}
	p.known = true
	for i := 1; p.sub != nil && i < len(c.words) && c.words[i].pattern == ""; i++ {
		name := c.words[i].text
		q, ok := p.sub[name]
		if !ok {
			if p.rest == nil || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "+") {
				return program{known: true, long: p.long, short: p.short, single: p.single, deny: p.deny, depth: p.depth, never: frontFlag(name, p)}
			}
			q = *p.rest
		}
		q.known, q.depth = true, p.depth+1
		q.long = append(append([]string{}, p.long...), q.long...)
		q.single = q.single || p.single
		if q.deny == nil {
			q.deny = p.deny
		}
		p = q
	}
	return p
}

// frontFlag refuses options before a sub-command: they say where and how it runs.
func frontFlag(name string, p program) string {
	switch name {
	case "--version", "--help", "-h", "-v", "-V", "--no-pager":
		return ""
	}
	if strings.HasPrefix(name, "-") || strings.HasPrefix(name, "+") {
		return "the option " + name + " before a sub-command changes what runs"
	}
	return ""
}

// offered says how many words a rule for the command names and whether more may follow.
func (p program) offered(words []word) (n int, star bool) {
	if p.known && p.star {
		return min(1+p.depth, len(words)), true
	}
	return len(words), false
}

// flagless reports whether no option of the program is a danger.
func (p program) flagless() bool {
	return p.known && p.star && len(p.long) == 0 && p.short == "" && p.deny == nil
}

// badFlag says why the word is an option that no rule covers.
func (p program) badFlag(w string) string {
	if len(w) < 2 || w[0] != '-' || w == "--" {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
	double := strings.HasPrefix(w, "--")
	for _, l := range p.long {
		start, open := strings.CutSuffix(l, "*")
		switch {
		case p.single && (name == l || open && strings.HasPrefix(name, start)),
			double && !p.single && name != "" && (strings.HasPrefix(start, name) || open && strings.HasPrefix(name, start)):
			return "with " + w + " may write, run or reach something else"
		}
	}
	if !double && !p.single && strings.ContainsAny(name, p.short) {
		return "with " + w + " may write, run or reach something else"
	}
	return ""
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
	if interpreter.MatchString(head) {
		if _, ok := programs[head]; !ok || len(words) < 3 || words[1].text != "-m" || programs[head].sub["-m"].sub[words[2].text].never != "" {
			return head + " runs any code"
		}
		if _, ok := programs[head].sub["-m"].sub[words[2].text]; !ok {
			return head + " runs any code"
		}
		return ""
	}
	if p := lookup(simple{words: words}); p.never != "" {
		return head + ": " + p.never
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
		value = !value && (strings.HasSuffix(a.text, "o") || len(a.text) == 2 && strings.Contains("pCuUt", a.text[1:]))
	}
	return ""
}

// environ finds what makes jq print the environment; a key .env does not.
var environ = regexp.MustCompile(`\$ENV|(^|[^.A-Za-z0-9_"])env($|[^A-Za-z0-9_])`)

func denyJq(args []word) string {
	for _, a := range args {
		if environ.MatchString(a.text) {
			return "with " + a.text + " may print the environment"
		}
	}
	return ""
}

// denyGlob refuses globs of ripgrep that bring files with secrets back into the search.
func denyGlob(args []word) string {
	for i, a := range args {
		glob, ok := "", false
		if long, double := strings.CutPrefix(a.text, "--"); double {
			var name string
			name, glob, ok = strings.Cut(long, "=")
			if name == "type-add" {
				return "with " + a.text + " may search hidden files and secrets"
			}
			if name != "glob" && name != "iglob" {
				continue
			}
		} else if strings.HasPrefix(a.text, "-") {
			var found bool
			if _, glob, found = strings.Cut(a.text, "g"); !found {
				continue
			}
			glob = strings.TrimPrefix(glob, "=")
			ok = glob != ""
		} else {
			continue
		}
		if !ok && i+1 < len(args) {
			glob = args[i+1].text
		}
		if !strings.HasPrefix(glob, "!") && sensitiveGlob(glob) != "" {
			return "with " + glob + " may search hidden files and secrets"
		}
	}
	return ""
}

// denyAssign refuses what sets a variable of make and the like.
func denyAssign(args []word) string {
	for _, a := range args {
		if strings.Contains(a.text, "=") && !strings.HasPrefix(a.text, "-") {
			return "with " + a.text + " may run anything"
		}
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

// denyOutput refuses a second operand, which is a file to write.
func denyOutput(args []word) string {
	n := 0
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			n++
		}
		if a.pattern != "" {
			return "with a pattern may write a file"
		}
	}
	if n > 1 {
		return "with two files writes the second"
	}
	return ""
}

// denyRemote refuses code that is fetched to be run, and transports that run a command.
func denyRemote(args []word) string {
	for _, a := range args {
		if strings.Contains(a.text, "::") || strings.Contains(a.text, "@") && strings.Contains(a.text, ".") && strings.Contains(a.text, "/") {
			return "with " + a.text + " may run code from elsewhere"
		}
	}
	return ""
}
