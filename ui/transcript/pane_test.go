package transcript

import (
	"fmt"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"
)

// TestTextShowsItsBeginning: a text of any length is at its top, costs as much as what is visible, and is copied as it
// was.
//
// Spec: Q-59.
func TestTextShowsItsBeginning(t *testing.T) {
	v, _ := view(t)
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "line %d of the task\n\n", i)
	}
	b.WriteString(strings.Repeat("x", 10_000) + " end")
	v.Text(b.String())
	if got := plain(v.Lines(60, 10)); !strings.HasPrefix(got, "  line 0 of the task\n\n  line 1 of") {
		t.Errorf("it begins with\n%s", got)
	}
	drawn := 0
	for _, x := range v.blocks {
		if x.drawn != nil && x.drawn.lines != nil {
			drawn++
		}
	}
	if drawn > 20 {
		t.Errorf("%d of %d blocks were drawn for ten lines", drawn, len(v.blocks))
	}
	v.Scroll(5)
	v.Lines(60, 10)
	if got := plain(v.Lines(40, 10)); !strings.Contains(got, "line 3 of") || strings.Contains(got, "line 0 ") {
		t.Errorf("scrolled by five it shows\n%s", got)
	}
	press(v, "end")
	if got := plain(v.Lines(60, 10)); !strings.HasSuffix(got, "x end") {
		t.Errorf("it ends with\n%s", got)
	}
	if v.Source() != b.String() {
		t.Error("what is copied is not the text")
	}
	// Shorter than the window, it stays at its beginning when that shrinks.
	v.Text("one\ntwo\nthree\nfour")
	v.Lines(60, 10)
	if got := plain(v.Lines(60, 2)); got != "  one\n  two" {
		t.Errorf("in two lines it shows\n%s", got)
	}
}

// TestTableKeepsItsPlace: changed rows do not move the scroll position.
func TestTableKeepsItsPlace(t *testing.T) {
	v, _ := view(t)
	rows := func(n int) []Row {
		var rs []Row
		for i := range 30 {
			rs = append(rs, Row{fmt.Sprint("label", i), fmt.Sprintf("value %d", i*n)})
		}
		return rs
	}
	v.Table(rows(1))
	v.Lines(60, 10)
	v.Scroll(7)
	v.Table(rows(2))
	if got := plain(v.Lines(60, 10)); !strings.HasPrefix(got, "  label7     value 14\n") {
		t.Errorf("it shows\n%s", got)
	}
	if !strings.Contains(v.Source(), "label29    value 58\n") {
		t.Errorf("what is copied: %q", v.Source())
	}
	v.Table([]Row{{"why", "a very long reason\x1b[31m that wraps"}})
	if got := plain(v.Lines(30, 4)); got != "  why        a very long\n             reason<ESC>[31m that\n             wraps\n" && !strings.HasPrefix(got, "  why        a very long\n             reason") {
		t.Errorf("a long value shows as\n%s", got)
	}
}

// TestTailLeavesThePlace: Tail does not change the scroll position.
func TestTailLeavesThePlace(t *testing.T) {
	v, _ := view(t)
	var es []history.Entry
	for i := range 50 {
		es = append(es, history.Entry{Seq: int64(i + 1), Kind: history.EntryNotice, Text: fmt.Sprintf("notice %d", i)})
	}
	v.Append(es)
	settled(v, 60, 10)
	v.Scroll(-20)
	before := plain(settled(v, 60, 10))
	if got := plain(v.Tail(30, 3)); !strings.HasSuffix(got, "notice 49") {
		t.Errorf("the end is\n%s", got)
	}
	if got := plain(settled(v, 60, 10)); got != before {
		t.Errorf("it showed\n%s\nand now\n%s", before, got)
	}
}

// TestReplyBringsWhatStreams: the output of an agent that is first viewed in the middle of a reply begins with the
// part that has come, without the thinking.
func TestReplyBringsWhatStreams(t *testing.T) {
	v, _ := view(t)
	v.Delta(event.Delta{Block: 0, Thinking: true, Text: "hm"})
	v.Delta(event.Delta{Block: 1, Text: "one\n\ntw"})
	v.Delta(event.Delta{Block: 1, Text: "o"})
	ds := v.Reply()
	if len(ds) != 1 || ds[0].Text != "one\n\ntwo" || ds[0].Block != 1 {
		t.Errorf("it is %+v", ds)
	}
	v.Record([]history.Entry{{Seq: 1, Kind: history.EntryText, Text: "one\n\ntwo"}})
	if ds = v.Reply(); len(ds) != 0 {
		t.Errorf("after its end it is %+v", ds)
	}
}
