package host

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/ui"
	"fantail/ui/screen/wire"
)

// shown is a screen with a program, whose process is played by the test at the other end.
type shown struct {
	*client
	theirs net.Conn
	typed  *io.PipeWriter
	ended  chan error
}

// newShown runs a program in a bubble.
func newShown(t *testing.T) *shown {
	t.Helper()
	ours, theirs := net.Pipe()
	in, typed := io.Pipe()
	s := &shown{
		client: &client{host: newHouse(t).Host, gone: make(chan struct{}), news: make(chan struct{}, 1), away: make(chan struct{}, 1)},
		theirs: theirs, typed: typed, ended: make(chan error, 1),
	}
	s.paint = newPainter(ours, s.stalled)
	s.app = ui.New(ui.Options{In: in, Out: s.paint, Size: [2]int{80, 24}, Theme: "dark", Environ: []string{"TERM=xterm-256color"}, Now: time.Now, Terminal: s})
	go s.paint.run()
	go s.tells()
	go func() { s.ended <- s.app.Run() }()
	t.Cleanup(func() {
		s.app.Remote.Quit()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
		_ = ours.Close()
		close(s.paint.quit)
		close(s.gone)
		_ = typed.Close()
		<-time.NewTimer(time.Hour).C // timers of libraries end
	})
	return s
}

// types types keys, each string in one read, and waits until their effect is done.
func (s *shown) types(reads ...string) {
	for _, keys := range reads {
		_, _ = io.WriteString(s.typed, keys)
		<-time.NewTimer(time.Second).C
	}
}

// asked reads the screen's frames, and passes on those that are not paint.
func (s *shown) asked() <-chan string {
	asked := make(chan string, 8)
	go func() {
		var buf []byte
		for {
			k, body, grown, err := wire.Read(s.theirs, wire.MaxFrame, buf)
			if err != nil {
				return
			}
			if buf = grown; k != wire.Paint {
				asked <- string(k) + string(body)
			}
		}
	}()
	return asked
}

// TestStalled_sets: what is set in a terminal while it reads nothing is set once it reads again.
func TestStalled_sets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShown(t)
		time.Sleep(stallsAfter + time.Second) // nothing of the first frame is taken
		s.types("\x1bm", "?")                 // the mouse is the terminal's, and the help has no cursor
		all := make(chan []string, 1)
		go func() { all <- frames(t, s.theirs) }()
		time.Sleep(time.Second)
		_ = s.theirs.Close()
		got := strings.Join(<-all, "")
		for was, is := range map[string]string{"\x1b[?25h": "\x1b[?25l", "\x1b[?1002h": "\x1b[?1002l"} {
			if strings.LastIndex(got, was) > strings.LastIndex(got, is) {
				t.Errorf("it was last sent %q, not %q", was, is)
			}
		}
	})
}

// TestRun_large: a program whose environment does not fit a frame is refused with a text; one that just fits is run.
func TestRun_large(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShown(t)
		asked := s.asked()
		run := func(size int) error {
			env := "A=" + strings.Repeat("x", size-len("arg=true\x00env=A=\x00dir=/"))
			return s.Run(&exec.Cmd{Args: []string{"true"}, Env: []string{env}, Dir: "/"})
		}
		over := make(chan error, 1)
		go func() { over <- run(wire.MaxFrame + 1) }()
		synctest.Wait()
		if len(over) == 0 {
			t.Fatal("the screen was sent more than it takes")
		}
		if err := <-over; err == nil || !strings.Contains(err.Error(), "the environment is too large") {
			t.Errorf("too large: %v", err)
		}
		go func() { over <- run(wire.MaxFrame) }()
		if got := <-asked; len(got) != 1+wire.MaxFrame {
			t.Errorf("the screen was asked for %.20q of %d bytes", got, len(got))
		}
		s.returns(wire.Fields{wire.Code + "=0"})
		if err := <-over; err != nil {
			t.Errorf("just fits: %v", err)
		}
	})
}

// TestHand_twice: a second caller that gives the terminal away waits for the first, and each gets its own result.
func TestHand_twice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShown(t)
		asked, over := s.asked(), [2]chan error{make(chan error, 1), make(chan error, 1)}
		for i := range over {
			go func() { over[i] <- s.Run(&exec.Cmd{Args: []string{strconv.Itoa(i)}}) }()
			synctest.Wait()
		}
		for i := range over {
			if got := <-asked; got != fmt.Sprintf("Rarg=%d\x00dir=", i) || len(asked) > 0 {
				t.Errorf("asked for %q and %d more, want program %d alone", got, len(asked), i)
			}
			s.returns(wire.Fields{wire.Code + "=" + strconv.Itoa(i+1)})
			synctest.Wait()
			select {
			case err := <-over[i]:
				if err == nil || err.Error() != fmt.Sprintf("exit status %d", i+1) {
					t.Errorf("program %d: %v", i, err)
				}
			default:
				t.Errorf("nobody learns that program %d has ended", i)
			}
		}
	})
}
