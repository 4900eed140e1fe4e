package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/ui/composer"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// pageSize is how many entries a page of a transcript has.
const pageSize = 100

// apply brings the screen up to an event. Live and replay go the same way: a
// page's entries are applied as if they had just been appended.
func (a *App) apply(e agents.Event) tea.Cmd {
	a.dirty = true
	a.noteInPanel(e)
	switch e := e.(type) {
	case agents.Changed:
		return a.change(e.Info)
	case agents.Tally:
		was := a.tally.Quiet
		a.tally = e
		switch {
		case e.Quiet.On && !was.On:
			a.calls.quiet = a.o.Now()
		case was.On && !e.Quiet.On:
			return a.callAfterQuiet(was)
		}
	case agents.Mailed:
		if t := a.tabs.byID(e.Agent); t != nil && t.info.Kind.HasPrompt() && t.info.Urgent+len(a.pressing.all) > 0 {
			return a.askUrgent()
		}
	case agents.Closed:
		return a.closed(e.Agent)
	case agents.Appended:
		if t := a.tabs.byID(e.Agent); t != nil {
			t.active = a.o.Now()
			a.entered(t, e)
			a.heard(t, e)
			return tea.Batch(a.lookAtBranch(e.Entries), a.readFacts(t))
		}
	case agents.Delta:
		if t := a.tabs.byID(e.Agent); t != nil {
			t.active = a.o.Now()
			a.entered(t, e)
			a.heard(t, e)
		}
	case agents.Void:
		if t := a.tabs.byID(e.Agent); t != nil {
			a.entered(t, e)
			a.heard(t, e)
		}
	case agents.Output:
		if t := a.tabs.byID(e.Agent); t != nil {
			t.active = a.o.Now()
			t.view.Output(e)
			a.heard(t, e)
		}
	}
	return nil
}

// change notes what is known of an agent, opening its tab if it is new.
func (a *App) change(i agents.Info) tea.Cmd {
	t := a.tabs.byID(i.ID)
	if t == nil && i.Kind == agents.Main {
		t = a.tabs.byID(0)
	}
	was, witnessed := agents.Info{}, !i.Created.Before(a.began) // from its beginning
	if t != nil {
		was, witnessed = t.info, true
	} else {
		t = a.newTab(i)
		a.tabs.add(t)
	}
	a.arrived(t, i)
	if t == a.tabs.focus && i.State.Terminal() && words.Working(t.info.State) {
		after := "until /close"
		if i.Kind == agents.Fork {
			after = "until you leave it"
		}
		a.sayWhile(i.Name+" has ended ("+string(i.Outcome)+"); its tab stays "+after, a.stays(t))
	}
	a.tabs.note(t, i)
	if i.Active.After(t.active) {
		t.active = i.Active
	}
	t.view.SetInfo(i)
	if above := a.tabs.byID(i.Parent); above != nil && i.Task != 0 {
		above.view.SetChild(i)
	}
	a.lower(i)
	if i.Question == nil {
		t.question, t.about = nil, 0
	}
	var calls tea.Cmd
	if witnessed {
		calls = a.callFor(was, i)
	}
	return tea.Batch(a.shown(), a.goWanted(), a.sendEarly(), a.pressed(was, i), calls)
}

// heard shows what an agent says in the tab of the one that waits for it.
func (a *App) heard(t *tab, e agents.Event) {
	if above := a.tabs.byID(t.info.Parent); above != nil && above.info.Delegated > 0 {
		above.view.ChildSays(t.info.Task, e)
	}
}

// closed removes a tab. Whoever looked at it is told where they are now.
func (a *App) closed(id int64) tea.Cmd {
	t, was := a.tabs.byID(id), a.tabs.focus
	a.tabs.remove(id)
	if t != nil {
		a.lower(agents.Info{ID: id, Name: t.info.Name})
	}
	if t != nil && t == was && a.tabs.focus != nil {
		a.sayWhile("the tab of "+t.info.Name+" was closed; this is "+a.tabs.focus.info.Name, a.stays(a.tabs.focus))
	}
	if t != nil && t != was && t.info.Kind == agents.Fork && t.info.State == agents.Done && a.flash.text == "" && !a.tally.Quiet.On {
		a.say(t.info.Name + " has handled message #" + strconv.FormatInt(t.info.Handles, 10))
	}
	return a.shown()
}

func (a *App) newTab(i agents.Info) *tab {
	t := &tab{info: i, view: transcript.New(a.theme, a.o.Now)}
	if i.Kind.HasPrompt() {
		t.box = composer.New(a.theme, a.complete, "› ")
		t.box.SetHistory(a.past.texts)
	}
	return t
}

// entered shows what an event adds to a transcript. Until the tab's newest page
// is there it is kept; entries the page held are not shown again.
func (a *App) entered(t *tab, e agents.Event) {
	if !t.loaded {
		if t.asked {
			t.backlog = append(t.backlog, e)
		} else if _, ok := e.(agents.Delta); ok {
			t.backlog = append(t.backlog, e)
		} else if x, ok := e.(agents.Appended); ok && x.Live {
			t.backlog = nil // the page will hold it
		} else if _, ok := e.(agents.Void); ok {
			t.backlog = nil
		}
		return
	}
	switch e := e.(type) {
	case agents.Appended:
		es := e.Entries
		for len(es) > 0 && es[0].Seq <= t.newest {
			es = es[1:]
		}
		for _, x := range es {
			t.latest = max(t.latest, x.Seq)
		}
		t.view.Append(es, e.Live)
		t.panes.enter(es, e.Live)
	case agents.Delta:
		t.view.Delta(e)
		t.panes.stream(e)
	case agents.Void:
		t.view.Void()
		t.panes.void()
	}
}

// page shows a page that was read.
func (a *App) page(p paged) tea.Cmd {
	t := a.tabs.byID(p.agent)
	if t == nil {
		return nil
	}
	a.dirty = true
	if p.err != nil {
		t.asked = t.loaded
		a.tell(t, words.Sentence(p.err), transcript.Bad)
		return nil
	}
	if p.before != 0 {
		t.view.Prepend(p.entries, len(p.entries) == pageSize)
		return nil
	}
	t.loaded = true
	backlog := t.backlog
	t.backlog = nil
	a.entered(t, agents.Appended{Agent: p.agent, Entries: p.entries})
	if n := len(p.entries); n > 0 {
		t.newest = p.entries[n-1].Seq
	}
	for _, e := range backlog {
		a.entered(t, e)
	}
	if t.info.Kind == agents.Main {
		a.tellOpening()
		return tea.Batch(a.readFacts(t), a.askDigest(time.Time{}), a.askUrgent())
	}
	return a.readFacts(t)
}

// shown makes sure that the focused tab's transcript is there.
func (a *App) shown() tea.Cmd { return a.load(a.tabs.focus) }

// load makes sure that a tab's transcript is there.
func (a *App) load(t *tab) tea.Cmd {
	a.dirty = true
	if t == nil || t.asked || a.pool == nil {
		return nil
	}
	t.asked = true
	return a.readPage(t.info.ID, 0)
}

func (a *App) readPage(agent, before int64) tea.Cmd {
	p := a.pool
	return func() tea.Msg {
		es, err := p.Page(a.ctx, agent, before, pageSize)
		return paged{agent: agent, before: before, entries: es, err: err}
	}
}

// lookAtBranch reads the branch again after what may have changed it.
func (a *App) lookAtBranch(es []agents.Entry) tea.Cmd {
	for _, e := range es {
		if e.Kind == agents.EntryResult || e.Kind == agents.EntryShell || e.Kind == agents.EntryEnded {
			return a.readBranch()
		}
	}
	return nil
}

func (a *App) readBranch() tea.Cmd {
	return func() tea.Msg { return branched{a.o.Branch()} }
}
