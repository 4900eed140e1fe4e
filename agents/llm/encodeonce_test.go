package llm

import "testing"

type formA struct{ model string }

type formB struct{ model string }

// TestWrite: a message is written once in a form, anew in another one, and each time where nothing can be kept.
func TestWrite(t *testing.T) {
	n := 0
	count := func() int { n++; return n }
	a := func(f formA, m *Message) string { return string(rune('a'+count())) + f.model }
	b := func(f formB, m *Message) int { return count() }
	m := &Message{Encoded: new(EncodedMessage)}
	for _, c := range []struct {
		write func() any
		n     int
	}{
		{func() any { return EncodeOnce(m, formA{"x"}, a) }, 1},
		{func() any { return EncodeOnce(m, formA{"x"}, a) }, 1},
		{func() any { return EncodeOnce(m, formA{"y"}, a) }, 2},
		{func() any { return EncodeOnce(m, formA{"x"}, a) }, 3},
		{func() any { return EncodeOnce(m, formB{"x"}, b) }, 4},
		{func() any { return EncodeOnce(m, formB{"x"}, b) }, 4},
		{func() any { return EncodeOnce(&Message{}, formB{"x"}, b) }, 5},
	} {
		if c.write(); n != c.n {
			t.Fatalf("written %d times, want %d", n, c.n)
		}
	}
	if got := EncodeOnce(m, formB{"x"}, b); got != 4 {
		t.Errorf("%d was kept", got)
	}
}
