package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// Delivery decides when mail enters a context. It holds the human's and the workspace's settings for mail, and the
// state of each agent's mail. It changes no transcript; the agent's own loop takes mail, at its seams.
//
// The fleet's mutex guards it: the end of a turn changes an agent's state and its AgentMail together, and a caller who
// asks whether all is settled must see both or neither. Where a method expects the caller to hold it, the comment says
// so.
type Delivery struct {
	db     *store.DB
	inbox  *inbox.Inbox
	now    func() time.Time
	fleet  *fleet.Fleet
	forks  Forker
	notice func(ctx context.Context, text string)
	due    chan struct{} // a token: look at the trays that ask for it, and at the clock

	trays  map[int64]*AgentMail // by agent; living ones only
	quiet  policy.Quiet
	said   map[int64]policy.Overrides // the human's settings for an agent's mail
	broken map[string]string          // by agent name: the last report to the human about rules that can't be read
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

// AgentMail is the state of one agent's mail. The caller of its methods holds the fleet's mutex.
type AgentMail struct {
	wakes   int            // messages that came and asked to start a turn
	awake   int            // how many of those the last turn had seen at its beginning
	paused  bool           // the human stopped typing, and mail waited for that
	hushed  bool           // the human stopped its turn: no message starts one before they do something
	wishes  []*TurnRequest // turns with mail that the human asked for
	sorting sorting        // for a policy that is not plain
	asked   int            // requests to the sorter to look at it that are pending
}

// Wants reports whether there is a reason to start a turn now, and whether there is one soon, when messages have had
// time to gather.
func (t *AgentMail) Wants() (now, soon bool) {
	return len(t.wishes) > 0 || t.paused && !t.hushed, t.wakes > t.awake && !t.hushed
}

// Wake makes the agent look for messages that start a turn.
func (t *AgentMail) Wake() { t.wakes++ }

// Heed forgets the messages that asked to start a turn, as none of them is pending any more. It returns false if there
// were none.
func (t *AgentMail) Heed() bool {
	some := t.wakes > t.awake
	t.awake = t.wakes
	return some
}

// Hush stops messages from starting turns until the human does something in the tab.
func (t *AgentMail) Hush() { t.hushed = true }

// Unhush ends Hush.
func (t *AgentMail) Unhush() { t.hushed = false }

// Wish adds a turn that the human asked for.
func (t *AgentMail) Wish(w *TurnRequest) { t.wishes = append(t.wishes, w) }

// Reasons are what asked for a turn when the agent looked.
type Reasons struct {
	Wish  *TurnRequest // nil: none
	Wake  bool         // messages came that start one, or the human stopped typing
	wakes int          // how many messages had come by then
}

// Reasons returns what asks for a turn now.
func (t *AgentMail) Reasons() Reasons {
	r := Reasons{Wake: (t.wakes > t.awake || t.paused) && !t.hushed, wakes: t.wakes}
	if len(t.wishes) > 0 {
		r.Wish = t.wishes[0]
	}
	return r
}

// Heeded records that the agent acted on those reasons; messages that came since still count.
func (m *Delivery) Heeded(agent int64, r Reasons) {
	if !r.Wake {
		return
	}
	m.fleet.Lock()
	defer m.fleet.Unlock()
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
	Fleet  *fleet.Fleet
	Forker Forker
	Notice func(ctx context.Context, text string) // tells the human in main's tab about more than one agent
}

// New returns a delivery that knows of no agent's mail; Load reads what the human said.
func New(o Options) *Delivery {
	return &Delivery{
		db: o.DB, inbox: o.Inbox, now: o.Now, fleet: o.Fleet, forks: o.Forker, notice: o.Notice,
		due: make(chan struct{}, 1), trays: map[int64]*AgentMail{}, rules: o.Rules,
	}
}

// info returns the state of an agent; nil: its tab is not open. The caller holds the fleet's mutex, and reads it only while
// holding that.
func (m *Delivery) info(agent int64) *event.Info {
	if a := m.fleet.Of(agent); a != nil {
		return &a.Info
	}
	return nil
}

// poke has an agent look for a reason to start a turn. The caller holds the fleet's mutex.
func (m *Delivery) poke(agent int64) {
	if a := m.fleet.Of(agent); a != nil {
		a.Poke()
	}
}

// Stir makes the sorter look at the clock, at the human's state, and at the mail it was asked to look at.
func (m *Delivery) Stir() {
	select {
	case m.due <- struct{}{}:
	default: // it will look anyway
	}
}

// Quiet returns whether and until when the human wants quiet. The caller holds the fleet's mutex.
func (m *Delivery) Quiet() policy.Quiet { return m.quiet }

// Opens adds a new agent. The caller holds the fleet's mutex, or no other goroutine uses the fleet yet.
func (m *Delivery) Opens(agent int64) { m.trays[agent] = &AgentMail{} }

// Ended removes an agent that ended. If it was a fork, its parent may have another now. The caller holds the fleet's
// mutex.
func (m *Delivery) Ended(i event.Info) {
	delete(m.trays, i.ID)
	if i.Kind.Handles() {
		m.forkEnded(i.Parent)
	}
}

// Tray returns the agent's mail; for an agent that has ended, one that has no effect. The caller holds the fleet's
// mutex.
func (m *Delivery) Tray(agent int64) *AgentMail {
	if t := m.trays[agent]; t != nil {
		return t
	}
	return &AgentMail{}
}

// Arrives records that messages came into the agent's inbox. The caller holds the fleet's mutex.
func (m *Delivery) Arrives(i *event.Info, r inbox.Change) {
	switch {
	case !m.policy(i).Plain():
		m.look(i.ID, r.First)
	case r.Wake && i.Rests(): // the others look at each seam anyway
		m.Tray(i.ID).wakes++
	}
}

// Refresh records that another process may have put messages into the agent's inbox. The caller holds the fleet's
// mutex.
func (m *Delivery) Refresh(i *event.Info) {
	if !m.policy(i).Plain() {
		m.look(i.ID, m.Tray(i.ID).sorting.upTo+1)
	}
}

// LookAgain makes the sorter look at all mail of an agent: a wait has left some in its inbox, or what decides about it
// besides its policy has changed.
func (m *Delivery) LookAgain(agent int64) {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	if i := m.info(agent); i != nil && i.Pending > 0 && !m.policy(i).Plain() {
		m.look(agent, 0)
	}
}

// Rests records that a turn of the agent ended. The caller holds the fleet's mutex.
func (m *Delivery) Rests(agent int64) {
	t := m.Tray(agent)
	if t.sorting.eager != 0 {
		t.wakes++ // what did not fit in this turn begins the next
	}
	if t.sorting.patient != 0 {
		m.Stir()
	}
}

// Busy reports whether mail gives the agent a reason to go on, or, for agent 0, whether the sorter has mail to look
// at. The caller holds the fleet's mutex.
func (m *Delivery) Busy(agent int64) bool {
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
func (m *Delivery) Unwish(agent int64, w *TurnRequest) {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	m.forget(agent, func(other *TurnRequest) bool { return other == w })
}

// TakenBack ends the wish with that row.
func (m *Delivery) TakenBack(agent, prompt int64) {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	if w := m.forget(agent, func(w *TurnRequest) bool { return w.Prompt == prompt }); w != nil {
		w.Answer(Took{Err: ErrTakenBack})
	}
}

// forget removes the agent's first wish for which meant is true, and returns it; nil: none. The caller holds the fleet's mutex.
func (m *Delivery) forget(agent int64, meant func(w *TurnRequest) bool) *TurnRequest {
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
func noAgent(id int64) error { return fmt.Errorf("agent %d: %w", id, tasks.ErrNoAgent) }
