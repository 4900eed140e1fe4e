package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/ui/dialog"
)

// heaped is a screen of 200 by 50 with the panel of an inbox in which 100,000
// messages wait; the bar is in the middle of them.
func heaped(t testing.TB) *App {
	t.Helper()
	a := screen(t, 200, 50).with(agents.Info{ID: 1, Name: "main", Kind: agents.Main, State: agents.Idle, Pending: 100_000})
	s := &mailStock{a: a, agent: 1, name: "main", box: dialog.NewBoard(a.theme, a.o.Now, "", "", mailVerbs, true)}
	s.entitle()
	for i := range 3 * mailPage {
		s.win.rows = append(s.win.rows, inbox.Message{
			ID: int64(50_000 - i), Recipient: 1, From: fmt.Sprint("agent", i%12), Kind: []inbox.Kind{inbox.Result, inbox.Failure, inbox.Mail}[i%3],
			Priority: inbox.Normal, Tags: []string{"ci"}, Subject: "look at the cart", Body: "What was found, with `code` and more.", Created: a.o.Now().Add(-time.Duration(i) * time.Minute), Folded: i % 4,
		})
	}
	s.box.Lanes(mailLanes(map[inbox.Lane]int{inbox.Needs: 3, inbox.Failed: 33_330, inbox.Done: 33_333, inbox.FYI: 33_334}, false))
	s.box.Show(s.win.lines(map[int64]int{}), true, true)
	a.openPanel(s.box, s)
	for range 300 {
		s.box.Key(tea.KeyPressMsg{Code: 'j', Text: "j"})
	}
	p := newPreview(a.theme, a.o.Now)
	p.letter(s.win.rows[300], "Message #1: it waits")
	p.view.Letter(inbox.Message{Kind: inbox.Result, Body: strings.Repeat("A paragraph of **what** was found.\n\n", 200)})
	a.takePreview(previewed{panel: a.panel, id: s.box.At(), preview: p})
	a.draw()
	for _, j := range p.view.Jobs() {
		p.view.Rendered(j.Run())
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
	a.paste("and a paste")
	if got := a.tabs.Focus.Box.Value(); got != "half a draft" {
		t.Errorf("the draft is %q", got)
	}
}

// TestPanelIsStill: an open panel asks for no tick.
func TestPanelIsStill(t *testing.T) {
	a := heaped(t)
	a.flash = flash{}
	if a.draw(); !a.next.IsZero() {
		t.Errorf("a tick is on its way, %s from now", a.next.Sub(a.o.Now()))
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
