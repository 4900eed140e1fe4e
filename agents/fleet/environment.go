package fleet

import (
	"context"

	"fantail/tools/proc"
)

// Environment is that of the commands that come of what a human does at a screen: what their shell there would give
// them. It is in memory only, in no row, event or log. It never changes.
type Environment struct {
	Vars  []string // as proc.Clean made them
	Umask proc.Umask
}

// environment is the key of a context's environment.
type environment struct{}

// Within returns the context of what is done at a screen with that environment.
func Within(ctx context.Context, e *Environment) context.Context {
	return context.WithValue(ctx, environment{}, e)
}

// EnvironmentOf returns the environment of whatever is done with ctx; nil: none is known, the program's own holds.
func EnvironmentOf(ctx context.Context) *Environment {
	e, _ := ctx.Value(environment{}).(*Environment)
	return e
}

// Environments are that of an agent's commands, and those of the prompts that have not entered. The fleet's mutex guards
// them.
type Environments struct {
	fleet *Fleet
	now   *Environment           // nil: the program's own
	typed map[int64]*Environment // by prompt
}

// Adopt has the agent's commands run with that environment from now on; nil changes nothing. The caller holds the
// fleet's mutex.
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

// Typed records where a human typed a prompt that is queued. The caller holds the fleet's mutex.
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
