package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fantail/store"
)

// indexed is after how many deposits their words are indexed, all in one: alone each
// would cost more than the deposit itself. Who searches has the rest indexed first.
const indexed = 64

// index lets the messages up to that one be found by their words.
func index(tx *store.Tx, upTo int64) error {
	var from int64
	err := tx.QueryRow(`SELECT message FROM words_upto`).Scan(&from)
	if err == nil && from < upTo {
		_, err = tx.Exec(`INSERT INTO words (rowid, sender, subject, tags, body, error)
			SELECT id, sender_name, subject, (SELECT group_concat(value, ' ') FROM json_each(iif(json_valid(tags), tags, '[]'))),
				CAST(substr(body, 1, 65536) AS TEXT), error FROM messages WHERE id > ? AND id <= ?`, from, upTo)
		if err == nil {
			_, err = tx.Exec(`UPDATE words_upto SET message = ?`, upTo)
		}
	}
	if err != nil {
		return fmt.Errorf("index the words of messages: %w", err)
	}
	return nil
}

// catchUp indexes what came last.
func (b *Inbox) catchUp(ctx context.Context) error {
	var upTo, newest int64
	err := b.db.Read(ctx, func(rx *store.Rx) error {
		return rx.QueryRow(`SELECT message, (SELECT ifnull(max(id), 0) FROM messages) FROM words_upto`).Scan(&upTo, &newest)
	})
	if err == nil && upTo < newest && b.db.ReadOnly() == nil { // else search looks at those themselves
		err = b.db.Write(ctx, "index", func(tx *store.Tx) error { return index(tx, newest) })
	}
	return err
}

// search is the page of the messages that have all those words.
func (s Shelf) search(v *store.View, words string) ([]Message, error) {
	has, args := `SELECT rowid AS found FROM words WHERE words MATCH ?`, []any{words}
	if s.behind {
		has += ` UNION ALL SELECT id FROM messages WHERE id > (SELECT message FROM words_upto)`
		for word := range strings.FieldsSeq(s.Search) {
			has += ` AND instr(lower(concat_ws(' ', sender_name, subject, tags, CAST(body AS TEXT), error)), lower(?)) > 0`
			args = append(args, word)
		}
	}
	query := `SELECT ` + brief() + ` FROM (` + has + `) CROSS JOIN messages ON id = found WHERE true`
	at := `found`
	switch s.Of {
	case Waiting:
		query += ` AND taken_at IS NULL`
	case Archived, Snoozed: // what was put away by hand is less than what has the words
		by := byArchive
		if s.Of == Snoozed {
			by = bySnooze
		}
		at = `id`
		query = `SELECT ` + brief() + ` FROM messages WHERE +id IN (` + has + `) AND taken_by IN ('archive', 'snooze') AND taken_by = '` + by + `'`
	}
	query += ` AND recipient = ?`
	args = append(args, s.Recipient)
	if s.Lane != "" {
		query += ` AND lane = ?`
		args = append(args, string(s.Lane))
	}
	if s.Before != 0 {
		query += ` AND ` + at + ` ` + s.beyond() + ` ?`
		args = append(args, s.Before)
	}
	ms, err := readMessages(v, query+` ORDER BY `+at+` `+s.order()+` LIMIT ?`, append(args, s.Limit)...)
	if s.Back {
		slices.Reverse(ms)
	}
	return ms, err
}

// terms are what a human typed as a query of the index: all of its words, the last
// one perhaps unfinished; signs inside of one part it into words that follow each
// other. Whatever was typed, it is no syntax. "": there is no word in it.
func terms(typed string) string {
	wordless := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.Co) }
	var quoted []string
	for word := range strings.FieldsSeq(strings.ToValidUTF8(strings.ReplaceAll(typed, "\x00", " "), " ")) {
		if word = strings.TrimFunc(word, wordless); word != "" {
			quoted = append(quoted, `"`+strings.ReplaceAll(word, `"`, `""`)+`"`)
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(typed); len(quoted) > 0 && !wordless(last) {
		quoted[len(quoted)-1] += "*"
	}
	return strings.Join(quoted, " ")
}
