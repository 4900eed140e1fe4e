package mail

import (
	"fmt"
	"slices"
	"time"

	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// Seam is the point where mail may enter.
type Seam struct {
	Typed bool // a prompt of the human's enters
	Wake  bool // a turn begins here if mail has come that starts one
	Ends  bool // the agent's work is done except for what enters
}

// Arrivals is the mail that enters at one seam, and what decides about it.
type Arrivals struct {
	Seam
	policy policy.Policy
	who    policy.Recipient
	now    time.Time
	ids    []int64 // what the policy lets in, oldest first, at most maxTaken; not determined for a plain policy
	whole  bool    // it lets in no other pending message on its own, now or later
	known  sorting // what the sorter knew then

	Pause bool            // the human stopped typing, and mail waited for that
	Taken []inbox.Message // set by Takes.Due
}

// Arrivals finds what enters at that seam. It reads the policy from memory: mail that enters concurrently with a change
// of policy entered before the change.
func (m *Delivery) Arrivals(tx *store.Tx, agent int64, at Seam) (Arrivals, error) {
	m.fleet.Lock()
	now, i, t := m.now(), m.info(agent), m.Tray(agent)
	if i == nil {
		m.fleet.Unlock()
		return Arrivals{}, noAgent(agent)
	}
	s := Arrivals{
		Seam: at, policy: m.policy(i), who: m.recipient(i, now), now: now,
		Pause: t.paused && at.Wake && !at.Typed, known: t.sorting,
	}
	m.fleet.Unlock()
	s.who.Ends = at.Ends
	if s.policy.Plain() {
		if at.Wake && !at.Typed { // something came, but it may have been taken since
			var err error
			s.Wake, err = m.inbox.Any(tx, inbox.Query{Recipient: agent, Deliver: []inbox.Deliver{inbox.Wake}})
			return s, err
		}
		return s, nil
	}
	return s, s.pick(&tx.View, agent)
}

// Begins reports whether what enters begins a turn.
func (s Arrivals) Begins() bool {
	return s.Typed || len(s.ids) > 0 || s.Wake && s.policy.Plain()
}

// GoesOn reports whether mail is due that keeps a turn from ending although its work is done.
func (m *Delivery) GoesOn(tx *store.Tx, agent int64) (bool, error) {
	s, err := m.Arrivals(tx, agent, Seam{Ends: true})
	if err != nil || !s.policy.Plain() {
		return len(s.ids) > 0, err
	}
	return m.inbox.Any(tx, inbox.Query{Recipient: agent, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake}})
}

// lets reports whether a message enters here.
func (s Arrivals) lets(d policy.Decision) bool {
	switch d.When {
	case policy.AtSeam, policy.AtOnce, policy.Wakes:
		return s.Typed || s.Wake || d.Mode == policy.Interrupt || !s.who.Prompt
	case policy.WithPrompt:
		return s.Typed
	case policy.AtPause:
		return d.Due && (s.Wake || s.who.Ends)
	}
	return false
}

// pick collects what the policy lets in: from the messages the sorter knows, and from the first one that came too late
// for it.
func (s *Arrivals) pick(v *store.View, recipient int64) (err error) {
	s.whole = true
	low := s.known.eager
	if s.Wake || s.who.Ends {
		low = lowest(low, s.known.patient)
	}
	if err = s.walk(v, recipient, s.known.due(s.now)-1, 1); err == nil && low != 0 {
		err = s.walk(v, recipient, low-1, 0)
	}
	if err == nil && (s.Typed || s.Wake || !s.who.Prompt) && s.policy.May(policy.Manual) &&
		!s.policy.Quiet.Holds(s.now) {
		err = s.walk(v, recipient, 0, 0, inbox.Next, inbox.Wake) // what their dispatchers asked for
	}
	if slices.Sort(s.ids); len(s.ids) > maxTaken {
		s.ids, s.whole = s.ids[:maxTaken], false
	}
	return err
}

// walk looks at the messages after `after`, that many pages of them (0: all), while there is room for those that the
// policy lets in.
func (s *Arrivals) walk(v *store.View, recipient, after int64, pages int, deliver ...inbox.Deliver) error {
	free := maxTaken
	for n := 1; ; n++ {
		ms, err := inbox.Heads(v, recipient, after, heads, deliver...)
		if err != nil {
			return err
		}
		for _, m := range ms {
			after = m.ID
			switch d := policy.Decide(m, s.policy, s.who, s.now); {
			case !s.lets(d):
				s.whole = s.whole && d.When != policy.AtPause && d.Mode != policy.Interrupt
			case free == 0:
				s.whole = false
				return nil
			default:
				if free--; !slices.Contains(s.ids, m.ID) {
					s.ids = append(s.ids, m.ID)
				}
			}
		}
		if len(ms) < heads || n == pages {
			return nil
		}
	}
}

// Sorted records what a seam let in. If that was everything, the policy lets nothing in on its own until more comes.
func (m *Delivery) Sorted(agent int64, s Arrivals) {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	k := &m.Tray(agent).sorting
	if !s.whole || len(s.Taken) < len(s.ids) || k.looks != s.known.looks {
		return
	}
	k.eager = 0
	if s.Wake || s.who.Ends {
		k.patient = 0
	}
}

// Handled tells the human which messages were handled while they paused.
func Handled(ms []inbox.Message) string {
	if len(ms) == 1 {
		return fmt.Sprintf("Handled message from %s while you were thinking", inbox.Label(ms[0].From))
	}
	return fmt.Sprintf("Handled %d messages while you were idle", len(ms))
}
