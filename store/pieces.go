package store

import (
	"database/sql"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// pieceBytes is about the largest row of a text in pieces: SQLite holds a row several times in memory while it writes
// it.
const pieceBytes = 256 << 10

// collectAt is how many bytes of a text are read between garbage collections: the driver allocates each piece, and a
// text of many megabytes would be in memory twice until the collector ran by itself.
const collectAt = 16 << 20

// Saying is the stored beginning of a block of a reply that is still arriving.
type Saying struct {
	Head  int64 // its first piece
	Kind  string
	Model string
	Size  int // bytes
}

// Say stores the next part of a text that a turn says, and returns its head; head 0 begins one.
func (tx *Tx) Say(turn, head int64, kind, model, text string) (int64, error) {
	for len(text) > 0 {
		n := runeEnd(text, pieceBytes)
		id, err := tx.insert(`INSERT INTO pieces (turn, head, kind, model, text) VALUES (?, ?, ?, ?, ?)`, null(turn), null(head), kind, model, text[:n])
		if err != nil {
			return 0, fmt.Errorf("write down what turn %d says: %w", turn, err)
		}
		if head == 0 {
			head = id
		}
		text = text[n:]
	}
	return head, nil
}

// runeEnd is the end of the character at byte most, or of the text.
func runeEnd(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	for n := most; n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return most
}

// Unsay deletes the sayings of a turn that no entry names, except the texts with those heads.
func (tx *Tx) Unsay(turn int64, but ...int64) error {
	said, err := tx.Sayings(turn)
	if err != nil {
		return err
	}
	for _, s := range said {
		if slices.Contains(but, s.Head) {
			continue
		}
		for _, query := range []string{`DELETE FROM pieces WHERE head = ?`, `DELETE FROM pieces WHERE id = ?`} {
			if _, err := tx.count(query, s.Head); err != nil {
				return fmt.Errorf("forget what turn %d said: %w", turn, err)
			}
		}
	}
	return nil
}

// AppendLong is Append for an entry whose text is in pieces: the size bytes of head.
func (tx *Tx) AppendLong(agent, turn int64, kind, data string, head int64, size int) (int64, error) {
	return tx.append(agent, turn, kind, data, head, size)
}

// Sayings returns the texts of a turn that no entry names, in the order they began.
func (v *View) Sayings(turn int64) ([]Saying, error) {
	scan := func(s scanner) (t Saying, err error) {
		err = s.Scan(&t.Head, &t.Kind, &t.Model, &t.Size)
		return t, err
	}
	said, err := all(v, scan, `SELECT id, kind, model,
			octet_length(text) + ifnull((SELECT sum(octet_length(text)) FROM pieces WHERE head = p.id), 0)
		FROM pieces p WHERE turn = ? AND head IS NULL AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.head = p.id) ORDER BY id`, turn)
	if err != nil {
		return nil, fmt.Errorf("read what turn %d said: %w", turn, err)
	}
	return said, nil
}

// Text joins the pieces of a text of that size.
func (v *View) Text(head int64, size int) (string, error) {
	var b strings.Builder
	b.Grow(size)
	for _, query := range []string{`SELECT text FROM pieces WHERE id = ?`, `SELECT text FROM pieces WHERE head = ? ORDER BY id`} {
		rows, err := v.Query(query, head)
		if err != nil {
			return "", fmt.Errorf("read text %d: %w", head, err)
		}
		for rows.Next() {
			var piece sql.RawBytes
			if err := rows.Scan(&piece); err != nil {
				rows.Close()
				return "", fmt.Errorf("read text %d: %w", head, err)
			}
			if n := b.Len(); n/collectAt < (n+len(piece))/collectAt {
				runtime.GC()
			}
			b.Write(piece)
		}
		if err := rows.Close(); err != nil {
			return "", fmt.Errorf("read text %d: %w", head, err)
		}
		if err := rows.Err(); err != nil {
			return "", fmt.Errorf("read text %d: %w", head, err)
		}
	}
	return b.String(), nil
}
