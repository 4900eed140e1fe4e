package store_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"fantail/store"
	"fantail/store/storetest"
)

// TestDrafts_save: text in a screen's boxes is not offered while the screen exists. It is offered to one screen when
// the host was killed. The drafts that a screen leaves replace it.
func TestDrafts_save(t *testing.T) {
	ctx := context.Background()
	db, err := storetest.Open(ctx, filepath.Join(t.TempDir(), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	var agent int64
	if err := db.Write(ctx, "agent", func(tx *store.Tx) (err error) {
		agent, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", Created: tx.Now()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	takes := func(s *store.DraftScreen, want ...string) {
		t.Helper()
		ds, err := s.Take(ctx)
		must(err)
		var got []string
		for _, d := range ds {
			got = append(got, d.Text)
		}
		if slices.Sort(got); !slices.Equal(got, want) { // two with the same time come in any order
			t.Errorf("took %q, want %q", got, want)
		}
	}
	host := &store.Drafts{DB: db}
	a, b := host.Arrive(), host.Arrive()
	must(a.Save(ctx, []store.Draft{{Agent: agent, Text: "ha"}}))
	must(a.Save(ctx, []store.Draft{{Agent: agent, Text: "half"}}))
	must(b.Save(ctx, []store.Draft{{Agent: agent, Text: "another half"}}))
	takes(host.Arrive())

	next := &store.Drafts{DB: db} // the first one was killed
	c := next.Arrive()
	takes(c, "another half", "half")
	takes(next.Arrive())

	must(c.Save(ctx, []store.Draft{{Agent: agent, Text: "half"}}))
	if _, err := c.Leave(ctx, []store.Draft{{Agent: agent, Text: "whole"}}); err != nil {
		t.Fatal(err)
	}
	must(c.Save(ctx, []store.Draft{{Agent: agent, Text: "late"}}))
	takes(next.Arrive(), "whole")
	takes((&store.Drafts{DB: db}).Arrive())
}
