package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fantail/tools/secret"
)

// Set is the tools of a program.
type Set struct {
	list []tool
	lent *lent // tools of other programs; nil: none
}

// New returns all tools.
func New() *Set {
	return &Set{list: []tool{
		readFile(), writeFile(), editFile(), listFiles(), globFiles(), grepFiles(), bash(),
		push(), run(), queue(), delegate(), send(), receive(), check(), listMessages(), readMessage(), replyToMessage(), memory(), schedule(), askUser(), skill(),
	}}
}

// Without returns the set without the named tools: no model is offered them, and
// a call of one is refused like that of a tool that never was.
func (s *Set) Without(names []string) (*Set, error) {
	var rest []tool
	known := make(map[string]bool, len(s.list))
	for _, t := range s.list {
		known[t.name] = true
		if !slices.Contains(names, t.name) {
			rest = append(rest, t)
		}
	}
	for _, n := range names {
		if !known[n] {
			return nil, s.none(n)
		}
	}
	return &Set{list: rest, lent: s.lent}, nil
}

// Only returns the named tools of the set, and of those that are in no set by default. It has no lent tools.
func (s *Set) Only(names ...string) *Set {
	var some []tool
	for _, t := range append(slices.Clone(s.list), runCheck()) {
		if slices.Contains(names, t.name) {
			some = append(some, t)
		}
	}
	return &Set{list: some}
}

// But returns the set without the named tool.
func (s *Set) But(name string) *Set {
	return &Set{list: slices.DeleteFunc(slices.Clone(s.list), func(t tool) bool { return t.name == name }), lent: s.lent}
}

// Given returns the set with a tool that is offered only while holds returns true.
func (s *Set) Given(name string, holds func() bool) *Set {
	list := slices.Clone(s.list)
	for i := range list {
		if list[i].name == name {
			list[i].offered = holds
		}
	}
	return &Set{list: list, lent: s.lent}
}

// Has reports whether the set has a tool, offered now or not.
func (s *Set) Has(name string) bool {
	return slices.ContainsFunc(s.list, func(t tool) bool { return t.name == name })
}

// none is the error for a name without a tool.
func (s *Set) none(name string) error {
	names := make([]string, 0, len(s.list))
	for _, t := range s.list {
		if t.offered == nil || t.offered() {
			names = append(names, t.name)
		}
	}
	return fmt.Errorf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}

// Specs lists the tools in a fixed order.
func (s *Set) Specs() []Spec {
	out := make([]Spec, 0, len(s.list))
	for _, t := range s.list {
		if t.offered != nil && !t.offered() {
			continue
		}
		out = append(out, Spec{Name: t.name, Description: strings.TrimSpace(t.text), Schema: json.RawMessage(t.schema), ReadOnly: t.readOnly})
	}
	return append(out, s.lent.offers()...)
}

// Parse turns a call into what it would do. An unknown tool or bad arguments are an error whose text tells the model
// what to do instead. Parse may read files of the workspace, to show an edit as a diff; it changes nothing.
func (s *Set) Parse(env *Runtime, callID, name string, args json.RawMessage) (*Call, error) {
	t, args := s.meant(name, args)
	if t == nil {
		return s.parseLent(env, callID, name, args)
	}
	if key := env.Keys.Marked(string(args)); key != "" && t.writes {
		return nil, fmt.Errorf("%s: %s stands for a key that is kept from you; written to a file it would take the key's place: leave that line alone, and change others with edit_file",
			name, secret.Mark(key))
	}
	c, err := t.parse(call{env: env, id: callID, tool: t, args: args, title: s.Title(t.name, args)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if t.readOnly {
		c.Beside = "read"
	}
	return c, nil
}

// Title is the one line a call shows as, even if its arguments are bad.
func (s *Set) Title(name string, args json.RawMessage) string {
	t, args := s.meant(name, args)
	if t == nil {
		return lentTitle(name, args)
	}
	var a loose
	if json.Unmarshal(t.retype(args), &a) != nil {
		return Line(t.name)
	}
	return Line(t.title(a))
}
