package panel

import (
	"context"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// staleness reports whether a list may be out of date.
type staleness bool

// list is the content of a panel. Its methods are called on the interface's goroutine; the
// functions they return run off it.
type list interface {
	// query returns which rows to show.
	query() query
	// read returns a function that reads the rows of a query; nil: the board has them. If stale is
	// set, what the list has may be out of date.
	read(want query, stale staleness) reading
	// about returns a function that fills the preview of a row.
	about(id int64) func(ctx context.Context, v *preview) error
	// do returns the intent for an action on the board.
	do(w dialog.BoardAction) intent.Intent
	// touched reports whether an event changes the list or the preview of a row.
	touched(e event.Event) bool
}

// query selects rows of a list.
type query struct {
	lane   int // -1: all lanes
	search string
	of     string // for an inbox: which messages
	folds  int    // for an inbox: changes when a thread is folded or unfolded
}

// reading reads rows off the interface's goroutine.
type reading func(ctx context.Context) (rows, error)

// rows is the result of reading.
type rows struct {
	lanes        []dialog.Lane
	lines        []dialog.Line
	above, below bool   // there are more rows before, and after
	take         func() // stores the result in the list, on the interface's goroutine, before it is shown
}

// whole reads all of a short list, unless have is up to date, and shows the rows that a query
// selects.
func whole[T any](p *Panel, want query, stale staleness, have *T, load func(ctx context.Context) (T, error), show func(all T, want query) rows) reading {
	anew := bool(stale) || !p.any
	if !anew && want == p.shown {
		return nil
	}
	all := *have
	return func(ctx context.Context) (r rows, err error) {
		if anew {
			if all, err = load(ctx); err != nil {
				return r, err
			}
		}
		r = show(all, want)
		r.take = func() { *have = all }
		return r, nil
	}
}

// grouped counts all items by lane, and returns the lines of those that a query selects, lane after
// lane. If all lanes are shown, each begins with its name. line returns an item's line and the text
// that is searched.
func grouped[T any](lanes []dialog.Lane, all []T, want query, line func(t T) (l dialog.Line, text string)) rows {
	r := rows{lanes: slices.Clone(lanes)}
	word := strings.ToLower(want.search)
	of := make([][]dialog.Line, len(lanes))
	for _, t := range all {
		l, text := line(t)
		r.lanes[l.Lane].Count++
		if (want.lane < 0 || want.lane == l.Lane) && strings.Contains(strings.ToLower(text), word) {
			of[l.Lane] = append(of[l.Lane], l)
		}
	}
	for i, lines := range of {
		r.add(want, lanes[i].Name, lines)
	}
	return r
}

// add adds lines. If all lanes are shown, the lane's name comes first.
func (r *rows) add(want query, name string, lines []dialog.Line) {
	if want.lane < 0 && len(lines) > 0 {
		r.lines = append(r.lines, dialog.Line{Text: name})
	}
	r.lines = append(r.lines, lines...)
}

// find returns the item with that id.
func find[T any](all []T, id int64, of func(t T) int64) (t T, ok bool) {
	i := slices.IndexFunc(all, func(t T) bool { return of(t) == id })
	if i < 0 {
		return t, false
	}
	return all[i], true
}

// boardVerbs returns the keys that every board has. own is the key that opens and closes this
// board.
func boardVerbs(own string) (all []dialog.Verb) {
	for _, v := range []dialog.Verb{
		{Key: "f3 i", Name: "inbox", Hint: "inbox", Help: "inbox", Bare: true},
		{Key: "f4 Q", Name: "queue", Hint: "queue", Help: "queue", Bare: true},
		{Key: "f6", Name: "schedules", Help: "schedules", Bare: true},
	} {
		switch key, _, _ := strings.Cut(v.Key, " "); {
		case key == own:
		case own != "":
			all = append(all, v)
		case v.Hint != "": // boards without a key of their own need the room for other keys
			v.Hint = ""
			all = append(all, v)
		}
	}
	if own != "" {
		all = append(all, dialog.Verb{Key: own, Name: "close", Help: "back", Bare: true})
	}
	return append(
		all,
		dialog.Verb{Key: "f2", Name: "agents", Help: "watch all agents", Bare: true},
		dialog.Verb{Key: "alt+a f5", Name: "question", Help: "answer a question", Bare: true},
		dialog.Verb{Key: "?", Name: "keys", Help: "these keys", Bare: true},
	)
}
