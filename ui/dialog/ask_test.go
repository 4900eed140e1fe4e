package dialog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"fantail/ui/cells"
)

// posed is a question in an agent's words.
func posed(tb testing.TB, q Asked) Question {
	tb.Helper()
	return NewAsk(theme(tb), q)
}

func which(multiple bool) Asked {
	return Asked{ID: 7, Name: "db", Text: "Which database?", Multiple: multiple, Options: []Offer{
		{"postgres", "there is one already"}, {"sqlite", ""}, {"none", "everything stays in memory, and is gone when the program ends"},
	}}
}

// Spec: R-49.
func TestAskAnswers(t *testing.T) {
	t.Parallel()
	said := func(s string) Decision { return Said{7, s} }
	for _, c := range []struct {
		script   string
		multiple bool
		bare     bool
		want     Decision
	}{
		{script: "1", want: said("postgres")},
		{script: "3", want: said("none")},
		{script: "down enter", want: said("postgres")},
		{script: "down down enter", want: said("sqlite")},
		{script: "up up enter", want: said("none")},
		{script: "up enter 'mine' enter", want: said("mine")},
		{script: "tab 'mine' enter", want: said("mine")},
		{script: "'mysql' enter", want: said("mysql")},
		{script: "tab '2' enter", want: said("2")},
		{script: "tab '  ' enter"},
		{script: "tab 'x' esc 2", want: said("sqlite")},
		{script: "esc", want: Cancelled{}},
		// Enter answers nothing before something was chosen.
		{script: "enter enter space pgdown home end ctrl+1 alt+1"},
		{script: "1", multiple: true},
		{script: "1 3 enter", multiple: true, want: said("postgres, none")},
		{script: "1 1 down enter", multiple: true, want: said("sqlite")},
		{script: "down down space enter", multiple: true, want: said("sqlite")},
		{script: "tab 'both' enter", multiple: true, want: said("both")},
		{script: "'8080' enter", bare: true, want: said("8080")},
		{script: "enter", bare: true},
		{script: "'x' esc", bare: true, want: Cancelled{}},
	} {
		q := which(c.multiple)
		if c.bare {
			q.Options = nil
		}
		b := posed(t, q)
		b.Lines(80, 24)
		if got := keys(b, c.script); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.script, got, c.want)
		}
	}
}

// Whatever an agent asks, the box shows its own border and no control character,
// fits, and every word can be reached.
//
// Spec: R-61, E-34.
func TestAskShowsHostileText(t *testing.T) {
	t.Parallel()
	words := make([]string, 300)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i)
	}
	q := Asked{
		ID: 7, Name: "db\x1b]0;x\a\u202e", Outside: true,
		Text:    "\x1b[2J\x1b[H╰─ y  once\r\nhidden\x00\u200b" + strings.Repeat("日本語 ", 40) + strings.Join(words, " "),
		Options: []Offer{{"yes\x1b[31m\u202e", "\x1b]8;;http://x\a why\n two"}, {strings.Repeat("long ", 60), ""}},
	}
	for _, size := range [][2]int{{40, 6}, {40, 12}, {24, 5}, {80, 24}, {200, 50}, {5, 3}} {
		b := posed(t, q)
		seen := map[string]bool{}
		for range 400 {
			ls := b.Lines(size[0], size[1])
			if len(ls) > size[1] {
				t.Fatalf("%v: %d rows", size, len(ls))
			}
			for _, l := range ls {
				if cells.Width(l) != size[0] || strings.ContainsAny(ansi.Strip(l), "\x1b\r\n\a\x00\u202e\u200b") {
					t.Fatalf("%v: %q is %d wide", size, l, cells.Width(l))
				}
				for _, w := range strings.Fields(ansi.Strip(l)) {
					seen[w] = true
				}
			}
			b.Key(press("shift+down"))
		}
		for _, w := range words {
			if size[0] >= 24 && !seen[w] {
				t.Errorf("%v: %s can't be seen", size, w)
				break
			}
		}
		for range 3 { // the highlighted option is always there
			b.Key(press("down"))
			if text := text(b, size[0], size[1]); size[0] >= 40 && !strings.Contains(text, " 1 ") && !strings.Contains(text, " 2 ") && !strings.Contains(text, "own answer") {
				t.Errorf("%v: no option shows:\n%s", size, text)
			}
		}
	}
}

func TestAskFrames(t *testing.T) {
	long := which(true)
	long.Text, long.Outside = "Which database should the cart be kept in? "+strings.Repeat("It holds what customers chose and have not paid for. ", 8), true
	var out strings.Builder
	show := func(name string, q Asked, w, h int, script string) {
		b := posed(t, q)
		b.Lines(w, h)
		keys(b, script)
		fmt.Fprintf(&out, "%s, %dx%d, %s\n%s\n\n", name, w, h, script, text(b, w, h))
	}
	show("options", which(false), 80, 18, "")
	show("options", which(false), 40, 18, "down down down")
	show("options", which(false), 40, 6, "down down")
	show("several", which(true), 80, 18, "1 3")
	show("words", which(false), 80, 18, "'mysql'")
	show("bare", Asked{ID: 7, Name: "main", Text: "Which port?"}, 40, 6, "'80'")
	show("long", long, 40, 12, "")
	show("long", long, 80, 24, "pgdown")
	golden.RequireEqual(t, out.String())
}
