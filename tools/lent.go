package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"fantail/tools/content"
	"fantail/tools/offer"
	"fantail/tools/permit"
	"fantail/tools/secret"
)

// LentName begins the names of tools that other programs serve.
const LentName = "mcp__"

// Lent is a tool that another program serves.
type Lent struct {
	Spec
	From  string // the program, as the user calls it
	Parse func(env *Env, callID string, args json.RawMessage) (*Call, error)
}

// Lender has the tools that other programs serve.
type Lender interface {
	// Lend returns those that there are now, in an order that does not change by itself. It may wait for programs that
	// were never asked.
	Lend(ctx context.Context) []Lent
	// Names are those of the tools that are known now. It starts nothing, and does not wait.
	Names() []string
	// Borrow finds one by its name.
	Borrow(name string) (Lent, bool)
}

// lent is what others lend to one agent.
type lent struct {
	lender Lender
	shelf  offer.Shelf
}

// Lend returns the set with what others lend. An agent gets one of its own ([Set.Own]).
func (s *Set) Lend(l Lender) *Set { return &Set{list: s.list, lent: &lent{lender: l}} }

// Own returns the set for one agent, to which is lent what is lent to all: those of its tools that a list names, and not
// those that another does. Names are those of tools, or mcp__PROGRAM for all of a program. names nil: all.
func (s *Set) Own(all *Set, names, but []string) *Set {
	if all.lent == nil {
		return s
	}
	return &Set{list: s.list, lent: &lent{lender: chosen{all.lent.lender, names, but}}}
}

// chosen lends what is left of another's.
type chosen struct {
	Lender
	names, but []string
}

func (c chosen) has(name string) bool {
	in := func(all []string) bool {
		return slices.ContainsFunc(all, func(n string) bool {
			return strings.HasPrefix(n, LentName) && (n == name || strings.HasPrefix(name, strings.TrimSuffix(n, "*")) && strings.HasSuffix(n, "*") || strings.HasPrefix(name, n+"__"))
		})
	}
	return (c.names == nil || in(c.names)) && !in(c.but)
}

// Lend lends what is left.
func (c chosen) Lend(ctx context.Context) []Lent {
	if c.names != nil && !slices.ContainsFunc(c.names, func(n string) bool { return strings.HasPrefix(n, LentName) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Lender.Lend(ctx)), func(t Lent) bool { return !c.has(t.Name) })
}

// Borrow finds what is left.
func (c chosen) Borrow(name string) (Lent, bool) {
	if !c.has(name) {
		return Lent{}, false
	}
	return c.Lender.Borrow(name)
}

// Turn has the set offer what is lent now, until the next turn. window is the model's, in tokens; 0: not known.
func (s *Set) Turn(ctx context.Context, turn int64, window int) {
	if s.lent == nil {
		return
	}
	s.lent.shelf.Turn(turn, window, func() (all []offer.Tool) {
		for _, t := range s.lent.lender.Lend(ctx) {
			all = append(all, offer.Tool{Name: t.Name, From: t.From, About: t.Description, Schema: t.Schema, Reads: t.ReadOnly})
		}
		return all
	})
}

// offers are the lent tools that are offered now.
func (l *lent) offers() (specs []Spec) {
	if l == nil {
		return nil
	}
	for _, t := range l.shelf.Offers() {
		specs = append(specs, Spec{Name: t.Name, Description: t.About, Schema: t.Schema, ReadOnly: t.Reads})
	}
	return specs
}

// Names are the names of all tools, also of those that others lend.
func (s *Set) Names() (all []string) {
	for _, t := range s.list {
		all = append(all, t.name)
	}
	if s.lent != nil {
		all = append(all, s.lent.lender.Names()...)
	}
	return all
}

// borrow finds a lent tool by its name, offered or not.
func (s *Set) borrow(name string) (Lent, bool) {
	if s.lent == nil || !strings.HasPrefix(name, LentName) {
		return Lent{}, false
	}
	return s.lent.lender.Borrow(name)
}

// parseLent parses a call of a tool that is not the program's own.
func (s *Set) parseLent(env *Env, callID, name string, args json.RawMessage) (*Call, error) {
	if name == offer.Name && s.lent != nil {
		return s.parseFind(s.Title(name, args), args)
	}
	t, is := s.borrow(name)
	if !is {
		return nil, s.none(name)
	}
	var a map[string]json.RawMessage
	if len(args) > 0 && json.Unmarshal(args, &a) != nil {
		return nil, fmt.Errorf("%s: the arguments must be an object", name)
	}
	if key := env.Keys.Marked(string(args)); key != "" {
		return nil, fmt.Errorf("%s: %s stands for a key that is kept from you: it can't be handed on", name, secret.Mark(key))
	}
	c, err := t.Parse(env, callID, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.Action.Title = s.Title(name, args)
	return c, nil
}

// parseFind parses a call of the tool that finds lent tools.
func (s *Set) parseFind(title string, args json.RawMessage) (*Call, error) {
	var a struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(args, &a); err != nil || strings.TrimSpace(a.Query) == "" {
		return nil, fmt.Errorf("%s: say in query what the tool is to do", offer.Name)
	}
	return &Call{
		Action: permit.Action{Tool: offer.Name, Kind: permit.Internal, Title: title}, Beside: "read",
		Run: func(context.Context) Result { return Result{Text: s.lent.shelf.Find(a.Query)} },
	}, nil
}

// lentTitle is the one line that a call of a lent tool shows as.
func lentTitle(name string, args json.RawMessage) string {
	var a map[string]any
	text := ""
	if json.Unmarshal(args, &a) == nil && len(a) > 0 {
		text = " " + string(args)
	}
	return Line(name + text)
}

// Long returns a result with that text. What is too long is cut in the middle, and stands whole in a file of the
// agent's.
func (e *Env) Long(callID, text string) Result {
	if len(text) <= bashHead+bashTail {
		return Result{Text: text}
	}
	file, err := e.output(callID)
	if err == nil && file != "" {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	cut := content.Middle(text, bashHead+bashTail)
	if err != nil || file == "" {
		return Result{Text: fmt.Sprintf("%s\n[the rest could not be kept: %v]", cut, cmp.Or[any](err, "no place"))}
	}
	return Result{Text: fmt.Sprintf("%s\n[the whole result, %d bytes, is in %s]", cut, len(text), file), File: file}
}
