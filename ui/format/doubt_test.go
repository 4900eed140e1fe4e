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
		"":  "Queued old again. An earlier host wrote it. /run to review and start",
		"s": "Queued old again. It starts on its own",
	} {
		if got := d.WhenRespawned(tasks.Task{Name: "old", Seal: seal}); !strings.HasPrefix(got, want) {
			t.Errorf("seal %q: %q", seal, got)
		}
	}
}
