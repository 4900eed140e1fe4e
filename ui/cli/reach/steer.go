package reach

import (
	"context"

	"fantail/ui/screen/wire"
)

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
