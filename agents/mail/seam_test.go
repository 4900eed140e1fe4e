package mail

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools/permission"
)

// fleetOf is a fleet of these agents, where the human sits and types nothing.
func fleetOf(t *testing.T, is ...event.Info) *fleet.Fleet {
	f := fleet.New(t.Context(), fleet.Options{
		Now: time.Now, Resolve: func(name string) (llm.Model, error) { return llm.Model{Name: name}, nil },
		Modes: func() (holds, coming permission.Mode) { return permission.Yolo, "" },
		Wall:  func() permission.Sandbox { return permission.NoSandbox },
	})
	for _, i := range is {
		f.Load(f.NewAgent(i, 0))
	}
	f.Humans.Arrive().Pressed(time.Now().Add(time.Hour))
	return f
}

// office is a delivery over a real database, whose sorter does not run.
type office struct {
	*Delivery
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
	main := event.Info{ID: o.id, Name: "main", Kind: event.Main, State: event.Running, Doing: doing}
	if doing == "" {
		main.State = event.Idle
	}
	o.Delivery = New(Options{DB: db, Inbox: inbox.New(db, func(inbox.Change) {}), Now: time.Now, Fleet: fleetOf(t, main)})
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

// entering returns the messages that enter if the sorter has looked only at those up to upTo.
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

// TestInterrupt_needsNoSorter: mail that was stored before a seam enters there, even if the sorter has not looked at
// it yet.
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

// TestPolicy_oldestFirst: messages that were not looked at yet do not pass earlier ones, however many of them fit.
// Spec: M-2, E-25.
func TestPolicy_oldestFirst(t *testing.T) {
	o := newOffice(t, "", func(o *policy.Overrides) { o.From = map[string]policy.Mode{"other": policy.Interrupt} })
	var ids []int64
	for range maxTaken + 60 {
		ids = append(ids, o.mail("ci", inbox.Next))
	}
	if got := o.entering(ids[49], Seam{Typed: true}); !slices.Equal(got, ids[:maxTaken]) {
		t.Errorf("%v\nenter, want %v", got, ids[:maxTaken])
	}
}
