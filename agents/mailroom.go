package agents

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"fantail/inbox"
	"fantail/store"
)

// mailroom decides when mail enters a context: it keeps what the human and the
// workspace's files say about mail, and of each agent what is known of its mail. It
// changes no transcript; the agent's own loop takes, at its seams.
//
// The fleet's mutex guards it. A turn's end changes an agent's state and its tray
// together, and whoever asks whether all is settled must see both or neither.
type mailroom struct {
	db    *store.DB
	inbox *inbox.Inbox
	now   func() time.Time
	fleet fleet
	forks Forker
	human human
	due   chan struct{} // a token: look at the trays that ask for it, and at the clock

	mu     *sync.Mutex     // the fleet's
	trays  map[int64]*tray // by agent, of those that live
	quiet  inbox.Quiet
	said   map[int64]inbox.Overrides // what the human said about an agent's mail
	broken map[string]string         // what was said of rules that can't be read, by the agent's name
	rules  map[string]inbox.Rules    // by the agent's name; replaced as a whole
}

// Forker makes a fork of an agent for one of its messages.
type Forker interface {
	// Fork returns errForks if there are too many; the message waits on then. Where
	// somebody took the message first, or waits for it, it makes none and returns nil.
	Fork(ctx context.Context, agent, message int64) error
}

// errForks is why a Forker makes no more forks of an agent until one of them has ended.
var errForks = errors.New("too many forks of this agent live already")

// human is where the human is.
type human interface {
	Away(now time.Time) time.Duration // how long ago the last key came
	Drafting(agent int64) bool        // the agent's prompt box holds a draft
}

// fleet is what the mail room sees of the agents. Info, Living, Poke and Told are called
// with the fleet's mutex held; what the first two return is read under it only.
type fleet interface {
	Info(agent int64) *Info // nil: its tab is not open
	Living() iter.Seq[*Info]
	Poke(agent int64)                        // has it look for a reason to start a turn
	Told()                                   // who can act may have changed
	Trouble(agent int64, err error)          // shows what can't be written down; 0: in main's tab
	Notice(ctx context.Context, text string) // tells the human in main's tab what concerns no agent alone
}

// tray is what is known of one agent's mail.
type tray struct {
	wakes   int     // messages that came and asked to start a turn
	awake   int     // of those, the ones a turn's begin has looked for
	paused  bool    // the human pauses, and mail waited for that
	hushed  bool    // the human stopped its turn: no message starts one before they do something
	wishes  []*wish // turns with mail that the human wants
	sorting sorting // where its policy is not plain
	asked   int     // how often the sorter was asked to look at it, and has not yet
}

// wants reports whether something in the tray is a reason to start a turn: one that does
// not wait, or messages that are given time to gather.
func (t *tray) wants() (now, soon bool) {
	return len(t.wishes) > 0 || t.paused && !t.hushed, t.wakes > t.awake && !t.hushed
}

// wake has a turn begin, which looks whether a message asks for it.
func (t *tray) wake() { t.wakes++ }

// hush keeps messages from starting turns until the human does something in the tab.
func (t *tray) hush() { t.hushed = true }

// unhush ends that.
func (t *tray) unhush() { t.hushed = false }

// wish adds a turn that the human wants.
func (t *tray) wish(w *wish) { t.wishes = append(t.wishes, w) }

// reasons are what in a tray asked for a turn when its agent looked.
type reasons struct {
	wish  *wish // nil: none
	wake  bool  // messages came that start one, or the human pauses
	wakes int   // how many messages had come by then
}

// reasons are what in the tray asks for a turn now.
func (t *tray) reasons() reasons {
	r := reasons{wake: (t.wakes > t.awake || t.paused) && !t.hushed, wakes: t.wakes}
	if len(t.wishes) > 0 {
		r.wish = t.wishes[0]
	}
	return r
}

// heeded notes that a turn began, or looked, for those reasons, and not for what came
// since.
func (m *mailroom) heeded(agent int64, r reasons) {
	if !r.wake {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tray(agent)
	t.awake, t.paused = r.wakes, false
	m.fleet.Told()
}

// mailroomParts are what a mail room works with.
type mailroomParts struct {
	DB     *store.DB
	Inbox  *inbox.Inbox
	Now    func() time.Time
	Rules  map[string]inbox.Rules // what the workspace's files say, by the agent's name
	Mu     *sync.Mutex            // the fleet's
	Fleet  fleet
	Forker Forker
	Human  human
}

func newMailroom(o mailroomParts) *mailroom {
	return &mailroom{
		db: o.DB, inbox: o.Inbox, now: o.Now, fleet: o.Fleet, forks: o.Forker, human: o.Human, due: make(chan struct{}, 1),
		mu: o.Mu, trays: map[int64]*tray{}, rules: o.Rules,
	}
}

// stir has the sorter look at the clock, at where the human is, and at the trays that
// ask for it.
func (m *mailroom) stir() {
	select {
	case m.due <- struct{}{}:
	default: // it will look anyway
	}
}

// isQuiet is what the human said of quiet. The caller holds mu.
func (m *mailroom) isQuiet() inbox.Quiet { return m.quiet }

// opens gives an agent that begins to live an empty tray. The caller holds mu.
func (m *mailroom) opens(agent int64) { m.trays[agent] = &tray{} }

// ended takes the tray of an agent that ended; of a fork, there is room for another of
// its parent now. The caller holds mu.
func (m *mailroom) ended(i Info) {
	delete(m.trays, i.ID)
	if i.Kind == Fork {
		m.forkEnded(i.Parent)
	}
}

// tray is the agent's; one that has ended has none, and what is put there is of no
// consequence. The caller holds mu.
func (m *mailroom) tray(agent int64) *tray {
	if t := m.trays[agent]; t != nil {
		return t
	}
	return &tray{}
}

// arrives notes that messages came into the agent's inbox. The caller holds mu.
func (m *mailroom) arrives(i *Info, r inbox.Rung) {
	switch {
	case !m.policy(i).Plain():
		m.look(i.ID, r.First)
	case r.Wake && i.Kind.HasPrompt(): // the others look at each seam anyway
		m.tray(i.ID).wakes++
	}
}

// refresh notes that another process may have put messages into the agent's inbox. The
// caller holds mu.
func (m *mailroom) refresh(i *Info) {
	if !m.policy(i).Plain() {
		m.look(i.ID, m.tray(i.ID).sorting.upTo+1)
	}
}

// unawaited has the sorter look at what a wait of the agent left: it waits for nobody
// now.
func (m *mailroom) unawaited(agent int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.fleet.Info(agent); i != nil && i.Pending > 0 && !m.policy(i).Plain() {
		m.look(agent, 0)
	}
}

// rests notes that a turn of the agent ended. The caller holds mu.
func (m *mailroom) rests(agent int64) {
	t := m.tray(agent)
	if t.sorting.eager != 0 {
		t.wakes++ // what did not fit in this turn begins the next
	}
	if t.sorting.patient != 0 {
		m.stir()
	}
}

// sorts reports whether the sorter has trays to look at. The caller holds mu.
func (m *mailroom) sorts() bool {
	for _, t := range m.trays {
		if t.asked > 0 {
			return true
		}
	}
	return false
}

// unwish forgets a wish that was carried out or given up.
func (m *mailroom) unwish(agent int64, w *wish) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(agent, func(other *wish) bool { return other == w })
}

// unwished ends the wish that a row kept.
func (m *mailroom) unwished(agent, prompt int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.forget(agent, func(w *wish) bool { return w.prompt == prompt }); w != nil {
		w.answer(took{err: ErrTakenBack})
	}
}

// forget removes the first wish of the agent's that is meant, and returns it; nil: none
// is. The caller holds mu.
func (m *mailroom) forget(agent int64, meant func(w *wish) bool) *wish {
	t := m.tray(agent)
	n := slices.IndexFunc(t.wishes, meant)
	if n < 0 {
		return nil
	}
	w := t.wishes[n]
	t.wishes = slices.Delete(slices.Clone(t.wishes), n, n+1)
	m.fleet.Told()
	return w
}

// noAgent is the error of who means an agent whose tab is not open.
func noAgent(id int64) error { return fmt.Errorf("agent %d: %w", id, ErrNoAgent) }
