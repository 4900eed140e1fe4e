package cli

import (
	"context"
	"strings"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/tasks"
	"fantail/store/config"
	"fantail/tools/proc"
	"fantail/tools/secret"
)

// SetMain sets main's model.
func SetMain(ctx context.Context, pool *agents.Pool, model string) error {
	if i, ok := mainOf(pool); ok {
		return pool.SetModel(ctx, i.ID, model)
	}
	return tasks.ErrNoAgent
}

// MainModel returns main's model, for the start screen of later screens.
func MainModel(pool *agents.Pool) string {
	i, _ := mainOf(pool)
	return i.Model
}

func mainOf(pool *agents.Pool) (event.Info, bool) {
	for _, i := range pool.Infos() {
		if i.Kind.Nature().Stays {
			return i, true
		}
	}
	return event.Info{}, false
}

// Environ returns the environment for the human's own programs on a screen with that environment:
// without keys, and with the configured editor.
func Environ(c config.Config, environ []string, keys *secret.Keys) []string {
	env := proc.Own(environ, keys)
	if c.Editor != "" {
		env = append(env, "VISUAL="+c.Editor)
	}
	return env
}

// Commands returns the environment of commands started from a screen with that environment and
// umask. own is this program's umask: if both are equal, none is set.
func Commands(environ []string, umask, own int, keys *secret.Keys) *fleet.Environment {
	e := &fleet.Environment{Vars: proc.Clean(environ, keys)}
	if umask != own {
		e.Umask = proc.UmaskOf(umask)
	}
	return e
}

// Brought says which keys a screen's environment provided; "": none.
func Brought(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0] + " of this shell is used from now on"
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " of this shell are used from now on"
	}
}
