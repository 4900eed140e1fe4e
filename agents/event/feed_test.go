package event

import "testing"

// TestQuiet: a quiet feed has no words of replies and no output, and everything else.
func TestQuiet(t *testing.T) {
	h := NewHub()
	f := NewFeed(h.Leave)
	h.Join(f, nil)
	defer f.Close()
	f.Quiet()
	for range 1000 {
		h.Emit(Delta{Agent: 1, Text: "words "})
		h.Emit(Output{Agent: 1, Call: "c", Tail: "output"})
	}
	h.Emit(Closed{Agent: 2})
	if es := f.Take(); len(es) != 1 || es[0] != (Closed{Agent: 2}) {
		t.Errorf("%d events: %.3v", len(es), es)
	}
}
