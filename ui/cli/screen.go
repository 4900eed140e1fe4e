package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/roster"
	"fantail/store"
	"fantail/store/config"
	"fantail/tools/proc"
	"fantail/tools/secret"
	"fantail/ui"
	"fantail/ui/cli/guard"
	"fantail/ui/cli/shell"
)

// Screen is the full screen on the process's own terminal. It shows itself at
// once; the agents come when they are there.
type Screen struct {
	guard   *guard.Guard
	signals *guard.Signals
	app     *ui.App
	quiet   *quiet
	start   string        // of the start screen
	runs    chan struct{} // closed once the program takes messages
	opened  chan opened
}

// opened is what came of opening the workspace.
type opened struct {
	pool *agents.Pool
	db   *store.DB
	err  error
}

// NewScreen makes a screen; In, Out, Go and Now of o are set here.
func NewScreen(g *guard.Guard, o ui.Options) (*Screen, error) {
	s := &Screen{guard: g, start: o.Start, runs: make(chan struct{}), opened: make(chan opened, 1)}
	var err error
	if s.quiet, err = hush(g); err != nil {
		return nil, err
	}
	g.Terminal(os.Stdin, os.Stdout)
	// The files themselves: an editor gets them as its terminal.
	o.In, o.Out, o.Go, o.Now = os.Stdin, os.Stdout, g.Go, time.Now
	s.app = ui.New(o)
	g.AtEnd(func() {
		// The framework can't be ended while it starts.
		<-s.runs
		s.app.Kill()
		ownCursor()
		g.Restored()
	})
	s.signals = g.Watch(s.app.Quit)
	s.signals.HangUp(s.app.Quit, os.Stdin, os.Stdout)
	return s, nil
}

// Open opens the workspace once the screen stands. then runs once the screen
// has the agents.
func (s *Screen) Open(open func(ctx context.Context) (*agents.Pool, *store.DB, error), then func(ctx context.Context, pool *agents.Pool, app *ui.App)) {
	s.guard.Go("open", func() {
		<-s.app.Up()
		<-s.runs // what is told first is told first
		ctx := context.Background()
		pool, db, err := open(ctx)
		s.opened <- opened{pool, db, err}
		if err != nil {
			s.app.Quit()
			return
		}
		s.app.Attach(pool)
		then(ctx, pool, s.app)
	})
}

// Run shows the screen until it is left, closes what was opened and returns the
// exit code.
func (s *Screen) Run() (int, error) {
	s.guard.Go("start", func() {
		s.app.Model(s.start)
		close(s.runs)
	})
	err := s.app.Run()
	ownCursor()
	said := s.quiet.end()
	code := shell.OK
	if errors.Is(err, tea.ErrProgramPanic) {
		// The framework restored the terminal and wrote value and stack to what
		// was standard error then.
		s.guard.Fault("the interface", said)
		code, err = shell.Failed, nil
	} else if err != nil {
		err = fmt.Errorf("show the screen: %w", err)
	}
	if n, signalled := s.signals.Code(); signalled {
		code, err = n, nil
	}
	// Opening may hang on a lock of the database; nothing is lost then.
	late := time.NewTimer(guard.Closing)
	defer late.Stop()
	select {
	case o := <-s.opened:
		switch {
		case o.err != nil && code == shell.OK:
			return code, o.err
		case o.pool != nil:
			if e := guard.Close(o.pool.Close); e == nil {
				e = o.db.Close()
				err = errors.Join(err, e)
			}
		}
	case <-late.C:
	}
	return code, err
}

// ownCursor gives the user's own cursor back: the framework takes its shape for
// everybody's.
func ownCursor() { _, _ = io.WriteString(os.Stdout, "\x1b[0 q") }

// SetMain gives main another model.
func SetMain(ctx context.Context, pool *agents.Pool, model string) error {
	for _, i := range pool.Infos() {
		if i.Kind.Nature().Stays {
			return pool.SetModel(ctx, i.ID, model)
		}
	}
	return roster.ErrNoAgent
}

// Environ is what a screen sees of the process's environment, and hands to the
// human's own programs: without keys, and with the configured editor.
func Environ(c config.Config, keys *secret.Keys) []string {
	env := proc.Own(os.Environ(), keys)
	if c.Editor != "" {
		env = append(env, "VISUAL="+c.Editor)
	}
	return env
}

// quiet takes what is written to standard error while the screen stands, for it
// would damage it.
type quiet struct {
	was  *os.File
	w    *os.File
	done chan struct{}

	mu   sync.Mutex
	text []byte
}

// loudest is how much of that is kept, in bytes.
const loudest = 256 << 10

func hush(g *guard.Guard) (*quiet, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("set standard error aside: %w", err)
	}
	// Fd makes reading block a thread in the kernel. A goroutine that waits in the
	// runtime's poller has it woken at every tick of every timer.
	_ = r.Fd()
	q := &quiet{was: os.Stderr, w: w, done: make(chan struct{})}
	os.Stderr = w
	log.SetOutput(w)
	g.Go("standard error", func() {
		defer close(q.done)
		defer r.Close()
		_, _ = io.Copy(q, r)
	})
	return q, nil
}

func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.text = append(q.text, p[:min(len(p), max(0, loudest-len(q.text)))]...)
	return len(p), nil
}

// end gives standard error back and returns what was written to it.
func (q *quiet) end() string {
	os.Stderr = q.was
	log.SetOutput(q.was)
	_ = q.w.Close()
	<-q.done
	return strings.ReplaceAll(string(q.text), "\r\n", "\n")
}
