// Package reach is how a process beside the host reaches it.
//
// Does: ask a host how it is, or to end; hand it tasks, mail and what a human does to an agent; attach to an agent; have
// it carry out a prompt; start one where none runs and that is asked for.
//
// Does not: decide what a host does for whom (it sees who asks), write to the database, know a flag.
//
// Imports: agents/outside, tools, ui/cli/channel, ui/cli/shell, ui/screen, ui/screen/wire.
package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// Status is what a host says of itself.
type Status struct {
	Version string
	PID     int
	Root    string
	Since   time.Time
	Screens int
	Mail    int      // messages that wait for main
	Agents  []string // STATE NAME
	Awaits  map[string]Awaits
}

// Awaits is how an agent awaits input.
type Awaits struct {
	Left     time.Duration // of its time
	Counts   bool          // the time counts down
	Attached int           // programs attached to it
}

// Wish is what a host is asked.
type Wish int

// The wishes: to tell how it is, to end at once, to end once nothing goes on any more.
const (
	Tell Wish = iota
	EndNow
	EndAtRest
)

// Ask asks the host that listens on that socket, and waits for its answer until ctx ends. The error
// is [ErrNoHost] if nobody listens.
func Ask(ctx context.Context, socket string, what Wish) (s Status, err error) {
	f := wire.Fields{wire.Do + "=" + wire.Status}
	if what != Tell {
		f = wire.Fields{wire.Do + "=" + wire.End}
	}
	if what == EndAtRest {
		f.Add(wire.When, wire.AtRest)
	}
	reply, err := once(ctx, socket, f)
	for range 4 { // a host that is flooded lets go of who has not spoken for a moment
		if what != Tell || err == nil || errors.Is(err, ErrNoHost) || ctx.Err() != nil {
			break
		}
		reply, err = once(ctx, socket, f)
	}
	if f = reply; err != nil {
		return s, err
	}
	if why := f.Get(wire.Say); why != "" {
		return s, errors.New(why)
	}
	return StatusOf(f), nil
}

// once asks the host that listens on that socket.
func once(ctx context.Context, socket string, f wire.Fields) (wire.Fields, error) {
	conn, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return asks(ctx, conn, question(f))
}

// dial reaches the host that listens on that socket, if it is this user's.
func dial(ctx context.Context, socket string) (*net.UnixConn, error) {
	c, err := connects(ctx, socket)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EINVAL): // a path too long
		return nil, ErrNoHost
	case err != nil:
		return nil, fmt.Errorf("reach the host: %w", err)
	}
	conn := c.(*net.UnixConn)
	if _, uid, err := Peer(conn); err != nil || uid != os.Geteuid() {
		return nil, errors.Join(fmt.Errorf("the host at %s is another user's", socket), err, conn.Close())
	}
	return conn, nil
}

// roomWithin is how long a host that is flooded may have no room.
const roomWithin = 5 * time.Second

// connects is dial without a look at who listens. It waits for room.
func connects(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; {
		c, err := d.DialContext(ctx, "unix", socket)
		if !errors.Is(err, syscall.EAGAIN) || time.Since(began) > roomWithin {
			return c, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// hostOf connects to the host of the workspace that dir lies in, which it starts if there is none. The error is a
// [screen.Refusal] if that says why it can't start.
func hostOf(dir string) (*net.UnixConn, error) {
	fd, err := screen.Reach(dir)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "host")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("reach the host: %w", err)
	}
	return c.(*net.UnixConn), nil
}

// question is what is sent to ask a host.
func question(f wire.Fields) []byte { return wire.Append([]byte(wire.Magic), wire.Ask, f.Bytes()) }

// asks sends a question and waits for the answer until ctx ends.
func asks(ctx context.Context, conn *net.UnixConn, question []byte) (wire.Fields, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, unsent := conn.Write(question) // a host that refuses does not read all of it, and says why
	k, body, _, err := wire.Read(conn, wire.MaxFrame, nil)
	if err != nil || k != wire.Answer {
		return nil, errors.Join(errors.New("the host does not answer"), unsent, err, ctx.Err())
	}
	return wire.FieldsOf(body), nil
}

// StatusOf reads what a host says of itself from its answer.
func StatusOf(f wire.Fields) (s Status) {
	s.Version, s.Root, s.Agents = f.Get(wire.Version), f.Get(wire.Root), f.All(wire.Agent)
	s.PID, _ = strconv.Atoi(f.Get(wire.PID))
	s.Screens, _ = strconv.Atoi(f.Get(wire.Screens))
	s.Mail, _ = strconv.Atoi(f.Get(wire.Mail))
	if ms, err := strconv.ParseInt(f.Get(wire.Since), 10, 64); err == nil {
		s.Since = time.UnixMilli(ms)
	}
	s.Awaits = map[string]Awaits{}
	for _, a := range f.All(wire.Awaiting) {
		if words := strings.SplitN(a, " ", 3); len(words) == 3 {
			var w Awaits
			if ms, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				w.Left, w.Counts = time.Duration(ms)*time.Millisecond, true
			}
			w.Attached, _ = strconv.Atoi(words[1])
			s.Awaits[words[2]] = w
		}
	}
	return s
}

// ErrNoHost is returned by Ask if the workspace has none.
var ErrNoHost = errors.New("no host runs here")

// ByState counts the agents by what they do, most telling first.
func (s Status) ByState() string {
	order := []string{"asking", "running", "waiting", "queued", "idle", "failed", "crashed", "killed", "done"}
	n := map[string]int{}
	for _, a := range s.Agents {
		state, _, _ := strings.Cut(a, " ")
		n[state]++
	}
	var all []string
	for _, state := range order {
		if n[state] > 0 {
			all = append(all, fmt.Sprintf("%d %s", n[state], state))
		}
	}
	return strings.Join(all, ", ")
}

// Busy names the agents at work.
func (s Status) Busy() (names []string) {
	for _, a := range s.Agents {
		if state, name, _ := strings.Cut(a, " "); state == "running" || state == "waiting" || state == "asking" {
			names = append(names, name)
		}
	}
	return names
}
