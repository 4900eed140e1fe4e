package agents

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"fantail/inbox"
	"fantail/store"
)

// Names as they are typed: whole, or a beginning that only one agent has. Here
// and nowhere else a word becomes an agent.

// errSeveral says that a word may mean several agents; the text lists them.
var errSeveral = errors.New("that is the beginning of several names")

// named returns the agent that a word means, and what is known of it. The name of
// an agent whose tab is closed is nobody's beginning.
func (p *Pool) named(ctx context.Context, word string) (*agent, Info, error) {
	a, i, err := p.tabbed(word)
	if err == nil && i.Name == word {
		return a, i, nil
	}
	var old store.Agent
	var had bool
	if e := p.o.DB.Read(ctx, func(rx *store.Rx) (err error) {
		old, had, err = rx.AgentByName(word)
		return err
	}); e != nil {
		return nil, Info{}, e
	}
	if had && !old.Closed.IsZero() {
		return nil, Info{}, closed(old)
	}
	return a, i, err
}

// closed is the error of who means an agent whose tab is closed.
func closed(a store.Agent) error {
	if Kind(a.Kind).HasPrompt() {
		return fmt.Errorf("the helper %s was closed; /resume %s opens it again", a.Name, a.Name)
	}
	return fmt.Errorf("the agent %s has ended (%s) and its tab is closed; /resume %s opens it again", a.Name, a.State, a.Name)
}

// tabbed returns the agent with an open tab that a word means.
func (p *Pool) tabbed(word string) (*agent, Info, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cs := make([]called, 0, len(p.agents))
	for _, a := range p.agents {
		cs = append(cs, called{a.id, a.info.Name, a.info.State})
	}
	id, err := meant(word, cs)
	if err != nil {
		return nil, Info{}, err
	}
	return p.agents[id], p.agents[id].info, nil
}

// called is an agent as names are looked up.
type called struct {
	id    int64
	name  string
	state State
}

// meant returns the agent that a word means: the one of that name, or else the
// only one whose name begins so. Those that have ended are meant only if none
// that lives is.
func meant(word string, all []called) (int64, error) {
	var readers, living, ended []string
	var id, old int64
	for _, c := range all {
		if !c.state.Terminal() {
			readers = append(readers, c.name)
		}
		switch {
		case c.name == word:
			return c.id, nil
		case word == "" || !strings.HasPrefix(c.name, word):
		case c.state.Terminal():
			ended, old = append(ended, c.name), c.id
		default:
			living, id = append(living, c.name), c.id
		}
	}
	if len(living) == 0 {
		living, id = ended, old
	}
	switch len(living) {
	case 0:
		sort.Strings(readers)
		return 0, fmt.Errorf("%q: %w; agents that read mail: %s", word, ErrNoAgent, strings.Join(readers, ", "))
	case 1:
		return id, nil
	}
	sort.Strings(living)
	return 0, fmt.Errorf("%q: %w: %s", word, errSeveral, strings.Join(living, ", "))
}

// senderMeant is the whole name of the sender that a word means. The name of an
// agent, be its tab open or closed, of a task that waits, or of who sent a message
// that waits means just that; only another word may be the beginning of an open
// agent's name. One that means nobody stays as it is: somebody may come to be
// called so.
func senderMeant(v *store.View, recipient int64, word string) (string, error) {
	_, had, err := v.AgentByName(word)
	if err != nil || had {
		return word, err
	}
	if queued, err := v.TaskQueued(word); err != nil || queued {
		return word, err
	}
	if wrote, err := inbox.Wrote(v, recipient, word); err != nil || wrote {
		return word, err
	}
	a, err := agentMeant(v, word)
	switch {
	case errors.Is(err, ErrNoAgent):
		return word, nil
	case err != nil:
		return "", fmt.Errorf("from=%w", err)
	}
	return a.Name, nil
}

// agentMeant finds the agent that a word means in the rows: an open one of that
// name, or else the last closed one, or else the only open one whose name begins so.
func agentMeant(v *store.View, word string) (store.Agent, error) {
	if a, ok, err := v.AgentByName(word); err != nil || ok {
		return a, err
	}
	as, err := v.Agents()
	if err != nil {
		return store.Agent{}, err
	}
	cs := make([]called, len(as))
	for i, a := range as {
		cs[i] = called{a.ID, a.Name, State(a.State)}
	}
	id, err := meant(word, cs)
	if err != nil {
		return store.Agent{}, err
	}
	a, _, err := v.Agent(id)
	return a, err
}

// notStarted says why nobody reads mail for that name: a task of that name has
// not started; nil: there is none.
func (p *Pool) notStarted(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch q := p.queue.Named(name); {
	case q == nil:
		return nil
	case p.queue.Wanted(q):
		return fmt.Errorf("%q: that task has not started, so nobody reads its mail yet: %s", name, p.holdUp(q))
	}
	return unstarted(name)
}
