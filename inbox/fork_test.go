package inbox

import "testing"

// TestFork_handler: a message that a fork took has its name, sanitised.
//
// Spec: R-46.
func TestFork_handler(t *testing.T) {
	m := Message{TakenBy: ByForkOf("main-fork-1\x1b[2J")}
	if fork, ok := m.Handler(); !ok || fork != "main-fork-1 [2J" || m.Fate() != "handled by main-fork-1 [2J" {
		t.Errorf("%q, %v; %q", fork, ok, m.Fate())
	}
	if _, ok := (Message{TakenBy: "check"}).Handler(); ok {
		t.Error("a check is a fork")
	}
}
