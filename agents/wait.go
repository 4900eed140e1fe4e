package agents

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"fantail/inbox"
)

// wait is an agent that goes on when something arrives.
type wait struct {
	agent    *agent
	from     string // the one sender it waits for; "": any
	children bool   // it waits for the work it dispatched
	task     int64  // it waits for the end of this task, which always comes; 0: none
	patient  bool   // moved to the background, the task may take longer
	moved    bool   // to the background
	outside  bool   // mail from outside may end it
	mail     bool   // it waits for a message, and for nothing else
	why      string // nothing can end it: found by another of its circle
	poke     chan struct{}
	looked   int64 // the pool's version as of which it found nothing
}

func (w *wait) poked() { token(w.poke) }

// join registers a wait; the function it returns ends it.
func (p *Pool) join(w *wait) (end func()) {
	w.poke = make(chan struct{}, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits[w] = struct{}{}
	p.told()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waits, w)
		if a := w.agent; a.info.Pending > 0 && !a.policy().Plain() {
			a.look(0) // what it left waits for nobody now
		}
		p.told()
	}
}

// awaits reports whether w may take m.
func (w *wait) awaits(m inbox.Message) bool {
	switch {
	case w.task != 0:
		return w.task == m.Task
	case w.children:
		return m.Task != 0
	}
	return w.from == "" || w.from == m.From
}

// awaited reports whether the agent, or the human in its tab, waits for m.
func (p *Pool) awaited(a *agent, m inbox.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := range p.waits {
		if w.agent == a && w.awaits(m) {
			return true
		}
	}
	return false
}

// version counts the deposits and the changes of who can act. Read it before
// looking for messages.
func (p *Pool) versionNow() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

// looked notes that w found nothing as of version. The last waiter to look makes
// the others judge anew whether they are stuck. False: something changed since w
// looked, and w is poked to look again.
func (p *Pool) looked(w *wait, version int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sawNothing(w, version)
}

// sawNothing is looked for a caller that holds mu.
func (p *Pool) sawNothing(w *wait, version int64) bool {
	if version != p.version {
		return false
	}
	if w.looked == version {
		return true
	}
	w.looked = version
	for v := range p.waits {
		if v.looked != version {
			return true
		}
	}
	for v := range p.waits {
		if v != w {
			v.poked()
		}
	}
	return true
}

// stuck reports whether nothing can ever end w, and why; w found nothing when it
// looked as of version. A waiter lives if a possible sender lives: those that
// run or ask, tasks about to start and, where a human is, the human's agents at rest live; so do
// waiters that have not looked since something changed, for a message may be
// there for them; other waiters come to life from these, to a fixpoint. What is
// left waits for each other or for nobody.
func (p *Pool) stuck(w *wait, version int64) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.sawNothing(w, version) {
		return "", false
	}
	if w.why != "" {
		return w.why, true
	}
	blocked := map[*agent]bool{}
	for v := range p.waits { // an agent that waits for several is blocked if all are
		if v.agent.info.State == Waiting {
			already, more := blocked[v.agent]
			blocked[v.agent] = v.looked == p.version && (already || !more)
		}
	}
	can := actors{names: map[string]bool{}, work: map[int64]bool{}}
	for _, a := range p.living {
		if !blocked[a] && !a.dormant() && (a.info.State != Idle || p.o.Attended) {
			can.add(a.info.Name, a.info.Parent)
		}
	}
	for grew := true; grew; {
		grew = false
		for q := range p.queue.All() {
			if !can.names[q.Name] && p.queue.Wanted(q) && p.queue.WillStart(q, can.names) {
				can.add(q.Name, q.Slot.Owner)
				grew = true
			}
		}
		for v := range p.waits {
			if i := v.agent.info; !can.names[i.Name] && can.end(v) {
				can.add(i.Name, i.Parent)
				grew = true
			}
		}
	}
	if can.end(w) {
		return "", false
	}
	for _, v := range p.circle(w, can) { // once w goes on, they could not tell any more
		v.why = p.explain(v)
		v.poked()
	}
	return p.explain(w), true
}

// circle are the waits for a message that wait for w as w waits for them, directly or
// over others, and that nothing can end either.
func (p *Pool) circle(w *wait, can actors) (vs []*wait) {
	for v := range p.waits {
		if v != w && w.mail && v.mail && v.why == "" && !can.end(v) && p.leads(w, v) && p.leads(v, w) {
			vs = append(vs, v)
		}
	}
	return vs
}

// leads reports whether w waits for v's agent, directly or over others that wait.
func (p *Pool) leads(w, v *wait) bool {
	seen, next := map[*wait]bool{w: true}, []*wait{w}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for u := range p.waits {
			if !u.mail || u.agent == at.agent || at.from != "" && at.from != u.agent.info.Name {
				continue
			}
			if u == v {
				return true
			}
			if !seen[u] {
				seen[u] = true
				next = append(next, u)
			}
		}
	}
	return false
}

// actors are the agents and tasks that can still act.
type actors struct {
	names map[string]bool
	work  map[int64]bool // whose work one of them is
}

func (c actors) add(name string, dispatcher int64) { c.names[name], c.work[dispatcher] = true, true }

// end reports whether one of them can end v.
func (c actors) end(v *wait) bool {
	name := v.agent.info.Name
	switch {
	case v.outside:
		return true
	case v.from != "":
		return v.from != name && c.names[v.from]
	case v.children:
		return c.work[v.agent.id]
	}
	return len(c.names) > 1 || len(c.names) == 1 && !c.names[name]
}

// explain says why nothing can end w, with the next step.
func (p *Pool) explain(w *wait) string {
	idle, named := 0, false
	var after []string
	for q := range p.queue.All() {
		if !p.queue.Wanted(q) {
			idle++
			named = named || q.Name == w.from
		}
		if q.Name == w.from && len(q.Needs) > 0 {
			after = q.Waits()
		}
	}
	switch {
	case len(after) > 0:
		return fmt.Sprintf("%s is queued and waits for %s, which can't go on: /queue", w.from, strings.Join(after, ", "))
	case named:
		return w.from + " is queued and has not started: /run"
	case idle == 1 && w.from == "":
		return "1 task is queued, none runs: /run"
	case idle > 1 && w.from == "":
		return fmt.Sprintf("%d tasks are queued, none runs: /run", idle)
	case w.from == "":
		if chain := p.chain(w); chain != "" {
			return chain
		}
		return "no running or queued agents"
	}
	for _, a := range p.agents {
		if a.info.Name != w.from {
			continue
		}
		if a.info.State.Terminal() {
			return fmt.Sprintf("%s has ended (%s)", w.from, a.info.State)
		}
		if a.dormant() {
			return w.from + " waits for your answer, and nobody is here to be asked"
		}
		if chain := p.chain(w); chain != "" {
			return chain
		}
	}
	return fmt.Sprintf("there is no agent %s", w.from)
}

// chain spells out who waits for whom.
func (p *Pool) chain(w *wait) string {
	var parts []string
	for v := range p.waits {
		if v.agent.info.State != Waiting && v != w {
			continue
		}
		switch {
		case v.children:
			parts = append(parts, v.agent.info.Name+" waits for the work it dispatched")
		case v.from == "":
			parts = append(parts, v.agent.info.Name+" waits for any message")
		default:
			parts = append(parts, v.agent.info.Name+" waits for "+v.from)
		}
	}
	if len(parts) < 2 {
		return ""
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// await keeps a sub-agent whose own dispatched work still runs from finishing:
// it waits, without a request and without a slot, and goes on when they report.
func (a *agent) await(ctx context.Context) error {
	if a.kind.HasPrompt() || a.wrapsUp() || len(a.owed()) == 0 {
		return nil
	}
	waiting, release := a.steerable(ctx)
	defer release()
	w := &wait{agent: a, children: true}
	end := a.p.join(w)
	regain := a.aside("waiting for " + strings.Join(a.owed(), ", "))
	resume := func(ctx context.Context) error {
		end()
		return regain(ctx)
	}
	for {
		version := a.p.versionNow()
		reported := false
		if a.hasMail() {
			ms, err := a.p.inbox.List(ctx, inbox.Query{Recipient: a.id, Deliver: []inbox.Deliver{inbox.Next, inbox.Wake}, Limit: 1})
			if err != nil && ctx.Err() == nil {
				end()
				return fmt.Errorf("look for reports: %w", err)
			}
			reported = len(ms) > 0
		}
		if reported || len(a.owed()) == 0 {
			return resume(ctx)
		}
		// Whoever of the work waits for this agent learns that nothing can come.
		// Work that runs always ends; tasks that wait for others, which wait for
		// this agent, do not start before it has ended.
		if a.hasLive() {
			a.p.looked(w, version)
		} else if _, stuck := a.p.stuck(w, version); stuck {
			return resume(ctx)
		}
		select {
		case <-w.poke:
		case <-waiting.Done():
			if ctx.Err() == nil { // the prompt that ended the wait enters at this seam
				return resume(ctx)
			}
			end()
			return context.Cause(ctx)
		}
	}
}

// owed names the work the agent dispatched that still runs or is about to start.
func (a *agent) owed() []string {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	var names []string
	for _, b := range a.p.workOf(a.id) {
		names = append(names, b.info.Name)
	}
	for _, q := range a.p.queue.Of(a.id) {
		if a.p.queue.Wanted(q) {
			names = append(names, q.Name)
		}
	}
	sort.Strings(names)
	return names
}

// hasLive reports whether an agent that this one dispatched lives.
func (a *agent) hasLive() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return len(a.p.workOf(a.id)) > 0
}

// hasMail reports whether a message is pending for the agent. A waiter asks before
// it reads the inbox: it is woken by whatever happens, most of which is no mail.
func (a *agent) hasMail() bool {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	return a.info.Pending > 0
}
