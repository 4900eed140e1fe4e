package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/ui/intent"
	"fantail/ui/transcript"
)

// ear is a pool that notes what a human says to it, in order, and fails with err.
type ear struct {
	said    []string
	blocked string // why a task does not start
	err     error
}

func (e *ear) note(format string, args ...any) error {
	e.said = append(e.said, fmt.Sprintf(format, args...))
	return e.err
}

func (e *ear) Prompt(_ context.Context, agent int64, text string) error {
	return e.note("prompt %d: %s", agent, text)
}

func (e *ear) Shell(_ context.Context, agent int64, command string) error {
	return e.note("shell %d: %s", agent, command)
}

func (e *ear) Tell(_ context.Context, name, text string) error {
	return e.note("tell %s: %s", name, text)
}

func (e *ear) Resume(_ context.Context, by int64, name, prompt string) (tasks.Task, bool, error) {
	return tasks.Task{}, true, e.note("resume %s by %d: %s", name, by, prompt)
}

func (e *ear) Withdraw(_ context.Context, agent int64) ([]string, error) {
	return []string{"one", "two"}, e.note("withdraw %d", agent)
}

func (e *ear) Stop(agent int64) { _ = e.note("stop %d", agent) }

func (e *ear) Unprompt(_ context.Context, id int64) (bool, error) {
	return id == 5, e.note("unprompt %d", id)
}

// carried carries out what an intent is made of and returns what is left to be shown.
func carried(t *testing.T, i intent.Intent) (left []intent.Intent) {
	t.Helper()
	switch i := i.(type) {
	case nil:
		return nil
	case intent.All:
		for _, x := range i {
			left = append(left, carried(t, x)...)
		}
		return left
	case intent.Call:
		return carried(t, i())
	case intent.Run:
		return carried(t, i.F(t.Context()))
	case intent.Do:
		x, err := i.F(t.Context())
		if err != nil {
			return []intent.Intent{intent.Back{Agent: i.Agent, Text: i.Back}}
		}
		return carried(t, x)
	}
	return []intent.Intent{i}
}

// sends is a sender over main, a helper and a sub-agent, and who hears it.
func sends(t *testing.T) (*App, *ear) {
	a, e := screen(t, 120, 30).acting().with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		event.Info{ID: 2, Name: "kid", Kind: event.Sub, State: event.Running},
		event.Info{ID: 3, Name: "old", Kind: event.Sub, State: event.Done}), &ear{}
	a.sender.pool = e
	return a, e
}

// TestSenderSubmits: what a box holds goes where it belongs, and leaves the box.
func TestSenderSubmits(t *testing.T) {
	for _, c := range []struct {
		in    string // whose tab
		typed string
		said  []string
		left  []intent.Intent
		box   string
	}{
		{in: "main", typed: "fix it", said: []string{"prompt 1: fix it"}},
		{in: "main", typed: "!ls -l", said: []string{"shell 1: ls -l"}},
		{in: "main", typed: "  \n", box: "  \n"},
		{in: "main", typed: "/quit", left: []intent.Intent{intent.Quit{}}},
		{in: "main", typed: "/xyzzy", left: []intent.Intent{
			intent.Tell{Agent: 1, Command: "/xyzzy", Text: "Unknown command /xyzzy. /help to list them", Tone: transcript.Bad},
		}},
		{in: "kid", typed: "go on", said: []string{"tell kid: go on"}},
		{in: "old", typed: "now this", said: []string{"resume old by 1: now this"}},
	} {
		a, e := sends(t)
		tab := a.tabs.ByName(c.in)
		if tab.Box == nil {
			a.drafts.Tell(tab)
		}
		box := tab.Typing()
		box.Set(c.typed)
		left := carried(t, a.sender.submit(tab))
		if !slices.Equal(e.said, c.said) || !slices.Equal(left, c.left) {
			t.Errorf("%q: said %q, left %+v", c.typed, e.said, left)
		}
		if tab.Box != nil && box.Value() != c.box {
			t.Errorf("%q: the box holds %q", c.typed, box.Value())
		}
		if tab.Box == nil && tab.Line != nil {
			t.Errorf("%q: the line stays open", c.typed)
		}
	}
}

// TestSenderKeepsTheLine: a command that is refused leaves the line open for another; a
// prompt that can't be sent is given back.
func TestSenderKeepsTheLine(t *testing.T) {
	a, e := sends(t)
	kid := a.tabs.ByName("kid")
	a.drafts.Command(kid)
	kid.Line.Box.Set("/xyzzy")
	carried(t, a.sender.submit(kid))
	if kid.Line == nil || kid.Line.Box.Value() != "/" {
		t.Error("the line of a command that was refused is gone")
	}
	main := a.tabs.Main()
	e.err = errors.New("the disk is full")
	main.Box.Set("fix it")
	if left := carried(t, a.sender.submit(main)); !slices.Equal(left, []intent.Intent{intent.Back{Agent: 1, Text: "fix it"}}) {
		t.Errorf("left %+v", left)
	}
}

// TestSenderBringsBack: Esc stops the turn after what is queued was taken back; a prompt
// that has entered already is not brought back.
func TestSenderBringsBack(t *testing.T) {
	a, e := sends(t)
	main, kid := a.tabs.Main(), a.tabs.ByName("kid")
	if left := carried(t, a.sender.stop(main)); !slices.Equal(left, []intent.Intent{intent.Back{Agent: 1, Text: "one\ntwo"}}) {
		t.Errorf("left %+v", left)
	}
	if want := []string{"withdraw 1", "stop 1"}; !slices.Equal(e.said, want) {
		t.Errorf("said %q, want %q", e.said, want)
	}
	for id, want := range map[int64]intent.Intent{
		5: intent.Back{Agent: 1, Text: "typed"}, 6: intent.Tell{Agent: 1, Text: "that prompt was already sent"},
	} {
		if left := carried(t, a.sender.withdraw(main, event.Prompt{ID: id, Text: "typed"})); !slices.Equal(left, []intent.Intent{want}) {
			t.Errorf("prompt %d: left %+v", id, left)
		}
	}
	kid.Info.State = event.Done
	if a.sender.stop(kid) != nil || a.sender.stop(nil) != nil {
		t.Error("what has ended is stopped")
	}
	a.o.ReadOnly = event.ErrReadOnly
	if a.sender.stop(main) != nil {
		t.Error("where nothing can be written a turn is stopped")
	}
}

func (e *ear) Start(_ context.Context, by int64, prompt string) (tasks.Task, string, error) {
	return tasks.Task{ID: 7, Name: "audit"}, e.blocked, e.note("start by %d: %s", by, prompt)
}

// TestSenderStarts: a text for a new agent starts one, the answer names the key of its tab, and a
// refused text is in the box again as it was.
func TestSenderStarts(t *testing.T) {
	a, e := sends(t)
	main := a.tabs.Main()
	send := func(text string) []intent.Intent {
		main.Box.Again(text)
		return carried(t, a.sender.submit(main))
	}
	said := func(text string, tone transcript.Tone) []intent.Intent {
		return []intent.Intent{intent.Tell{Agent: 1, Command: "&audit it", Text: text, Tone: tone}}
	}
	if left := send(" "); len(left) != 1 || !main.Box.Starts() || e.said != nil {
		t.Errorf("of a blank: %+v, said %q", left, e.said)
	}
	main.Box.Clear()
	if left := send("audit it"); left != nil || !main.Box.Empty() || !slices.Equal(e.said, []string{"start by 1: audit it"}) {
		t.Errorf("left %+v, said %q", left, e.said)
	}
	tab := a.newTab(event.Info{ID: 9, Name: "audit", Kind: event.Sub, Task: 7, Parent: 1})
	a.tabs.Add(tab)
	if left := carried(t, a.sender.opened(tab)); !slices.Equal(left, said("Started audit. Alt+4 to watch", transcript.Plain)) {
		t.Errorf("its tab is open: %+v", left)
	}
	if left := carried(t, a.sender.opened(tab)); left != nil {
		t.Errorf("said twice: %+v", left)
	}
	if left := send("audit it"); !slices.Equal(left, said("Started audit. Alt+4 to watch", transcript.Plain)) {
		t.Errorf("its tab was there first: %+v", left)
	}
	e.blocked = "4 agents run, as many as may at once"
	if left := send("audit it"); !slices.Equal(left, said("Queued audit: 4 agents run, as many as may at once. It starts by itself", transcript.Plain)) {
		t.Errorf("with all slots taken: %+v", left)
	}
	e.err = errors.New("the disk is full")
	if left := send("audit it"); !slices.Equal(left, said("The disk is full", transcript.Bad)) || main.Box.Value() != "&audit it" || !main.Box.Starts() {
		t.Errorf("refused: %+v, in the box %q", left, main.Box.Value())
	}
}
