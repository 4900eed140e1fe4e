package skills

import (
	"context"
	"fmt"
	"strings"

	"fantail/tools"
)

// named returns what a text names that begins with /NAME, and the arguments; nil: nothing that is known.
func (l *List) named(text string) (i *Item, name, args string) {
	text, is := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !is {
		return nil, "", ""
	}
	name, args = text, ""
	if n := strings.IndexAny(text, " \t\n"); n >= 0 {
		name, args = text[:n], strings.TrimSpace(text[n:])
	}
	return l.slash[name], name, args
}

// Names reports whether a text begins with the name of what people can type. s may be nil.
func (s *Shelf) Names(text string) bool {
	if s == nil {
		return false
	}
	i, _, _ := s.Now().named(text)
	return i != nil
}

// Typist is who typed a text.
type Typist bool

const (
	Machine Typist = false
	Human   Typist = true
)

// Expand returns what a text means that begins with /NAME: what the file says with the arguments in it. A text that begins
// with no such name means itself, and so does one that no human typed if only people use what it names. What can't be used
// is said behind the text. An agent carries it out, so it makes none of its own.
func (s *Shelf) Expand(ctx context.Context, text string, by Typist) string {
	if s == nil {
		return text
	}
	i, name, args := s.Now().named(text)
	if i == nil || i.Manual && by != Human {
		return text
	}
	use, err := s.Type(ctx, name, args, by)
	switch {
	case err != nil:
		return fmt.Sprintf("%s\n\n(What /%s stands for can't be used: %s.)", text, name, tools.Line(err.Error()))
	case use.Task != nil:
		return use.Task.Prompt
	}
	return use.Text
}

// Model returns the model that a task asks for with the name that it begins with, as [tools.VendorModel] if it is an agent
// of a file; "": none.
func (s *Shelf) Model(text string) string {
	if s == nil {
		return ""
	}
	i, _, _ := s.Now().named(text)
	switch {
	case i == nil || !i.Fork:
		return ""
	case i.Agent != "" && s.Now().Find(Agent, i.Agent) != nil:
		return tools.VendorModel(i.Agent)
	}
	return i.Model
}
