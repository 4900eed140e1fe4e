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

// Selection selects messages of one recipient for the human to read, a page at a time. The newest come first; among
// waiting messages the pinned ones come before all others, which are sorted by their lanes, unless it is a search.
type Selection struct {
	Recipient int64
	Lane      Lane   // "": all
	Search    string // words of a message; the last one may be a prefix
	Of        string // Waiting, Archived, Snoozed or Everything
	Before    int64  // only those after this one, in the list's order; 0: from the beginning
	Back      bool   // those just before Before instead, or with 0 the last ones
	Folded    bool   // only the newest waiting message of each thread and lane, unless it is a search
	Limit     int    // at most so many; 0: 100

	behind bool // the index may lack messages: the database is read-only
}

// Lists of messages.
const (
	Waiting    = "" // pending messages
	Archived   = "archived"
	Snoozed    = "snoozed"
	Everything = "all" // in any state
)

// page is the default limit of a list.
const page = 100

// states are the conditions on the messages of the list, in SQL; each is answered by its own index.
func (s Selection) states() ([]string, error) {
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

// Select returns a page of s with only the beginnings of the texts, and the size of all of them. Its cost does not
// depend on the length of the list.
func (b *Inbox) Select(ctx context.Context, s Selection) (ms []Message, err error) {
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
func (s Selection) walk(v *store.View, states []string, more string) ([]Message, error) {
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

// beyond and order say how a page continues from a message, and in which order it is read.
func (s Selection) beyond() string {
	if s.Back {
		return ">"
	}
	return "<"
}

func (s Selection) order() string {
	if s.Back {
		return "ASC"
	}
	return "DESC"
}

// pinnedPart is the condition for pinned messages.
const pinnedPart = ` AND pinned = 1`

// part is a part of the list of waiting messages.
type part struct {
	pinned bool
	lane   Lane // "": all
}

// parts are the parts of that list in its order.
func (s Selection) parts() []part {
	ps := []part{{true, s.Lane}}
	if s.Lane != "" {
		return append(ps, part{false, s.Lane})
	}
	for _, l := range LaneOrder {
		ps = append(ps, part{false, l})
	}
	return ps
}

// waiting returns the page of pending messages: the pinned ones, then the others by lanes.
func (s Selection) waiting(v *store.View) (ms []Message, err error) {
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

// newest is true for a message if no newer one of its thread is in the same part of the list.
func (s Selection) newest(pinned bool) string {
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
