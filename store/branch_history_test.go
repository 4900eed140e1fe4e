package store

import (
	"fmt"
	"strings"
	"testing"
)

// TestLine: the transcript of a branch begins with the entries of the agent that it branched off, up to that turn, also
// over two branches, and later entries of either are not in the other's.
func TestLine(t *testing.T) {
	db := fresh(t)
	var old, branch, twig int64
	write(t, db, func(tx *Tx) error {
		must := func(n int64, err error) int64 {
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		agent := func(name string, behind int64) int64 {
			return must(tx.AddAgent(Agent{Name: name, Kind: "helper", Model: "m", State: "idle", Branch: behind}))
		}
		says := func(a int64, words ...string) (last int64) {
			for _, w := range words {
				last = must(tx.BeginTurn(Turn{Agent: a, Kind: "agent"}))
				must(tx.Append(a, last, "prompt", w))
				must(tx.Append(a, last, "ended", w+"!"))
				must(tx.Append(a, 0, "notice", w+"?"))
			}
			return last
		}
		old = agent("old", 0)
		first := says(old, "one")
		says(old, "two")
		branch = agent("branch", first)
		second := says(branch, "three")
		says(old, "four")
		twig = agent("twig", second)
		says(branch, "five")
		says(twig, "six")
		return nil
	})
	read(t, db, func(rx *Rx) error {
		for _, c := range []struct {
			agent       int64
			all, turns  string
			before, end string // the page before the last entry but one, the last prompt
		}{
			{old, "one one! one? two two! two? four four! four?", "1 2 4", "two? four", "four"},
			{branch, "one one! three three! three? five five! five?", "1 3 5", "three? five", "five"},
			{twig, "one one! three three! six six! six?", "1 3 6", "three! six", "six"},
		} {
			after, err := rx.EntriesAfter(c.agent, 0, 0)
			if got := words(after); err != nil || got != c.all {
				t.Errorf("the transcript is %q, want %q; %v", got, c.all, err)
			}
			page, err := rx.EntriesBefore(c.agent, after[len(after)-2].Seq, 2)
			if got := words(page); err != nil || got != c.before {
				t.Errorf("the page is %q, want %q; %v", got, c.before, err)
			}
			if last, ok, err := rx.LastEntry(c.agent, "prompt"); !ok || err != nil || last.Data != c.end {
				t.Errorf("the last prompt is %q, want %q; %v", last.Data, c.end, err)
			}
			ts, err := rx.Turns(c.agent)
			var ids []string
			for _, x := range ts {
				ids = append(ids, fmt.Sprint(x.ID))
			}
			if got := strings.Join(ids, " "); err != nil || got != c.turns {
				t.Errorf("the turns are %s, want %s; %v", got, c.turns, err)
			}
		}
		return nil
	})
}

func words(es []Entry) string {
	var ws []string
	for _, e := range es {
		ws = append(ws, e.Data)
	}
	return strings.Join(ws, " ")
}
