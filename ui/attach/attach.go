// Package attach is how another process reaches the host: the socket, the questions it answers, and the events it
// sends.
package attach

import (
	"context"
	"errors"

	"fantail/ui/screen/wire"
)

// Attach attaches the caller to the agent of that name, through the host that listens on that socket. The error is
// [ErrNoHost] if there is none.
func Attach(ctx context.Context, socket, name string) (*Link, error) {
	f := wire.Fields{wire.Do + "=" + wire.Attach}
	f.Add(wire.Name, name)
	conn, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	reply, err := asks(ctx, conn, question(f))
	if why := reply.Get(wire.Refused) + reply.Get(wire.Say); err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return NewLink(conn, reply.Get(wire.Name)), nil
}
