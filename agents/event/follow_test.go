package event

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/history"
	"fantail/store"
	"fantail/store/storetest"
)

// site has one agent that is followed, and another. Events enter the reader's queue when the test says so.
type site struct {
	*testing.T
	db     *store.DB
	hub    *Hub
	agent  int64
	other  int64
	closed bool // its tab is
	f      *Follower
	behind int
	got    []string
}

func newSite(t *testing.T) *site {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &site{T: t, db: db, hub: NewHub()}
	for name, id := range map[string]*int64{"main": &s.agent, "job": &s.other} {
		s.write(func(tx *store.Tx) (err error) {
			*id, err = tx.AddAgent(store.Agent{Name: name, Kind: "main", State: "idle"})
			return err
		})
	}
	return s
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.db.Write(s.Context(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// begin begins to follow the agent.
func (s *site) begin() {
	r := Followers{DB: s.db, Go: func(string, func()) {}, Subscribe: func() (*Feed, []Event) {
		feed := NewFeed(s.hub.Leave)
		now := []Event{Changed{Info: Info{ID: s.other, State: Running}}}
		if !s.closed {
			now = append(now, Changed{Info: Info{ID: s.agent, State: Idle}})
		}
		return feed, s.hub.Join(feed, now)
	}}
	s.f = r.Begin(s.agent)(func() { s.behind++ })
	s.Cleanup(s.f.Close)
}

// entries writes entries into a transcript, either from this process, which publishes them, or from another.
func (s *site) entries(agent int64, n int, tells, live bool) {
	s.Helper()
	k := history.Writer{Agent: agent}
	if tells {
		k.Tell = func(es []history.Entry, live bool) { s.hub.Emit(Appended{Agent: agent, Entries: es, Live: live}) }
	}
	s.write(func(tx *store.Tx) error {
		b := k.Batch(tx)
		if live {
			b = k.LiveBatch(tx)
		}
		for range n {
			if _, err := b.Add(0, history.Entry{Kind: history.EntryText, Text: "x"}); err != nil {
				return err
			}
		}
		return nil
	})
}

// reads reads all pending events.
func (s *site) reads() {
	s.Helper()
	s.hub.Emit(Output{Agent: s.agent, Call: "the test's own"})
	for {
		if s.f.replayed {
			s.f.pull()
		}
		e, err := s.f.Next(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		if o, is := e.(Output); is && o.Call == "the test's own" {
			return
		}
		s.got = append(s.got, shown(e))
	}
}

func shown(e Event) string {
	switch e := e.(type) {
	case Appended:
		text := "no entry"
		if n := len(e.Entries); n > 0 {
			text = fmt.Sprintf("%d-%d", e.Entries[0].Seq, e.Entries[n-1].Seq)
			if int64(n) != e.Entries[n-1].Seq-e.Entries[0].Seq+1 {
				text += fmt.Sprintf(" in %d", n)
			}
		}
		if e.Live {
			text += " live"
		}
		return text
	case Changed:
		return string(e.State)
	case Delta:
		return "says " + e.Text
	case Output:
		return "output " + e.Tail
	}
	return strings.TrimPrefix(strings.ToLower(fmt.Sprintf("%T", e)), "event.")
}

// TestNext: a reader of an agent reads the transcript, then the state, then events, each once, in order.
func TestNext(t *testing.T) {
	begin, reads := (*site).begin, (*site).reads
	tab := func(closed bool) func(*site) { return func(s *site) { s.closed = closed } }
	writes := func(n int) func(*site) { return func(s *site) { s.entries(s.agent, n, true, false) } }
	others := func(n int) func(*site) { return func(s *site) { s.entries(s.agent, n, false, false) } }
	replies := func(n int) func(*site) { return func(s *site) { s.entries(s.agent, n, true, true) } }
	emits := func(e func(agent int64) Event) func(*site) {
		return func(s *site) { s.hub.Emit(e(s.agent)) }
	}
	is := func(state State) func(*site) {
		return emits(func(a int64) Event { return Changed{Info: Info{ID: a, State: state}} })
	}
	says := func(text string) func(*site) {
		return emits(func(a int64) Event {
			w := &history.BlockText{Kind: history.EntryText}
			upTo := w.Add(text)
			return Delta{Agent: a, Block: len(text), Text: text, Words: w, UpTo: upTo}
		})
	}
	outputs := func(call, tail string) func(*site) {
		return emits(func(a int64) Event { return Output{Agent: a, Call: call, Tail: tail} })
	}
	void := emits(func(a int64) Event { return Void{Agent: a} })
	closes := emits(func(a int64) Event { return Closed{Agent: a} })
	strangers := func(s *site) {
		s.entries(s.other, 2, true, true)
		for _, e := range []Event{
			Changed{Info: Info{ID: s.other}},
			Delta{Agent: s.other, Text: "x"},
			Void{Agent: s.other},
			Output{Agent: s.other},
			Closed{Agent: s.other},
			Over{Agent: s.agent},
			Tally{},
			Mailed{Agent: s.agent},
			Trouble{},
		} {
			s.hub.Emit(e)
		}
	}
	for _, c := range []struct {
		name string
		does []func(*site)
		want string
	}{
		{"nothing was said", []func(*site){begin, reads}, "idle"},
		{"the transcript first", []func(*site){writes(3), begin, reads}, "1-3|idle"},
		{"page by page", []func(*site){writes(250), begin, reads}, "1-100|101-200|201-250|idle"},
		{"whole pages", []func(*site){writes(200), begin, reads}, "1-100|101-200|idle"},
		{"its tab is closed", []func(*site){writes(1), tab(true), begin, reads}, "1-1|closed"},
		{"of others nothing", []func(*site){begin, strangers, reads, strangers, reads}, "idle"},

		{"what comes", []func(*site){begin, reads, writes(1), is(Running), writes(2), reads}, "idle|1-1|running|2-3"},
		{"many at once", []func(*site){begin, reads, writes(250), reads}, "idle|1-250"},
		{"of another process, with the next", []func(*site){begin, reads, others(2), reads, writes(1), reads}, "idle|1-3"},
		{"while it reads the transcript", []func(*site){writes(1), begin, writes(1), reads, writes(1), reads}, "1-2|idle|3-3"},
		{"its tab closes", []func(*site){begin, reads, closes, reads}, "idle|closed"},

		{"words, then the entry", []func(*site){begin, reads, says("a"), replies(1), reads}, "idle|says a|1-1 live"},
		{"words of a reply that is read already", []func(*site){begin, says("a"), replies(1), reads}, "1-1|idle"},
		{"words of the next reply", []func(*site){begin, says("a"), replies(1), says("bb"), reads}, "1-1|idle|says bb"},
		{"words of no reply yet", []func(*site){says("a"), begin, reads}, "idle|says a"},
		{"words that do not count", []func(*site){begin, reads, says("a"), void, says("bb"), reads}, "idle|says a|void|says bb"},
		{"a reply of no entry", []func(*site){begin, reads, says("a"), replies(0), reads}, "idle|says a|no entry live"},
		{"entries of no reply leave the words", []func(*site){begin, says("a"), writes(1), reads}, "1-1|idle|says a"},

		{"all entries before the end", []func(*site){begin, reads, others(2), is(Done), reads}, "idle|1-2|done"},
		{"and for no other state", []func(*site){begin, reads, others(2), is(Running), reads}, "idle|running"},
		{"the last state of several", []func(*site){begin, reads, is(Running), reads, is(Asking), is(Idle), reads}, "idle|running|idle"},
		{"the last output of a call", []func(*site){begin, reads, outputs("c", "1"), outputs("d", "2"), is(Running), outputs("c", "3"), reads}, "idle|output 2|running|output 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			for _, do := range c.does {
				do(s)
			}
			if got := strings.Join(s.got, "|"); got != c.want || s.behind > 0 {
				t.Errorf("%s\nwant %s (behind: %d)", got, c.want, s.behind)
			}
		})
	}
}

// A reader may leave a limited amount unread: beyond that behind is called once, and it reads only the transcript.
// What was read does not count any more, and an entry counts little, since it is on disk.
func TestNext_behind(t *testing.T) {
	half := strings.Repeat("x", MaxBehind/2)
	for _, c := range []struct {
		name  string
		comes func(s *site)
		falls bool
	}{
		{"half", func(s *site) { s.hub.Emit(Delta{Agent: s.agent, Text: half}) }, false},
		{"three halves", func(s *site) {
			for n := range 3 {
				s.hub.Emit(Delta{Agent: s.agent, Block: n, Text: half})
			}
		}, true},
		{"three halves of outputs", func(s *site) {
			for n := range 3 {
				s.hub.Emit(Output{Agent: s.agent, Call: fmt.Sprint(n), Tail: half})
			}
		}, true},
		{"three halves that replace each other", func(s *site) {
			for range 3 {
				s.hub.Emit(Output{Agent: s.agent, Call: "c", Tail: half})
				s.f.pull()
			}
		}, false},
		{"three halves of another agent", func(s *site) {
			for n := range 3 {
				s.hub.Emit(Delta{Agent: s.other, Block: n, Text: half})
			}
		}, false},
		{"three halves that are read in between", func(s *site) {
			for n := range 3 {
				s.hub.Emit(Delta{Agent: s.agent, Block: n, Text: half})
				s.reads()
			}
		}, false},
		{"long entries", func(s *site) {
			for range MaxBehind/maxCounts - 2 {
				s.hub.Emit(Appended{Agent: s.agent, Entries: []history.Entry{{Text: half}, {Result: &history.Result{Text: half}}, {Shell: &history.Shell{Output: half}}}})
			}
		}, false},
		{"too many long entries", func(s *site) {
			for range MaxBehind/maxCounts + 2 {
				s.hub.Emit(Appended{Agent: s.agent, Entries: []history.Entry{{Text: half}}})
			}
		}, true},
		{"too many events", func(s *site) {
			for range MaxBehind/leastCount + 2 {
				s.hub.Emit(Void{Agent: s.agent})
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.begin()
			s.reads()
			c.comes(s)
			if s.f.pull(); s.behind != map[bool]int{true: 1}[c.falls] {
				t.Errorf("told %d times", s.behind)
			}
			s.hub.Emit(Void{Agent: s.agent})
			s.f.pull()
			if _, err := s.f.Next(t.Context()); c.falls != errors.Is(err, ErrBehind) {
				t.Error(err)
			}
		})
	}
}

// A stopped reader gets the cause, whether it is reading or waiting.
func TestNext_stopped(t *testing.T) {
	for _, reads := range []bool{false, true} {
		s := newSite(t)
		s.begin()
		if reads {
			s.reads()
		}
		why := errors.New("enough")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(why)
		if _, err := s.f.Next(ctx); !errors.Is(err, why) {
			t.Error(err)
		}
	}
}
