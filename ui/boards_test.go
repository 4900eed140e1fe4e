package ui

import (
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/ui/intent"
	"fantail/ui/panel"
)

// TestBoardsBeforeTheWorkspace: before there is a pool the overview opens and the others
// say why they don't; afterwards each takes the place of the one before.
func TestBoardsBeforeTheWorkspace(t *testing.T) {
	a := screen(t, 120, 30).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle})
	b := &a.boards
	for name, open := range map[string]func(int64, string){"inbox": b.inbox, "queue": b.queue} {
		if open(1, "main"); b.layers.Board() != nil || !strings.Contains(a.flash.Text(), "still being opened") {
			t.Errorf("%s: %v is open, it says %q", name, b.layers.Board(), a.flash.Text())
		}
		a.flash.Clear()
	}
	b.overview()
	if b.fleet() == nil || b.panel() != nil || b.reads(1) {
		t.Error("the overview is not open")
	}
	a.use(&pool{panel: panel.Pool{Letters: heap{}, Mail: heap{}}})
	main := a.tabs.Main()
	main.News = true
	if b.queue(1, "main"); b.panel() == nil || b.fleet() != nil || b.reads(1) || !main.News {
		t.Errorf("the queue: reads main's mail: %v, leaves it new: %v", b.reads(1), main.News)
	}
	if b.inbox(1, "main"); !b.reads(1) || b.reads(2) || main.News {
		t.Errorf("the inbox: reads main's mail: %v, another's: %v, leaves it new: %v", b.reads(1), b.reads(2), main.News)
	}
}

// TestQuit: it leaves at once if nobody is at work, be they asking or at rest, and asks
// otherwise, naming who is.
func TestQuit(t *testing.T) {
	for _, c := range []struct {
		kid, aide event.State
		says      []string // nil: it leaves
	}{
		{event.Done, event.Idle, nil},
		{event.Done, event.Asking, nil},
		{event.Running, event.Idle, []string{"kid is still at work."}},
		{event.Running, event.Waiting, []string{"aide, kid are still at work."}},
		{event.Running, event.Asking, []string{"kid is still at work.", "aide asks you something"}},
	} {
		a := screen(t, 120, 30).with(
			event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
			event.Info{ID: 2, Name: "kid", Kind: event.Sub, State: c.kid}, event.Info{ID: 3, Name: "aide", Kind: event.Helper, State: c.aide})
		i := quit(&a.tabs, a.flash, nil)
		if _, leaves := i.(intent.Leave); leaves != (c.says == nil) {
			t.Errorf("%s, %s: %T", c.kid, c.aide, i)
			continue
		}
		o, _ := i.(intent.Open)
		for _, want := range c.says {
			if text := strings.Join(strings.Fields(plain(strings.Join(o.Box.Lines(118, 20), " "))), " "); !strings.Contains(text, want) {
				t.Errorf("%s, %s: %q lacks %q", c.kid, c.aide, text, want)
			}
		}
	}
}
