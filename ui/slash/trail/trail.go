// Package trail is the command /audit.
//
// Does: read what the command wants of the audit; show a page of it, a row, or whether it is whole.
//
// Does not: know the other commands.
//
// Imports: agents/audit, themes, ui/dialog, ui/intent, ui/slash/facets, ui/words.
package trail

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"fantail/agents/audit"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/slash/facets"
	"fantail/ui/words"
)

// Page is how many lines of the audit a box shows.
const Page = 200

// Env is what the command looks at.
type Env struct {
	Audit facets.Audit
	Theme *themes.Theme
	Here  *time.Location
}

// Wanted is what the command wants.
type Wanted struct {
	Verify bool
	Row    int64  // 0: none
	Name   string // of an agent; "": of all
	Before int64  // lines before this row
}

// Read reads the command's arguments.
func Read(args string) (w Wanted, err error) {
	w.Before = math.MaxInt64
	for n, word := range strings.Fields(args) {
		before, pages := strings.CutPrefix(word, "before=")
		number, err := strconv.ParseInt(strings.TrimPrefix(before, "#"), 10, 64)
		switch isNumber := err == nil && number > 0; {
		case pages && !isNumber:
			return w, fmt.Errorf("%q is no number of a row", before)
		case pages:
			w.Before = number
		case n > 0 && (w.Verify || w.Row != 0 || w.Name != ""):
			return w, fmt.Errorf("%q is one word too many", word)
		case word == "--verify":
			w.Verify = true
		case isNumber:
			w.Row = number
		default:
			w.Name = word
		}
	}
	return w, nil
}

// Show returns a function that reads the audit and says what follows.
func (e Env) Show(w Wanted) func(ctx context.Context) (intent.Intent, error) {
	switch {
	case w.Verify:
		return e.verified
	case w.Row != 0:
		return func(ctx context.Context) (intent.Intent, error) { return e.row(ctx, w.Row) }
	}
	return func(ctx context.Context) (intent.Intent, error) { return e.page(ctx, w) }
}

func (e Env) verified(ctx context.Context) (intent.Intent, error) {
	r, err := e.Audit.Verify(ctx)
	if err != nil {
		return nil, err
	}
	return intent.Said{Text: r.Says()}, nil
}

// page shows lines, the newest first.
func (e Env) page(ctx context.Context, w Wanted) (intent.Intent, error) {
	lines, err := e.Audit.List(ctx, audit.Wanted{Name: w.Name, Before: w.Before, Limit: Page + 1})
	if err != nil {
		return nil, err
	}
	title := "Audit"
	if w.Name != "" {
		title += " of " + w.Name
	}
	if len(lines) == 0 {
		return intent.Said{Text: title + ": nothing stands there."}, nil
	}
	var rows []dialog.Row
	for n := len(lines) - 1; n >= max(0, len(lines)-Page); n-- {
		rows = append(rows, dialog.Row{Left: words.AuditHead(lines[n], e.Here), Right: words.AuditGist(lines[n])})
	}
	if len(lines) > Page {
		older := append(strings.Fields("/audit "+w.Name), fmt.Sprintf("before=%d", lines[1].ID))
		rows = append(rows, dialog.Row{Left: "older", Right: strings.Join(older, " ")})
	}
	return intent.Open{Box: dialog.NewTable(e.Theme, title, rows), What: "the audit"}, nil
}

// wide is for how many columns a row is laid out at first.
const wide = 80

// row shows the call that a row belongs to, or the row.
func (e Env) row(ctx context.Context, n int64) (intent.Intent, error) {
	l, ok, err := e.Audit.Find(ctx, n)
	if err == nil && !ok {
		err = fmt.Errorf("the audit has no row %d; /audit lists them", n)
	}
	if err != nil {
		return nil, err
	}
	var facts []dialog.Row
	for _, f := range words.AuditFacts(l, e.Here) {
		facts = append(facts, dialog.Row{Left: f[0], Right: f[1]})
	}
	box := dialog.NewReader(e.Theme, "Audit "+words.AuditHead(l, e.Here), facts, words.AuditArgs(l.Args), wide)
	return intent.Open{Box: box, What: "the audit"}, nil
}
