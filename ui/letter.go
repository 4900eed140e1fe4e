package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/inbox"
	"fantail/ui/dialog"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// openMessages opens the original of a message, or lets the human pick one of several.
func (a *App) openMessages(t *tabs.Tab, ids []int64) tea.Cmd {
	if len(ids) == 1 {
		return a.openMessage(t, ids[0], "")
	}
	var items []dialog.Item
	for _, id := range ids {
		n := strconv.FormatInt(id, 10)
		items = append(items, dialog.Item{Value: n, Label: "#" + n})
	}
	a.open(dialog.NewPicker(a.theme, "Open a message", items, false), func(d dialog.Decision) tea.Cmd {
		p, ok := d.(dialog.Picked)
		id, err := strconv.ParseInt(p.Value, 10, 64)
		if !ok || err != nil {
			return nil
		}
		return a.openMessage(t, id, "")
	})
	return nil
}

// openMessage shows a message whole, over everything; where something else was
// opened meanwhile it says so instead. back is what was typed for it.
func (a *App) openMessage(t *tabs.Tab, id int64, back string) tea.Cmd {
	names := map[int64]string{}
	for _, x := range a.tabs.All {
		names[x.Info.ID] = x.Info.Name
	}
	theme, w := a.theme, a.w
	return a.then(t, back, func() (tea.Msg, error) {
		m, ok, err := a.pool.Message(a.ctx, id)
		if err == nil && !ok {
			err = fmt.Errorf("there is no message #%d; /inbox lists those that wait", id)
		}
		if err != nil {
			return nil, err
		}
		thread, err := a.pool.Thread(a.ctx, id)
		if err != nil {
			return nil, err
		}
		box := dialog.NewReader(theme, fmt.Sprintf("#%d from %s", m.ID, words.From(m)), letterFacts(m, thread, names, a.o.Now()), letterText(m), w)
		return offered{fmt.Sprintf("message #%d", id), func() { a.open(box, nil) }}, nil
	})
}

// letterFacts are what is known of a message beside its text.
func letterFacts(m inbox.Message, thread []inbox.Message, names map[int64]string, now time.Time) []dialog.Row {
	var rows []dialog.Row
	add := func(label, text string) {
		if strings.TrimSpace(text) != "" {
			rows = append(rows, dialog.Row{Left: label, Right: text})
		}
	}
	add("from", words.From(m))
	add("to", names[m.Recipient])
	add("sent", m.Created.In(now.Location()).Format("Mon 2 Jan 2006 15:04:05")+", "+inbox.Age(now.Sub(m.Created))+" ago")
	add("is", m.Nature())
	add("tags", m.Labels())
	add("about", inbox.Label(m.Subject))
	if m.InReplyTo != 0 {
		add("reply to", fmt.Sprintf("#%d", m.InReplyTo))
	}
	add("thread", threadLine(m.ID, thread))
	for _, f := range []struct {
		is   bool
		word string
	}{{m.Pinned, "pinned"}, {m.Muted, "its thread is muted"}} {
		if f.is {
			add("mark", f.word)
		}
	}
	fate := m.Fate()
	if !m.Taken.IsZero() {
		fate += ", " + inbox.Age(now.Sub(m.Taken)) + " ago"
	}
	add("became", fate)
	add("size", transcript.Size(len(m.Text())))
	return rows
}

// letterText is all that a message says.
func letterText(m inbox.Message) string {
	if m.Subject != "" && inbox.Label(m.Subject) != strings.TrimSpace(m.Subject) { // the row shows its beginning
		return "About:\n" + m.Subject + "\n\n" + m.Text()
	}
	return m.Text()
}
