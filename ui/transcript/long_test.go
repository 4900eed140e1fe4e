package transcript

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"
)

// held returns the size of the heap.
func held() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// passage returns the next piece of a long text.
func passage(n int) string {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "Passage %d, line %d: some words of it.\n", n, i)
	}
	return b.String()
}

// A reply of any length costs little while it comes; its end and the part that a reader views are there, and when it
// is over all of it is, and only once (torture T17, L4).
func TestStream_aLongReplyCostsLittle(t *testing.T) {
	for name, kind := range map[string]event.Delta{"answer": {}, "thinking": {Thinking: true}, "summary": {Summary: true}} {
		t.Run(name, func(t *testing.T) {
			v, _ := view(t)
			v.Append(script(asked("go")))
			v.Lines(80, 24)
			before := held()
			const passages = 700 // about 28 MB
			size := 0
			for n := range passages {
				d := kind
				d.Text = passage(n)
				size += len(d.Text)
				v.Delta(d)
				v.Lines(80, 24)
			}
			if grown := held() - before; grown > 16<<20 {
				t.Errorf("%d MB of text hold %d MB", size>>20, grown>>20)
			}
			got := plain(v.Lines(80, 24))
			if !strings.Contains(got, fmt.Sprintf("Passage %d, line 999", passages-1)) {
				t.Errorf("the end is not there:\n%s", got)
			}
			if kind != (event.Delta{}) {
				return
			}
			if got := v.LastAnswer(); !strings.HasPrefix(got, "Passage 0, line 0") || !strings.HasSuffix(got, passage(passages-1)) || !strings.Contains(got, "they show when the reply is over") {
				t.Errorf("the answer so far begins %.40q", got)
			}
			v.Scroll(-1 << 30)
			if got := plain(v.Lines(80, 24)); !strings.Contains(got, "Passage 0, line 0") {
				t.Errorf("its beginning is not there:\n%s", got)
			}
			var all strings.Builder
			for n := range passages {
				all.WriteString(passage(n))
			}
			text := all.String()
			all.Reset()
			beside := held() - before // the text, and what was streamed
			v.Record([]history.Entry{said(text)})
			v.Follow()
			v.Lines(80, 24)
			if more := held() - before - beside; more > 4<<20 { // its blocks
				t.Errorf("the record of %d MB holds %d MB more", size>>20, more>>20)
			}
			if v.LastAnswer() != text {
				t.Error("the answer is another")
			}
			if strings.Contains(plain(v.Lines(80, 24)), "left out here") {
				t.Error("something is still left out")
			}
		})
	}
}

// The part that a reader who has scrolled up views stays, however much comes.
func TestStream_aReaderOfALongReplyIsLeftAlone(t *testing.T) {
	v, _ := view(t)
	for n := range 200 {
		v.Delta(event.Delta{Text: passage(n)})
	}
	v.Lines(80, 24)
	v.Scroll(-20_000) // some passages up
	want := plain(settled(v, 80, 24))
	if !strings.Contains(want, "Passage 1") || strings.Contains(want, "left out") {
		t.Fatalf("it shows\n%s", want)
	}
	for n := range 400 {
		v.Delta(event.Delta{Text: passage(200 + n)})
	}
	if got := plain(settled(v, 80, 24)); got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}
