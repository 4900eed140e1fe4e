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

// named returns the agent that a word means, and what is known of it: the one of
// that name, or else the only one whose name begins so. Those that have ended
// are meant only if none that lives is.
func (p *Pool) named(word string) (*agent, Info, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var living, ended, all []*agent
	for _, a := range p.agents {
		switch name := a.info.Name; {
		case name == word:
			return a, a.info, nil
		case word == "" || !strings.HasPrefix(name, word):
		case a.info.State.Terminal():
			ended = append(ended, a)
		default:
			living = append(living, a)
		}
	}
	if all = living; len(all) == 0 {
		all = ended
	}
	switch len(all) {
	case 0:
		return nil, Info{}, unknown(word, p.readers())
	case 1:
		return all[0], all[0].info, nil
	}
	return nil, Info{}, fmt.Errorf("%q: %w: %s", word, errSeveral, strings.Join(names(all), ", "))
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

// readers are the names of those whom mail can reach. The caller holds mu.
func (p *Pool) readers() []string {
	var living []*agent
	for _, a := range p.agents {
		if !a.info.State.Terminal() {
			living = append(living, a)
		}
	}
	return names(living)
}

// names lists agents. The caller holds mu.
func names(as []*agent) []string {
	ns := make([]string, len(as))
	for i, a := range as {
		ns[i] = a.info.Name
	}
	sort.Strings(ns)
	return ns
}
