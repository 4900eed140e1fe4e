package cells

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// safe says what in a cleaned text could reach the terminal as more than a character.
func safe(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("not valid UTF-8")
	}
	for i, r := range s {
		switch {
		case r == '\n':
		case r < 0x20, r == 0x7f, r >= 0x80 && r <= 0x9f:
			return fmt.Errorf("control U+%04X at %d", r, i)
		case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return fmt.Errorf("bidi control U+%04X at %d", r, i)
		case r >= 0xe0000 && r <= 0xe0fff:
			return fmt.Errorf("tag U+%04X at %d", r, i)
		case r == 0x200b, r == 0x200c, r == 0x2060, r == 0xad, r == 0xfeff, r == 0x2028, r == 0x2029, r == 0x3164:
			return fmt.Errorf("invisible U+%04X at %d", r, i)
		case unicode.Is(unicode.Cs, r):
			return fmt.Errorf("surrogate U+%04X at %d", r, i)
		}
	}
	for _, line := range strings.Split(s, "\n") {
		if r, _ := utf8.DecodeRuneInString(line); r != utf8.RuneError && unicode.Is(unicode.M, r) {
			return fmt.Errorf("line %q begins with a mark", line)
		}
		for g := graphemes.FromString(line); g.Next(); {
			if n := utf8.RuneCountInString(g.Value()); n > maxCluster+2 {
				return fmt.Errorf("%d characters join into one cell: %.40q", n, g.Value())
			}
		}
	}
	return nil
}

// cases are hostile or odd inputs and what Clean makes of them.
var cases = []struct{ name, in, want string }{
	{"plain", "hello", "hello"},
	{"empty", "", ""},
	{"lines", "a\nb\n", "a\nb\n"},
	{"latin", "Zürich naïve ½", "Zürich naïve ½"},
	{"cjk", "日本語 中文 한국어", "日本語 中文 한국어"},
	{"cyrillic greek", "Привет Ελλάδα", "Привет Ελλάδα"},
	{"box drawing", "├── a\n└── b", "├── a\n└── b"},
	{"nbsp stays", "a\u00a0b", "a\u00a0b"},
	{"replacement stays", "a\ufffdb", "a\ufffdb"},
	{"powerline stays", "\ue0b0", "\ue0b0"},

	// Control strings.
	{"osc 52 set bel", "a\x1b]52;c;cm0gLXJm\ab", "ab"},
	{"osc 52 set st", "a\x1b]52;c;cm0gLXJm\x1b\\b", "ab"},
	{"osc 52 query", "a\x1b]52;c;?\ab", "ab"},
	{"osc 52 c1 end", "a\x1b]52;c;eA==\u009cb", "ab"},
	{"osc 0 title", "\x1b]0;pwned\ax", "x"},
	{"osc 1 icon", "\x1b]1;pwned\ax", "x"},
	{"osc 2 title", "\x1b]2;pwned\x1b\\x", "x"},
	{"osc 4 palette", "\x1b]4;1;#000000\ax", "x"},
	{"osc 7 directory", "\x1b]7;file://h/etc\ax", "x"},
	{"osc 9 notify", "\x1b]9;hello\ax", "x"},
	{"osc 9;4 progress", "\x1b]9;4;1;50\ax", "x"},
	{"osc 10 foreground", "\x1b]10;#000\ax", "x"},
	{"osc 11 query", "\x1b]11;?\ax", "x"},
	{"osc 12 cursor", "\x1b]12;red\ax", "x"},
	{"osc 50 font", "\x1b]50;x\ax", "x"},
	{"osc 99 notify", "\x1b]99;i=1;hi\x1b\\x", "x"},
	{"osc 104 reset", "\x1b]104\ax", "x"},
	{"osc 133 prompt", "\x1b]133;A\ax", "x"},
	{"osc 633 vscode", "\x1b]633;E;rm\ax", "x"},
	{"osc 777 notify", "\x1b]777;notify;a;b\ax", "x"},
	{"osc 1337 iterm", "\x1b]1337;SetMark\ax", "x"},
	{"osc 1337 image", "a\x1b]1337;File=inline=1:aGk=\ab", "a[image]b"},
	{"osc 8 file", "\x1b]8;;file:///etc/passwd\alabel\x1b]8;;\a", "label"},
	{"osc 8 script", "\x1b]8;;javascript:alert(1)\x1b\\label\x1b]8;;\x1b\\", "label"},
	{"osc 8 with id", "\x1b]8;id=a;https://evil.example\x1b\\good.example\x1b]8;;\x1b\\", "good.example"},
	{"osc 8 unterminated", "\x1b]8;;https://e.example label", "␛]8;;https://e.example label"},
	{"osc unterminated", "a\x1b]0;title and text", "a␛]0;title and text"},
	{"osc unterminated line", "\x1b]0;x\nnext \a", "␛]0;x\nnext ␇"},
	{"osc at end", "a\x1b]", "a␛]"},
	{"osc in osc", "\x1b]0;a\x1b]0;b\ac", "c"},
	{"sixel", "a\x1bPq#0;2;0;0;0~-\x1b\\b", "a[image]b"},
	{"sixel with parameters", "a\x1bP0;1;0q~\x1b\\b", "a[image]b"},
	{"kitty", "a\x1b_Gf=100,a=T;iVBOR\x1b\\b", "a[image]b"},
	{"decrqss", "\x1bP$qm\x1b\\x", "x"},
	{"xtgettcap", "\x1bP+q544e\x1b\\x", "x"},
	{"tmux passthrough", "\x1bPtmux;\x1b\x1b]52;c;eA==\a\x1b\\x", "x"},
	{"dcs over lines", "\x1bP1\n2\n\x1b\\x", "x"},
	{"dcs unterminated", "\x1bPq text", "␛Pq text"},
	{"apc", "\x1b_hidden\x1b\\x", "x"},
	{"apc unterminated", "\x1b_hidden", "␛_hidden"},
	{"pm", "\x1b^hidden\x1b\\x", "x"},
	{"sos", "\x1bXhidden\x1b\\x", "x"},
	{"sos bel does not end", "\x1bXhid\aden\x1b\\x", "x"},
	{"st alone", "a\x1b\\b", "ab"},

	// CSI.
	{"sgr", "\x1b[31mred\x1b[0m", "red"},
	{"sgr 24 bit", "\x1b[38;2;1;2;3mx\x1b[m", "x"},
	{"sgr colons", "\x1b[4:3mx", "x"},
	{"sgr conceal", "\x1b[8msecret\x1b[28m", "secret"},
	{"sgr black on black", "\x1b[30;40mhid\x1b[m", "hid"},
	{"sgr blink", "\x1b[5mx", "x"},
	{"cursor up", "a\x1b[1Ab", "ab"},
	{"cursor position", "a\x1b[1;1Hb", "ab"},
	{"cursor save", "\x1b7a\x1b8b", "ab"},
	{"erase display", "a\x1b[2Jb", "ab"},
	{"erase line", "a\x1b[2Kb", "ab"},
	{"erase scrollback", "\x1b[3Jx", "x"},
	{"device attributes", "\x1b[cx", "x"},
	{"secondary attributes", "\x1b[>cx", "x"},
	{"status report", "\x1b[6nx", "x"},
	{"title report", "\x1b[21tx", "x"},
	{"window size", "\x1b[8;1;1tx", "x"},
	{"alternate screen", "\x1b[?1049lx", "x"},
	{"cursor hidden", "\x1b[?25lx", "x"},
	{"paste off", "\x1b[?2004lx", "x"},
	{"mouse on", "\x1b[?1000;1006hx", "x"},
	{"sync", "\x1b[?2026hx", "x"},
	{"scroll region", "\x1b[1;2rx", "x"},
	{"repeat", "x\x1b[1000000b", "x"},
	{"insert lines", "\x1b[9999Lx", "x"},
	{"soft reset", "\x1b[!px", "x"},
	{"cursor shape", "\x1b[2 qx", "x"},
	{"kitty keyboard", "\x1b[>1ux", "x"},
	{"modify keys", "\x1b[>4;2mx", "x"},
	{"rectangle fill", "\x1b[88;1;1;9;9$xx", "x"},
	{"csi unterminated", "a\x1b[31", "a␛[31"},
	{"csi at end", "a\x1b[", "a␛["},
	{"csi cut by newline", "\x1b[31\nx", "␛[31\nx"},
	{"csi cut by escape", "\x1b[31\x1b[0mx", "␛[31x"},
	{"csi with utf-8", "\x1b[3é", "␛[3é"},
	{"csi endless", "\x1b[" + strings.Repeat("1", 300) + "m", "␛[" + strings.Repeat("1", 300) + "m"},

	// Other escapes.
	{"reset", "\x1bcx", "x"},
	{"charset", "\x1b(0x", "x"},
	{"charset g1", "\x1b)Bx", "x"},
	{"double height", "\x1b#3x", "x"},
	{"keypad", "\x1b=x\x1b>", "x"},
	{"index", "\x1bDx\x1bMy", "xy"},
	{"single shift", "\x1bNx", "x"},
	{"utf-8 off", "\x1b%@x", "x"},
	{"escape at end", "a\x1b", "a␛"},
	{"escape escape", "\x1b\x1b[0mx", "␛x"},
	{"escape newline", "\x1b\nx", "␛\nx"},
	{"escape utf-8", "\x1bé", "␛é"},
	{"escape intermediates", "\x1b((((((((((B", "␛((((((((((B"},

	// C0, DEL and C1.
	{"nul", "a\x00b", "a␀b"},
	{"bel", "a\ab", "a␇b"},
	{"shift out", "a\x0eb\x0fc", "a␎b␏c"},
	{"enq", "\x05", "␅"},
	{"xon xoff", "\x11\x13", "␑␓"},
	{"vt ff", "a\vb\fc", "a␋b␌c"},
	{"can sub", "\x18\x1a", "␘␚"},
	{"del", "a\x7fb", "a␡b"},
	{"c1 csi", "\u009b31mx", "<U+009B>31mx"},
	{"c1 osc", "\u009d0;t\ax", "<U+009D>0;t␇x"},
	{"c1 dcs", "\u0090q", "<U+0090>q"},
	{"c1 apc", "\u009f", "<U+009F>"},
	{"c1 st", "\u009c", "<U+009C>"},
	{"c1 nel", "a\u0085b", "a<U+0085>b"},
	{"c1 first", "\u0080", "<U+0080>"},
	{"raw 9b", "\x9b31mx", `\x9b31mx`},
	{"raw 9d", "\x9d0;t\a", `\x9d0;t␇`},
	{"raw 90", "\x90q", `\x90q`},

	// CR, BS, tabs.
	{"crlf", "a\r\nb\r\n", "a\nb\n"},
	{"cr cr lf", "a\r\r\nb", "a\nb"},
	{"progress", "10%\r50%\r100%", "100%"},
	{"progress lines", "x\n10%\r100%\ny", "x\n100%\ny"},
	{"progress shorter", "downloading\rok", "ok"},
	{"progress erased", "10%\r\x1b[K100%\r\x1b[K", "100%"},
	{"cr at end", "done\r", "done"},
	{"cr first", "\rx", "x"},
	{"cr keeps lines above", "a\nb\rc", "a\nc"},
	{"cr then tab", "abc\r\tx", "    x"},
	{"backspace", "abc\b\bX", "aX"},
	{"spinner", "|\b/\b-\b\\", "\\"},
	{"overstrike", "b\bbo\bol\bld\bd", "bold"},
	{"backspace too far", "a\b\b\bx", "x"},
	{"backspace on next line", "a\n\bx", "a\nx"},
	{"backspace wide", "日本\bx", "日x"},
	{"backspace mark", "e\u0301\bx", "x"},
	{"backspace zwj", "👩\u200d👧\b\u200d", "👩<U+200D>"},
	{"tab", "a\tb", "a   b"},
	{"tab at stop", "abcd\te", "abcd    e"},
	{"tabs", "\t\tx", "        x"},
	{"tab after wide", "日\tx", "日  x"},
	{"tab after line", "abc\n\tx", "abc\n    x"},
	{"tab after sgr", "\x1b[1ma\x1b[0m\tb", "a   b"},

	// Bidi, invisible, tags.
	{"rlo", "a\u202eb", "a<U+202E>b"},
	{"lro", "\u202d", "<U+202D>"},
	{"lre rle pdf", "\u202a\u202b\u202c", "<U+202A><U+202B><U+202C>"},
	{"isolates", "\u2066\u2067\u2068\u2069", "<U+2066><U+2067><U+2068><U+2069>"},
	{"lrm rlm", "\u200e\u200f", "<U+200E><U+200F>"},
	{"alm", "\u061c", "<U+061C>"},
	{"trojan source", "if x {\u202e}\u2066// ok", "if x {<U+202E>}<U+2066>// ok"},
	{"tags", "hi\U000e0068\U000e0069", "hi<U+E0068><U+E0069>"},
	{"language tag", "\U000e0001", "<U+E0001>"},
	{"flag of tags", "🏴\U000e0067\U000e007f", "🏴<U+E0067><U+E007F>"},
	{"zwsp", "a\u200bb", "a<U+200B>b"},
	{"zwnj", "a\u200cb", "a<U+200C>b"},
	{"zwj in letters", "a\u200db", "a<U+200D>b"},
	{"wj", "a\u2060b", "a<U+2060>b"},
	{"invisible times", "\u2062", "<U+2062>"},
	{"soft hyphen", "a\u00adb", "a<U+00AD>b"},
	{"bom", "\ufeffx", "<U+FEFF>x"},
	{"line separator", "a\u2028b\u2029", "a<U+2028>b<U+2029>"},
	{"hangul fillers", "\u115f\u1160\u3164\uffa0", "<U+115F><U+1160><U+3164><U+FFA0>"},
	{"grapheme joiner", "a\u034fb", "a<U+034F>b"},
	{"mongolian", "\u180e", "<U+180E>"},
	{"khmer inherent", "\u17b4", "<U+17B4>"},
	{"selector 1", "a\ufe00", "a<U+FE00>"},
	{"selector 17", "a\U000e0100", "a<U+E0100>"},
	{"annotation", "\ufff9a\ufffb", "<U+FFF9>a<U+FFFB>"},
	{"no character", "\uffff\U0001fffe\ufdd0", "<U+FFFF><U+1FFFE><U+FDD0>"},
	{"musical", "\U0001d173", "<U+1D173>"},

	// Emoji and marks.
	{"emoji", "👍🏽", "👍🏽"},
	{"family", "👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
	{"heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"},
	{"vs16", "⚠\ufe0f", "⚠\ufe0f"},
	{"vs15", "⚠\ufe0e", "⚠\ufe0e"},
	{"vs16 alone", "\ufe0f", "<U+FE0F>"},
	{"vs16 on a letter", "a\ufe0f", "a<U+FE0F>"},
	{"vs16 twice", "⚠\ufe0f\ufe0f", "⚠\ufe0f<U+FE0F>"},
	{"keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3"},
	{"flag", "🇨🇭", "🇨🇭"},
	{"zwj alone", "\u200d", "<U+200D>"},
	{"zwj at end", "👩\u200d", "👩<U+200D>"},
	{"zwj zwj", "👩\u200d\u200d👧", "👩<U+200D><U+200D>👧"},
	{"zwj then escape", "👩\u200d\x1b[0m👧", "👩<U+200D>👧"},
	{"accent", "e\u0301", "e\u0301"},
	{"eight marks", "a" + strings.Repeat("\u0301", 8), "a" + strings.Repeat("\u0301", 8)},
	{"nine marks", "a" + strings.Repeat("\u0301", 9) + "b", "a" + strings.Repeat("\u0301", 8) + "b"},
	{"zalgo", "a" + strings.Repeat("\u0301\u0323", 500) + "b", "a" + strings.Repeat("\u0301\u0323", 4) + "b"},
	{"mark at start", "\u0301a", "◌\u0301a"},
	{"mark on a line", "a\n\u0301", "a\n◌\u0301"},
	{"mark after cr", "abc\r\u0301", "◌\u0301"},
	{"hindi", "नमस्ते दुनिया", "नमस्ते दुनिया"},
	{"thai", "สวัสดีน้ำ", "สวัสดีน้ำ"},
	{"arabic", "السلام عليكم", "السلام عليكم"},
	{"hebrew", "שָׁלוֹם", "שָׁלוֹם"},
	{"jamo", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab"},
	{"korean word", strings.Repeat("가", 50), strings.Repeat("가", 50)},
	{"jamo chain", strings.Repeat("\u1100", 33), strings.Repeat("\u1100", 32) + "<U+1100>"},

	// Bytes that are no UTF-8.
	{"invalid", "a\xffb", `a\xffb`},
	{"cut short", "a\xe2\x94", `a\xe2\x94`},
	{"overlong", "\xc0\xaf", `\xc0\xaf`},
	{"overlong escape", "\xc0\x9b", `\xc0\x9b`},
	{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
	{"beyond", "\xf5\x80\x80\x80", `\xf5\x80\x80\x80`},
	{"latin-1", "caf\xe9", `caf\xe9`},
	{"utf-8 split by escape", "\xe2\x1b[0m\x94\x80", `\xe2\x94\x80`},
	{"utf-16", "h\x00i\x00", "h␀i␀"},
	{"elf", "\x7fELF\x02\x01\x01\x00", "␡ELF␂␁␁␀"},
}

func TestClean(t *testing.T) {
	if len(cases) < 150 {
		t.Errorf("the corpus has %d inputs, want 150", len(cases))
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		got := Clean(c.in)
		if got != c.want {
			t.Errorf("%s: Clean(%.60q) = %.80q, want %.80q", c.name, c.in, got, c.want)
		}
		if err := safe(got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if again := Clean(got); again != got {
			t.Errorf("%s: cleaned again: %.80q, want %.80q", c.name, again, got)
		}
		for _, around := range []string{"日", "x\n", "é\t", "\x1b[1m"} {
			if err := safe(Clean(around + c.in + around)); err != nil {
				t.Errorf("%s inside %q: %v", c.name, around, err)
			}
		}
	}
}

func TestClean_whenCutAnywhere(t *testing.T) {
	for _, c := range cases {
		for i := range len(c.in) {
			for _, part := range []string{c.in[:i], c.in[i:]} {
				got := Clean(part)
				if err := safe(got); err != nil {
					t.Fatalf("%s cut at %d: %v", c.name, i, err)
				}
				if again := Clean(got); again != got {
					t.Fatalf("%s cut at %d: cleaned again: %q, want %q", c.name, i, again, got)
				}
			}
		}
	}
}

func TestCleanLine(t *testing.T) {
	if got, want := CleanLine("a\r\nb\x1b[1m\tc\n"), "a⏎b   c⏎"; got != want {
		t.Errorf("CleanLine = %q, want %q", got, want)
	}
}

func TestReveal(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"go test ./...\n", "go test ./...\n"},
		{"rm -rf /\rls", "rm -rf /␍ls"},
		{"rm\b\bls", "rm␈␈ls"},
		{"ls\x1b[2K\x1b[1Gecho", "ls␛[2K␛[1Gecho"},
		{"a\x1b]0;t\ab", "a␛]0;t␇b"},
		{"a\x1bPq~\x1b\\b", "a␛Pq~␛\\b"},
		{"a\tb", "a␉  b"},
		{"abc\tb", "abc␉b"},
		{"a\u202eb", "a<U+202E>b"},
		{"a\u00a0b\u3000c\u2800", "a<U+00A0>b<U+3000>c<U+2800>"},
		{"a\u2003b", "a<U+2003>b"},
		{"a" + strings.Repeat("\u0301", 9), "a" + strings.Repeat("\u0301", 8) + "<U+0301>"},
		{"\x00\xff\r\n", "␀\\xff␍\n"},
		{"日本語", "日本語"},
	} {
		if got := Reveal(c.in); got != c.want {
			t.Errorf("Reveal(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	for _, c := range cases {
		got := Reveal(c.in)
		if err := safe(got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if utf8.RuneCountInString(got) < utf8.RuneCountInString(c.in) {
			t.Errorf("%s: Reveal(%q) = %q is shorter", c.name, c.in, got)
		}
	}
}

func TestClean_whenPlain_allocatesNothing(t *testing.T) {
	s := strings.Repeat("plain text of a program, Zürich 日本 └─\n", 50)
	if n := testing.AllocsPerRun(20, func() { Clean(s) }); n != 0 {
		t.Errorf("Clean of plain text allocates %v times", n)
	}
}

// floods grow large inputs whose cleaning must stay linear.
var floods = map[string]string{
	"open osc":       "\x1b]0;x",
	"open osc lines": "\x1b]\n",
	"open dcs":       "\x1bP",
	"open csi":       "\x1b[0;",
	"escapes":        "\x1b",
	"marks":          "\u0301",
	"zwj emoji":      "👩\u200d",
	"backspaces":     "é\b\b",
	"tabs":           "日\t",
	"cr":             "ab\r",
	"jamo":           "\u1100",
	"random":         "\xff\x00\x9b",
	"virama":         "क\u094d",
	"prepend":        "\u0600",
	"thai am":        "\u0e33",
	"halfwidth":      "\uff9e",
	"regional":       "🇨",
	"tags":           "\U000e0041",
}

func TestClean_isLinear(t *testing.T) {
	for name, unit := range floods {
		small := strings.Repeat(unit, 4_000)
		large := strings.Repeat(unit, 32_000)
		if name == "open osc" { // an end far away, after a newline
			small, large = small+"\n\a", large+"\n\a"
		}
		best := func(s string) time.Duration {
			least := time.Hour
			for range 3 {
				t0 := time.Now()
				out := Clean(s)
				least = min(least, time.Since(t0))
				if err := safe(out[:min(len(out), 1<<14)]); err != nil && utf8.ValidString(out[:min(len(out), 1<<14)]) {
					t.Errorf("%s: %v", name, err)
				}
			}
			return least
		}
		for tries := 1; ; tries++ { // a busy machine may be late, but not each time
			a, b := best(small), best(large)
			if b <= 40*a+20*time.Millisecond {
				break
			}
			if tries == 10 {
				t.Errorf("%s: 8 times the input takes %v instead of %v", name, b, a)
				break
			}
		}
	}
}

func TestClean_whenRandom(t *testing.T) {
	parts := []string{"\x1b", "[", "]", "P", "\\", "\a", "\r", "\n", "\b", "\t", "0", "m", ";", "\u200d", "\ufe0f", "👩", "🏽", "\u0301", "日", "\u094d", "क", "\u1100", "\u11a8", "가", "\xe2", "\x94", "\u202e", "\u009c", "\u0600", "🇨", "a", "1", "©", " "}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		in := b.String()
		got := Clean(in)
		if err := safe(got); err != nil {
			t.Fatalf("Clean(%q) = %q: %v", in, got, err)
		}
		if again := Clean(got); again != got {
			t.Fatalf("Clean(%q) = %q, again %q", in, got, again)
		}
		if err := safe(Reveal(in)); err != nil {
			t.Fatalf("Reveal(%q): %v", in, err)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Clean(in)
		if err := safe(got); err != nil {
			t.Fatalf("Clean(%q) = %q: %v", in, got, err)
		}
		if again := Clean(got); again != got {
			t.Fatalf("Clean(%q) = %q, again %q", in, got, again)
		}
		if strings.Contains(CleanLine(in), "\n") {
			t.Fatalf("CleanLine(%q) has a newline", in)
		}
	})
}

func FuzzReveal(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := Reveal(in)
		if err := safe(got); err != nil {
			t.Fatalf("Reveal(%q) = %q: %v", in, got, err)
		}
		if utf8.RuneCountInString(got) < utf8.RuneCountInString(in) {
			t.Fatalf("Reveal(%q) = %q hides something", in, got)
		}
	})
}

// ignorables is Default_Ignorable_Code_Point as Unicode lists it.
var ignorables = [][2]rune{
	{0xad, 0xad},
	{0x34f, 0x34f},
	{0x61c, 0x61c},
	{0x115f, 0x1160},
	{0x17b4, 0x17b5},
	{0x180b, 0x180f},
	{0x200b, 0x200f},
	{0x202a, 0x202e},
	{0x2060, 0x206f},
	{0x3164, 0x3164},
	{0xfe00, 0xfe0f},
	{0xfeff, 0xfeff},
	{0xffa0, 0xffa0},
	{0xfff0, 0xfff8},
	{0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
}

// TestClean_ignorables: a character that a terminal may show as nothing becomes a token, alone, between letters, after
// a mark and after Hangul; emoji stay complete.
func TestClean_ignorables(t *testing.T) {
	for _, x := range ignorables {
		for r := x[0]; r <= x[1]; r++ {
			for _, around := range []string{"%s", "a%sb", "é%s", "e\u0301%s!", "\u1100%s\u1161", "日%s本", "%s\n%s", "\u0915\u094d%s\u0937"} {
				s := strings.ReplaceAll(around, "%s", string(r))
				for name, clean := range map[string]func(string) string{"Clean": Clean, "CleanLine": CleanLine, "Reveal": Reveal} {
					if got := clean(s); strings.ContainsRune(got, r) || !strings.Contains(got, code(r)) {
						t.Fatalf("%s(%q) is %q", name, s, got)
					}
				}
			}
		}
	}
	for _, s := range []string{"❤️", "✌🏽", "👩‍👩‍👧", "1️⃣", "🏳️‍🌈", "☺︎"} {
		if got := Clean("a" + s + "b"); got != "a"+s+"b" {
			t.Errorf("%q became %q", s, got)
		}
	}
}
