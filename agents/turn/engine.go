package turn

import (
	"errors"
	"slices"

	"fantail/agents/engine"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

func isEngine(m llm.Model) bool {
	_, is := m.Provider.(engine.Engine)
	return is
}

// engine returns the runner of the agent's turns if its model is an engine; nil: it is an ordinary
// model. A model chosen during an engine's turn applies after that turn.
func (l *Loop) engine() (*engine.Runner, error) {
	if l.own.runner.Busy() {
		return l.own.runner, nil
	}
	model, now := l.Agent.Present()
	e, is := model.Provider.(engine.Engine)
	if !is || l.own.runnerOf != model.Name {
		l.endEngine()
	}
	if !is || l.own.runner != nil {
		return l.own.runner, nil
	}
	if !l.Agent.Kind.Nature().Engines {
		return nil, errors.New("an agent of another vendor neither handles messages as a fork nor observes: choose a model for that")
	}
	l.own.runnerOf, l.own.runner = model.Name, engine.NewRunner(e, l.Agent, l, engine.RunnerOptions{
		ID: l.Agent.ID, Name: now.Name, Model: model, Dir: l.own.env.Root, Attended: !l.fixed.unattended && l.Agent.Kind.Nature().Asks,
		DB: l.o.DB, Asks: l.o.Asks, Now: l.o.Now, Go: l.o.Go, Run: l.runEngine, Ends: l.Agent.Kind.Ends(), Output: l.own.env.Tick,
		Stirs: func() { // begin a turn for what the engine says
			l.shared.stirred.Store(true)
			l.Agent.Poke()
		},
		Theirs: func(pid int) bool {
			by, known := l.o.Commands.Behind(pid)
			return known && by.Agent == l.Agent.ID
		},
		Tools: l.fixed.tools, Agents: l.own.env.Agents, Keys: l.o.Keys, Judge: func(a permission.Action) permission.Verdict {
			a.Strict, a.Mode = l.fixed.strict, l.fixed.mode
			return l.o.Gate.Decide(a)
		},
	})
	return l.own.runner, nil
}

// endEngine ends the engine's program.
func (l *Loop) endEngine() {
	l.own.runner.End()
	l.own.runner = nil
}

// runEngine says how an engine's program runs: as a command of the agent, in the sandbox for
// vendors.
func (l *Loop) runEngine(p engine.Program) (r engine.Run, err error) {
	l.setEnvironment(l.Agent.Env.Now())
	boxed := !p.Free && l.o.boxed()
	opens := l.o.Bare
	if boxed {
		opens = func(agent int64) (*CommandMailbox, error) { return l.o.Post(agent, l.own.turn) }
	}
	mail, err := opens(l.Agent.ID)
	if err != nil {
		return r, err
	}
	r.Spec = proc.Spec{Argv: p.Argv, Dir: l.own.env.Root, Env: slices.Concat(l.own.env.Environ, p.Env), Keep: l.track, Keys: l.o.Keys}
	r.Door, r.End = mail.Dir, func() { _ = mail.Close() }
	if boxed {
		r.Box, err = l.o.Box(sandbox.Vendor, sandbox.Leave{
			Write: p.Write, Read: p.Read, Words: slices.Concat(p.Argv, p.Env), Network: true, Mail: mail.Dir,
		}, r.Env)
	}
	if err != nil {
		r.End()
		return r, err
	}
	held := event.InSandbox
	if r.Box == nil {
		held = event.AsUser
	}
	l.Agent.Set(func(i *event.Info) { i.Held = held })
	return r, nil
}

var _ engine.Loop = (*Loop)(nil)

// Fills records how many tokens of its window the engine uses.
func (l *Loop) Fills(tokens int) { l.own.filled = tokens }
