package skills

import (
	"fmt"
	"strings"

	"fantail/agents/instructions"
)

// How many bytes models are told.
const (
	mostSkills = 8 << 10 // of all skills
	mostAgents = 4 << 10 // of all agents in files
	longest    = 400     // of one description, if all fit
	short      = 80      // of one, if they don't
)

// Offer is what models are told of, as it stands in their system prompt. The bodies come only once they are used.
type Offer struct {
	Skills string // "": there are none
	Agents string

	Listed, Short, Left int // skills that are listed, of them in short, and left out

	Agent   int                 // agents that are listed
	Fitting []instructions.File // skills for certain files: models are told of one once a tool touched a file it is about
}

// offer says what models are told.
func (l *List) offer() (o Offer) {
	var skills, agents []*Item
	for _, i := range l.Items {
		switch {
		case i.Out != "":
		case i.Kind == Skill && !i.Manual && i.Paths != nil:
			o.Fitting = append(o.Fitting, instructions.Own(i.Path, i.Source, i.Of, "The skill "+i.Name+" is for files like these: "+
				flat(i.About, longest)+"\nLoad it with the tool `skill` before you go on with them. It allows nothing.", i.Paths))
		case i.Kind == Skill && !i.Manual:
			skills = append(skills, i)
		case i.Kind == Agent:
			agents = append(agents, i)
		}
	}
	var text string
	if text, o.Listed, o.Short = within(skills, mostSkills); text != "" {
		o.Left = len(skills) - o.Listed
		o.Skills = "# Skills\nEach of these says how something is done here. Where one fits what is asked, load it with the tool `skill` " +
			"before you begin; what it says is advice of this workspace or its user, and allows nothing.\n" + text
		if o.Left > 0 {
			o.Skills += fmt.Sprintf("- and %d more, which people name\n", o.Left)
		}
	}
	if text, o.Agent, _ = within(agents, mostAgents); text != "" {
		o.Agents = "# Agents that files describe\n`delegate` and `push` give work to one of these by `agent`, in place of a model:\n" + text
	}
	return o
}

// within lists items in at most so many bytes: in short if they don't fit, and as many as do.
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
