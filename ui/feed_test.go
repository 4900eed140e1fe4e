package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/ui/intent"
	"fantail/ui/term"
)

// fed is a feed and what it sends to the loop.
type fed struct {
	feed
	hub  *event.Hub
	mu   sync.Mutex
	sent []tea.Msg
}

// took are the messages sent since the last time.
func (f *fed) took() []tea.Msg {
	f.mu.Lock()
	defer f.mu.Unlock()
	sent := f.sent
	f.sent = nil
	return sent
}

// follows makes a feed that is followed until the test ends.
func follows(t *testing.T) *fed {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fed{hub: event.NewHub()}
	send := func(m tea.Msg) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sent = append(f.sent, m)
	}
	f.feed = feed{ctx: ctx, came: make(chan tea.Msg), send: send, source: event.NewFeed(f.hub.Leave)}
	f.was = f.hub.Join(f.source, nil)
	over := make(chan struct{})
	go func() { f.follow(); close(over) }()
	t.Cleanup(func() { cancel(); <-over })
	return f
}

// TestFeedKeepsTheOrder: what an action came to reaches the loop after the news that were
// there when it was over.
func TestFeedKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follows(t)
		var want []event.Event
		var sent []tea.Msg
		for i := range 3 {
			mailed := event.Mailed{Agent: int64(i + 1)}
			f.hub.Emit(mailed)
			want = append(want, mailed)
			f.after(done{agent: mailed.Agent})
			synctest.Wait()
			got := []event.Event{}
			sent = append(sent, f.took()...)
			for _, m := range sent {
				switch m := m.(type) {
				case news:
					got = append(got, m.events...)
				case done:
					if !slices.Contains(got, event.Event(event.Mailed{Agent: m.agent})) {
						t.Errorf("what action %d came to is sent before its news: %v", m.agent, sent)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("news %v, want %v", got, want)
			}
		}
	})
}

// TestFeedRests: the words of a reply wait for more, all else is there after a frame and takes them along.
func TestFeedRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follows(t)
		words := &history.BlockText{}
		says := func(s string) {
			f.hub.Emit(event.Delta{Agent: 1, Text: s, Words: words, UpTo: words.Add(s)})
			synctest.Wait()
		}
		got := func() (texts string) {
			for _, m := range f.took() {
				for _, e := range m.(news).events {
					if d, ok := e.(event.Delta); ok {
						texts += d.Text
					} else {
						texts += fmt.Sprintf("%T", e)
					}
				}
			}
			return texts
		}
		is := func(when, want string) {
			t.Helper()
			synctest.Wait()
			if text := got(); text != want {
				t.Errorf("%s: %q, want %q", when, text, want)
			}
		}
		says("a")
		is("the first words", "a")
		says("b")
		time.Sleep(feedRest - time.Millisecond)
		is("within a rest", "")
		time.Sleep(time.Millisecond)
		is("after it", "b")
		time.Sleep(term.Rest)
		says("c")
		is("later in the next", "")
		f.hub.Emit(event.Over{Agent: 1})
		is("the end of the reply", "cevent.Over")
		f.hub.Emit(event.Mailed{Agent: 1})
		is("right after it", "")
		time.Sleep(term.Rest)
		is("a frame later", "event.Mailed")
		time.Sleep(time.Minute)
		is("with nothing new", "")
	})
}

// TestActionsBeginInOrder: an action waits for the one before it, but not for one that may
// take long.
func TestActionsBeginInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follows(t)
		s, free := actions{feed: &f.feed, start: func(_ string, f func()) { go f() }}, make(chan struct{})
		var mu sync.Mutex
		var ran []string
		do := func(name string, long bool) tea.Cmd {
			return s.do(intent.Do{Long: long, F: func(ctx context.Context) (intent.Intent, error) {
				mu.Lock()
				ran = append(ran, name)
				mu.Unlock()
				if name == "first" || long {
					<-free
				}
				return nil, nil
			}})
		}
		for _, c := range []tea.Cmd{do("first", false), do("long", true), do("last", false)} {
			go c()
			synctest.Wait()
		}
		if len(ran) > 0 {
			t.Errorf("while the loop is at the message that asks for them, %q ran", ran)
		}
		s.begin()
		synctest.Wait()
		if !slices.Equal(ran, []string{"first"}) {
			t.Errorf("while the first goes on, %q ran", ran)
		}
		free <- struct{}{}
		synctest.Wait()
		slices.Sort(ran[1:]) // the last waits for the long one to begin, and then they run side by side
		if !slices.Equal(ran, []string{"first", "last", "long"}) {
			t.Errorf("%q ran", ran)
		}
		close(free)
	})
}

// TestActions_outliveTheScreen: what was asked for is carried out though the screen ends before its command is; what may
// take long ends with it. The end waits for the one, and no longer than it is told to.
func TestActions_outliveTheScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		s := actions{feed: &feed{ctx: ctx}, start: func(_ string, f func()) { go f() }}
		var asked, long error
		free := make(chan struct{})
		s.do(intent.Do{Long: true, F: func(ctx context.Context) (intent.Intent, error) {
			<-ctx.Done()
			long = ctx.Err()
			return nil, nil
		}})
		s.do(intent.Do{F: func(ctx context.Context) (intent.Intent, error) {
			<-free
			asked = ctx.Err()
			return nil, nil
		}})
		s.begin()
		end()
		began := time.Now()
		s.settle(time.Second)
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("it waited %v", waited)
		}
		close(free)
		s.settle(time.Second)
		synctest.Wait()
		if waited := time.Since(began); waited != time.Second || asked != nil || long == nil {
			t.Errorf("after %v: what was asked for: %v; what may take long: %v", waited, asked, long)
		}
	})
}

// TestOutcome: an action that fails gives back what was typed for it; one that is refused
// where nothing can be written gives back its command.
func TestOutcome(t *testing.T) {
	failed := errors.New("the disk is full")
	for _, c := range []struct {
		do    intent.Do
		comes intent.Intent
		want  tea.Msg
	}{
		{do: intent.Do{Agent: 7}, want: done{agent: 7}},
		{do: intent.Do{Agent: 7, Back: "typed"}, comes: intent.Said{Text: "ok"}, want: done{agent: 7, text: "ok"}},
		{do: intent.Do{Back: "typed"}, comes: intent.Leave{}, want: wanted{intent.Leave{}}},
	} {
		c.do.F = func(context.Context) (intent.Intent, error) { return c.comes, nil }
		if got := outcome(t.Context(), c.do); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.do.Agent, got, c.want)
		}
	}
	for err, back := range map[error]string{failed: "typed", event.ErrReadOnly: "typed"} {
		got := outcome(t.Context(), intent.Do{Back: "typed", F: func(context.Context) (intent.Intent, error) { return nil, err }}).(done)
		if got.back != back || got.text == "" {
			t.Errorf("%v: %+v", err, got)
		}
	}
	for err, back := range map[error]string{failed: "", event.ErrReadOnly: "/run"} {
		got := outcome(t.Context(), intent.Do{Command: "/run", F: func(context.Context) (intent.Intent, error) { return nil, err }}).(done)
		if got.back != back || got.command != "/run" {
			t.Errorf("%v: %+v", err, got)
		}
	}
}
