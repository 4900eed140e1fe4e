package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/inbox"
)

// heap is an inbox in which 100,000 messages wait for main.
type heap struct{}

const heapSize = 100_000

func heapMessage(id int64) inbox.Message {
	return inbox.Message{
		ID: id, Recipient: 1, From: fmt.Sprint("agent", id%12), Kind: []inbox.Kind{inbox.Result, inbox.Failure, inbox.Mail}[id%3],
		Priority: inbox.Normal, Tags: []string{"ci"}, Subject: "look at the cart", Body: strings.Repeat("A paragraph of **what** was found, with `code`.\n\n", 200),
		Created: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC).Add(time.Duration(id-heapSize) * time.Minute), Folded: int(id % 4),
	}
}

func (heap) Select(_ context.Context, s inbox.Selection) (ms []inbox.Message, err error) {
	from := s.Before - 1
	if s.Before == 0 {
		from = heapSize
	}
	for id := from; id > 0 && len(ms) < s.Limit; id-- {
		ms = append(ms, heapMessage(id))
	}
	return ms, nil
}

func (heap) Lanes(context.Context, int64) (map[inbox.Lane]int, error) {
	return map[inbox.Lane]int{inbox.Needs: 3, inbox.Failed: 33_330, inbox.Done: 33_333, inbox.FYI: 33_334}, nil
}

func (heap) Message(_ context.Context, id int64) (inbox.Message, bool, error) {
	return heapMessage(id), true, nil
}
func (heap) Why(context.Context, int64) (string, error)             { return "Message #1: it waits", nil }
func (heap) Thread(context.Context, int64) ([]inbox.Message, error) { return nil, nil }

// carried runs a command, and what comes of it, until nothing does.
func (a *App) carried(c tea.Cmd) {
	if c == nil {
		return
	}
	switch m := c().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			a.carried(c)
		}
	default:
		_, c := a.Update(m)
		a.carried(c)
	}
}

// heaped is a screen of 200 by 50 with the panel of that inbox; the bar is far down in it.
func heaped(t testing.TB) *App {
	t.Helper()
	a := screen(t, 200, 50).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Pending: heapSize})
	a.tabs.Focus.Asked = true
	a.use(&agents.Pool{})
	a.boards.Inbox = heap{}
	a.boards.inbox(1, "main")
	a.carried(a.draw())
	for range 30 {
		for range 10 {
			a.key(tea.KeyPressMsg{Code: 'j', Text: "j"})
		}
		a.carried(a.draw())
	}
	if a.boards.panel().Board().At() != heapSize-300 || a.boards.panel().Previewed() == nil {
		t.Fatalf("the bar is on #%d", a.boards.panel().Board().At())
	}
	return a
}

// TestPanelTakesNoDraft: what is typed while a panel is open does not reach the box.
func TestPanelTakesNoDraft(t *testing.T) {
	a := heaped(t)
	a.tabs.Focus.Box.Set("half a draft")
	for _, r := range "rsome text" {
		a.key(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	a.asks.Paste("and a paste")
	if got := a.tabs.Focus.Box.Value(); got != "half a draft" {
		t.Errorf("the draft is %q", got)
	}
}

// TestPanelIsStill: an open panel asks for no tick.
func TestPanelIsStill(t *testing.T) {
	a := heaped(t)
	a.flash.Clear()
	if a.draw(); !a.drawn.next.IsZero() {
		t.Errorf("a tick is on its way, %s from now", a.drawn.next.Sub(a.o.Now()))
	}
}

// TestPanelReadsItsLane: rows that were read of a lane are not shown in another one, where a key would act on them.
func TestPanelReadsItsLane(t *testing.T) {
	a := heaped(t)
	b := a.boards.panel().Board()
	a.key(tea.KeyPressMsg{Code: '1', Text: "1"})
	first := a.draw()
	a.key(tea.KeyPressMsg{Code: '2', Text: "2"})
	b.Show(nil, false, false) // so that only what is read shows
	_, late := a.Update(first())
	if b.At() != 0 || b.Lane() != 1 {
		t.Errorf("in lane %d the bar is on #%d", b.Lane(), b.At())
	}
	a.carried(late)
	if b.At() == 0 {
		t.Error("nothing is read of the lane that shows")
	}
}

// BenchmarkPanelFrame is a key and the frame after it while 100,000 messages wait.
func BenchmarkPanelFrame(b *testing.B) {
	a := heaped(b)
	for i := 0; b.Loop(); i++ {
		r := []rune("jkkj")[i%4]
		a.key(tea.KeyPressMsg{Code: r, Text: string(r)})
		a.draw()
	}
}
