package agents

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Names as they are typed: whole, or a beginning that only one agent has. Here
// and nowhere else a word becomes an agent.

// errSeveral says that a word may mean several agents; the text lists them.
var errSeveral = errors.New("that is the beginning of several names")

// named returns the agent that a word means, and what is known of it.
func (p *Pool) named(word string) (*agent, Info, error) {
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

// sender is the whole name of whom mail is wanted from. A word that no agent has
// stays as it is: mail from outside has names too, and so have queued tasks.
func (p *Pool) sender(word string) (string, error) {
	if word == "" {
		return "", nil
	}
	if p.hasQueued(word) {
		return word, nil
	}
	_, i, err := p.named(word)
	switch {
	case errors.Is(err, ErrNoAgent):
		return word, nil
	case err != nil:
		return "", fmt.Errorf("from=%w", err)
	}
	return i.Name, nil
}

// hasQueued reports whether a task of that name has not started.
func (p *Pool) hasQueued(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.queued {
		if q.name == name {
			return true
		}
	}
	return false
}
