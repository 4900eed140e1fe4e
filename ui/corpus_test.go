package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/.ci/long"
	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/tabs"
)

// posed is a screen on which that agent asks whether a call may run, and a clock.
type posed struct {
	*App
	t  *testing.T
	at time.Time
}

func newPosed(t *testing.T) *posed {
	p := &posed{App: screen(t, 100, 30), t: t, at: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	p.o.Now = func() time.Time { return p.at }
	p.with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		event.Info{ID: 2, Name: "help", Kind: event.Helper, State: event.Idle},
		event.Info{ID: 3, Name: "job", Kind: event.Sub, State: event.Running},
	)
	p.Update(nil)
	return p
}

// ask lets an agent ask.
func (p *posed) ask(agent int64) {
	i := p.tabs.ByID(agent).Info
	i.State = event.Asking
	i.Question = &event.Question{
		Question: permission.Question{ID: 7, Agent: agent, Name: i.Name, Rule: "bash(ls *)", Action: permission.Action{Tool: "bash", Title: "bash ls", Command: "ls"}},
		Message:  12, Since: p.at,
	}
	p.Update(news{events: []event.Event{event.Changed{Info: i}}})
}

func (p *posed) press(ks ...tea.KeyPressMsg) {
	for _, k := range ks {
		p.Update(k)
	}
}

func (p *posed) typed(text string) {
	for _, r := range text {
		p.press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (p *posed) pass(d time.Duration) { p.at = p.at.Add(d) }

// board opens an inbox with the message that stands for the question.
func (p *posed) board() {
	board := panel.Inbox(p.boards.Options, 1, "main")
	b := board.Board()
	b.Show([]dialog.Line{{ID: 12, Who: "main", Text: "bash ls"}}, false, false)
	p.layers.Show(board)
	b.Preview(12, still("$ ls"))
	p.Update(nil)
}

// still is a preview of one line.
type still string

func (s still) Lines(_, h int) []string { return []string{string(s)}[:min(1, h)] }

func (s still) Scroll(int) {}

// drafted is what the box holds.
func (p *posed) drafted() string {
	if b := p.tabs.Typing(); b != nil {
		return b.Value()
	}
	return ""
}

// TestKeysOfADraft presses every key while a question comes by itself, everywhere
// that something can be typed and at every moment of it: only where the box was empty
// and nobody typed, and a second later, does a key answer, and then only its own.
//
// Spec: R-49, E-26.
func TestKeysOfADraft(t *testing.T) {
	goTo := func(p *posed, agent int64) { p.tabs.To(p.tabs.ByID(agent)); p.shown(); p.Update(nil) }
	places := map[string]struct {
		agent int64
		line  string // the key that opens it
		base  string // what stands in it then
	}{"main": {1, "", ""}, "helper": {2, "", ""}, "m line": {3, "m", ""}, "/ line": {3, "/", "/"}, "no line": {3, "", ""}}
	moments := map[string]struct {
		draft  string
		before time.Duration // since the last letter
		after  time.Duration // since it came
		may    bool          // a key may answer
	}{
		"draft":             {"half a ", 5 * time.Second, 5 * time.Second, false},
		"draft, just typed": {"half a ", 0, 0, false},
		"empty, typing":     {"", time.Second, 0, false},
		"typing, long ago":  {"", time.Second, time.Hour, false},
		"at rest, at once":  {"", 5 * time.Second, 0, false},
		"at rest, <1s":      {"", 5 * time.Second, 999 * time.Millisecond, false},
		"at rest, >1s":      {"", 5 * time.Second, time.Second, true},
	}
	var ks []tea.KeyPressMsg
	for r := rune(' '); r < 0x7f; r++ {
		if !long.Wanted() && !strings.ContainsRune("yYsSpPnN12340aAzZm /~", r) {
			continue // a long run tries all letters; these are those that mean something, and some that do not
		}
		ks = append(ks, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	for _, c := range []rune{tea.KeyEnter, tea.KeyKpEnter, tea.KeyTab, tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyBackspace, tea.KeyDelete, tea.KeyHome, tea.KeyEnd, tea.KeyPgUp, tea.KeyPgDown} {
		ks = append(ks, tea.KeyPressMsg{Code: c})
	}
	ks = append(ks, tea.KeyPressMsg{Code: 'å', Text: "å"}, tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift})
	n := 0
	for where, place := range places {
		for when, m := range moments {
			if place.agent == 3 && place.line == "" && m.draft != "" {
				continue
			}
			for _, k := range ks {
				n++
				p := newPosed(t)
				goTo(p, place.agent)
				p.typed(place.line + m.draft)
				if m.draft == "" && m.before < 2*time.Second {
					p.asks.Typed(p.at)
				}
				p.pass(m.before)
				p.ask(place.agent)
				p.pass(m.after)
				before := p.drafted()
				p.press(k)
				may := m.may && place.line == ""
				answers := k.Text != "" && strings.Contains("yYsSpP", k.Text)
				if got := p.asks.Given() != 0; got != (may && answers) {
					t.Errorf("%s, %s: %q answers: %t", where, when, k.String(), got)
				}
				if k.Text != "" && (m.draft != "" || place.line == "m") && before != "" {
					q := newPosed(t)
					goTo(q, place.agent)
					q.typed(place.line + m.draft)
					q.press(k)
					if got, want := p.drafted(), q.drafted(); got != want {
						t.Errorf("%s, %s: %q makes %q of the draft, without a question %q", where, when, k.String(), got, want)
					}
				}
				if p.asks.Given() == 0 && p.tabs.ByID(place.agent).Question != nil {
					p.press(tea.KeyPressMsg{Code: tea.KeyEnter}) // it has not been armed either
					if p.asks.Given() != 0 && !(may && (k.Text == "n" || k.Text == "N" || k.Text == "3" || k.Code == tea.KeyTab && k.Mod == 0 ||
						k.Code == tea.KeyUp || k.Code == tea.KeyDown || k.Code == tea.KeyLeft || k.Code == tea.KeyRight)) {
						t.Errorf("%s, %s: %q and Enter answer", where, when, k.String())
					}
				}

			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d cases", n)
	}
}

// TestLettersOverAPanel: over the inbox, the queue and the overview, and after
// /answer, no letter answers and none does anything beneath; a digit and Enter do.
//
// Spec: M-35, E-26.
func TestLettersOverAPanel(t *testing.T) {
	ways := map[string]func(p *posed){
		"overview": func(p *posed) { p.boards.overview(); p.asks.Next(Sought) },
		"inbox":    func(p *posed) { p.board(); p.asks.Next(Strict) },
		"/answer": func(p *posed) {
			p.use(&agents.Pool{})
			i, err := slash.Run(p.commandOptions(), p.tabs.Focus, "/answer job")
			if err != nil {
				p.t.Error(err)
			}
			p.act(i)
		},
		"own": func(p *posed) { p.tabs.To(p.tabs.ByID(3)); p.asks.Open(3, Strict) },
	}
	for name, way := range ways {
		p := newPosed(t)
		p.ask(3)
		p.pass(time.Minute)
		way(p)
		p.Update(nil)
		p.pass(time.Second)
		if p.asks.Asker() == nil {
			t.Fatalf("%s: it has not the keyboard", name)
		}
		for r := rune(' '); r < 0x7f; r++ {
			if r >= '1' && r <= '4' {
				continue
			}
			p.typed(string(r))
			p.pass(time.Second)
			p.press(tea.KeyPressMsg{Code: tea.KeyEnter})
			if p.asks.Given() != 0 || p.asks.Asker() == nil {
				t.Fatalf("%s: %q answers, or leaves it", name, r)
			}
		}
		p.typed("1")
		if p.asks.Given() != 0 {
			t.Fatalf("%s: a digit answers by itself", name)
		}
		p.press(tea.KeyPressMsg{Code: tea.KeyEnter})
		if p.asks.Given() != 7 {
			t.Errorf("%s: a digit and Enter do not answer", name)
		}
	}
}

// TestOnceOnTheScreen: whatever is open, a question shows once.
//
// Spec: E-26.
func TestOnceOnTheScreen(t *testing.T) {
	for name, way := range map[string]func(p *posed){
		"in place":        func(*posed) {},
		"a card":          func(p *posed) { p.typed("x") },
		"gone to":         func(p *posed) { p.typed("x"); p.asks.Next(Sought) },
		"gone to at rest": func(p *posed) { p.asks.Next(Sought) },
		"put back": func(p *posed) {
			p.asks.Next(Sought)
			p.Update(nil)
			p.pass(time.Second)
			p.press(tea.KeyPressMsg{Code: tea.KeyEsc})
		},
		"from another tab":  func(p *posed) { p.tabs.To(p.tabs.ByID(2)); p.asks.Next(Sought) },
		"another tab":       func(p *posed) { p.tabs.To(p.tabs.ByID(2)); p.asks.Next(Sought); p.Update(nil); p.layers.Shut() },
		"under the help":    func(p *posed) { p.carried(p.act(intent.Help{})) },
		"in the overview":   func(p *posed) { p.boards.overview() },
		"its facts":         func(p *posed) { p.showPane(p.tabs.ByID(1), tabs.Info) },
		"over the overview": func(p *posed) { p.boards.overview(); p.asks.Next(Strict) },
		"over the inbox":    func(p *posed) { p.board(); p.asks.Next(Strict) },
	} {
		p := newPosed(t)
		p.tabs.ByID(1).View.Append([]history.Entry{{Seq: 1, Kind: history.EntryCall, Call: &history.Call{ID: "c", Name: "bash", Title: "bash ls"}}})
		p.pass(time.Minute)
		p.ask(1)
		i := p.tabs.ByID(1).Info
		i.Question.Call = "c"
		p.Update(news{events: []event.Event{event.Changed{Info: i}}})
		p.pass(time.Minute)
		way(p)
		p.dirty = true
		p.Update(nil)
		lines, _ := p.compose()
		n := 0
		for _, l := range lines {
			for _, s := range []string{"$ ls", "bash ls", "run  ls"} {
				if strings.Contains(plain(l), s) {
					n++
				}
			}
		}
		want := 1
		if name == "another tab" || name == "under the help" {
			want = 0
		}
		if n != want {
			t.Errorf("%s: it shows %d times:\n%s", name, n, joined(lines))
		}
	}
}

func joined(lines []string) string { return plain(strings.Join(lines, "\n")) }

// TestSeenAnew: who comes back to a question that was there all the time sees it from
// then on, and one whose tab is closed goes with it.
//
// Spec: E-26.
func TestSeenAnew(t *testing.T) {
	for name, m := range map[string]tea.Msg{"focus": tea.FocusMsg{}, "suspended": tea.ResumeMsg{}, "the editor": returned{wanted{}}} {
		p := newPosed(t)
		p.pass(time.Minute)
		p.ask(1)
		p.pass(time.Minute)
		p.Update(m)
		p.typed("y")
		if p.asks.Given() != 0 {
			t.Errorf("%s: it is answered at once", name)
		}
		p.pass(time.Second)
		p.typed("y")
		if p.asks.Given() != 7 {
			t.Errorf("%s: a second later it is not answered", name)
		}
	}
	p := newPosed(t)
	p.pass(time.Minute)
	p.ask(1)
	p.pass(time.Minute)
	p.Update(returned{wanted{intent.Call(func() intent.Intent { return p.sender.edited(1, "a draft", nil) })}})
	p.pass(time.Minute)
	p.typed("yes")
	if p.asks.Given() != 0 || p.drafted() != "a draftyes" {
		t.Errorf("a draft of the editor's is %q", p.drafted())
	}

	p = newPosed(t)
	p.ask(3)
	p.asks.Next(Sought)
	p.Update(nil)
	p.Update(news{events: []event.Event{event.Closed{Agent: 3}}})
	if p.layers.Top() != nil || p.asks.Asker() != nil {
		t.Error("the question of a tab that was closed stays")
	}
}

// TestAskCardFits: with what is urgent beside it, and at every size that is drawn, the
// frame has that size and the line its key.
//
// Spec: M-29.
func TestAskCardFits(t *testing.T) {
	step := 9
	if long.Wanted() {
		step = 3
	}
	for w := minWidth; w < 130; w += step {
		for h := minHeight; h < 30; h++ {
			p := newPosed(t)
			p.w, p.h = w, h
			p.typed("x")
			p.ask(1)
			p.presses(inbox.Message{ID: 7, Recipient: 1, From: "ci", Body: "red", Priority: inbox.Urgent})
			lines, _ := p.compose()
			if len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, l := range lines {
				if n := cells.Width(l); n > w {
					t.Fatalf("%dx%d: a line has %d columns: %q", w, h, n, plain(l))
				}
			}
			if all := joined(lines); !strings.Contains(all, "▌ main w") || !strings.Contains(all, "f5") || !strings.Contains(all, "URG") {
				t.Fatalf("%dx%d:\n%s", w, h, all)
			}
		}
	}
}
