package config

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPlace: a position equals the one counted from the beginning.
func TestPlace(t *testing.T) {
	parts := []string{"a", "ä", "\n", "日本", "\xff", "{\"b\": ", strings.Repeat("x", 700), strings.Repeat("é", 400), strings.Repeat("\n", 600)}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		text := ""
		for range 30 {
			text += parts[r.IntN(len(parts))]
		}
		data := []byte(text)
		all := JSONOver(data)
		for range 300 {
			at := r.IntN(len(data) + 1)
			for at > 0 && at < len(data) && data[at]&0xc0 == 0x80 {
				at--
			}
			line := bytes.Count(data[:at], []byte("\n")) + 1
			column := len([]rune(string(data[bytes.LastIndexByte(data[:at], '\n')+1:at]))) + 1
			if l, c := all.Place(at); l != line || c != column {
				t.Fatalf("seed %d, byte %d of %d: %d:%d, want %d:%d", seed, at, len(data), l, c, line, column)
			}
		}
	}
	if l, c := JSONOver(nil).Place(7); l != 1 || c != 1 {
		t.Errorf("of nothing: %d:%d", l, c)
	}
	if l, c := JSONOver([]byte("a\nb")).Place(99); l != 2 || c != 2 {
		t.Errorf("behind the end: %d:%d", l, c)
	}
}

// TestPlace_cheap: no byte is far from a known position, whether a file has one line or many.
func TestPlace_cheap(t *testing.T) {
	for _, part := range []string{"x", "\n", "é", "日"} {
		data := []byte(strings.Repeat(part, 1<<20/len(part)))
		all := JSONOver(data)
		for at := 0; at < len(data); at += 97 {
			if m := all.before(at); at-m.at > step+4 || m.at > at {
				t.Fatalf("%q: byte %d is counted from %d", part, at, m.at)
			}
		}
	}
}

func TestWalk(t *testing.T) {
	text := JSONOver([]byte(`..{"a": [1, {"b": 2}], "c" : 3} rest`))
	w := text.Walk(2, 31)
	if _, err := w.Next(); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := w.Object(func(key string, at int) error {
		value := w.Ahead()
		err := w.Skip()
		got = append(got, key, string(text.data[at:value]), string(text.data[value:w.Passed()]))
		return err
	})
	if want := `a|"a": |[1, {"b": 2}]|c|"c" : |3`; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v, %q", err, got)
	}
	deep := []byte(strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1))
	if err := JSONOver(deep).Walk(0, len(deep)).Skip(); err == nil || !strings.Contains(err.Error(), "brackets") {
		t.Errorf("deep: %v", err)
	}
	if err := JSONOver(deep).Walk(1, len(deep)-1).Skip(); err != nil {
		t.Errorf("as deep as may be: %v", err)
	}
}
