package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fantail/ui/screen/wire"
)

// TestAsk_slow holds that a process waits for a host as long as that lives, and no longer.
func TestAsk_slow(t *testing.T) {
	for _, c := range []struct {
		name   string
		wish   Request
		status string // how the host reacts to a status request: answered, dropped, silent
		hung   bool
	}{
		{"ends at rest", EndAtRest, "answered", false},
		{"is flooded", EndAtRest, "dropped", false},
		{"tells nothing", Tell, "silent", true},
		{"ends never", EndNow, "silent", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			answer := wire.Append(nil, wire.Answer, wire.Fields{wire.PID + "=7"}.Bytes())
			served := make(chan error, 1)
			go func() {
				served <- func() error {
					asked, err := l.AcceptUnix()
					if err != nil {
						return err
					}
					defer asked.Close()
					look, err := l.AcceptUnix()
					if err != nil {
						return err
					}
					defer look.Close()
					switch c.status {
					case "answered":
						_, err = look.Write(answer)
					case "dropped":
						err = look.Close()
					default:
						_, err = l.AcceptUnix() // until the test ends
						return err
					}
					if err == nil {
						_, err = asked.Write(answer)
					}
					return err
				}()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := Ask(ctx, path, c.wish)
			hung := (*HungError)(nil)
			if errors.As(err, &hung) != c.hung || !c.hung && (err != nil || s.PID != 7) || c.hung && hung.PID != os.Getpid() {
				t.Errorf("%+v, %v", s, err)
			}
			if err := errors.Join(l.Close(), <-served); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		})
	}
}
