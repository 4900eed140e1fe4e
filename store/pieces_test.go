package store

import (
	"context"
	"strings"
	"testing"
)

// speaker adds an agent with a running turn.
func speaker(t testing.TB, db *DB) (who, turn int64) {
	t.Helper()
	who = agent(t, db, "main")
	write(t, db, func(tx *Tx) (err error) {
		turn, err = tx.BeginTurn(Turn{Agent: who, Kind: "agent"})
		return err
	})
	return who, turn
}

func say(t testing.TB, db *DB, turn, head int64, text string) int64 {
	t.Helper()
	write(t, db, func(tx *Tx) (err error) {
		head, err = tx.Say(turn, head, "text", "test/one", text)
		return err
	})
	return head
}

// A text in pieces reads back unchanged, whatever it contains and however it was cut.
func TestPieces_giveTheTextBack(t *testing.T) {
	for name, text := range map[string]string{
		"one":        "short",
		"long":       strings.Repeat("0123456789abcdef", 3*pieceBytes/16) + "end",
		"characters": "a" + strings.Repeat("日本語€😀", pieceBytes/8),
		"not UTF-8":  strings.Repeat("\xff\xfe\x80", pieceBytes),
		"NUL":        "a\x00b" + strings.Repeat("\x00", pieceBytes) + "c",
	} {
		t.Run(name, func(t *testing.T) {
			db := fresh(t)
			who, turn := speaker(t, db)
			other := say(t, db, turn, 0, "something else")
			head := say(t, db, turn, 0, text[:len(text)/3])
			say(t, db, turn, other, ", and more")
			say(t, db, turn, head, text[len(text)/3:])
			read(t, db, func(rx *Rx) error {
				said, err := rx.Sayings(turn)
				if err != nil || len(said) != 2 || said[1] != (Saying{head, "text", "test/one", len(text)}) {
					t.Errorf("%+v, %v", said, err)
				}
				if got, err := rx.Text(head, len(text)); err != nil || got != text {
					t.Errorf("%d bytes came back of %d, %v", len(got), len(text), err)
				}
				return nil
			})
			write(t, db, func(tx *Tx) error {
				if _, err := tx.AppendLong(who, turn, "text", "{}", head, len(text)); err != nil {
					return err
				}
				return tx.Unsay(turn)
			})
			read(t, db, func(rx *Rx) error {
				for name, get := range map[string]func() ([]Entry, error){
					"after": func() ([]Entry, error) { return rx.EntriesAfter(who, 0, 0) }, "before": func() ([]Entry, error) { return rx.EntriesBefore(who, 0, 0) },
					"turn": func() ([]Entry, error) { return rx.TurnEntries(turn) }, "kind": func() ([]Entry, error) { return rx.KindOf(who, "text", 0) },
					"kind of all": func() ([]Entry, error) { return rx.KindAfter("text", 0) },
					"last":        func() ([]Entry, error) { e, _, err := rx.LastEntry(who, "text"); return []Entry{e}, err },
					"first":       func() ([]Entry, error) { e, _, err := rx.FirstOfTurn(turn, "text"); return []Entry{e}, err },
				} {
					if es, err := get(); err != nil || len(es) != 1 || es[0].Text != text {
						t.Errorf("%s: %d entries, %v", name, len(es), err)
					}
				}
				said, err := rx.Sayings(turn)
				if len(said) != 0 || err != nil {
					t.Errorf("still said: %+v, %v", said, err)
				}
				return nil
			})
		})
	}
}

// A turn's sayings are deleted as a whole, except those that are named, or that an entry names.
func TestUnsay(t *testing.T) {
	db := fresh(t)
	who, turn := speaker(t, db)
	entry, kept, gone := say(t, db, turn, 0, "an entry's"), say(t, db, turn, 0, "kept"), say(t, db, turn, 0, "gone")
	say(t, db, turn, gone, ", all of it")
	write(t, db, func(tx *Tx) error {
		if _, err := tx.AppendLong(who, turn, "text", "{}", entry, 10); err != nil {
			return err
		}
		return tx.Unsay(turn, kept)
	})
	read(t, db, func(rx *Rx) error {
		said, err := rx.Sayings(turn)
		if err != nil || len(said) != 1 || said[0].Head != kept {
			t.Errorf("%+v, %v", said, err)
		}
		n, err := number(rx, `SELECT count(*) FROM pieces`)
		if n != 2 || err != nil {
			t.Errorf("%d pieces, %v", n, err)
		}
		return nil
	})
	for _, query := range []string{`UPDATE pieces SET text = ''`, `DELETE FROM pieces`} {
		err := db.Write(context.Background(), "spoil", func(tx *Tx) error { _, err := tx.Exec(query); return err })
		if err == nil {
			t.Errorf("%s: it was done", query)
		}
	}
}

// A database of the schema before is read as it was.
func TestPieces_migrate(t *testing.T) {
	const who = 1
	db := reopen(t, earlier(t, 3,
		`INSERT INTO agents (name, kind, model, state, created_at) VALUES ('main', 'main', 'm', 'idle', 1)`,
		`INSERT INTO entries (agent, kind, data, created_at) VALUES (1, 'text', '{"text":"old"}', 1)`,
	))
	write(t, db, func(tx *Tx) error { _, err := tx.Append(who, 0, "text", `{"text":"new"}`); return err })
	read(t, db, func(rx *Rx) error {
		es, err := rx.EntriesAfter(who, 0, 0)
		if err != nil || len(es) != 2 || es[0].Data != `{"text":"old"}` || es[0].Text != "" || es[1].Data != `{"text":"new"}` {
			t.Errorf("%+v, %v", es, err)
		}
		return nil
	})
}
