package composer

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestHistoryWalk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"up", "three|"},
		{"up up", "two\nlines|"},
		{"up up up", "one|"},
		{"up up up up", "one|"},
		{"up up up down down", "three|"},
		{"'draft' up down", "draft|"},
		{"'draft' left left up up down down", "dra|ft"},
		{"'draft' up 'X' up down", "threeX|"},
		{"'draft' up 'X' down", "draft|"},
		{"'draft' up 'X' down up", "threeX|"},
		// Once a recalled text is edited, Up moves inside it first.
		{"up up left up", "two|\nlines"},
		{"up up left up up", "one|"},
		{"'a' shift+enter 'b' up up", "three|"},
		{"'a' shift+enter 'b' up up down", "a|\nb"},
	} {
		b := box(t)
		b.SetHistory([]string{"one", "two\nlines", "three"})
		keys(b, c.script)
		if got := marked(b); got != c.want {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}

func TestHistoryKeepsNoDuplicates(t *testing.T) {
	t.Parallel()
	b := box(t)
	b.SetHistory([]string{"one", "one", " ", "two"})
	b.AddHistory("two")
	b.AddHistory("")
	b.AddHistory("one")
	if got := strings.Join(b.hist, ","); got != "one,two,one" {
		t.Fatalf("got %q", got)
	}
}

func TestDraftsAreNotLost(t *testing.T) {
	t.Parallel()
	b := box(t)
	b.SetHistory([]string{"one", "two"})
	// A draft, then an old prompt is sent again: the draft is in the history.
	keys(b, "'half a thought' up up 'X' up")
	b.Clear()
	b.AddHistory("one")
	keys(b, "up up")
	if got := b.Value(); got != "half a thought" {
		t.Fatalf("got %q of %q", got, b.hist)
	}
	// The history is replaced while it is walked: so too.
	b.Clear()
	keys(b, "'another' up")
	b.SetHistory([]string{"new"})
	if got := strings.Join(b.hist, ","); got != "new,another" {
		t.Fatalf("got %q", got)
	}
	// Set while it is walked: so too.
	b.Clear()
	keys(b, "'third' up")
	b.Set("from the editor")
	keys(b, "up")
	if got := b.Value(); got != "third" {
		t.Fatalf("got %q", got)
	}
	keys(b, "down")
	if got := b.Value(); got != "from the editor" {
		t.Fatalf("got %q", got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"ctrl+r 'the' enter", "Fix the Docs|"},
		{"ctrl+r 'the' ctrl+r enter", "run the tests|"},
		{"ctrl+r 'the' ctrl+r ctrl+r enter", "run the tests|"},
		{"ctrl+r 'the' ctrl+r ctrl+s tab", "Fix the Docs|"},
		{"ctrl+r 'fix' right", "Fix the Docs|"},
		{"ctrl+r 'FIX' right", "draft|"},
		{"ctrl+r 'the' esc", "draft|"},
		{"ctrl+r 'the' ctrl+g", "draft|"},
		{"ctrl+r 'thex' backspace enter", "Fix the Docs|"},
		{"ctrl+r 'run' ctrl+u enter", "draft|"},
		{"ctrl+r 'run' enter down down", "draft|"}, // the draft waits below the newest
	} {
		b := box(t)
		b.Set("draft")
		b.SetHistory([]string{"run the tests", "Fix the Docs"})
		keys(b, c.script)
		if got := marked(b); got != c.want {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
		if b.find != nil {
			t.Errorf("%s: the search is still open", c.script)
		}
	}
}

func TestSearchShowsWhatItFound(t *testing.T) {
	t.Parallel()
	b := box(t)
	b.SetHistory([]string{strings.Repeat("x", 500) + " needle " + strings.Repeat("y", 500), "\x1b[2Jevil"})
	keys(b, "ctrl+r 'needle'")
	if got := ansi.Strip(strings.Join(b.Lines(40, 4), "\n")); !strings.Contains(got, "needle ") || !strings.Contains(got, "search: needle") {
		t.Fatalf("got %q", got)
	}
	if _, taken := b.Key(press("ctrl+c")); taken {
		t.Fatal("ctrl+c is taken")
	}
	if _, taken := b.Key(press("pgup")); taken {
		t.Fatal("pgup is taken")
	}
	keys(b, "esc ctrl+r 'evil'")
	for _, l := range b.Lines(40, 4) {
		if strings.ContainsAny(ansi.Strip(l), "\x1b\x07") {
			t.Fatalf("got %q", l)
		}
	}
	b.Paste("two\nlines")
	if got := joined(b.find.query); got != "eviltwo" {
		t.Fatalf("got %q", got)
	}
}
