package manual

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// TestPages: each page has a heading, is linked from the README, and shows on any screen, every word of it.
func TestPages(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(Names()) == 0 {
		t.Fatal("there are no pages")
	}
	for _, name := range Names() {
		p, ok := Find(name)
		if !ok || p.Title == "" || !strings.HasPrefix(p.Text, "# "+p.Title+"\n") {
			t.Errorf("%s has no heading: %+v", name, p)
		}
		if !strings.Contains(string(readme), "](ui/manual/"+name+".md)") {
			t.Errorf("README.md does not link ui/manual/%s.md", name)
		}
		for _, w := range []int{40, 80, 200} {
			var said []string
			for _, line := range p.box(t, theme, w).Lines(w, 10_000) {
				if cells.Width(line) > w {
					t.Errorf("%s at %d: %d cells: %q", name, w, cells.Width(line), line)
				}
				said = append(said, ansi.Strip(line))
			}
			shown := strings.Join(said, "\n")
			for _, word := range regexp.MustCompile(`\pL{4,12}`).FindAllString(p.Text, -1) {
				if w == 80 && !strings.Contains(shown, word) {
					t.Errorf("%s at %d does not show %q", name, w, word)
				}
			}
		}
	}
	if _, ok := Find("../manual"); ok {
		t.Error("what is no page was found")
	}
}

func (p Page) box(t *testing.T, theme *themes.Theme, w int) dialog.Box {
	t.Helper()
	return p.Show(theme, w).(intent.Run).F(t.Context()).(intent.Open).Box
}
