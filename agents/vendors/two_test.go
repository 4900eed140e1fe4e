package vendors

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/event"
)

// TestTwo runs once more, with version 2 of the protocol, what does not tell of version 1 alone.
func TestTwo(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"vendor": TestVendor, "mail": TestVendor_mail, "asks": TestVendor_asks, "parked": TestAsks_parked, "late": TestAsks_late,
		"asks twice": TestAsks_twice, "background": TestAsks_background, "taken back": TestAsks_takenBack, "form": TestAsks_form,
		"tools": TestVendor_tools, "models": TestModels, "models first": TestModels_first,
		"queued": TestQueued, "undo": TestUndo, "interactive": TestInteractive, "again": TestAgain,
		"flood": func(t *testing.T) { flood(t, 20_000) }, "hostile": TestWire_hostile, "cut": TestWire_cut, "unasked": TestUnasked,
		"unasked prompted": TestUnasked_prompted, "unasked stopped": TestUnasked_stopped, "unasked dies": TestUnasked_dies,
	} {
		t.Run(name, test)
	}
}

// TestTwo_state: what the agent does by itself is over when it says so, however quiet it is meanwhile.
func TestTwo_state(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.answers("First.")
		w.rests("main", 1)
		n.Works()
		w.State("main", event.Running)
		time.Sleep(time.Hour)
		n.Say("The build is over.")
		time.Sleep(time.Hour)
		if i := w.Info("main"); i.State != event.Running || strings.Count(w.transcript("main"), "ended: ") != 1 {
			t.Errorf("it is %s: %s", i.State, w.transcript("main"))
		}
		n.Ceases()
		w.rests("main", 2)
		if got := w.transcript("main"); !strings.HasSuffix(got, "notice: It goes on by itself.\ntext: The build is over.\nended: completed ") {
			t.Error(got)
		}
		p.exchange(w, "two", "Second.")
		w.Balanced()
	})
}

// TestTwo_acceptedLate: what a prompt comes to may be heard before it is known to be in the conversation. Nothing is put into
// its turn until then, and it is told once.
func TestTwo_acceptedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepts := make(chan struct{})
		p := newPuppets(t, func(a *acptest.Agent) { a.Steers, a.Late = true, accepts })
		w, _ := p.open(t, setting{})
		w.Prompt("one")
		n := <-p.turns
		n.Say("I look.")
		n.Call("c1", "read", "Read a file")
		n.Done("c1", "its text")
		time.Sleep(time.Minute)
		close(accepts)
		n.answers("Done.")
		w.rests("main", 1)
		if got := w.transcript("main"); strings.Contains(got, "sent once more") || !strings.HasSuffix(got, "result: its text\ntext: Done.\nended: completed ") {
			t.Error(got)
		}
		p.exchange(w, "two", "Second.")
		w.Balanced()
	})
}
