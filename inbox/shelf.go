package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"fantail/store"
)

// Shelf selects messages of one recipient for the human to look through, a page at
// a time. Its order is the newest first; on the shelf of those that wait the pinned
// ones come before all others, unless it is searched.
type Shelf struct {
	Recipient int64
	Lane      Lane   // "": all
	Search    string // words that a message has; the last one may be the beginning of one
	Of        string // Waiting, Archived, Snoozed or Everything
	Before    int64  // only those behind this one, in the shelf's order; 0: from the beginning
	Limit     int    // at most so many; 0: 100
}

// What a shelf holds.
const (
	Waiting    = "" // what is pending
	Archived   = "archived"
	Snoozed    = "snoozed"
	Everything = "all" // whatever became of it
)

// page is how many messages a shelf without a limit gives.
const page = 100

// states are what is true of the messages on the shelf, in SQL; of several, each is
// answered by an index of its own.
func (s Shelf) states() ([]string, error) {
	aside := func(by string) []string {
		return []string{`taken_by IN ('archive', 'snooze') AND taken_by = '` + by + `'`}
	}
	switch s.Of {
	case Waiting:
		return []string{`taken_at IS NULL`}, nil
	case Archived:
		return aside(byArchive), nil
	case Snoozed:
		return aside(bySnooze), nil
	case Everything:
		return []string{`taken_at IS NULL`, `taken_at IS NOT NULL`}, nil
	}
	return nil, fmt.Errorf("there is no shelf %q", s.Of)
}

// Shelf returns a page of s with only the beginnings of the texts, and the size of
// all of them. What it costs does not depend on how much stands on the shelf.
func (b *Inbox) Shelf(ctx context.Context, s Shelf) (ms []Message, err error) {
	states, err := s.states()
	if err != nil {
		return nil, err
	}
	s.Limit = cmp.Or(s.Limit, page)
	words := terms(s.Search)
	if words != "" {
		if err := b.catchUp(ctx); err != nil {
			return nil, err
		}
	}
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		switch {
		case words != "":
			ms, err = s.search(&rx.View, words)
		case strings.TrimSpace(s.Search) != "": // signs that are in no word
			ms = nil
		case s.Of == Waiting:
			ms, err = s.waiting(&rx.View)
		default:
			ms, err = s.walk(&rx.View, states, ``)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	return ms, nil
}

// walk reads the page of the messages that stand on the shelf, newest first.
func (s Shelf) walk(v *store.View, states []string, more string) ([]Message, error) {
	var arms []string
	var args []any
	for _, state := range states {
		arm := `SELECT ` + brief() + ` FROM messages WHERE recipient = ? AND ` + state + more
		args = append(args, s.Recipient)
		if s.Lane != "" {
			arm += ` AND lane = ?`
			args = append(args, string(s.Lane))
		}
		if s.Before != 0 {
			arm += ` AND id < ?`
			args = append(args, s.Before)
		}
		arms = append(arms, arm)
	}
	return readMessages(v, strings.Join(arms, " UNION ALL ")+` ORDER BY id DESC LIMIT ?`, append(args, s.Limit)...)
}

// waiting is the page of what is pending: the pinned ones, then the others.
func (s Shelf) waiting(v *store.View) ([]Message, error) {
	pinned := s.Before == 0
	if !pinned {
		err := v.QueryRow(`SELECT pinned FROM messages WHERE id = ?`, s.Before).Scan(&pinned)
		if err != nil && !errors.Is(err, store.ErrNoRows) {
			return nil, err
		}
	}
	state := []string{`taken_at IS NULL`}
	var ms []Message
	if pinned {
		var err error
		if ms, err = s.walk(v, state, ` AND pinned = 1`); err != nil {
			return nil, err
		}
		s.Limit, s.Before = s.Limit-len(ms), 0
	}
	if s.Limit <= 0 {
		return ms, nil
	}
	rest, err := s.walk(v, state, ` AND +pinned = 0`)
	return append(ms, rest...), err
}
