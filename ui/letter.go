package ui

import (
	"context"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
	"fantail/ui/words"
)

// openMessages opens the original of a message, or lets the human pick one of several.
func (a *App) openMessages(t *tabs.Tab, ids []int64) tea.Cmd {
	if len(ids) == 1 {
		return a.openMessage(intent.Message{Agent: t.Info.ID, ID: ids[0]})
	}
	var items []dialog.Item
	for _, id := range ids {
		n := strconv.FormatInt(id, 10)
		items = append(items, dialog.Item{Value: n, Label: "#" + n})
	}
	a.layers.Open(dialog.NewPicker(a.theme, "Open a message", items, false), func(d dialog.Decision) intent.Intent {
		p, ok := d.(dialog.Picked)
		id, err := strconv.ParseInt(p.Value, 10, 64)
		if !ok || err != nil {
			return nil
		}
		return intent.Message{Agent: t.Info.ID, ID: id}
	})
	return nil
}

// openMessage shows a message whole, over everything; where something else was opened
// meanwhile it says so instead.
func (a *App) openMessage(m intent.Message) tea.Cmd {
	names := map[int64]string{}
	for _, x := range a.tabs.All {
		names[x.Info.ID] = x.Info.Name
	}
	theme, w, id := a.theme, a.w, m.ID
	return a.actions.do(intent.Do{Agent: m.Agent, Command: m.Command, F: func(ctx context.Context) (intent.Intent, error) {
		m, ok, err := a.pool.Message(ctx, id)
		if err == nil && !ok {
			err = fmt.Errorf("there is no message #%d; /inbox lists those that wait", id)
		}
		if err != nil {
			return nil, err
		}
		thread, err := a.pool.Thread(ctx, id)
		if err != nil {
			return nil, err
		}
		title := fmt.Sprintf("#%d from %s", m.ID, words.From(m))
		return intent.Open{
			Box:  dialog.NewReader(theme, title, panel.LetterFacts(m, thread, names, a.o.Now()), panel.LetterText(m), w),
			What: fmt.Sprintf("message #%d", id),
		}, nil
	}})
}
