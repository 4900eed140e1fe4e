package history

import (
	"fmt"
	"strings"
	"sync"

	"fantail/store"
)

// A reply that is being streamed is written down in pieces, so that a crash takes
// no more of it than the last second. When it is over its entries take the place
// of the pieces, or take them over if they are long.

// Words are the text of one block of a reply. Of a long one only what is not
// written down is in memory. The agent's loop adds to them, its scribe writes them
// down, and once the reply is over neither does.
type Words struct {
	Kind  EntryKind
	Solid bool // there is more than blanks; the loop's

	mu   sync.Mutex
	text []byte // from byte `from` on
	from int
	head int64 // the first piece of what is written down; 0: nothing is
	upTo int   // bytes written down
}

// Add adds the next piece and returns where it ends.
func (w *Words) Add(s string) int {
	w.Solid = w.Solid || strings.TrimSpace(s) != ""
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, s...)
	return w.from + len(w.text)
}

// Size is how long the text is, in bytes. The reply is over.
func (w *Words) Size() int { return w.from + len(w.text) }

// String is the text, "" if it is no longer in memory. The reply is over.
func (w *Words) String() string {
	if w.from > 0 {
		return ""
	}
	return string(w.text)
}

// Before is the text up to a byte, as far as it is in memory.
func (w *Words) Before(upTo int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case upTo <= w.from:
		return ""
	case w.from > 0:
		return fmt.Sprintf("… %d bytes before, which show when the reply is over …\n%s", w.from, w.text[:upTo-w.from])
	}
	return string(w.text[:upTo])
}

// Rest is what is not written down, and the head of what is.
func (w *Words) Rest() (head int64, upTo int, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head, w.upTo, string(w.text[w.upTo-w.from:])
}

// Wrote notes what is written down, and lets go of it if there is much.
func (w *Words) Wrote(head int64, upTo int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.upTo = head, upTo
	if w.Size() > longText {
		w.text = append(w.text[:0], w.text[upTo-w.from:]...)
		w.from = upTo
	}
}

// Salvage makes entries of what a turn said that none has taken over: its reply was
// cut before it could be recorded.
func (b *Batch) Salvage(turn int64) error {
	es, err := Partial(&b.tx.View, turn)
	if err != nil {
		return err
	}
	for _, e := range es {
		if _, err := b.Add(turn, e); err != nil {
			return err
		}
	}
	return b.tx.Unsay(turn)
}

// Partial are the entries of a turn's reply that was cut.
func Partial(v *store.View, turn int64) (es []Entry, err error) {
	said, err := v.Sayings(turn)
	if err != nil {
		return nil, err
	}
	for _, s := range said {
		text, err := v.Text(s.Head, s.Size)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) != "" {
			es = append(es, Entry{Kind: EntryKind(s.Kind), Text: text, Model: s.Model, Words: &Words{head: s.Head, upTo: len(text)}})
		}
	}
	return es, nil
}
