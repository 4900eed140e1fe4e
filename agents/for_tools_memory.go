package agents

import (
	"context"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
)

// Memory connects the tool of that name to the documents.
func (d toolAgents) Memory(ctx context.Context, m tools.Memory) (string, error) {
	switch m.Action {
	case "list":
		ds, err := d.p.Memory.List(ctx)
		return d.listed(ds), err
	case "read":
		return d.recall(ctx, m.Name, m.Offset)
	}
	var version, size int
	err := d.l.Keep(ctx, "write a memory document", func(tx *store.Tx) (err error) {
		text := m.Text
		if m.Action == "append" {
			if text, err = appended(tx, m); err != nil {
				return err
			}
		}
		size = len(text)
		version, err = history.WriteDocumentAs(tx, history.Document{Agent: d.l.Agent.ID, Text: text}, m.Name, m.Expect)
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote #mem-%s: version %d, %d bytes.", strings.TrimPrefix(m.Name, "#mem-"), version, size), nil
}

// appended returns a document with m's text added at its end, on a new line.
func appended(tx *store.Tx, m tools.Memory) (string, error) {
	name, part, err := history.ParseTitle(m.Name)
	if err != nil {
		return "", err
	}
	now, _, err := tx.Memory(name, part, 0)
	if now.Text != "" && !strings.HasSuffix(now.Text, "\n") {
		now.Text += "\n"
	}
	return now.Text + m.Text, err
}

// listed returns the list of documents for a model.
func (d toolAgents) listed(ds []history.Document) string {
	if len(ds) == 0 {
		return "No memory document was written yet."
	}
	const most = 200
	var b strings.Builder
	b.WriteString("Memory documents:")
	for i, x := range ds {
		if i == most {
			fmt.Fprintf(&b, "\n(and %d more)", len(ds)-most)
			break
		}
		fmt.Fprintf(&b, "\n- #mem-%s · version %d · %d bytes · by %s, %s ago",
			history.TitleOf(x), x.Version, x.Size, history.DocumentAuthor(x), inbox.Age(d.p.o.Now().Sub(x.Created)))
	}
	return b.String()
}

// recall returns a document from a byte offset on.
func (d toolAgents) recall(ctx context.Context, title string, offset int) (string, error) {
	x, ok, err := d.p.Memory.Get(ctx, title, 0)
	if err != nil {
		return "", err
	}
	var known, parts []history.Document
	if !ok || x.Part == "" {
		if known, err = d.p.Memory.List(ctx); err != nil {
			return "", err
		}
	}
	for _, k := range known {
		if k.Name == x.Name && k.Part != "" && x.Part == "" {
			parts = append(parts, k)
		}
	}
	more := ""
	if len(parts) > 0 {
		more = "It has parts: " + history.Titles(parts) + "."
	}
	switch {
	case !ok && len(parts) == 0:
		return "", fmt.Errorf("%s", history.NoDocument(title, known))
	case !ok:
		return fmt.Sprintf("#mem-%s has no text of its own. %s", x.Name, more), nil
	case offset < 0 || offset > len(x.Text):
		return "", fmt.Errorf("#mem-%s has %d bytes; the offset %d is not in it", history.TitleOf(x), len(x.Text), offset)
	}
	piece := inbox.Document{Name: history.TitleOf(x), By: x.By, Version: x.Version, Created: x.Created, Text: x.Text}.
		Piece(offset, history.BytesOf(min(history.ItemTokens, d.l.Agent.Book().Room())))
	return strings.TrimSuffix(inbox.NewRendering(d.p.o.Now(), 0).Document(piece)+"\n"+more, "\n"), nil
}
