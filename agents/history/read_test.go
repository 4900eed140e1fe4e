package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fantail/store"
)

// TestRead: what is older than the room is left out, except the summary and the files of instructions; more room reads it
// anew, and what comes later is added.
func TestRead(t *testing.T) {
	r := newRows(t)
	var talk Talk
	said := 0
	add := func(es ...Entry) {
		r.write(t, func(tx *store.Tx) error {
			b := Writer{Agent: r.agent}.Batch(tx)
			for _, e := range es {
				if _, err := b.Add(0, e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	talks := func(n int) (es []Entry) {
		for range n {
			said++
			es = append(es, Entry{Kind: EntryText, Text: fmt.Sprintf("%04d %s", said, strings.Repeat("x", 65))}) // 20 tokens
		}
		return es
	}
	is := func(what string, room int, begins string, entries int) {
		t.Helper()
		if err := r.db.Read(context.Background(), func(rx *store.Rx) error {
			newest, err := rx.NewestSeq()
			if err != nil {
				return err
			}
			return talk.Read(rx, r.agent, newest, room)
		}); err != nil {
			t.Fatal(err)
		}
		var first []string
		for _, e := range talk.Entries[:min(len(talk.Entries), 4)] {
			first = append(first, e.Text[:min(4, len(e.Text))])
		}
		if got := strings.Join(first, " "); got != begins || len(talk.Entries) != entries {
			t.Errorf("%s: %d entries, beginning with %q; want %d and %q", what, len(talk.Entries), got, entries, begins)
		}
		if !slices.IsSortedFunc(talk.Entries[min(1, len(talk.Entries)):], func(a, b Entry) int { return int(a.Seq - b.Seq) }) {
			t.Errorf("%s: they are in disorder", what)
		}
	}
	is("nothing", 100, "", 0)
	add(talks(10)...)
	add(Entry{Kind: EntryBriefed, Text: "file"})
	add(talks(989)...)
	is("all of it", 0, "0001 0002 0003 0004", 1000)
	talk = Talk{}
	is("what fits", 20_000, "0001 0002 0003 0004", 1000)
	talk = Talk{}
	is("the newest page", 1000, "file The  0750 0751", 252)
	add(talks(3)...)
	is("what came later", 1000, "file The  0750 0751", 255)
	is("more room", 6000, "file The  0503 0504", 502)
	add(Entry{Kind: EntrySummary, Text: "sum", Summary: &Summary{UpTo: 600}})
	add(talks(998)...)
	is("behind a summary that came later", 6000, "sum 0600 0601 0602", 1402)
	talk = Talk{}
	is("the summary is older than the cut", 6000, "sum The  1501 1502", 502)
	if got := talk.Request("m")[0].Parts; len(got) < 3 || !strings.Contains(fmt.Sprint(got), leftOut) {
		t.Errorf("the request begins with %+v", got)
	}
	add(Entry{Kind: EntryCleared})
	is("a new conversation", 6000, "", 0)
	add(talks(2)...)
	talk = Talk{}
	is("what came after it", 6000, "2001 2002", 2)
}
