package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/ui/screen/wire"
)

// errLooksOn is the answer to an agent's own command that wants more than to look.
var errLooksOn = errors.New("an agent's command may look at agents; it tells and ends none")

// steers are the requests that act on an agent.
var steers = []string{wire.Tell, wire.WrapUp, wire.Kill, wire.Finish, wire.Respawn}

// steer carries out what a human at a shell asks of an agent.
func (h *Host) steer(from Hello, ask wire.Fields) (reply wire.Fields) {
	w, open := h.open()
	switch {
	case from.command:
		return wire.Fields{wire.Refused + "=" + errLooksOn.Error()}
	case !open:
		return wire.Fields{wire.Refused + "=" + errNoAgents}
	}
	ctx, name := context.Background(), ask.Get(wire.Name)
	var err error
	switch ask.Get(wire.Do) {
	case wire.Tell:
		err = w.Pool.Tell(ctx, name, ask.Get(wire.Body))
		var ended *event.EndedError
		if errors.As(err, &ended) {
			err = fmt.Errorf("%w; run fantail agents respawn %[2]s to run its task again, or type /resume %[2]s on a screen to continue it", err, ended.Name)
		}
	case wire.WrapUp:
		err = w.Pool.WrapUp(ctx, name)
	case wire.Kill:
		err = w.Pool.Kill(ctx, name, false)
	case wire.Finish:
		err = w.Pool.End(ctx, name)
	case wire.Respawn:
		feed, _ := w.Pool.Subscribe()
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

// mainOf returns the agent whose queue holds the tasks that the human starts at a shell.
func mainOf(p *agents.Pool) int64 {
	is := p.Infos()
	if n := slices.IndexFunc(is, func(i event.Info) bool { return i.Kind.Nature().Stays }); n >= 0 {
		return is[n].ID
	}
	return 0
}
