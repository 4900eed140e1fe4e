package uitest

import (
	"fmt"
	"html"
	"image/color"
	"strings"
)

// The sizes of the picture in pixels.
const (
	cellW, cellH = 8.4, 19.0
	fontSize     = 14
	margin       = 18.0
	bar          = 34.0 // the window's title bar
)

const (
	paper = "#16181d"
	ink   = "#d7dce5"
)

// SVG draws the screen as a window with that title.
func (t *Terminal) SVG(title string) string {
	grid := t.grid()
	w, h := float64(len(grid[0]))*cellW+2*margin, float64(len(grid))*cellH+bar+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,'SF Mono',Menlo,'Cascadia Mono','DejaVu Sans Mono',monospace" font-size="%d">`+"\n", w, h, fontSize)
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%.0f" height="%.0f" rx="10" fill="%s" stroke="#3a404c"/>`+"\n", w-1, h-1, paper)
	for i, c := range []string{"#f2868b", "#f0c674", "#8ccf7e"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`, 20+i*19, c)
	}
	fmt.Fprintf(&b, "\n"+`<text x="%.0f" y="22" text-anchor="middle" fill="#8b93a1" font-size="13">%s</text>`+"\n", w/2, html.EscapeString(title))
	for y, row := range grid {
		for x := 0; x < len(row); {
			n := 1
			for x+n < len(row) && joins(row[x], row[x+n]) {
				n++
			}
			drawRun(&b, row[x:x+n], margin+float64(x)*cellW, bar+float64(y)*cellH)
			x += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// joins reports whether b can be in one run with a. Characters that a font may draw in another
// width are drawn one by one.
func joins(a, b cell) bool {
	return a.sgr == b.sgr && (b.text == "" || single(a.text) && single(b.text) || a.text == "─" && b.text == "─")
}

func single(s string) bool { return len(s) == 1 }

// drawRun draws cells of one style from x, y on.
func drawRun(b *strings.Builder, run []cell, x, y float64) {
	c := run[0]
	fg, bg := hex(c.fg, ink), hex(c.bg, "")
	if c.attrs&reverse != 0 {
		fg, bg = hex(c.bg, paper), hex(c.fg, ink)
	}
	w := float64(len(run)) * cellW
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w+.2, cellH+.2, bg)
	}
	var text strings.Builder
	for _, c := range run {
		text.WriteString(c.text)
	}
	s := text.String()
	if dx, dy, lw, lh, ok := line(c.text, w); ok {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x+dx, y+dy, lw, lh, fg)
		return
	}
	lead := len(s) - len(strings.TrimLeft(s, " "))
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	style := ""
	if c.attrs&bold != 0 {
		style += ` font-weight="bold"`
	}
	if c.attrs&italic != 0 {
		style += ` font-style="italic"`
	}
	if c.attrs&faint != 0 {
		style += ` opacity=".65"`
	}
	if c.under {
		style += ` text-decoration="underline"`
	}
	cells := float64(len(run))
	if single(c.text) {
		cells = float64(len(s))
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s xml:space="preserve">%s</text>`+"\n",
		x+float64(lead)*cellW, y+14, cells*cellW, fg, style, html.EscapeString(s))
}

// line returns the position of a line-drawing character's stroke in its cells. The stroke of a font
// would leave gaps between the rows.
func line(s string, w float64) (dx, dy, lw, lh float64, ok bool) {
	switch s {
	case "─":
		return 0, cellH/2 - .5, w, 1, true
	case "│":
		return cellW/2 - .5, 0, 1, cellH + .6, true
	case "┃":
		return cellW/2 - 1, 0, 2.4, cellH + .6, true
	case "▌":
		return 0, 0, cellW / 2, cellH + .6, true
	}
	return 0, 0, 0, 0, false
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
