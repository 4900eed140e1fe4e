package mail

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"fantail/agents/event"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/store"
)

// Room decides when mail enters a context: it keeps what the human and the workspace's
// files say about mail, and what is known of each agent's mail. It changes no transcript;
// the agent's own loop takes, at its seams.
//
// The fleet's mutex guards it: the end of a turn changes an agent's state and its tray
// together, and who asks whether all is settled must see both or neither. Where the
// caller holds it, the comment says so.
type Room struct {
	db    *store.DB
	inbox *inbox.Inbox
	now   func() time.Time
	fleet Fleet
	forks Forker
	human Human
	due   chan struct{} // a token: look at the trays that ask for it, and at the clock

	mu     *sync.Mutex     // the fleet's
	trays  map[int64]*Tray // by agent, of those that live
	quiet  inbox.Quiet
	said   map[int64]inbox.Overrides // what the human said about an agent's mail
	broken map[string]string         // what the human was told of rules that can't be read, by the agent's name
	rules  map[string]inbox.Rules    // by the agent's name; replaced as a whole
}

// Forker makes a fork of an agent for one of its messages.
type Forker interface {
	// Fork returns ErrForks if there are too many: the message goes on waiting. If somebody
	// took the message first, or waits for it, it makes none and returns nil.
	Fork(ctx context.Context, agent, message int64) error
}

// ErrForks is why a Forker makes no more forks of an agent until one of them has ended.
var ErrForks = errors.New("too many forks of this agent live already")

// Human is where the human is.
type Human interface {
	Away(now time.Time) time.Duration // how long ago the last key came
	Drafting(agent int64) bool        // the agent's prompt box holds a draft
}

// Fleet is what the mail room sees of the agents. Info, Living, Poke and Told are called
// with its mutex held, and what the first two return is read only while it is.
type Fleet interface {
	Info(agent int64) *event.Info // nil: its tab is not open
	Living() iter.Seq[*event.Info]
	Poke(agent int64)                        // has it look for a reason to start a turn
	Told()                                   // who can act may have changed
	Trouble(agent int64, err error)          // shows what can't be written down; 0: in main's tab
	Notice(ctx context.Context, text string) // tells the human in main's tab what concerns more than one agent
}

// Tray is what is known of one agent's mail. The fleet's mutex guards it: the caller of
// its methods holds that.
type Tray struct {
	wakes   int     // messages that came and asked to start a turn
	awake   int     // how many of those the beginning of a turn has looked for
	paused  bool    // the human pauses, and mail waited for that
	hushed  bool    // the human stopped its turn: no message starts one before they do something
	wishes  []*Wish // turns with mail that the human wants
	sorting sorting // where its policy is not plain
	asked   int     // how often the sorter was asked to look at it, and has not yet
}

// Wants reports whether the tray has a reason to start a turn now, or one that gives
// messages time to gather.
func (t *Tray) Wants() (now, soon bool) {
	return len(t.wishes) > 0 || t.paused && !t.hushed, t.wakes > t.awake && !t.hushed
}

// Wake has the agent look for messages that start a turn.
func (t *Tray) Wake() { t.wakes++ }

// Hush keeps messages from starting turns until the human does something in the tab.
func (t *Tray) Hush() { t.hushed = true }

// Unhush ends that.
func (t *Tray) Unhush() { t.hushed = false }

// Wish adds a turn that the human wants.
func (t *Tray) Wish(w *Wish) { t.wishes = append(t.wishes, w) }

// Reasons are what in a tray asked for a turn when its agent looked.
type Reasons struct {
	Wish  *Wish // nil: none
	Wake  bool  // messages came that start one, or the human pauses
	wakes int   // how many messages had come by then
}

// Reasons are what in the tray asks for a turn now.
func (t *Tray) Reasons() Reasons {
	r := Reasons{Wake: (t.wakes > t.awake || t.paused) && !t.hushed, wakes: t.wakes}
	if len(t.wishes) > 0 {
		r.Wish = t.wishes[0]
	}
	return r
}

// Heeded notes that the agent looked for those reasons, not for what came since.
func (m *Room) Heeded(agent int64, r Reasons) {
	if !r.Wake {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.Tray(agent)
	t.awake, t.paused = r.wakes, false
	m.fleet.Told()
}

// Options are what New needs.
type Options struct {
	DB     *store.DB
	Inbox  *inbox.Inbox
	Now    func() time.Time
	Rules  map[string]inbox.Rules // what the workspace's files say, by the agent's name
	Mu     *sync.Mutex            // the fleet's
	Fleet  Fleet
	Forker Forker
	Human  Human
}

// New returns a mail room without trays; Load reads what the human said.
func New(o Options) *Room {
	return &Room{
		db: o.DB, inbox: o.Inbox, now: o.Now, fleet: o.Fleet, forks: o.Forker, human: o.Human, due: make(chan struct{}, 1),
		mu: o.Mu, trays: map[int64]*Tray{}, rules: o.Rules,
	}
}

// Stir has the sorter look at the clock, at where the human is, and at the trays it was
// asked to look at.
func (m *Room) Stir() {
	select {
	case m.due <- struct{}{}:
	default: // it will look anyway
	}
}

// Quiet is what the human said of quiet. The caller holds the fleet's mutex.
func (m *Room) Quiet() inbox.Quiet { return m.quiet }

// Opens gives an agent that begins to live an empty tray. The caller holds the fleet's
// mutex, or nobody else knows the fleet yet.
func (m *Room) Opens(agent int64) { m.trays[agent] = &Tray{} }

// Ended takes the tray from an agent that ended. If it was a fork, there is room for
// another of its parent now. The caller holds the fleet's mutex.
func (m *Room) Ended(i event.Info) {
	delete(m.trays, i.ID)
	if i.Kind.Nature().Handles {
		m.forkEnded(i.Parent)
	}
}

// Tray is the agent's. One that has ended has none: what is put there has no effect. The
// caller holds the fleet's mutex.
func (m *Room) Tray(agent int64) *Tray {
	if t := m.trays[agent]; t != nil {
		return t
	}
	return &Tray{}
}

// Arrives notes that messages came into the agent's inbox. The caller holds the fleet's
// mutex.
func (m *Room) Arrives(i *event.Info, r inbox.Rung) {
	switch {
	case !m.policy(i).Plain():
		m.look(i.ID, r.First)
	case r.Wake && i.Kind.HasPrompt(): // the others look at each seam anyway
		m.Tray(i.ID).wakes++
	}
}

// Refresh notes that another process may have put messages into the agent's inbox. The
// caller holds the fleet's mutex.
func (m *Room) Refresh(i *event.Info) {
	if !m.policy(i).Plain() {
		m.look(i.ID, m.Tray(i.ID).sorting.upTo+1)
	}
}

// Unawaited has the sorter look at what a wait of the agent left in its inbox.
func (m *Room) Unawaited(agent int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.fleet.Info(agent); i != nil && i.Pending > 0 && !m.policy(i).Plain() {
		m.look(agent, 0)
	}
}

// Rests notes that a turn of the agent ended. The caller holds the fleet's mutex.
func (m *Room) Rests(agent int64) {
	t := m.Tray(agent)
	if t.sorting.eager != 0 {
		t.wakes++ // what did not fit in this turn begins the next
	}
	if t.sorting.patient != 0 {
		m.Stir()
	}
}

// Busy reports whether there is a reason in its mail for the agent to go on, or, for
// agent 0, whether the sorter has trays to look at. The caller holds the fleet's mutex.
func (m *Room) Busy(agent int64) bool {
	if agent == 0 {
		for _, t := range m.trays {
			if t.asked > 0 {
				return true
			}
		}
		return false
	}
	now, soon := m.Tray(agent).Wants()
	return now || soon
}

// Unwish forgets a wish that was carried out or given up.
func (m *Room) Unwish(agent int64, w *Wish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(agent, func(other *Wish) bool { return other == w })
}

// TakenBack ends the wish that this row kept.
func (m *Room) TakenBack(agent, prompt int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.forget(agent, func(w *Wish) bool { return w.Prompt == prompt }); w != nil {
		w.Answer(Took{Err: ErrTakenBack})
	}
}

// forget removes the agent's first wish that is meant, and returns it; nil: none is. The
// caller holds mu.
func (m *Room) forget(agent int64, meant func(w *Wish) bool) *Wish {
	t := m.Tray(agent)
	n := slices.IndexFunc(t.wishes, meant)
	if n < 0 {
		return nil
	}
	w := t.wishes[n]
	t.wishes = slices.Delete(slices.Clone(t.wishes), n, n+1)
	m.fleet.Told()
	return w
}

// noAgent is the error for an agent whose tab is not open.
func noAgent(id int64) error { return fmt.Errorf("agent %d: %w", id, roster.ErrNoAgent) }
