package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is the wall clock, which jumps when it is set or the machine slept. Timers do not notice that. It is safe for
// concurrent use.
type Clock struct{}

// Alarm makes [Clock.Jumps] check the clock at that time; zero: never. It does nothing here: the kernel reports each
// jump.
func (*Clock) Alarm(time.Time) error { return nil }

// Jumps calls tell whenever the clock jumps. It returns when ctx ends. It does not wake up in between.
func (*Clock) Jumps(ctx context.Context, tell func()) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("watch the clock: %w", err)
	}
	f := os.NewFile(uintptr(fd), "clock")
	defer f.Close()
	defer context.AfterFunc(ctx, func() { _ = f.Close() })()
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("watch the clock: %w", err)
	}
	for {
		// The read of a timer that a leap cancels fails then. The timer itself is far away.
		far := unix.ItimerSpec{Value: unix.NsecToTimespec(time.Now().AddDate(5, 0, 0).UnixNano())}
		set := func(fd uintptr) {
			err = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &far, nil)
		}
		if err := errors.Join(conn.Control(set), err); err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch the clock: %w", err)
		}
		_, err = f.Read(make([]byte, 8))
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ECANCELED):
			tell()
		case err != nil:
			return fmt.Errorf("watch the clock: %w", err)
		}
	}
}
