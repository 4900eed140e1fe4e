package uitest

import (
	"fmt"
	"html"
	"image/color"
	"maps"
	"slices"
	"strings"
	"time"
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

// Film draws screens of one size as an SVG picture of a window. Several screens are shown one after the other, again and
// again, by CSS alone, so that the picture also plays where scripts are not allowed. For somebody whose system asks for
// reduced motion, the last screen stays.
type Film struct {
	Root   string // a directory that is drawn as ~/shop; "": none
	w, h   int
	shots  []shot
	total  time.Duration
	parts  map[string]int // a part's drawing, and its number
	styles map[string]int // a style, and the number of its class
}

// shot is a screen and when it is shown. A row's drawings are its backgrounds and what is drawn on them.
type shot struct {
	rows [2][][]string
	from time.Duration
}

// Shot adds what the terminal shows now, for d.
func (f *Film) Shot(t *Terminal, d time.Duration) {
	grid := t.grid()
	if f.styles == nil {
		f.w, f.h, f.parts, f.styles = len(grid[0]), len(grid), map[string]int{}, map[string]int{}
	}
	f.add(grid, d)
}

func (f *Film) add(grid [][]cell, d time.Duration) {
	s := shot{from: f.total}
	for _, row := range grid {
		f.shorten(row)
		under, over := f.row(row)
		s.rows[0], s.rows[1] = append(s.rows[0], under), append(s.rows[1], over)
	}
	f.shots, f.total = append(f.shots, s), f.total+d
}

// shorten writes ~/shop where the row has Root, and blanks up to its end.
func (f *Film) shorten(row []cell) {
	if f.Root == "" {
		return
	}
	var text strings.Builder
	from := map[int]int{} // a byte's cell
	for x, c := range row {
		from[text.Len()] = x
		text.WriteString(c.text)
	}
	at := strings.Index(text.String(), f.Root)
	if at < 0 {
		return
	}
	short := fmt.Sprintf("%-*s", len(f.Root), "~/shop")
	for i := range len(f.Root) {
		row[from[at]+i].text = short[i : i+1]
	}
}

// Line adds a screen with nothing but a line at its top, of the same size.
func (f *Film) Line(text string, d time.Duration) {
	grid := make([][]cell, f.h)
	for _, r := range text {
		grid[0] = append(grid[0], cell{text: string(r)})
	}
	f.add(grid, d)
}

// SVG returns the picture of a window with that title.
func (f *Film) SVG(title string) string {
	uses, times := f.uses()
	w, h := float64(f.w)*cellW+2*margin, float64(f.h)*cellH+bar+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,'SF Mono',Menlo,'Cascadia Mono','DejaVu Sans Mono',monospace" font-size="%d" xml:space="preserve">`+"\n<style>text{white-space:pre}", w, h, fontSize)
	for _, style := range byNumber(f.styles) {
		fmt.Fprintf(&b, ".s%d{%s}", f.styles[style], style)
	}
	if len(times) > 0 {
		fmt.Fprintf(&b, "\n.f{opacity:0;animation:%.2fs step-end infinite}", f.total.Seconds())
	}
	for _, css := range byNumber(times) {
		fmt.Fprintf(&b, "\n.t%d{animation-name:t%[1]d}@keyframes t%[1]d{%s}", times[css], css)
	}
	if len(times) > 0 {
		b.WriteString("\n@media(prefers-reduced-motion:reduce){.f{animation:none}.z{opacity:1}}")
	}
	fmt.Fprintf(&b, "</style>\n"+`<rect x=".5" y=".5" width="%.0f" height="%.0f" rx="10" fill="%s" stroke="#3a404c"/>`+"\n", w-1, h-1, paper)
	for i, c := range []string{"#f2868b", "#f0c674", "#8ccf7e"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`, 20+i*19, c)
	}
	fmt.Fprintf(&b, "\n"+`<text x="%.0f" y="22" text-anchor="middle" fill="#8b93a1" font-size="13">%s</text>`+"\n<defs>\n", w/2, html.EscapeString(title))
	for _, part := range byNumber(f.parts) {
		fmt.Fprintf(&b, "%s id=\"r%d\"%s\n", part[:5], f.parts[part], part[5:]) // <rect or <text
	}
	fmt.Fprintf(&b, "</defs>\n"+`<g transform="translate(%.0f %.0f)">`+"\n%s</g>\n</svg>\n", margin, bar, uses)
	return b.String()
}

// uses draws each part for as long as it stays, the backgrounds first, and returns the keyframes that this needs.
func (f *Film) uses() (string, map[string]int) {
	times := map[string]int{}
	var b strings.Builder
	for layer := range 2 {
		during := map[[2]int]string{} // what is there from a shot on until another one
		var order [][2]int
		for y := range f.h {
			for _, part := range f.partsOf(layer, y) {
				for i := 0; i < len(f.shots); i++ {
					from := i
					for i < len(f.shots) && slices.Contains(f.shots[i].rows[layer][y], part) {
						i++
					}
					if i == from {
						continue
					}
					at := [2]int{from, i}
					if during[at] == "" {
						order = append(order, at)
					}
					during[at] += fmt.Sprintf(`<use href="#r%d" y="%.0f"/>`+"\n", number(f.parts, part), float64(y)*cellH)
				}
			}
		}
		for _, at := range order {
			fmt.Fprintf(&b, "<g%s>\n%s</g>\n", f.shown(times, at[0], at[1]), during[at])
		}
	}
	return b.String(), times
}

// partsOf returns what a row ever shows, in the order in which it comes.
func (f *Film) partsOf(layer, y int) []string {
	parts := map[string]int{}
	for _, s := range f.shots {
		for _, part := range s.rows[layer][y] {
			number(parts, part)
		}
	}
	return byNumber(parts)
}

// shown returns the class of what is there from a shot on until another one; "": it is always there.
func (f *Film) shown(times map[string]int, from, until int) string {
	end := f.total
	if until < len(f.shots) {
		end = f.shots[until].from
	}
	css := f.keyframes(f.shots[from].from, end)
	if css == "" {
		return ""
	}
	class := fmt.Sprintf(`f t%d`, number(times, css))
	if end == f.total {
		class += " z"
	}
	return fmt.Sprintf(` class="%s"`, class)
}

// keyframes shows something from a time on until another; "" is always.
func (f *Film) keyframes(from, until time.Duration) string {
	if from == 0 && until == f.total {
		return ""
	}
	at := func(d time.Duration) float64 { return 100 * float64(d) / float64(f.total) }
	css := fmt.Sprintf("%.4g%%{opacity:1}", at(from))
	if until < f.total {
		css += fmt.Sprintf("%.4g%%{opacity:0}", at(until))
	}
	return css
}

// number gives each text a number, the first 0.
func number(of map[string]int, text string) int {
	n, known := of[text]
	if !known {
		n = len(of)
		of[text] = n
	}
	return n
}

func byNumber(of map[string]int) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int { return of[a] - of[b] })
}

// row draws a row of the screen: its backgrounds, and what is on them.
func (f *Film) row(row []cell) (under, over []string) {
	for x := 0; x < len(row); {
		n := 1
		for x+n < len(row) && row[x+n].ground() == row[x].ground() {
			n++
		}
		if bg := row[x].ground(); bg != "" {
			under = append(under, fmt.Sprintf(`<rect x="%.1f" width="%.1f" height="%.1f" class="s%d"/>`, float64(x)*cellW, float64(n)*cellW+.2, cellH+.2, number(f.styles, "fill:"+bg)))
		}
		x += n
	}
	for x := 0; x < len(row); {
		n := 1
		for x+n < len(row) && joins(row[x], row[x+n]) {
			n++
		}
		if run := f.run(row[x:x+n], float64(x)*cellW); run != "" {
			over = append(over, run)
		}
		x += n
	}
	return under, over
}

// ground returns the color behind a cell's text; "" is the window's.
func (c cell) ground() string {
	if c.attrs&reverse != 0 {
		return hex(c.fg, ink)
	}
	return hex(c.bg, "")
}

// joins reports whether b can be in one run with a. Characters that a font may draw in another
// width are drawn one by one.
func joins(a, b cell) bool {
	return a.sgr == b.sgr && (b.text == "" || single(a.text) && single(b.text) || a.text == b.text && (a.text == "─" || a.text == "━"))
}

func single(s string) bool { return len(s) == 1 }

// run draws what is in cells of one style from x on, without their background; "" is nothing.
func (f *Film) run(run []cell, x float64) string {
	c := run[0]
	fg := hex(c.fg, ink)
	if c.attrs&reverse != 0 {
		fg = hex(c.bg, paper)
	}
	w := float64(len(run)) * cellW
	var text strings.Builder
	for _, c := range run {
		text.WriteString(c.text)
	}
	s := text.String()
	if dx, dy, lw, lh, ok := line(c.text, w); ok {
		return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="s%d"/>`, x+dx, dy, lw, lh, number(f.styles, "fill:"+fg))
	}
	lead := len(s) - len(strings.TrimLeft(s, " "))
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	style := "fill:" + fg
	if c.attrs&bold != 0 {
		style += ";font-weight:bold"
	}
	if c.attrs&italic != 0 {
		style += ";font-style:italic"
	}
	if c.attrs&faint != 0 {
		style += ";opacity:.65"
	}
	if c.under {
		style += ";text-decoration:underline"
	}
	cells := float64(len(run))
	if single(c.text) {
		cells = float64(len(s))
	}
	length := ""
	if cells > 1 {
		length = fmt.Sprintf(` textLength="%.1f"`, cells*cellW)
	}
	return fmt.Sprintf(`<text x="%.1f" y="14"%s class="s%d">%s</text>`, x+float64(lead)*cellW, length, number(f.styles, style), html.EscapeString(s))
}

// line returns the position of a line-drawing character's stroke in its cells. The stroke of a font
// would leave gaps between the rows.
func line(s string, w float64) (dx, dy, lw, lh float64, ok bool) {
	switch s {
	case "─":
		return 0, cellH/2 - .5, w, 1, true
	case "━":
		return 0, cellH/2 - 1, w, 2.4, true
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
