package manual

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/intent"
)

// TestPages: each page has a heading, is linked from the README and the first page, and shows on any screen, every word of it.
func TestPages(t *testing.T) {
	readme := read(t, "../../README.md")
	theme, err := themes.Load("dark", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		p, ok := Find(name)
		if !ok || p.Title == "" || !strings.HasPrefix(p.Text, "# "+p.Title+"\n") {
			t.Errorf("%s has no heading: %+v", name, p)
		}
		if !strings.Contains(readme, "](ui/manual/"+name+".md)") {
			t.Errorf("README.md does not link ui/manual/%s.md", name)
		}
		if name != "start" && !strings.Contains(read(t, "start.md"), "]("+name+".md)") {
			t.Errorf("start.md does not link %s.md", name)
		}
		for _, w := range []int{40, 80, 120, 200} {
			var said []string
			for _, line := range p.box(t, theme, w).Lines(w, 10_000) {
				if cells.Width(line) > w {
					t.Errorf("%s at %d: %d cells: %q", name, w, cells.Width(line), line)
				}
				said = append(said, ansi.Strip(line))
			}
			shown := broken.ReplaceAllString(strings.Join(said, ""), "") // a line of code may break in a word
			for _, word := range regexp.MustCompile(`\pL{4,12}`).FindAllString(unseen.ReplaceAllString(p.Text, ""), -1) {
				if !strings.Contains(shown, word) {
					t.Errorf("%s at %d does not show %q", name, w, word)
				}
			}
		}
	}
	if _, ok := Find("../manual"); ok {
		t.Error("what is no page was found")
	}
}

// TestFiles: the list of pages has each file of this directory.
func TestFiles(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, e := range entries {
		there = append(there, strings.TrimSuffix(e.Name(), ".md"))
	}
	if listed := slices.Sorted(slices.Values(Names())); !slices.Equal(listed, there) {
		t.Errorf("listed are %v, there are %v", listed, there)
	}
}

var (
	unseen  = regexp.MustCompile("(?m)\\]\\([^)\\s]+\\)|^```\\w+$") // where a link leads, and the language of a block
	broken  = regexp.MustCompile(`[│\s]+`)
	heading = regexp.MustCompile(`(?m)^##+ (.+)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced  = regexp.MustCompile("(?sm)^```.*?^```")
	dropped = regexp.MustCompile(`[^\pL\pN _-]`) // from an anchor
)

// TestLinks: a page begins with an example; a long one links each of its sections at its beginning; each link leads somewhere.
func TestLinks(t *testing.T) {
	anchors := map[string][]string{} // by the page's file
	prose := map[string]string{}
	for _, name := range Names() {
		file := name + ".md"
		prose[file] = fenced.ReplaceAllString(read(t, file), "")
		for _, m := range heading.FindAllStringSubmatch(prose[file], -1) {
			anchors[file] = append(anchors[file], strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
		}
	}
	for file, text := range prose {
		whole := read(t, file)
		if at := strings.Index(whole, "```"); at < 0 || strings.Count(whole[:at], "\n") > 6 {
			t.Errorf("%s does not begin with an example", file)
		}
		top, _, _ := strings.Cut(text, "\n## ")
		for _, a := range anchors[file] {
			if strings.Count(whole, "\n") > 60 && !strings.Contains(top, "](#"+a+")") {
				t.Errorf("%s does not link its section #%s at its beginning", file, a)
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = file
			}
			switch _, isPage := prose[to]; {
			case strings.Contains(to, "://"):
			case isPage && (anchor == "" || slices.Contains(anchors[to], anchor)):
			case !isPage && exists(to):
			default:
				t.Errorf("%s: the link to %s leads nowhere", file, m[1])
			}
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(path.Clean(file))
	return err == nil
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (p Page) box(t *testing.T, theme *themes.Theme, w int) dialog.Box {
	t.Helper()
	return p.Show(theme, w).(intent.Run).F(t.Context()).(intent.Open).Box
}
