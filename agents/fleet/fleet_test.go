package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools/permission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bare is a fleet without a pool, and the calls of its callbacks.
type bare struct {
	*fleet.Fleet
	heard []string
	busy  map[int64]bool // the answers of Busy; 0: the pool's
}

// newFleet returns an empty fleet. A model is called VENDOR/NAME; the vendor "one" serves
// one agent at a time.
func newFleet(t testing.TB, o fleet.Options) *bare {
	b := &bare{busy: map[int64]bool{}}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cap == 0 {
		o.Cap = 8
	}
	o.Go = func(_ string, f func()) { go f() }
	o.Modes = func() (permission.Mode, permission.Mode) { return permission.Ask, "" }
	o.Wall = func() permission.Sandbox { return permission.NoSandbox }
	o.Resolve = func(model string) (llm.Model, error) {
		vendor, _, ok := strings.Cut(model, "/")
		if !ok {
			return llm.Model{}, errors.New("no such model")
		}
		m := llm.Model{Name: model, Vendor: vendor}
		if vendor == "one" {
			m.AtOnce = 1
		}
		return m, nil
	}
	b.Fleet = fleet.New(context.WithoutCancel(t.Context()), o)
	note := func(format string, args ...any) { b.heard = append(b.heard, fmt.Sprintf(format, args...)) }
	b.Tell(fleet.Callbacks{
		Opened: []func(int64){func(id int64) { note("opened %d", id) }},
		Mailed: []func(*event.Info, inbox.Change){func(i *event.Info, r inbox.Change) { note("mailed %d: %d", i.ID, r.Pending) }},
		Ended:  []func(event.Info){func(i event.Info) { note("ended %d %s %s", i.ID, i.State, i.Why) }},
		Closed: []func(int64){func(id int64) { note("closed %d", id) }},
		Busy:   []func(int64) bool{func(id int64) bool { return b.busy[id] }},
	})
	return b
}

// open opens the tab of an agent named after its id. One that runs and ends with its work holds its slot.
func (b *bare) open(i event.Info) *fleet.Agent {
	if i.Name == "" {
		i.Name = fmt.Sprintf("a%d", i.ID)
	}
	if i.State == "" {
		i.State = event.Running
	}
	b.Lock()
	defer b.Unlock()
	a := b.NewAgent(i, i.Task)
	b.Open(a)
	if i.Kind.Ends() && i.State == event.Running {
		b.Queue.Take(a.ID, a.Slot())
	}
	return a
}

// hold runs f with the mutex held.
func (b *bare) hold(f func()) {
	b.Lock()
	defer b.Unlock()
	f()
}

func (b *bare) running() (n int) {
	b.hold(func() { n = b.Queue.Running() })
	return n
}

// is puts an agent into a state.
func is(s event.State) func(i *event.Info) { return func(i *event.Info) { i.State = s } }

// screen is the state that a reader of a feed knows.
type screen struct {
	feed  *event.Feed
	infos map[int64]event.Info
	tally event.Tally
}

func (b *bare) screen() *screen {
	feed, was := b.Subscribe()
	s := &screen{feed: feed, infos: map[int64]event.Info{}}
	s.apply(was)
	return s
}

// reads applies the news.
func (s *screen) reads() *screen {
	s.apply(s.feed.Take())
	return s
}

func (s *screen) apply(es []event.Event) {
	for _, e := range es {
		switch e := e.(type) {
		case event.Changed:
			s.infos[e.ID] = e.Info
		case event.Closed:
			delete(s.infos, e.Agent)
		case event.Tally:
			s.tally = e
		}
	}
}

// differs says how the screen differs from the true state; "": not at all.
func (s *screen) differs(b *bare) string {
	is := b.Infos()
	if len(is) != len(s.infos) {
		return fmt.Sprintf("%d tabs instead of %d", len(s.infos), len(is))
	}
	for _, i := range is {
		if got := s.infos[i.ID]; !reflect.DeepEqual(got, i) {
			return fmt.Sprintf("%+v\ninstead of %+v", got, i)
		}
	}
	return ""
}

// TestTabs: a tab is opened, replaced by one that continues its transcript, and closed; callbacks are called for
// living agents only, and CloseTab does not close a tab that another agent has by now.
func TestTabs(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	s := b.screen()
	first := b.open(event.Info{ID: 1, Kind: event.Sub, State: event.Done})
	select {
	case <-first.Gone:
	default:
		t.Error("who has ended already has a loop")
	}
	again := b.open(event.Info{ID: 1, Kind: event.Sub})
	b.hold(func() { b.CloseTab(first) })
	if a, err := b.Agent(1); a != again || err != nil {
		t.Errorf("the tab is %v's, %v", a, err)
	}
	first.Set(func(i *event.Info) { i.Name = "gone" })
	if d := s.reads().differs(b); d != "" || b.Infos()[0].Name != "a1" {
		t.Errorf("the screen shows %s", d)
	}
	again.Set(is(event.Done))
	b.hold(func() { b.CloseTab(again) })
	if _, err := b.Agent(1); !errors.Is(err, tasks.ErrNoAgent) || len(b.Infos()) != 0 {
		t.Errorf("after the tab was closed: %v, %v", err, b.Infos())
	}
	if d := s.reads().differs(b); d != "" {
		t.Errorf("the screen shows %s", d)
	}
	if want := []string{"opened 1", "ended 1 done ", "closed 1"}; !slices.Equal(b.heard, want) {
		t.Errorf("the rooms heard %q, want %q", b.heard, want)
	}
}

// TestChange_end: a terminal state wins. The callbacks get the final state once, and the slot is free.
func TestChange_end(t *testing.T) {
	b := newFleet(t, fleet.Options{Cap: 1})
	a := b.open(event.Info{ID: 1, Kind: event.Sub})
	if b.running() != 1 {
		t.Fatal("it holds no slot")
	}
	a.Set(func(i *event.Info) { i.State, i.Why = event.Failed, "no model" })
	for _, s := range []event.State{event.Running, event.Killed, event.Failed} {
		a.Set(func(i *event.Info) { i.State, i.Gist = s, string(s) })
		if i := a.Known(); i.State != event.Failed || i.Gist != string(s) {
			t.Errorf("after %s: %s, %q", s, i.State, i.Gist)
		}
	}
	if want := []string{"opened 1", "ended 1 failed no model"}; !slices.Equal(b.heard, want) {
		t.Errorf("the rooms heard %q, want %q", b.heard, want)
	}
	var living int
	b.hold(func() {
		for range b.Living() {
			living++
		}
	})
	if living != 0 || b.running() != 0 {
		t.Errorf("%d live and hold %d slots", living, b.running())
	}
}

// TestChange_signsOfLife: an agent's own activity is a sign of life, a change of what is known of it is none; and a
// call's title goes with the call.
func TestChange_signsOfLife(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newFleet(t, fleet.Options{Now: func() time.Time { return now }})
	a := b.open(event.Info{ID: 1, Kind: event.Main})
	for _, c := range []struct {
		what string
		do   func()
		sign bool
	}{
		{"a state", func() { a.Set(is(event.Waiting)) }, true},
		{"the same state", func() { a.Set(is(event.Waiting)) }, false},
		{"a call", func() { a.Set(func(i *event.Info) { i.Doing, i.Call = "tool bash", "make" }) }, true},
		{"another title", func() { a.Set(func(i *event.Info) { i.Call = "make all" }) }, false},
		{"a retry", func() { a.Set(func(i *event.Info) { i.Retry = &event.Retry{Attempt: 1} }) }, true},
		{"a step", func() { a.Set(func(i *event.Info) { i.Steps++ }) }, true},
		{"a prompt", func() { a.Set(func(i *event.Info) { i.Prompts = []event.Prompt{{ID: 1}} }) }, false},
		{"a name", func() { b.Line.Renamed(1, "x") }, false},
	} {
		before := a.Known().Active
		now = now.Add(time.Second)
		c.do()
		if i := a.Known(); i.Active.Equal(now) != c.sign || !c.sign && !i.Active.Equal(before) {
			t.Errorf("%s: active %s, at %s", c.what, i.Active, now)
		}
	}
	if a.Known().Call != "make all" {
		t.Error("the title is gone while its call runs")
	}
	now = now.Add(time.Second)
	a.Show(event.Delta{Agent: 1})
	a.Set(func(i *event.Info) { i.Name = "y" })
	if i := a.Known(); !i.Active.Equal(now) {
		t.Errorf("a delta: active %s, at %s", i.Active, now)
	}
	if a.Set(func(i *event.Info) { i.Doing = "streaming" }); a.Known().Call != "" {
		t.Error("the title outlives its call")
	}
}

// TestBook: a writer of a transcript tells the feeds after the commit, and for an agent in memory that is a sign of
// life.
func TestBook(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newFleet(t, fleet.Options{Now: func() time.Time { return now }})
	a := b.open(event.Info{ID: 1, Kind: event.Main, Spent: event.Spent{Window: 1000}})
	f, _ := b.Subscribe()
	now = now.Add(time.Minute)
	book := a.Book()
	book.Tell([]history.Entry{{Seq: 7}}, true)
	b.Book(2).Tell([]history.Entry{{Seq: 8}}, false)
	var got []string
	for _, e := range f.Take() {
		if e, ok := e.(event.Appended); ok {
			got = append(got, fmt.Sprintf("%d: #%d %t", e.Agent, e.Entries[0].Seq, e.Live))
		}
	}
	if want := []string{"1: #7 true", "2: #8 false"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if now2, _ := b.Does("a1"); !now2.Info.Active.Equal(now) {
		t.Errorf("active %s, at %s", now2.Info.Active, now)
	}
	if got, want := book.Room(), history.TakeRoom(1000); got != want {
		t.Errorf("room for %d, want %d", got, want)
	}
}

// TestSetModel: new agents use main's model; so does an unknown agent.
func TestSetModel(t *testing.T) {
	b := newFleet(t, fleet.Options{Model: "v/old"})
	m, h := b.open(event.Info{ID: 1, Kind: event.Main, Model: "v/old"}), b.open(event.Info{ID: 2, Kind: event.Helper, Model: "v/old"})
	h.SetModel(llm.Model{Name: "v/mine", Window: 5})
	if got := []string{b.ModelOf(1), b.ModelOf(2), b.ModelOf(9)}; !slices.Equal(got, []string{"v/old", "v/mine", "v/old"}) {
		t.Errorf("the helper's changed: %v", got)
	}
	m.SetModel(llm.Model{Name: "v/new", Window: 7, Price: func(llm.Usage) int64 { return 1 }})
	if got := []string{b.ModelOf(1), b.ModelOf(2), b.ModelOf(9)}; !slices.Equal(got, []string{"v/new", "v/mine", "v/new"}) {
		t.Errorf("main's changed: %v", got)
	}
	if model, i := m.Present(); model.Name != "v/new" || i.Model != "v/new" || i.Window != 7 || !i.Priced {
		t.Errorf("main asks %s: %+v", model.Name, i)
	}
}

// TestMeant: a word means an agent whose tab is open, by its name or the beginning of it.
func TestMeant(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	b.open(event.Info{ID: 1, Name: "main", Kind: event.Main})
	b.open(event.Info{ID: 2, Name: "finch", Kind: event.Sub})
	b.open(event.Info{ID: 3, Name: "finch2", Kind: event.Sub})
	closed := b.open(event.Info{ID: 4, Name: "kea", Kind: event.Sub, State: event.Done})
	b.hold(func() { b.CloseTab(closed) })
	for word, want := range map[string]int64{"main": 1, "m": 1, "finch": 2, "finch2": 3, "fin": 0, "kea": 0, "": 0} {
		a, i, err := b.Meant(word)
		if (err == nil) != (want != 0) || want != 0 && (a.ID != want || i.ID != want) {
			t.Errorf("%q means %v, %v; want %d", word, i.ID, err, want)
		}
	}
	if b.Main().ID != 1 {
		t.Error("main is not main")
	}
	b.hold(func() {
		if b.Called("finch").ID != 2 || b.Called("fin") != nil || b.Of(3).Info.Name != "finch2" || b.Of(4) != nil {
			t.Error("found by another name than its own")
		}
	})
}

// TestBelow: those below some agents are found over one that has ended, and only the
// living are listed.
func TestBelow(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	b.open(event.Info{ID: 1, Kind: event.Main})
	b.open(event.Info{ID: 2, Kind: event.Sub, Parent: 1})
	b.open(event.Info{ID: 3, Kind: event.Sub, Parent: 2, State: event.Done})
	b.open(event.Info{ID: 4, Kind: event.Sub, Parent: 3})
	b.open(event.Info{ID: 5, Kind: event.Sub, Parent: 1})
	in := map[int64]bool{2: true}
	var got []int64
	for _, a := range b.Below(in) {
		got = append(got, a.ID)
	}
	slices.Sort(got)
	if !slices.Equal(got, []int64{2, 4}) || len(in) != 3 || !in[3] {
		t.Errorf("below 2 live %v, all are %v", got, in)
	}
}

// TestRung: Rung shows the inbox's counts, and pokes an agent only for new mail.
func TestRung(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Main})
	f, _ := b.Subscribe()
	b.Rung(inbox.Change{Recipient: 1, Pending: 2, Urgent: 1, Came: 2, Deposited: true})
	b.Rung(inbox.Change{Recipient: 1, Pending: 3, Came: 1, Deposited: true})
	select {
	case <-a.Pokes:
	default:
		t.Error("nobody poked it")
	}
	if !a.HasMail() {
		t.Error("it has no mail")
	}
	b.Rung(inbox.Change{Recipient: 1})
	b.Rung(inbox.Change{Recipient: 9, Pending: 1, Deposited: true})
	select {
	case <-a.Pokes:
		t.Error("what was taken poked it")
	default:
	}
	if i := a.Known(); i.Pending != 0 || i.Urgent != 0 || i.Came != 3 || a.HasMail() {
		t.Errorf("%d pending, %d urgent, %d came", i.Pending, i.Urgent, i.Came)
	}
	if want := []string{"opened 1", "mailed 1: 2", "mailed 1: 3"}; !slices.Equal(b.heard, want) {
		t.Errorf("the rooms heard %q, want %q", b.heard, want)
	}
	var mailed []int64
	for _, e := range f.Take() {
		if e, ok := e.(event.Mailed); ok {
			mailed = append(mailed, e.Agent)
		}
	}
	if !slices.Equal(mailed, []int64{1, 9}) {
		t.Errorf("the feeds hear of the inboxes of %v", mailed)
	}
}

// TestTrouble: an error of no single agent shows in main's tab, if that exists yet.
func TestTrouble(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	b.Trouble(errors.New("early"))
	a := b.open(event.Info{ID: 1, Kind: event.Main})
	if b.Trouble(errors.New("no disk")); a.Known().Why != "no disk" {
		t.Errorf("main shows %q", a.Known().Why)
	}
}

// TestDoes: it returns an agent's calls and request, and what delays a task or a fork.
func TestDoes(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newFleet(t, fleet.Options{Cap: 1, Now: func() time.Time { return now }})
	a := b.open(event.Info{ID: 1, Name: "kid", Kind: event.Sub})
	b.open(event.Info{ID: 2, Name: "kid-fork-1", Kind: event.Fork, State: event.Queued})
	end := a.Working("c1", "make")
	a.Working("c2", "grep")
	end()
	a.Asked("streaming")
	n, err := b.Does("kid")
	if err != nil || len(n.Calls) != 1 || n.Calls[0] != (fleet.Working{Call: "c2", Title: "grep", Since: now}) || !n.Asked.Equal(now) || n.Queued != "" {
		t.Errorf("kid: %+v, %v", n, err)
	}
	if a.Set(func(i *event.Info) { i.Doing = "tool grep" }); !must(b.Does("kid")).Asked.IsZero() {
		t.Error("a request is told of that has ended")
	}
	if n := must(b.Does("kid-fork-1")); n.Queued != "1 agents run, as many as may at once" {
		t.Errorf("the fork is held up by %q", n.Queued)
	}
	if _, err := b.Does("nobody"); !errors.Is(err, tasks.ErrNoAgent) {
		t.Errorf("nobody: %v", err)
	}
	for _, c := range []struct {
		task tasks.QueuedTask
		then func()
		want string
	}{
		{queued(10, 1, tasks.OriginCLI), nil, "it came from outside: /run lets it in"},
		{tasks.QueuedTask{Task: queued(17, 1, tasks.OriginHuman).Task, Now: true, Unsealed: true}, nil, "this host did not write it as it is: /run asks whether it may start"},
		{queued(11, 1, tasks.OriginHuman), nil, "nobody has started it: /run does"},
		{started(12, 1, queued(10, 1, "").Task), nil, "waits for t10"},
		{started(13, 1), nil, "1 agents run, as many as may at once"},
		{started(14, 1), func() { a.Set(is(event.Done)) }, "it is about to start"},
		{started(15, 1), func() {
			b.hold(func() { b.Queue.Open(1, tasks.Window{Most: 1}); b.Queue.Take(99, tasks.Slot{Owner: 1}) })
		}, "so many of its queue run as /run 1 allows"},
	} {
		b.Line.Queued(t.Context(), c.task)
		if c.then != nil {
			c.then()
		}
		if n, err := b.Does(c.task.Task.Name); err != nil || n.Queued != c.want || n.Info.State != event.Queued {
			t.Errorf("%s: %q, %v; want %q", c.task.Task.Name, n.Queued, err, c.want)
		}
	}
	b.hold(func() { b.Queue.Free(99) })
	b.hold(func() { b.Queue.Take(99, tasks.Slot{Vendor: "one", AtOnce: 1}) })
	busy := started(16, 2)
	busy.Task.Model = "one/x"
	wide := newFleet(t, fleet.Options{})
	wide.hold(func() { wide.Queue.Take(99, tasks.Slot{Vendor: "one", AtOnce: 1}) })
	wide.Line.Queued(t.Context(), busy)
	if n := must(wide.Does("t16")); n.Queued != "one serves as many agents as it does at once" {
		t.Errorf("a busy vendor: %q", n.Queued)
	}
}

func must(n fleet.Now, err error) fleet.Now {
	if err != nil {
		panic(err)
	}
	return n
}

// TestClose: it ends what was started, waits for it and for visits, and admits no new one; an impatient call returns
// an error.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newFleet(t, fleet.Options{})
		a := b.open(event.Info{ID: 1, Kind: event.Main})
		cause, tidied := errors.New("bye"), make(chan struct{})
		b.Start("work", func() {
			<-b.Context().Done()
			<-tidied
		})
		ctx, leave, err := a.Visit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Close(impatient, cause); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with %v while something runs", err)
		}
		if context.Cause(ctx) != cause || context.Cause(b.Context()) != cause {
			t.Errorf("a visit ends with %v, the rest with %v", context.Cause(ctx), context.Cause(b.Context()))
		}
		if _, _, err := a.Visit(t.Context()); !errors.Is(err, event.ErrClosing) {
			t.Errorf("who comes late gets %v", err)
		}
		b.Line.Queued(t.Context(), started(1, 1))
		if next := b.Line.Next(); next != nil {
			t.Errorf("%s starts after the end", next.Name)
		}
		closed := make(chan error, 1)
		go func() { closed <- b.Close(t.Context(), cause) }()
		for _, end := range []func(){func() { close(tidied) }, leave} {
			synctest.Wait()
			select {
			case err := <-closed:
				t.Fatalf("closed too early: %v", err)
			default:
			}
			end()
		}
		if err := <-closed; err != nil {
			t.Errorf("closed with %v", err)
		}
	})
}

// TestAwaitEnd: a caller that waits for the end of an agent is told of it, or gives up.
func TestAwaitEnd(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Sub})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.AwaitEnd(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("gave up with %v", err)
	}
	close(a.Gone)
	if err := a.AwaitEnd(t.Context()); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// TestAsked: an agent that waits, or asks, does not show as running because its engine sends another request
// meanwhile.
func TestAsked(t *testing.T) {
	b := newFleet(t, fleet.Options{})
	a := b.open(event.Info{ID: 1, Kind: event.Main, State: event.Running})
	regain := a.Aside("waiting for any message")
	if a.Asked("streaming"); a.Known().State != event.Waiting {
		t.Errorf("it waits, and is %s", a.Known().State)
	}
	if err := regain(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Asking(&event.Question{})
	if a.Asked("streaming"); a.Known().State != event.Asking || a.Known().Question == nil {
		t.Errorf("it asks, and is %s", a.Known().State)
	}
	a.Heard(&event.Answer{})
	if err := a.Regain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.Asked("streaming"); a.Known().State != event.Running || a.Known().Doing != "streaming" {
		t.Errorf("it goes on, and is %s", a.Known().State)
	}
}
