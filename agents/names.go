package agents

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fantail/store"
)

// Names are ASCII so that none can look like another.
var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,39}$`)

// birds are the names of tasks that were pushed without one.
var birds = [...]string{
	"wren", "robin", "finch", "kiwi", "tui", "heron", "kea", "swift", "lark", "owl", "crane", "dove", "ibis", "jay",
	"kite", "linnet", "martin", "osprey", "petrel", "quail", "raven", "snipe", "tern", "warbler", "plover", "merlin",
	"falcon", "egret", "dunlin", "curlew", "bunting", "avocet", "siskin", "pipit", "rook", "stilt", "teal", "gannet",
}

// reserved are words that would mislead as a name, in any case of letters.
var reserved = [...]string{"main", "user", "system", "human", "host", "assistant", "all", "you"}

// taskName returns the name a new task gets: the wanted one if it is free, or an
// unused one. An agent that ended under the wanted name keeps its tab and its
// mail as NAME·1, NAME·2 and so on.
func (p *Pool) taskName(tx *store.Tx, want string) (string, error) {
	if want == "" {
		return p.freeName(tx)
	}
	if !nameForm.MatchString(want) {
		return "", fmt.Errorf("the name %q does not do: letters, digits, dot, dash and underscore, a letter first, at most 40", want)
	}
	for _, r := range reserved {
		if strings.EqualFold(want, r) {
			return "", fmt.Errorf("the name %q is reserved", want)
		}
	}
	if queued, err := tx.TaskQueued(want); err != nil {
		return "", err
	} else if queued {
		return "", fmt.Errorf("a task %q is queued or runs already; /send %s TEXT reaches it once it runs, /kill %s removes it", want, want, want)
	}
	old, ok, err := tx.AgentByName(want)
	if err != nil || !ok {
		return want, err
	}
	if !State(old.State).Terminal() {
		return "", fmt.Errorf("%s is an agent already; /send %s TEXT reaches it", want, want)
	}
	for n := 1; ; n++ {
		aside := want + "·" + strconv.Itoa(n)
		if _, used, err := tx.AgentByName(aside); err != nil {
			return "", err
		} else if used {
			continue
		}
		if err := tx.RenameAgent(old.ID, aside); err != nil {
			return "", err
		}
		tx.AfterCommit(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if a := p.agents[old.ID]; a != nil {
				a.change(func(i *Info) { i.Name = aside })
			}
		})
		return want, nil
	}
}

// freeName is a bird nobody has been named after yet, with a number if need be.
func (p *Pool) freeName(tx *store.Tx) (string, error) {
	for n := 1; ; n++ {
		for _, name := range birds {
			if n > 1 {
				name += strconv.Itoa(n)
			}
			queued, err := tx.TaskQueued(name)
			if err != nil {
				return "", err
			}
			if _, used, err := tx.AgentByName(name); err != nil {
				return "", err
			} else if !used && !queued {
				return name, nil
			}
		}
	}
}
