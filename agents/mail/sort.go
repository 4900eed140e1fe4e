package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
)

// The sorter looks at the mail of agents whose policy says more than what the dispatchers asked for: it forks agents,
// makes idle ones start a turn, and runs the one timer that pauses, the end of quiet, schedules and snoozed mail need.
// The agent's own loop decides at its seams what enters a context, and when.

// sorting is what the sorter knows of an agent's mail. eager and patient may name a message that was taken meanwhile,
// but never one after the first that is pending.
type sorting struct {
	upTo    int64     // it has looked at all messages up to this one
	again   int64     // it must look again at the messages from this one on; 0: none
	refused int64     // the first message for which there were too many forks; 0: none
	freed   bool      // a fork has ended since the sorter looked
	until   time.Time // when the policy may decide differently on its own; zero: never
	eager   int64     // the first message that by policy starts a turn or enters at a seam; 0: none
	patient int64     // the first message that waits for a pause; 0: none
	looks   int       // how often any of the above may have changed
}

// anew forgets what is known: all mail must be looked at again.
func (s *sorting) anew() { *s = sorting{looks: s.looks + 1} }

// due returns the first message to look at.
func (s sorting) due(now time.Time) int64 {
	switch {
	case !s.until.IsZero() && !now.Before(s.until):
		return 1
	case s.again != 0:
		return min(s.again, s.upTo+1)
	}
	return s.upTo + 1
}

// seen records a message, and reports whether it may start a turn.
func (s *sorting) seen(id int64, d policy.Decision) bool {
	s.looks++
	switch {
	case d.When == policy.AtPause:
		s.patient = lowest(s.patient, id)
	case d.Mode == policy.Interrupt:
		s.eager = lowest(s.eager, id)
		return true
	}
	return d.When == policy.Wakes
}

// lowest returns the lower of two ids; 0 means none.
func lowest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// look has the sorter look at the agent's mail from message `from` on; 0: at all of it. The caller holds the fleet's mutex.
func (m *Delivery) look(agent, from int64) {
	t := m.Tray(agent)
	t.sorting.again = lowest(t.sorting.again, max(from, 1))
	t.asked++
	m.Stir()
}

// lookAnew has it look at all of it, with nothing known. The caller holds the fleet's mutex.
func (m *Delivery) lookAnew(agent int64) {
	m.Tray(agent).sorting.anew()
	m.look(agent, 0)
}

// forkEnded has the sorter retry the messages for which there were too many forks of the agent, and no others. The
// caller holds the fleet's mutex.
func (m *Delivery) forkEnded(agent int64) {
	t := m.Tray(agent)
	if t.sorting.freed = true; t.sorting.refused != 0 {
		t.asked++
		m.Stir()
	}
}

// LookAtAll makes the sorter look at all mail of living agents, as if it knew nothing of it. The caller holds the
// fleet's mutex.
func (m *Delivery) LookAtAll() {
	for id := range m.trays {
		m.lookAnew(id)
	}
	m.Stir()
}

// Run sorts mail until ctx ends.
func (m *Delivery) Run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next := m.sortMail(ctx)
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(max(time.Millisecond, next.Sub(m.now())))
		}
		select {
		case <-ctx.Done():
			return
		case <-m.due:
		case <-timer.C:
		}
	}
}

// sortMail looks at everything that is due, and returns when it must look again even if nothing comes; zero: never.
func (m *Delivery) sortMail(ctx context.Context) (next time.Time) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	now := m.now()
	m.fleet.Lock()
	over := m.quiet.On && !m.quiet.Holds(now)
	m.fleet.Unlock()
	if over {
		if err := m.quietOver(ctx); err != nil {
			m.fleet.Trouble(err)
			sooner(now.Add(sortAgain))
		}
	}
	back, err := m.unsnooze(ctx)
	if err != nil && ctx.Err() == nil {
		m.fleet.Trouble(err)
		back = now.Add(sortAgain)
	}
	sooner(back)
	for _, agent := range m.toSort(now) {
		if err := m.sortOne(ctx, agent); err != nil && ctx.Err() == nil {
			if a, gone := m.fleet.Agent(agent); gone == nil {
				a.Trouble(err)
			}
		}
	}
	m.fleet.Lock()
	defer m.fleet.Unlock()
	if m.quiet.On {
		sooner(m.quiet.Until)
	}
	for a := range m.fleet.Living() {
		i, t := &a.Info, m.Tray(a.ID)
		if i.Pending > 0 {
			sooner(t.sorting.until)
		}
		if wait, waits := m.pauses(i, t, now); waits {
			sooner(now.Add(wait))
		}
	}
	return next
}

// pauses lets an idle agent go on if the human has paused and mail waits for that; otherwise it returns how much longer
// the human must not press a key. The caller holds the fleet's mutex.
func (m *Delivery) pauses(i *event.Info, t *AgentMail, now time.Time) (wait time.Duration, waits bool) {
	if t.sorting.patient == 0 || t.paused || !i.Rests() {
		return 0, false
	}
	queued := inbox.Message{Kind: inbox.Mail} // only the time matters here
	patient := policy.Policy{Human: policy.Overrides{Mode: policy.Queue, IdleAfter: m.policy(i).Pause()}}
	d := policy.Decide(queued, patient, m.recipient(i, now), now)
	if d.Due {
		t.paused = true
		m.poke(i.ID)
		return 0, false
	}
	return d.Wait, d.Wait > 0
}

// toSort returns the agents whose mail must be looked at now: those the sorter was asked to look at, and those whose
// policy may decide differently by now.
func (m *Delivery) toSort(now time.Time) (agents []int64) {
	m.fleet.Lock()
	defer m.fleet.Unlock()
	for id, t := range m.trays {
		if at := t.sorting.until; !at.IsZero() && !now.Before(at) {
			m.lookAnew(id)
		}
		if t.asked > 0 {
			agents = append(agents, id)
		}
	}
	return agents
}

// sortAgain is how long the sorter waits after a failure before it looks again.
const sortAgain = 10 * time.Second

// heads is how many messages are read at once.
const heads = 500

// sift is one look at an agent's mail.
type sift struct {
	policy  policy.Policy
	who     policy.Recipient
	now     time.Time
	known   int64           // it had looked at all messages up to this one before
	found   []inbox.Message // those after it that are not forked
	upTo    int64           // the last message it looked at
	refused int64           // the first for which there were too many forks; 0: none
	waits   int64           // the last message for a fork, of an agent that can't be forked; 0: none
}

// sift looks at the messages after `after`, and forks the agent for those that the policy wants forks for. Among
// messages it knew before, it stops at the first for which there were too many forks: that one is retried once a fork
// has ended.
func (m *Delivery) sift(ctx context.Context, agent int64, s *sift, after int64) (failed error) {
	for n := heads; n == heads; {
		ms, err := m.inbox.Heads(ctx, agent, after, heads)
		if err != nil {
			return err
		}
		n = len(ms)
		for _, msg := range ms {
			after, s.upTo = msg.ID, msg.ID
			if d := policy.Decide(msg, s.policy, s.who, s.now); d.When != policy.Forked {
				if msg.ID > s.known {
					s.found = append(s.found, msg)
					if d.Mode == policy.Fork {
						s.waits = msg.ID
					}
				}
				continue
			}
			if s.refused != 0 {
				continue
			}
			switch err := m.forks.Fork(ctx, agent, msg.ID); {
			case errors.Is(err, ErrForks):
				s.refused = msg.ID
			case err != nil && ctx.Err() == nil:
				failed = fmt.Errorf("%w; it waits in the inbox", err)
			}
		}
		if s.refused != 0 {
			after = max(after, s.known)
		}
	}
	return failed
}

// sortOne looks at an agent's new mail, and, if a fork has ended, at what was refused.
func (m *Delivery) sortOne(ctx context.Context, agent int64) error {
	now := m.now()
	m.fleet.Lock()
	i, t := m.info(agent), m.Tray(agent)
	if i == nil {
		m.fleet.Unlock()
		return nil
	}
	asked, k := t.asked, &t.sorting
	s := sift{policy: m.policy(i), who: m.recipient(i, now), now: now, known: k.upTo}
	if k.again != 0 {
		s.known = min(s.known, k.again-1)
	}
	after := s.known
	if k.freed && k.refused != 0 {
		after, k.refused = min(after, k.refused-1), 0
	}
	k.upTo, k.again, k.freed = s.known, 0, false
	idle := i.Pending == 0 || s.policy.Plain()
	m.fleet.Unlock()
	var failed error
	if !idle {
		failed = m.sift(ctx, agent, &s, after)
	}
	m.fleet.Lock()
	defer m.fleet.Unlock()
	if i = m.info(agent); i == nil || m.trays[agent] != t {
		return failed // it ended meanwhile
	}
	says := m.policy(i)
	if k.until = says.Changes(now); says.Plain() {
		k.until = time.Time{}
	}
	if at := now.Add(sortAgain); failed != nil && (k.until.IsZero() || at.Before(k.until)) {
		k.until = at
	}
	k.upTo, k.refused = max(k.upTo, s.upTo), lowest(k.refused, s.refused)
	wake := s.policy.Plain() && i.Pending > 0 // one of them may ask for it; the turn looks
	for _, msg := range s.found {
		wake = k.seen(msg.ID, policy.Decide(msg, s.policy, s.who, now)) || wake
	}
	if wake && i.Rests() {
		t.wakes++
	}
	if wake {
		m.poke(agent)
	}
	if t.asked -= asked; t.asked == 0 {
		m.fleet.Told()
	}
	if k.freed { // a fork ended during the look
		m.forkEnded(agent)
	}
	if failed == nil && s.waits != 0 {
		return fmt.Errorf("message #%d waits in the inbox, %s", s.waits, policy.Unforkable)
	}
	return failed
}

// recipient returns what decides about an agent's mail besides policy. The caller holds the fleet's mutex.
func (m *Delivery) recipient(i *event.Info, now time.Time) policy.Recipient {
	r := policy.Recipient{
		Doing: policy.Resting, Prompt: i.Kind.HasPrompt() || i.State == event.Idle, Forked: !i.Kind.Nature().Forks, Stopped: m.Tray(i.ID).hushed,
		Away: m.fleet.Humans.Away(now), Draft: m.fleet.Humans.Drafting(i.ID),
	}
	_, r.Abroad = i.Abroad()
	switch {
	case i.State.Terminal():
		r.Doing = policy.Ended
	case i.State == event.Asking:
		r.Doing = policy.Asking
	case i.State == event.Waiting:
		r.Doing = policy.Receiving
	case i.State == event.Idle:
	case i.Doing == "compacting":
		r.Doing = policy.Compacting
	case i.Doing == "streaming" || i.Doing == "starting":
		r.Doing = policy.Streaming
	default:
		r.Doing = policy.Tooling
	}
	return r
}

// unsnooze makes messages pending whose snooze is over, and returns when the next one ends; zero: no other is snoozed.
func (m *Delivery) unsnooze(ctx context.Context) (next time.Time, err error) {
	next, err = m.inbox.NextSnoozed(ctx)
	if err != nil || next.IsZero() || next.After(m.now()) {
		return next, err
	}
	err = m.db.Write(ctx, "end snoozes", func(tx *store.Tx) error {
		next, err = m.inbox.Unsnooze(tx)
		return err
	})
	return next, err
}
