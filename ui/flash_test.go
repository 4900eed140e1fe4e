package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/ui/intent"
	"fantail/ui/notify"
)

// TestFlashEndsWithItsCause: what the status line says for a moment ends when its time
// is over, with the next key if it answers one, and as soon as it is no longer so.
func TestFlashEndsWithItsCause(t *testing.T) {
	press := func(code rune, mod tea.KeyMod) func(a *App) {
		k := tea.KeyPressMsg{Code: code, Mod: mod}
		if mod == 0 && code >= ' ' && code <= '~' {
			k.Text = string(code)
		}
		return func(a *App) { a.Update(k) }
	}
	to := func(id int64) func(a *App) {
		return func(a *App) { a.tabs.To(a.tabs.ByID(id)); a.dirty = true }
	}
	state := func(id int64, s event.State) func(a *App) {
		return func(a *App) {
			i := a.tabs.ByID(id).Info
			i.State = s
			a.Update(news{[]event.Event{event.Changed{Info: i}}})
		}
	}
	for _, c := range []struct {
		name  string
		cause func(a *App)
		says  string
		lasts time.Duration  // at most; 0: as long as it is so
		stays func(a *App)   // does not end it; nil: nothing to be tried
		ends  []func(a *App) // each of these does
	}{
		{"a key that is to come again", press('c', tea.ModCtrl), "Press Ctrl+C again to leave", notify.TwiceWithin, nil, []func(*App){press('x', 0), press(tea.KeyLeft, 0)}},
		{"another", press('d', tea.ModCtrl), "Press Ctrl+D again to leave", notify.TwiceWithin, nil, []func(*App){press('x', 0)}},
		{"w, in an agent's tab", func(a *App) { to(2)(a); press('w', 0)(a) }, "press w again to ask kid", notify.TwiceWithin, nil, []func(*App){press(tea.KeyUp, 0), to(1), state(2, event.Done)}},
		{"what a key did", press('m', tea.ModAlt), "the mouse selects text", notify.FlashLong, state(2, event.Done), []func(*App){press('x', 0)}},
		{"nothing asks", press('a', tea.ModAlt), "No open questions", notify.FlashLong, nil, []func(*App){press('x', 0)}},
		{"the agent looked at ends", func(a *App) { to(2)(a); state(2, event.Failed)(a) }, "kid has ended", notify.FlashLong, press(tea.KeyUp, 0), []func(*App){to(1)}},
		{"its tab is closed", func(a *App) { to(2)(a); a.Update(news{[]event.Event{event.Closed{Agent: 2}}}) }, "the tab of kid was closed", notify.FlashLong, press('x', 0), []func(*App){to(3)}},
		{"a message that found something open", func(a *App) { a.sheet(); a.Update(wanted{intent.Open{What: "message #5"}}) }, "message #5 was not opened", notify.FlashLong, nil, []func(*App){func(a *App) { a.layers.Shut(); a.dirty = true }, press(tea.KeyEsc, 0)}},
		{"a question, while a list is open", func(a *App) { a.sheet(); press('a', tea.ModAlt)(a) }, "Close the open dialog first (esc)", notify.FlashLong, nil, []func(*App){func(a *App) { a.layers.Shut(); a.dirty = true }, press(tea.KeyEsc, 0)}},
		{
			"what was typed in a tab that is gone", func(a *App) {
				to(2)(a)
				press('m', 0)(a)
				press('x', 0)(a)
				to(3)(a)
				a.Update(news{[]event.Event{event.Closed{Agent: 2}}})
			},
			"your text is in main's box now", notify.FlashLong, press('x', 0),
			[]func(*App){to(1)},
		},
		{"the text typed for an agent out of sight", func(a *App) { a.drafts.Give(a.tabs.ByID(2), "words") }, "your text is in kid's box now", notify.FlashLong, press('x', 0), []func(*App){to(2)}},
		{"before the workspace is open", func(a *App) { a.tabs.Main().Typing().Set("hello"); press(tea.KeyEnter, 0)(a) }, "kept until the workspace is open", 0, press('x', 0), []func(*App){func(a *App) { a.drafts.Kept(); a.dirty = true }}},
		{"quitting when all are done", func(a *App) { state(2, event.Running)(a); a.act(intent.Quit{}); press('w', 0)(a) }, "will quit when all are done", 0, press('x', 0), []func(*App){state(2, event.Done)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
			fresh := func() *App {
				a := screen(t, 160, 24)
				a.o.Now = func() time.Time { return at }
				a.with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
					event.Info{ID: 2, Name: "kid", Kind: event.Sub, State: event.Running}, event.Info{ID: 3, Name: "aide", Kind: event.Helper, State: event.Idle})
				c.cause(a)
				return a
			}
			says := func(a *App) bool {
				a.draw()
				return strings.Contains(plain(a.statusLine(160)), c.says)
			}
			a := fresh()
			if !says(a) {
				t.Fatalf("it is not said: %q", plain(a.statusLine(160)))
			}
			if c.stays != nil {
				if c.stays(a); !says(a) {
					t.Error("what has nothing to do with it ends it")
				}
			}
			if c.lasts > 0 {
				at = at.Add(c.lasts - time.Millisecond)
				if !says(a) {
					t.Error("its time is not over")
				}
				at = at.Add(time.Millisecond)
			} else {
				at = at.Add(time.Hour)
			}
			if says(a) != (c.lasts == 0) {
				t.Error("it outlasts its time, or ends before its cause")
			}
			for n, end := range c.ends {
				if a = fresh(); !says(a) {
					t.Fatal("it is not said again")
				}
				if end(a); says(a) {
					t.Errorf("end %d leaves it", n)
				}
			}
		})
	}
}
