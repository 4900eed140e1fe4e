package tasks

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"fantail/agents/event"
)

// stuck records that w found nothing as of version, and reports whether nothing can ever end it, and why. It also
// returns false if something changed since w looked; w is poked then.
//
// A waiter is alive if a possible sender is alive. Alive are: agents that run; tasks about to start; agents that rest
// or ask, and whatever is scheduled, if a human attends both them and the waiter; and waiters that have not looked
// since something changed, since a message may be there for them. Other waiters come alive through these, up to a
// fixpoint. The remaining ones wait for each other, or for no agent at all.
func (ws *Waits) stuck(w *Wait, version int64) (why string, is bool) {
	ws.agents.Hold(func() {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		if !ws.sawNothing(w, version) || ws.comes(w) {
			return
		}
		if why, is = w.why, w.why != ""; is {
			return
		}
		can := ws.able()
		if ws.canEnd(can, w) {
			return
		}
		for v := range ws.circle(w, can) { // once w goes on, they could no longer find out
			v.why = ws.explain(v)
			v.lookAgain()
		}
		why, is = ws.explain(w), true
	})
	return why, is
}

// sawNothing records that w found nothing as of version. When the last waiter has looked, the others check again
// whether they are stuck. It returns false if something changed since w looked.
func (ws *Waits) sawNothing(w *Wait, version int64) bool {
	if version != ws.version {
		return false
	}
	if w.looked == version {
		return true
	}
	w.looked = version
	for v := range ws.all() {
		if v.looked != version {
			return true
		}
	}
	for v := range ws.all() {
		if v != w {
			v.lookAgain()
		}
	}
	return true
}

// comes reports whether w's end comes no matter what others do: a single task always ends, and so does work that has
// started. Dispatched tasks that wait for others, which in turn wait for this agent, don't start before it ends, so
// they don't count.
func (ws *Waits) comes(w *Wait) bool {
	if !w.Children {
		return w.Task != 0
	}
	for a := range ws.agents.Living() {
		if a.Tasked && a.Parent == w.Agent {
			return true
		}
	}
	return false
}

// actors are the agents and tasks that can still act.
type actors struct {
	names map[string]bool
	work  map[int64]bool // by dispatcher: one of them is its work
}

func (c actors) add(name string, dispatcher int64) { c.names[name], c.work[dispatcher] = true, true }

// able are the agents that can still act, for attended and unattended waiters.
type able struct {
	alone    actors // without a human: only these count for an unattended agent
	attended actors // these, and the agents that a human can make act
}

// of returns the ones that count for that agent.
func (c able) of(a Actor) actors {
	if a.Unattended {
		return c.alone
	}
	return c.attended
}

// able returns the agents that can still act. The caller holds ws.mu and is inside Hold.
func (ws *Waits) able() able {
	blocked := map[int64]bool{}
	for id, vs := range ws.of { // an agent with several waits is blocked if all of them are
		if a, ok := ws.agents.Agent(id); ok && a.State == event.Waiting {
			blocked[id] = !slices.ContainsFunc(vs, func(v *Wait) bool { return v.looked != ws.version })
		}
	}
	alone, attended := actors{names: map[string]bool{}, work: map[int64]bool{}}, actors{names: map[string]bool{}, work: map[int64]bool{}}
	for a := range ws.agents.Living() {
		rests := a.State == event.Idle || a.State == event.Asking
		switch {
		case blocked[a.ID]:
		case !rests:
			alone.add(a.Name, a.Parent)
			attended.add(a.Name, a.Parent)
		case !a.Unattended:
			attended.add(a.Name, a.Parent)
		}
	}
	if ws.agents.Scheduled() { // its mail is for attended agents only, and has no named sender
		attended.add("", 0)
	}
	ws.spread(alone, func(Actor) bool { return true })
	maps.Copy(attended.names, alone.names)
	maps.Copy(attended.work, alone.work)
	ws.spread(attended, func(a Actor) bool { return !a.Unattended })
	return able{alone: alone, attended: attended}
}

// spread adds to can the tasks that start because of those in it, and the waiting agents that they can wake and that
// counts accepts.
func (ws *Waits) spread(can actors, counts func(Actor) bool) {
	tasks := ws.agents.Queue()
	for grew := true; grew; {
		grew = false
		for q := range tasks.All() {
			if !can.names[q.Name] && tasks.Wanted(q) && tasks.WillStart(q, can.names) {
				can.add(q.Name, q.Slot.Owner)
				grew = true
			}
		}
		for v := range ws.all() {
			if a, ok := ws.agents.Agent(v.Agent); ok && !can.names[a.Name] && counts(a) && canEnd(can, a.Name, v) {
				can.add(a.Name, a.Parent)
				grew = true
			}
		}
	}
}

// canEnd reports whether one of those that can act can end v.
func (ws *Waits) canEnd(can able, v *Wait) bool {
	a, _ := ws.agents.Agent(v.Agent)
	return canEnd(can.of(a), a.Name, v)
}

// canEnd reports whether an agent in can can end v, a wait of the agent of that name.
func canEnd(can actors, name string, v *Wait) bool {
	switch {
	case v.Outside:
		return true
	case v.From != "":
		return v.From != name && can.names[v.From]
	case v.Children:
		return can.work[v.Agent]
	}
	return len(can.names) > 1 || len(can.names) == 1 && !can.names[name]
}

// name returns the name of the waiting agent.
func (ws *Waits) name(v *Wait) string {
	a, _ := ws.agents.Agent(v.Agent)
	return a.Name
}

// circle returns the waits for a message that form a cycle with w, directly or through others, and that nothing else
// can end either.
func (ws *Waits) circle(w *Wait, can able) iter.Seq[*Wait] {
	in := map[*Wait]bool{}
	for v := range ws.all() {
		if v != w && w.Mail && v.Mail && v.why == "" && !ws.canEnd(can, v) && ws.leads(w, v) && ws.leads(v, w) {
			in[v] = true
		}
	}
	return maps.Keys(in)
}

// leads reports whether w waits for v's agent, directly or through others that wait.
func (ws *Waits) leads(w, v *Wait) bool {
	seen, next := map[*Wait]bool{w: true}, []*Wait{w}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for u := range ws.all() {
			if !u.Mail || u.Agent == at.Agent || at.From != "" && at.From != ws.name(u) {
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

// explain says why nothing can end w, and the next step to take.
func (ws *Waits) explain(w *Wait) string {
	idle, named := 0, false
	var after []string
	tasks := ws.agents.Queue()
	for q := range tasks.All() {
		if !tasks.Wanted(q) {
			idle++
			named = named || q.Name == w.From
		}
		if q.Name == w.From && len(q.Needs) > 0 {
			after = q.Waits()
		}
	}
	switch {
	case len(after) > 0:
		return fmt.Sprintf("%s is queued and waits for %s, which can't go on: /queue",
			w.From, strings.Join(after, ", "))
	case named:
		return w.From + " is queued and has not started: /run"
	case idle == 1 && w.From == "":
		return "1 task is queued, none runs: /run"
	case idle > 1 && w.From == "":
		return fmt.Sprintf("%d tasks are queued, none runs: /run", idle)
	case w.From == "":
		if chain := ws.chain(w); chain != "" {
			return chain
		}
		return "no running or queued agents"
	}
	if a, ok := ws.agents.Called(w.From); ok {
		if a.State.Terminal() {
			return fmt.Sprintf("%s has ended (%s)", w.From, a.State)
		}
		me, _ := ws.agents.Agent(w.Agent)
		switch {
		case me.Unattended && a.State == event.Asking:
			return w.From + " asks a human, and for you nobody is here to answer"
		case me.Unattended && a.State == event.Idle:
			return w.From + " is idle, and for you nobody is here to have it go on"
		}
		if chain := ws.chain(w); chain != "" {
			return chain
		}
	}
	return fmt.Sprintf("there is no agent %s", w.From)
}

// chain lists which agent waits for which.
func (ws *Waits) chain(w *Wait) string {
	var parts []string
	for v := range ws.all() {
		a, _ := ws.agents.Agent(v.Agent)
		if a.State != event.Waiting && v != w {
			continue
		}
		switch {
		case v.Children:
			parts = append(parts, a.Name+" waits for the work it dispatched")
		case v.From == "":
			parts = append(parts, a.Name+" waits for any message")
		default:
			parts = append(parts, a.Name+" waits for "+v.From)
		}
	}
	if len(parts) < 2 {
		return ""
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
