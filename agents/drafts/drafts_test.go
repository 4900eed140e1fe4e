package drafts

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"fantail/store"
	"fantail/store/storetest"
)

// TestSave: what stands in a screen's boxes is offered to nobody while that is there, and to one screen when the host
// that knew it was killed; what a screen leaves takes its place.
func TestSave(t *testing.T) {
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
	takes := func(s *Screen, want ...string) {
		t.Helper()
		ds, err := s.Take(ctx)
		must(err)
		var got []string
		for _, d := range ds {
			got = append(got, d.Text)
		}
		if slices.Sort(got); !slices.Equal(got, want) { // two of the same moment come in any order
			t.Errorf("took %q, want %q", got, want)
		}
	}
	host := &Rows{DB: db}
	a, b := host.Arrive(), host.Arrive()
	must(a.Save(ctx, []Draft{{Agent: agent, Text: "ha"}}))
	must(a.Save(ctx, []Draft{{Agent: agent, Text: "half"}}))
	must(b.Save(ctx, []Draft{{Agent: agent, Text: "another half"}}))
	takes(host.Arrive())

	next := &Rows{DB: db} // the first one was killed
	c := next.Arrive()
	takes(c, "another half", "half")
	takes(next.Arrive())

	must(c.Save(ctx, []Draft{{Agent: agent, Text: "half"}}))
	if _, err := c.Leave(ctx, []Draft{{Agent: agent, Text: "whole"}}); err != nil {
		t.Fatal(err)
	}
	must(c.Save(ctx, []Draft{{Agent: agent, Text: "late"}}))
	takes(next.Arrive(), "whole")
	takes((&Rows{DB: db}).Arrive())
}
