package host

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/ui/attach"
	"fantail/ui/screen/wire"
)

// errHostEnded is the error of an attached program whose host ends.
var errHostEnded = errors.New("its host was ended; fantail starts another, where the agent can go on")

// attach has a process follow an agent until one of them ends or leaves. A process of the human's holds an agent that
// awaits input; an agent's own command only watches.
func (h *Host) attach(conn *net.UnixConn, from Hello, ask wire.Fields) {
	select {
	case h.readers <- struct{}{}:
		defer func() { <-h.readers }()
	default:
		says(conn, wire.Answer, wire.Refused, errManyReaders.Error())
		return
	}
	w, open := h.open()
	if !open || !h.enter() {
		says(conn, wire.Answer, wire.Refused, errNoAgents)
		return
	}
	defer h.exit()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	h.o.Guard.Go("end an attachment", func() {
		select {
		case <-h.ended:
			cancel(errHostEnded)
		case <-ctx.Done():
		}
	})
	i, err := w.Pool.Named(ctx, ask.Get(wire.Name))
	looks := from.command
	if err == nil && !looks {
		var detach func()
		if i, detach, err = w.Pool.Attach(ctx, i.Name); err == nil {
			defer detach()
		}
	}
	if err != nil {
		says(conn, wire.Answer, wire.Refused, h.o.Guard.Text(err.Error()))
		return
	}
	f := wire.Fields{wire.Done + "=yes"}
	f.Add(wire.Name, i.Name)
	if replies(conn, f) != nil || conn.SetWriteDeadline(time.Time{}) != nil {
		return
	}
	s := helm{w.Pool, i.ID}
	a := attach.Agent{
		Follow: w.Pool.Follow.Begin(i.ID), Tell: s.tell, End: s.end, Go: h.o.Guard.Go, Now: time.Now, Said: h.o.Guard.Text,
	}
	if looks {
		a.Tell = func(context.Context, string) error { return errLooksOn }
		a.End = func(context.Context) error { return errLooksOn }
	}
	a.Serve(ctx, conn)
}

// helm is how the program attached to an agent steers it.
type helm struct {
	pool  *agents.Pool
	agent int64
}

// now returns the current state of the agent, whose name may have changed.
func (s helm) now() (event.Info, error) {
	is := s.pool.Infos()
	n := slices.IndexFunc(is, func(i event.Info) bool { return i.ID == s.agent })
	if n < 0 {
		return event.Info{}, errors.New("its tab was closed")
	}
	return is[n], nil
}

func (s helm) tell(ctx context.Context, text string) error {
	i, err := s.now()
	if err != nil {
		return err
	}
	return s.pool.Tell(ctx, i.Name, text)
}

// end makes the agent end once it has done its work; an agent that ends by itself is left alone.
func (s helm) end(ctx context.Context) error {
	i, err := s.now()
	if err != nil || i.State.Terminal() || i.Kind.Ends() && (i.Await == nil || i.Await.Ends) {
		return err
	}
	return s.pool.End(ctx, i.Name)
}
