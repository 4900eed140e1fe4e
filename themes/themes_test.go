package themes

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func load(t testing.TB, name string, noColor bool) *Theme {
	t.Helper()
	th, err := Load(name, noColor)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// luminance is WCAG's relative luminance of #rrggbb.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(color, "#"), 16, 32)
	if err != nil || len(color) != 7 {
		t.Fatalf("colour %q is not #rrggbb", color)
	}
	part := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	if la < lb {
		la, lb = lb, la
	}
	return (la + 0.05) / (lb + 0.05)
}

func TestContrast(t *testing.T) {
	if c := contrast(t, "#000000", "#ffffff"); math.Abs(c-21) > 0.01 {
		t.Fatalf("black on white has contrast %.2f, want 21", c)
	}
	// Backgrounds of common terminal colour schemes, besides the theme's own.
	usual := map[bool][]string{
		true:  {"#000000", "#1e1e1e", "#1e1e2e", "#282828", "#002b36"},
		false: {"#ffffff", "#fdf6e3", "#eff1f5"},
	}
	for _, name := range []string{"dark", "light"} {
		th := load(t, name, false)
		for r, l := range th.looks {
			want := 4.5
			switch Role(r) {
			case Dim, Faint:
				want = 3
			case Rule, Border: // lines, never words
				want = 1.5
			}
			if l.Color == "" && l.Background != "" {
				onSurface(t, th, Role(r))
				continue
			}
			if l.Background != "" && l.Color != "" {
				if c := contrast(t, l.Color, l.Background); c < want {
					t.Errorf("%s %s: %s on its %s has contrast %.2f, want %.1f", name, Role(r), l.Color, l.Background, c, want)
				}
				continue
			}
			if l.Color == "" {
				continue
			}
			if c := contrast(t, l.Color, th.background); c < want {
				t.Errorf("%s %s: %s on %s has contrast %.2f, want %.1f", name, Role(r), l.Color, th.background, c, want)
			}
			for _, surface := range []Role{Raised, Letter} {
				if c := contrast(t, l.Color, th.Look(surface).Background); c < min(want, 4) {
					t.Errorf("%s %s: %s on the surface %s has contrast %.2f", name, Role(r), l.Color, surface, c)
				}
			}
			for _, bg := range usual[th.Dark] {
				if c := contrast(t, l.Color, bg); c < min(want, 4) {
					t.Errorf("%s %s: %s on the usual %s has contrast %.2f", name, Role(r), l.Color, bg, c)
				}
			}
		}
	}
}

// onSurface checks that code is readable on the surface of a role.
func onSurface(t *testing.T, th *Theme, surface Role) {
	t.Helper()
	for _, r := range []Role{Comment, Keyword, String, Number, Call, Type, Good, Bad} {
		if c := contrast(t, th.Look(r).Color, th.Look(surface).Background); c < 3 {
			t.Errorf("%s: %s on %s has contrast %.2f, want 3", th.Name, r, surface, c)
		}
	}
}

func TestOn(t *testing.T) {
	th := load(t, "dark", false)
	if got, want := th.On(Added, Good, "x"), "\x1b[38;2;140;207;126m\x1b[48;2;24;48;28mx\x1b[m"; got != want {
		t.Errorf("On = %q, want %q", got, want)
	}
	if got, want := th.On(Added, Text, "x"), "\x1b[48;2;24;48;28mx\x1b[m"; got != want {
		t.Errorf("On for ordinary text = %q, want %q", got, want)
	}
	if got, want := th.On(Text, Good, "x"), th.Paint(Good, "x"); got != want {
		t.Errorf("On without a surface = %q, want %q", got, want)
	}
	plain := load(t, "dark", true)
	if got := plain.On(Added, Good, "x"); got != "x" {
		t.Errorf("without colours an added line is %q, want it plain", got)
	}
	if got := plain.On(AddedWord, Good, "x"); !strings.Contains(got, "\x1b[4") {
		t.Errorf("without colours a changed word is %q, want it underlined", got)
	}
}

func TestAnsi_followsTheTerminal(t *testing.T) {
	th := load(t, "ansi", false)
	for r, l := range th.looks {
		for _, c := range []string{l.Color, l.Background} {
			if c == "" {
				continue
			}
			if n, err := strconv.Atoi(c); err != nil || n < 0 || n > 15 {
				t.Errorf("%s: %q is not one of the sixteen colours", Role(r), c)
			}
		}
		// White, black and bright black are the background of some terminals.
		if (l.Color == "0" || l.Color == "7" || l.Color == "8" || l.Color == "15") && l.Background == "" {
			t.Errorf("%s: colour %s vanishes on some backgrounds", Role(r), l.Color)
		}
	}
	if got, want := th.Paint(Bad, "x"), "\x1b[31mx\x1b[m"; got != want {
		t.Errorf("Paint = %q, want %q", got, want)
	}
}

func TestPaint_whenPlain(t *testing.T) {
	for _, name := range Names() {
		th := load(t, name, false)
		if got := th.Paint(Text, "x"); got != "x" {
			t.Errorf("%s: ordinary text is painted %q", name, got)
		}
		for r := range numRoles {
			if th.Paint(r, "") != "" {
				t.Errorf("%s %s: an empty string is painted", name, r)
			}
			if got, want := th.Paint(r, "x"), th.Style(r).Render("x"); got != want {
				t.Errorf("%s %s: Paint = %q, the style renders %q", name, r, got, want)
			}
		}
	}
}

func TestNoColor(t *testing.T) {
	for _, name := range Names() {
		th := load(t, name, true)
		for r := range numRoles {
			got := strings.ReplaceAll(th.Paint(r, "x"), "x", "")
			for _, p := range strings.FieldsFunc(got, func(c rune) bool { return strings.ContainsRune("\x1b[;m", c) }) {
				if p != "1" && p != "4" && p != "7" {
					t.Errorf("%s %s: SGR %s is more than bold, underline or reverse", name, r, p)
				}
			}
		}
		for _, r := range []Role{Selection, TabActive} {
			if !th.Look(r).Reverse {
				t.Errorf("%s %s: nothing marks it without colours", name, r)
			}
		}
	}
}

func TestLoad_whenUnknown(t *testing.T) {
	_, err := Load("solar", false)
	if err == nil || !strings.Contains(err.Error(), `"solar"`) || !strings.Contains(err.Error(), "dark, light, ansi") {
		t.Fatalf("Load of an unknown theme: %v", err)
	}
}

func TestParse_whenFaulty(t *testing.T) {
	good, err := files.ReadFile("dark.toml")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]string{
		"a missing role": strings.Replace(string(good), "[answer]\n", "", 1),
		"an unknown one": string(good) + "[sparkle]\ncolor = \"#ffffff\"\n",
		"bad syntax":     "dark = ",
	} {
		if _, err := parse("x", []byte(b), false); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestEveryRole_hasAName(t *testing.T) {
	seen := map[string]bool{}
	for r := range numRoles {
		if n := r.String(); n == "" || seen[n] {
			t.Errorf("role %d has the name %q", r, n)
		}
		seen[r.String()] = true
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load(b, "dark", false)
	}
}

func BenchmarkPaint(b *testing.B) {
	th := load(b, "dark", false)
	for b.Loop() {
		th.Paint(Bad, "some words of a line")
	}
}

// Only questions have the colour of a question.
func TestWarn_isAloneWithItsColour(t *testing.T) {
	for _, name := range []string{"dark", "light"} {
		for _, th := range []*Theme{load(t, name, false), load(t, name, false).In256()} {
			for r, l := range th.looks {
				if Role(r) != Warn && Role(r) != Ask && l.Color == th.looks[Warn].Color {
					t.Errorf("%s: %s has the colour %s of questions", name, Role(r), l.Color)
				}
			}
		}
	}
}

func TestIn256_hasANumberForEachColour(t *testing.T) {
	grey := func(s string) bool {
		n, _ := strconv.Atoi(s)
		return n >= 232 && n <= 255
	}
	for _, name := range []string{"dark", "light"} {
		th := load(t, name, false).In256()
		for r, l := range th.looks {
			for _, c := range []string{l.Color, l.Background} {
				if n, err := strconv.Atoi(c); c != "" && (err != nil || n < 16 || n > 255) {
					t.Errorf("%s %s: %q is not one of the 240 fixed colours", name, Role(r), c)
				}
			}
		}
		for _, r := range []Role{Dim, Faint, Rule, Border, Status, TabIdle, Hunk, Comment, Thinking} {
			if c := th.Look(r).Color; !grey(c) {
				t.Errorf("%s %s: %s is not a grey", name, r, c)
			}
		}
		if c := th.Look(Raised).Background; !grey(c) {
			t.Errorf("%s: the surface %s is not a grey", name, c)
		}
	}
}

func TestUnder(t *testing.T) {
	th := load(t, "dark", false).In256()
	open := "\x1b[48;5;235m"
	got := th.Under(Raised, "a"+th.Paint(Bad, "b")+"\x1b[1mc\x1b[0md")
	if want := open + "a\x1b[38;5;210mb\x1b[m" + open + "\x1b[1mc\x1b[m" + open + "d\x1b[m"; got != want {
		t.Errorf("Under = %q, want %q", got, want)
	}
	for _, plain := range []*Theme{load(t, "ansi", false), load(t, "dark", true)} {
		for _, r := range []Role{Raised, Letter, Added, Removed} {
			if got := plain.Under(r, "a"); got != "a" {
				t.Errorf("%s %s: a terminal without surfaces gets %q", plain.Name, r, got)
			}
		}
	}
}
