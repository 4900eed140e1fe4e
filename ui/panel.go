package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/frame"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// panel is the board that is open: an inbox or a queue. It reads only what its
// board lacks, one thing at a time, in commands; closed it costs nothing.
type panel struct {
	box     *dialog.Board
	of      stock
	reading bool
	looking bool
	stale   bool // what it lists has changed
	worn    bool // so has what the preview shows
	preview *preview
	typed   string // what was searched for when it was last looked at
	pause   time.Time
}

// stock is what a panel lists. Its methods are called on the interface's
// goroutine; the functions they return run in commands.
type stock interface {
	// next reads what the board lacks; nil: nothing. stale: what it has may be out
	// of date.
	next(b *dialog.Board, stale bool) read
	// look makes the preview of a row.
	look(id int64) func(ctx context.Context) (*preview, error)
	// do does what the human wants.
	do(a *App, p *panel, w dialog.Wish) tea.Cmd
	// touched reports whether an event changes what is listed, or what the preview
	// of a row shows.
	touched(e agents.Event) bool
}

// read reads in a command; what it returns is applied on the interface's goroutine.
type read func(ctx context.Context) (apply func(b *dialog.Board), err error)

// What comes back from a panel's commands.
type (
	stocked struct {
		panel *panel
		apply func(b *dialog.Board)
		err   error
	}
	previewed struct {
		panel   *panel
		id      int64
		preview *preview
		err     error
	}
	// wished is what became of a wish. A failure gives the text back; then happens
	// on the interface's goroutine.
	wished struct {
		panel *panel
		wish  dialog.Wish
		text  string
		err   error
		then  func() tea.Cmd
	}
	// typedOn says that nothing was typed into a panel's search for a while.
	typedOn struct{}
)

// searchPause is how long what is searched for must stand before it is.
const searchPause = 120 * time.Millisecond

// openPanel shows a panel over everything.
func (a *App) openPanel(box *dialog.Board, of stock) {
	a.fleet = nil
	a.panel = &panel{box: box, of: of, stale: true}
	a.open(box, nil)
}

// restock asks for what the open panel lacks.
func (a *App) restock() tea.Cmd {
	p := a.panel
	if p == nil || a.pool == nil {
		return nil
	}
	var cmds []tea.Cmd
	if cmd, wait := a.searching(p); wait {
		cmds = append(cmds, cmd)
	} else if !p.reading {
		if f := p.of.next(p.box, p.stale); f != nil {
			p.reading, p.stale = true, false
			cmds = append(cmds, func() tea.Msg {
				apply, err := f(a.ctx)
				return stocked{p, apply, err}
			})
		}
	}
	if at := p.box.At(); at != 0 && !p.looking && p.box.Peeks() && (at != p.box.Previews() || p.worn && !p.reading && !p.instead()) {
		p.looking, p.worn = true, false
		f := p.of.look(at)
		cmds = append(cmds, func() tea.Msg {
			v, err := f(a.ctx)
			return previewed{p, at, v, err}
		})
	}
	return tea.Batch(cmds...)
}

// searching tells whether something is being typed that is searched for when it
// rests.
func (a *App) searching(p *panel) (cmd tea.Cmd, wait bool) {
	now := a.o.Now()
	if s := p.box.Search(); s != p.typed {
		p.typed, p.pause = s, now.Add(searchPause)
		return tea.Tick(searchPause, func(time.Time) tea.Msg { return typedOn{} }), true
	}
	return nil, now.Before(p.pause)
}

// instead reports whether something else shows in the place of the row.
func (p *panel) instead() bool { return p.preview != nil && p.preview.what != "" }

func (a *App) takeStock(m stocked) {
	if m.panel != a.panel {
		return
	}
	a.dirty, m.panel.reading = true, false
	if m.err != nil {
		m.panel.box.Say(words.Sentence(m.err), true)
		return
	}
	m.apply(m.panel.box)
}

func (a *App) takePreview(m previewed) {
	p := m.panel
	if p != a.panel {
		return
	}
	a.dirty, p.looking = true, false
	if m.err != nil {
		p.box.Say(words.Sentence(m.err), true)
		m.preview = newPreview(a.theme, a.o.Now)
	}
	if p.preview != nil && p.box.Previews() == m.id && m.preview.keeps(p.preview) {
		m.preview.view = p.preview.view // it stays where it was scrolled to
	}
	p.preview = m.preview
	p.box.Preview(m.id, m.preview)
}

// takeWish shows what became of a wish, in the panel if it is still open.
func (a *App) takeWish(m wished) tea.Cmd {
	a.dirty = true
	var cmd tea.Cmd
	if m.then != nil && m.err == nil {
		cmd = m.then()
	}
	text, failed := m.text, m.err != nil
	if failed {
		text = words.Sentence(m.err)
	}
	switch {
	case text == "" && !failed:
	case m.panel != a.panel:
		a.say(text)
	default:
		m.panel.box.Say(text, failed)
	}
	if failed && (m.panel != a.panel || !m.panel.box.Resume(m.wish)) {
		a.give(a.tabs.Acting(), m.wish.Text)
	}
	if m.panel == a.panel {
		m.panel.stale, m.panel.worn = true, true
	}
	return cmd
}

// wish does f in a command, for a panel.
func (a *App) wish(p *panel, w dialog.Wish, f func() (string, error), then func() tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		text, err := f()
		return wished{p, w, text, err, then}
	}
}

// inPanel does what the human wants done from a panel.
func (a *App) inPanel(w dialog.Wish) tea.Cmd {
	p := a.panel
	if p == nil {
		return nil
	}
	switch w.Verb {
	case "keys":
		a.open(dialog.NewTable(a.theme, "Keys", p.box.Keys()), nil)
	case "agents":
		a.leavePanel()
		return a.overview()
	case "question":
		if !slices.ContainsFunc(a.tabs.All, func(t *tabs.Tab) bool { return t.Info.Question != nil }) {
			p.box.Say("nobody asks you anything", false)
			return nil
		}
		return a.nextQuestion(strict)
	default:
		return p.of.do(a, p, w)
	}
	return nil
}

// leavePanel closes the panel and what stands over it.
func (a *App) leavePanel() {
	a.dialog, a.decide, a.panel, a.dirty = nil, nil, nil, true
}

// noteInPanel tells the panel of an event.
func (a *App) noteInPanel(e agents.Event) {
	if p := a.panel; p != nil && p.of.touched(e) {
		p.stale, p.worn = true, true
	}
}

// base is what fills the screen below the dialog on top, if it is no tab, and
// what acts on what is decided there.
func (a *App) base() (dialog.Box, func(dialog.Decision) tea.Cmd) {
	switch {
	case a.panel != nil:
		return a.panel.box, nil
	case a.fleet != nil:
		return a.fleet.box, a.enterFleet
	}
	return nil, nil
}

// preview is what a row of a panel stands for: some facts, and a text below them.
type preview struct {
	theme *themes.Theme
	now   func() time.Time
	facts []fact
	view  *transcript.View
	what  string // it is what is shown in a row's place; "": the row itself
	of    string // what view shows
	tail  int64  // the agent whose last lines show in view's place; 0: none
	last  func(id int64, w, h int) []string
}

// fact is a line above the text; without a label it stands for itself.
type fact struct {
	label, text string
	at          time.Time // its age stands behind the text, if there is one,
	rest        string    // and this behind that
	role        themes.Role
	most        int // lines; 0: one
}

func newPreview(t *themes.Theme, now func() time.Time) *preview {
	return &preview{theme: t, now: now, view: transcript.New(t, now)}
}

// answer shows markdown below the facts; plain shows text as it is.
func (p *preview) answer(markdown string) {
	p.of = markdown
	p.view.Answer(markdown, false)
}

func (p *preview) plain(text string) {
	p.of = text
	p.view.Text(text)
}

// keeps reports whether p shows the text that another one does.
func (p *preview) keeps(other *preview) bool {
	return p.of == other.of && p.what == other.what && p.theme == other.theme
}

func (p *preview) add(label, text string) {
	p.facts = append(p.facts, fact{label: label, text: text, role: themes.Text})
}

// factCols is the width of the labels.
const factCols = 8

func (p *preview) Lines(w, h int) []string {
	var out []string
	for _, f := range p.facts {
		label, room := "", w
		if f.label != "" {
			label, room = frame.Fit(f.label, factCols), w-factCols
		}
		text := f.text
		if !f.at.IsZero() {
			text += inbox.Age(p.now().Sub(f.at)) + " ago" + f.rest
		}
		rows := frame.Wrap(frame.CleanLine(text), max(8, room))
		if most := max(1, f.most); len(rows) > most {
			rows = rows[:most]
			rows[most-1] = frame.Cut(rows[most-1]+"…", room)
		}
		for i, l := range rows {
			if i > 0 && label != "" {
				label = frame.Spaces(factCols)
			}
			out = append(out, p.theme.Paint(themes.Dim, label)+p.theme.Paint(f.role, frame.Cut(l, room)))
		}
	}
	if most := max(1, h*2/5); len(out) > most {
		out = out[:most]
	}
	if len(out) > 0 && len(out) < h-1 {
		out = append(out, p.theme.Paint(themes.Rule, "────"))
	}
	if rest := h - len(out); rest > 0 {
		if p.tail != 0 {
			return append(out, p.last(p.tail, w, rest)...)
		}
		out = append(out, p.view.Lines(w, rest)...)
	}
	return out
}

func (p *preview) Scroll(lines int) { p.view.Scroll(lines) }
