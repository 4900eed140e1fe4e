package host

import (
	"context"
	"errors"
	"slices"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/ui/screen/wire"
)

// errLooksOn is what an agent's own command is told that wants more than to look.
var errLooksOn = errors.New("an agent's command may look at agents; it tells and ends none")

// steers are what the host does to an agent.
var steers = []string{wire.Tell, wire.WrapUp, wire.Kill, wire.Finish, wire.Respawn}

// steer does to an agent what a human at a shell wants.
func (h *Host) steer(from Hello, ask wire.Fields) (reply wire.Fields) {
	w, open := h.open()
	switch {
	case descends(from.PID):
		return wire.Fields{wire.Refused + "=" + errLooksOn.Error()}
	case !open:
		return wire.Fields{wire.Refused + "=" + errNoAgents}
	}
	ctx, name := context.Background(), ask.Get(wire.Name)
	var err error
	switch ask.Get(wire.Do) {
	case wire.Tell:
		err = w.Pool.Steer.Tell(ctx, name, ask.Get(wire.Body))
	case wire.WrapUp:
		err = w.Pool.Steer.WrapUp(ctx, name)
	case wire.Kill:
		err = w.Pool.Kill(ctx, name, false)
	case wire.Finish:
		err = w.Pool.Steer.End(ctx, name)
	case wire.Respawn:
		feed := w.Pool.Subscribe()
		defer feed.Close()
		row, e := w.Pool.Tasks.Respawn(ctx, mainOf(w.Pool), name)
		if err = e; err == nil {
			reply = spawned(row, begun(feed, row.ID))
		}
	}
	if err != nil {
		return wire.Fields{wire.Refused + "=" + err.Error()}
	}
	return append(reply, wire.Done+"=yes")
}

// mainOf is the agent in whose queue the tasks are that the human begins at a shell.
func mainOf(p *agents.Pool) int64 {
	is := p.Infos()
	if n := slices.IndexFunc(is, func(i event.Info) bool { return i.Kind.Nature().Stays }); n >= 0 {
		return is[n].ID
	}
	return 0
}
