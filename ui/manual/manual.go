// Package manual has the pages of the manual, one for each job.
//
// Does: hold the pages, written in Markdown and embedded; show one in a box, as replies are shown.
//
// Does not: list commands, flags or keys; the help makes those from the tables that run.
package manual

import (
	"context"
	"embed"
	"strings"

	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/markdown"
)

//go:embed *.md
var files embed.FS

// Page is a page of the manual.
type Page struct {
	Name  string // as it is asked for
	Title string // its heading
	Text  string // Markdown, from the heading on, without pictures
}

// Names returns the names of the pages.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	return names
}

// Find returns the page of a name; false if there is none.
func Find(name string) (Page, bool) {
	text, err := files.ReadFile(name + ".md")
	if err != nil {
		return Page{}, false
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
	return Page{Name: name, Title: title, Text: unpictured(string(text))}, true
}

// unpictured returns a text without the pictures on lines of their own: a terminal shows none.
func unpictured(text string) string {
	var kept []string
	for part := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(part, "![") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n")
}

// Show opens the page in a box, on a screen of w columns.
func (p Page) Show(t *themes.Theme, w int) intent.Intent {
	_, body, _ := strings.Cut(p.Text, "\n") // the heading is the box's
	blocks := markdown.Split(strings.TrimSpace(body))
	md := markdown.NewRenderer()
	lay := func(w int) (lines []string) {
		for _, b := range blocks {
			part := md.Render(b, w, t)
			if len(part) > 0 && len(lines) > 0 && b.Gap {
				lines = append(lines, "")
			}
			lines = append(lines, part...)
		}
		return lines
	}
	return intent.Run{F: func(context.Context) intent.Intent {
		return intent.Open{Box: dialog.NewPage(t, p.Title, p.Text, lay, w), What: "the page " + p.Name}
	}}
}
