package fleet_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools"
)

// machine is a fleet to which anything happens, one thing after the other.
type machine struct {
	*bare
	t      *rapid.T
	screen *screen // it subscribed at the beginning
	agents []*fleet.Agent
	asking map[*fleet.Agent]bool
	away   map[*fleet.Agent][]func(context.Context) error
	tasks  []tasks.Task
	last   int64 // the last id given
}

var states = []event.State{event.Queued, event.Running, event.Running, event.Waiting, event.Idle, event.Idle, event.Done, event.Failed}

func (m *machine) id() int64 {
	m.last++
	return m.last
}

// pick is one of the agents; nil: there is none.
func (m *machine) pick() *fleet.Agent {
	if len(m.agents) == 0 {
		m.t.Skip("no agents")
	}
	return rapid.SampledFrom(m.agents).Draw(m.t, "agent")
}

// owner returns the agent whose queue a task goes into, or the parent of another.
func (m *machine) owner() int64 { return rapid.Int64Range(0, m.last).Draw(m.t, "owner") }

func (m *machine) made(i event.Info) {
	i.ID = m.id()
	i.Model = rapid.SampledFrom([]string{"v/x", "one/x"}).Draw(m.t, "model")
	a := m.open(i)
	m.agents = append(m.agents, a)
	for range rapid.IntRange(0, 1).Draw(m.t, "prompts") {
		m.hold(func() { a.Queued(event.Prompt{ID: m.id()}) })
	}
}

// steps are what can happen.
func (m *machine) steps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"an agent is made": func(t *rapid.T) {
			m.made(event.Info{
				Kind:   rapid.SampledFrom([]event.Kind{event.Main, event.Helper, event.Sub, event.Fork}).Draw(t, "kind"),
				State:  rapid.SampledFrom(states).Draw(t, "state"),
				Parent: m.owner(),
			})
		},
		"an agent changes": func(t *rapid.T) {
			a, s := m.pick(), rapid.SampledFrom(states).Draw(t, "state")
			if m.asking[a] {
				t.Skip("it asks")
			}
			a.Set(func(i *event.Info) { i.State, i.Doing = s, "streaming" })
		},
		"an agent asks": func(t *rapid.T) {
			a := m.pick()
			if a.Known().State.Terminal() || m.asking[a] {
				t.Skip("it can't")
			}
			a.Asking(&event.Question{})
			m.asking[a] = true
		},
		"an agent hears": func(t *rapid.T) {
			a := m.pick()
			if !m.asking[a] {
				t.Skip("it does not ask")
			}
			a.Heard(rapid.SampledFrom([]*event.Answer{nil, {}}).Draw(t, "answer"))
			delete(m.asking, a)
		},
		"a prompt comes": func(t *rapid.T) {
			a, q := m.pick(), event.Prompt{ID: m.id(), Held: rapid.Bool().Draw(t, "held")}
			m.hold(func() { a.Queued(q) })
		},
		"a prompt goes": func(t *rapid.T) {
			a := m.pick()
			qs := a.Known().Prompts
			if len(qs) == 0 {
				t.Skip("none is queued")
			}
			a.Unqueue(rapid.SampledFrom(qs).Draw(t, "prompt").ID)
		},
		"a call waits": func(t *rapid.T) {
			a := m.pick()
			if a.Known().State.Terminal() || m.asking[a] {
				t.Skip("it can't")
			}
			m.away[a] = append(m.away[a], a.Aside("waiting for "+fmt.Sprint(len(m.away[a]))))
		},
		"a call goes on": m.goesOn,
		"a task is queued": func(t *rapid.T) {
			w := queued(m.id(), m.owner(), rapid.SampledFrom([]string{tasks.OriginHuman, tasks.OriginCLI}).Draw(t, "origin"))
			w.Now = rapid.Bool().Draw(t, "now")
			if len(m.tasks) > 0 && rapid.Bool().Draw(t, "waits") {
				w.Needs = []tasks.Task{rapid.SampledFrom(m.tasks).Draw(t, "need")}
			}
			m.tasks = append(m.tasks, w.Task)
			m.Line.Queued(t.Context(), w)
		},
		"a task ends": func(t *rapid.T) {
			if len(m.tasks) == 0 {
				t.Skip("no tasks")
			}
			m.Line.Ended(rapid.SampledFrom(m.tasks).Draw(t, "task").ID)
		},
		"a run": func(t *rapid.T) {
			by, s := m.owner(), tools.Start{Count: rapid.IntRange(0, 2).Draw(t, "count"), Once: rapid.Bool().Draw(t, "once")}
			m.hold(func() { _, _ = m.Line.Run(by, s) })
		},
		"a task begins": func(t *rapid.T) {
			q := m.Line.Next()
			if q == nil {
				t.Skip("none may")
			}
			m.hold(func() {
				_, slot := m.Queue.Begun(q.ID)
				m.Told()
				a := m.NewAgent(event.Info{ID: m.id(), Name: q.Name, Kind: event.Sub, State: event.Running, Parent: slot.Owner}, q.ID)
				m.Open(a)
				m.Queue.Take(a.ID, a.Slot())
				m.agents = append(m.agents, a)
			})
		},
		"an agent's work passes": func(t *rapid.T) {
			from := m.owner() // an heir is above, and an agent above was there first
			m.Line.Passed(from, rapid.Int64Range(0, from).Draw(t, "heir"))
		},
		"a room is at work": func(t *rapid.T) {
			of := m.owner()
			m.hold(func() {
				m.busy[of] = !m.busy[of]
				m.Told() // a callback that changes its answer calls it
			})
		},
		"mail comes": func(t *rapid.T) {
			m.Rung(inbox.Change{Recipient: m.owner(), Pending: rapid.IntRange(0, 3).Draw(t, "pending"), Deposited: rapid.Bool().Draw(t, "came")})
		},
		"a tab is closed": func(t *rapid.T) {
			a := m.pick()
			if !a.Known().State.Terminal() || m.asking[a] {
				t.Skip("it lives")
			}
			a.Spent()
			m.hold(func() { m.CloseTab(a) })
		},
	}
}

// goesOn lets a waiting call go on. The agent takes its slot back at once or gives up.
func (m *machine) goesOn(t *rapid.T) {
	a := m.pick()
	n := len(m.away[a])
	if n == 0 || a.Known().State.Terminal() || m.asking[a] {
		t.Skip("none of its calls waits")
	}
	at := rapid.IntRange(0, n-1).Draw(t, "call")
	back := m.away[a][at]
	m.away[a] = append(m.away[a][:at:at], m.away[a][at+1:]...)
	var full bool
	m.hold(func() { full = n == 1 && a.Kind.Ends() && m.Queue.Full(a.Slot()) != "" })
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if full {
		cancel(fleet.ErrStopped)
	}
	if err := back(ctx); (err != nil) != full {
		t.Fatalf("it goes on with %v; there is no slot: %t", err, full)
	}
}

// still calculates by itself whether nothing is under way.
func (m *machine) still() bool {
	m.Lock()
	defer m.Unlock()
	if m.busy[0] {
		return false
	}
	for _, a := range m.agents {
		switch i := a.Info; {
		case m.Of(i.ID) != a || i.State.Terminal():
			continue
		case i.State != event.Idle || m.busy[i.ID]:
			return false
		default:
			for _, q := range i.Prompts {
				if !q.Held {
					return false
				}
			}
		}
	}
	will := map[int64]bool{}
	for grew := true; grew; { // tasks that can start, and wait for no other
		grew = false
		for q := range m.Queue.All() {
			can := m.Queue.Wanted(q) && !will[q.ID]
			for need := range q.Needs {
				idle := slices.ContainsFunc(m.agents, func(a *fleet.Agent) bool { // it ends when the test says so
					return m.Of(a.ID) == a && a.Task == need && a.Info.State == event.Idle
				})
				can = can && !idle && (will[need] || m.Queue.Task(need) == nil)
			}
			if can {
				will[q.ID], grew = true, true
			}
		}
	}
	return len(will) == 0
}

// TestRest: which states count as activity, and which do not.
func TestRest(t *testing.T) {
	main := event.Info{ID: 1, Kind: event.Main, State: event.Idle}
	in := func(s event.State) event.Info { i := main; i.State = s; return i }
	with := func(q event.Prompt) event.Info { i := main; i.Prompts = []event.Prompt{q}; return i }
	t1, t2 := queued(1, 1, tasks.OriginHuman), started(2, 1, queued(1, 1, "").Task)
	outside := started(1, 1)
	outside.Task.Origin = tasks.OriginCLI
	for _, c := range []struct {
		what  string
		main  event.Info
		tasks []tasks.QueuedTask
		busy  int64
		still bool
	}{
		{"nothing", main, nil, -1, true},
		{"it runs", in(event.Running), nil, -1, false},
		{"it waits", in(event.Waiting), nil, -1, false},
		{"it asks somebody", in(event.Asking), nil, -1, false},
		{"it has ended", in(event.Killed), nil, -1, true},
		{"a prompt", with(event.Prompt{ID: 1}), nil, -1, false},
		{"a prompt that is held", with(event.Prompt{ID: 1, Held: true}), nil, -1, true},
		{"a task nobody started", main, []tasks.QueuedTask{t1}, -1, true},
		{"a task from outside", main, []tasks.QueuedTask{outside}, -1, true},
		{"a task that starts", main, []tasks.QueuedTask{started(1, 1)}, -1, false},
		{"a task that would start behind one nobody started", main, []tasks.QueuedTask{t1, t2}, -1, true},
		{"a task that starts behind one that starts", main, []tasks.QueuedTask{started(1, 1), t2}, -1, false},
		{"a room is at work", main, nil, 0, false},
		{"a room has a reason for it to go on", main, nil, 1, false},
		{"a room has one for somebody else", main, nil, 2, true},
	} {
		b := newFleet(t, fleet.Options{})
		b.open(c.main)
		for _, w := range c.tasks {
			b.Line.Queued(t.Context(), w)
		}
		b.busy[c.busy] = true
		if still, _ := b.Rest(); still != c.still {
			t.Errorf("%s: at rest %t", c.what, still)
		}
	}
}

// TestRestOf_under: an agent is at rest once it and all below it are, whatever others do.
func TestRestOf_under(t *testing.T) {
	for _, c := range []struct {
		what  string
		busy  int64 // who runs
		owner int64 // of a task that starts; 0: none does
		still bool
	}{
		{"another runs", 3, 0, true},
		{"who is below another runs", 4, 0, true},
		{"it runs", 1, 0, false},
		{"who is below it runs", 2, 0, false},
		{"who is below who has ended runs", 6, 0, false},
		{"another's task starts", 0, 3, true},
		{"its task starts", 0, 1, false},
		{"a task of one below it starts", 0, 2, false},
	} {
		b := newFleet(t, fleet.Options{})
		for _, i := range []event.Info{
			{ID: 1, Kind: event.Helper},
			{ID: 2, Kind: event.Sub, Parent: 1},
			{ID: 3, Kind: event.Main},
			{ID: 4, Kind: event.Sub, Parent: 3},
			{ID: 5, Kind: event.Sub, Parent: 1, State: event.Done},
			{ID: 6, Kind: event.Sub, Parent: 5},
		} {
			switch {
			case i.ID == c.busy:
				i.State = event.Running
			case i.State == "":
				i.State = event.Idle
			}
			b.open(i)
		}
		if c.owner != 0 {
			b.Line.Queued(t.Context(), started(1, c.owner))
		}
		if still, _ := b.RestOf(fleet.Under(1)); still != c.still {
			t.Errorf("%s: at rest %t", c.what, still)
		}
	}
}

// TestFleet_anyOrder: in any order of events, a caller that waits for rest learns of whatever may have changed it; a
// screen that subscribed at the beginning shows the same as a new one, and the true state; callbacks are called once
// for each end; and an ended agent holds no slot.
func TestFleet_anyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{
			t:      rt,
			asking: map[*fleet.Agent]bool{}, away: map[*fleet.Agent][]func(context.Context) error{},
		}
		m.bare = newFleet(t, fleet.Options{Cap: 2})
		m.screen = m.bare.screen()
		was, changed := m.Rest()
		steps := m.steps()
		steps[""] = func(rt *rapid.T) {
			m.t = rt
			told := false
			select {
			case <-changed:
				told = true
			default:
			}
			var is bool
			if is, changed = m.Rest(); is != was && !told {
				rt.Fatalf("at rest: %t, and was %t; nobody was told", is, was)
			}
			if was = is; is != m.still() {
				rt.Fatalf("at rest: %t", is)
			}
			if d := m.screen.reads().differs(m.bare); d != "" {
				rt.Fatalf("the screen shows %s", d)
			}
			fresh := m.bare.screen().reads()
			defer fresh.feed.Close()
			if d := fresh.differs(m.bare); d != "" || !reflect.DeepEqual(fresh.tally.Names, m.screen.tally.Names) && len(fresh.tally.Names) > 0 {
				rt.Fatalf("a new screen shows %s; %v", d, fresh.tally)
			}
			if n, o := fresh.tally, m.screen.tally; n.Running != o.Running || n.Asking != o.Asking || n.Queued != o.Queued {
				rt.Fatalf("a new screen counts %+v, the other %+v", n, o)
			}
			m.holds(rt)
			m.hears(rt)
		}
		rt.Repeat(steps)
	})
}

// holds checks the slots: the limit applies to those taken by the rules, and an ended agent has none.
func (m *machine) holds(rt *rapid.T) {
	m.hold(func() {
		for _, a := range m.agents {
			if !a.Info.State.Terminal() {
				continue
			}
			before := m.Queue.Running()
			if m.Queue.Free(a.ID); m.Queue.Running() != before {
				rt.Fatalf("%s has ended (%s) and holds a slot", a.Info.Name, a.Info.State)
			}
		}
		if full := m.Queue.Full(tasks.Slot{}); full == "" && m.Queue.Running() > 2 {
			rt.Fatalf("%d run", m.Queue.Running())
		}
	})
}

// hears checks the callbacks: they were called once for each agent that lived and ended.
func (m *machine) hears(rt *rapid.T) {
	said := map[string]int{}
	for _, s := range m.heard {
		if what, _, ok := strings.Cut(strings.TrimPrefix(s, "ended "), " "); ok && strings.HasPrefix(s, "ended ") {
			said["ended "+what]++
		} else {
			said[s]++
		}
	}
	for _, a := range m.agents {
		opened, ended := said[fmt.Sprintf("opened %d", a.ID)], said[fmt.Sprintf("ended %d", a.ID)]
		if want := opened == 1 && a.Info.State.Terminal(); opened > 1 || ended > 1 || (ended == 1) != want {
			rt.Fatalf("%s (%s) was opened %d times and ended %d times", a.Info.Name, a.Info.State, opened, ended)
		}
	}
}
