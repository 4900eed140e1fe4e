package host

import (
	"testing"

	"fantail/ui/screen/wire"
)

// TestSteer_command: the host itself refuses an agent's command that steers agents, whichever program sends the
// request, and before it looks whether there are any agents.
func TestSteer_command(t *testing.T) {
	h := &Host{opened: make(chan struct{})}
	for _, do := range steers {
		ask := wire.Fields{wire.Do + "=" + do, wire.Name + "=main", wire.Body + "=go on"}
		if got := h.steer(Hello{command: true}, ask).Get(wire.Refused); got != errLooksOn.Error() {
			t.Errorf("%s by an agent's command: %q", do, got)
		}
		if got := h.steer(Hello{}, ask).Get(wire.Refused); got != errNoAgents {
			t.Errorf("%s by the human, while nothing is open: %q", do, got)
		}
	}
	if len(steers) != 5 {
		t.Errorf("%d ways to steer: each is the human's alone", len(steers))
	}
}
