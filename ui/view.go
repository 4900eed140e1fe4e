package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/notify"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// drawn is what the last frame showed and when, for the clock and the mouse.
type drawn struct {
	view  tea.View
	next  time.Time // when the pending tick is due; zero: none
	at    time.Time
	focus *tabs.Tab
	tabs  []tabs.Span
	r     rects
	asked rect          // line of the focused agent's question
	waits time.Duration // until the visible text has kept its width for long enough to be rendered; 0: nothing waits
}

// View returns the last frame.
func (a *App) View() tea.View { return a.drawn.view }

// draw composes the frame and returns the commands that newly visible parts need. Its cost depends
// on what is visible, not on the length of the transcript.
func (a *App) draw() tea.Cmd {
	a.dirty, a.drawn.at, a.rail.turns = false, a.o.Now(), 0
	a.flash.Draw()
	a.layers.Drawn()
	a.boards.muster()
	v := tea.NewView("")
	v.AltScreen, v.ReportFocus = true, true
	if a.wheel.on {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = title(a.o.Root, a.tabs.Pending, a.tally.Asking)
	if !fits(a.w, a.h) {
		small := cells.Wrap("too small: 24x6 at least", max(a.w, 1))
		v.SetContent(strings.Join(small[:max(0, min(len(small), a.h))], "\n"))
		a.notice.Hide()
		a.drawn.view = v
		return nil
	}
	lines, cursor := a.compose()
	if a.look.ascii {
		for i, l := range lines {
			lines[i] = cells.ASCII(l)
		}
	}
	v.SetContent(strings.Join(lines, "\n"))
	v.Cursor = cursor
	a.drawn.view = v
	return tea.Batch(a.restock(), a.jobs(), a.tick())
}

// compose returns the lines of the frame and the cursor; nil: no cursor.
func (a *App) compose() ([]string, *tea.Cursor) {
	a.visited()
	a.drawn.asked = rect{}
	if q := a.asks.Whole(); q != nil {
		return a.whole(q)
	}
	if base := a.layers.Base(); base != nil && !bare(base) {
		lines, cursor := a.whole(base)
		if a.layers.Top() != base {
			return a.over(lines, cursor)
		}
		return lines, cursor
	}
	box, question := a.tabs.Typing(), a.asks.InPlace()
	f := facts{keys: a.keyRows()}
	var asked []string
	switch {
	case question != nil:
		asked = question.Lines(a.w, questionRows(a.h))
		f.below = len(asked)
	case box != nil:
		f.box = box.Height(a.w, max(1, (a.h-4)/2))
	}
	var card []string
	if s := a.asks.Card(a.w); s != "" {
		card = append(card, s)
	}
	above := len(card)
	card = append(card, a.notice.Card(notify.MaxCard(a.h))...)
	f.card = len(card)
	r, beside := layout(a.w, a.h, f), a.railCols()
	r.body.w -= beside
	a.drawn.r, a.drawn.asked = r, rect{0, r.card.y, a.w, min(above, r.card.h)}
	a.notice.At(r.card.y+above, max(0, r.card.h-above))
	row, spans := a.tabs.Row(a.w)
	a.drawn.tabs = spans

	lines := make([]string, 0, a.h)
	lines = append(lines, row)
	if r.upper.h > 0 {
		lines = append(lines, a.tabs.Upper(a.w))
	}
	lines = append(lines, a.railed(a.body(r.body.w, r.body.h), r.body.w, beside)...)
	lines = append(lines, card[:r.card.h]...)
	if r.lower.h > 0 {
		lines = append(lines, a.tabs.Lower(a.w))
	}
	var cursor *tea.Cursor
	keys := a.keyLine()
	switch {
	case question != nil:
		for i := range r.box.h {
			if i < len(asked) {
				lines = append(lines, cells.Fit(asked[i], a.w))
			} else {
				lines = append(lines, strings.Repeat(" ", a.w))
			}
		}
		if x, y, ok := question.Cursor(); ok {
			cursor = tea.NewCursor(x, r.box.y+y)
		}
	case box != nil:
		lines = append(lines, box.Lines(a.w, r.box.h)...)
		x, y := box.Cursor()
		cursor = tea.NewCursor(x, r.box.y+y)
		if pop := box.Popup(a.w, max(1, min(8, r.body.h-1))); len(pop) > 0 && a.layers.Top() == nil {
			for i, l := range pop { // the popup hides the transcript beside it
				lines[r.card.y-len(pop)+i] = cells.Fit(l, a.w)
			}
			keys = ""
		}
	}
	if r.keys.h > 0 {
		lines = append(lines, cells.Fit(keys, a.w))
	}
	lines = append(lines, a.statusLine(a.w))
	if a.layers.Top() != nil {
		lines, cursor = a.over(lines, cursor)
	}
	return lines, cursor
}

func (a *App) statusLine(w int) string {
	return a.tabs.Status(w, tabs.Status{Tally: a.tally.Tally, Branch: a.branch, Flash: a.flash.Text(), Usual: a.o.Usual, ReadOnly: a.o.ReadOnly != nil})
}

// whole returns a frame with a board between the tabs and the status line.
func (a *App) whole(b dialog.Box) ([]string, *tea.Cursor) {
	row, spans := a.tabs.Row(a.w)
	a.drawn.tabs, a.drawn.r = spans, layout(a.w, a.h, facts{})
	if p := a.boards.panel(); p != nil {
		message, _, _ := a.asks.Over()
		p.Cover(message)
	}
	card := a.notice.Card(min(1, a.h/10))
	lines := append([]string{cells.Fit(row, a.w)}, b.Lines(a.w, a.h-2-len(card))...)
	if len(lines) > 1 && cells.Width(lines[1]) != a.w { // all lines of a box have the same width
		for i, l := range lines {
			lines[i] = cells.Fit(l, a.w)
		}
	}
	for len(lines) < a.h-1-len(card) { // a question takes only the rows that it needs
		lines = append(lines, strings.Repeat(" ", a.w))
	}
	for _, l := range append(card, a.statusLine(a.w)) {
		lines = append(lines, cells.Fit(l, a.w))
	}
	a.notice.At(a.h-1-len(card), len(card))
	if x, y, ok := b.Cursor(); ok {
		return lines, tea.NewCursor(x, y+1)
	}
	return lines, nil
}

// over draws the open dialog over the middle, between the tabs and the status line, and dims what
// is under it.
func (a *App) over(lines []string, cursor *tea.Cursor) ([]string, *tea.Cursor) {
	a.notice.Hide()             // its card is dimmed and takes no key
	rows := a.drawn.r.box.y - 1 // down to the rule above the box, if that leaves enough lines
	if rows < a.h/2 {
		rows = a.h - 2
	}
	if bare(a.layers.Top()) {
		rows = min(rows, bareRows)
	}
	b := a.layers.Top().Lines(min(a.w, 100), rows)
	if len(b) == 0 {
		return lines, cursor
	}
	x, y := max(0, (a.w-cells.Width(b[0]))/2), 1+max(0, (rows-len(b))/3)
	cursor = nil
	for i := 1; i < len(lines)-1; i++ {
		lines[i] = a.tabs.Theme.Paint(themes.Dim, ansi.Strip(lines[i]))
	}
	if cx, cy, ok := a.layers.Top().Cursor(); ok {
		cursor = tea.NewCursor(x+cx, y+cy)
	}
	return cells.Overlay(lines, b, x, y), cursor
}

// bareRows is the height of a board that has nothing to show.
const bareRows = 8

// bare reports whether a box is a board that has nothing to show: it is drawn small, over the conversation.
func bare(b dialog.Box) bool {
	board, ok := b.(*dialog.Board)
	return ok && board.Bare()
}

// body returns the focused transcript, or the start screen while that is empty.
func (a *App) body(w, h int) []string {
	t := a.tabs.Focus
	if t == nil || begins(t) {
		return a.welcome.Lines(t, w, h)
	}
	t.Refresh(a.asks.OnScreen(t))
	_, child, _ := a.asks.Over()
	t.View.ChildAsks(child)
	hint := ""
	if a.onTaken() && t.Box.Empty() {
		hint = takenHint
	}
	t.View.Hint(hint)
	return t.At().Lines(w, h)
}

// begins reports whether a tab shows the start screen, as nothing was said in it.
func begins(t *tabs.Tab) bool {
	return t.Box != nil && t.Panes.At == tabs.Transcript && t.Loaded && t.Newest == 0 && t.View.Empty()
}

// title returns the window's title: the workspace, how many messages wait, and how many agents ask.
func title(root string, pending, asking int) string {
	s := "fantail — " + cells.CleanLine(filepath.Base(root))
	if asking > 0 {
		s = fmt.Sprintf("?%d %s", asking, s)
	}
	if pending > 0 {
		s = fmt.Sprintf("(%d) %s", pending, s)
	}
	return s
}

// restock reads what the open board lacks: last lines, and the rows of a panel.
func (a *App) restock() tea.Cmd {
	var cmds []tea.Cmd
	for _, t := range a.boards.tailed() {
		cmds = append(cmds, a.reader.transcript(t))
	}
	if p := a.boards.panel(); p != nil && a.pool != nil {
		cmds = append(cmds, a.act(p.Wants()))
	}
	if t := a.boards.clock(); t != nil {
		cmds = append(cmds, a.act(t.Wants()))
	}
	if a.boards.fan() != nil || a.boards.clock() != nil || a.rail.came && !a.rail.hidden && a.w >= railFrom && a.layers.Base() == nil {
		cmds = append(cmds, a.act(a.boards.waiting.Wants(a.boards.Options, a.tabs.Acting().Info.ID)))
	}
	return tea.Batch(cmds...)
}

// jobs renders newly visible parts off the interface's goroutine, and reads an older page when the
// view is near its top.
func (a *App) jobs() tea.Cmd {
	t := a.tabs.Focus
	if t == nil {
		return nil
	}
	var cmds []tea.Cmd
	shown := []*transcript.View{t.At()}
	if base := a.layers.Base(); base != nil { // nothing else is visible
		shown = a.boards.views()
	}
	a.drawn.waits = 0
	for _, v := range shown {
		a.drawn.waits = max(a.drawn.waits, v.Settling(a.o.Now()))
		if js := v.Jobs(); len(js) > 0 {
			cmds = append(cmds, func() tea.Msg {
				r := rendered{view: v, done: make([]transcript.Done, len(js))}
				for i, j := range js {
					r.done[i] = j.Run()
				}
				return r
			})
		}
	}
	return tea.Batch(append(cmds, a.reader.older(t))...)
}
