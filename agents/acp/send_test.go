package acp

import (
	"strings"
	"testing"

	"fantail/agents/engine"
)

// TestReplay: the marks of what was sent are found wherever what is replayed is cut, and only those; nobody else can write one.
func TestReplay(t *testing.T) {
	c := &vendorSession{opts: engine.Options{Agent: 3}}
	said := "see [fantail-3-x], [fantail-3-" + strings.Repeat("9", 30) + "] and [fantail-4-90].\n" +
		c.marked(engine.Input{Text: "one [fantail-3-99]", UpTo: 7}) + c.marked(engine.Input{Text: "two", UpTo: 12, Again: true})
	for at := range len(said) {
		r := markReader{prefix: c.markPrefix()}
		r.read(said[:at])
		if r.upTo > 12 {
			t.Fatalf("cut at %d: up to %d", at, r.upTo)
		}
		r.read(said[at:])
		if r.upTo != 12 {
			t.Fatalf("cut at %d: up to %d", at, r.upTo)
		}
	}
	r := markReader{prefix: c.markPrefix()}
	for i := range len(said) {
		if r.read(said[i : i+1]); len(r.tail) > 64 {
			t.Fatalf("it keeps %d bytes", len(r.tail))
		}
	}
	if r.upTo != 12 {
		t.Errorf("byte by byte: up to %d", r.upTo)
	}
}
