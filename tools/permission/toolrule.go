package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is the largest size of a rule in bytes.
const longest = 2000

// List is the list that a rule is on.
type List string

// Deny takes precedence over ask, and ask over allow.
const (
	DenyList  List = "deny"
	AskList   List = "ask"
	AllowList List = "allow"
)

// Match says whether a rule matches a call.
type Match int

// In ascending order: a possible match counts more than none.
const (
	NoMatch  Match = iota
	MayMatch       // unknown before the call runs
	Matches
)

// ToolRule is a parsed rule.
type ToolRule struct {
	Text string   // as it was written
	Tool string   // the tool's name, as it was written; a * matches any letters
	Body string   // the text in the parentheses; "": any call of the tool
	What RuleKind // what the parentheses are about

	at     Places
	name   glob
	words  []glob  // of a command
	lines  []glob  // the whole command line, in its spellings
	places []place // of a path
	about  glob    // of an agent's name, or a skill's
}

// RuleKind says what the parentheses of a rule are about.
type RuleKind string

// Kinds of rules.
const (
	AnyTool     RuleKind = "any" // there are none
	CommandRule RuleKind = "command"
	Path        RuleKind = "path"
	Named       RuleKind = "named" // an agent that gets work, a skill that is used
	Other       RuleKind = "other" // a domain, a server's argument
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

// nameTools and pathTools are the tools with names and paths in parentheses.
var nameTools = []string{"Task", "Agent", "Skill", "push", "delegate", "skill"}

var pathTools = []string{"Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS"}

// ParseToolRule reads a rule. at.Base is the directory of /x, at.Home that of ~; everything else is relative to
// at.Root, the workspace. The error says what is wrong with the text.
func ParseToolRule(text string, at Places) (ToolRule, error) {
	r := ToolRule{Text: strings.TrimSpace(text), What: AnyTool, at: at}
	switch {
	case r.Text == "":
		return r, errors.New("the rule is empty")
	case len(r.Text) > longest:
		return r, fmt.Errorf("the rule has %d bytes, at most %d are read", len(r.Text), longest)
	}
	for _, c := range r.Text {
		if c == utf8.RuneError || !unicode.IsPrint(c) && (!strings.HasPrefix(r.Text, served) || unicode.IsControl(c)) {
			return r, fmt.Errorf("the rule holds the character %U", c)
		}
	}
	name, body, open := strings.Cut(r.Text, "(")
	if strings.HasPrefix(r.Text, served) && !strings.HasSuffix(r.Text, ")") {
		name, open = r.Text, false
	}
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
		return !inName(r.Tool, c)
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
		r.What = CommandRule
		r.command()
	case slices.Contains(pathTools, r.Tool):
		r.What = Path
		r.places = at.places(r.Body)
	case slices.Contains(nameTools, r.Tool):
		r.What = Named
		of, _ := strings.CutSuffix(r.Body, ":*")
		of, _, _ = strings.Cut(of, " ") // the arguments of a skill don't count
		r.about = wild(of)
	default:
		r.What = Other
	}
	return r, nil
}

// ToolNames are the names that rules may use for a tool.
func ToolNames(tool string) []string { return append([]string{tool}, aliases[tool]...) }

// KnownTools are the names that rules may use for this program's tools.
func KnownTools() (all []string) {
	for t := range aliases {
		all = append(all, ToolNames(t)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Never says why the rule matches no tool of those names; "" if it may match one.
func (r ToolRule) Never(tools []string) string {
	for _, t := range tools {
		for _, n := range ToolNames(t) {
			whole := ToolRule{Tool: r.Tool, name: r.name} // without the parentheses
			switch lent := strings.HasPrefix(r.Tool, served); {
			case lent && r.calls(n):
				return ""
			case !whole.calls(n):
				continue
			case r.What == Other:
				return "what stands in the brackets is not told apart here: without them it speaks of every call of " + t
			}
			return ""
		}
	}
	switch {
	case strings.HasPrefix(r.Tool, served):
		return "no MCP server of that name serves tools here"
	case r.Tool == "WebFetch" || r.Tool == "WebSearch":
		return "there is no such tool here: commands reach the network only as the sandbox lets them (/sandbox)"
	case r.Tool == "sandbox":
		return "what is added to sandboxes is only ever allowed, and taken back by /sandbox revoke"
	}
	return "there is no tool " + r.Tool + " here"
}

// ToolCall is a call to match against rules.
type ToolCall struct {
	Tool   string   // as this program names it
	Server string   // the MCP server of the tool, by its configured name; "": none
	Calls  string   // that tool, as the server calls it
	Paths  []string // that a tool reads or writes, absolute and without links
	Line   *Line    // of a command; nil: it is none
	About  string   // the agent in a file that gets work, or the skill that is used; "": none
}

// Match says whether the rule matches the call.
func (r *ToolRule) Match(c ToolCall) Match {
	named := slices.ContainsFunc(append(ToolNames(c.Tool), ToolSpellings(c.Server, c.Calls)...), r.calls)
	switch r.What {
	case Other:
		if named && strings.HasPrefix(r.Tool, served) {
			return Matches
		}
	case AnyTool:
		if named {
			return Matches
		}
	case CommandRule:
		if named && c.Line != nil {
			return r.runs(c.Line)
		}
	case Named:
		last := c.About[strings.LastIndexByte(c.About, ':')+1:] // of a skill of a directory below: packages:api:deploy
		if named && c.About != "" && (r.about.matches(c.About) || r.about.matches(last)) {
			return Matches
		}
	case Path:
		switch {
		case c.Line != nil && r.Tool == "Read":
			return r.names(c.Line)
		case c.Line != nil && r.Writes():
			return r.changes(c.Line)
		case !named:
			return NoMatch
		}
		for _, p := range c.Paths {
			if r.At(p) {
				return Matches
			}
		}
	}
	return NoMatch
}

// Writes reports whether the rule is about changing files.
func (r *ToolRule) Writes() bool {
	return r.What == Path && (r.Tool == "Edit" || r.Tool == "Write" || r.Tool == "MultiEdit" || r.Tool == "NotebookEdit")
}

// searching are the tools whose rules exclude a path from searches.
var searching = []string{"Read", "Glob", "Grep", "LS"}

// Bars reports whether the rule is about reading a path: searches skip it.
func (r *ToolRule) Bars(p string) bool { return slices.Contains(searching, r.Tool) && r.At(p) }
