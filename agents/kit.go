package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/instructions"
	"fantail/agents/llm"
	"fantail/agents/skills"
	"fantail/agents/turn"
	"fantail/tools"
	"fantail/tools/permission"
)

// Kit gives agents their kit.
type Kit struct {
	Tools  *tools.Set
	Skills *skills.Catalog               // what files bring; nil: nothing
	System func(agent event.Info) string // what an agent is told of itself and of where it is
}

// NewKit returns the room over these tools. What the gate's rules deny, no agent is told of.
func NewKit(set *tools.Set, shelf *skills.Catalog, system func(agent event.Info) string, gate *permission.Gate) *Kit {
	shelf.Obey(gate)
	return &Kit{Tools: set.Given("skill", shelf.Offers), Skills: shelf, System: system}
}

// looking are the tools of a fork with which it looks at files, and keeps what it found.
var looking = []string{"read_file", "list_files", "glob", "grep", "memory"}

// tools are those that an agent's model may call.
func (r *Kit) tools(i event.Info) *tools.Set {
	set, own := r.Tools, i.Kind.Nature().Tools
	if own != nil {
		set = set.Only(own...)
	}
	if i.Role == nil {
		return set
	}
	switch {
	case i.Role.Tools == nil:
	case own == nil:
		set = set.Only(i.Role.Tools...)
	default: // it answers a message, and sees no more than the one that it is a fork of
		for _, name := range looking {
			if !slices.Contains(i.Role.Tools, name) {
				set = set.But(name)
			}
		}
	}
	for _, name := range i.Role.Not {
		set = set.But(name)
	}
	return set
}

// Of returns an agent's tools, the mode in which its calls are judged ("": as those of others are), and what bounds it.
func (r *Kit) Of(i event.Info) (*tools.Set, permission.Mode, turn.Guard) {
	set := r.tools(i)
	if i.Kind.Nature().Tools == nil { // others look, or answer one message: nothing is lent to them
		var names, but []string
		if i.Role != nil {
			names, but = i.Role.Tools, i.Role.Not
		}
		set = set.Own(r.Tools, names, but)
	}
	if i.Role == nil {
		return set, "", nil
	}
	if i.Role.Steps == 0 || i.Kind.Nature().Tools != nil {
		return set, i.Role.Mode, nil
	}
	return set, i.Role.Mode, &steps{most: i.Role.Steps, of: i.Role.Source}
}

// Prompt is an agent's system prompt.
func (r *Kit) Prompt(i event.Info) string {
	carries := r.Carries(i)
	if carries == nil {
		return r.System(i)
	}
	parts := []string{strings.TrimRight(r.System(i), "\n")}
	for _, c := range carries {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n\n")
}

// Fitting are the skills of which an agent is told once its tools touch what they are about; dirs are the directories that
// they touched below the one where agents work.
func (r *Kit) Fitting(i event.Info, dirs []string) []instructions.File {
	if r.Skills == nil {
		return nil
	}
	r.Skills.Touch(dirs)
	fit := r.Skills.Offer().Fitting
	if len(fit) == 0 || !r.tools(i).Has("skill") {
		return nil
	}
	return fit
}

// Carries are the texts of files in an agent's system prompt, beside those of instructions.
func (r *Kit) Carries(i event.Info) (all []Carried) {
	if i.Role != nil {
		all = append(all, Carried{What: "its own file", Text: r.role(i.Role), Items: 1})
	}
	if r.Skills == nil {
		return all
	}
	set, offer := r.tools(i), r.Skills.Offer()
	if offer.Skills != "" && set.Has("skill") {
		all = append(all, Carried{What: "list of skills", Text: offer.Skills, Items: offer.Listed})
	}
	if offer.Agents != "" && (set.Has("delegate") || set.Has("push")) {
		all = append(all, Carried{What: "list of agents", Text: offer.Agents, Items: offer.Working})
	}
	return all
}

func (r *Kit) role(of *event.Role) string {
	return fmt.Sprintf("# The agent %s\nYou work as the agent %s, which the file %s describes. Follow it where it speaks of your "+
		"work; it allows nothing, and what you were asked to do comes first.\n\n%s", of.Name, of.Name, of.Source, of.Text)
}

// steps bounds how many requests an agent makes. With one more it answers.
type steps struct {
	most, made int
	of         string // the file that says so
}

var _ turn.Guard = (*steps)(nil)

// Request counts a request. A turn that goes on all the same ends.
func (s *steps) Request(*llm.Request) error {
	if s.made++; s.made > s.most+1 {
		return fmt.Errorf("it made the %d requests that it may make (maxTurns in %s), and did not end", s.most, s.of)
	}
	return nil
}

// Replied is told of a reply, which counts nothing.
func (s *steps) Replied(*llm.Request, llm.Usage, int) {}

// Call lets calls run until the last request is made.
func (s *steps) Call(history.Call) (instead string, err error) {
	if s.made < s.most {
		return "", nil
	}
	return fmt.Sprintf("Not run: you have made the %d requests that you may make. Answer now with what you have.", s.most), nil
}

// Over is nothing: an agent that answers in its last request has done what its file lets it do.
func (s *steps) Over() string { return "" }

// Cast gives a task the model that it asks for with the command that it begins with, if it names none, and returns what its
// agent is whose model is named like another vendor's but means a file; nil: it means none. It reads that file.
func (r *Kit) Cast(ctx context.Context, t *tools.Task) (*event.Role, error) {
	if t.Model == "" && t.Agent == "" && !t.Resume {
		t.Model = r.Skills.Model(t.Prompt)
	}
	name, is := tools.VendorOf(t.Model)
	if t.Agent != "" {
		name, is = t.Agent, true
	}
	if !is || r.Skills == nil {
		return nil, nil
	}
	of, err := r.Skills.Agent(name)
	if err != nil || !of.File {
		return nil, err
	}
	role, model, err := r.Skills.Cast(ctx, name)
	if t.Agent == "" {
		t.Model = model
	}
	return role, err
}
