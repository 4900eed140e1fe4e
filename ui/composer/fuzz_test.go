package composer

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// script turns bytes into presses and pastes.
var script = [...]string{
	"enter", "shift+enter", "up", "down", "left", "right", "home", "end", "ctrl+a", "ctrl+e", "ctrl+k", "ctrl+u",
	"ctrl+w", "ctrl+y", "ctrl+_", "alt+_", "alt+b", "alt+f", "alt+d", "alt+backspace", "ctrl+left", "ctrl+right",
	"backspace", "delete", "ctrl+d", "ctrl+r", "ctrl+s", "ctrl+g", "tab", "esc", "ctrl+n", "ctrl+p", "pgup", "ctrl+c",
}

// before returns the text left of the cursor.
func (b *Box) before() string { return joined(b.text.cells[:b.text.at]) }

func (b *Box) after() string { return joined(b.text.cells[b.text.at:]) }

func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x00\x01\x02abc/push @ui\xff\x05hello\xfe\x03a\rb\xfd"), uint8(20))
	f.Add([]byte("\xff\x09e\xcc\x81\xf0\x9f\x91\xa8\xe2\x80\x8d\xfe\x01\xcc\x81\x16\x16\x0e\x0e\x0f"), uint8(3))
	f.Add([]byte("one\x80two\x81three\x80\x82\x82\x83\x83\x99o\x80"), uint8(80))
	f.Add([]byte("\xff\x20\r\n\r\n\x00\x1b[2J\t\x84\x96\x96\xfc\xfb\x82\x8e\x8f"), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		b := New(theme(t), commands, "› ")
		w := int(width)%100 + 1
		for i := 0; i < len(data); i++ {
			op := data[i]
			left, right, searching := b.before(), b.after(), b.find != nil
			switch {
			case op >= 0xfa: // a text: the next byte is its length
				n := 0
				if i+1 < len(data) {
					n = min(int(data[i+1]), len(data)-i-2)
				}
				s := string(data[min(i+2, len(data)):min(i+2+max(n, 0), len(data))])
				i += 1 + len(s)
				put(t, b, op, s, left, right, searching)
			case op >= 0x80:
				intent, taken := b.Key(press(script[int(op-0x80)%len(script)]))
				if intent == Submit && b.Value() != left+right {
					t.Fatal("submitting changed the text")
				}
				if !taken && b.Value() != left+right {
					t.Fatal("a key that was not taken changed the text")
				}
				if intent == Submit {
					b.AddHistory(b.Value())
					b.Clear()
				}
			case op >= 0x20 && op < 0x7f:
				b.Key(tea.KeyPressMsg{Code: rune(op), Text: string(rune(op))})
				if !searching && !(op == '?' && left+right == "") && b.Value() != left+string(rune(op))+right {
					t.Fatalf("typed %q between %q and %q: %q", op, left, right, b.Value())
				}
			default:
				b.Key(tea.KeyPressMsg{Code: 'é', Text: "é"})
			}
			check(t, b, w)
		}
		b.find = nil
		undoRedo(t, b)
	})
}

// put pastes, inserts or sets s and compares the result with the expected text.
func put(t *testing.T, b *Box, op byte, s, left, right string, searching bool) {
	t.Helper()
	want := left + s + right
	switch op {
	case 0xff, 0xfe:
		if op == 0xfe {
			s = strings.Repeat(s, 1+chipOver/max(1, len(s)))
		}
		b.Paste(s)
		if !strings.Contains(s, "\n") {
			s = strings.ReplaceAll(s, "\r", "\n")
		}
		if want = left + s + right; searching {
			want = left + right
		}
	case 0xfd:
		b.Insert(s)
	case 0xfc:
		b.Set(s)
		want = s
	default:
		b.Clear()
		b.AddHistory(s)
		want = ""
	}
	if got := b.Value(); got != want {
		t.Fatalf("put %x %.60q between %.60q and %.60q: got %.60q", op, s, left, right, got)
	}
}

func check(t *testing.T, b *Box, w int) {
	t.Helper()
	h := b.Height(w, 5)
	lines := append(b.Lines(w, h), b.Popup(w, 8)...)
	for _, l := range lines {
		bare := ansi.Strip(l)
		if cells.Width(l) > w {
			t.Fatalf("%q has %d of %d columns", l, cells.Width(l), w)
		}
		if !utf8.ValidString(bare) || strings.ContainsFunc(bare, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("the screen gets %q", l)
		}
	}
	if x, y := b.Cursor(); x < 0 || x >= w || y < 0 || y >= h {
		t.Fatalf("cursor %d,%d outside %d×%d", x, y, w, h)
	}
	if b.text.at < 0 || b.text.at > len(b.text.cells) {
		t.Fatalf("cursor at %d of %d", b.text.at, len(b.text.cells))
	}
	for _, c := range b.text.cells {
		if (c.w == 0) != c.newline() {
			t.Fatalf("%q is %d wide", c.s, c.w)
		}
	}
}

// undoRedo undoes everything and redoes it.
func undoRedo(t *testing.T, b *Box) {
	t.Helper()
	want := b.Value()
	n := 0
	for b.text.undo() {
		n++
	}
	if n < maxEdits*4/5 && b.Value() != "" {
		t.Fatalf("after %d undos: %q", n, b.Value())
	}
	for n > 0 && b.text.redo() {
		n--
	}
	if b.Value() != want || n != 0 {
		t.Fatalf("redone: %q, want %q", b.Value(), want)
	}
}
