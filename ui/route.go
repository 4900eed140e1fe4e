package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/inbox"
	"fantail/ui/composer"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/slash"
	"fantail/ui/tabs"
	"fantail/ui/term"
)

// key routes a key. The first part to take it ends the route.
func (a *App) key(k tea.KeyPressMsg) (cmd tea.Cmd) {
	a.flash.Key(k.String(), func() { cmd = a.take(k) })
	return cmd
}

func (a *App) take(k tea.KeyPressMsg) tea.Cmd {
	for _, take := range []func(tea.KeyPressMsg) (tea.Cmd, bool){
		a.keyAlways, a.keyNotice, a.keyTabs, a.keyAsked, a.keyDialog, a.keySelection, a.keyTaken, a.keyDelegated, a.keyStart, a.keyBox, a.keyPanes, a.keyGlobal,
	} {
		if cmd, ok := take(k); ok {
			return cmd
		}
	}
	return nil
}

// keyAlways takes the keys that mean the same everywhere.
func (a *App) keyAlways(k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "ctrl+c":
		return a.interrupt(), true
	case "ctrl+z":
		return a.suspend(), true
	case "ctrl+l":
		return term.Clear, true
	}
	return nil, false
}

// interrupt handles Ctrl+C: it closes what is open, clears the box, and leaves when pressed twice.
func (a *App) interrupt() tea.Cmd {
	switch box := a.tabs.Typing(); {
	case a.layers.Top() != nil:
		a.layers.Shut()
		return nil
	case a.tabs.Focus != nil && a.tabs.Focus.Line != nil:
		a.tabs.Focus.Line = nil
		return nil
	case box != nil && !box.Empty():
		box.Clear()
		return nil
	case a.flash.Again("ctrl+c", "Press Ctrl+C again to leave", nil):
		return a.act(intent.Leave{})
	}
	return nil
}

func (a *App) keyDialog(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if a.layers.Top() == nil {
		return nil, false
	}
	d := a.layers.Top().Key(k)
	if d == nil {
		return nil, true
	}
	switch d := d.(type) {
	case dialog.Wanted, dialog.BoardAction, dialog.SheetAnswer, dialog.SheetOpen:
		if b := a.layers.Board(); b != nil {
			return a.act(b.Do(d)), true
		}
		return nil, true
	case dialog.Copied:
		return a.copy(d.Text), true
	}
	return a.act(a.layers.Decided(d)), true
}

// free reports whether a dialog that took time to prepare may open: nothing that might hold typed
// text was opened meanwhile. If not, it says that what was not opened. what is "" for a dialog that
// took no time.
func (a *App) free(what string) bool {
	was := a.layers.Top()
	if what == "" || was == nil {
		return true
	}
	a.flash.While(what+" was not opened. Close the open dialog first (esc)", func() bool { return a.layers.Top() == was })
	return false
}

// keyTabs takes the keys that go to another tab or to a question. Under a dialog they do nothing.
func (a *App) keyTabs(k tea.KeyPressMsg) (tea.Cmd, bool) {
	s := k.String()
	if a.layers.Top() != nil {
		return a.keyFromDialog(s)
	}
	switch s {
	case "alt+tab", "ctrl+tab":
		a.tabs.Back(a.o.Now(), 1)
	case "alt+shift+tab", "ctrl+shift+tab":
		a.tabs.Back(a.o.Now(), -1)
	case "ctrl+pgup":
		a.tabs.Next(-1)
	case "ctrl+pgdown":
		a.tabs.Next(1)
	case "ctrl+space", "ctrl+@":
		return a.act(switcher(&a.tabs)), true
	case "f2":
		a.boards.wall()
		return nil, true
	case "f3":
		t := a.tabs.Acting()
		a.boards.inbox(t.Info.ID, t.Info.Name)
		return nil, true
	case "f4":
		t := a.tabs.Acting()
		a.boards.queue(t.Info.ID, t.Info.Name)
		return nil, true
	case "f6":
		t := a.tabs.Acting()
		a.boards.schedules(t.Info.ID, t.Info.Name)
		return nil, true
	case "alt+a":
		a.asks.All()
		return nil, true
	case "f5":
		a.asks.Next(Sought)
		return nil, true
	case "alt+r":
		return a.keyRail(), true
	case "alt+c":
		return a.collect(), true
	case "alt+p":
		return a.command("/model"), true
	case "alt+y":
		return a.command("/copy"), true
	case "alt+1", "alt+2", "alt+3", "alt+4", "alt+5", "alt+6", "alt+7", "alt+8", "alt+9":
		a.tabs.Nth(int(s[4] - '0'))
	default:
		return nil, false
	}
	return a.shown(), true
}

// collect takes what /check takes.
func (a *App) collect() tea.Cmd { return a.command("/check") }

// command carries out a command in the focused tab.
func (a *App) command(typed string) tea.Cmd {
	i, err := slash.Run(a.commandOptions(), a.tabs.Focus, typed)
	if err != nil {
		i = intent.Say{Text: format.Sentence(err)}
	}
	return a.act(i)
}

// keyFromDialog goes from one question to the next, and from the overview to a question. A panel
// does that itself. Other dialogs might hold typed text.
func (a *App) keyFromDialog(key string) (tea.Cmd, bool) {
	_, _, over := a.asks.Over()
	switch {
	case key != "alt+a" && key != "f5" || a.boards.panel() != nil && a.layers.Bare():
		return nil, false
	case over || (a.boards.fleet() != nil || a.boards.fan() != nil || a.boards.clock() != nil) && a.layers.Bare():
		a.asks.Next(Sought)
		return nil, true
	}
	was := a.layers.Top()
	a.flash.While("Close the open dialog first (esc)", func() bool { return a.layers.Top() == was })
	return nil, true
}

// keySelection takes the keys for a selected block.
func (a *App) keySelection(k tea.KeyPressMsg) (tea.Cmd, bool) {
	t := a.tabs.Focus
	if t == nil || t.At().Selected() == "" {
		return nil, false
	}
	switch k.String() {
	case "y":
		text := t.At().Selected()
		t.At().Deselect()
		return a.copy(text), true
	case "esc":
		t.At().Deselect()
		return nil, true
	case "up", "down", "ctrl+up", "ctrl+down", "alt+up", "alt+down":
		return nil, t.At().Key(k)
	case "enter", "o":
		if ids := t.At().Opens(); len(ids) > 0 {
			return a.act(panel.Letters(a.boards.Options, t.Info.ID, ids)), true
		}
		if t.At().Unfolds() {
			return nil, true
		}
	}
	t.At().Deselect()
	return nil, false
}

// takenHint names the keys of keyTaken.
const takenHint = "enter open · u undo"

// onTaken reports whether keys act on the messages that were collected last in the focused tab.
func (a *App) onTaken() bool {
	t := a.tabs.Focus
	return t != nil && t.Box != nil && t.Line == nil && t.At() == t.View && a.pool != nil && a.o.ReadOnly == nil &&
		a.layers.Top() == nil && a.asks.InPlace() == nil && t.View.Taken() > 0
}

// keyTaken opens the messages that were collected last, or puts them back, while nothing follows them and the box is
// empty. A prompt may begin with u: only a second one puts them back.
func (a *App) keyTaken(k tea.KeyPressMsg) (tea.Cmd, bool) {
	s := k.String()
	if s != "enter" && s != "u" || !a.onTaken() {
		return nil, false
	}
	t := a.tabs.Focus
	switch typed := t.Box.Value(); {
	case s == "enter" && typed == "":
		t.View.SelectTaken()
		return a.act(panel.Letters(a.boards.Options, t.Info.ID, t.View.Opens())), true
	case s == "u" && (typed == "" || typed == "u"):
		text := "Press u again to put " + format.Count(t.View.Taken(), "message") + " back"
		if a.flash.Again("u", text, func() bool { return t.Box.Value() == "u" }) && typed == "u" {
			t.Box.Clear()
			return a.command("/inbox undo"), true
		}
	}
	return nil, false
}

// keyDelegated takes the key that moves the work the focused agent waits for to the background.
func (a *App) keyDelegated(k tea.KeyPressMsg) (tea.Cmd, bool) {
	if k.String() != "ctrl+b" || a.tabs.Focus == nil || a.tabs.Focus.Info.Delegated == 0 {
		return nil, false
	}
	id := a.tabs.Focus.Info.ID
	return a.act(intent.Run{F: func(context.Context) intent.Intent {
		a.pool.Background(id)
		return nil
	}}), true
}

// keyStart handles the keys of the start screen without a model.
func (a *App) keyStart(k tea.KeyPressMsg) (tea.Cmd, bool) {
	t := a.tabs.Focus
	if t == nil || t != a.tabs.Main() || t.Line != nil || !begins(t) || !a.welcome.unmodelled() {
		return nil, false
	}
	switch k.String() {
	case "enter":
		if t.Box.Empty() {
			return a.act(a.welcome.connect(a.w)), true
		}
	case "tab":
		if next, ok := nextTry(t.Box.Value()); ok {
			t.Box.Set(next)
			return nil, true
		}
	}
	return nil, false
}

// keyBox passes keys to the box, and carries out what they mean beyond editing.
func (a *App) keyBox(k tea.KeyPressMsg) (tea.Cmd, bool) {
	t, box := a.tabs.Focus, a.tabs.Typing()
	if box == nil {
		return nil, false
	}
	if k.String() == "up" && box.Empty() && t.Line == nil {
		if n := len(t.Info.Prompts); n > 0 {
			return a.act(a.sender.withdraw(t, t.Info.Prompts[n-1])), true
		}
	}
	if k.String() == "left" && box.Empty() && t.Line == nil {
		a.boards.wall()
		return nil, true
	}
	intent, ok := box.Key(k)
	if !ok {
		return nil, false
	}
	switch intent {
	case composer.Submit:
		if !box.Empty() {
			a.asks.Sent()
		}
		return a.act(a.sender.submit(t)), true
	case composer.Edit:
		return a.act(a.sender.edit(t)), true
	}
	return a.reader.completes(k, box), true
}

// keyGlobal takes the keys that no other part took.
func (a *App) keyGlobal(k tea.KeyPressMsg) (tea.Cmd, bool) {
	t := a.tabs.Focus
	switch s := k.String(); s {
	case "esc":
		if t != nil && t.Line != nil {
			t.Line = nil
			return nil, true
		}
		if !a.asks.StopsTwice() {
			return nil, true
		}
		return a.act(a.sender.stop(t)), true
	case "shift+tab":
		if a.pool == nil {
			return nil, true
		}
		return a.stepMode(), true
	case "ctrl+p":
		return a.act(slash.Palette(a.commandOptions(), a.here(), t)), true
	case "?":
		a.sheet()
		return nil, true
	case "ctrl+d":
		if a.flash.Again("ctrl+d", "Press Ctrl+D again to leave", nil) {
			return a.act(intent.Leave{}), true
		}
		return nil, true
	case "ctrl+up", "alt+up":
		if t != nil {
			t.At().SelectPrev()
		}
		return nil, true
	case "alt+m":
		a.wheel.on = !a.wheel.on
		a.flash.Say(map[bool]string{true: "the mouse scrolls and clicks", false: "the mouse selects text, as the terminal does"}[a.wheel.on])
		return nil, true
	case "m", "/":
		if t != nil && t.Box == nil && t.Line == nil {
			if s == "m" {
				a.drafts.Tell(t)
			} else {
				a.drafts.Command(t)
			}
			return nil, true
		}
	}
	if t != nil && t.At().Key(k) {
		return nil, true
	}
	return nil, false
}

// roll scrolls by the gathered turns of the wheel: the open dialog or question, else the
// transcript.
func (a *App) roll() tea.Cmd {
	lines, t := a.wheel.gathered(), a.tabs.Focus
	if lines == 0 || t == nil {
		return nil
	}
	a.dirty, a.wheel.turning = true, true
	over := a.layers.Top()
	if q := a.asks.InPlace(); over == nil && q != nil {
		over = q
	}
	if over == nil {
		t.At().Scroll(lines)
	} else if p := a.boards.panel(); p != nil && a.layers.Bare() {
		p.Board().Wheel(a.wheel.x, a.wheel.y-1, lines)
	} else {
		key := tea.KeyPressMsg{Code: tea.KeyDown, Mod: tea.ModShift}
		if lines < 0 {
			key.Code, lines = tea.KeyUp, -lines
		}
		for range min(lines, a.h) {
			over.Key(key)
		}
	}
	return tea.Tick(wheelGap, func(time.Time) tea.Msg { return rolled{} })
}

// click goes to the clicked tab, question or message, or to the new lines below.
func (a *App) click(m tea.MouseClickMsg) tea.Cmd {
	if m.Button != tea.MouseLeft {
		return nil
	}
	if i, ok := a.notice.Click(m.X, m.Y); ok {
		a.dirty = a.dirty || i != nil
		return a.act(i)
	}
	if r, t := a.drawn.asked, a.tabs.Focus; a.layers.Top() == nil && t != nil && r.h > 0 && m.Y == r.y && a.asks.Openly(t) {
		a.asks.Open(t.Info.ID, Sought)
		a.dirty = true
		return nil
	}
	if p := a.boards.panel(); p != nil && a.layers.Bare() {
		p.Board().Click(m.X, m.Y-1)
		a.dirty = true
	}
	if a.layers.Top() != nil {
		return nil
	}
	if low, t := a.drawn.r.lower, a.tabs.Focus; low.h > 0 && m.Y == low.y && t != nil && (t.At().NewBelow() > 0 || t.At().Unseen() != "") {
		t.At().Follow()
		a.dirty = true
	}
	if r, t := a.drawn.r.body, a.tabs.Focus; t != nil && m.X < r.x+r.w && m.Y >= r.y && m.Y < r.y+r.h {
		return a.clickBody(t, m.X-r.x, m.Y-r.y)
	}
	if m.Y != 0 {
		return nil
	}
	for _, s := range a.drawn.tabs {
		if m.X >= s.From && m.X < s.To {
			if s.ID == tabs.EndedGroup {
				a.boards.overview()
				return nil
			}
			if t := a.tabs.ByID(s.ID); t != nil {
				a.tabs.To(t)
				return a.shown()
			}
		}
	}
	return nil
}

// clickBody opens the clicked message or unfolds a document.
func (a *App) clickBody(t *tabs.Tab, x, y int) tea.Cmd {
	id, ok := t.At().Click(x, y)
	a.dirty = a.dirty || ok
	if id == 0 {
		return nil
	}
	return a.act(intent.Message{Agent: t.Info.ID, ID: id})
}

// keyPanes takes the keys that switch views in the tab of an agent without a prompt box.
func (a *App) keyPanes(k tea.KeyPressMsg) (tea.Cmd, bool) {
	t := a.tabs.Focus
	if t == nil || t.Box != nil || t.Line != nil {
		return nil, false
	}
	i := 0
	for tabs.Order[i] != t.Panes.At {
		i++
	}
	n := len(tabs.Order)
	switch s := k.String(); s {
	case "left":
		return a.showPane(t, tabs.Order[(i+n-1)%n]), true
	case "right", "tab":
		return a.showPane(t, tabs.Order[(i+1)%n]), true
	case "1", "2", "3", "4":
		return a.showPane(t, tabs.Order[s[0]-'1']), true
	case "y":
		return a.copy(t.Copied()), true
	case "w":
		if t.Info.State.Terminal() {
			return nil, false
		}
		if a.flash.Again("w", "press w again to ask "+t.Info.Name+" to wrap up", func() bool { return a.tabs.Focus == t && !t.Info.State.Terminal() }) {
			return a.act(panel.WrapUp(a.pool, t.Info.Name)), true
		}
		return nil, true
	}
	return nil, false
}

// showPane switches a tab to one of its views.
func (a *App) showPane(t *tabs.Tab, p tabs.Pane) tea.Cmd {
	a.dirty = true
	t.TurnTo(p)
	return a.reader.facts(t)
}

// keyAsked takes the keys of a question, and drops keys meant for one that has just gone.
func (a *App) keyAsked(k tea.KeyPressMsg) (tea.Cmd, bool) {
	i, ok := a.asks.Key(k)
	return a.act(i), ok
}

// keyNotice takes the keys of the urgent card, whatever else is open.
func (a *App) keyNotice(k tea.KeyPressMsg) (tea.Cmd, bool) {
	i, ok := a.notice.Key(k)
	return a.act(i), ok
}

// handleUrgent goes to the recipient of a message and starts a turn with it, as /messages next
// does.
func (a *App) handleUrgent(h intent.Handle) tea.Cmd {
	a.dirty = true
	t := a.tabs.ByID(h.Message.Recipient)
	if t == nil {
		return nil
	}
	a.layers.Clear() // close what fills the screen
	a.tabs.To(t)
	t.News = false // handling its mail counts as looking at it
	take := func(ctx context.Context, agent int64) (inbox.Message, bool, error) {
		got, ok, err := a.pool.Pickup.Next(ctx, agent, h.Message.ID)
		if err != nil {
			a.feed.after(wanted{h.Failed})
		}
		return got, ok, err
	}
	return tea.Batch(a.shown(), a.act(slash.Turn(a.commandOptions(), t, take)))
}
