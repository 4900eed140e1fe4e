package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fantail/store"
)

// Line is an entry of the audit for people: a call with its end, or another row.
type Line struct {
	store.Audit               // the row; of a call, what its later rows say as well
	Rows        []store.Audit // all of the call, in their order
	Open        bool          // a call that has no end
}

// Wanted selects lines. A zero field selects all.
type Wanted struct {
	After, Before int64 // only rows after and before these
	Name          string
	Limit         int
}

// Reader reads the audit.
type Reader struct {
	DB  *store.DB
	Dir string // the workspace's data directory
}

// List returns the first selected lines, or with Before the last, in their order.
func (b Reader) List(ctx context.Context, w Wanted) (lines []Line, err error) {
	err = b.DB.Read(ctx, func(rx *store.Rx) error {
		lines = nil
		rows, err := store.AuditRows(&rx.View, store.AuditWanted{
			After: w.After, Before: w.Before, Name: w.Name, Limit: w.Limit, Not: []string{Runs, Ended},
		})
		if err != nil {
			return err
		}
		for _, a := range rows {
			l := Line{Audit: a}
			if a.What == Call {
				if l, err = whole(&rx.View, a); err != nil {
					return err
				}
			}
			lines = append(lines, l)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the audit: %w", err)
	}
	return lines, nil
}

// Records returns rows as List does, each by itself.
func (b Reader) Records(ctx context.Context, w Wanted) (rs []Record, err error) {
	rows, err := read(ctx, b.DB, store.AuditWanted{After: w.After, Before: w.Before, Name: w.Name, Limit: w.Limit})
	if err != nil {
		return nil, err
	}
	for _, a := range rows {
		rs = append(rs, RecordOf(a))
	}
	return rs, nil
}

// Records returns the rows of the line.
func (l Line) Records() (rs []Record) {
	for _, a := range l.Rows {
		rs = append(rs, RecordOf(a))
	}
	if len(rs) == 0 {
		rs = append(rs, RecordOf(l.Audit))
	}
	return rs
}

// Find returns the line that a row belongs to; false: there is no such row.
func (b Reader) Find(ctx context.Context, id int64) (l Line, ok bool, err error) {
	err = b.DB.Read(ctx, func(rx *store.Rx) error {
		a, there, err := store.AuditRow(&rx.View, id)
		if ok = there; err != nil || !there {
			return err
		}
		l, err = whole(&rx.View, a)
		return err
	})
	return l, ok, err
}

// whole collects the rows of a call.
func whole(v *store.View, a store.Audit) (Line, error) {
	l := Line{Audit: a}
	if a.Call == "" {
		return l, nil
	}
	rows, err := store.AuditOf(v, a.Agent, a.Call)
	if err != nil {
		return l, err
	}
	l.Rows, l.Open = rows, true
	for _, r := range rows {
		switch r.What {
		case Call:
			l.ID, l.At, l.What, l.Turn, l.Args, l.Tool = r.ID, r.At, r.What, r.Turn, r.Args, r.Tool
		case Runs, Ended:
			if r.Decision != "" {
				l.Decision, l.By = r.Decision, r.By
			}
			if !r.Began.IsZero() {
				l.Began = r.Began
			}
			l.Outcome, l.Bytes, l.Millis = r.Outcome, r.Bytes, r.Millis
			l.Open = r.What == Runs
		}
	}
	return l, nil
}

// Record is a row as a line of JSON.
type Record struct {
	Row      int64           `json:"row"`
	At       string          `json:"at"`
	What     string          `json:"what"`
	Agent    string          `json:"agent,omitempty"`
	AgentID  int64           `json:"agent_id,omitempty"`
	Turn     int64           `json:"turn,omitempty"`
	Call     string          `json:"call,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Decision string          `json:"decision,omitempty"`
	By       string          `json:"by,omitempty"`
	Outcome  string          `json:"outcome,omitempty"`
	Bytes    int64           `json:"bytes,omitempty"`
	Began    string          `json:"began,omitempty"`
	Millis   int64           `json:"ms,omitempty"`
	Hash     string          `json:"hash"`
}

// RecordOf returns a row as a line of JSON.
func RecordOf(a store.Audit) Record {
	r := Record{
		Row: a.ID, At: stamped(a.At), What: a.What, Agent: a.Name, AgentID: a.Agent, Turn: a.Turn, Call: a.Call, Tool: a.Tool,
		Decision: a.Decision, By: a.By, Outcome: a.Outcome, Bytes: a.Bytes, Began: stamped(a.Began), Millis: a.Millis, Hash: a.Hash,
	}
	if json.Valid([]byte(a.Args)) {
		r.Args = json.RawMessage(a.Args)
	} else if a.Args != "" {
		r.Args, _ = json.Marshal(a.Args) // a text can always be encoded
	}
	return r
}

func stamped(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
