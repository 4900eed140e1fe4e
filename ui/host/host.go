// Package host is the daemon of a workspace: screens come and go, agents stay.
package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/ui"
	"fantail/ui/crash"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
	"fantail/ui/shell"
)

// Options are what a host needs from main.
type Options struct {
	Guard   *crash.Guard
	Version string
	Root    string // of the workspace
	Data    string // its data directory
	Log     *Log
	// Screen returns what the program of a screen needs, except its terminal. An error is shown on the screen instead.
	Screen func(h Hello) (ui.Options, error)
	// Open opens the workspace. It is called once, when the first screen has its first frame, or at once if Stays is
	// set.
	Open func(ctx context.Context, first Hello) (Workspace, error)
	// Opened is called for each screen once it has the agents; first reports whether they were opened for it.
	Opened func(ctx context.Context, w Workspace, h Hello, r ui.Remote, first bool)
	// Print carries out a prompt of a process without a screen, and returns its exit code.
	Print func(ctx context.Context, w Workspace, j Job) (code int, err error)
	// Spawns returns the context and the model of a task that a process without a screen starts. model is the model
	// that it asks for; "": main's.
	Spawns func(ctx context.Context, w Workspace, h Hello, model string) (context.Context, string, error)
	// Left is called when the last screen has left, Deserted when no key was pressed on any screen for as long as
	// forgets.
	Left, Deserted func(w Workspace)
	// Linger is how long the host stays without screens and without work.
	Linger time.Duration
	// Stays makes the host open the workspace at once, without a screen, as if from that directory, and end only when
	// it is told to. "": off.
	Stays string
}

// Workspace is an open workspace.
type Workspace struct {
	Pool  *agents.Pool
	Close func() error // of everything, once the agents have ended
}

// Host is the process that owns the agents. It is safe for concurrent use.
type Host struct {
	o       Options
	started time.Time
	build   string
	pressed atomic.Int64 // when the last key came from any screen, in milliseconds since 1970
	lobby   lobby
	errands chan struct{} // holds a token for each that is being answered
	readers chan struct{} // and for each program that is attached to an agent

	mu       sync.Mutex
	screens  map[*client]bool
	guests   int           // processes without a screen whose requests are carried out
	shown    bool          // there was a screen, or a human started something without one
	visited  bool          // there was a guest
	arrived  chan struct{} // closed and replaced when a screen or a guest comes or leaves
	ending   bool
	ended    chan struct{} // closed when it is to end
	lone     func()        // stops the notifications without a screen; nil: there are none
	why      string        // the text for the screens then
	code     int
	again    bool // the screens are to look for the next host
	single   bool // it has no screen but its own process's
	opening  bool
	opened   chan struct{} // closed once the workspace is open, or can't be
	space    Workspace
	spaceErr error
	running  sync.WaitGroup // screens, until they have their goodbyes

	// Counts goroutines that close sockets or may open one: closing removes the path, where the next host's socket is
	// once the lock is free.
	listening sync.WaitGroup
}

// New returns a host that shows itself nowhere yet.
func New(o Options) *Host {
	return &Host{
		o: o, started: time.Now(), build: screen.Build(), screens: map[*client]bool{}, arrived: make(chan struct{}), ended: make(chan struct{}), opened: make(chan struct{}),
		errands: make(chan struct{}, maxErrands), readers: make(chan struct{}, maxReaders),
	}
}

// Serve accepts screens from l until the host is to end; then it ends them, closes the workspace and returns the exit
// code.
func (h *Host) Serve(l *net.UnixListener) (code int, err error) {
	h.listen(l)
	if h.o.Stays == "" {
		h.o.Guard.Go("linger", h.linger)
	} else {
		h.o.Guard.AtEnd(func() { h.farewell(shell.ExitFailed, []string{"its host failed; fantail host log tells why"}) })
		own := HelloOf(screen.Shell(nil, h.o.Stays))
		h.o.Guard.Go("open", func() { _, _, _ = h.workspace(context.Background(), own) }) // if that fails, the host ends
	}
	h.o.Guard.Go("watch the humans", h.watchHumans)
	if err := h.adopts(h.o.Guard.Go, h.o.Guard.Keeps); err != nil {
		h.o.Log.Printf("%v", err)
	}
	<-h.ended
	return h.close()
}

// listen takes screens from l until the host is to end.
func (h *Host) listen(l *net.UnixListener) {
	h.listening.Add(1)
	h.o.Guard.Go("stop listening", func() {
		defer h.listening.Done()
		<-h.ended
		_ = l.Close()
	})
	h.o.Guard.Go("listen", func() {
		for {
			conn, err := l.AcceptUnix()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				h.o.Log.Printf("accept a screen: %v", err)
				h.wait(100 * time.Millisecond) // no descriptors are left, most likely
				continue
			}
			heard := h.lobby.admit(caller{conn})
			h.o.Guard.Go("screen", func() { h.Show(conn, heard) })
		}
	})
}

// wait waits that long, or until the host is to end.
func (h *Host) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-h.ended:
	}
}

// close ends the screens and the workspace.
func (h *Host) close() (code int, err error) {
	h.mu.Lock()
	for s := range h.screens {
		h.o.Guard.Go("goodbye", s.end)
	}
	code, opening := h.code, h.opening
	h.mu.Unlock()
	h.listening.Wait()
	h.running.Wait()
	if !opening {
		return code, nil
	}
	// Opening may hang on a lock of the database; giving up loses nothing.
	late := time.NewTimer(crash.Closing)
	defer late.Stop()
	select {
	case <-h.opened:
	case <-late.C:
		return code, nil
	}
	if h.spaceErr != nil {
		return max(code, shell.ExitFailed), nil // each screen got the error
	}
	// The next start finds what can't be recorded in that time.
	if crash.Close(h.space.Pool.Close) == nil {
		err = h.space.Close()
	}
	return code, err
}

// End makes the host end and tells each screen why; "": the screen knows. Only the first call counts.
func (h *Host) End(code int, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endLocked(code, why)
}

func (h *Host) endLocked(code int, why string) {
	if h.ending {
		return
	}
	h.ending, h.code, h.why = true, code, why
	h.accompanyLocked()
	close(h.ended)
}

// farewell ends all screens at once with that text, since the program can't go on. It waits a moment until they have
// got it, and does not wait for their programs.
func (h *Host) farewell(code int, says []string) {
	h.mu.Lock()
	screens := slices.Collect(maps.Keys(h.screens))
	h.mu.Unlock()
	var told sync.WaitGroup
	for _, s := range screens {
		told.Add(1)
		h.o.Guard.Go("farewell", func() {
			s.mu.Lock()
			s.parted = true
			s.mu.Unlock()
			s.paint.bye(code, says) // its program may never get to undo what it has set: the screen does
			told.Done()
			s.app.Remote.Kill()
		})
	}
	told.Wait()
}

// Restart ends the host once no agent works; its screens start the next one. It waits until then, or until ctx ends.
func (h *Host) Restart(ctx context.Context) error {
	if w, open := h.open(); open {
		if err := w.Pool.Settled(ctx); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.again = true
	h.endLocked(shell.ExitOK, "")
	return nil
}

// differs returns a text if a screen was started from another build than this host; else "".
func (h *Host) differs(s Hello) string {
	if s.Build == "" || h.build == "" || s.Build == h.build {
		return ""
	}
	return fmt.Sprintf("the host is another build of fantail (%s, since %s); /restart starts yours once nothing goes on", h.o.Version, h.started.Format("Jan 2 15:04"))
}

// join adds a screen. It returns errEnded if the host ends and the screen has to look for the next one.
func (h *Host) join(s *client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ending:
		return errEnded
	case len(h.screens) >= maxScreens:
		return errManyScreens
	}
	h.screens[s], h.shown = true, true
	h.accompanyLocked()
	h.running.Add(1)
	s.joined = true
	h.turn()
	return nil
}

// enter adds a guest; false: the host ends.
func (h *Host) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending {
		return false
	}
	h.guests++
	h.visited = true
	h.running.Add(1)
	h.turn()
	return true
}

func (h *Host) exit() {
	h.mu.Lock()
	h.guests--
	h.turn()
	h.mu.Unlock()
	h.running.Done()
}

func (h *Host) leave(s *client) {
	h.mu.Lock()
	delete(h.screens, s)
	h.turn()
	last := len(h.screens) == 0
	w, open := h.open()
	if last && open && !h.ending {
		h.lone = s.watch(w.Pool)
	}
	h.mu.Unlock()
	if last && open {
		h.o.Left(w)
	}
}

// open returns the workspace, if it is open.
func (h *Host) open() (w Workspace, open bool) {
	select {
	case <-h.opened:
		return h.space, h.spaceErr == nil
	default:
		return w, false
	}
}

// watchDatabase ends the host once nothing can be recorded any more: its directory is gone, or the database was
// removed.
func (h *Host) watchDatabase() {
	if err := h.space.Pool.Fails(h.ended); err != nil {
		h.o.Log.Printf("it ends, for nothing can be recorded any more: %s", h.o.Guard.Text(err.Error()))
		h.End(shell.ExitFailed, "its host ended, for nothing can be recorded any more: "+err.Error())
	}
}

// forgets is how long no key may be pressed before permissions that the human gave for the session end.
const forgets = 8 * time.Hour

// watchHumans calls Deserted after that long without a key.
func (h *Host) watchHumans() {
	select {
	case <-h.opened:
	case <-h.ended:
		return
	}
	w, open := h.open()
	for left := forgets; open; {
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case <-h.ended:
			t.Stop()
			return
		}
		if left = forgets - time.Since(time.UnixMilli(h.pressed.Load())); left <= 0 {
			h.o.Deserted(w)
			left = forgets
		}
	}
}

// turn signals that a screen or guest has come or left. The caller holds mu.
func (h *Host) turn() {
	close(h.arrived)
	h.arrived = make(chan struct{})
}

// here returns how many screens and guests there are, a channel that is closed when that changes, and how long the
// host stays without any: not at all if only guests visited it.
func (h *Host) here() (n int, turned <-chan struct{}, stays time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.shown:
		stays = h.o.Linger
	case !h.visited:
		stays = firstWithin
	}
	return len(h.screens) + h.guests, h.arrived, stays
}

// linger ends the host when no screen or guest has been there for a while and no agent works.
func (h *Host) linger() {
	for {
		n, turned, stays := h.here()
		if n == 0 && h.alone(turned, stays) {
			return
		}
		select {
		case <-turned:
		case <-h.ended:
			return
		}
	}
}

// firstWithin is how long a host waits for the process that started it.
const firstWithin = 10 * time.Second

// rest waits until no agent works, no idle agent's time runs and nothing is scheduled within a day. If there never was
// a screen, open questions are older than the host and do not keep it.
func (h *Host) rest(ctx context.Context) error {
	w, open := h.open()
	if !open {
		return nil
	}
	h.mu.Lock()
	shown := h.shown
	h.mu.Unlock()
	rest := w.Pool.Scripts.Rest
	if shown {
		rest = w.Pool.Settled
	}
	for {
		if err := rest(ctx); err != nil {
			return err
		}
		now := time.Now()
		left := max(longest(w.Pool.Infos(), now), w.Pool.Schedule.Stays(now))
		if left == 0 {
			return nil
		}
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
}

// longest returns the longest time left among idle agents whose time runs; 0: there is none. An agent that stays for
// ever needs no host: the next one finds it idle.
func longest(agents []event.Info, now time.Time) (longest time.Duration) {
	for _, i := range agents {
		if left, counts := i.Await.Left(now); counts {
			longest = max(longest, left, time.Second)
		}
	}
	return longest
}

// alone waits for that time and until no agent works, and ends the host. It returns false if a screen or guest came.
func (h *Host) alone(came <-chan struct{}, stays time.Duration) bool {
	t := time.NewTimer(stays)
	defer t.Stop()
	select {
	case <-t.C:
	case <-came:
		return false
	case <-h.ended:
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.o.Guard.Go("somebody comes", func() {
		select {
		case <-came:
		case <-h.ended:
		case <-ctx.Done():
		}
		cancel()
	})
	if h.rest(ctx) != nil && ctx.Err() != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.screens)+h.guests > 0 {
		return false
	}
	h.endLocked(shell.ExitOK, "")
	return true
}

// workspace returns the open workspace. The first caller opens it.
func (h *Host) workspace(ctx context.Context, hello Hello) (w Workspace, first bool, err error) {
	h.mu.Lock()
	first = !h.opening
	h.opening = true
	h.mu.Unlock()
	if first {
		h.space, h.spaceErr = h.o.Open(context.WithoutCancel(ctx), hello) // it stays when that screen leaves
		close(h.opened)
		collect()
		if h.spaceErr != nil {
			h.o.Log.Printf("open the workspace: %s", h.o.Guard.Text(h.spaceErr.Error()))
			h.End(shell.ExitCode(h.spaceErr), h.spaceErr.Error())
		} else if h.space.Pool != nil {
			h.o.Guard.Go("watch the database", h.watchDatabase)
		}
	}
	select {
	case <-h.opened:
		return h.space, first, h.spaceErr
	case <-h.ended:
		return w, false, errEnded // opening may be under way
	}
}

var (
	errEnded = errors.New("the host ends")
	errAgain = errors.New("look for another host")
)

// welcome returns the fields with which a host introduces itself.
func (h *Host) welcome() wire.Fields {
	var f wire.Fields
	f.Add(wire.Version, h.o.Version)
	f.Add(wire.PID, strconv.Itoa(os.Getpid()))
	return f
}
