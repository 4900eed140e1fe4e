package skills

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fantail/agents/event"
	"fantail/tools"
	"fantail/tools/permission"
)

// Role is what a file says about an agent.
type Role struct {
	Tools  []string        // tools that it may call; nil: all
	Not    []string        // tools that it may not
	Mode   permission.Mode // in which its calls are judged; "": as others' are
	Model  string          // "": its dispatcher's
	Steps  int             // how many requests it may make; 0: any number
	Skills []string        // that it begins with

	Background bool // its dispatcher does not wait for it

	// Policy is the lines that say how its mail is handled; "": there are none. Line is the first of them.
	Policy string
	Line   int
}

// theirs maps the names of other programs' tools to ours.
var theirs = map[string][]string{
	"Bash": {"bash"}, "Read": {"read_file", "list_files"}, "NotebookRead": {"read_file"}, "LS": {"list_files"}, "Glob": {"glob", "list_files"}, "Grep": {"grep"},
	"Write": {"write_file"}, "Edit": {"edit_file"}, "MultiEdit": {"edit_file"},
	"Task": {"delegate", "push", "run", "queue", "receive", "check"}, "Agent": {"delegate", "push", "run", "queue", "receive", "check"},
	"SendMessage": {"send", "reply_to_message", "list_messages", "read_message"}, "Skill": {"skill"}, "AskUserQuestion": {"ask_user"},
}

// readRole reads what a file says about an agent.
func (i *Item) readRole(m *tools.FrontMatter, o *Options) error {
	r := &Role{}
	i.Role = r
	if f := m.Get("isolation"); f != nil && !slices.Contains([]string{"", "none", "false", "no", "off", "0"}, strings.ToLower(f.Text)) {
		return &tools.FrontFault{Line: f.Line, Column: 1, Text: fmt.Sprintf(
			"isolation: %s can't be had yet, and the agent is not run in the workspace itself instead", flat(f.Text, 40))}
	}
	if f := m.Get("tools"); f != nil && (f.Text != "" || f.List != nil) && !slices.Contains(f.Words(), "*") {
		r.Tools = i.toolsOf(f, o)
		if len(r.Tools) == 0 {
			r.Tools = []string{} // none, and not all
		}
	}
	for n := range m.Fields { // each removes tools, also if it occurs twice
		if f := &m.Fields[n]; f.Key == "disallowedTools" {
			r.Not = append(r.Not, i.toolsOf(f, o)...)
		}
	}
	if f := m.Get("permissionMode"); f != nil {
		note := ""
		if r.Mode, note = mode(f.Text); note != "" {
			i.note(f, note)
		}
	}
	if f := m.Get("model"); f != nil && f.Text != "" && f.Text != "inherit" {
		var err error
		if r.Model, err = o.model(f.Text); err != nil {
			r.Model = ""
			i.note(f, fmt.Sprintf("there is no model %s here: its dispatcher's is used", flat(f.Text, 60)))
		}
	}
	if f := m.Get("maxTurns"); f != nil && f.Text != "" {
		n, err := strconv.Atoi(f.Text)
		if err != nil || n < 1 || n > 10_000 {
			i.note(f, fmt.Sprintf("maxTurns %s is no number of requests", flat(f.Text, 40)))
			n = 0
		}
		r.Steps = n
	}
	for _, s := range m.Get("skills").Words() {
		r.Skills = append(r.Skills, flat(s, 64))
	}
	r.Background = i.says(m.Get("background")) == yes
	for _, key := range []string{"hooks", "mcpServers"} {
		if f := m.Get(key); f != nil {
			i.note(f, key+": not used here")
		}
	}
	if f := m.Get("message_handling"); f != nil {
		r.Policy, r.Line = f.Raw, f.Line
	}
	return nil
}

// toolsOf returns our tools that a list names. A tool that the list allows only in part is included: each call is
// judged as any other.
func (i *Item) toolsOf(f *tools.FrontField, o *Options) (names []string) {
	var unknown, parts []string
	for _, w := range f.Words() {
		name, part, _ := strings.Cut(w, "(")
		name = strings.TrimSpace(name)
		mine, known := theirs[name]
		if !known && (slices.Contains(o.Tools, name) || strings.HasPrefix(name, tools.LentName)) {
			mine, known = []string{name}, true
		}
		switch {
		case !known:
			unknown = append(unknown, flat(w, 60))
		case part != "":
			parts = append(parts, flat(w, 60))
		}
		names = append(names, mine...)
	}
	if unknown != nil {
		i.note(f, f.Key+" names what is no tool here: "+strings.Join(unknown, ", "))
	}
	if parts != nil {
		i.note(f, f.Key+": what stands in brackets is not used, calls are judged as any other: "+strings.Join(parts, ", "))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// roles looks up the skills that agents begin with, once all skills are known.
func (f *finder) roles() {
	for _, i := range f.l.Items {
		if i.Role == nil {
			continue
		}
		for _, s := range i.Role.Skills {
			switch with := f.l.by[Skill][s]; {
			case with == nil:
				i.Notes = append(i.Notes, fmt.Sprintf("%s: there is no skill %s to begin with", i.Source, s))
			case with.Manual:
				i.Notes = append(i.Notes, fmt.Sprintf("%s: it does not begin with the skill %s, which only people use", i.Source, s))
			}
		}
	}
}

// maxRole is the largest size of an agent's text in bytes, including the skills that it begins with.
const maxRole = 128 << 10

// Cast returns the role that the file of an agent of that name describes, and the model that it asks for; "": none. It
// reads the file.
func (s *Catalog) Cast(ctx context.Context, name string) (*event.Role, string, error) {
	l := s.Now()
	i := l.Find(Agent, name)
	if i == nil {
		return nil, "", s.none(Agent, name)
	}
	body, err := s.body(i)
	if err != nil {
		return nil, "", err
	}
	for _, skill := range i.Role.Skills {
		if with := l.Find(Skill, skill); with != nil && !with.Manual && s.Denied(with) == "" {
			text, err := s.body(with)
			if err == nil {
				text, err = (&expansion{s: s, i: with, ctx: ctx}).expand(text)
			}
			if err != nil {
				return nil, "", err
			}
			body += "\n\n# Skill " + with.Name + from(with) + "\n\n" + text
		}
	}
	if len(body) > maxRole {
		return nil, "", fmt.Errorf("%s: with its skills it has %d bytes, at most %d are used", i.Source, len(body), maxRole)
	}
	r := i.Role
	return &event.Role{
		Name: i.Name, Source: i.Source, Text: body, Tools: r.Tools, Not: r.Not, Mode: r.Mode, Steps: r.Steps,
	}, r.Model, nil
}
