package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
)

// The limits of a fork's snapshot of its parent.
const (
	snapshotTokens  = 4_000
	snapshotEntries = 400 // entries searched
)

// snapshot returns the end of an agent's conversation: prompts, answers, titles of calls, and which
// messages arrived. It holds the newest items that fit, each whole.
func (f *Forks) snapshot(ctx context.Context, of event.Info) (string, error) {
	var entries []history.Entry
	err := f.o.DB.Read(ctx, func(rx *store.Rx) error {
		after, err := history.SentFrom(rx, of.ID)
		if err != nil {
			return err
		}
		rows, err := rx.EntriesBefore(of.ID, 0, snapshotEntries)
		entries = slices.DeleteFunc(history.DecodeAll(rows), func(e history.Entry) bool { return e.Seq <= after })
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read what %s did last: %w", of.Name, err)
	}
	gone := history.Withdrawn(entries)
	var lines []string
	room, more := snapshotTokens, false
	for _, e := range slices.Backward(entries) {
		line := ""
		if !gone[e.Seq] {
			line = glimpse(of, e)
		}
		if line == "" {
			continue
		}
		if need := history.Tokens(line) + 1; need > room {
			if more = true; len(lines) == 0 { // even the newest item is too long
				lines = append(lines, history.Fit(line, history.BytesOf(room)-200))
			}
			break
		} else {
			room -= need
		}
		lines = append(lines, line)
	}
	switch {
	case more:
		lines = append(lines, "(what was said before is left out)")
	case len(lines) == 0:
		lines = append(lines, "(nothing was said yet)")
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n"), nil
}

// glimpse returns an entry as a snapshot shows it; "": it does not show it.
func glimpse(of event.Info, e history.Entry) string {
	said := func(who, text string) string { return "[" + who + "] " + strings.TrimSpace(text) }
	switch {
	case len(e.Messages) > 0:
		var came []string
		for _, m := range e.Messages {
			came = append(came, fmt.Sprintf("#%d from %s", m.ID, m.By()))
		}
		return said("mail", strings.Join(came, ", "))
	case e.Kind == history.EntryPrompt && of.Kind.Tasked() && e.By != "user":
		return said("task", e.Text)
	case e.Kind == history.EntryPrompt:
		return said("user", e.Text)
	case e.Kind == history.EntryText:
		return said(of.Name, e.Text)
	case e.Kind == history.EntryCall && e.Call != nil:
		return said("tool", e.Call.Title)
	case e.Kind == history.EntryShell && e.Shell != nil:
		return said("user ran", inbox.Label(e.Shell.Command))
	case e.Kind == history.EntrySummary:
		return said("summary of what was said before", e.Text)
	}
	return ""
}
