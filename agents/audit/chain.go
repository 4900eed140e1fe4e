package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"fantail/store"
)

// sum returns the hash of a row that follows one with the hash prev. It hashes each column with its length, so that no
// text can move from one to the next.
func sum(prev string, a store.Audit) string {
	h := sha256.New()
	field := func(s string) {
		fmt.Fprintf(h, "%d:", len(s))
		_, _ = io.WriteString(h, s) // a hash accepts every write
	}
	at := func(t time.Time) {
		if t.IsZero() {
			field("")
			return
		}
		field(fmt.Sprint(t.UnixMilli()))
	}
	field(prev)
	field(fmt.Sprint(a.ID))
	at(a.At)
	field(a.What)
	field(fmt.Sprint(a.Agent))
	field(a.Name)
	field(fmt.Sprint(a.Turn))
	field(a.Call)
	field(a.Tool)
	field(a.Args)
	field(a.Decision)
	field(a.By)
	field(a.Outcome)
	field(fmt.Sprint(a.Bytes))
	at(a.Began)
	field(fmt.Sprint(a.Millis))
	return hex.EncodeToString(h.Sum(nil))
}

// origin takes the place of the hash of the row before the first.
const origin = "0000000000000000000000000000000000000000000000000000000000000000"

// end is the end of the chain within a transaction.
type end struct {
	last  store.Audit
	chain string
}

// append adds a row to the chain, and has the file of its end written after the commit. The first row of this start is
// preceded by the mode that the agents began with, so that the mode of any row is in a row above it, without the
// configuration of that day. A start without rows needs none.
func (l *Log) append(tx *store.Tx, row store.Audit) error {
	var err error
	e := tx.Local(l, func() any {
		e := &end{chain: l.chain, last: store.Audit{Hash: origin}}
		last, some, failed := store.LastAudit(&tx.View)
		switch err = failed; {
		case err == nil && some:
			e.last = last
			e.chain, err = chainOf(&tx.View)
		case err == nil:
			err = l.link(tx, e, store.Audit{What: Begun, Args: spelled(e.chain)})
		}
		if err == nil && l.o.Mode != "" && last.ID == l.since {
			err = l.link(tx, e, store.Audit{What: Mode, Args: spelled(map[string]any{"mode": l.o.Mode}), By: l.o.Why})
		}
		tx.AfterCommit(func() { l.head.write(place{chain: e.chain, row: e.last.ID, hash: e.last.Hash}) })
		return e
	}).(*end)
	if err != nil {
		return err
	}
	return l.link(tx, e, row)
}

// link adds a row after the last one. It hashes the row as stored: without keys.
func (l *Log) link(tx *store.Tx, e *end, row store.Audit) error {
	row.ID, row.At = e.last.ID+1, tx.Now()
	for _, text := range []*string{&row.Name, &row.Call, &row.Tool, &row.Args, &row.By, &row.Outcome} {
		*text = l.o.Keys.Row(*text)
	}
	row.Hash = sum(e.last.Hash, row)
	if err := store.AddAudit(tx, row); err != nil {
		return err
	}
	e.last = row
	return nil
}

// chainOf returns the identity of this audit; "": its first row does not have it.
func chainOf(v *store.View) (string, error) {
	a, ok, err := store.AuditRow(v, 1)
	if err != nil || !ok {
		return "", err
	}
	return nameIn(a), nil
}

// nameIn returns the identity of the audit in its first row.
func nameIn(a store.Audit) (name string) {
	if a.What != Begun || json.Unmarshal([]byte(a.Args), &name) != nil {
		return ""
	}
	return name
}

// flaw is a fault at the end of the audit; why is "" if there is none.
type flaw struct {
	why    string
	damage bool // no accident of the program can cause it
}

// against compares the end of the audit with the file beside it; the zero place: there is no file.
func against(v *store.View, now place) (flaw, error) {
	last, some, err := store.LastAudit(v)
	switch {
	case err != nil, !some && now.row == 0:
		return flaw{}, err
	case now.chain == "":
		return flaw{fmt.Sprintf("the file audit.head is gone: nobody can tell whether rows behind row %d were cut off", last.ID), true}, nil
	case !some:
		return flaw{fmt.Sprintf("row 1 is missing, and all others to row %d, where the audit ended by the file audit.head", now.row), true}, nil
	}
	chain, err := chainOf(v)
	switch {
	case err != nil:
		return flaw{}, err
	case chain != now.chain:
		return flaw{"row 1 begins another audit than the one that the file audit.head belongs to: the database or that file was swapped", true}, nil
	case last.ID < now.row:
		return flaw{fmt.Sprintf("row %d is missing: the audit ends with row %d, but by the file audit.head with row %d", last.ID+1, last.ID, now.row), true}, nil
	}
	at, _, err := store.AuditRow(v, now.row)
	if now.row == 0 {
		at.Hash = origin
	}
	switch {
	case err != nil:
		return flaw{}, err
	case at.Hash != now.hash:
		return flaw{fmt.Sprintf("row %d is not the one that the file audit.head names: it, or a row before it, was written anew", now.row), true}, nil
	case last.ID > now.row:
		return flaw{fmt.Sprintf("row %d stands behind the end that the file audit.head names: the program was killed, or the power lost, "+
			"as it was written, or somebody added it", now.row+1), false}, nil
	}
	return flaw{}, nil
}
