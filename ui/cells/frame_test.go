package cells

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

const (
	red = "\x1b[31m"
	off = "\x1b[m"
)

func TestWidth(t *testing.T) {
	for in, want := range map[string]int{
		"":                        0,
		"abc":                     3,
		red + "abc" + off:         3,
		"日本":                      4,
		red + "日本" + off + "x":    5,
		"👩\u200d👧":                2,
		"⚠\ufe0f":                 2,
		"e\u0301":                 1,
		"🇨🇭":                      2,
		"\x1b[38;2;1;2;3mx\x1b[m": 1,
	} {
		if got := Width(in); got != want {
			t.Errorf("Width(%q) = %d, want %d", in, got, want)
		}
	}
}

// TestWidthOfTheScreensSigns: signs that are counted without a look at their neighbours are one cell in the tables
// too, alone, in a row and beside what joins.
func TestWidthOfTheScreensSigns(t *testing.T) {
	for r := range rune(0x30000) {
		if !narrow(r) {
			continue
		}
		for s, want := range map[string]int{string(r): 1, "a" + string(r) + "b": 3, string(r) + string(r): 2} {
			if got := displaywidth.String(s); got != want || Width(s) != want {
				t.Errorf("%q is %d cells wide, Width says %d", s, got, Width(s))
			}
		}
		for _, beside := range []string{"\u0301", "\ufe0f", "\u200d", "日", "🇨🇭"} {
			for _, s := range []string{string(r) + beside, beside + string(r)} {
				if got, want := Width(s), displaywidth.String(s); got != want {
					t.Errorf("Width(%q) = %d, want %d", s, got, want)
				}
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"", 5, []string{""}},
		{"abc", 5, []string{"abc"}},
		{"a\nb", 5, []string{"a", "b"}},
		{"a\n", 5, []string{"a", ""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 6, []string{"one", "two", "three"}},
		{"one  two", 4, []string{"one", "two"}},
		{"one two   ", 7, []string{"one two"}},
		{"abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"ab cdefgh", 4, []string{"ab", "cdef", "gh"}},
		{"  indented text", 10, []string{"  indented", "text"}},
		{"      x", 3, []string{"   ", "   ", "x"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"日本語", 3, []string{"日", "本", "語"}},
		{"a 日本", 4, []string{"a", "日本"}},
		{"日x", 1, []string{"…", "x"}},
		{"x日", 1, []string{"x", "…"}},
		{"日", 1, []string{"…"}},
		{"👩\u200d👧👍🏽", 2, []string{"👩\u200d👧", "👍🏽"}},
		{"abc", 0, []string{"a", "b", "c"}},
		{"see https://example.org/a/long/path now", 12, []string{"see", "https://exam", "ple.org/a/lo", "ng/path now"}},
	} {
		if got := Wrap(c.in, c.w); !slices.Equal(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

// words makes clean text of all sorts of characters.
func words(r *rand.Rand) string {
	parts := []string{"a", "bc", " ", "  ", "\n", "日", "本語", "é", "e\u0301", "👩\u200d👧", "🇨🇭", "─", "नमस्ते", "supercalifragilistic", "-", "ﷺ", "\u0600"}
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return Clean(b.String())
}

func TestWrap_losesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bare := func(s string) string {
		return strings.NewReplacer(" ", "", "\n", "").Replace(s)
	}
	for range 6_000 {
		s, w := words(r), 2+r.IntN(30)
		got := Wrap(s, w)
		for _, l := range got {
			if Width(l) > w {
				t.Fatalf("Wrap(%q, %d) has the line %q of %d cells", s, w, l, Width(l))
			}
			if !utf8.ValidString(l) {
				t.Fatalf("Wrap(%q, %d) cuts a character: %q", s, w, l)
			}
		}
		if bare(strings.Join(got, "")) != bare(s) {
			t.Fatalf("Wrap(%q, %d) = %q loses text", s, w, got)
		}
		if want := strings.Count(s, "\n") + 1; len(got) < want {
			t.Fatalf("Wrap(%q, %d) = %q has fewer than %d lines", s, w, got, want)
		}
	}
}

func TestCutAndFit(t *testing.T) {
	for _, c := range []struct {
		in       string
		w        int
		cut, fit string
	}{
		{"abcdef", 6, "abcdef", "abcdef"},
		{"abcdef", 4, "abc…", "abc…"},
		{"ab", 4, "ab", "ab  "},
		{"abcdef", 1, "…", "…"},
		{"abcdef", 0, "", ""},
		{"abcdef", -3, "", ""},
		{"日本語", 4, "日…", "日… "},
		{"日本語", 5, "日本…", "日本…"},
		{"日", 1, "…", "…"},
		{red + "abcdef" + off, 4, red + "abc…" + off, red + "abc…" + off},
		{red + "ab" + off, 3, red + "ab" + off, red + "ab" + off + " "},
	} {
		if got := Cut(c.in, c.w); got != c.cut {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.w, got, c.cut)
		}
		if got := Fit(c.in, c.w); got != c.fit {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.in, c.w, got, c.fit)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 4_000 {
		s, w := strings.ReplaceAll(words(r), "\n", " "), r.IntN(30)
		if r.IntN(2) == 0 {
			s = red + s + off + s
		}
		if got := Fit(s, w); Width(got) != w {
			t.Fatalf("Fit(%q, %d) = %q has %d cells", s, w, got, Width(got))
		}
		if got := Cut(s, w); Width(got) > w {
			t.Fatalf("Cut(%q, %d) = %q has %d cells", s, w, got, Width(got))
		}
	}
	if got := Spaces(300); len(got) != 300 || strings.TrimSpace(got) != "" {
		t.Errorf("Spaces(300) = %q", got)
	}
}

func TestOverlay(t *testing.T) {
	base := []string{"0123456789", "日本語日本", red + "abcdefghij" + off, "x"}
	for _, c := range []struct {
		name string
		x, y int
		box  []string
		want []string
	}{
		{"inside", 2, 0, []string{"AB"}, []string{"01AB456789", base[1], base[2], base[3]}},
		{"between wide ones", 1, 1, []string{"AB"}, []string{base[0], " AB 語日本", base[2], base[3]}},
		{"over styles", 2, 2, []string{"AB"}, []string{base[0], base[1], "", base[3]}},
		{"beyond the end", 3, 3, []string{"AB", "CD"}, []string{base[0], base[1], base[2], "x  AB"}},
		{"above", 0, -1, []string{"AB", "CD"}, []string{"CD23456789", base[1], base[2], base[3]}},
		{"left", -1, 0, []string{"AB"}, []string{"B123456789", base[1], base[2], base[3]}},
		{"far left", -5, 0, []string{"AB"}, base},
	} {
		got := Overlay(base, c.box, c.x, c.y)
		if c.name == "over styles" {
			if s := ansi.Strip(got[2]); s != "abABefghij" {
				t.Errorf("over styles: %q", s)
			}
			if i, j := strings.Index(got[2], off), strings.Index(got[2], "AB"); i < 0 || i > j {
				t.Errorf("over styles: the line's colour runs into the box: %q", got[2])
			}
			if !strings.Contains(got[2][strings.Index(got[2], "AB"):], red) {
				t.Errorf("over styles: the colour is lost behind the box: %q", got[2])
			}
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if base[0] != "0123456789" {
		t.Error("Overlay changed its base")
	}
}

func TestOverlay_keepsWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2_000 {
		line := Fit(strings.ReplaceAll(words(r), "\n", ""), 30)
		if r.IntN(2) == 0 {
			line = red + line + off
		}
		box := Fit(strings.ReplaceAll(words(r), "\n", ""), 1+r.IntN(10))
		x := r.IntN(30 - Width(box))
		if got := Overlay([]string{line}, []string{box}, x, 0)[0]; Width(got) != 30 {
			t.Fatalf("%q over %q at %d = %q has %d cells", box, line, x, got, Width(got))
		}
	}
}

func BenchmarkClean(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":  strings.Repeat("an ordinary line of a program's output, eighty characters long or a bit more\n", 1000),
		"utf-8":  strings.Repeat("日本語 Zürich — “quotes” 한국어 नमस्ते 👍🏽\n", 1000),
		"sgr":    strings.Repeat("\x1b[32mok\x1b[0m\tfantail/ui/frame\t0.01s\n", 1000),
		"random": strings.Repeat("\x00\xff\x1b]0;\x9b\u202e\r\b", 5000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Clean(s)
			}
		})
	}
}

func BenchmarkWidth(b *testing.B) {
	s := red + strings.Repeat("word ", 20) + off
	for b.Loop() {
		Width(s)
	}
}

func BenchmarkWrap1KB(b *testing.B) {
	s := strings.Repeat("a few words of prose. ", 47)
	b.ReportAllocs()
	for b.Loop() {
		Wrap(s, 100)
	}
}

func BenchmarkOverlay60x20(b *testing.B) {
	line := red + strings.Repeat("word ", 20) + off + strings.Repeat("word ", 20)
	base := slices.Repeat([]string{line}, 60)
	box := slices.Repeat([]string{red + strings.Repeat("x", 60) + off}, 20)
	for b.Loop() {
		Overlay(base, box, 70, 20)
	}
}
