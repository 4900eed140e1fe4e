package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/memory"
	"fantail/ui/composer"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// wantDocuments lists the documents when a `#` is typed, or the arguments of
// /memory begin.
func (a *App) wantDocuments(k tea.KeyPressMsg, box *composer.Box) tea.Cmd {
	if a.pool == nil || k.Text != "#" && (k.Text != " " || !strings.HasPrefix(box.Value(), "/memory ")) {
		return nil
	}
	return a.readDocuments
}

func (a *App) readDocuments() tea.Msg {
	ds, err := a.pool.slash.Memory.List(a.ctx)
	if err != nil {
		return done{text: words.Sentence(err), tone: transcript.Bad}
	}
	return known{ds}
}

// showDocument shows a memory document in a tab.
func (a *App) showDocument(m intent.Document) {
	t := a.tabs.ByID(m.Agent)
	if t == nil {
		return
	}
	a.dirty = true
	d := m.Document
	t.View.Document(agents.Recall{Title: memory.Title(d), Version: d.Version, Size: d.Size, By: d.By}, d.Text)
	t.Panes.At = tabs.Transcript
}
