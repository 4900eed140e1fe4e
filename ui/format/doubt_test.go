package format

import (
	"strings"
	"testing"

	"fantail/agents/tasks"
)

// A task that another host wrote does not start by itself: its row bears no seal of this one.
func TestDoubt_whenRespawned(t *testing.T) {
	var d Doubt
	for seal, want := range map[string]string{
		"":  "Queued old again; an earlier host wrote what it says: /run shows that and asks",
		"s": "Queued old again; it starts by itself",
	} {
		if got := d.WhenRespawned(tasks.Task{Name: "old", Seal: seal}); !strings.HasPrefix(got, want) {
			t.Errorf("seal %q: %q", seal, got)
		}
	}
}
