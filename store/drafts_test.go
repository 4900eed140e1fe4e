package store

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDrafts: an agent has one draft, the newest, byte for byte; the older one is returned, and a draft that was taken
// is gone.
func TestDrafts(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000).UTC()
	db := at(t, &now)
	main, helper := agent(t, db, "main"), agent(t, db, "oauth")
	odd := "tab\t, \x00, \xff\xfe, \r\n and überall" + strings.Repeat("x", 1<<20)
	leave := func(d Draft) (older Draft, ok bool) {
		t.Helper()
		write(t, db, func(tx *Tx) (err error) {
			older, ok, err = LeaveDraft(tx, d)
			return err
		})
		return older, ok
	}
	if older, ok := leave(Draft{Agent: helper, Text: odd, Pastes: "[[1,2]]"}); ok {
		t.Errorf("older: %+v", older)
	}
	leave(Draft{Agent: main, Text: "first"})
	first := now
	now = now.Add(time.Minute)
	if older, ok := leave(Draft{Agent: main, Text: "second"}); !ok || older.Text != "first" || !older.Left.Equal(first) {
		t.Errorf("older: %+v, %v", older, ok)
	}
	then := now.Add(-time.Hour)
	if older, ok := leave(Draft{Agent: main, Text: "put back", Left: then}); !ok || older.Text != "second" {
		t.Errorf("older: %+v, %v", older, ok)
	}

	var mu sync.Mutex
	var got [][]Draft
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var ds []Draft
			write(t, db, func(tx *Tx) (err error) {
				ds, err = TakeDrafts(tx, nil)
				return err
			})
			if len(ds) > 0 {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, ds)
			}
		})
	}
	wg.Wait()
	want := [][]Draft{{{Agent: main, Text: "put back", Left: then}, {Agent: helper, Text: odd, Pastes: "[[1,2]]", Left: first}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d screens got drafts: %.200s", len(got), fmt.Sprint(got))
	}
}
