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
	w, h   int
	shots  []shot
	total  time.Duration
	rows   map[string]int // a row's drawing, and its number
	styles map[string]int // a style, and the number of its class
}

type shot struct {
	rows []string // drawings
	from time.Duration
}

// Shot adds what the terminal shows now, for d.
func (f *Film) Shot(t *Terminal, d time.Duration) {
	grid := t.grid()
	if f.styles == nil {
		f.w, f.h, f.rows, f.styles = len(grid[0]), len(grid), map[string]int{}, map[string]int{}
	}
	s := shot{from: f.total}
	for _, row := range grid {
		s.rows = append(s.rows, f.row(row))
	}
	f.shots, f.total = append(f.shots, s), f.total+d
}

// Line adds a screen with nothing but a line at its top, of the same size.
func (f *Film) Line(text string, d time.Duration) {
	s := shot{from: f.total, rows: make([]string, f.h)}
	cells := []cell{}
	for _, r := range text {
		cells = append(cells, cell{text: string(r)})
	}
	s.rows[0] = f.row(cells)
	f.shots, f.total = append(f.shots, s), f.total+d
}

// SVG returns the picture of a window with that title.
func (f *Film) SVG(title string) string {
	uses, times := f.uses()
	w, h := float64(f.w)*cellW+2*margin, float64(f.h)*cellH+bar+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,'SF Mono',Menlo,'Cascadia Mono','DejaVu Sans Mono',monospace" font-size="%d" xml:space="preserve">`+"\n<style>", w, h, fontSize)
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
	for _, row := range byNumber(f.rows) {
		fmt.Fprintf(&b, `<g id="r%d">%s</g>`+"\n", f.rows[row], row)
	}
	fmt.Fprintf(&b, "</defs>\n"+`<g transform="translate(%.0f %.0f)">`+"\n%s</g>\n</svg>\n", margin, bar, uses)
	return b.String()
}

// uses draws each row for as long as it stays the same, and returns the keyframes that this needs.
func (f *Film) uses() (string, map[string]int) {
	times := map[string]int{}
	var b strings.Builder
	for y := range f.h {
		for i := 0; i < len(f.shots); {
			from, row := f.shots[i].from, f.shots[i].rows[y]
			for i++; i < len(f.shots) && f.shots[i].rows[y] == row; i++ {
			}
			until := f.total
			if i < len(f.shots) {
				until = f.shots[i].from
			}
			if row == "" {
				continue
			}
			class := ""
			if css := f.keyframes(from, until); css != "" {
				class = fmt.Sprintf(` class="f t%d`, number(times, css))
				if i == len(f.shots) {
					class += " z"
				}
				class += `"`
			}
			fmt.Fprintf(&b, `<use href="#r%d" y="%.0f"%s/>`+"\n", number(f.rows, row), float64(y)*cellH, class)
		}
	}
	return b.String(), times
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

// row draws a row of the screen.
func (f *Film) row(row []cell) string {
	var b strings.Builder
	for x := 0; x < len(row); {
		n := 1
		for x+n < len(row) && joins(row[x], row[x+n]) {
			n++
		}
		f.run(&b, row[x:x+n], float64(x)*cellW)
		x += n
	}
	return b.String()
}

// joins reports whether b can be in one run with a. Characters that a font may draw in another
// width are drawn one by one.
func joins(a, b cell) bool {
	return a.sgr == b.sgr && (b.text == "" || single(a.text) && single(b.text) || a.text == "─" && b.text == "─")
}

func single(s string) bool { return len(s) == 1 }

// run draws cells of one style from x on.
func (f *Film) run(b *strings.Builder, run []cell, x float64) {
	c := run[0]
	fg, bg := hex(c.fg, ink), hex(c.bg, "")
	if c.attrs&reverse != 0 {
		fg, bg = hex(c.bg, paper), hex(c.fg, ink)
	}
	w := float64(len(run)) * cellW
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" width="%.1f" height="%.1f" class="s%d"/>`, x, w+.2, cellH+.2, number(f.styles, "fill:"+bg))
	}
	var text strings.Builder
	for _, c := range run {
		text.WriteString(c.text)
	}
	s := text.String()
	if dx, dy, lw, lh, ok := line(c.text, w); ok {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="s%d"/>`, x+dx, dy, lw, lh, number(f.styles, "fill:"+fg))
		return
	}
	lead := len(s) - len(strings.TrimLeft(s, " "))
	s = strings.TrimSpace(s)
	if s == "" {
		return
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
	fmt.Fprintf(b, `<text x="%.1f" y="14" textLength="%.1f" class="s%d">%s</text>`,
		x+float64(lead)*cellW, cells*cellW, number(f.styles, style), html.EscapeString(s))
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
