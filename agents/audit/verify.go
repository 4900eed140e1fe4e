package audit

import (
	"context"
	"fmt"
	"math"
	"time"

	"fantail/store"
)

// Report is what a look at the whole audit found.
type Report struct {
	Rows  int64    // that were read and are as they should be
	Flaw  string   // the first thing that is wrong, with the row; "": nothing is
	Notes []string // what is no damage
}

// Says is the report in sentences.
func (r Report) Says() string {
	text := fmt.Sprintf("The audit is whole: %d rows, each behind the one before it.", r.Rows)
	if r.Rows == 0 {
		text = "The audit has no rows yet."
	}
	if r.Flaw != "" {
		text = "The audit is damaged: " + r.Flaw + "."
	}
	for _, n := range r.Notes {
		text += "\nNote: " + n + "."
	}
	return text + "\n" + limits
}

// limits is what no report can say.
const limits = "This shows accidents and the hands of others. Whoever can write both the database and the file audit.head, " +
	"as you can, can write them anew so that nothing shows."

// Verify looks at each row of the audit and at the file of its end. It reads no more than a page
// of rows at a time, and stops at the first row that is wrong.
func (b Book) Verify(ctx context.Context) (Report, error) {
	var r Report
	var old flaw // what a start found
	last := store.Audit{Hash: origin}
	for after := int64(math.MinInt64); ; after = last.ID {
		rows, err := read(ctx, b.DB, store.AuditWanted{After: after, Limit: page})
		if err != nil {
			return r, err
		}
		for _, a := range rows {
			if r.Flaw = broken(last, a); r.Flaw != "" {
				return r, nil
			}
			said := fmt.Sprintf("row %d says what a start of the program found on %s: %s", a.ID, a.At.Format(time.DateTime), a.By)
			switch {
			case a.What == Found && a.Outcome == behind:
				r.Notes = append(r.Notes, said)
			case a.What == Found && old.why == "":
				old.why = said
			case last.ID > 0 && a.At.Add(time.Second).Before(last.At):
				r.Notes = append(r.Notes, fmt.Sprintf("the clock went back by %s at row %d", last.At.Sub(a.At).Round(time.Second), a.ID))
			}
			r.Rows, last = r.Rows+1, a
		}
		if len(rows) < page {
			break
		}
	}
	now, err := caughtUp(ctx, HeadFile(b.Dir), last.ID)
	if err != nil {
		r.Flaw = err.Error()
		return r, nil
	}
	var f flaw
	if err := b.DB.Read(ctx, func(rx *store.Rx) (err error) {
		f, err = against(&rx.View, now)
		return err
	}); err != nil {
		return r, fmt.Errorf("verify the end of the audit: %w", err)
	}
	if f.damage || now.row < last.ID { // else rows were added since
		r.Flaw = f.why
	}
	if r.Flaw == "" {
		r.Flaw = old.why
	}
	return r, nil
}

const (
	page = 500 // rows are read at once

	// A program that goes on writes the file of the end so soon behind its commit.
	patience = 20
	pause    = 10 * time.Millisecond
)

// caughtUp reads the file of the end, once it names that row or one behind it; it waits for that only for a moment.
func caughtUp(ctx context.Context, path string, row int64) (now place, err error) {
	t := time.NewTicker(pause)
	defer t.Stop()
	for range patience {
		if now, err = readHead(path); err != nil || now.row >= row || now.chain == "" {
			return now, err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return now, context.Cause(ctx)
		}
	}
	return now, nil
}

// read returns rows of the audit.
func read(ctx context.Context, db *store.DB, w store.AuditWanted) (rows []store.Audit, err error) {
	err = db.Read(ctx, func(rx *store.Rx) (err error) {
		rows, err = store.AuditRows(&rx.View, w)
		return err
	})
	return rows, err
}

// broken says what is wrong with a row that stands behind the last one, "" if nothing.
func broken(last, a store.Audit) string {
	switch {
	case a.ID < 1:
		return fmt.Sprintf("row %d was put in: the first row is row 1", a.ID)
	case a.ID == last.ID+2:
		return fmt.Sprintf("row %d is missing: row %d follows row %d", last.ID+1, a.ID, last.ID)
	case a.ID > last.ID+2:
		return fmt.Sprintf("row %d is missing, and all others to row %d", last.ID+1, a.ID-1)
	case sum(last.Hash, a) != a.Hash:
		return fmt.Sprintf("row %d is not what was written behind row %d: it was edited, put in or moved, or what stood there was taken out", a.ID, last.ID)
	}
	return ""
}
