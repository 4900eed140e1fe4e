// Package servers reads where servers of the Model Context Protocol are configured.
//
// Does: read them out of the user's configuration, of what Claude Code keeps for its user and of the workspace's .mcp.json,
// with their places; put variables of the environment in; say which of several with one name is used, and what is wrong
// with the others; let one of the workspace start only while the user agrees to exactly that.
//
// Does not: start or reach a server, ask anybody, keep anything else of Claude Code's file, hand a key of a model's provider
// to what a workspace brings.
//
// Imports: agents/trust, store/config, tools/mcp, tools/proc, tools/secret.
package servers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fantail/agents/trust"
	"fantail/tools/mcp"
)

// Source is where servers are configured.
type Source struct {
	Name string // as people know it: "config.toml", "~/.claude.json", ".mcp.json"
	Own  bool   // the user's, which need no agreement; else the workspace's
}

// The sources, in the order in which they win.
var (
	configuration = Source{Name: "config.toml", Own: true}
	claude        = Source{Name: "~/.claude.json", Own: true}
	project       = Source{Name: ".mcp.json"}
)

// Entry is one server as it is configured.
type Entry struct {
	mcp.Server // with the variables put in
	Source     Source
	Written    mcp.Server // as it stands there
	Reads      []string   // the variables that it names, in the order of the alphabet
	Out        string     // why it is not used; "": it is

	shown mcp.Server // with those put in that hold no secret
	seen  []string   // which those are, with what they hold, of what decides what runs
	gets  []string   // the others
}

// Used reports whether the server is one that agents may use, if need be after the user agreed.
func (e Entry) Used() bool { return e.Out == "" }

// Fault is something in a source that is not used.
type Fault struct {
	Place string // file:line:column
	Text  string
}

func (f Fault) String() string { return f.Place + ": " + f.Text }

// Listing is what all sources hold.
type Listing struct {
	Entries []Entry // by source, in their order there
	Faults  []Fault // what is wrong
	Ignored []Fault // what is not heeded
}

// Used are the servers that are used.
func (l Listing) Used() (all []mcp.Server) {
	for _, e := range l.Entries {
		if e.Used() {
			all = append(all, e.Server)
		}
	}
	return all
}

// Find finds the entry of that name that is used, or else the first.
func (l Listing) Find(name string) (Entry, bool) {
	n := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Name == name && e.Used() })
	if n < 0 {
		n = slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Name == name })
	}
	if n < 0 {
		return Entry{}, false
	}
	return l.Entries[n], true
}

// settle says of servers of one name which is used: the first. One that can't be used hides the others all the same: the
// workspace's never takes the place of the user's.
func (l *Listing) settle() {
	first := map[string]string{}
	for n := range l.Entries {
		e := &l.Entries[n]
		switch at, known := first[e.Name]; {
		case !known:
			first[e.Name] = e.Place
		case e.Out == "":
			e.Out = "shadowed: " + at + " has a server of the same name"
		}
	}
}

// Kind is the kind of the parts that servers are to be trusted in.
const Kind trust.Kind = "server"

// Parts are the servers of the workspace that would be used.
func (l Listing) Parts() (parts []trust.Part) {
	for _, e := range l.Entries {
		if !e.Source.Own && e.Used() {
			parts = append(parts, e.part())
		}
	}
	return parts
}

// partName is the name of the part that a server of the workspace is.
func (e Entry) partName() string { return e.Source.Name + " " + e.Name }

// part is a server of the workspace as what is to be trusted: all of it counts but what variables hold that may be secret.
func (e Entry) part() trust.Part {
	p := trust.Part{Kind: Kind, Name: e.partName()}
	if e.Written.Command != "" {
		p.Text = "starts: " + e.Line() + "\n"
		words := make([]string, 0, len(e.shown.Args)+len(e.Written.Env)+1)
		for _, k := range slices.Sorted(maps.Keys(e.Written.Env)) {
			words = append(words, k+"="+quoted(e.Written.Env[k]))
		}
		for _, w := range append([]string{e.shown.Command}, e.shown.Args...) {
			words = append(words, quoted(w))
		}
		p.Commands = []string{strings.Join(words, " ")}
	} else {
		p.Text = "connects to: " + word(e.Written.URL) + "\n"
	}
	for _, k := range slices.Sorted(maps.Keys(e.Written.Env)) {
		p.Text += "  with " + k + "=" + word(e.Written.Env[k]) + "\n"
	}
	for _, k := range slices.Sorted(maps.Keys(e.Written.Headers)) {
		p.Text += "  with the header " + k + ": " + plain(e.Written.Headers[k]) + "\n"
	}
	if e.Written.Client != "" {
		p.Text += "  as the OAuth client " + word(e.Written.Client) + "\n"
	}
	for _, s := range e.seen {
		p.Text += "  where now " + s + "\n"
	}
	if len(e.gets) > 0 {
		p.Text += "  it is handed what these variables of yours hold: " + strings.Join(e.gets, ", ") + "\n"
	}
	return p
}

// Line is how the server is reached, as it is written: a command line, or an address.
func (e Entry) Line() string {
	if e.Written.Command == "" {
		return plain(e.Written.URL)
	}
	words := []string{word(e.Written.Command)}
	for _, a := range e.Written.Args {
		words = append(words, word(a))
	}
	return strings.Join(words, " ")
}

// quoted is a text as one word of a shell's command line.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// word is a text as people read one word of a command line.
func word(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@,+%~${}", r)
	}
	if s != "" && !strings.ContainsFunc(s, odd) {
		return s
	}
	if p := plain(s); p != s || s == "" {
		return p
	}
	return quoted(s)
}

// plain is a text on one line, as it is if it can be shown so.
func plain(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.QuoteToASCII(s)
	}
	return s
}

// put is where a server stands: a line, and a column if that is known.
func put(source string, line, column int) string {
	switch {
	case line == 0:
		return source
	case column == 0:
		return fmt.Sprintf("%s:%d", source, line)
	}
	return fmt.Sprintf("%s:%d:%d", source, line, column)
}
