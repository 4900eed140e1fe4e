package transcript

import (
	"strings"
	"testing"

	"fantail/agents/history"
)

// TestAside: local text in a tab whose transcript was not read yet is below the transcript afterwards.
func TestAside(t *testing.T) {
	v, _ := view(t)
	v.Said("/why", "it waits", Plain)
	back := Aside(v)
	v.Append([]history.Entry{{Seq: 1, Kind: history.EntryPrompt, Text: "look"}, {Seq: 2, Kind: history.EntryText, Text: "I looked."}})
	back()
	v.Append([]history.Entry{{Seq: 3, Kind: history.EntryText, Text: "More."}})
	got := plain(settled(v, 80, 20))
	at := -1
	for _, want := range []string{"look", "I looked.", "it waits", "More."} {
		n := strings.Index(got, want)
		if n <= at {
			t.Errorf("%q stands at %d, after %d:\n%s", want, n, at, got)
		}
		at = n
	}
}
