package history

import (
	"fmt"
	"strings"
	"sync"

	"fantail/store"
)

// A reply is written to disk in pieces while it streams, so that a crash loses no more than its last second. When it
// is over, its entries replace the pieces, or refer to them if they are long.

// BlockText is the text of one block of a reply. Of a long one, only the part that is not on disk yet is held in
// memory. The agent's loop appends to it, and another goroutine writes it to disk; once the reply is over neither
// does.
type BlockText struct {
	Kind  EntryKind
	Solid bool // it is more than blanks; belongs to the loop

	mu   sync.Mutex
	text []byte // from byte `from` on
	from int
	head int64 // the first piece on disk; 0: none
	upTo int   // bytes on disk
}

// Add appends the next piece and returns where it ends.
func (w *BlockText) Add(s string) int {
	w.Solid = w.Solid || strings.TrimSpace(s) != ""
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, s...)
	return w.from + len(w.text)
}

// Size returns the text's length in bytes. The reply is over.
func (w *BlockText) Size() int { return w.from + len(w.text) }

// String returns the text, or "" if it is no longer in memory. Call it once the reply is over.
func (w *BlockText) String() string {
	if w.from > 0 {
		return ""
	}
	return string(w.text)
}

// Before returns the text up to a byte, or the part of that which is in memory.
func (w *BlockText) Before(upTo int) string {
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

// Rest returns the part that is not on disk, and the head of the part that is.
func (w *BlockText) Rest() (head int64, upTo int, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head, w.upTo, string(w.text[w.upTo-w.from:])
}

// Wrote records how much is on disk, and frees that part of a long text.
func (w *BlockText) Wrote(head int64, upTo int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.upTo = head, upTo
	if w.Size() > longText {
		w.text = append(w.text[:0], w.text[upTo-w.from:]...)
		w.from = upTo
	}
}

// Salvage appends the output of a turn that no entry has: its reply was cut before it could be recorded.
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

// Partial returns the entries of a turn's reply that was cut.
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
			es = append(es, Entry{
				Kind: EntryKind(s.Kind), Text: text, Model: s.Model, Words: &BlockText{head: s.Head, upTo: len(text)},
			})
		}
	}
	return es, nil
}
