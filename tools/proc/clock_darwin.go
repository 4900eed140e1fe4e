package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is the wall clock, which jumps when it is set or the machine slept. Timers do not notice that: they stop while
// the machine sleeps. It is safe for concurrent use. The zero value is ready.
//
// A kqueue has no event for a jump. It has a timer that continues in sleep (NOTE_MACH_CONTINUOUS_TIME), so an alarm
// comes on time, or as the machine wakes up, and the jump is noticed then. But the kernel computes the time until an
// absolute time (NOTE_ABSOLUTE) once, when the timer is set: if the clock is set during the wait, the alarm moves by as
// much, and the jump is noticed at the next one. Only Mach messages report a jump, and they need C.
type Clock struct {
	mu    sync.Mutex
	queue int
	open  bool      // queue is one
	at    time.Time // of the alarm; zero: there is none
}

// Identifiers of the queue's events.
const (
	identAlarm = iota
	identEnd
)

// Alarm makes [Clock.Jumps] check the clock at that time; zero: never. There is one alarm.
func (c *Clock) Alarm(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
	return c.arm()
}

// arm sets the timer, even to the same time: the clock may have been set meanwhile. The caller holds mu.
func (c *Clock) arm() error {
	if !c.open {
		return nil
	}
	e := unix.Kevent_t{
		Ident: identAlarm, Filter: unix.EVFILT_TIMER, Flags: unix.EV_ADD | unix.EV_ONESHOT,
		Fflags: unix.NOTE_ABSOLUTE | unix.NOTE_MACH_CONTINUOUS_TIME | unix.NOTE_USECONDS, Data: c.at.UnixMicro(),
	}
	if c.at.IsZero() {
		e = unix.Kevent_t{Ident: identAlarm, Filter: unix.EVFILT_TIMER, Flags: unix.EV_DELETE}
	}
	err := change(c.queue, e)
	if c.at.IsZero() && errors.Is(err, unix.ENOENT) {
		return nil // it has fired
	}
	if err != nil {
		return fmt.Errorf("set an alarm: %w", err)
	}
	return nil
}

// change changes an event of a kqueue.
func change(queue int, e unix.Kevent_t) error {
	_, err := unix.Kevent(queue, []unix.Kevent_t{e}, nil, nil)
	return os.NewSyscallError("kevent", err)
}

// Jumps calls tell when the clock jumped, as seen by the alarm. It returns when ctx ends. It does not wake up in
// between: its thread waits in the kernel.
func (c *Clock) Jumps(ctx context.Context, tell func()) error {
	if err := c.begin(); err != nil {
		return fmt.Errorf("watch the clock: %w", err)
	}
	defer c.end()
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open {
			_ = change(c.queue, unix.Kevent_t{Ident: identEnd, Filter: unix.EVFILT_USER, Fflags: unix.NOTE_TRIGGER})
		}
	})()
	for was := time.Now(); ; {
		_, err := unix.Kevent(c.queue, nil, make([]unix.Kevent_t, 1), nil)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("watch the clock: %w", os.NewSyscallError("kevent", err))
		}
		if now := time.Now(); leapt(was, now) {
			was = now
			tell()
		}
	}
}

// begin makes the queue, with the requested alarm.
func (c *Clock) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue, err := unix.Kqueue()
	if err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(queue)
	c.queue, c.open = queue, true
	err = change(queue, unix.Kevent_t{Ident: identEnd, Filter: unix.EVFILT_USER, Flags: unix.EV_ADD})
	if err == nil {
		err = c.arm()
	}
	if err != nil {
		c.open = false
		_ = unix.Close(queue)
	}
	return err
}

func (c *Clock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = false
	_ = unix.Close(c.queue)
}

// leapt reports whether the wall clock advanced by a different amount between these times than the timers' clock.
func leapt(was, now time.Time) bool {
	return (now.Round(0).Sub(was.Round(0)) - now.Sub(was)).Abs() > time.Second
}
