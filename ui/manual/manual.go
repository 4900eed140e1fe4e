// Package manual has the pages of the manual, one for each job.
//
// Does: hold the pages, written in Markdown and embedded; show one in a box, as replies are shown.
package manual

import (
	"context"
	"embed"
	"regexp"
	"slices"
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

// names are those of the pages, in the order in which a reader needs them.
var names = [...]string{
	"start", "mail", "workflows", "agents", "permissions", "sandbox", "models", "keys", "commands", "scripting",
	"configuration", "budgets", "away", "reads", "mcp", "vendors", "troubleshooting",
}

// Names returns the names of the pages, the one to begin with first.
func Names() []string { return slices.Clone(names[:]) }

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

// toPage is a link to a page.
var toPage = regexp.MustCompile(`\[([^]]+)\]\(([a-z]+)\.md[^)]*\)`)

// Show opens the page in a box, on a screen of w columns. A link to a page shows as the command that opens it.
func (p Page) Show(t *themes.Theme, w int) intent.Intent {
	_, body, _ := strings.Cut(p.Text, "\n") // the heading is the box's
	body = toPage.ReplaceAllString(body, "$1 (`/help $2`)")
	body = strings.TrimSpace(body)
	wide, slim := markdown.Split(body), markdown.Split(listed(body))
	md := markdown.NewRenderer()
	lay := func(w int) (lines []string) {
		blocks := wide
		if w < narrow {
			blocks = slim
		}
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

// narrow is below how many columns a page has lists in place of tables.
const narrow = 64

// aside is a line of an example with a remark.
var aside = regexp.MustCompile(`^(/.*?\S)   +(\S.*)$`)

// listed returns the text for a narrow screen, with each table as a list: a row is an item, and where there are more than
// two columns, each cell has the name of its column before it. A remark in an example gets a line of its own.
func listed(text string) string {
	var out, heads []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			heads = nil
			out = append(out, aside.ReplaceAllString(line, "$1\n  $2"))
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.TrimSuffix(line[1:], "|"), `\|`, "\x00"), "|")
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|")
		}
		switch {
		case heads == nil:
			if heads = cells; len(cells) == 2 && cells[0] != "" {
				out = append(out, "- **"+cells[0]+"**: "+cells[1])
			}
		case strings.HasPrefix(cells[0], "---"):
		default:
			out = append(out, "- "+item(heads, cells))
		}
	}
	return strings.Join(out, "\n")
}

// item is a row of a table as an item of a list.
func item(heads, cells []string) string {
	var parts []string
	for i, c := range cells {
		if len(heads) > 2 && c != "" && heads[i] != "" {
			c = "*" + heads[i] + "*: " + c
		}
		if c != "" {
			parts = append(parts, c)
		}
	}
	if len(heads) > 2 {
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, ": ")
}
