package attach

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

// Status is a host's answer about itself.
type Status struct {
	Version string
	PID     int
	Root    string
	Since   time.Time
	Screens int
	Files   int      // open files and sockets, without those of its database; 0: the system does not tell
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

// Request is what a host is asked.
type Request int

// The requests: to report its status, to end at once, to end once no agent works.
const (
	Tell Request = iota
	EndNow
	EndAtRest
)

// Ask asks the host that listens on that socket, and waits for its answer until ctx ends. The error is [ErrNoHost] if
// no host listens, or a [*HungError].
func Ask(ctx context.Context, socket string, what Request) (s Status, err error) {
	f := wire.Fields{wire.Do + "=" + wire.Status}
	if what != Tell {
		f = wire.Fields{wire.Do + "=" + wire.End}
	}
	if what == EndAtRest {
		f.Add(wire.When, wire.AtRest)
	}
	reply, err := once(ctx, socket, f)
	for range 4 { // a flooded host drops connections that have been silent for a moment
		if hung := (*HungError)(nil); what != Tell || err == nil || errors.Is(err, ErrNoHost) || errors.As(err, &hung) || ctx.Err() != nil {
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
	return dialWithin(ctx, socket, roomWithin)
}

// dialWithin is dial that waits that long for a host whose backlog is full.
func dialWithin(ctx context.Context, socket string, room time.Duration) (*net.UnixConn, error) {
	c, err := connects(ctx, socket, room)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EINVAL): // a path too long
		return nil, ErrNoHost
	case errors.Is(err, syscall.EAGAIN): // a flooded host's backlog may be full that long
		return nil, &HungError{}
	case err != nil:
		return nil, fmt.Errorf("reach the host: %w", err)
	}
	conn := c.(*net.UnixConn)
	if _, uid, err := credentials(conn); err != nil || uid != os.Geteuid() {
		return nil, errors.Join(fmt.Errorf("the host at %s is another user's", socket), err, conn.Close())
	}
	return conn, nil
}

// roomWithin is how long a flooded host's backlog may be full.
const roomWithin = 5 * time.Second

// connects is dialWithin without a check of the listening process.
func connects(ctx context.Context, socket string, room time.Duration) (net.Conn, error) {
	var d net.Dialer
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; {
		c, err := d.DialContext(ctx, "unix", socket)
		if !errors.Is(err, syscall.EAGAIN) || time.Since(began) > room {
			return c, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// hostOf connects to the host of the workspace that contains dir, which it starts if there is none. The error is a
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

// question returns the bytes of a request to a host.
func question(f wire.Fields) []byte { return wire.Append([]byte(wire.Magic), wire.Ask, f.Bytes()) }

// HungError says that a host does not answer at all.
type HungError struct{ PID int } // 0: not known

func (e *HungError) Error() string {
	who := "the host"
	if e.PID != 0 {
		who = fmt.Sprintf("the host (process %d)", e.PID)
	}
	return who + " does not answer: somebody stopped it, or it waits for memory or for a disk; fantail host stop --now ends it"
}

// How long a host may be silent before it is asked for its status, how long it may take to answer that, and how often
// it is asked again while it carries out a request.
const (
	silence    = 3 * time.Second
	livesIn    = 5 * time.Second
	livesEvery = 10 * time.Second
)

// watched watches that the host at the other end of a connection lives, however long it takes to answer there, until
// over is called. If it does not, reads and writes on the connection end, and over returns a [*HungError].
func watched(ctx context.Context, conn *net.UnixConn) (over func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	looks := time.AfterFunc(silence, func() { done <- looksAfter(ctx, conn) })
	return func() error {
		defer cancel()
		if looks.Stop() {
			return nil
		}
		cancel()
		err := <-done
		if err != nil {
			_ = conn.SetDeadline(time.Time{}) // it may have answered just now
		}
		return err
	}
}

// looksAfter returns nil once ctx ends, or a [*HungError] once the host at the other end does not live: then it ends
// reads and writes on the connection.
func looksAfter(ctx context.Context, conn *net.UnixConn) error {
	again := time.NewTicker(livesEvery)
	defer again.Stop()
	for gone := false; ; {
		err := lives(ctx, conn.RemoteAddr().String())
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, ErrNoHost) && !gone: // it ends, and closes the connection
			gone = true
		default:
			pid, _, _ := credentials(conn)
			_ = conn.SetDeadline(time.Now())
			return &HungError{pid}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// lives returns a [*HungError] if the host that listens on that socket does not answer a status request in time, or
// ErrNoHost if none listens. A connection that a flooded host drops counts as an answer.
func lives(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, livesIn)
	defer cancel()
	conn, err := dial(ctx, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	pid, _, _ := credentials(conn)
	_, _ = exchange(ctx, conn, question(wire.Fields{wire.Do + "=" + wire.Status})) // any answer counts
	if ctx.Err() == nil {
		return nil
	}
	return &HungError{pid}
}

// Watch watches whether the host that listens on that socket lives, until ctx ends: it calls say when the host does
// not answer, and when it does again. It does not end the caller's wait: the host may recover.
func Watch(ctx context.Context, socket string, say func(text string)) {
	watchEvery(ctx, livesEvery, socket, say)
}

// watchEvery is [Watch] with that interval.
func watchEvery(ctx context.Context, every time.Duration, socket string, say func(text string)) {
	again := time.NewTicker(every)
	defer again.Stop()
	for silent := false; ; {
		err := lives(ctx, socket)
		switch hung := (*HungError)(nil); {
		case ctx.Err() != nil:
			return
		case errors.As(err, &hung) && !silent:
			silent = true
			say(hung.Error() + ", else this waits until it goes on")
		case err == nil && silent:
			silent = false
			say("the host answers again")
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// asks sends a question and waits for the answer until ctx ends, or the host no longer lives: the error is a
// [*HungError].
func asks(ctx context.Context, conn *net.UnixConn, question []byte) (wire.Fields, error) {
	over := watched(ctx, conn)
	f, err := exchange(ctx, conn, question)
	if hung := over(); err != nil && hung != nil {
		return nil, hung
	}
	return f, err
}

// exchange sends a question and waits for the answer until ctx ends.
func exchange(ctx context.Context, conn *net.UnixConn, question []byte) (wire.Fields, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	_, unsent := conn.Write(question) // a host that refuses does not read all of it, and says why
	k, body, _, err := wire.Read(conn, wire.MaxFrame, nil)
	if err != nil || k != wire.Answer {
		return nil, errors.Join(errors.New("the host does not answer"), unsent, err, ctx.Err())
	}
	return wire.FieldsOf(body), nil
}

// StatusOf parses a host's answer about itself.
func StatusOf(f wire.Fields) (s Status) {
	s.Version, s.Root, s.Agents = f.Get(wire.Version), f.Get(wire.Root), f.All(wire.Agent)
	s.PID, _ = strconv.Atoi(f.Get(wire.PID))
	s.Screens, _ = strconv.Atoi(f.Get(wire.Screens))
	s.Files, _ = strconv.Atoi(f.Get(wire.Files))
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

// ByState counts the agents by state, the most important first.
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

// Busy returns the names of the agents at work.
func (s Status) Busy() (names []string) {
	for _, a := range s.Agents {
		if state, name, _ := strings.Cut(a, " "); state == "running" || state == "waiting" || state == "asking" {
			names = append(names, name)
		}
	}
	return names
}
