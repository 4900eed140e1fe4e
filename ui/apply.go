package ui

import (
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// apply applies an event to the screen. Entries of a page that was read are applied in the same way
// as new ones.
func (a *App) apply(e event.Event) tea.Cmd {
	a.dirty = true
	if p := a.boards.panel(); p != nil {
		p.Note(e)
	}
	if t := a.boards.clock(); t != nil {
		t.Note(e)
	}
	a.boards.waiting.Note(e)
	switch e.(type) {
	case event.Delta, event.Output, event.Appended, event.Void:
	default:
		a.rail.news++
	}
	switch e := e.(type) {
	case event.Changed:
		return a.change(e.Info)
	case event.Tally:
		a.tally.told = e
		if a.tally.asked > 0 {
			e.Mode, e.Coming = a.tally.Mode, a.tally.Coming
		}
		a.tally.Tally = e
		return a.act(a.notice.Quiet(e.Quiet))
	case event.Mailed:
		return a.act(a.notice.Mailed(a.tabs.ByID(e.Agent)))
	case event.Closed:
		return a.closed(e.Agent)
	case event.Trouble:
		a.troubled(e.Err)
	case event.Appended:
		if t := a.tabs.ByID(e.Agent); t != nil {
			t.Active = a.o.Now()
			t.Apply(e)
			a.heard(t, e)
			return tea.Batch(a.reader.branchAfter(e.Entries), a.reader.facts(t))
		}
	case event.Delta:
		if t := a.tabs.ByID(e.Agent); t != nil {
			t.Heard(len(e.Text))
			t.Apply(e)
			a.heard(t, e)
		}
	case event.Void:
		if t := a.tabs.ByID(e.Agent); t != nil {
			t.Apply(e)
			a.heard(t, e)
		}
	case event.Output:
		if t := a.tabs.ByID(e.Agent); t != nil {
			t.Heard(len(e.Tail) - strings.LastIndexByte(e.Tail, '\n')) // its newest line, at least
			t.View.Output(e)
			a.heard(t, e)
		}
	}
	return nil
}

// change applies an agent's new Info, and opens the agent's tab if it is new.
func (a *App) change(i event.Info) tea.Cmd {
	t := a.tabs.ByID(i.ID)
	if t == nil && i.Kind.Nature().Stays {
		t = a.tabs.ByID(0)
	}
	was, witnessed := event.Info{}, !i.Created.Before(a.feed.began) // the agent was created after this screen attached
	if t != nil {
		was, witnessed = t.Info, true
	} else {
		t = a.newTab(i)
		a.tabs.Add(t)
	}
	a.arrived(t, i)
	if t == a.tabs.Focus && i.State.Terminal() && (format.Working(t.Info.State) || format.Awaits(t.Info)) {
		after := "until /close"
		if i.Kind.Fleeting() {
			after = "until you leave it"
		}
		a.flash.While(i.Name+" has ended ("+string(i.Outcome)+"). Its tab stays "+after, a.tabs.Stays(t))
	}
	a.tabs.Note(t, i)
	if t.Box != nil && was.Name != i.Name {
		t.Box.Invite(invitation(i.Name))
	}
	if i.Active.After(t.Active) {
		t.Active = i.Active
	}
	t.View.SetInfo(i)
	if above := a.tabs.ByID(i.Parent); above != nil && i.Task != 0 {
		above.View.SetChild(i)
	}
	a.asks.Lower(i)
	if i.Question == nil || i.Question.ID != t.About {
		a.asks.Give(t)
	}
	cmds := []tea.Cmd{a.shown(), a.goWanted(), a.act(a.sender.early()), a.act(a.notice.Changed(was, i))}
	cmds = append(cmds, a.act(a.sender.opened(t)))
	if witnessed {
		cmds = append(cmds, a.act(a.notice.CallFor(was, i)))
	}
	return tea.Batch(cmds...)
}

// heard shows what an agent says in the tab of the agent waiting for it.
func (a *App) heard(t *tabs.Tab, e event.Event) {
	if above := a.tabs.ByID(t.Info.Parent); above != nil && above.Info.Delegated > 0 {
		above.View.ChildSays(t.Info.Task, e)
	}
}

// closed removes a tab. If the human was looking at it, it says which tab is shown now.
func (a *App) closed(id int64) tea.Cmd {
	t, was := a.tabs.ByID(id), a.tabs.Focus
	a.tabs.Remove(id)
	if t != nil {
		a.drafts.Closed(t)
		a.asks.Give(t)
		a.asks.Lower(event.Info{ID: id, Name: t.Info.Name})
	}
	if t != nil && t == was && a.tabs.Focus != nil {
		a.flash.While("the tab of "+t.Info.Name+" was closed; this is "+a.tabs.Focus.Info.Name, a.tabs.Stays(a.tabs.Focus))
	}
	if t != nil && t != was && t.Info.Kind.Handles() && t.Info.State == event.Done && a.flash.Text() == "" && !a.tally.Quiet.On {
		a.flash.Say(t.Info.Name + " has handled message #" + strconv.FormatInt(t.Info.Handles, 10))
	}
	return a.shown()
}

func (a *App) newTab(i event.Info) *tabs.Tab {
	t := a.tabs.Make(i)
	if i.Kind.HasPrompt() {
		t.Box = a.drafts.Box()
		t.Box.Invite(invitation(i.Name))
	}
	return t
}

// invitation says what can be typed into an agent's empty box.
func invitation(name string) string {
	return "Ask " + name + ", & for a new agent, / for commands, @ for files"
}

// page shows a page of a transcript.
func (a *App) page(p paged) tea.Cmd {
	t := a.tabs.ByID(p.agent)
	if t == nil {
		return nil
	}
	a.dirty = true
	if p.err != nil {
		t.Asked = t.Loaded
		a.tell(t, format.Sentence(p.err), transcript.Bad)
		return nil
	}
	if p.before != 0 {
		t.View.Prepend(p.entries, len(p.entries) == pageSize)
		return nil
	}
	t.ShowPage(p.entries)
	if t.Info.Kind.Nature().Stays {
		a.welcome.Tell()
		return tea.Batch(a.reader.facts(t), a.act(a.notice.Digest(time.Time{})), a.act(a.notice.Urgent()))
	}
	return a.reader.facts(t)
}

// shown reads the focused tab's transcript if that is missing.
func (a *App) shown() tea.Cmd {
	a.dirty = true
	return a.reader.transcript(a.tabs.Focus)
}

func (a *App) takeFacts(m factsRead) tea.Cmd {
	t := a.tabs.ByID(m.agent)
	if t == nil {
		return nil
	}
	a.dirty = true
	t.TakeFacts(m.facts, m.err)
	if m.err != nil {
		a.flash.Say(format.Sentence(m.err))
		return nil
	}
	return a.reader.facts(t)
}

// troubled reports in main's transcript what has happened to the database's files.
func (a *App) troubled(err error) {
	text, tone := "The database's files are in their places again.", transcript.Plain
	if err != nil {
		text, tone = format.Sentence(err), transcript.Bad
		a.flash.Say(text)
	}
	if t := a.tabs.Main(); t != nil {
		a.tell(t, text, tone)
	}
}

// showDocument shows a memory document in a tab.
func (a *App) showDocument(m intent.Document) {
	t := a.tabs.ByID(m.Agent)
	if t == nil {
		return
	}
	a.dirty = true
	d := m.Document
	t.View.Document(history.Recall{Title: history.TitleOf(d), Version: d.Version, Size: d.Size, By: d.By}, d.Text)
	t.Panes.At = tabs.Transcript
}
