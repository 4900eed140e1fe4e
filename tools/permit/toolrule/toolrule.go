// Package toolrule reads rules as people write them for several tools, such as Bash(git push *) and Read(./secret/**),
// and says whether a call is one of those that a rule speaks of.
//
// Does: parse a rule ([Parse]), hold it against a call ([Rule.Match]) as widely as is safe for what must ask or must
// not run, and say of a rule why it can never match.
//
// Does not: allow anything, look at files, know which file a rule stands in.
//
// Imports: tools/permit/bash, tools/permit/programs.
package toolrule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// longest is how many bytes a rule may have.
const longest = 2000

// List is where a rule stands.
type List string

// Deny wins over ask, and ask over allow.
const (
	Deny  List = "deny"
	Ask   List = "ask"
	Allow List = "allow"
)

// Match says whether a call is one that a rule speaks of.
type Match int

// In their order: what may be is worse than what is not.
const (
	No    Match = iota
	Maybe       // it can't be told before the call runs
	Yes
)

// Rule is a rule taken apart.
type Rule struct {
	Text string // as it was written
	Tool string // the tool's name, as it was written; a * stands for any letters
	Body string // what stands in the brackets; "": any call of the tool
	What Kind   // what the brackets speak of

	at     Places
	name   glob
	words  []glob  // of a command
	lines  []glob  // the whole command line, in its spellings
	places []place // of a path
	about  glob    // of an agent's name, or a skill's
}

// Kind is what the brackets of a rule speak of.
type Kind string

// What is in brackets.
const (
	Any     Kind = "any" // nothing is in them
	Command Kind = "command"
	Path    Kind = "path"
	Named   Kind = "named" // an agent that gets work, a skill that is used
	Other   Kind = "other" // a domain, a server's argument
)

// aliases are the names under which others know the tools of this program.
var aliases = map[string][]string{
	"bash":       {"Bash"},
	"read_file":  {"Read", "NotebookRead"},
	"list_files": {"LS", "Read"},
	"glob":       {"Glob", "Read"},
	"grep":       {"Grep", "Read"},
	"write_file": {"Write", "Edit", "MultiEdit", "NotebookEdit"},
	"edit_file":  {"Edit", "Write", "MultiEdit", "NotebookEdit"},
	"push":       {"Task", "Agent"},
	"delegate":   {"Task", "Agent"},
	"skill":      {"Skill"},
	"ask_user":   {"AskUserQuestion"},
}

// ours are this program's own spellings in rules.
var ours = map[string]string{"bash": "Bash", "read": "Read", "write": "Write"}

// nameTools and pathTools are the tools in whose brackets names and paths stand.
var nameTools = []string{"Task", "Agent", "Skill", "push", "delegate", "skill"}

var pathTools = []string{"Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS"}

// Parse reads a rule. Base is the directory that /x counts from, home that of ~; root, the workspace, is that of all else.
// The error says what is wrong with the text.
func Parse(text string, at Places) (Rule, error) {
	r := Rule{Text: strings.TrimSpace(text), What: Any, at: at}
	switch {
	case r.Text == "":
		return r, errors.New("the rule is empty")
	case len(r.Text) > longest:
		return r, fmt.Errorf("the rule has %d bytes, at most %d are read", len(r.Text), longest)
	}
	for _, c := range r.Text {
		if !unicode.IsPrint(c) {
			return r, fmt.Errorf("the rule holds the character %U", c)
		}
	}
	name, body, open := strings.Cut(r.Text, "(")
	r.Tool = strings.TrimSpace(name)
	if open {
		if !strings.HasSuffix(body, ")") {
			return r, errors.New("the bracket is not closed; write it as Tool(pattern), such as Bash(git push *)")
		}
		r.Body = strings.TrimSpace(strings.TrimSuffix(body, ")"))
	}
	if of := ours[r.Tool]; of != "" {
		r.Tool = of
	}
	if r.Tool == "" || strings.ContainsFunc(r.Tool, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.*:", c)
	}) {
		return r, fmt.Errorf("%q is no tool's name; write it as Tool or Tool(pattern), such as Bash(git push *)", r.Tool)
	}
	r.name = wild(r.Tool)
	if r.Body == "" || r.Body == "*" || r.Body == "**" || r.Body == ":*" {
		r.Body = ""
		return r, nil
	}
	switch {
	case r.Tool == "Bash":
		r.What = Command
		r.command()
	case slices.Contains(pathTools, r.Tool):
		r.What = Path
		r.places = at.places(r.Body)
	case slices.Contains(nameTools, r.Tool):
		r.What = Named
		of, _ := strings.CutSuffix(r.Body, ":*")
		of, _, _ = strings.Cut(of, " ") // what a skill is given is not told apart
		r.about = wild(of)
	default:
		r.What = Other
	}
	return r, nil
}

// Names are those under which a rule may speak of a tool.
func Names(tool string) []string { return append([]string{tool}, aliases[tool]...) }

// Known are the names of this program's tools, of which rules may speak.
func Known() (all []string) {
	for t := range aliases {
		all = append(all, Names(t)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Never says why the rule matches nothing here, given the names of all tools; "" if it may.
func (r Rule) Never(tools []string) string {
	for _, t := range tools {
		for _, n := range Names(t) {
			if !r.name.matches(n) && !(strings.HasPrefix(n, "mcp__") && strings.HasPrefix(n, r.Tool+"__")) {
				continue
			}
			if r.What == Other {
				return "what stands in the brackets is not told apart here: without them it speaks of every call of " + t
			}
			return ""
		}
	}
	switch {
	case strings.HasPrefix(r.Tool, "mcp__"):
		return "no MCP server of that name serves tools here"
	case r.Tool == "WebFetch" || r.Tool == "WebSearch":
		return "there is no such tool here: commands reach the network only as the sandbox lets them (/sandbox)"
	case r.Tool == "sandbox":
		return "what is added to sandboxes is only ever allowed, and taken back by /sandbox revoke"
	}
	return "there is no tool " + r.Tool + " here"
}

// Call is what a rule is held against.
type Call struct {
	Tool  string   // as this program names it
	Paths []string // that a tool reads or writes, absolute and without links
	Line  *Line    // of a command; nil: it is none
	About string   // the agent in a file that gets work, or the skill that is used; "": none
}

// Match says whether the rule speaks of the call.
func (r *Rule) Match(c Call) Match {
	named := false
	for _, n := range Names(c.Tool) {
		named = named || r.name.matches(n)
	}
	named = named || strings.HasPrefix(r.Tool, "mcp__") && strings.HasPrefix(c.Tool, r.Tool+"__") // all of a server
	switch r.What {
	case Any:
		if named {
			return Yes
		}
	case Command:
		if named && c.Line != nil {
			return r.runs(c.Line)
		}
	case Named:
		if named && c.About != "" && r.about.matches(c.About) {
			return Yes
		}
	case Path:
		switch {
		case c.Line != nil && r.Tool == "Read":
			return r.names(c.Line)
		case c.Line != nil && r.Writes():
			return r.changes(c.Line)
		case !named:
			return No
		}
		for _, p := range c.Paths {
			if r.At(p) {
				return Yes
			}
		}
	}
	return No
}

// Writes reports whether the rule speaks of changing files.
func (r *Rule) Writes() bool {
	return r.What == Path && (r.Tool == "Edit" || r.Tool == "Write" || r.Tool == "MultiEdit" || r.Tool == "NotebookEdit")
}

// searching are the tools whose rules keep searches from a path.
var searching = []string{"Read", "Glob", "Grep", "LS"}

// Bars says whether the rule speaks of reading a path: searches pass over it.
func (r *Rule) Bars(p string) bool { return slices.Contains(searching, r.Tool) && r.At(p) }
