package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fantail/inbox"
	"fantail/store"
)

// The sorter looks at mail that arrived for agents whose policy says more than what
// the dispatchers asked: it forks agents, bids those at rest start a turn, and keeps
// the one timer that pauses, the end of quiet, schedules and snoozed mail need. What
// enters a context, and when, the agent's own loop decides at each seam.

// sorting is what the sorter knows of an agent's mail. eager and patient may name a
// message that was taken meanwhile, and never one behind the first that waits.
type sorting struct {
	upTo    int64     // it has looked at all up to this message
	again   int64     // it is to look once more at those from this one on; 0: at none
	refused int64     // the first message for which there were too many forks; 0: none
	freed   bool      // a fork has ended since the sorter looked
	until   time.Time // the policy may decide otherwise by itself then; zero: never
	eager   int64     // the first message that by policy starts a turn or enters at a seam; 0: none
	patient int64     // the first that waits for a pause; 0: none
	looks   int       // how often anything of the above may have changed
}

// anew forgets what is known: all is to be looked at again.
func (s *sorting) anew() { *s = sorting{looks: s.looks + 1} }

// due is the first message to be looked at.
func (s sorting) due(now time.Time) int64 {
	switch {
	case !s.until.IsZero() && !now.Before(s.until):
		return 1
	case s.again != 0:
		return min(s.again, s.upTo+1)
	}
	return s.upTo + 1
}

// seen notes a message, and reports whether it may start a turn.
func (s *sorting) seen(id int64, d inbox.Decision) bool {
	s.looks++
	switch {
	case d.When == inbox.AtPause:
		s.patient = lowest(s.patient, id)
	case d.Mode == inbox.Interrupt:
		s.eager = lowest(s.eager, id)
		return true
	}
	return d.When == inbox.Wakes
}

// lowest is the lower of two ids; 0 is none.
func lowest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// look has the sorter look at the agent's mail from message `from` on; 0: all of it.
// The caller holds mu.
func (a *agent) look(from int64) {
	if a.info.State.Terminal() {
		return
	}
	a.sorting.again = lowest(a.sorting.again, max(from, 1))
	a.p.unsorted[a.id]++
	token(a.p.sorts)
}

// unawaited has the sorter look at what a wait of the agent left: it waits for nobody
// now.
func (p *Pool) unawaited(agent int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.living[agent]; a != nil && a.info.Pending > 0 && !a.policy().Plain() {
		a.look(0)
	}
}

// forkEnded has the sorter try again the messages for which there were too many forks,
// and no others. The caller holds mu.
func (a *agent) forkEnded() {
	if a.sorting.freed = true; a.sorting.refused != 0 {
		a.p.unsorted[a.id]++
		token(a.p.sorts)
	}
}

// lookAtAll is look for all that live. The caller holds mu.
func (p *Pool) lookAtAll() {
	for _, a := range p.living {
		a.sorting.anew()
		a.look(0)
	}
	token(p.sorts)
}

// sorter is the goroutine that sorts mail.
func (p *Pool) sorter() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next := p.sortMail(p.ctx)
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(max(time.Millisecond, next.Sub(p.o.Now())))
		}
		select {
		case <-p.ctx.Done():
			return
		case <-p.sorts:
		case <-timer.C:
		}
	}
}

// sortMail looks at all that is to be looked at, and returns when it must look
// again though nothing comes; zero: never.
func (p *Pool) sortMail(ctx context.Context) (next time.Time) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	now := p.o.Now()
	p.mu.Lock()
	over := p.quiet.On && !p.quiet.Holds(now)
	p.mu.Unlock()
	if over {
		if err := p.quietOver(ctx); err != nil {
			p.troubleMain(err)
			sooner(now.Add(sortAgain))
		}
	}
	back, err := p.unsnooze(ctx)
	if err != nil && ctx.Err() == nil {
		p.troubleMain(err)
		back = now.Add(sortAgain)
	}
	sooner(back)
	for _, a := range p.toSort(now) {
		if err := p.sortOne(ctx, a); err != nil && ctx.Err() == nil {
			a.trouble(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet.On {
		sooner(p.quiet.Until)
	}
	for _, a := range p.living {
		if a.info.Pending > 0 {
			sooner(a.sorting.until)
		}
		if wait, waits := a.pauses(now); waits {
			sooner(now.Add(wait))
		}
	}
	return next
}

// pauses lets an agent at rest go on if the human pauses and mail waits for that;
// else it says how long no key may come for it to. The caller holds mu.
func (a *agent) pauses(now time.Time) (wait time.Duration, waits bool) {
	if a.sorting.patient == 0 || a.paused || !a.kind.HasPrompt() {
		return 0, false
	}
	m := inbox.Message{Kind: inbox.Mail} // one that is queued: only when matters here
	d := inbox.Decide(m, inbox.Policy{Human: inbox.Overrides{Mode: inbox.Queue, IdleAfter: a.policy().Pause()}}, a.recipient(now), now)
	if d.Due {
		a.paused = true
		a.poked()
		return 0, false
	}
	return d.Wait, d.Wait > 0
}

// toSort are the agents whose mail is to be looked at now: those that were bidden,
// and those whose policy decides otherwise by now.
func (p *Pool) toSort(now time.Time) (as []*agent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.unsorted {
		if p.living[id] == nil {
			delete(p.unsorted, id)
		}
	}
	for _, a := range p.living {
		if at := a.sorting.until; !at.IsZero() && !now.Before(at) {
			a.sorting.anew()
			a.look(0)
		}
		if p.unsorted[a.id] > 0 {
			as = append(as, a)
		}
	}
	return as
}

// sortAgain is how long the sorter waits after a failure before it looks again.
const sortAgain = 10 * time.Second

// heads is how many messages are looked at at a time.
const heads = 500

// sift is one look at an agent's mail.
type sift struct {
	policy  inbox.Policy
	who     inbox.Recipient
	now     time.Time
	known   int64           // it has looked at all up to this message before
	found   []inbox.Message // those behind it that are not forked
	upTo    int64           // the last message it looked at
	refused int64           // the first for which there were too many forks; 0: none
}

// sift looks at the messages behind `after`, and forks the agent for those it is to be
// forked for: of those it knows only up to the first that is refused. One too many is
// made when one of the others has ended; what comes behind it waits for neither.
func (p *Pool) sift(ctx context.Context, a *agent, s *sift, after int64) (failed error) {
	for n := heads; n == heads; {
		ms, err := p.inbox.Heads(ctx, a.id, after, heads)
		if err != nil {
			return err
		}
		n = len(ms)
		for _, m := range ms {
			after, s.upTo = m.ID, m.ID
			if inbox.Decide(m, s.policy, s.who, s.now).When != inbox.Forked {
				if m.ID > s.known {
					s.found = append(s.found, m)
				}
				continue
			}
			if s.refused != 0 {
				continue
			}
			switch err := p.fork(ctx, a, m.ID); {
			case errors.Is(err, errForks):
				s.refused = m.ID
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

// sortOne looks at the mail of one agent that it has not looked at, and at what was
// refused, if a fork has ended.
func (p *Pool) sortOne(ctx context.Context, a *agent) error {
	now := p.o.Now()
	p.mu.Lock()
	asked, k := p.unsorted[a.id], &a.sorting
	s := sift{policy: a.policy(), who: a.recipient(now), now: now, known: k.upTo}
	if k.again != 0 {
		s.known = min(s.known, k.again-1)
	}
	after := s.known
	if k.freed && k.refused != 0 {
		after, k.refused = min(after, k.refused-1), 0
	}
	k.upTo, k.again, k.freed = s.known, 0, false
	idle := a.info.Pending == 0 || s.policy.Plain()
	p.mu.Unlock()
	var failed error
	if !idle {
		failed = p.sift(ctx, a, &s, after)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a.sorting.until = a.policy().Changes(now)
	if a.policy().Plain() {
		a.sorting.until = time.Time{}
	}
	if at := now.Add(sortAgain); failed != nil && (a.sorting.until.IsZero() || at.Before(a.sorting.until)) {
		a.sorting.until = at
	}
	a.sorting.upTo, a.sorting.refused = max(a.sorting.upTo, s.upTo), lowest(a.sorting.refused, s.refused)
	wake := s.policy.Plain() && a.info.Pending > 0 // perhaps one of them asks for it; the turn looks
	for _, m := range s.found {
		wake = a.sorting.seen(m.ID, inbox.Decide(m, s.policy, s.who, now)) || wake
	}
	if wake && a.kind.HasPrompt() {
		a.wakes++
	}
	if wake {
		a.poked()
	}
	if p.unsorted[a.id] -= asked; p.unsorted[a.id] <= 0 {
		delete(p.unsorted, a.id)
		p.told()
	}
	if a.sorting.freed { // while it looked
		a.forkEnded()
	}
	return failed
}

// recipient is what decides about its mail besides policy. The caller holds mu.
func (a *agent) recipient(now time.Time) inbox.Recipient {
	r := inbox.Recipient{
		Doing: inbox.Resting, Prompt: a.kind.HasPrompt(), Forked: a.kind == Fork, Stopped: a.hushed,
		Away: a.p.human.Away(now), Draft: a.p.human.Drafting(a.id),
	}
	switch i := a.info; {
	case i.State.Terminal():
		r.Doing = inbox.Ended
	case i.State == Asking:
		r.Doing = inbox.Asking
	case i.State == Waiting:
		r.Doing = inbox.Receiving
	case i.State == Idle:
	case i.Doing == "compacting":
		r.Doing = inbox.Compacting
	case i.Doing == "streaming" || i.Doing == "starting":
		r.Doing = inbox.Streaming
	default:
		r.Doing = inbox.Tooling
	}
	return r
}

// arrivals are the mail that enters at one seam, and what decides about it.
type arrivals struct {
	policy inbox.Policy
	who    inbox.Recipient
	now    time.Time
	typed  bool    // a prompt of the human enters
	wake   bool    // a turn begins here if mail came that starts one
	pause  bool    // the human pauses, and mail waited for that
	ids    []int64 // what the policy lets in, oldest first, at most maxTaken; of a plain one: not looked for
	whole  bool    // no other message waits that it lets in by itself, now or later
	known  sorting
	taken  []inbox.Message
}

// arrivals finds what enters at the seam where the agent stands.
func (a *agent) arrivals(tx *store.Tx, typed, wake bool) (arrivals, error) {
	a.p.mu.Lock()
	now := a.p.o.Now()
	s := arrivals{
		policy: a.policy(), who: a.recipient(now), now: now, typed: typed, wake: wake, pause: a.paused && wake && !typed, known: a.sorting,
	}
	a.p.mu.Unlock()
	s.who.Ends = a.through
	if s.policy.Plain() {
		if wake && !typed { // that something came is no proof that it still waits
			var err error
			s.wake, err = a.p.inbox.Any(tx, inbox.Query{Recipient: a.id, Deliver: []inbox.Deliver{inbox.Wake}})
			return s, err
		}
		return s, nil
	}
	return s, s.pick(&tx.View, a.id)
}

// lets reports whether a message enters here.
func (s arrivals) lets(d inbox.Decision) bool {
	switch d.When {
	case inbox.AtSeam, inbox.AtOnce, inbox.Wakes:
		return s.typed || s.wake || d.Mode == inbox.Interrupt || !s.who.Prompt
	case inbox.WithPrompt:
		return s.typed
	case inbox.AtPause:
		return d.Due && (s.wake || s.who.Ends)
	}
	return false
}

// pick looks for what the policy lets in: among what the sorter knows, and at the head
// of what came too late for it to have looked at.
func (s *arrivals) pick(v *store.View, recipient int64) (err error) {
	s.whole = true
	low := s.known.eager
	if s.wake || s.who.Ends {
		low = lowest(low, s.known.patient)
	}
	if err = s.walk(v, recipient, s.known.due(s.now)-1, 1); err == nil && low != 0 {
		err = s.walk(v, recipient, low-1, 0)
	}
	if err == nil && (s.typed || s.wake || !s.who.Prompt) && s.policy.May(inbox.Manual) && !s.policy.Quiet.Holds(s.now) {
		err = s.walk(v, recipient, 0, 0, inbox.Next, inbox.Wake) // what their dispatchers asked for
	}
	if slices.Sort(s.ids); len(s.ids) > maxTaken {
		s.ids, s.whole = s.ids[:maxTaken], false
	}
	return err
}

// walk looks at the messages behind `after`, that many pages of them (0: all), as far
// as there is room for those it lets in.
func (s *arrivals) walk(v *store.View, recipient, after int64, pages int, deliver ...inbox.Deliver) error {
	room := maxTaken
	for n := 1; ; n++ {
		ms, err := inbox.Heads(v, recipient, after, heads, deliver...)
		if err != nil {
			return err
		}
		for _, m := range ms {
			after = m.ID
			switch d := inbox.Decide(m, s.policy, s.who, s.now); {
			case !s.lets(d):
				s.whole = s.whole && d.When != inbox.AtPause && d.Mode != inbox.Interrupt
			case room == 0:
				s.whole = false
				return nil
			default:
				if room--; !slices.Contains(s.ids, m.ID) {
					s.ids = append(s.ids, m.ID)
				}
			}
		}
		if len(ms) < heads || n == pages {
			return nil
		}
	}
}

// sorted notes what a seam let in. If that was all, the policy lets nothing in by
// itself until more comes.
func (a *agent) sorted(s arrivals) {
	if a.through = false; s.pause {
		a.handled = s.taken
	}
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	if !s.whole || len(s.taken) < len(s.ids) || a.sorting.looks != s.known.looks {
		return
	}
	a.sorting.eager = 0
	if s.wake || s.who.Ends {
		a.sorting.patient = 0
	}
}
