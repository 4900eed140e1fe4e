package history

import (
	"encoding/json"
	"fmt"

	"fantail/store"
	"fantail/tools/secret"
)

// Writer writes an agent's transcript.
type Writer struct {
	Agent int64
	Keys  *secret.Keys // removed from all entries; nil: only the store removes them

	// Room returns how many tokens of documents an entry may add; nil: as for a model with an unknown window.
	Room func() int

	Audit Auditor // nil: there is none

	// Tell is called after a commit with the entries it appended; live: they replace what was streamed. A commit hook
	// calls it, so it must not write. nil: off.
	Tell func(entries []Entry, live bool)
}

// Auditor is called with each entry in the transaction that appends it.
type Auditor func(tx *store.Tx, agent, turn int64, e Entry) error

// Batch begins a batch. Begin it before adding other commit hooks: they run in order, so feeds then get the entries
// first.
func (k Writer) Batch(tx *store.Tx) *Batch {
	b := &Batch{writer: k, tx: tx}
	b.tells(func() {
		if len(b.out) > 0 {
			k.Tell(b.out, false)
		}
	})
	return b
}

// LiveBatch is Batch for entries that replace what was streamed. Feeds are told even if there are none, so that they
// drop what they show.
func (k Writer) LiveBatch(tx *store.Tx) *Batch {
	b := &Batch{writer: k, tx: tx}
	b.tells(func() { k.Tell(b.out, true) })
	return b
}

// tells has tell called after the commit, if the writer has a Tell.
func (b *Batch) tells(tell func()) {
	if b.writer.Tell != nil {
		b.tx.AfterCommit(tell)
	}
}

// Batch is what one transaction appends to a transcript.
type Batch struct {
	writer Writer
	tx     *store.Tx
	out    []Entry
}

// Add appends e to the transcript; turn 0 means between turns. It records how many tokens messages take and what was
// spent on them, and appends the memory documents that e names.
func (b *Batch) Add(turn int64, e Entry) (int64, error) {
	keys := b.writer.Keys
	said := e.Text
	if e.withhold(keys); e.Text != said {
		e.Words = nil // the pieces on disk hold the text with the key
	}
	if len(e.Messages) > 0 {
		e.Tokens = Tokens(e.Text)
		if e.Result != nil {
			e.Tokens = Tokens(e.Result.Text)
		}
		if err := b.spent(&e); err != nil {
			return 0, err
		}
	}
	if b.writer.Audit != nil {
		if err := b.writer.Audit(b.tx, b.writer.Agent, turn, e); err != nil {
			return 0, err
		}
	}
	seq, err := b.append(turn, &e, keys)
	if err != nil {
		return 0, fmt.Errorf("append %s entry: %w", e.Kind, err)
	}
	e.Seq, e.Agent, e.Turn, e.At, e.Words = seq, b.writer.Agent, turn, b.tx.Now(), nil
	b.out = append(b.out, e)
	return seq, b.recall(turn, seq, e)
}

// spent records what was spent on the messages of e.
func (b *Batch) spent(e *Entry) error {
	if e.Kind != EntryMessage || len(e.Messages) < 2 {
		return nil
	}
	each, any := make([]Spent, len(e.Messages)), false
	for i, m := range e.Messages {
		if m.Turn == 0 {
			continue
		}
		t, ok, err := b.tx.Turn(m.Turn)
		if err != nil {
			return err
		}
		if ok && !t.Ended.IsZero() {
			each[i], any = Spent{Millis: t.Ended.Sub(t.Started).Milliseconds(), Cost: t.Cost}, true
		}
	}
	if any {
		e.Spent = each
	}
	return nil
}

// longText is the largest text, in bytes, that is stored in its entry's row. A longer one is stored in pieces, some of
// which may be on disk already: a row is held in memory several times while it is encoded, written and read.
const longText = 1 << 20

// append encodes and appends an entry. If its long text is no longer in memory, append reads it back into e.
func (b *Batch) append(turn int64, e *Entry, keys *secret.Keys) (int64, error) {
	w := e.Words
	if w == nil {
		w = &BlockText{}
	}
	if len(e.Text) <= longText && w.from == 0 {
		data, err := json.Marshal(e)
		if err != nil {
			return 0, err
		}
		row := string(data)
		if kept := keys.Row(row); kept != row { // show and send exactly what is stored
			row, *e = kept, Decode(store.Entry{Kind: string(e.Kind), Data: kept})
		}
		return b.tx.Append(b.writer.Agent, turn, string(e.Kind), row)
	}
	row := *e
	row.Text = ""
	data, err := json.Marshal(row)
	if err != nil {
		return 0, err
	}
	var rest string
	size := len(e.Text)
	if w.from == 0 {
		rest = e.Text[w.upTo:]
	} else {
		rest, size = string(w.text[w.upTo-w.from:]), w.Size()
	}
	head, err := b.tx.Say(turn, w.head, string(e.Kind), e.Model, rest)
	if err != nil {
		return 0, err
	}
	if e.Text == "" {
		if e.Text, err = b.tx.Text(head, size); err != nil {
			return 0, err
		}
	}
	return b.tx.AppendLong(b.writer.Agent, turn, string(e.Kind), keys.Row(string(data)), head, size)
}

// Decode reads a row. A row that can't be read becomes a notice that says so: one bad row must not make a transcript
// unreadable.
func Decode(r store.Entry) Entry {
	var e Entry
	if err := json.Unmarshal([]byte(r.Data), &e); err != nil {
		e = Entry{Text: fmt.Sprintf("entry %d (%s) can't be read: %v", r.Seq, r.Kind, err)}
		r.Kind = string(EntryNotice)
	}
	if r.Text != "" {
		e.Text = r.Text
	}
	e.Seq, e.Agent, e.Turn, e.At, e.Kind = r.Seq, r.Agent, r.Turn, r.Created, EntryKind(r.Kind)
	return e
}

func DecodeAll(rows []store.Entry) []Entry {
	es := make([]Entry, len(rows))
	for i, r := range rows {
		es[i] = Decode(r)
	}
	return es
}

// withhold removes keys from the texts of e that come from elsewhere. The rest of an entry is the program's own words,
// and goes through Keys.Row.
func (e *Entry) withhold(keys *secret.Keys) {
	e.Text = keys.Text(e.Text)
	if r := e.Result; r != nil {
		c := *r
		c.Text, c.Diff = keys.Text(c.Text), keys.Text(c.Diff)
		e.Result = &c
	}
	if s := e.Shell; s != nil {
		c := *s
		c.Command, c.Output = keys.Text(c.Command), keys.Text(c.Output)
		e.Shell = &c
	}
	if d := e.End; d != nil {
		c := *d
		c.Error = keys.Text(c.Error)
		e.End = &c
	}
}
