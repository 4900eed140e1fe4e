package term

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// keyboard gives an input bytes at chosen times, and calls expire when that is due.
type keyboard struct {
	in    input
	now   time.Time
	heard []string
}

func newKeyboard() *keyboard { return &keyboard{now: time.Unix(1e6, 0)} }

// pass lets time pass.
func (k *keyboard) pass(d time.Duration) {
	end := k.now.Add(d)
	for due := k.in.due(); !due.IsZero() && !due.After(end); due = k.in.due() {
		k.now = due
		k.hear(k.in.expire(due))
	}
	k.now = end
}

// press sends each piece that long after the previous one.
func (k *keyboard) press(gap time.Duration, pieces ...string) *keyboard {
	for _, piece := range pieces {
		k.pass(gap)
		k.hear(k.in.feed([]byte(piece), k.now))
	}
	return k
}

func (k *keyboard) hear(events []uv.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case uv.KeyPressEvent:
			if e.Text != "" && e.Mod&(uv.ModCtrl|uv.ModAlt) == 0 {
				k.heard = append(k.heard, e.Text)
			} else {
				k.heard = append(k.heard, e.Keystroke())
			}
		case uv.PasteEvent:
			k.heard = append(k.heard, "paste "+e.Content)
		default:
			k.heard = append(k.heard, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", e), "uv."), "Event"))
		}
	}
}

// all returns all events once no timeout is pending.
func (k *keyboard) all() []string {
	k.pass(time.Minute)
	return k.heard
}

// gaps are the times between the pieces of a sequence.
var gaps = []time.Duration{0, 1, 20, 49, 51, 60, 99, 101, 120, 200}

// sent are sequences that terminals send and no human types, and their events: none for unrequested ones.
var sent = []struct{ bytes, means string }{
	{"\x1b[<64;10;10M", "MouseWheel"},
	{"\x1b[<0;10;10M", "MouseClick"},
	{"\x1b[<0;10;10m", "MouseRelease"},
	{"\x1b[<35;120;36M", "MouseMotion"},
	{"\x1b[I", "Focus"},
	{"\x1b[O", "Blur"},
	{"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "BackgroundColor"},
	{"\x1b]11;rgb:1e1e/1e1e/1e1e\a", "BackgroundColor"},
	{"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "ForegroundColor"},
	{"\x1b]12;#ffffff\x1b\\", "CursorColor"},
	{"\x1b]4;1;rgb:cdcd/0000/0000\x1b\\", ""},
	{"\x1b]52;c;YQ==\x1b\\", "Clipboard"},
	{"\x1b[?64;1;2;22c", "PrimaryDeviceAttributes"},
	{"\x1b[?6c", "PrimaryDeviceAttributes"},
	{"\x1b[>41;390;0c", "SecondaryDeviceAttributes"},
	{"\x1bP>|XTerm(390)\x1b\\", "TerminalVersion"},
	{"\x1bP>|tmux 3.4\x1b\\", "TerminalVersion"},
	{"\x1bP!|00000000\x1b\\", "TertiaryDeviceAttributes"},
	{"\x1bP1+r524742=38\x1b\\", "Capability"},
	{"\x1bP0+r524742\x1b\\", ""},
	{"\x1bP1$r0m\x1b\\", ""},
	{"\x1b[?2026;2$y", "ModeReport"},
	{"\x1b[?2027;0$y", "ModeReport"},
	{"\x1b[4;2$y", "ModeReport"},
	{"\x1b[?1u", "KeyboardEnhancements"},
	{"\x1b[?0u", "KeyboardEnhancements"},
	{"\x1b[?997;1n", "DarkColorScheme"},
	{"\x1b[?12;40R", "CursorPosition"},
	{"\x1b[12;40R", "CursorPosition"},
	{"\x1b[8;24;80t", "WindowSize"},
	{"\x1b[4;600;800t", "PixelSize"},
	{"\x1b[>4;2m", "ModifyOtherKeys"},
	{"\x1b_Gi=31;OK\x1b\\", "KittyGraphics"},
	{"\x1b[97;5u", "ctrl+a"},
	{"\x1b[13;2u", "shift+enter"},
	{"\x1b[27u", "esc"},
	{"\x1b[99;5u", "ctrl+c"},
	{"\x1b[99;133u", "ctrl+c"},
	{"\x1b[27;5;99~", "ctrl+c"},
	{"\x1b[9;3u", "alt+tab"},
	{"\x1b[57399u", "0"},
	{"\x1b[3~", "delete"},
	{"\x1b[3;5~", "ctrl+delete"},
	{"\x1b[20~", "f9"},
	{"\x1b[1;5C", "ctrl+right"},
	{"\x1b[1;2P", "shift+f1"},
	{"\x1b[A", "up"},
	{"\x1b[H", "home"},
	{"\x1b[Z", "shift+tab"},
	{"\x1b[200~pasted\x1b[201~", "paste pasted"},
	{"\x1b[64;7u", "@"},
	{"\x1b[113;7;64u", "@"},
	{"\x1b[27;7;123~", "{"},
	{"\x1b[108;3;64u", "@"},
	{"\x1b[81;16;64;1;9;1_", "@"},
	{"é", "é"},
	{"日", "日"},
	{"👍", "👍"},
	{"ą", "ą"},
}

// TestInput_pieces: a sequence means the same when it is split in two at any byte, in three, or at each byte, whatever
// comes before and after it. If it is split right after its ESC, Esc may be passed on before it, but no letter.
func TestInput_pieces(t *testing.T) {
	rows := 0
	for _, s := range sent {
		var want []string
		if s.means != "" {
			want = []string{s.means}
		}
		cuts := [][]string{{s.bytes}, each(s.bytes)}
		for i := 1; i < len(s.bytes); i++ {
			cuts = append(cuts, []string{s.bytes[:i], s.bytes[i:]})
			for j := i + 1; j < len(s.bytes); j++ {
				cuts = append(cuts, []string{s.bytes[:i], s.bytes[i:j], s.bytes[j:]})
			}
		}
		for _, pieces := range cuts {
			for _, gap := range gaps {
				gap *= time.Millisecond
				rows++
				got := newKeyboard().press(gap, pieces...).all()
				if gap > escKey && pieces[0] == "\x1b" && len(got) > 0 && got[0] == "esc" {
					got = got[1:]
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q each %s: %q, want %q", pieces, gap, got, want)
				}
				k := newKeyboard().press(0, "x", "\x1b[<64;10;10M")
				k.heard = nil
				got = k.press(gap, pieces...).press(300*time.Millisecond, "y").all()
				if !slices.Equal(got, append(slices.Clone(want), "y")) {
					t.Errorf("%q each %s after a report: %q, want %q and y", pieces, gap, got, want)
				}
			}
		}
	}
	t.Logf("%d rows of %d sequences", rows, len(sent))
}

// TestInput_oldMouse: a terminal that is known to report the mouse in the old form may send that in pieces too.
func TestInput_oldMouse(t *testing.T) {
	for _, gap := range gaps {
		k := newKeyboard().press(0, "\x1b[M !!").press(2*time.Second, "").press(gap*time.Millisecond, each("\x1b[M`+,")...)
		if got := slices.DeleteFunc(k.all(), func(s string) bool { return s == "esc" }); !slices.Equal(got, []string{"MouseClick", "MouseWheel"}) {
			t.Errorf("each %s: %q", gap*time.Millisecond, got)
		}
	}
}

// TestInput_behindEsc: the rest of a sequence that comes within a second after its ESC is joined to it, and none of it
// is typed.
func TestInput_behindEsc(t *testing.T) {
	rows := 0
	for _, s := range sent {
		rest, is := strings.CutPrefix(s.bytes, "\x1b")
		if !is {
			continue
		}
		want := []string{"esc"}
		if s.means != "" {
			want = append(want, s.means)
		}
		for _, gap := range []time.Duration{260, 500, 900, 1000} {
			for i := 1; i <= len(rest); i++ {
				rows++
				pieces := []string{rest[:i], rest[i:]}
				if pieces[1] == "" {
					pieces = pieces[:1]
				}
				if got := newKeyboard().press(0, "\x1b").press(gap*time.Millisecond, pieces[0]).press(200*time.Millisecond, pieces[1:]...).all(); !slices.Equal(got, want) {
					t.Errorf("ESC, %s later %q: %q, want %q", gap*time.Millisecond, pieces, got, want)
				}
			}
		}
	}
	t.Logf("%d rows", rows)
}

// TestInput_typed: typed keys come out as typed, also after Esc, whatever they look like.
func TestInput_typed(t *testing.T) {
	for _, c := range []struct {
		keys string // each by itself
		want string
	}{
		{"\x1b[x] done", "esc [ x ] space d o n e"},
		{"\x1b[ ] todo", "esc [ space ] space t o d o"},
		{"\x1b[1] one", "esc [ 1 ] space o n e"},
		{"\x1b[abc", "esc [ a b c"},
		{"\x1b[<div>", "esc [ < d i v >"},
		{"\x1b[?what", "esc [ ? w h a t"},
		{"\x1b[Maybe", "esc [ M a y b e"},
		{"\x1b[[x", "esc [ [ x"},
		{"\x1b]x", "esc ] x"},
		{"\x1b]1 x", "esc ] 1 space x"},
		{"\x1bPlease", "esc P l e a s e"},
		{"\x1bP1 x", "esc P 1 space x"},
		{"\x1bOk", "esc O k"},
		{"\x1bOR", "esc O R"},
		{"\x1b_x_", "esc _ x _"},
		{"\x1bXx^", "esc X x ^"},
		{"\x1bno", "esc n o"},
		{"\x1b\x1b\x1b", "esc esc esc"},
		{"\x1b\x03", "esc ctrl+c"},
		{"\x1b[\x03", "esc [ ctrl+c"},
		{"[<64;10;10M", "[ < 6 4 ; 1 0 ; 1 0 M"},
		{"]11;rgb:", "] 1 1 ; r g b :"},
	} {
		for _, gap := range []time.Duration{101, 150, 240, 260, 400, 1200} {
			gap *= time.Millisecond
			if got := newKeyboard().press(gap, each(c.keys)...).all(); strings.Join(spaced(got), " ") != c.want {
				t.Errorf("%q each %s: %q", c.keys, gap, got)
			}
		}
		// After a report Esc takes longer to be recognised, but a key typed meanwhile is not held with Alt.
		k := newKeyboard().press(0, "\x1b[<64;10;10M")
		k.heard = nil
		if got := k.press(110*time.Millisecond, each(c.keys)...).all(); strings.Join(spaced(got), " ") != c.want {
			t.Errorf("%q after a report: %q", c.keys, got)
		}
	}
}

// TestInput_keys: keys as terminals send them at once.
func TestInput_keys(t *testing.T) {
	for bytes, want := range map[string]string{
		"\x1ba": "alt+a", "\x1b1": "alt+1", "\x1b\t": "alt+tab", "\x1b\r": "alt+enter", "\x1b\x7f": "alt+backspace", "\x1bé": "alt+é",
		"\x1b[": "alt+[", "\x1b]": "alt+]", "\x1b_": "alt+_", "\x1bO": "alt+shift+o", "\x1bP": "alt+shift+p", "\x1bX": "alt+shift+x", "\x1b^": "alt+^",
		"\x1b_\x1b_": "alt+_ alt+_", "\x1b\x1b": "esc esc", "\x1b\x1b\x1b": "esc esc esc", "\x1b\x1b[A": "alt+up", "\x1b\x1bOA": "alt+up", "\x1b\x1b[5~": "alt+pgup", "\x1b\x1bx": "esc alt+x",
		"\x1b\x1b[<64;1;1M": "esc MouseWheel", "\x1b\x1b[I": "esc Focus", "\x1b\x1b]11;#000\a": "esc BackgroundColor", "\x1b\x1b[200~x\x1b[201~": "esc paste x",
		"\x1b\x03": "esc ctrl+c", "\x1bOP": "f1", "\x1b[[A": "f1", "\x1b[[E": "f5", "\x1b[3$": "shift+delete", "\x1b[3$y": "shift+delete y", "\x1b[3^": "ctrl+delete",
		"\x1bOa": "ctrl+up", "\x1b[a": "shift+up", "\x1b[M !!": "MouseClick", "\x1b[Mabc": "MouseWheel", "\x00": "ctrl+space", "\x1b\x1bO": "esc alt+shift+o", "\x1b\x1b[é": "esc alt+[ é",
		"a\x1b[<64;1;1M\x1b[Ib": "a MouseWheel Focus b", "\x1b[<64;1\x1b[Ix": "Focus x", "\x1b]11;rgb:\x1b[Ix": "Focus x", "\x1b[12\x03": "ctrl+c", "\x1b[1é": "é", "\xc3\x03": "ctrl+c", "\xc3x\xff\x9by": "x y",
		"\x1b]11;rg\x03": "ctrl+c", "\x1bP>|x\rz": "enter z", "\x1bXany\x1b\\z": "z", "\x1b^any\x1b\\z": "z", "\x1b_any\x1b\\z": "z", "\x1bPq#\x1b\\z": "z", "\x1b[201~x": "x", "\uFFFDx": "\uFFFD x",
		"e\u0301👨‍👩‍👧": "e \u0301 👨‍👩‍👧", "\x1b[50;7u": "ctrl+alt+2", "\x1b[97;7u": "ctrl+alt+a", "\x1b\x1c": "ctrl+alt+\\", "\x1b[97;7;1u": "ctrl+alt+a",
	} {
		if got := spaced(newKeyboard().press(0, bytes).all()); strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", bytes, got, want)
		}
	}
}

// TestInput_waits: how long a key waits.
func TestInput_waits(t *testing.T) {
	wheel := "\x1b[<64;10;10M"
	for _, c := range []struct {
		before string
		ago    time.Duration
		keys   string
		want   time.Duration
	}{
		{"", 0, "\x1b", escKey},
		{"x", 0, "\x1b", escKey},
		{wheel, time.Second, "\x1b", escReport},
		{wheel, time.Second + 1, "\x1b", escKey},
		{"\x1b]11;rgb:", 2 * time.Second, "\x1b", escReport}, // a part of a report was dropped
		{wheel, 0, "x", 0},
		{wheel, 0, "\x1bx", 0},
		{wheel, 0, "\x1b[A", 0},
		{"", 0, "\x1b[", escReport},
		{"", 0, "\x1b[<6", torn},
		{"", 0, "\x1b]11;", torn},
		{"", 0, pasteBegins, pasteStops},
	} {
		k := newKeyboard().press(0, c.before)
		k.pass(c.ago)
		k.press(0, c.keys)
		var got time.Duration
		if due := k.in.due(); !due.IsZero() {
			got = due.Sub(k.now)
		}
		if got != c.want {
			t.Errorf("%s after %q, %q waits %s, want %s", c.ago, c.before, c.keys, got, c.want)
		}
	}
}

// TestInput_endless: a sequence without end is dropped after a pause, uses little memory, and Ctrl+C works meanwhile.
func TestInput_endless(t *testing.T) {
	for _, begin := range []string{"\x1b]11;", "\x1b]52;c;", "\x1bP>|", "\x1b_G", "\x1b[", "\x1b[<"} {
		for _, c := range []struct {
			then string
			want string
		}{{"\x03", "ctrl+c"}, {"\x1b[99;5u", "ctrl+c"}, {"", ""}} {
			k := newKeyboard().press(0, begin)
			for range 1000 {
				k.press(time.Millisecond, strings.Repeat("1", 4096))
				if len(k.in.buf) > 2*maxSequence {
					t.Fatalf("%q: %d bytes are kept", begin, len(k.in.buf))
				}
			}
			k.press(time.Millisecond, c.then)
			k.press(2*time.Second, "x")
			if got := strings.Join(k.all(), " "); got != strings.TrimSpace(c.want+" x") {
				t.Errorf("%q and then %q: %q", begin, c.then, got)
			}
		}
	}
	for _, begin := range []string{"\x1b]", "\x1bP", "\x1b_", "\x1bX", "\x1b^"} { // no answer of a terminal goes on so
		if got := newKeyboard().press(0, begin).press(150*time.Millisecond, each("hello")...).all(); len(got) != 6 || strings.Join(got[1:], "") != "hello" {
			t.Errorf("%q and then a text: %q", begin, got)
		}
	}
	if got := newKeyboard().press(0, "\x1bP>|x").press(200*time.Millisecond, each(strings.Repeat("y", 100))...).all(); len(got) < 60 {
		t.Errorf("after a part of a report %d keys of 100 are typed", len(got))
	}
}

// TestInput_pasteWithoutEnd: it ends after a pause or with Ctrl+C or Esc, its text is there, and what comes of it
// later is no key: a line of it would be sent.
func TestInput_pasteWithoutEnd(t *testing.T) {
	long := strings.Repeat("a line\r", 9)
	for _, c := range []struct {
		pieces []string
		gap    time.Duration
		want   []string
	}{
		{[]string{pasteBegins + "x"}, 0, []string{"paste x"}},
		{[]string{pasteBegins}, 0, []string{"paste "}},
		{[]string{pasteBegins + "x", "\x03", "y"}, 200, []string{"paste x", "ctrl+c", "y"}},
		{[]string{pasteBegins + "x", "\x03\x03"}, 200, []string{"paste x", "ctrl+c", "ctrl+c"}},
		{[]string{pasteBegins + "x", "\x1b[99;5u"}, 200, []string{"paste x", "ctrl+c"}},
		{[]string{pasteBegins + "x", "\x1b[99;133u"}, 200, []string{"paste x", "ctrl+c"}},
		{[]string{pasteBegins + "x", "\x1b[27;5;99~"}, 200, []string{"paste x", "ctrl+c"}},
		{[]string{pasteBegins + "x", "\x1b"}, 200, []string{"paste x", "esc"}},
		{[]string{pasteBegins + "x", "\x1b", "[201~y"}, 200, []string{"paste x", "y"}},
		{[]string{pasteBegins + "x", "\x1b", "[201~y"}, 400, []string{"paste x", "esc", "y"}},
		{[]string{pasteBegins + "x", "\x1b[20", "1~y"}, 1400, []string{"paste x", "y"}},
		{[]string{pasteBegins + "x", "\x03"}, 20, []string{"paste x\x03"}},
		{[]string{pasteBegins + "x", "\x03y" + pasteEnds}, 200, []string{"paste x\x03y"}},
		{[]string{pasteBegins + "x", "y", "\x03"}, 1600, []string{"paste x", "y", "ctrl+c"}},
		{[]string{pasteBegins + "x", pasteEnds, "y"}, 1600, []string{"paste x", "y"}},
		{[]string{pasteBegins + "x", "y\rz" + pasteEnds + "k\r"}, 1600, []string{"paste x", "paste y\rz", "k", "enter"}},
		{[]string{pasteBegins + "x", long, long + pasteEnds}, 1600, []string{"paste x", "paste " + long, "paste " + long}},
		{[]string{pasteBegins + "x", long + "1", long + "2" + pasteEnds}, 600, []string{"paste x" + long + "1" + long + "2"}},
		{[]string{pasteBegins + "x", strings.Repeat("\x1b[<64;10;10M", 3)}, 1600, []string{"paste x", "MouseWheel", "MouseWheel", "MouseWheel"}},
		{[]string{pasteBegins + "x", "y", pasteBegins + "z" + pasteEnds}, 1600, []string{"paste x", "y", "paste z"}},
		{[]string{pasteBegins + "x", pasteBegins + "z" + pasteEnds, long[:14]}, 1600, append([]string{"paste x", "paste z"}, keysOf(long[:14])...)},
	} {
		if got := newKeyboard().press(c.gap*time.Millisecond, c.pieces...).all(); !slices.Equal(got, c.want) {
			t.Errorf("%q each %s: %q, want %q", c.pieces, c.gap*time.Millisecond, got, c.want)
		}
	}
	var in input
	in.feed([]byte(pasteBegins+"x"), time.Unix(1, 0))
	if got := in.end(); len(got) != 1 {
		t.Errorf("when the terminal is gone: %v", got)
	}
}

// FuzzInput: text outside of sequences is never lost, nothing is held back for ever, and no split makes it fail.
func FuzzInput(f *testing.F) {
	for _, s := range sent {
		f.Add([]byte(s.bytes), "plain é 日", uint64(0x123456789))
	}
	f.Add([]byte("\x1b\x1b[[\x1bP\x1b]\x1b_\x1b[M\xff\x9b"), "[I", uint64(1<<63))
	f.Fuzz(func(t *testing.T, noise []byte, plain string, how uint64) {
		k := newKeyboard()
		gap := func() time.Duration {
			how = how*6364136223846793005 + 1442695040888963407
			return []time.Duration{0, 0, 1, 20, 49, 51, 101, 120, 200, 260, 900, 1100, 1600, 3000}[how>>33%14] * time.Millisecond
		}
		for len(noise) > 0 {
			n := min(len(noise), 1+int(gap()/time.Millisecond)%9)
			k.press(gap(), string(noise[:n]))
			noise = noise[n:]
		}
		k.pass(time.Minute)
		if len(k.in.buf) > 0 || k.in.open || len(k.in.text) > 0 {
			t.Fatalf("%q is still waited for", k.in.buf)
		}
		if !utf8.ValidString(plain) || strings.IndexFunc(plain, func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }) >= 0 {
			return
		}
		k.heard = nil
		for _, r := range plain {
			k.press(min(gap(), time.Second), each(string(r))...) // also within a character
		}
		k.press(300*time.Millisecond, "")
		if got := strings.Join(k.all(), ""); got != plain {
			t.Errorf("of %q typed %q comes", plain, got)
		}
	})
}

func each(s string) (bytes []string) {
	for i := range len(s) {
		bytes = append(bytes, s[i:i+1])
	}
	return bytes
}

// keysOf returns the keys that type s.
func keysOf(s string) []string { return newKeyboard().press(0, s).all() }

// spaced names the space.
func spaced(keys []string) (named []string) {
	for _, k := range keys {
		if k == " " {
			k = "space"
		}
		named = append(named, k)
	}
	return named
}
