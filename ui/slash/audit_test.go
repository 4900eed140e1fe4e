package slash

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fantail/agents/audit"
	"fantail/store"
	"fantail/themes"
	"fantail/ui/intent"
)

func TestRead(t *testing.T) {
	all := int64(math.MaxInt64)
	for args, want := range map[string]AuditWanted{
		"": {Before: all}, "lint": {Name: "lint", Before: all}, "12": {Row: 12, Before: all}, "#12": {Row: 12, Before: all},
		"--verify": {Verify: true, Before: all}, "before=9": {Before: 9}, "lint before=#9": {Name: "lint", Before: 9},
		"before=9 lint": {Name: "lint", Before: 9}, "-1": {Name: "-1", Before: all},
	} {
		if got, err := ReadAudit(args); err != nil || got != want {
			t.Errorf("%q: %+v, %v", args, got, err)
		}
	}
	for args, want := range map[string]string{
		"lint tests": `unexpected "tests"`, "before=x": `"x" is not a row number`, "12 --verify": "unexpected", "before=0": "not a row number",
	} {
		if _, err := ReadAudit(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// rows is an audit with so many calls.
type rows int

var errDisk = errors.New("the disk is gone")

func (n rows) at(id int64) audit.Line {
	return audit.Line{Audit: store.Audit{
		ID: id, What: audit.Call, Name: "lint", Tool: "bash", Args: `{"command":"make\u001b[2J x"}`, At: time.Unix(id, 0), Decision: audit.Allowed,
		By: "yolo mode", Outcome: "ok", Bytes: 12, Millis: 1500,
	}}
}

func (n rows) List(_ context.Context, w audit.Wanted) (ls []audit.Line, err error) {
	if n < 0 {
		return nil, errDisk
	}
	for id := max(1, min(int64(n)+1, w.Before)-int64(w.Limit)); id < min(int64(n)+1, w.Before); id++ {
		ls = append(ls, n.at(id))
	}
	return ls, nil
}

func (n rows) Find(_ context.Context, id int64) (audit.Line, bool, error) {
	if n < 0 {
		return audit.Line{}, false, errDisk
	}
	return n.at(id), id <= int64(n), nil
}

func (n rows) Verify(context.Context) (audit.Report, error) {
	if n < 0 {
		return audit.Report{}, errDisk
	}
	return audit.Report{Rows: int64(n), Flaw: "row 3 is missing"}, nil
}

// shown is what the command shows.
func shown(t *testing.T, n rows, args string) string {
	t.Helper()
	w, err := ReadAudit(args)
	if err != nil {
		t.Fatal(err)
	}
	theme, err := themes.Load(themes.Default(true), true)
	if err != nil {
		t.Fatal(err)
	}
	i, err := AuditTrail{Audit: n, Theme: theme, Here: time.UTC}.Show(w)(t.Context())
	switch i := i.(type) {
	case intent.Open:
		text := strings.Join(i.Box.Lines(110, 500), "\n")
		if strings.Contains(text, "\x1b[2J") {
			t.Error("it steers the terminal")
		}
		return ansi.Strip(text)
	case intent.Said:
		return i.Text
	}
	return fmt.Sprint(err)
}

// A page has its newest lines first and says how to get at older ones; no line steers the terminal.
func TestShow(t *testing.T) {
	page := shown(t, 201, "lint")
	first, last := strings.Index(page, "#201 1970-01-01 00:03:21 lint"), strings.Index(page, "#2 1970")
	if first < 0 || last < first || strings.Contains(page, "#1 1970") || !strings.Contains(page, "/audit lint before=2 ") ||
		!strings.Contains(page, "Audit of lint") || !strings.Contains(page, "bash make x · allowed: yolo mode · ok, 12 bytes, 1.5s") {
		t.Errorf("%d %d\n%.1500s", first, last, page)
	}
	if page := shown(t, 201, "before=2"); !strings.Contains(page, "#1 1970") || strings.Contains(page, "#2 1970") || strings.Contains(page, "older") {
		t.Errorf("the rest: %s", page)
	}
	if page := shown(t, 200, ""); !strings.Contains(page, "#1 1970") || strings.Contains(page, "older") {
		t.Errorf("all: %.300s", page)
	}
	for args, want := range map[string]string{
		"2": "Audit #2 1970-01-01 00:00:02 lint", "9": "the audit has no row 9; /audit lists them", "--verify": "The audit is damaged: row 3 is missing.",
	} {
		if got := shown(t, 3, args); !strings.Contains(got, want) {
			t.Errorf("%s: %s", args, got)
		}
		if got := shown(t, -1, args); got != errDisk.Error() {
			t.Errorf("%s fails: %s", args, got)
		}
	}
	if got := shown(t, -1, ""); got != errDisk.Error() {
		t.Errorf("the list fails: %s", got)
	}
	if got := shown(t, 0, "lint"); got != "Audit of lint: nothing here." {
		t.Error(got)
	}
}
