package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
	"fantail/ui/term"
	"fantail/ui/transcript"
)

// Init requests what the first frame does not need.
func (a *App) Init() tea.Cmd {
	return tea.Batch(term.AskBackground, a.reader.branch())
}

// Update handles one message. It draws a change once, here, so that View only returns the frame.
func (a *App) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	cmd := a.handle(m)
	a.dirty = a.asks.Attend(m) || a.dirty
	switch m.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, tea.MouseWheelMsg, tea.FocusMsg:
		cmd = tea.Batch(cmd, a.act(a.notice.Here()))
	}
	switch m.(type) {
	case tea.KeyPressMsg, tea.PasteMsg:
		cmd = tea.Batch(cmd, a.act(a.drafts.Touched()))
	}
	a.tellPresence(m)
	a.actions.begin() // the pool knows by now that the box that held the command is empty
	if a.dirty || a.flash.Fresh() || a.layers.Fresh() {
		cmd = tea.Batch(cmd, a.draw())
		a.asks.Drawn()
	}
	return a, cmd
}

// tellPresence tells the pool where the human is.
func (a *App) tellPresence(m tea.Msg) {
	if a.human == nil {
		return
	}
	switch m.(type) {
	case tea.KeyPressMsg, tea.PasteMsg:
		a.human.Pressed(a.o.Now())
	}
	if t := a.tabs.Focus; t != nil {
		a.human.Looks(t.Info.ID)
	}
	for _, t := range a.tabs.All {
		if t.Box == nil {
			break // tabs with a box come first
		}
		a.human.Drafts(t.Info.ID, !t.Box.Empty())
	}
}

func (a *App) handle(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.KeyPressMsg:
		a.dirty = true
		return a.key(m)
	case news:
		return a.takeNews(m)
	case tea.PasteMsg:
		a.asks.Paste(m.Content)
		a.dirty = true
	case tea.MouseWheelMsg:
		if a.wheel.turn(m) {
			return a.roll()
		}
	case tea.MouseClickMsg:
		return a.click(m)
	case tea.WindowSizeMsg:
		a.w, a.h, a.dirty = m.Width, m.Height, true
	case tea.BackgroundColorMsg:
		a.background(m.IsDark())
	case tea.FocusMsg:
		a.notice.Focus()
		a.dirty = true
	case tea.BlurMsg:
		a.notice.Blur()
	case tea.ResumeMsg:
		a.dirty = true
	case suspended:
		return a.suspend()
	case stalled:
		a.stalled = true
		a.notice.Absent()
		if a.human != nil {
			a.human.Absent()
		}
	case flows:
		a.stalled = false
		a.asks.Back()
		a.notice.Back()
		if a.human != nil {
			a.human.Back()
		}
	case attached:
		return a.attach(m.pool)
	case told:
		a.welcome.Model(m.start)
		a.dirty = true
	case []Way:
		a.welcome.Ways(m)
		a.dirty = true
	case lacks:
		a.welcome.Lacks(m.text)
		a.dirty = true
	case Opening:
		a.takeOpening(m)
	case paged:
		return a.page(m)
	case factsRead:
		return a.takeFacts(m)
	case rendered:
		soon := !a.drawn.next.IsZero() && a.drawn.next.Sub(a.o.Now()) <= blink
		for _, d := range m.done {
			a.dirty = m.view.Rendered(d) || !soon || a.dirty
		}
	case branched:
		a.dirty = a.dirty || a.branch != m.name
		a.branch = m.name
	case listed:
		a.reader.files = m.files
		a.refreshBox()
	case known:
		a.reader.documents = m.documents
		a.refreshBox()
	case returned:
		a.away = false
		a.asks.Back()
		return a.handle(m.with)
	case done:
		a.report(m)
	case wanted:
		return a.act(m.intent)
	case noted:
		a.flash.Say(m.text)
	case ticked:
		if m.at.Equal(a.drawn.next) {
			a.drawn.next = time.Time{}
		}
		if a.o.Now().Sub(a.drawn.at) < feedRest {
			return tea.Batch(a.jobs(), a.tick()) // the moving parts have just been drawn
		}
		a.dirty = true
	case rolled:
		return a.roll()
	}
	return nil
}

// attach takes the pool. Its first news is its current state.
func (a *App) attach(p *agents.Pool) tea.Cmd {
	a.asks.SetMode = a.pool.SetMode
	a.use(p)
	a.feed.began = a.o.Now().Truncate(time.Millisecond)
	a.notice.Attach(p, a.feed.began)
	a.human = p.Arrive()
	a.human.Pressed(a.o.Now()) // a human has just started the program
	a.feed.source, a.feed.was = p.Subscribe()
	a.o.Go("feed", a.feed.follow)
	return a.act(intent.All{a.drafts.Load(), a.drafts.Offered(p.Drafts.Arrive())})
}

// others returns how many other screens show the same agents.
func (a *App) others() int {
	if a.human == nil {
		return 0
	}
	return a.human.Others()
}

// use gives the pool to every part that needs it.
func (a *App) use(p *agents.Pool) {
	a.pool, a.reader.pool, a.sender.pool, a.boards.Pool = p, p, p, p
	a.asks.Answer, a.boards.Inbox = p.Asks.Answer, panel.MessagesOf(p)
	if f := a.boards.fleet(); f != nil { // it was opened before
		f.Pool = p
	}
	if f := a.boards.fan(); f != nil {
		f.Pool, f.Inbox = p, a.boards.Inbox
	}
	if t := a.boards.clock(); t != nil {
		t.Pool = p
	}
}

// refreshBox has the prompt box complete its word again.
func (a *App) refreshBox() {
	a.dirty = true
	if box := a.tabs.Typing(); box != nil {
		box.Refresh()
	}
}

// goWanted goes to the tab that was requested, once it exists.
func (a *App) goWanted() tea.Cmd {
	t := a.tabs.ByID(a.wanted)
	if a.wanted == 0 || t == nil {
		return nil
	}
	a.wanted = 0
	a.tabs.To(t)
	return a.shown()
}

// takeNews applies the pool's events.
func (a *App) takeNews(m news) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range m.events {
		if c := a.apply(e); c != nil {
			cmds = append(cmds, c)
		}
	}
	return tea.Batch(cmds...)
}

// report shows the result of an action.
func (a *App) report(m done) {
	a.dirty = true
	to := a.tabs.ByID(m.agent)
	t := to
	if t == nil {
		t = a.tabs.Focus
	}
	if m.agent == 0 {
		to = t
	}
	if t == nil {
		a.flash.Say(m.text)
		return
	}
	if m.text != "" {
		a.answer(t, m.command, m.text, m.tone)
	}
	if m.back != "" {
		a.drafts.Give(to, m.back)
	}
}

// background picks the theme for the terminal's background, unless the human chose one.
func (a *App) background(dark bool) {
	if a.look.chosen {
		return
	}
	if t, err := themes.Load(themes.Default(dark), a.look.noColor); err == nil {
		a.setTheme(t)
	}
}

// takeOpening applies what the opening of the workspace found.
func (a *App) takeOpening(o Opening) {
	a.dirty = true
	a.welcome.Open(o)
	a.rail.hidden = o.Rail == agents.Hidden
	if o.Theme != "" {
		if t, err := themes.Load(o.Theme, a.look.noColor); err != nil {
			a.flash.Say(format.Sentence(fmt.Errorf("the chosen theme %s can't be used: %w", o.Theme, err)))
		} else {
			a.look.chosen = true
			a.setTheme(t)
		}
	}
	a.welcome.Tell()
}

func (a *App) setTheme(t *themes.Theme) {
	a.dirty = true
	t = a.look.fit(t)
	a.notice.Theme = t
	a.tabs.SetTheme(t)
	a.boards.Theme = t
	if p := a.boards.panel(); p != nil {
		p.SetTheme(t)
	}
	if f := a.boards.fan(); f != nil {
		f.SetTheme(t)
	}
	if c := a.boards.clock(); c != nil {
		c.SetTheme(t)
	}
}

// blink is how long a spinner shows one of its signs.
const blink = 100 * time.Millisecond

// tick schedules the next redraw of things that move: ten times a second for a spinner, once a
// second for a clock, once a minute for a clock of minutes or while the human looks elsewhere,
// never if nothing moves.
func (a *App) tick() tea.Cmd {
	now, every := a.o.Now(), time.Duration(0)
	within := func(d time.Duration) {
		if d > 0 && (every == 0 || d < every) {
			every = d
		}
	}
	for _, s := range a.drawn.tabs {
		if t := a.tabs.ByID(s.ID); t != nil {
			within(format.Turns(t.Info, t.Active, now))
		}
	}
	within(a.boards.turns())
	if t := a.tabs.Focus; t != nil && a.layers.Base() == nil {
		within(t.At().Ages())
		if t.Info.Retry != nil || t.Panes.At == tabs.Info && format.Working(t.Info.State) {
			within(time.Second)
		}
		if t.At().Unseen() != "" {
			within(time.Second)
		}
		if t.At().Animating() {
			within(blink)
		}
	}
	if every > 0 && a.notice.Blurred() {
		every = max(every, time.Minute) // enough for a human who looks elsewhere to see that it lives
	}
	if left, ok := a.asks.Opens(); ok {
		within(max(left, time.Millisecond))
	}
	if left, ok := a.flash.Left(); ok {
		within(max(left, time.Millisecond))
	}
	within(a.drawn.waits)
	within(a.rail.turns)
	at := now.Add(every)
	if every == 0 || !a.drawn.next.IsZero() && !at.Before(a.drawn.next) {
		return nil
	}
	a.drawn.next = at
	return a.later(every, ticked{at})
}

// later returns m after d, unless the screen has ended by then.
func (a *App) later(d time.Duration, m tea.Msg) tea.Cmd {
	t := time.NewTimer(d)
	return func() tea.Msg {
		defer t.Stop()
		select {
		case <-t.C:
			return m
		case <-a.ctx.Done():
			return nil
		}
	}
}

// tell shows a text of the program in a tab's transcript, and switches the tab to it.
func (a *App) tell(t *tabs.Tab, text string, tone transcript.Tone) { a.answer(t, "", text, tone) }

// answer is tell for the result of a command.
func (a *App) answer(t *tabs.Tab, command, text string, tone transcript.Tone) {
	t.View.Said(command, text, tone)
	t.Panes.At = tabs.Transcript
	a.dirty = true
}
