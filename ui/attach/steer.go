package attach

import (
	"context"

	"fantail/ui/screen/wire"
)

// Action is what a human at a shell does to an agent.
type Action string

// The actions: send it a text, ask it to finish with what it has, make it end after its turn, end it now.
const (
	TellIt   Action = wire.Tell
	WrapItUp Action = wire.WrapUp
	EndIt    Action = wire.Finish
	KillIt   Action = wire.Kill
)

// Steer has the host that listens on that socket act on the agent of that name; text is what it is told. The error is
// [ErrNoHost] if there is no host that can.
func Steer(ctx context.Context, socket string, do Action, name, text string) error {
	f := wire.Fields{wire.Do + "=" + string(do)}
	f.Add(wire.Name, name)
	f.Add(wire.Body, text)
	reply, err := hand(ctx, socket, f)
	if err == nil && reply.Get(wire.Done) == "" {
		err = ErrNoHost // an older one
	}
	return err
}

// Respawn has that host start the task of the agent of that name again.
func Respawn(ctx context.Context, socket, name string) (Spawned, error) {
	f := wire.Fields{wire.Do + "=" + wire.Respawn}
	f.Add(wire.Name, name)
	reply, err := hand(ctx, socket, f)
	if err == nil && reply.Get(wire.Done) == "" {
		err = ErrNoHost // an older one
	}
	return spawnedOf(reply), err
}
