package audit

import (
	"context"
	"fmt"
	"math"
	"time"

	"fantail/store"
)

// Report is the result of Verify.
type Report struct {
	Rows  int64    // that are correct
	Flaw  string   // the first fault, with the row; "": none
	Notes []string // findings that are no damage
}

// Says returns the report in sentences.
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

// limits is what no report can detect.
const limits = "This shows accidents and the hands of others. Whoever can write both the database and the file audit.head, " +
	"as you can, can write them anew so that nothing shows."

// Verify checks each row of the audit and the file of its end. It reads at most a page of rows at a time, and stops at
// the first wrong row.
func (b Reader) Verify(ctx context.Context) (Report, error) {
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

	// How often and at what interval to wait for a running program, which writes the file of the end soon after its
	// commit.
	patience = 20
	pause    = 10 * time.Millisecond
)

// caughtUp reads the file of the end once it names that row or a later one; it waits only a moment for that.
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

// broken says what is wrong with a row that follows last, "" if nothing.
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
