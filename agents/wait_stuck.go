package agents

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
)

// stuck notes that w found nothing as of version, and reports whether nothing can ever
// end it, and why. False too if something changed since w looked: w is poked then.
//
// A waiter lives if a possible sender lives: those that run or ask, tasks about to
// start and, where a human is, the human's agents at rest live; so do waiters that
// have not looked since something changed, for a message may be there for them; other
// waiters come to life from these, to a fixpoint. What is left waits for each other or
// for nobody.
func (ws *waits) stuck(w *wait, version int64) (why string, is bool) {
	ws.crowd.Hold(func() {
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
		for v := range ws.circle(w, can) { // once w goes on, they could not tell any more
			v.why = ws.explain(v)
			token(v.poke)
		}
		why, is = ws.explain(w), true
	})
	return why, is
}

// sawNothing notes that w found nothing as of version. The last waiter to look makes
// the others judge anew whether they are stuck. False: something changed since w looked.
func (ws *waits) sawNothing(w *wait, version int64) bool {
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
			token(v.poke)
		}
	}
	return true
}

// comes reports whether the end of w comes whatever others do: a single task always
// ends, and so does work that has started. Dispatched tasks that wait for others, which
// wait for this agent, do not start before it has ended.
func (ws *waits) comes(w *wait) bool {
	if !w.children {
		return w.task != 0
	}
	for a := range ws.crowd.Living() {
		if a.Tasked && a.Parent == w.agent {
			return true
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

// able are those that can still act.
func (ws *waits) able() actors {
	blocked := map[int64]bool{}
	for id, vs := range ws.of { // an agent that waits for several is blocked if all are
		if a, ok := ws.crowd.Agent(id); ok && a.State == Waiting {
			blocked[id] = !slices.ContainsFunc(vs, func(v *wait) bool { return v.looked != ws.version })
		}
	}
	can := actors{names: map[string]bool{}, work: map[int64]bool{}}
	for a := range ws.crowd.Living() {
		if a.Acts && !blocked[a.ID] {
			can.add(a.Name, a.Parent)
		}
	}
	tasks := ws.crowd.Queue()
	for grew := true; grew; {
		grew = false
		for q := range tasks.All() {
			if !can.names[q.Name] && tasks.Wanted(q) && tasks.WillStart(q, can.names) {
				can.add(q.Name, q.Slot.Owner)
				grew = true
			}
		}
		for v := range ws.all() {
			if a, ok := ws.crowd.Agent(v.agent); ok && !can.names[a.Name] && ws.canEnd(can, v) {
				can.add(a.Name, a.Parent)
				grew = true
			}
		}
	}
	return can
}

// canEnd reports whether one of those that can act can end v.
func (ws *waits) canEnd(can actors, v *wait) bool {
	name := ws.name(v)
	switch {
	case v.outside:
		return true
	case v.from != "":
		return v.from != name && can.names[v.from]
	case v.children:
		return can.work[v.agent]
	}
	return len(can.names) > 1 || len(can.names) == 1 && !can.names[name]
}

// name is who waits.
func (ws *waits) name(v *wait) string {
	a, _ := ws.crowd.Agent(v.agent)
	return a.Name
}

// circle are the waits for a message that wait for w as w waits for them, directly or
// over others, and that nothing can end either.
func (ws *waits) circle(w *wait, can actors) iter.Seq[*wait] {
	in := map[*wait]bool{}
	for v := range ws.all() {
		if v != w && w.mail && v.mail && v.why == "" && !ws.canEnd(can, v) && ws.leads(w, v) && ws.leads(v, w) {
			in[v] = true
		}
	}
	return maps.Keys(in)
}

// leads reports whether w waits for v's agent, directly or over others that wait.
func (ws *waits) leads(w, v *wait) bool {
	seen, next := map[*wait]bool{w: true}, []*wait{w}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for u := range ws.all() {
			if !u.mail || u.agent == at.agent || at.from != "" && at.from != ws.name(u) {
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

// explain says why nothing can end w, with the next step.
func (ws *waits) explain(w *wait) string {
	idle, named := 0, false
	var after []string
	tasks := ws.crowd.Queue()
	for q := range tasks.All() {
		if !tasks.Wanted(q) {
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
		if chain := ws.chain(w); chain != "" {
			return chain
		}
		return "no running or queued agents"
	}
	if a, ok := ws.crowd.Called(w.from); ok {
		if a.State.Terminal() {
			return fmt.Sprintf("%s has ended (%s)", w.from, a.State)
		}
		if a.Dormant {
			return w.from + " waits for your answer, and nobody is here to be asked"
		}
		if chain := ws.chain(w); chain != "" {
			return chain
		}
	}
	return fmt.Sprintf("there is no agent %s", w.from)
}

// chain spells out who waits for whom.
func (ws *waits) chain(w *wait) string {
	var parts []string
	for v := range ws.all() {
		a, _ := ws.crowd.Agent(v.agent)
		if a.State != Waiting && v != w {
			continue
		}
		switch {
		case v.children:
			parts = append(parts, a.Name+" waits for the work it dispatched")
		case v.from == "":
			parts = append(parts, a.Name+" waits for any message")
		default:
			parts = append(parts, a.Name+" waits for "+v.from)
		}
	}
	if len(parts) < 2 {
		return ""
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
