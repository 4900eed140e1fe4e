package agents

import (
	"encoding/json"
	"fmt"

	"fantail/store"
	"fantail/tools/secret"
)

// Book is where the transcript of one agent is written.
type Book struct {
	Agent int64
	Keys  *secret.Keys // what no entry may hold; nil: the store withholds alone

	// Room is how many tokens of documents an entry may bring along; nil: as for a
	// model whose window is unknown.
	Room func() int

	// Tell is called after a commit, with the entries it appended; live says that
	// they replace what was streamed. The store's writer calls it; nil: nobody hears.
	Tell func(entries []Entry, live bool)
}

// Batch begins a batch; live says that its entries replace what was streamed. Make
// it before anything else that hangs on the commit: feeds then hear of the entries
// first.
func (k Book) Batch(tx *store.Tx, live bool) *Batch {
	b := &Batch{book: k, tx: tx}
	if k.Tell != nil {
		tx.AfterCommit(func() {
			if len(b.out) > 0 || live {
				k.Tell(b.out, live)
			}
		})
	}
	return b
}

// Batch is what one transaction appends to a transcript.
type Batch struct {
	book Book
	tx   *store.Tx
	out  []Entry
}

// Add appends e to the transcript; turn 0 means at rest. What messages cost the
// context is noted with them; memory documents that e names follow it.
func (b *Batch) Add(turn int64, e Entry) (int64, error) {
	keys := b.book.Keys
	said := e.Text
	if e.withhold(keys); e.Text != said {
		e.words = nil // what is written down is not what is kept
	}
	if len(e.Messages) > 0 {
		e.Tokens = tokens(e.Text)
		if e.Result != nil {
			e.Tokens = tokens(e.Result.Text)
		}
	}
	seq, err := b.append(turn, &e, keys)
	if err != nil {
		return 0, fmt.Errorf("append %s entry: %w", e.Kind, err)
	}
	e.Seq, e.Agent, e.Turn, e.At, e.words = seq, b.book.Agent, turn, b.tx.Now(), nil
	b.out = append(b.out, e)
	return seq, b.recall(turn, seq, e)
}

// longText is the most bytes of a text that stands in its entry's row. A longer one
// stands in pieces, of which some may be written down already: a row is several times
// in memory while it is encoded, written and read.
const longText = 1 << 20

// append encodes an entry. It gives e a long text that is no longer in memory.
func (b *Batch) append(turn int64, e *Entry, keys *secret.Keys) (int64, error) {
	w := e.words
	if w == nil {
		w = &words{}
	}
	if len(e.Text) <= longText && w.from == 0 {
		data, err := json.Marshal(e)
		if err != nil {
			return 0, err
		}
		row := string(data)
		if kept := keys.Row(row); kept != row { // what is shown and sent is what is kept
			row, *e = kept, decode(store.Entry{Kind: string(e.Kind), Data: kept})
		}
		return b.tx.Append(b.book.Agent, turn, string(e.Kind), row)
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
		rest, size = string(w.text[w.upTo-w.from:]), w.size()
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
	return b.tx.AppendLong(b.book.Agent, turn, string(e.Kind), keys.Row(string(data)), head, size)
}

// decode reads a row. A row that can't be read becomes a notice that says so:
// one bad row must not make a transcript unreadable.
func decode(r store.Entry) Entry {
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

func decodeAll(rows []store.Entry) []Entry {
	es := make([]Entry, len(rows))
	for i, r := range rows {
		es[i] = decode(r)
	}
	return es
}
