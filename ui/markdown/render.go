package markdown

import (
	"bytes"
	"strings"
	"sync"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"fantail/themes"
	"fantail/ui/cells"
)

// Measure returns how wide prose is in a width: long lines are hard to read.
func Measure(width int) int { return min(width, 100) }

const (
	maxDepth = 8  // of lists and quotes in each other; deeper ones show plainly
	minWidth = 12 // cells Glamour needs; narrower text shows plainly
)

// Renderer renders blocks. It is safe for concurrent use; one block is rendered at a time.
type Renderer struct {
	mu     sync.Mutex
	theme  *themes.Theme
	widths map[int]goldmark.Markdown // Glamour for the theme and each width
	coder  *coder
}

func NewRenderer() *Renderer { return &Renderer{} }

// Render returns the block's lines, each of at most width cells and complete in
// itself: printable characters and SGR sequences that end with the line.
// A block without a text has no lines.
func (r *Renderer) Render(b Block, width int, t *themes.Theme) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.theme != t {
		r.theme, r.widths, r.coder = t, map[int]goldmark.Markdown{}, newCoder(t)
	}
	return r.block(b, max(width, 1), 0)
}

// Plain returns a block's lines before it is rendered: its text, wrapped.
func Plain(b Block, width int) []string {
	src := cells.Clean(b.Source)
	src = strings.Trim(src, "\n")
	if src == "" {
		return nil
	}
	if b.Kind == Code {
		if first, rest, _ := strings.Cut(src, "\n"); fenceOf(strings.TrimLeft(first, " ")) != "" {
			src = rest
		}
		if src == "" {
			return nil
		}
	}
	indent := 0
	if b.Kind == Item && b.marker == "" {
		indent = min(b.offset, width/2)
	} else if b.Kind == Code {
		indent = min(2, width/2)
	}
	if b.Kind != Code && b.Kind != Table && b.Kind != Raw {
		width = Measure(width)
	}
	lines := cells.Wrap(src, width-indent)
	if indent > 0 {
		for i := range lines {
			lines[i] = cells.Spaces(indent) + lines[i]
		}
	}
	return lines
}

func (r *Renderer) block(b Block, width, depth int) []string {
	body := strings.Trim(b.Source, "\r\n")
	switch b.Kind {
	case Blank:
		return nil
	case Rule:
		return []string{r.theme.Paint(themes.Rule, strings.Repeat("─", width))}
	case Raw:
		return Plain(b, width)
	case Code:
		return r.code(b, width)
	case Item:
		return r.item(b, body, width, depth)
	case Quote:
		return r.quote(b, body, width, depth)
	}
	if body = cells.Clean(body); strings.TrimSpace(body) == "" {
		return nil
	}
	if b.Kind != Table {
		width = Measure(width)
	}
	if b.Kind == Paragraph && ordinary(body) {
		return cells.Wrap(join(body), width)
	}
	if width < minWidth {
		return cells.Wrap(body, width)
	}
	if b.Kind == Table {
		width = min(width, max(tableWidth(b.lead+body), minWidth))
	}
	var lines []string
	for _, part := range parts(b.Kind, body) {
		lines = append(lines, r.glamour(cells.Clean(b.lead)+part, b.defs, width)...)
	}
	return lines
}

// item renders the text of a list's item after its marker.
func (r *Renderer) item(b Block, body string, width, depth int) []string {
	text, marker := strip(body, b.offset, b.marker != ""), b.marker
	if strings.TrimSpace(text) == "" && b.marker == "" {
		return nil
	}
	if marker == "-" {
		marker = bullets[depth%len(bullets)]
		switch {
		case strings.HasPrefix(text, "[ ] "):
			marker, text = "[ ]", text[4:]
		case strings.HasPrefix(text, "[x] "), strings.HasPrefix(text, "[X] "):
			marker, text = "[✓]", text[4:]
		}
	}
	indent := b.offset
	if marker != "" {
		indent = cells.Width(marker) + 1
	} else if indent == 0 {
		indent = 2
	}
	first := cells.Spaces(indent)
	if marker != "" {
		first = r.theme.Paint(themes.Strong, marker) + " "
	}
	return r.inner(b, text, width, indent, first, cells.Spaces(indent), depth)
}

var bullets = [...]string{"•", "◦", "▪"}

// quote renders a quote's text after a bar.
func (r *Renderer) quote(b Block, body string, width, depth int) []string {
	var text strings.Builder
	for line := range strings.Lines(body) {
		line = strings.TrimLeft(line, " ")
		line = strings.TrimPrefix(line, ">")
		text.WriteString(strings.TrimPrefix(line, " "))
	}
	if strings.TrimSpace(text.String()) == "" {
		return nil
	}
	bar := r.theme.Paint(themes.Dim, "│") + " "
	return r.inner(b, text.String(), width, 2, bar, bar, depth)
}

// inner renders the text inside an item or a quote: first and then go before its lines and take indent cells.
func (r *Renderer) inner(b Block, text string, width, indent int, first, then string, depth int) []string {
	width = width - indent
	if width < 4 || depth >= maxDepth {
		return cells.Wrap(strings.Trim(cells.Clean(b.Source), "\n"), width+indent)
	}
	var lines []string
	for _, in := range Split(b.lead + text) {
		in.defs += b.defs
		ls := r.block(in, width, depth+1)
		if len(ls) == 0 {
			continue
		}
		if in.Gap && len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, ls...)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		if i == 0 {
			lines[i] = strings.TrimRight(first+l, " ")
		} else if lines[i] = then + l; l == "" {
			lines[i] = strings.TrimRight(then, " ")
		}
	}
	return lines
}

// strip removes the marker (if the text begins with one) and the indentation.
func strip(body string, offset int, marked bool) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		if marked {
			marked = false
			_, rest := indentOf(strings.TrimRight(line, "\n"))
			if m, ok := markerOf(rest); ok {
				b.WriteString(strings.TrimLeft(rest[m.length:], " \t"))
				b.WriteByte('\n')
				continue
			}
		}
		b.WriteString(dedent(line, offset))
	}
	return b.String()
}

// ordinary reports whether a paragraph has no markdown syntax, so that Glamour would only wrap it.
func ordinary(s string) bool {
	if strings.ContainsAny(s, "*_`[]<>&\\~|/@") || strings.Contains(s, "www.") || strings.Contains(s, "  ") {
		return false
	}
	for line := range strings.Lines(s) {
		if c := line[0]; c == '#' || c == ':' || c == ' ' || c == '\t' {
			return false
		}
	}
	return true
}

// tableWidth returns how many cells a table needs at most: its source's columns, each with a space on both sides and a
// line between.
func tableWidth(src string) int {
	var widths []int
	for line := range strings.Lines(src) {
		line = strings.Trim(strings.TrimSpace(line), "|")
		for i, cell := range strings.Split(line, "|") {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if cell = strings.TrimSpace(cell); strings.Trim(cell, "-:") != "" {
				widths[i] = max(widths[i], cells.Width(cell))
			}
		}
	}
	total := 0
	for _, w := range widths {
		total += w + 3
	}
	return total
}

// join makes a paragraph one line.
func join(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// parts cuts a paragraph at its hard line breaks, which Glamour drops.
func parts(k Kind, body string) []string {
	if k != Paragraph || !strings.Contains(body, "  \n") && !strings.Contains(body, "\\\n") {
		return []string{body}
	}
	var out []string
	var b strings.Builder
	for line := range strings.Lines(body) {
		text := strings.TrimSuffix(line, "\n")
		if text != line && (strings.HasSuffix(text, "  ") || strings.HasSuffix(text, "\\")) {
			b.WriteString(strings.TrimRight(strings.TrimSuffix(text, "\\"), " "))
			out = append(out, b.String())
			b.Reset()
			continue
		}
		b.WriteString(line)
	}
	return append(out, b.String())
}

// glamour renders source that holds no code blocks, lists or quotes.
func (r *Renderer) glamour(src, defs string, width int) (lines []string) {
	md := r.widths[width]
	if md == nil {
		if len(r.widths) > 32 {
			clear(r.widths)
		}
		md = newGlamour(r.theme, width)
		r.widths[width] = md
	}
	// Glamour has state between calls and fails on some odd sources: those show plainly, and the next block gets a new
	// renderer.
	defer func() {
		if recover() != nil {
			delete(r.widths, width)
			lines = cells.Wrap(src, width)
		}
	}()
	in := literal(src)
	if defs != "" {
		in += "\n\n" + literal(cells.Clean(defs))
	}
	var out bytes.Buffer
	if err := md.Convert([]byte(in), &out); err != nil {
		delete(r.widths, width)
		return cells.Wrap(src, width)
	}
	return tidy(out.String(), width)
}

// newGlamour returns Glamour's renderer with a parser that treats HTML as text.
func newGlamour(t *themes.Theme, width int) goldmark.Markdown {
	md := goldmark.New(goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)))
	extension.GFM.Extend(md)
	wrap := true
	glamour := ansi.NewRenderer(ansi.Options{WordWrap: width, TableWrap: &wrap, InlineTableLinks: true, Styles: styles(t)})
	md.SetRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(glamour, 1000))))
	return md
}

// wrapStyled wraps a line with styles that is too long after all, such as a table's on a narrow screen.
func wrapStyled(line string, width int) []string {
	wrapped := lipgloss.Wrap(line, width, "")
	for _, l := range strings.Split(wrapped, "\n") {
		if cells.Width(l) > width {
			return strings.Split(xansi.Hardwrap(line, width, true), "\n")
		}
	}
	return strings.Split(wrapped, "\n")
}
