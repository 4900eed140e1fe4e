package skills

import (
	"context"
	"fmt"
	"strings"

	"fantail/tools"
)

// named returns the item that a text beginning with /NAME names, and the arguments; nil: no known one.
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

// Names reports whether a text begins with a /NAME that people can type. s may be nil.
func (s *Catalog) Names(text string) bool {
	if s == nil {
		return false
	}
	i, _, _ := s.Now().named(text)
	return i != nil
}

// Typist says whether a human or a machine typed a text.
type Typist bool

const (
	Machine Typist = false
	Human   Typist = true
)

// Expand returns the meaning of a text that begins with /NAME: the file's text with the arguments in it. A text
// without such a name is returned as it is, and so is one that no human typed if only people may use the item. An
// error is appended to the text. An agent carries the result out itself, without an agent of the item's own.
func (s *Catalog) Expand(ctx context.Context, text string, by Typist) string {
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

// Model returns the model for a task whose prompt begins with /NAME, as [tools.VendorModel] if it is an agent of a
// file; "": none.
func (s *Catalog) Model(text string) string {
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
