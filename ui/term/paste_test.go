package term

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// typed returns the events of a terminal's bytes in those pieces, with a second between them.
func typed(t *testing.T, pieces ...string) (heard []string) {
	t.Helper()
	return typedEach(t, time.Second, pieces...)
}

// typedEach is typed with another time between the pieces.
func typedEach(t *testing.T, pause time.Duration, pieces ...string) (heard []string) {
	t.Helper()
	p := &page{}
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		prog := New(t.Context(), p, Options{In: r, Out: io.Discard, Size: [2]int{20, 5}})
		ended := make(chan error)
		go func() { ended <- prog.Run() }()
		for _, piece := range pieces {
			time.Sleep(pause)
			_, _ = io.WriteString(w, piece)
		}
		_ = w.Close()
		time.Sleep(time.Second)
		prog.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
	})
	for _, m := range p.heard {
		switch m := m.(type) {
		case tea.PasteMsg:
			heard = append(heard, "paste "+m.Content)
		case tea.KeyPressMsg:
			heard = append(heard, m.Keystroke())
		}
	}
	return heard
}

// TestPaste: pasted text arrives whole, byte for byte, whatever it contains and however it is split, and what is typed
// after it arrives as keys.
func TestPaste(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "two\rlines\r\nand\nmore\t.": "two\rlines\r\nand\nmore\t.",
		"日本 e\u0301 👍🏽": "日本 e\u0301 👍🏽", "x\uFFFDy": "x\uFFFDy", "latin\xe9x": "latin\uFFFDx",
		"a\x1b[31mred\x1b[m": "a\x1b[31mred\x1b[m", "\x1b]8;;u\alink": "\x1b]8;;u\alink", "a\x1b[Ib": "a\x1b[Ib", "a\x1bPq\x1b\\b": "a\x1bPq\x1b\\b",
		"end\x1b": "end\x1b", "\x1b[20": "\x1b[20", "\x1b[201": "\x1b[201", "again \x1b[200~": "again \x1b[200~", "\x00\x03\x1a\x7f": "\x00\x03\x1a\x7f", "7": "7",
	} {
		all := pasteBegins + text + pasteEnds
		heard := []string{"a", "paste " + want, "b", "ctrl+c"}
		if got := typed(t, "a"+all+"b\x03"); !slices.Equal(got, heard) {
			t.Errorf("%q at once: %q", text, got)
		}
		if got := typed(t, "a"+pasteBegins, text, pasteEnds+"b\x03"); text != "" && !slices.Equal(got, heard) {
			t.Errorf("%q in three pieces: %q", text, got)
		}
		for i := len(pasteBegins); i < len(all); i++ {
			if got := typed(t, "a"+all[:i], all[i:]+"b\x03"); !slices.Equal(got, heard) {
				t.Errorf("%q, %q: %q", all[:i], all[i:], got)
			}
		}
	}
}

// TestPaste_begunInPieces: the start of a paste may come in two pieces, or in more that follow at once. Then it is not
// typed text, whatever key its first piece is by itself.
func TestPaste_begunInPieces(t *testing.T) {
	for i := 1; i < len(pasteBegins); i++ {
		got := typed(t, pasteBegins[:i], pasteBegins[i:]+"x\ry"+pasteEnds+"b")
		if n := len(got); n < 2 || !slices.Equal(got[n-2:], []string{"paste x\ry", "b"}) || n == 3 && len(got[0]) == 1 || n > 3 {
			t.Errorf("%q: %q", pasteBegins[:i], got)
		}
	}
	if got := typed(t, "\x1b", "[", "2", "0", "0", "~", "\x03"); slices.Contains(got, "paste ") || got[len(got)-1] != "ctrl+c" {
		t.Errorf("key by key: %q", got)
	}
	var bytes []string
	for _, b := range []byte("a" + pasteBegins + "x\r\uFFFD" + pasteEnds + "b") {
		bytes = append(bytes, string([]byte{b}))
	}
	for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
		got := typedEach(t, d, bytes...)
		if want := []string{"a", "paste x\r\uFFFD", "b"}; !slices.Equal(got, want) {
			t.Errorf("a byte each %s: %q", d, got)
		}
	}
}

// TestPaste_several: each keeps its place among the keys, and of an unfinished one all that came is there.
func TestPaste_several(t *testing.T) {
	var all strings.Builder
	var want []string
	for i := range 200 {
		fmt.Fprintf(&all, "k%s%d%s", pasteBegins, i, pasteEnds)
		want = append(want, "k", fmt.Sprint("paste ", i))
	}
	all.WriteString(pasteBegins + "cut")
	want = append(want, "paste cut")
	if got := typed(t, all.String()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// BenchmarkPaste reads 1 MiB, with a byte that is no character.
func BenchmarkPaste(b *testing.B) {
	all := []byte(pasteBegins + "\xe9" + strings.Repeat("a line of sixteen\n", 1<<20/18) + pasteEnds)
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		var in input
		n := 0
		for chunk := range slices.Chunk(all, 4096) {
			n += len(in.feed(chunk, time.Unix(1, 0)))
		}
		if n != 1 {
			b.Fatalf("%d events", n)
		}
	}
}
