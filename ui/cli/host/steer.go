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

// Deed is what a human at a shell does to an agent.
type Deed string

// The deeds: to tell it something, to ask it to finish with what it has, to have it end after its turn, to end it now.
const (
	TellIt   Deed = wire.Tell
	WrapItUp Deed = wire.WrapUp
	EndIt    Deed = wire.Finish
	KillIt   Deed = wire.Kill
)

// Steer has the host that listens on that socket do something to the agent of that name; text is what it is told. The
// error is [ErrNoHost] if there is none that can.
func Steer(ctx context.Context, socket string, do Deed, name, text string) error {
	f := wire.Fields{wire.Do + "=" + string(do)}
	f.Add(wire.Name, name)
	f.Add(wire.Body, text)
	reply, err := hand(ctx, socket, f)
	if err == nil && reply.Get(wire.Done) == "" {
		err = ErrNoHost // an older one
	}
	return err
}

// Respawn has that host begin the task of the agent of that name anew.
func Respawn(ctx context.Context, socket, name string) (Spawned, error) {
	f := wire.Fields{wire.Do + "=" + wire.Respawn}
	f.Add(wire.Name, name)
	reply, err := hand(ctx, socket, f)
	if err == nil && reply.Get(wire.Done) == "" {
		err = ErrNoHost // an older one
	}
	return spawnedOf(reply), err
}
