package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fantail/store"
)

// few is how many messages are looked up in the index one by one where walking all matches of the words takes longer,
// because most of those were taken. One look-up takes as long as walking `walked` matches.
const (
	few    = 200
	walked = 300
)

// search returns the page of the messages that have all those words. Its cost depends on the inbox and lane that are
// searched, and little on others.
func (s Selection) search(v *store.View, t terms) ([]Message, error) {
	states, err := s.states()
	if err != nil {
		return nil, err
	}
	place := fmt.Sprint("r", s.Recipient)
	where, args := `recipient = ?`, []any{s.Recipient}
	if s.Lane != "" {
		place += string(s.Lane)
		where, args = where+` AND lane = ?`, append(args, string(s.Lane))
	}
	words, err := t.spell(v)
	if err != nil {
		return nil, err
	}
	match := `place : ` + place + ` AND {sender subject tags body error} : (` + words + `)`
	has, hasArgs := `SELECT rowid AS found FROM words WHERE words MATCH ?`, []any{match}
	if s.behind {
		has += ` UNION ALL SELECT id FROM messages WHERE id > (SELECT message FROM words_upto)`
		for word := range strings.FieldsSeq(s.Search) {
			has += ` AND instr(lower(concat_ws(' ', sender_name, subject, tags, CAST(body AS TEXT), error)), lower(?)) > 0`
			hasArgs = append(hasArgs, word)
		}
	}
	switch {
	case s.Of == Everything:
	case s.behind:
		where += ` AND ` + states[0]
	default:
		where += ` AND ` + states[0]
		var n int
		var first, last int64
		err := v.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM messages WHERE `+where+` LIMIT ?)`, append(slices.Clip(args), few+1)...).Scan(&n)
		if err != nil || n == 0 {
			return nil, err
		}
		err = v.QueryRow(`SELECT (SELECT id FROM messages WHERE `+where+` ORDER BY id LIMIT 1), (SELECT id FROM messages WHERE `+where+
			` ORDER BY id DESC LIMIT 1)`, append(slices.Clip(args), args...)...).Scan(&first, &last)
		if err != nil {
			return nil, err
		}
		if n <= few {
			var matches int
			err := v.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)`,
				match, first, last, walked*n+1).Scan(&matches)
			if err != nil || matches == 0 {
				return nil, err
			}
			if matches > walked*n {
				return s.found(v, `SELECT `+brief()+` FROM messages WHERE `+where+` AND EXISTS (SELECT 1 FROM words WHERE words MATCH ? AND rowid = id)`,
					append(args, match), `id`)
			}
		}
		where, args = where+` AND found BETWEEN ? AND ?`, append(args, first, last)
	}
	return s.found(v, `SELECT `+brief()+` FROM (`+has+`) CROSS JOIN messages ON id = found WHERE `+where,
		append(hasArgs, args...), `found`)
}

// found returns the page of a query's results; at is its column of the message's id.
func (s Selection) found(v *store.View, query string, args []any, at string) ([]Message, error) {
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

// spelt is how many words a prefix may match and still be searched as those words: the index walks whole words only as
// far as it must, but reads all matches of a prefix.
const spelt = 32

// spell returns the query with the words that begin with its last one, if these are few.
func (t terms) spell(v *store.View) (string, error) {
	plain := func(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	at := strings.LastIndexFunc(t.open, func(r rune) bool { return !plain(r) }) + 1
	if at == len(t.open) || at > 0 && t.open[at-1] >= utf8.RuneSelf { // the index folds other signs differently
		return t.String(), nil
	}
	begins := strings.ToLower(t.open[at:])
	var list []string
	for from := begins; ; {
		var word string
		err := v.QueryRow(`SELECT term FROM words_terms WHERE term >= ? AND term < ? LIMIT 1`, from, begins+"\U0010FFFF").Scan(&word)
		if errors.Is(err, store.ErrNoRows) && len(list) > 0 {
			return strings.Join(append(slices.Clip(t.whole), "("+strings.Join(list, " OR ")+")"), " AND "), nil
		}
		if err != nil && !errors.Is(err, store.ErrNoRows) {
			return "", fmt.Errorf("spell %q: %w", begins, err)
		}
		if err != nil || len(list) == spelt {
			return t.String(), nil
		}
		list = append(list, quote(t.open[:at]+word))
		from = word + "\x01"
	}
}

// terms are the words that a human typed, as a query of the index. The last word may be unfinished; a word with signs
// inside becomes a phrase. Nothing that is typed is syntax.
type terms struct {
	whole []string // quoted
	open  string   // prefix that the last word begins with; "": it is whole
}

func read(typed string) (t terms) {
	wordless := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.Co) }
	for word := range strings.FieldsSeq(strings.ToValidUTF8(strings.ReplaceAll(typed, "\x00", " "), " ")) {
		if word = strings.TrimFunc(word, wordless); word != "" {
			t.whole, t.open = append(t.whole, quote(word)), word
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(typed); len(t.whole) > 0 && !wordless(last) {
		t.whole = t.whole[:len(t.whole)-1]
		return t
	}
	t.open = ""
	return t
}

func quote(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }

// String is the query; "": it has no word.
func (t terms) String() string {
	if t.open == "" {
		return strings.Join(t.whole, " AND ")
	}
	return strings.Join(append(slices.Clip(t.whole), quote(t.open)+"*"), " AND ")
}
