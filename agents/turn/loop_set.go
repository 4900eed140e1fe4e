package turn

import (
	"context"
	"fmt"
	"sync"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/tools/files"
	"fantail/tools/permission"
)

// Loops are the loops of all agents with an open tab.
type Loops struct {
	o      Options
	agents func(l *Loop) tools.Agents
	lives  map[event.Life]Life
	asks   *Sampler // asks models for programs that work on calls

	// Input returns the input of an agent that awaits it; nil: the human and its inbox. Set it
	// before agents start.
	Input func(agent event.Info) Input

	mu sync.Mutex
	of map[int64]*Loop
}

// New returns an empty set of loops.
func New(o Options, agentsFor func(l *Loop) tools.Agents, lives map[event.Life]Life) *Loops {
	asks := NewSampler(SamplerOptions{DB: o.DB, Fleet: o.Fleet, Budgets: o.Budget, Keys: o.Keys, Now: o.Now})
	return &Loops{o: o, agents: agentsFor, lives: lives, asks: asks, of: map[int64]*Loop{}}
}

// Of returns the loop of an agent with an open tab.
func (ls *Loops) Of(agent int64) (*Loop, error) {
	if _, err := ls.o.Fleet.Agent(agent); err != nil {
		return nil, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.of[agent]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("agent %d: %w", agent, tasks.ErrNoAgent) // its tab was closed meanwhile
}

// Forget drops the loop of an agent whose tab was closed.
func (ls *Loops) Forget(agent int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.of, agent)
}

// Busy reports whether the human requested something that an agent does between turns. The caller
// holds the fleet's mutex.
func (ls *Loops) Busy(agent int64) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.of[agent]
	return l != nil && l.shared.compaction != nil
}

// Make creates the loop of an agent, without starting it.
func (ls *Loops) Make(i event.Info, task int64) *Loop {
	o := &ls.o
	l := &Loop{Agent: o.Fleet.NewAgent(i, task), o: o}
	l.fixed.unattended, l.fixed.outside = i.Unattended, i.Outside
	l.fixed.strict = i.Outside || i.Kind.Nature().Strict
	l.fixed.life = ls.lives[i.Kind.Nature().Life]
	l.own.sinceSummary = 2 // as if the last summary were long ago
	var mode permission.Mode
	l.fixed.tools, mode, l.fixed.guard = o.Kit(i)
	l.own.env = &tools.Runtime{
		Root: o.Root, Private: o.Private, Outputs: o.Outputs(i.ID), Keys: o.Keys,
		Agents: ls.agents(l), Skills: o.Skills, Seen: files.NewSeen(), Changes: o.Gate.Changes(),
		Started: l.recordStart, Keep: l.track, Ahead: o.Ahead, Guards: o.Trust.Guards, Barred: o.Gate.Barred,
		Tick: func(call, tail string) { l.Agent.Show(event.Output{Agent: i.ID, Call: call, Tail: tail}) },
	}
	if !i.Unattended && i.Kind.Nature().Asks {
		l.own.env.Ask, l.own.env.Aside, l.own.env.Sample = l.askForProgram, l.Agent.Aside, ls.asks.For(l.Agent, l.own.env)
	}
	if i.Await != nil && !i.State.Terminal() {
		if l.fixed.input = (inbound{}); ls.Input != nil {
			l.fixed.input = ls.Input(i)
		}
	}
	l.own.guide.Briefs, l.own.guide.DB = o.Briefs, o.DB
	l.setEnvironment(nil)
	if i.Kind.Tasked() && !i.State.Terminal() {
		haste, hasten := context.WithCancel(o.Fleet.Context())
		l.Agent.Hastens(hasten)
		l.fixed.hasten, l.own.env.Hurry = hasten, haste.Done()
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if above := ls.of[i.Parent]; above != nil && mode == "" {
		mode = above.fixed.mode
	}
	l.SetMode(mode)
	ls.of[i.ID] = l
	return l
}

// Start starts the loop of an agent with an open tab. The caller holds the fleet's mutex.
func (ls *Loops) Start(agent int64) {
	ls.mu.Lock()
	l := ls.of[agent]
	ls.mu.Unlock()
	l.Start()
}
