package tasks

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/store"
)

// errSeveral says that a word may mean several agents; the text lists them.
var errSeveral = errors.New("that is the beginning of several names")

// IsClosed returns the error for naming an agent whose tab is closed.
func IsClosed(a store.Agent) error {
	if event.Kind(a.Kind).HasPrompt() {
		return fmt.Errorf("the helper %s was closed; /resume %s opens it again", a.Name, a.Name)
	}
	return fmt.Errorf("the agent %s has ended (%s) and its tab is closed; /resume %s opens it again",
		a.Name, a.State, a.Name)
}

// Called is an agent as Meant looks it up.
type Called struct {
	Id    int64
	Name  string
	State event.State
}

// Meant returns the agent that a word means: the one of that name, or else the only one whose name begins with it.
// Agents that have ended count only if no living one matches.
func Meant(word string, all []Called) (int64, error) {
	var readers, living, ended []string
	var id, old int64
	for _, c := range all {
		if !c.State.Terminal() {
			readers = append(readers, c.Name)
		}
		switch {
		case c.Name == word:
			return c.Id, nil
		case word == "" || !strings.HasPrefix(c.Name, word):
		case c.State.Terminal():
			ended, old = append(ended, c.Name), c.Id
		default:
			living, id = append(living, c.Name), c.Id
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

// SenderMeant returns the full name of the sender that a word means. The exact name of an agent (its tab open or
// closed), of a queued task or of the sender of a pending message means just that; any other word may be a prefix of
// an open agent's name. A word that means none of them is returned as it is: a later sender may have that name.
func SenderMeant(v *store.View, recipient int64, word string) (string, error) {
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
	a, err := AgentMeant(v, word)
	switch {
	case errors.Is(err, ErrNoAgent):
		return word, nil
	case err != nil:
		return "", fmt.Errorf("from=%w", err)
	}
	return a.Name, nil
}

// AgentMeant finds the agent that a word means in the database: an open one of that name, or else the last closed one,
// or else the only open one whose name begins with it.
func AgentMeant(v *store.View, word string) (store.Agent, error) {
	if a, ok, err := v.AgentByName(word); err != nil || ok {
		return a, err
	}
	as, err := v.Agents()
	if err != nil {
		return store.Agent{}, err
	}
	cs := make([]Called, len(as))
	for i, a := range as {
		cs[i] = Called{Id: a.ID, Name: a.Name, State: event.State(a.State)}
	}
	id, err := Meant(word, cs)
	if err != nil {
		return store.Agent{}, err
	}
	a, _, err := v.Agent(id)
	return a, err
}

// NotStarted returns the error for writing to a task that is still queued.
func NotStarted(name string) error {
	return fmt.Errorf("%q: that task is queued and has not started, so nobody reads its mail; /run starts it", name)
}

// HasEnded returns the error for writing to an agent that has ended.
func HasEnded(name string, s event.State) error {
	return fmt.Errorf("the agent %s has ended (%s) and reads no mail; its transcript is in its tab, and /resume %s "+
		"PROMPT (tool delegate with resume) lets it go on", name, s, name)
}

// The names of senders outside the program, by the way they came. No agent has these names.
const (
	OutsideName = "outside"
	OutsideMCP  = "outside-mcp"
)

// OpenMain returns main, creating it in a workspace that has none yet.
func OpenMain(tx *store.Tx, model string) (store.Agent, error) {
	a, ok, err := tx.AgentByName(string(event.Main))
	if ok || err != nil {
		return a, err
	}
	a = store.Agent{
		Name: string(event.Main), Kind: string(event.Main), Trust: attended, Model: model,
		State: string(event.Idle), Created: tx.Now(),
	}
	a.ID, err = tx.AddAgent(a)
	return a, err
}

// Addressee finds the agent that a word means, if it reads mail.
func Addressee(v *store.View, word string) (store.Agent, error) {
	a, err := AgentMeant(v, word)
	switch t, ok, e := v.TaskNamed(word); {
	case e != nil:
		return a, e
	case ok && t.State == TaskQueued:
		return a, NotStarted(word)
	case err != nil:
		return a, err
	case !a.Closed.IsZero():
		return a, IsClosed(a)
	case event.State(a.State).Terminal():
		return a, HasEnded(a.Name, event.State(a.State))
	}
	return a, nil
}

// ObserverEnds returns the error for asking an observer to go on.
func ObserverEnds(name string) error {
	return fmt.Errorf("%s is an observer: it does once what its schedule says; "+
		"/resume %s without a prompt opens its tab once it has closed", name, name)
}

// ForkEnds returns the error for asking a fork to go on.
func ForkEnds(name string) error {
	return fmt.Errorf("%s is a fork: it handles one message and does not go on; "+
		"/resume %s without a prompt opens its tab once it has closed", name, name)
}
