package mail

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/store/storetest"
)

// alone is a fleet of one agent.
type alone struct{ info event.Info }

func (a *alone) Info(int64) *event.Info { return &a.info }
func (a *alone) Living() iter.Seq[*event.Info] {
	return func(yield func(*event.Info) bool) { yield(&a.info) }
}
func (*alone) Poke(int64)                     {}
func (*alone) Told()                          {}
func (*alone) Trouble(int64, error)           {}
func (*alone) Notice(context.Context, string) {}

// Away and Drafting: the human sits there and types nothing.
func (*alone) Away(time.Time) time.Duration { return 0 }
func (*alone) Drafting(int64) bool          { return false }

// office is a mail room over a real database, whose sorter does not run.
type office struct {
	*Room
	t  *testing.T
	id int64 // the agent
}

func newOffice(t *testing.T, doing string, said func(o *policy.Overrides)) office {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	o := office{t: t}
	if err := db.Write(t.Context(), "make an agent", func(tx *store.Tx) error {
		o.id, err = tx.AddAgent(store.Agent{Kind: string(event.Main), Name: "main", State: string(event.Idle)})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	one := &alone{info: event.Info{ID: o.id, Name: "main", Kind: event.Main, State: event.Running, Doing: doing}}
	if doing == "" {
		one.info.State = event.Idle
	}
	o.Room = New(Options{DB: db, Inbox: inbox.New(db, func(inbox.Rung) {}), Now: time.Now, Mu: &sync.Mutex{}, Fleet: one, Human: one})
	if err := o.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Opens(o.id)
	if _, err := o.Override(t.Context(), o.id, said); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o office) mail(from string, deliver inbox.Deliver) int64 {
	o.t.Helper()
	id, err := o.inbox.Deposit(o.t.Context(), inbox.Message{Recipient: o.id, From: from, Body: "x", Deliver: deliver})
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

// entering are the messages that enter, had the sorter only looked at those up to upTo.
func (o office) entering(upTo int64, at Seam) (ids []int64) {
	o.t.Helper()
	o.Tray(o.id).sorting = sorting{upTo: upTo}
	if err := o.db.Write(o.t.Context(), "look", func(tx *store.Tx) error {
		s, err := o.Arrivals(tx, o.id, at)
		ids = s.ids
		return err
	}); err != nil {
		o.t.Fatal(err)
	}
	return ids
}

// TestInterrupt_needsNoSorter: mail that was stored before a seam enters there, even if
// nobody has looked at it yet.
// Spec: M-2.
func TestInterrupt_needsNoSorter(t *testing.T) {
	o := newOffice(t, "streaming", func(o *policy.Overrides) { o.Mode = policy.Interrupt })
	old, late := o.mail("ci", inbox.Hold), o.mail("ci", inbox.Hold)
	for upTo, want := range map[int64][]int64{0: {old, late}, old: {late}, late: nil} {
		if got := o.entering(upTo, Seam{}); !slices.Equal(got, want) {
			t.Errorf("sorted up to #%d: %v enter, want %v", upTo, got, want)
		}
	}
}

// TestPolicy_oldestFirst: what nobody has looked at yet does not pass what came before
// it, however much of it fits.
// Spec: M-2, E-25.
func TestPolicy_oldestFirst(t *testing.T) {
	o := newOffice(t, "", func(o *policy.Overrides) { o.From = map[string]policy.Mode{"other": policy.Interrupt} })
	var ids []int64
	for range mostTaken + 60 {
		ids = append(ids, o.mail("ci", inbox.Next))
	}
	if got := o.entering(ids[49], Seam{Typed: true}); !slices.Equal(got, ids[:mostTaken]) {
		t.Errorf("%v\nenter, want %v", got, ids[:mostTaken])
	}
}
