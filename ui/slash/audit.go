package slash

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
	"fantail/ui/format"
	"fantail/ui/intent"
)

// AuditPage is how many lines of the audit a box shows.
const AuditPage = 200

// auditReader reads the audit.
type auditReader interface {
	List(ctx context.Context, w audit.Wanted) ([]audit.Line, error)
	Find(ctx context.Context, id int64) (audit.Line, bool, error)
	Verify(ctx context.Context) (audit.Report, error)
}

// AuditTrail is what /audit needs.
type AuditTrail struct {
	Audit auditReader
	Theme *themes.Theme
	Here  *time.Location
}

// AuditWanted is what /audit is to show.
type AuditWanted struct {
	Verify bool
	Row    int64  // 0: none
	Name   string // an agent's name; "": all agents
	Before int64  // lines before this row
}

// ReadAudit parses the arguments of /audit.
func ReadAudit(args string) (w AuditWanted, err error) {
	w.Before = math.MaxInt64
	for n, word := range strings.Fields(args) {
		before, pages := strings.CutPrefix(word, "before=")
		number, err := strconv.ParseInt(strings.TrimPrefix(before, "#"), 10, 64)
		switch isNumber := err == nil && number > 0; {
		case pages && !isNumber:
			return w, fmt.Errorf("%q is not a row number", before)
		case pages:
			w.Before = number
		case n > 0 && (w.Verify || w.Row != 0 || w.Name != ""):
			return w, fmt.Errorf("unexpected %q", word)
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

// Show returns a function that reads the audit and returns the intent to show it.
func (e AuditTrail) Show(w AuditWanted) func(ctx context.Context) (intent.Intent, error) {
	switch {
	case w.Verify:
		return e.verified
	case w.Row != 0:
		return func(ctx context.Context) (intent.Intent, error) { return e.row(ctx, w.Row) }
	}
	return func(ctx context.Context) (intent.Intent, error) { return e.page(ctx, w) }
}

func (e AuditTrail) verified(ctx context.Context) (intent.Intent, error) {
	r, err := e.Audit.Verify(ctx)
	if err != nil {
		return nil, err
	}
	return intent.Said{Text: r.Says()}, nil
}

// page shows a page of lines, newest first.
func (e AuditTrail) page(ctx context.Context, w AuditWanted) (intent.Intent, error) {
	lines, err := e.Audit.List(ctx, audit.Wanted{Name: w.Name, Before: w.Before, Limit: AuditPage + 1})
	if err != nil {
		return nil, err
	}
	title := "Audit"
	if w.Name != "" {
		title += " of " + w.Name
	}
	if len(lines) == 0 {
		return intent.Said{Text: title + ": nothing here."}, nil
	}
	var rows []dialog.Row
	for n := len(lines) - 1; n >= max(0, len(lines)-AuditPage); n-- {
		rows = append(rows, dialog.Row{Left: format.AuditHead(lines[n], e.Here), Right: format.AuditGist(lines[n])})
	}
	if len(lines) > AuditPage {
		older := append(strings.Fields("/audit "+w.Name), fmt.Sprintf("before=%d", lines[1].ID))
		rows = append(rows, dialog.Row{Left: "older", Right: strings.Join(older, " ")})
	}
	return intent.Open{Box: dialog.NewTable(e.Theme, title, rows), What: "the audit"}, nil
}

// wide is the number of columns for which a row is laid out at first.
const wide = 80

// row shows the call that a row belongs to, or the row itself.
func (e AuditTrail) row(ctx context.Context, n int64) (intent.Intent, error) {
	l, ok, err := e.Audit.Find(ctx, n)
	if err == nil && !ok {
		err = fmt.Errorf("the audit has no row %d; /audit lists them", n)
	}
	if err != nil {
		return nil, err
	}
	box := dialog.NewReader(e.Theme, "Audit "+format.AuditHead(l, e.Here), format.AuditFields(l, e.Here).Rows(), format.AuditArgs(l.Args), wide)
	return intent.Open{Box: box, What: "the audit"}, nil
}
