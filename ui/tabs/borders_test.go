package tabs

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fantail/agents/event"
	"fantail/themes"
)

// TestLower: the lower rule of a tab without a box says what can be typed there, if the screen is wide enough, and
// never exceeds the width.
func TestLower(t *testing.T) {
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		info event.Info
		want string
	}{
		{event.Info{Kind: event.Sub, State: event.Running}, "m message · / command · w w wrap up"},
		{event.Info{Kind: event.Sub, State: event.Done}, "─ m continue · / command · /close"},
		{event.Info{Kind: event.Fork, State: event.Running, Handles: 7}, "Handling message #7 · closes itself · / command"},
		{event.Info{Kind: event.Fork, State: event.Done, Handles: 7}, "Handled message #7 · /close"},
	} {
		ts := &Tabs{Look: Look{Theme: theme, Now: time.Now}}
		c.info.ID, c.info.Name = 2, "kid"
		ts.Add(ts.Make(c.info))
		for _, w := range []int{200, 80, 24} {
			line := ansi.Strip(ts.Lower(w))
			if n := ansi.StringWidth(line); n != w {
				t.Errorf("%s: %d columns of %d: %q", c.want, n, w, line)
			}
			if w == 200 && !strings.Contains(line, c.want) {
				t.Errorf("%q lacks %q", line, c.want)
			}
		}
	}
}
