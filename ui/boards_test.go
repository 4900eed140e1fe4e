package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/tools"
	"fantail/ui/dialog"
	"fantail/ui/intent"
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
	for _, verb := range []string{"wrap", "end", "respawn", "close", "kill"} {
		if i, _ := b.fleet().Do(dialog.Wanted{Agent: 1, Verb: verb}).(intent.Say); !strings.Contains(i.Text, "still being opened") {
			t.Errorf("%s in the overview, before there is a pool: %+v", verb, i)
		}
	}
	a.use(&agents.Pool{})
	if b.fleet().Pool == nil {
		t.Error("the overview that was open has no pool")
	}
	main := a.tabs.Main()
	main.News = true
	if b.queue(1, "main"); b.panel() == nil || b.fleet() != nil || b.reads(1) || !main.News {
		t.Errorf("the queue: reads main's mail: %v, leaves it new: %v", b.reads(1), main.News)
	}
	if b.inbox(1, "main"); !b.reads(1) || b.reads(2) || main.News {
		t.Errorf("the inbox: reads main's mail: %v, another's: %v, leaves it new: %v", b.reads(1), b.reads(2), main.News)
	}
}

// TestQuit: it leaves at once if nobody is at work, be they asking, at rest or awaiting input, and asks
// otherwise, naming who is.
func TestQuit(t *testing.T) {
	for _, c := range []struct {
		kid, aide event.State
		says      []string // nil: it leaves
	}{
		{event.Done, event.Idle, nil},
		{event.Done, event.Asking, nil},
		{event.Idle, event.Idle, nil},
		{event.Running, event.Idle, []string{"kid is still at work."}},
		{event.Running, event.Waiting, []string{"aide, kid are still at work."}},
		{event.Running, event.Asking, []string{"kid is still at work.", "aide has a question"}},
	} {
		a := screen(t, 120, 30).with(
			event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
			event.Info{ID: 2, Name: "kid", Kind: event.Sub, State: c.kid, Await: &event.Await{For: time.Hour}}, event.Info{ID: 3, Name: "aide", Kind: event.Helper, State: c.aide})
		i := quit(&a.tabs, a.flash, 0, nil)
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

// TestOverviewEndsAndRespawns: the foot names the keys that do something with the agent under the bar, they do it, and
// the status line says what came of it.
//
// Spec: C-17, C-19.
func TestOverviewEndsAndRespawns(t *testing.T) {
	w := silent(t)
	const noAgent, noTask = `"auth": no such agent; agents that read mail: main`, "Respawn: there is no task auth; /queue --all lists them"
	does := func(a *App, key rune) string { // what a key says
		left := carried(t, a.layers.Board().Do(a.layers.Top().Key(tea.KeyPressMsg{Code: key, Text: string(key)})))
		if len(left) == 0 {
			return ""
		}
		said, _ := left[0].(intent.Say)
		return said.Text
	}
	for _, c := range []struct {
		name string
		i    event.Info
		foot string
		key  rune
		says string
	}{
		{
			"idle", waiter(2, "auth", event.Await{For: time.Minute}), "enter open · m message · e finish · x end · ",
			'e', noAgent,
		},
		{
			"at work, and will",
			event.Info{ID: 2, Name: "auth", Kind: event.Sub, State: event.Running, Await: &event.Await{}},
			"enter open · m message · e finish · x end · w wrap up", 'e', noAgent,
		},
		{
			"at work",
			event.Info{ID: 2, Name: "auth", Kind: event.Sub, State: event.Running},
			"enter open · m message · x end · w wrap up · p preview", 'e', noAgent,
		},
		{"a command", event.Info{ID: 2, Name: "auth", Kind: event.Sub, State: event.Running, Prompt: "!make"}, "enter open · x end · w wrap up · p preview", 'x', ""},
		{
			"ended",
			event.Info{ID: 2, Name: "auth", Kind: event.Sub, State: event.Crashed},
			"enter open · m continue · r run again · x close · ", 'r', noTask,
		},
		{"a fork", event.Info{ID: 2, Name: "auth", Kind: event.Fork, State: event.Running, Handles: 7}, "enter open · x end · w wrap up · p preview", 'r', noTask},
		{"a fork that ended", event.Info{ID: 2, Name: "auth", Kind: event.Fork, State: event.Done, Handles: 7}, "enter open · x close · p preview", 'r', noTask},
		{"a helper", event.Info{ID: 2, Name: "auth", Kind: event.Helper, State: event.Idle}, "enter open · ", 'e', noAgent},
	} {
		a := screen(t, 80, 24).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}, c.i)
		a.use(w.Pool)
		a.boards.overview()
		a.draw()
		a.key(tea.KeyPressMsg{Code: tea.KeyDown})
		a.draw()
		lines := strings.Split(plain(a.drawn.view.Content), "\n")
		if foot := lines[len(lines)-2]; !strings.Contains(foot, "─ "+c.foot) {
			t.Errorf("%s: the foot is %q, want %q", c.name, foot, c.foot)
		}
		if said := does(a, c.key); said != c.says {
			t.Errorf("%s: %c says %q, want %q", c.name, c.key, said, c.says)
		}
	}
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "auth", Prompt: "hi", Interactive: true, Idle: time.Minute})
	agentstest.Check(t, err)
	w.Consent(1)
	for _, c := range []struct {
		state event.State
		key   rune
		says  string
	}{
		{event.Idle, 'e', "auth ends"},
		{event.Done, 'r', "Queued auth again (interactive, closes after 1m00s without input). It starts on its own"},
	} {
		w.State("auth", c.state)
		a := screen(t, 80, 24).with(w.Info("main"), w.Info("auth"))
		a.use(w.Pool)
		a.boards.overview()
		a.draw()
		a.key(tea.KeyPressMsg{Code: tea.KeyDown})
		if said := does(a, c.key); said != c.says {
			t.Errorf("%s: %c says %q, want %q", c.state, c.key, said, c.says)
		}
	}
}

// TestOverviewOfIdle: a line says how long an agent stays, and who keeps it.
//
// Spec: C-17.
func TestOverviewOfIdle(t *testing.T) {
	a := screen(t, 80, 24)
	at := a.o.Now()
	a.with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		waiter(2, "auth", event.Await{For: time.Minute, Until: at.Add(42 * time.Second)}), waiter(3, "docs", event.Await{For: time.Minute, Attached: 1}),
		waiter(4, "ever", event.Await{}), waiter(5, "seen", event.Await{For: time.Minute}),
		event.Info{ID: 6, Name: "last", Kind: event.Sub, State: event.Running, Doing: "streaming", Await: &event.Await{Ends: true}},
	)
	a.boards.overview()
	a.draw()
	a.w = 40
	a.draw()
	if got := plain(a.drawn.view.Content); !strings.Contains(got, " idle 0:42 ") || strings.Contains(got, "idle,") {
		t.Errorf("at 40 columns the time left does not show:\n%s", got)
	}
	a.w = 80
	a.draw()
	for _, want := range []string{
		"◐ auth", "idle, closes in 0:42 ", "idle · 1 attached ", "idle, stays until you end it ", "idle, stays while someone looks ", "thinking · then ends ",
	} {
		if got := plain(a.drawn.view.Content); !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
}
