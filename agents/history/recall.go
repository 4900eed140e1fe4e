package history

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents/llm"
	"fantail/inbox"
)

// A document that a prompt or a message names comes right after it, as an entry appended in the same transaction: once
// per turn, if it fits.

const (
	memoryTokens = 2_000 // of one document that was named
	maxRecalled  = 8     // documents that one entry adds
)

// Recall is what an EntryMemory holds besides its Text, which is the plain beginning of the document; the envelope is
// built when it is sent.
type Recall struct {
	Title   string    `json:"title"`
	Missing bool      `json:"missing,omitempty"` // there is no such document; Text says so
	Quoted  bool      `json:"quoted,omitempty"`  // a message named it, not a prompt
	Version int       `json:"version,omitempty"`
	Size    int       `json:"size,omitempty"` // bytes of the whole document
	By      string    `json:"by,omitempty"`   // "": the user
	Written time.Time `json:"written,omitzero"`
	Mark    string    `json:"mark,omitempty"`
	Parts   string    `json:"parts,omitempty"` // the titles of its parts
}

// names returns the documents that an entry's reader should get.
func (e Entry) names() []string {
	switch {
	case e.Kind == EntryPrompt:
		return NamedIn(e.Text)
	case len(e.Messages) == 0 || e.Kind == EntryMessage && e.Text == "": // there are none, or they are for the human only
		return nil
	}
	texts := make([]string, len(e.Messages))
	for i, m := range e.Messages {
		texts[i] = m.Text()
	}
	return NamedIn(texts...)
}

// recall appends the documents that the entry with number seq names, and says which did not fit. A name that only a
// message has comes from its sender: the host does not repeat it to a model unless there is such a document.
func (b *Batch) recall(turn, seq int64, named Entry) error {
	names := named.names()
	if len(names) == 0 {
		return nil
	}
	had, err := b.had()
	if err != nil {
		return err
	}
	limit := BytesOf(max(min(memoryTokens, b.room()/min(len(names), maxRecalled)), 50))
	n := 0
	var over []string
	for _, title := range names {
		if n == maxRecalled {
			over = append(over, "#mem-"+title)
			continue
		}
		e, err := b.entryOf(title, limit)
		if err != nil {
			return err
		}
		if had[e.key()] {
			continue
		}
		e.Behind, e.Memory.Quoted = seq, len(named.Messages) > 0
		if _, err := b.Add(turn, e); err != nil {
			return err
		}
		n++
	}
	if len(over) == 0 {
		return nil
	}
	const most = 20
	more := ""
	if len(over) > most {
		over, more = over[:most], fmt.Sprintf(" and %d more", len(over)-most)
	}
	others := ": " + strings.Join(over, ", ") + more
	if len(named.Messages) > 0 {
		others = ""
	}
	_, err = b.Add(turn, Entry{Kind: EntryHost, Behind: seq, Text: fmt.Sprintf(
		"Only %d memory documents come by themselves; the tool memory reads the others%s.", maxRecalled, others)})
	return err
}

// room returns how many tokens of documents an entry may add.
func (b *Batch) room() int {
	if b.writer.Room == nil {
		return SomeWindow / 4
	}
	return b.writer.Room()
}

// unknown is the text for a missing document that only a message names.
const unknown = "A memory document that the message above names does not exist; the tool memory lists those that do."

// key identifies one version of a document.
func (e Entry) key() string { return fmt.Sprintf("%s@%d", e.Memory.Title, e.Memory.Version) }

// had returns the documents that the agent got since its last turn ended, if they are still sent.
func (b *Batch) had() (map[string]bool, error) {
	since := int64(0)
	for _, kind := range []EntryKind{EntryEnded, EntryCleared, EntrySummary} {
		row, ok, err := b.tx.LastEntry(b.writer.Agent, string(kind))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		e := Decode(row)
		if kind == EntryEnded {
			since = max(since, e.Seq)
		}
		since = max(since, e.upTo())
	}
	had := map[string]bool{}
	given, err := b.tx.KindOf(b.writer.Agent, string(EntryMemory), since)
	if err != nil || len(given) == 0 {
		return had, err
	}
	back, err := b.tx.KindOf(b.writer.Agent, string(EntryWithdrawn), since)
	if err != nil {
		return nil, err
	}
	gone := Withdrawn(DecodeAll(append(given, back...)))
	for _, e := range DecodeAll(given) {
		if e.Memory != nil && !gone[e.Seq] {
			had[e.key()] = true
		}
	}
	return had, nil
}

// entryOf returns the entry for the document of that title, or an entry saying there is none.
func (b *Batch) entryOf(title string, limit int) (Entry, error) {
	e := Entry{Kind: EntryMemory, Memory: &Recall{Title: title}}
	name, part, err := ParseTitle(title)
	var d Document
	var parts []Document
	if err == nil {
		if d, _, err = b.tx.Memory(name, part, 0); err != nil {
			return e, err
		}
		if part == "" {
			if parts, err = Parts(&b.tx.View, name); err != nil {
				return e, err
			}
		}
	}
	if d.Text == "" && len(parts) == 0 {
		known, err := b.tx.Memories("")
		e.Memory.Missing, e.Text = true, NoDocument(title, known)
		return e, err
	}
	if len(parts) > 0 {
		e.Memory.Parts = Titles(parts)
	}
	if d.Text == "" {
		return e, nil
	}
	r := inbox.NewRendering(b.tx.Now(), 0)
	e.Memory.Version, e.Memory.Size, e.Memory.By, e.Memory.Written = d.Version, d.Size, d.By, d.Created
	e.Memory.Mark = r.Mark
	e.Text = inbox.Document{Name: title, Text: d.Text}.Piece(0, limit).Text
	return e, nil
}

// remind adds a document to the conversation, after what named it.
func (c *conversation) remind(e Entry) {
	if e.Memory == nil {
		return
	}
	switch {
	case e.Memory.Missing && e.Memory.Quoted:
		c.hear(unknown, llm.FromHost)
		return
	case e.Memory.Missing:
		c.hear(e.Text, llm.FromHost)
		return
	}
	if e.Text != "" {
		r := inbox.Rendering{Now: e.At, Mark: e.Memory.Mark}
		c.hear(r.Document(inbox.Document{
			Name: e.Memory.Title, By: e.Memory.By, Version: e.Memory.Version, Created: e.Memory.Written, Text: e.Text,
		}), llm.FromFile)
	}
	if e.Memory.Parts != "" {
		c.hear(fmt.Sprintf("The memory document #mem-%s has parts, which the tool memory reads: %s.",
			e.Memory.Title, e.Memory.Parts), llm.FromHost)
	}
}
