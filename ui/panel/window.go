package panel

import (
	"context"
	"slices"

	"fantail/ui/dialog"
)

// window is a run of consecutive rows of a long list. It is never changed, only replaced.
type window[T any] struct {
	rows []T
	over int64 // id of the row before it; 0: none
	more bool  // rows follow it
}

// pageRows is how many rows are read at once. A window holds up to three times as many.
const pageRows = 200

// long is a list that is too long to be read at once.
type long[T any] struct {
	// read reads up to n rows after the row before (0: from the first on) or, with back, the n rows
	// preceding it (0: up to the last), in the order of the list.
	read func(ctx context.Context, before int64, back bool, n int) ([]T, error)
	id   func(t T) int64
}

// step returns the next window for a given one.
type step[T any] func(ctx context.Context, w window[T]) (window[T], error)

// next returns the step that a board needs; nil: none. anew means that the board shows another list
// than before, stale that its rows may be out of date.
func (l long[T]) next(b *dialog.Board, anew, stale bool) step[T] {
	above, below := b.Wants()
	switch leaps := b.Leaps(); {
	case anew || leaps < 0:
		return l.first
	case leaps > 0:
		return l.last
	case stale:
		return l.reread
	case below:
		return l.behind
	case above:
		return l.ahead
	}
	return nil
}

// after reads the window of up to n rows after the row id; 0: from the first row on.
func (l long[T]) after(ctx context.Context, id int64, n int) (window[T], error) {
	rows, err := l.read(ctx, id, false, n+1)
	w := window[T]{rows: rows, over: id, more: len(rows) > n}
	if w.more {
		w.rows = rows[:n]
	}
	return w, err
}

// before reads the window of a page of rows preceding the row id; 0: up to the last row.
func (l long[T]) before(ctx context.Context, id int64) (window[T], error) {
	rows, err := l.read(ctx, id, true, pageRows+1)
	w := window[T]{rows: rows, more: id != 0}
	if len(rows) > pageRows {
		w.over, w.rows = l.id(rows[0]), slices.Clone(rows[1:])
	}
	return w, err
}

// first, last, reread, behind and ahead read a window: the beginning of the list, its end, the
// current window again, and the current window with more rows after or before it.
func (l long[T]) first(ctx context.Context, _ window[T]) (window[T], error) {
	return l.after(ctx, 0, pageRows)
}

func (l long[T]) last(ctx context.Context, _ window[T]) (window[T], error) { return l.before(ctx, 0) }

func (l long[T]) reread(ctx context.Context, have window[T]) (window[T], error) {
	w, err := l.after(ctx, have.over, min(max(len(have.rows), pageRows), 3*pageRows))
	if err == nil && len(w.rows) == 0 && w.over != 0 {
		return l.last(ctx, have)
	}
	return w, err
}

func (l long[T]) behind(ctx context.Context, have window[T]) (window[T], error) {
	w, err := l.after(ctx, l.id(have.rows[len(have.rows)-1]), pageRows)
	w.rows, w.over = append(slices.Clone(have.rows), w.rows...), have.over
	if n := len(w.rows) - 3*pageRows; n > 0 {
		w.over, w.rows = l.id(w.rows[n-1]), w.rows[n:]
	}
	return w, err
}

func (l long[T]) ahead(ctx context.Context, have window[T]) (window[T], error) {
	w, err := l.before(ctx, l.id(have.rows[0]))
	w.rows, w.more = append(w.rows, have.rows...), have.more
	if len(w.rows) > 3*pageRows {
		w.rows, w.more = w.rows[:3*pageRows], true
	}
	return w, err
}
