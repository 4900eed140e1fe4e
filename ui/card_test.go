package ui

import (
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/event"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/ui/cells"
)

// presses shows the card of these.
func (a *App) presses(ms ...inbox.Message) {
	a.notice.Attach(nil, a.o.Now())
	a.carried(a.act(a.notice.TakeUrgent(ms, nil)))
}

var red = inbox.Message{ID: 7, Recipient: 1, From: "testing-\x1b[31magent", Body: "test\nfailures\x07", Priority: inbox.Urgent}

// pressed is a screen with one urgent message that waits for main.
func pressed(t *testing.T, w, h int) *App {
	a := screen(t, w, h).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Pending: 1, Urgent: 1})
	a.presses(red)
	return a
}

// TestCardFits: at every size that is drawn the frame has that size and the card
// its keys; nothing on it moves by itself.
//
// Spec: M-29.
func TestCardFits(t *testing.T) {
	step := 4
	if long.Wanted() {
		step = 1
	}
	for w := minWidth; w < 130; w += step {
		for h := minHeight; h < 30; h += 3 {
			a := pressed(t, w, h)
			lines, _ := a.compose()
			if len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, l := range lines {
				if n := cells.Width(l); n > w {
					t.Fatalf("%dx%d: a line has %d columns: %q", w, h, n, plain(l))
				}
			}
			all := plain(strings.Join(lines, "\n"))
			if !strings.Contains(all, "URG") || !strings.Contains(all, "Alt+U") || !strings.Contains(all, "Alt+X") || strings.Contains(all, "\x07") {
				t.Fatalf("%dx%d:\n%s", w, h, all)
			}
			if cmd := a.tick(); cmd != nil {
				t.Fatalf("%dx%d: the card asks for ticks", w, h)
			}
		}
	}
}

// TestCardGrace: the grace begins when a message comes into the card, also when it
// comes back from under a dialog.
//
// Spec: M-29, E-26.
func TestCardGrace(t *testing.T) {
	a := pressed(t, 100, 24)
	now := a.o.Now()
	a.o.Now = func() time.Time { return now }
	takes := func(what string, after time.Duration, want bool) {
		t.Helper()
		a.compose()
		now = now.Add(after)
		if got := a.notice.TakesKeys(); got != want {
			t.Errorf("%s, %s later: it takes keys: %t", what, after, got)
		}
	}
	takes("it came", 499*time.Millisecond, false)
	takes("it came", time.Millisecond, true)
	a.presses(inbox.Message{ID: 8, Recipient: 1, From: "ci", Body: "more", Priority: inbox.Urgent}, red)
	takes("another came", 499*time.Millisecond, false)
	takes("another came", time.Millisecond, true)
	a.sheet()
	takes("under a dialog", time.Hour, false)
	a.layers.Shut()
	takes("from under a dialog", 499*time.Millisecond, false)
	takes("from under a dialog", time.Millisecond, true)
	a.apply(event.Tally{Quiet: policy.Quiet{On: true}})
	takes("in quiet", time.Hour, false)
}
