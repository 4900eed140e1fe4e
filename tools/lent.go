package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"fantail/tools/files"
	"fantail/tools/permission"
	"fantail/tools/secret"
)

// LentName begins the names of tools that other programs serve.
const LentName = "mcp__"

// Lent is a tool that another program serves.
type Lent struct {
	Spec
	From  string // the program, as the user calls it
	Own   string // the program's own name for the tool
	Parse func(env *Runtime, callID string, args json.RawMessage) (*Call, error)
}

// Lender lends the tools that other programs serve.
type Lender interface {
	// Lend returns the current tools, in a stable order. It may wait for programs that were not asked before.
	Lend(ctx context.Context) []Lent
	// Names are the names of the tools that are known now, in each form that rules may use. It starts nothing, and does
	// not wait.
	Names() []string
	// Borrow finds one by its name.
	Borrow(name string) (Lent, bool)
}

// lent are the tools that other programs lend to one agent.
type lent struct {
	lender Lender
	shelf  Offer
}

// Lend returns the set with the tools of l. An agent gets a set of its own ([Set.Own]).
func (s *Set) Lend(l Lender) *Set { return &Set{list: s.list, lent: &lent{lender: l}} }

// Own returns the set for one agent with the tools that are lent in all, if names lists them and but does not. Both
// hold names of tools, or mcp__PROGRAM for all of a program. names nil: all.
func (s *Set) Own(all *Set, names, but []string) *Set {
	if all.lent == nil {
		return s
	}
	return &Set{list: s.list, lent: &lent{lender: chosen{all.lent.lender, names == nil, lentRules(names), lentRules(but)}}}
}

// chosen lends a selection of another lender's tools.
type chosen struct {
	Lender
	all        bool // whatever names are
	names, but []permission.ToolRule
}

// lentRules are the names of lent tools, as rules.
func lentRules(names []string) (all []permission.ToolRule) {
	for _, n := range names {
		if r, err := permission.ParseToolRule(n, permission.Places{}); err == nil && strings.HasPrefix(n, LentName) {
			all = append(all, r)
		}
	}
	return all
}

func (c chosen) has(t Lent) bool {
	in := func(all []permission.ToolRule) bool {
		return slices.ContainsFunc(all, func(r permission.ToolRule) bool {
			return r.Match(permission.ToolCall{Tool: t.Name, Server: t.From, Calls: t.Own}) == permission.Matches
		})
	}
	return (c.all || in(c.names)) && !in(c.but)
}

// Lend lends the selection.
func (c chosen) Lend(ctx context.Context) []Lent {
	if !c.all && len(c.names) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Lender.Lend(ctx)), func(t Lent) bool { return !c.has(t) })
}

// Borrow finds a tool of the selection.
func (c chosen) Borrow(name string) (Lent, bool) {
	t, is := c.Lender.Borrow(name)
	if !is || !c.has(t) {
		return Lent{}, false
	}
	return t, true
}

// Turn makes the set offer the tools that are lent now, until the next turn. window is the model's, in tokens; 0:
// unknown.
func (s *Set) Turn(ctx context.Context, turn int64, window int) {
	if s.lent == nil {
		return
	}
	s.lent.shelf.Turn(turn, window, func() (all []OfferedTool) {
		for _, t := range s.lent.lender.Lend(ctx) {
			all = append(all, OfferedTool{Name: t.Name, From: t.From, About: t.Description, Schema: t.Schema, Reads: t.ReadOnly})
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

// Names are the names of all tools, including lent ones.
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

// parseLent parses a call of a tool that is not in the set itself.
func (s *Set) parseLent(env *Runtime, callID, name string, args json.RawMessage) (*Call, error) {
	if name == FindTool && s.lent != nil {
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
		return nil, fmt.Errorf("%s: say in query what the tool is to do", FindTool)
	}
	return &Call{
		Action: permission.Action{Tool: FindTool, Kind: permission.Internal, Title: title}, Beside: "read",
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

// Long returns a result with that text. A text that is too long is cut in the middle, and written whole into a file of
// the agent's.
func (e *Runtime) Long(callID, text string) Result {
	if len(text) <= bashHead+bashTail {
		return Result{Text: text}
	}
	file, err := e.output(callID)
	if err == nil && file != "" {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	cut := files.Middle(text, bashHead+bashTail)
	if err != nil || file == "" {
		return Result{Text: fmt.Sprintf("%s\n[the rest could not be kept: %v]", cut, cmp.Or[any](err, "no place"))}
	}
	return Result{Text: fmt.Sprintf("%s\n[the whole result, %d bytes, is in %s]", cut, len(text), file), File: file}
}
