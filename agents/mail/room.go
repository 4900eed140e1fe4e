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
	"fantail/inbox/policy"
	"fantail/store"
)

// Room decides when mail enters a context: it keeps what the human and the workspace's files say about mail, and what
// is known of each agent's mail. It changes no transcript; the agent's own loop takes mail, at its seams.
//
// The fleet's mutex guards it: the end of a turn changes an agent's state and its tray together, and a caller who asks
// whether all is settled must see both or neither. Where a method expects the caller to hold it, the comment says so.
type Room struct {
	db    *store.DB
	inbox *inbox.Inbox
	now   func() time.Time
	fleet Fleet
	forks Forker
	human Human
	due   chan struct{} // a token: look at the trays that ask for it, and at the clock

	mu     *sync.Mutex     // the fleet's
	trays  map[int64]*Tray // by agent; living ones only
	quiet  policy.Quiet
	said   map[int64]policy.Overrides // what the human said about an agent's mail
	broken map[string]string          // by agent name: what the human was told of rules that can't be read
	rules  map[string]policy.Rules    // by agent name; replaced as a whole
}

// Forker makes a fork of an agent for one of its messages.
type Forker interface {
	// Fork returns ErrForks if there are too many: the message stays pending. If another taker was first, or the agent
	// waits for the message, it makes no fork and returns nil.
	Fork(ctx context.Context, agent, message int64) error
}

// ErrForks is returned by a Forker that makes no more forks of an agent until one has ended.
var ErrForks = errors.New("too many forks of this agent live already")

// Human is where the human is.
type Human interface {
	Away(now time.Time) time.Duration // how long ago the last key was pressed
	Drafting(agent int64) bool        // the agent's prompt box holds a draft
}

// Fleet is what the mail room sees of the agents. The caller of Info, Living, Poke and Told holds the fleet's mutex,
// and reads what the first two return only while holding it.
type Fleet interface {
	Info(agent int64) *event.Info // nil: its tab is not open
	Living() iter.Seq[*event.Info]
	Poke(agent int64)                        // has it look for a reason to start a turn
	Told()                                   // who can act may have changed
	Trouble(agent int64, err error)          // shows an error that can't be recorded; 0: in main's tab
	Notice(ctx context.Context, text string) // tells the human in main's tab about more than one agent
}

// Tray is what is known of one agent's mail. The caller of its methods holds the fleet's mutex.
type Tray struct {
	wakes   int     // messages that came and asked to start a turn
	awake   int     // how many of those the last turn has looked for at its beginning
	paused  bool    // the human paused, and mail waited for that
	hushed  bool    // the human stopped its turn: no message starts one before they do something
	wishes  []*Wish // turns with mail that the human asked for
	sorting sorting // for a policy that is not plain
	asked   int     // requests to the sorter to look at it that are pending
}

// Wants reports whether the tray has a reason to start a turn now, and whether it has one soon, when messages have had
// time to gather.
func (t *Tray) Wants() (now, soon bool) {
	return len(t.wishes) > 0 || t.paused && !t.hushed, t.wakes > t.awake && !t.hushed
}

// Wake has the agent look for messages that start a turn.
func (t *Tray) Wake() { t.wakes++ }

// Heed forgets the messages that asked to start a turn, as none of them is pending any more. It returns false if there
// were none.
func (t *Tray) Heed() bool {
	some := t.wakes > t.awake
	t.awake = t.wakes
	return some
}

// Hush keeps messages from starting turns until the human does something in the tab.
func (t *Tray) Hush() { t.hushed = true }

// Unhush ends Hush.
func (t *Tray) Unhush() { t.hushed = false }

// Wish adds a turn that the human asked for.
func (t *Tray) Wish(w *Wish) { t.wishes = append(t.wishes, w) }

// Reasons are what asked for a turn in a tray when its agent looked.
type Reasons struct {
	Wish  *Wish // nil: none
	Wake  bool  // messages came that start one, or the human paused
	wakes int   // how many messages had come by then
}

// Reasons returns what asks for a turn now.
func (t *Tray) Reasons() Reasons {
	r := Reasons{Wake: (t.wakes > t.awake || t.paused) && !t.hushed, wakes: t.wakes}
	if len(t.wishes) > 0 {
		r.Wish = t.wishes[0]
	}
	return r
}

// Heeded records that the agent looked for those reasons; what came since still counts.
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
	Rules  map[string]policy.Rules // what the workspace's files say, by agent name
	Mu     *sync.Mutex             // the fleet's
	Fleet  Fleet
	Forker Forker
	Human  Human
}

// New returns a mail room without trays; Load reads what the human said.
func New(o Options) *Room {
	return &Room{
		db: o.DB, inbox: o.Inbox, now: o.Now, fleet: o.Fleet, forks: o.Forker, human: o.Human,
		due: make(chan struct{}, 1), mu: o.Mu, trays: map[int64]*Tray{}, rules: o.Rules,
	}
}

// Stir has the sorter look at the clock, at where the human is, and at the trays it was asked to look at.
func (m *Room) Stir() {
	select {
	case m.due <- struct{}{}:
	default: // it will look anyway
	}
}

// Quiet returns whether and until when the human wants quiet. The caller holds the fleet's mutex.
func (m *Room) Quiet() policy.Quiet { return m.quiet }

// Opens gives a new agent an empty tray. The caller holds the fleet's mutex, or nobody else knows the fleet yet.
func (m *Room) Opens(agent int64) { m.trays[agent] = &Tray{} }

// Ended removes the tray of an agent that ended. If it was a fork, its parent may have another now. The caller holds
// the fleet's mutex.
func (m *Room) Ended(i event.Info) {
	delete(m.trays, i.ID)
	if i.Kind.Handles() {
		m.forkEnded(i.Parent)
	}
}

// Tray returns the agent's tray; for an agent that has ended, one that has no effect. The caller holds the fleet's
// mutex.
func (m *Room) Tray(agent int64) *Tray {
	if t := m.trays[agent]; t != nil {
		return t
	}
	return &Tray{}
}

// Arrives records that messages came into the agent's inbox. The caller holds the fleet's mutex.
func (m *Room) Arrives(i *event.Info, r inbox.Rung) {
	switch {
	case !m.policy(i).Plain():
		m.look(i.ID, r.First)
	case r.Wake && i.Rests(): // the others look at each seam anyway
		m.Tray(i.ID).wakes++
	}
}

// Refresh records that another process may have put messages into the agent's inbox. The caller holds the fleet's
// mutex.
func (m *Room) Refresh(i *event.Info) {
	if !m.policy(i).Plain() {
		m.look(i.ID, m.Tray(i.ID).sorting.upTo+1)
	}
}

// LookAgain has the sorter look at all mail of an agent: a wait has left some in its inbox, or what decides about it besides
// its policy has changed.
func (m *Room) LookAgain(agent int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.fleet.Info(agent); i != nil && i.Pending > 0 && !m.policy(i).Plain() {
		m.look(agent, 0)
	}
}

// Rests records that a turn of the agent ended. The caller holds the fleet's mutex.
func (m *Room) Rests(agent int64) {
	t := m.Tray(agent)
	if t.sorting.eager != 0 {
		t.wakes++ // what did not fit in this turn begins the next
	}
	if t.sorting.patient != 0 {
		m.Stir()
	}
}

// Busy reports whether mail gives the agent a reason to go on, or, for agent 0, whether the sorter has trays to look
// at. The caller holds the fleet's mutex.
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

// Unwish removes a wish that was carried out or given up.
func (m *Room) Unwish(agent int64, w *Wish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(agent, func(other *Wish) bool { return other == w })
}

// TakenBack ends the wish whose row that is.
func (m *Room) TakenBack(agent, prompt int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.forget(agent, func(w *Wish) bool { return w.Prompt == prompt }); w != nil {
		w.Answer(Took{Err: ErrTakenBack})
	}
}

// forget removes the agent's first wish for which meant is true, and returns it; nil: none. The caller holds mu.
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

// noAgent returns the error for an agent whose tab is not open.
func noAgent(id int64) error { return fmt.Errorf("agent %d: %w", id, roster.ErrNoAgent) }
