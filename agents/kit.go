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

// Kit gives each agent its tools and its system prompt.
type Kit struct {
	Tools  *tools.Set
	Skills *skills.Catalog               // skills, commands and agents from files; nil: none
	System func(agent event.Info) string // returns the basic system prompt
}

// NewKit returns a Kit for these tools. Agents are told of nothing that the gate's rules deny.
func NewKit(set *tools.Set, shelf *skills.Catalog, system func(agent event.Info) string, gate *permission.Gate) *Kit {
	shelf.Obey(gate)
	return &Kit{Tools: set.Given("skill", shelf.Offers), Skills: shelf, System: system}
}

// looking are the tools with which a fork reads files and keeps its findings.
var looking = []string{"read_file", "list_files", "glob", "grep", "memory"}

// tools returns the tools that an agent's model may call.
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
	default: // a fork gets no tool that the role of its parent lacks
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

// Of returns an agent's tools, the mode that judges its calls ("": the mode of all), and its guard.
func (r *Kit) Of(i event.Info) (*tools.Set, permission.Mode, turn.Guard) {
	set := r.tools(i)
	if i.Kind.Nature().Tools == nil { // forks and observers get no tools of servers
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

// Prompt returns an agent's system prompt.
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

// Fitting returns the skills that an agent is told of once its tools touch the directories they are
// about. dirs are the directories touched, relative to the agents' directory.
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

// Carries returns the texts from files in an agent's system prompt, other than instructions.
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

// steps limits the number of requests an agent makes. It allows one more for the answer.
type steps struct {
	most, made int
	of         string // the file that sets the limit
}

var _ turn.Guard = (*steps)(nil)

// Request counts a request and ends a turn that goes on after the last one.
func (s *steps) Request(*llm.Request) error {
	if s.made++; s.made > s.most+1 {
		return fmt.Errorf("it made the %d requests that it may make (maxTurns in %s), and did not end", s.most, s.of)
	}
	return nil
}

// Replied counts nothing.
func (s *steps) Replied(*llm.Request, llm.Usage, int) {}

// Call allows calls until the last request.
func (s *steps) Call(history.Call) (instead string, err error) {
	if s.made < s.most {
		return "", nil
	}
	return fmt.Sprintf("Not run: you have made the %d requests that you may make. Answer now with what you have.", s.most), nil
}

// Over returns "": an agent that answers in its last request has done what its file allows.
func (s *steps) Over() string { return "" }

// Cast gives a task without a model the model of the command its prompt begins with. If the task
// names an agent from a file, or a model written like a vendor's that means one, Cast reads that
// file and returns its role; else the role is nil.
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
