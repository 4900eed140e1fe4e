package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fantail/agents/history"
	"fantail/themes"
)

// TestReach: a view shows the wanted entry at its lower edge, also if that is on an older page, and stays there.
func TestReach(t *testing.T) {
	theme, err := themes.Load(themes.Default(true), true)
	if err != nil {
		t.Fatal(err)
	}
	page := func(from, to int) (es []history.Entry) {
		for i := from; i < to; i++ {
			es = append(es, history.Entry{Seq: int64(i), Kind: history.EntryPrompt, Text: fmt.Sprintf("entry %d.", i)})
		}
		return es
	}
	v := New(theme, time.Now)
	v.Append(page(200, 300))
	v.Lines(60, 10)
	if _, ok := v.Older(); ok {
		t.Fatal("an older page is wanted at the end")
	}
	v.Reach(50)
	for _, from := range []int{100, 0} {
		v.Lines(60, 10)
		if before, ok := v.Older(); !ok || before != int64(from+100) {
			t.Fatalf("the page before %d is not wanted", from+100)
		}
		v.Prepend(page(from, from+100), from > 0)
	}
	lines := v.Lines(60, 10)
	if !strings.Contains(lines[9], "entry 50.") {
		t.Errorf("it shows\n%s", strings.Join(lines, "\n"))
	}
	v.Append(page(300, 310))
	if again := v.Lines(60, 10); strings.Join(again, "\n") != strings.Join(lines, "\n") {
		t.Errorf("then it shows\n%s", strings.Join(again, "\n"))
	}
	v.Reach(308)
	if lines = v.Lines(60, 10); !strings.Contains(strings.Join(lines, "\n"), "entry 308.") {
		t.Errorf("near the end it shows\n%s", strings.Join(lines, "\n"))
	}
}
