package composer

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"fantail/themes"
	"fantail/ui/cells"
)

func theme(tb testing.TB) *themes.Theme {
	tb.Helper()
	t, err := themes.Load("dark", false)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func box(tb testing.TB) *Box {
	tb.Helper()
	return New(theme(tb), nil, "› ")
}

// press makes the key press that a terminal sends for a key's name.
func press(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	rest := name
	for {
		head, tail, ok := strings.Cut(rest, "+")
		if !ok || tail == "" {
			break
		}
		switch head {
		case "ctrl":
			k.Mod |= tea.ModCtrl
		case "alt":
			k.Mod |= tea.ModAlt
		case "shift":
			k.Mod |= tea.ModShift
		}
		rest = tail
	}
	named := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace,
		"delete": tea.KeyDelete, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace,
	}
	if code, ok := named[rest]; ok {
		k.Code = code
		if rest == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return k
	}
	k.Code = []rune(rest)[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return k
}

// keys presses a script: words are key names, '...' is typed literally.
func keys(b *Box, script string) (last Intent, taken bool) {
	for script != "" {
		script = strings.TrimLeft(script, " ")
		if strings.HasPrefix(script, "'") {
			var lit string
			lit, script, _ = strings.Cut(script[1:], "'")
			for _, r := range lit {
				k := tea.KeyPressMsg{Code: r, Text: string(r)}
				last, taken = b.Key(k)
			}
			continue
		}
		var name string
		name, script, _ = strings.Cut(script, " ")
		if name != "" {
			last, taken = b.Key(press(name))
		}
	}
	return last, taken
}

// marked returns the value with the cursor shown as |.
func marked(b *Box) string {
	return joined(b.text.cells[:b.text.at]) + "|" + joined(b.text.cells[b.text.at:])
}

func TestKeysEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"'hello'", "hello|"},
		{"'hello' left left 'X'", "helX|lo"},
		{"'one two' ctrl+a 'X'", "X|one two"},
		{"'one two' home ctrl+e '!'", "one two!|"},
		{"'one two' ctrl+w", "one |"},
		{"'one two  ' ctrl+w", "one |"},
		{"'a.b-c' ctrl+w", "|"},
		{"'a.b-c' alt+backspace", "a.b-|"},
		{"'a.b-c' ctrl+backspace", "a.b-|"},
		{"'one two' alt+b alt+b 'X'", "X|one two"},
		{"'one two' ctrl+left 'X'", "one X|two"},
		{"'one two' ctrl+a alt+f 'X'", "oneX| two"},
		{"'one two' ctrl+a ctrl+right ctrl+right 'X'", "one twoX|"},
		{"'one two' ctrl+a alt+d", "| two"},
		{"'one two' alt+b ctrl+k", "one |"},
		{"'one two' alt+b ctrl+u", "|two"},
		{"'one two' alt+b ctrl+u end ctrl+y", "twoone |"},
		{"'ab' shift+enter 'cd' ctrl+u ctrl+u", "ab|"},
		{"'ab' shift+enter 'cd' up end ctrl+k", "ab|cd"},
		{"'ab' alt+enter 'cd' ctrl+j 'ef' up up home 'X'", "X|ab\ncd\nef"},
		{`'ab\' enter 'c'`, "ab\nc|"},
		{"'abc' left backspace", "a|c"},
		{"'abc' left left delete", "a|c"},
		{"'abc' left left ctrl+d", "a|c"},
		{"'abc' ctrl+h", "ab|"},
		{"'ab' ctrl+_", "|"},
		{"'one two' ctrl+_", "one |"},
		{"'one two' ctrl+_ ctrl+_ alt+_", "one |"},
		{"'one two' ctrl+w ctrl+_", "one two|"},
		{"'ab' left 'X' ctrl+_ 'Y'", "aY|b"},
		{"'abcdef' shift+enter 'a' up", "a|bcdef\na"},
		{"'abcdef' shift+enter 'a' shift+enter 'abcdef' up up", "abcdef|\na\nabcdef"},
		{"'?'", "|"},
		{"'a?'", "a?|"},
		{"' '", " |"},
	} {
		b := box(t)
		keys(b, c.script)
		if got := marked(b); got != c.want {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}

func TestKeysTakenAndIntents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, key string
		intent    Intent
		taken     bool
	}{
		{"", "ctrl+c", None, false},
		{"a", "ctrl+c", None, false},
		{"a", "pgup", None, false},
		{"a", "pgdown", None, false},
		{"a", "alt+1", None, false},
		{"a", "ctrl+o", None, false},
		{"a", "ctrl+z", None, false},
		{"a", "shift+tab", None, false},
		{"a", "tab", None, false},
		{"a", "esc", None, false},
		{"a", "ctrl+home", None, false},
		{"", "?", None, false},
		{"", "home", None, false},
		{"", "end", None, false},
		{"", "up", None, false},
		{"", "down", None, false},
		{"", "ctrl+d", None, false},
		{"", "backspace", None, false},
		{"", "enter", None, false},
		{" ", "enter", None, true},
		{"a", "enter", Submit, true},
		{"", "ctrl+g", Edit, true},
		{"a", "ctrl+g", Edit, true},
		{"a", "home", None, true},
		{"a", "?", None, true},
		{"a", "ctrl+r", None, true},
	} {
		b := box(t)
		b.Set(c.text)
		intent, taken := b.Key(press(c.key))
		if intent != c.intent || taken != c.taken {
			t.Errorf("%s on %q: got %v %v, want %v %v", c.key, c.text, intent, taken, c.intent, c.taken)
		}
	}
}

func TestClustersAreOneStep(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧"
	b := box(t)
	b.Insert("a" + family + "é" + "日")
	keys(b, "backspace backspace")
	if got := marked(b); got != "a"+family+"|" {
		t.Fatalf("got %q", got)
	}
	keys(b, "backspace")
	if got := marked(b); got != "a|" {
		t.Fatalf("got %q", got)
	}
	// A mark typed by itself joins the letter before it, and undo separates them.
	b.Insert("e")
	b.Key(tea.KeyPressMsg{Code: 0x301, Text: "\u0301"})
	if n := len(b.text.cells); n != 2 {
		t.Fatalf("got %d cells", n)
	}
	keys(b, "ctrl+_")
	if got := marked(b); got != "ae|" {
		t.Fatalf("got %q", got)
	}
	// Cells that were apart join once nothing is between them.
	b.Set("ex\u0301")
	if n := len(b.text.cells); n != 2 {
		t.Fatalf("got %d cells", n)
	}
	b.Set("")
	b.Insert("e-")
	b.Insert("\u0301")
	b.Set("e")
	b.Insert("\n\u0301")
	keys(b, "left backspace")
	if len(b.text.cells) != 1 || b.Value() != "e\u0301" {
		t.Fatalf("got %q in %d cells", b.Value(), len(b.text.cells))
	}
}

func TestPasteIsExact(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("line of text\r\n", 35_000)
	for _, c := range []struct{ name, paste, want string }{
		{"text", "a b", "a b"},
		{"crlf", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"lines of a terminal", "a\rb\r", "a\nb\n"},
		{"cr among lf", "a\rb\n", "a\rb\n"},
		{"escape codes", "\x1b[2Jx\x07\x1b]0;t\x07\n", "\x1b[2Jx\x07\x1b]0;t\x07\n"},
		{"bidi", "a\u202eb", "a\u202eb"},
		{"invalid", "a\xff\xfe\x80b\n", "a\xff\xfe\x80b\n"},
		{"nul", "\x00\n", "\x00\n"},
		{"large", big, big},
	} {
		b := box(t)
		b.Insert("<")
		b.Paste(c.paste)
		if got := b.Value(); got != "<"+c.want {
			t.Errorf("%s: got %.80q", c.name, got)
		}
		for _, line := range b.Lines(40, 6) {
			if plain := ansi.Strip(line); plain != cells.Clean(plain) {
				t.Errorf("%s: the screen gets %q", c.name, line)
			}
			if w := cells.Width(line); w > 40 {
				t.Errorf("%s: a line of %d columns", c.name, w)
			}
		}
	}
}

func TestPasteNeverSubmits(t *testing.T) {
	t.Parallel()
	b := box(t)
	b.Paste("rm -rf /\r")
	if b.Value() != "rm -rf /\n" || b.Empty() {
		t.Fatalf("got %q", b.Value())
	}
}

func TestChipIsOneUnit(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x\n", 35_000)
	b := box(t)
	b.Insert("see ")
	b.Paste(big)
	b.Paste(strings.Repeat("y", chipOver+1))
	b.Insert(" end")
	line := ansi.Strip(b.Lines(80, 1)[0])
	if want := "› see [Pasted #1, 35,000 lines][Pasted #2, 1 line] end"; line != want {
		t.Fatalf("got %q, want %q", line, want)
	}
	keys(b, "home ctrl+right ctrl+right ctrl+right 'X' left backspace")
	if got := ansi.Strip(b.Lines(80, 1)[0]); got != "› see [Pasted #1, 35,000 lines]X end" {
		t.Fatalf("got %q", got)
	}
	keys(b, "backspace")
	if got := b.Value(); got != "see X end" {
		t.Fatalf("got %.60q", got)
	}
	keys(b, "ctrl+_")
	if got := b.Value(); got != "see "+big+"X end" {
		t.Fatalf("undo: got %.60q", got)
	}
	b.Clear()
	b.Paste(big)
	if got := ansi.Strip(b.Lines(80, 1)[0]); got != "› [Pasted #1, 35,000 lines]" {
		t.Fatalf("got %q", got)
	}
}

func TestChipComesBackWhenRecalled(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x\n", 3_000)
	b := box(t)
	b.Paste(big)
	keys(b, "'fix this'")
	sent := b.Value()
	b.Clear()
	b.AddHistory(sent)
	keys(b, "up")
	if got := ansi.Strip(b.Lines(80, 1)[0]); got != "› [Pasted #1, 3,000 lines]fix this" {
		t.Fatalf("got %q", got)
	}
	if b.Value() != sent {
		t.Fatal("the recalled text differs")
	}
	// Text that was never pasted becomes a chip only if it is very large.
	b.Set(strings.Repeat("word ", 4_000))
	if b.nextChip() != 1 {
		t.Fatal("20 KB became a chip")
	}
	b.Set(strings.Repeat("word ", 40_000))
	if b.nextChip() != 2 || len(b.Value()) != 200_000 {
		t.Fatal("200 KB became no chip")
	}
}

func TestSetClearInsert(t *testing.T) {
	t.Parallel()
	b := box(t)
	if !b.Empty() || b.Value() != "" {
		t.Fatal("a new box is not empty")
	}
	b.Set("one\r\ntwo")
	if got := marked(b); got != "one\r\ntwo|" {
		t.Fatalf("got %q", got)
	}
	if h := b.Height(40, 9); h != 2 {
		t.Fatalf("height %d", h)
	}
	keys(b, "home")
	b.Insert("@a.go ")
	if got := marked(b); got != "one\r\n@a.go |two" {
		t.Fatalf("got %q", got)
	}
	b.Clear()
	if !b.Empty() {
		t.Fatal("not empty after Clear")
	}
	keys(b, "ctrl+_")
	if got := b.Value(); got != "one\r\n@a.go two" {
		t.Fatalf("undo of Clear: got %q", got)
	}
}

func TestCursorPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		script string
		w, h   int
		x, y   int
	}{
		{"", "", 20, 3, 2, 0},
		{"abc", "", 20, 3, 5, 0},
		{"日本", "", 20, 3, 6, 0},
		{"日本", "left", 20, 3, 4, 0},
		{"a\nb", "", 20, 3, 3, 1},
		{"a\n", "", 20, 3, 2, 1},
		{"aaaa bbbb", "", 9, 3, 6, 1},
		{"aaaa bbbb", "home", 9, 3, 2, 0},
		{"aaaaaa", "", 9, 3, 8, 0},         // after a full row
		{"aaaaaa  ", "", 9, 3, 8, 0},       // blanks hang
		{"1\n2\n3\n4\n5", "", 20, 3, 3, 2}, // scrolled to the end
	} {
		b := box(t)
		b.Set(c.text)
		keys(b, c.script)
		b.Lines(c.w, c.h)
		if x, y := b.Cursor(); x != c.x || y != c.y {
			t.Errorf("%q %s at %d: cursor %d,%d, want %d,%d", c.text, c.script, c.w, x, y, c.x, c.y)
		}
	}
}

// screen shows lines without styles, their ends, and the cursor.
func screen(b *Box, w, max int) string {
	var out strings.Builder
	h := b.Height(w, max)
	for _, line := range b.Popup(w, 8) {
		fmt.Fprintf(&out, "%s┊\n", ansi.Strip(line))
	}
	for _, line := range b.Lines(w, h) {
		fmt.Fprintf(&out, "%s┊\n", ansi.Strip(line))
	}
	x, y := b.Cursor()
	fmt.Fprintf(&out, "cursor %d,%d of %d lines\n", x, y, h)
	return out.String()
}

func TestGolden(t *testing.T) {
	long := "Please look at the failing test in ui/composer and tell me why 日本語の長い文章 does not wrap where it should.\n\n\tthen fix it\x1b[31m — thanks"
	for _, w := range []int{40, 80, 120} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			var out strings.Builder
			show := func(name string, b *Box) {
				out.WriteString("== " + name + "\n" + screen(b, w, 5))
			}
			b := New(theme(t), commands, "› ")
			show("empty", b)
			b.Paste(long)
			show("text", b)
			keys(b, "up up up up up")
			show("at its top", b)
			b.Set("see ")
			b.Paste(strings.Repeat("x\n", 35_000))
			show("chip", b)
			b.Clear()
			keys(b, "'/p'")
			show("command", b)
			b.Set("")
			keys(b, "'look at @ui'")
			show("file", b)
			b.Set("")
			b.SetHistory([]string{"run the tests", "fix the Build\nand the docs", "say hello"})
			keys(b, "ctrl+r")
			show("search", b)
			keys(b, "'build'")
			show("found", b)
			keys(b, "'xyz'")
			show("not found", b)
			golden.RequireEqual(t, out.String())
		})
	}
}

// TestGoldenStyles holds the escape sequences that the other goldens leave out.
func TestGoldenStyles(t *testing.T) {
	b := New(theme(t), commands, "› ")
	keys(b, "'/pu'")
	lines := append([]string{}, b.Popup(60, 8)...)
	lines = append(lines, b.Lines(60, 1)...)
	b.Paste(strings.Repeat("x\n", 3_000))
	lines = append(lines, b.Lines(60, 1)...)
	b.Set("")
	b.AddHistory("run the tests")
	keys(b, "ctrl+r 'the'")
	lines = append(lines, b.Lines(60, 3)...)
	golden.RequireEqual(t, strings.Join(lines, "\n"))
}

func TestLinesAreCached(t *testing.T) {
	b := box(t)
	b.Set("hello world")
	first := b.Lines(80, 3)
	if n := testing.AllocsPerRun(100, func() { b.Lines(80, 3) }); n != 0 {
		t.Fatalf("%v allocations for an unchanged box", n)
	}
	b.Key(press("pgup")) // not taken: nothing changes
	if second := b.Lines(80, 3); &first[0] != &second[0] {
		t.Fatal("an unchanged box was rendered again")
	}
	light, err := themes.Load("light", false)
	if err != nil {
		t.Fatal(err)
	}
	b.SetTheme(light)
	if second := b.Lines(80, 3); &first[0] == &second[0] {
		t.Fatal("another theme did not render the box again")
	}
}

func TestTinySizes(t *testing.T) {
	t.Parallel()
	b := New(theme(t), commands, "message to somebody› ")
	keys(b, "'/p' left right")
	b.Paste(strings.Repeat("z", 5_000))
	b.Insert("日本\n👨‍👩‍👧 end")
	for w := -1; w < 12; w++ {
		for h := -1; h < 4; h++ {
			lines := b.Lines(w, h)
			if w > 0 && h > 0 && len(lines) != h {
				t.Fatalf("%d×%d: %d lines", w, h, len(lines))
			}
			for _, l := range lines {
				if cells.Width(l) > w {
					t.Fatalf("%d×%d: %q has %d columns", w, h, l, cells.Width(l))
				}
			}
			b.Popup(w, h)
			b.Height(w, h)
			if x, y := b.Cursor(); w > 0 && h > 0 && (x < 0 || x >= w || y < 0 || y >= h) {
				t.Fatalf("%d×%d: cursor %d,%d", w, h, x, y)
			}
			b.Key(press("up"))
			b.Key(press("down"))
		}
	}
}

func TestUndoIsBounded(t *testing.T) {
	t.Parallel()
	b := box(t)
	for range 3 * maxEdits {
		keys(b, "'a' left")
	}
	if n := len(b.text.done); n > maxEdits || n < maxEdits*4/5 {
		t.Fatalf("%d records", n)
	}
	large := strings.Repeat("x", plainMax)
	for range 20 {
		b.Set(large)
		b.Set("")
	}
	cells := 0
	for _, e := range b.text.done {
		cells += len(e.old) + len(e.new)
	}
	if cells > maxEditCells {
		t.Fatalf("%d cells in the records", cells)
	}
	keys(b, "ctrl+_")
	if b.Value() != large {
		t.Fatal("the newest change is not taken back")
	}
}

// TestPrepend puts returned text before the draft and leaves the cursor in it; undo removes it again.
func TestPrepend(t *testing.T) {
	long := strings.Repeat("x", chipOver+1)
	for _, c := range []struct{ draft, back, want string }{
		{"", "one", "one"},
		{"draft", "one\ntwo", "one\ntwo\ndraft"},
		{"draft", "", "draft"},
		{"a\nb", long, long + "\na\nb"},
	} {
		b := New(theme(t), nil, "› ")
		b.Set(c.draft)
		b.Prepend(c.back)
		if got := b.Value(); got != c.want {
			t.Errorf("%q before %q is %q", c.back, c.draft, got)
		}
		b.Insert("!")
		if got := b.Value(); got != c.want+"!" {
			t.Errorf("the cursor left the end of the draft: %q", got)
		}
	}
}
