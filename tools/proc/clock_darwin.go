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

// Clock is the clock on the wall, which leaps when somebody sets it or the machine slept. Timers do not notice that: they
// stand still while the machine sleeps. It is safe for concurrent use. The zero value is ready.
//
// No event of a kqueue tells of a leap. What it has is a timer that goes on in sleep (NOTE_MACH_CONTINUOUS_TIME), so an
// alarm comes on time, or as the machine wakes up, and the leap is noticed with it. But the kernel reckons once how long
// it is until a time of the wall's (NOTE_ABSOLUTE), as the timer is set: a clock that is set while it waits moves the
// alarm by as much, and is noticed with the next one. Only Mach messages tell of that, which need C.
type Clock struct {
	mu    sync.Mutex
	queue int
	open  bool      // queue is one
	at    time.Time // of the alarm; zero: there is none
}

// What the events of the queue are known by.
const (
	identAlarm = iota
	identEnd
)

// Alarm has [Clock.Jumps] look at the clock at that time, zero: at none. There is one alarm.
func (c *Clock) Alarm(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
	return c.arm()
}

// arm sets the timer, also to the time it is set to: the clock may have been set meanwhile. The caller holds mu.
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
		return nil // it has gone off
	}
	if err != nil {
		return fmt.Errorf("set an alarm: %w", err)
	}
	return nil
}

// change tells a kqueue.
func change(queue int, e unix.Kevent_t) error {
	_, err := unix.Kevent(queue, []unix.Kevent_t{e}, nil, nil)
	return os.NewSyscallError("kevent", err)
}

// Jumps calls tell when the clock leapt, as the alarm shows. It returns when ctx ends. It waits without waking up in
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

// begin makes the queue, with the alarm that was asked for.
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

// leapt reports whether the clock on the wall went another way between these times than the one of the timers.
func leapt(was, now time.Time) bool {
	return (now.Round(0).Sub(was.Round(0)) - now.Sub(was)).Abs() > time.Second
}
