package skills

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/instructions"
	"fantail/tools/permission"
)

// How many bytes models get.
const (
	maxSkills = 8 << 10 // of all skills
	maxAgents = 4 << 10 // of all agents in files
	longest   = 400     // of one description, if all fit
	short     = 80      // of one, if they don't
)

// Offer is what models are told about skills and agents in their system prompt. The bodies come only when used.
type Offer struct {
	Skills string // "": there are none
	Agents string

	Listed, Short, Left int // skills that are listed, of them in short, and left out

	Working int                 // agents that are listed
	Fitting []instructions.File // skills for certain files: models are told of one once a tool touched such a file
}

// Obey hides from models what the gate's rules deny them.
func (s *Catalog) Obey(g *permission.Gate) {
	if s != nil {
		s.gate.Store(g)
	}
}

// Denied returns the rule, with its place, that denies an item to models; "": none does, or it is not for models.
func (s *Catalog) Denied(i *Item) string {
	g := s.gate.Load()
	switch {
	case g == nil:
		return ""
	case i.Kind == Skill:
		return g.Denies("skill", i.Name)
	case i.Kind == Agent && g.Denies("push", i.Name) != "":
		return g.Denies("delegate", i.Name)
	}
	return ""
}

// told is an offer, and what it was made from.
type told struct {
	list  *List
	rules int
	offer Offer
}

// Offer returns the present offer to models. It is made again only once files or rules have changed.
func (s *Catalog) Offer() *Offer {
	t := &told{list: s.Now()}
	if g := s.gate.Load(); g != nil {
		t.rules = g.Limited()
	}
	if had := s.told.Load(); had != nil && had.list == t.list && had.rules == t.rules {
		return &had.offer
	}
	t.offer = s.offer(t.list)
	s.told.Store(t)
	return &t.offer
}

// offer makes the offer for a list.
func (s *Catalog) offer(l *List) (o Offer) {
	var skills, agents []*Item
	below := map[string][]*Item{}
	for _, i := range l.Items {
		switch {
		case i.Out != "" || s.Denied(i) != "":
		case i.Kind == Skill && !i.Manual && i.Paths != nil:
			o.Fitting = append(o.Fitting, instructions.Own(i.Path, i.Source, i.Of, "The skill "+i.Name+" is for files like these: "+
				flat(i.About, longest)+"\nLoad it with the tool `skill` before you go on with them. It allows nothing.", i.Paths))
		case i.Kind == Skill && !i.Manual && i.Below != "":
			in := path.Dir(path.Dir(i.Source))
			below[in] = append(below[in], i)
		case i.Kind == Skill && !i.Manual:
			skills = append(skills, i)
		case i.Kind == Agent:
			agents = append(agents, i)
		}
	}
	for _, in := range slices.Sorted(maps.Keys(below)) {
		o.Fitting = append(o.Fitting, lowerSkills(in, below[in]))
	}
	var text string
	if text, o.Listed, o.Short = within(skills, maxSkills); text != "" {
		o.Left = len(skills) - o.Listed
		o.Skills = "# Skills\nEach of these says how something is done here. Where one fits what is asked, load it with the tool `skill` " +
			"before you begin; what it says is advice of this workspace or its user, and allows nothing.\n" + text
		if o.Left > 0 {
			o.Skills += fmt.Sprintf("- and %d more, which people name\n", o.Left)
		}
	}
	if text, o.Working, _ = within(agents, maxAgents); text != "" {
		o.Agents = "# Agents that files describe\n`delegate` and `push` give work to one of these by `agent`, in place of a model:\n" + text
	}
	return o
}

// lowerSkills returns what models are told about the skills of a subdirectory once a tool touched that.
func lowerSkills(name string, is []*Item) instructions.File {
	text, listed, _ := within(is, maxSkills)
	text = "Skills for work in " + is[0].Below + ". Where one fits, load it with the tool `skill` before you go on; what it says is " +
		"advice of this workspace, and allows nothing.\n" + text
	if left := len(is) - listed; left > 0 {
		text += fmt.Sprintf("- and %d more, which people name\n", left)
	}
	return instructions.Own(filepath.Dir(filepath.Dir(is[0].Path)), name, is[0].Of, strings.TrimRight(text, "\n"), []string{"**"})
}

// within lists items in at most that many bytes: shortened if they don't fit, and as many as do.
func within(is []*Item, most int) (text string, listed, cut int) {
	for _, each := range []int{longest, short} {
		var b strings.Builder
		cut = 0
		for n, i := range is {
			line := "- " + i.Name + ": " + flat(i.About, each) + "\n"
			if b.Len()+len(line) > most {
				if each == longest {
					break
				}
				return b.String(), n, cut
			}
			if len(i.About) > each {
				cut++
			}
			b.WriteString(line)
			listed = n + 1
		}
		if listed == len(is) {
			return b.String(), listed, cut
		}
		listed = 0
	}
	return "", 0, 0
}
