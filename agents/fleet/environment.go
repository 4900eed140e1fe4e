package fleet

import (
	"context"

	"fantail/tools/proc"
)

// Environment is the environment for commands that result from a human's actions at a screen: what their shell there
// would pass on. It is in memory only, in no row, event or log. It never changes.
type Environment struct {
	Vars  []string // as proc.Clean made them
	Umask proc.Umask
}

// environment is the key of a context's environment.
type environment struct{}

// Within returns a context for actions at a screen with that environment.
func Within(ctx context.Context, e *Environment) context.Context {
	return context.WithValue(ctx, environment{}, e)
}

// EnvironmentOf returns the environment of an action; nil: it is unknown, and the program's own is used.
func EnvironmentOf(ctx context.Context) *Environment {
	e, _ := ctx.Value(environment{}).(*Environment)
	return e
}

// Environments are that of an agent's commands, and those of the prompts that have not entered. The fleet's mutex
// guards them.
type Environments struct {
	fleet *Fleet
	now   *Environment           // nil: the program's own
	typed map[int64]*Environment // by prompt
}

// Adopt sets the environment of the agent's commands from now on; nil changes nothing. The caller holds the fleet's
// mutex.
func (es *Environments) Adopt(e *Environment) {
	if e != nil {
		es.now = e
	}
}

// Now returns the environment of the agent's commands; nil: the program's own.
func (es *Environments) Now() *Environment {
	es.fleet.Lock()
	defer es.fleet.Unlock()
	return es.now
}

// Typed records the environment in which a human typed a queued prompt. The caller holds the fleet's mutex.
func (es *Environments) Typed(prompt int64, e *Environment) {
	if e != nil {
		es.typed[prompt] = e
	}
}

// Entered adopts the environment of a prompt that is in the transcript now. Call it before [Agent.Unqueue].
func (es *Environments) Entered(prompt int64) {
	es.fleet.Lock()
	defer es.fleet.Unlock()
	es.Adopt(es.typed[prompt])
}
