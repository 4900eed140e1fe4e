package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/store"
)

// Shelf selects messages of one recipient for the human to look through, a page at
// a time. Its order is the newest first; on the shelf of those that wait the pinned
// ones come before all others, and these by their lanes, unless it is searched.
type Shelf struct {
	Recipient int64
	Lane      Lane   // "": all
	Search    string // words that a message has; the last one may be the beginning of one
	Of        string // Waiting, Archived, Snoozed or Everything
	Before    int64  // only those behind this one, in the shelf's order; 0: from the beginning
	Back      bool   // those right ahead of Before instead, or with 0 the last of all
	Folded    bool   // of what waits in a thread only the newest of each lane, unless it is searched
	Limit     int    // at most so many; 0: 100

	behind bool // the index may be behind, and stays so: the database can only be read
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
	words := read(s.Search)
	s.behind = b.db.ReadOnly() != nil
	if words.String() != "" {
		if err := catchUp(ctx, b.db, 0); err != nil {
			return nil, err
		}
	}
	err = b.db.Read(ctx, func(rx *store.Rx) error {
		switch {
		case words.String() != "":
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

// walk reads a page of the messages in those states, newest first.
func (s Shelf) walk(v *store.View, states []string, more string) ([]Message, error) {
	var arms []string
	var args []any
	lane := `lane`
	if strings.HasPrefix(more, pinnedPart) {
		lane = `+lane` // the few that are pinned are found by that
	}
	for _, state := range states {
		arm := `SELECT ` + brief() + ` FROM messages WHERE recipient = ? AND ` + state + more
		args = append(args, s.Recipient)
		if s.Lane != "" {
			arm += ` AND ` + lane + ` = ?`
			args = append(args, string(s.Lane))
		}
		if s.Before != 0 {
			arm += ` AND id ` + s.beyond() + ` ?`
			args = append(args, s.Before)
		}
		arms = append(arms, arm)
	}
	ms, err := readMessages(v, strings.Join(arms, " UNION ALL ")+` ORDER BY id `+s.order()+` LIMIT ?`, append(args, s.Limit)...)
	if s.Back {
		slices.Reverse(ms)
	}
	return ms, err
}

// beyond and order are how a page goes on from a message, and in which order it is
// read.
func (s Shelf) beyond() string {
	if s.Back {
		return ">"
	}
	return "<"
}

func (s Shelf) order() string {
	if s.Back {
		return "ASC"
	}
	return "DESC"
}

// pinnedPart is true of the pinned ones.
const pinnedPart = ` AND pinned = 1`

// part is a part of the shelf of what waits.
type part struct {
	pinned bool
	lane   Lane // "": all
}

// parts are the parts of the shelf in its order.
func (s Shelf) parts() []part {
	ps := []part{{true, s.Lane}}
	if s.Lane != "" {
		return append(ps, part{false, s.Lane})
	}
	for _, l := range LaneOrder {
		ps = append(ps, part{false, l})
	}
	return ps
}

// waiting is the page of what is pending: the pinned ones, then the others by lanes.
func (s Shelf) waiting(v *store.View) (ms []Message, err error) {
	parts := s.parts()
	if s.Back {
		slices.Reverse(parts)
	}
	if s.Before != 0 {
		var at part
		err := v.QueryRow(`SELECT pinned, lane FROM messages WHERE id = ?`, s.Before).Scan(&at.pinned, &at.lane)
		if err != nil && !errors.Is(err, store.ErrNoRows) {
			return nil, err
		}
		if i := slices.IndexFunc(parts, func(p part) bool { return p.pinned == at.pinned && (p.lane == at.lane || p.lane == "") }); i >= 0 {
			parts = parts[i:]
		}
	}
	for _, p := range parts {
		where := ` AND +pinned = 0`
		if p.pinned {
			where = pinnedPart
		}
		s.Lane = p.lane
		if s.Folded {
			where += s.newest(p.pinned)
		}
		more, err := s.walk(v, []string{`taken_at IS NULL`}, where)
		if err != nil {
			return nil, err
		}
		if s.Back {
			ms = append(more, ms...)
		} else {
			ms = append(ms, more...)
		}
		s.Before = 0
		if s.Limit -= len(more); s.Limit <= 0 {
			break
		}
	}
	if s.Folded {
		err = fold(v, ms)
	}
	return ms, err
}

// newest is true of a message if none of its thread in the same part of the shelf is
// newer.
func (s Shelf) newest(pinned bool) string {
	lane := ""
	if s.Lane != "" {
		lane = ` AND n.lane = messages.lane`
	}
	return fmt.Sprintf(` AND NOT EXISTS (SELECT 1 FROM messages n WHERE n.thread = ifnull(messages.thread, messages.id) AND n.id > messages.id
		AND +n.recipient = messages.recipient AND +n.taken_at IS NULL AND +n.pinned = %d%s)`, map[bool]int{true: 1}[pinned], lane)
}

// fold counts the older messages of each one's thread.
func fold(v *store.View, ms []Message) error {
	for i := range ms {
		m := &ms[i]
		if m.Thread == m.ID {
			continue
		}
		err := v.QueryRow(`SELECT 1 + count(*) FROM messages WHERE thread = ? AND id < ?`, m.Thread, m.ID).Scan(&m.Folded)
		if err != nil {
			return fmt.Errorf("count the thread of message %d: %w", m.ID, err)
		}
	}
	return nil
}
