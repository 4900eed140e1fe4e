package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/ui/attach"
	"fantail/ui/screen/wire"
	"fantail/ui/shell"
)

// answer answers a request of a process that is no screen.
func (h *Host) answer(conn *net.UnixConn, from Hello, ask wire.Fields) {
	switch ask.Get(wire.Do) {
	case wire.Print: // it may take hours
		h.print(conn, from, ask)
		return
	case wire.Attach: // and this days
		h.attach(conn, from, ask)
		return
	case wire.Spawn: // it may be what opens the workspace
		h.spawn(conn, from, ask)
		return
	case wire.Wake:
		h.wake(conn, from, ask)
		return
	}
	select {
	case h.errands <- struct{}{}:
		defer func() { <-h.errands }()
	default:
		_ = replies(conn, wire.Fields{wire.Say + "=" + errManyErrands.Error()})
		return
	}
	reply := h.status()
	switch {
	case ask.Get(wire.Do) == wire.Status:
		reply.Add(wire.Files, strconv.Itoa(openFiles()))
	case ask.Get(wire.Do) == wire.Errand:
		(&talk{host: h}).errand(conn, from, ask)
		return
	case ask.Get(wire.Do) == wire.Push:
		reply = h.push(from, ask)
	case ask.Get(wire.Do) == wire.Send:
		reply = h.mail(from, ask)
	case slices.Contains(steers, ask.Get(wire.Do)):
		reply = h.steer(from, ask)
	case ask.Get(wire.Do) != wire.End:
		reply = wire.Fields{wire.Say + "=this host (" + h.o.Version + ") does not know this request: " + ask.Get(wire.Do)}
	case from.command:
		reply = wire.Fields{wire.Say + "=an agent's command can't end the host it runs in"}
	case ask.Get(wire.When) == wire.AtRest && !h.rests(conn):
		return // the process is gone
	default:
		defer h.End(shell.ExitOK, "its host was ended: fantail host stop")
	}
	_ = replies(conn, reply)
}

// replies sends the answer to a request. It returns an error if the process is gone or does not read.
func replies(conn net.Conn, reply wire.Fields) error {
	if err := conn.SetWriteDeadline(time.Now().Add(helloWithin)); err != nil {
		return err
	}
	_, err := conn.Write(wire.Append(nil, wire.Answer, reply.Bytes()))
	return err
}

// rests waits until no agent works any more. It returns false if the asking process stops waiting.
func (h *Host) rests(conn net.Conn) bool {
	w, open := h.open()
	if !open {
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.o.Guard.Go("somebody waits", func() {
		_, _ = conn.Read(make([]byte, 1))
		cancel()
	})
	return w.Pool.Settled(ctx) == nil
}

// status returns the screens and what the agents do.
func (h *Host) status() wire.Fields {
	f := h.welcome()
	h.mu.Lock()
	n := len(h.screens)
	h.mu.Unlock()
	f.Add(wire.Root, h.o.Root)
	f.Add(wire.Since, strconv.FormatInt(h.started.UnixMilli(), 10))
	f.Add(wire.Screens, strconv.Itoa(n))
	w, open := h.open()
	if !open {
		return f
	}
	for _, i := range w.Pool.Infos() {
		f.Add(wire.Agent, string(i.State)+" "+i.Name)
		if i.Kind.Nature().Stays {
			f.Add(wire.Mail, strconv.Itoa(i.Pending))
		}
		if i.Await != nil && !i.State.Terminal() {
			left := "-"
			if d, counts := i.Await.Left(time.Now()); counts {
				left = strconv.FormatInt(d.Milliseconds(), 10)
			}
			f.Add(wire.Awaiting, left+" "+strconv.Itoa(i.Await.Attached)+" "+i.Name)
		}
	}
	return f
}

// openFiles returns how many files and sockets the process has open, without those of its database, which are opened
// and closed as needed. No other process can count them, since a host hides from all other processes of its user.
func openFiles() (n int) {
	const dir = "/proc/self/fd"
	all, err := os.ReadDir(dir)
	if err != nil {
		return 0 // the system has no such directory
	}
	for _, e := range all {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && !strings.Contains(to, ".db") {
			n++
		}
	}
	return n
}

// goesOn says which agents go on without the screen that leaves. It returns nil if none does.
func (h *Host) goesOn() []string {
	if h.single {
		return nil
	}
	s := attach.StatusOf(h.status())
	switch names := s.Busy(); {
	case len(names) == 1:
		return []string{names[0] + " goes on; fantail shows it again"}
	case len(names) > 1:
		return []string{fmt.Sprintf("%d agents go on (%s); fantail shows them again", len(names), strings.Join(names, ", "))}
	}
	return nil
}
