package mcpconfig

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fantail/agents/hooks"
	"fantail/tools/mcp"
)

// Source is where servers are configured.
type Source struct {
	Name string // as people know it: "config.toml", "~/.claude.json", ".mcp.json"
	Own  bool   // the user's, which need no agreement; otherwise the workspace's
}

// The sources, in the order in which they win.
var (
	configuration = Source{Name: "config.toml", Own: true}
	claude        = Source{Name: "~/.claude.json", Own: true}
	project       = Source{Name: ".mcp.json"}
)

// Entry is one server as it is configured.
type Entry struct {
	mcp.Server // with the variables expanded
	Source     Source
	Written    mcp.Server // with ${NAME} in place
	Reads      []string   // the variables that it names, sorted
	Out        string     // why it is not used; "": it is

	shown mcp.Server // with the variables expanded that hold no secret
	seen  []string   // of Reads, those that affect what runs, with their values
	gets  []string   // the others
}

// Used reports whether agents may use the server, if need be after the user agreed.
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
	Faults  []Fault // mistakes
	Ignored []Fault // settings without effect
}

// Used returns the servers that are used, in order.
func (l Listing) Used() (all []mcp.Server) {
	for _, e := range l.Entries {
		if e.Used() {
			all = append(all, e.Server)
		}
	}
	return all
}

// Find finds the entry of that name, or of that Clean name, that is used, or else the first.
func (l Listing) Find(name string) (Entry, bool) {
	for _, is := range []func(e Entry) bool{
		func(e Entry) bool { return e.Name == name && e.Used() }, func(e Entry) bool { return e.Name == name },
		func(e Entry) bool { return e.Word() == name && e.Used() }, func(e Entry) bool { return e.Word() == name },
	} {
		if n := slices.IndexFunc(l.Entries, is); n >= 0 {
			return l.Entries[n], true
		}
	}
	return Entry{}, false
}

// settle decides which of several servers of one name is used: the first. An unusable one hides the others all the
// same: the workspace's server never takes the place of the user's.
func (l *Listing) settle() {
	l.clean()
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

// clean chooses the word for each server's name in the names of its tools. Among names that differ only in characters
// that models are not sent, the user's come before the workspace's. Within a source, names that need no other word come
// first, then the order in the file decides.
func (l *Listing) clean() {
	words, taken := map[string]string{}, map[string]bool{}
	for n := 0; n < len(l.Entries); {
		end := n + 1
		for end < len(l.Entries) && l.Entries[end].Source == l.Entries[n].Source {
			end++
		}
		for _, plain := range []bool{true, false} {
			for _, e := range l.Entries[n:end] {
				word := mcp.WordFor(e.Name, func(word string) bool { return taken[word] })
				if words[e.Name] == "" && plain == (word == e.Name) {
					words[e.Name], taken[word] = word, true
				}
			}
		}
		n = end
	}
	for n := range l.Entries {
		if e := &l.Entries[n]; words[e.Name] != e.Name {
			e.Clean = words[e.Name]
		}
	}
}

// Kind is the kind of the parts that servers are to be trusted in.
const Kind hooks.TrustKind = "server"

// Parts returns the servers of the workspace that would be used.
func (l Listing) Parts() (parts []hooks.TrustPart) {
	for _, e := range l.Entries {
		if !e.Source.Own && e.Used() {
			parts = append(parts, e.part())
		}
	}
	return parts
}

// partName returns the name of the part for a server of the workspace.
func (e Entry) partName() string { return e.Source.Name + " " + e.Name }

// part returns a server of the workspace as a part that the user can trust. All of it counts except the values of
// variables that may be secret.
func (e Entry) part() hooks.TrustPart {
	p := hooks.TrustPart{Kind: Kind, Name: e.partName()}
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

// Line returns how the server is reached, as written: a command line, or an address.
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

// quoted returns a text as one word of a shell's command line.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// word returns a text as people read one word of a command line.
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

// plain returns a text on one line, quoted unless it can be shown as it is.
func plain(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.QuoteToASCII(s)
	}
	return s
}

// put returns the place of a server: a line, and a column if that is known.
func put(source string, line, column int) string {
	switch {
	case line == 0:
		return source
	case column == 0:
		return fmt.Sprintf("%s:%d", source, line)
	}
	return fmt.Sprintf("%s:%d:%d", source, line, column)
}
