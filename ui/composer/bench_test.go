package composer

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkKeyLines is a key typed and shown, in a box of 120×5 that holds a
// text of several lines.
func BenchmarkKeyLines(b *testing.B) {
	box := New(theme(b), commands, "› ")
	box.Insert(strings.Repeat("some words of a prompt that wraps, ", 30))
	box.Lines(120, 5)
	k := tea.KeyPressMsg{Code: 'x', Text: "x"}
	back := press("backspace")
	b.ReportAllocs()
	for b.Loop() {
		box.Key(k)
		box.Lines(120, box.Height(120, 5))
		box.Key(back)
		box.Lines(120, box.Height(120, 5))
	}
}

// BenchmarkKeyLinesLarge is the same in the largest text that is edited plain.
func BenchmarkKeyLinesLarge(b *testing.B) {
	box := New(theme(b), commands, "› ")
	box.Set(strings.Repeat("some words of a prompt\n", plainMax/23))
	box.Lines(120, 5)
	k := tea.KeyPressMsg{Code: 'x', Text: "x"}
	back := press("backspace")
	b.ReportAllocs()
	for b.Loop() {
		box.Key(k)
		box.Lines(120, box.Height(120, 5))
		box.Key(back)
		box.Lines(120, box.Height(120, 5))
	}
}

// BenchmarkPaste is 1 MB pasted and shown.
func BenchmarkPaste(b *testing.B) {
	s := strings.Repeat("a line of thirty characters..\n", 35_000)
	t := theme(b)
	b.ReportAllocs()
	for b.Loop() {
		box := New(t, nil, "› ")
		box.Paste(s)
		box.Lines(120, box.Height(120, 5))
	}
}

// BenchmarkComplete is a key typed after `@` with 2,000 files offered.
func BenchmarkComplete(b *testing.B) {
	var items []Item
	for i := range 2_000 {
		items = append(items, Item{Insert: fmt.Sprintf("internal/part%d/name%d/file_%d.go", i%20, i%100, i)})
	}
	box := New(theme(b), func(string, string, string) []Item { return items }, "› ")
	keys(box, "'@int'")
	b.ReportAllocs()
	for b.Loop() {
		keys(box, "'e'")
		box.Popup(120, 8)
		box.Lines(120, 5)
		keys(box, "backspace")
	}
}
