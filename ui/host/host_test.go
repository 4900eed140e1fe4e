package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/agents/schedule"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/ui"
	"fantail/ui/attach"
	"fantail/ui/crash"
	"fantail/ui/screen/wire"
)

// house is a host in a bubble, whose screens are only counted.
type house struct {
	*Host
	t        *testing.T
	left     atomic.Int32
	deserted atomic.Int32
}

func newHouse(t *testing.T) *house {
	h := &house{t: t}
	h.Host = New(Options{
		Guard:  crash.New(nil, crash.Options{Out: io.Discard, Exit: func(int) { t.Error("the guard ended the program") }, Clean: strings.Clone}),
		Log:    &Log{},
		Linger: 10 * time.Minute,
		Left:   func(Workspace) { h.left.Add(1) }, Deserted: func(Workspace) { h.deserted.Add(1) },
	})
	go h.linger()
	t.Cleanup(func() {
		h.End(0, "")
		synctest.Wait()
	})
	return h
}

// opens gives the host a real workspace, with the engine that needs no model.
func (h *house) opens() *agents.Pool {
	h.t.Helper()
	dir := h.t.TempDir()
	ctx := context.Background()
	gate, err := permission.NewGate(permission.Yolo, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	db, err := storetest.Open(ctx, filepath.Join(dir, "fantail.db"), store.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	pool, err := agents.Open(ctx, agents.Options{
		DB: db, Tools: tools.New(), Gate: gate, Model: builtin.Name, Root: dir, Data: dir, Environ: os.Environ(),
		System:  func(event.Info) string { return "" },
		Resolve: func(string) (llm.Model, error) { return llm.Model{Name: builtin.Name, Provider: builtin.New()}, nil },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := pool.Close(ctx); err != nil {
			h.t.Error(err)
		}
		if err := db.Close(); err != nil {
			h.t.Error(err)
		}
		<-time.NewTimer(time.Hour).C // timers of libraries end
	})
	h.space, h.opening = Workspace{Pool: pool}, true
	close(h.opened)
	return pool
}

// over reports whether the host is to end.
func (h *house) over() bool {
	synctest.Wait()
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		a, b := &client{}, &client{}
		time.Sleep(9 * time.Second) // the process that started the host has not connected yet
		h.join(a)
		time.Sleep(time.Hour)
		h.join(b)
		h.leave(a)
		time.Sleep(time.Hour)
		if h.over() {
			t.Fatal("it ended under a screen")
		}
		h.leave(b)
		time.Sleep(9 * time.Minute)
		h.join(a)
		h.leave(a)
		time.Sleep(9 * time.Minute)
		if h.over() {
			t.Fatal("it ended before its time")
		}
		time.Sleep(2 * time.Minute)
		if !h.over() {
			t.Fatal("it stays with nobody there and nothing to do")
		}
		if h.join(b) == nil {
			t.Error("a host that ends takes another screen")
		}
	})
}

// TestLinger_guests: a host that only processes without a screen visited ends with the last of them, or soon if none
// comes; after a screen it lingers as usual.
func TestLinger_guests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		time.Sleep(firstWithin - time.Second)
		if h.over() {
			t.Error("it ended before whoever had it started could come")
		}
		time.Sleep(2 * time.Second)
		if !h.over() || h.enter() {
			t.Error("it stays, though nobody came")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.enter()
		time.Sleep(time.Hour)
		h.enter()
		h.exit()
		time.Sleep(time.Hour)
		if h.over() {
			t.Error("it ended under a guest")
		}
		h.exit()
		if time.Sleep(time.Millisecond); !h.over() {
			t.Error("it stays after its last guest")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		s := &client{}
		h.enter()
		_ = h.join(s)
		h.leave(s)
		h.exit()
		time.Sleep(9 * time.Minute)
		if h.over() {
			t.Error("a guest has it end as if no screen had been there")
		}
		time.Sleep(2 * time.Minute)
		if !h.over() {
			t.Error("it stays")
		}
	})
}

// TestLinger_work: work keeps the host; once it is done the host has lingered long enough.
func TestLinger_work(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		pool := h.opens()
		a := &client{}
		h.join(a)
		main := pool.Infos()[0].ID
		if err := pool.Prompt(t.Context(), main, "wait 25m"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.leave(a)
		if h.left.Load() != 1 {
			t.Errorf("told %d times that the last screen left", h.left.Load())
		}
		if s := attach.StatusOf(h.status()); len(s.Busy()) != 1 || s.ByState() != "1 running" || s.Screens != 0 {
			t.Errorf("status %+v", s)
		}
		if said := strings.Join(h.goesOn(), " "); !strings.Contains(said, "main goes on") {
			t.Errorf("who leaves is told %q", said)
		}
		time.Sleep(24 * time.Minute)
		if h.over() {
			t.Fatal("it ended under an agent at work")
		}
		h.join(a)
		time.Sleep(2 * time.Minute)
		if h.over() {
			t.Fatal("it ended under a screen that came back")
		}
		h.leave(a)
		time.Sleep(11 * time.Minute)
		if !h.over() {
			t.Fatal("it stays with nothing to do")
		}
	})
}

// TestLinger_idle: an agent whose time runs keeps the host; one that stays for ever does not, as the next host finds
// it.
func TestLinger_idle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		pool := h.opens()
		a := &client{}
		h.join(a)
		for _, task := range []tools.Task{
			{Name: "short", Prompt: "say hi", Interactive: true, Idle: 25 * time.Minute, Start: true},
			{Name: "ever", Prompt: "say hi", Interactive: true, Idle: tools.Forever, Start: true},
		} {
			if _, err := pool.Tasks.Push(context.Background(), pool.Infos()[0].ID, task); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		h.leave(a)
		time.Sleep(24 * time.Minute)
		if h.over() {
			t.Fatal("it ended under an agent that awaits input")
		}
		time.Sleep(2 * time.Minute)
		if !h.over() {
			t.Fatalf("it stays: %+v", pool.Infos())
		}
	})
}

// TestLinger_scheduled: a schedule due within a day keeps the host until it has fired; a later one keeps it once it is
// near, if something else kept the host until then.
func TestLinger_scheduled(t *testing.T) {
	for text, stays := range map[string]time.Duration{
		"25h tea": 10 * time.Minute, "1h tea": time.Hour, "24h tea": 24 * time.Hour, "every 1h tea": schedule.MaxRuns * time.Hour,
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				pool := h.opens()
				a := &client{}
				h.join(a)
				due, text, err := schedule.ParseWhen(text, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				o := schedule.Order{Owner: pool.Infos()[0].ID, Origin: schedule.Human, Kind: schedule.Reminder, Text: text, When: due}
				if _, err := pool.Schedule.Add(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				h.leave(a)
				time.Sleep(stays - time.Second)
				if h.over() {
					t.Fatalf("it ended before %s", stays)
				}
				time.Sleep(5 * time.Second)
				if !h.over() {
					t.Fatalf("it stays after %s: %+v", stays, pool.Infos())
				}
			})
		})
	}
}

// TestRestart: a host restarts once no agent works, and then at once.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		pool := h.opens()
		h.join(&client{})
		if err := pool.Prompt(t.Context(), pool.Infos()[0].ID, "wait 5m"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- h.Restart(t.Context()) }()
		time.Sleep(4 * time.Minute)
		if h.over() {
			t.Fatal("it ended under an agent at work")
		}
		time.Sleep(2 * time.Minute)
		if err := <-done; err != nil || !h.over() || !h.again {
			t.Errorf("restart: %v, over %t", err, h.over())
		}
	})
}

// TestDeserted: a human who presses no key for eight hours counts as absent, whatever the screen shows.
func TestDeserted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.opens()
		h.join(&client{})
		key := func() { h.pressed.Store(time.Now().UnixMilli()) }
		key()
		go h.watchHumans()
		time.Sleep(7 * time.Hour)
		key()
		time.Sleep(7 * time.Hour)
		synctest.Wait()
		if h.deserted.Load() != 0 {
			t.Errorf("deserted %d times seven hours after a key", h.deserted.Load())
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if h.deserted.Load() != 1 {
			t.Errorf("deserted %d times nine hours after a key", h.deserted.Load())
		}
	})
}

// TestFarewell: screens that read nothing do not delay the message to the others.
func TestFarewell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		told := make(chan string, 1)
		for n := range 4 {
			ours, theirs := net.Pipe()
			defer ours.Close()
			s := &client{host: h.Host, paint: newPainter(ours, func(bool) {}), app: ui.New(ui.Options{})}
			go s.paint.run()
			if n == 0 {
				go func() {
					_, body, _, err := wire.Read(theirs, wire.MaxFrame, nil)
					told <- fmt.Sprintf("%s, %v", body, err)
				}()
			}
			if err := h.join(s); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		h.farewell(1, []string{"so long"})
		if took := time.Since(began); took > endsWithin {
			t.Errorf("it took %s", took)
		}
		if got := <-told; got != "code=1\x00say=so long, <nil>" {
			t.Errorf("told %q", got)
		}
	})
}

// TestWorkspace_ends: a host that ends while its workspace is being opened makes no caller wait for that. With the
// race detector it also shows that no caller sees half of it.
func TestWorkspace_ends(t *testing.T) {
	var h *Host
	begun := make(chan struct{})
	h = New(Options{Open: func(context.Context, Hello) (Workspace, error) {
		close(begun)
		<-h.ended
		return Workspace{}, nil
	}})
	came := make(chan error, 2)
	waits := func() {
		_, _, err := h.workspace(t.Context(), Hello{})
		came <- err
	}
	go waits()
	<-begun
	go waits()
	h.End(0, "")
	for range 2 {
		if err := <-came; err != nil && !errors.Is(err, errEnded) {
			t.Error(err)
		}
	}
}

func TestDiffers(t *testing.T) {
	h := New(Options{Version: "1.2"})
	for build, differs := range map[string]bool{h.build: false, "": false, "1:2:3": true} {
		if got := h.differs(Hello{Build: build}); (got != "") != differs {
			t.Errorf("%q: %q", build, got)
		}
	}
}
