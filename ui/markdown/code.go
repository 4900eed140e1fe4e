package markdown

import (
	"path"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"fantail/themes"
	"fantail/ui/cells"
)

// code renders the lines of a code block, indented; long ones are broken anywhere.
func (r *Renderer) code(b Block, width int) []string {
	lang, lines := codeLines(b.lead, b.Source)
	if len(lines) == 0 {
		return nil
	}
	indent := 2
	if width < minWidth {
		indent = 0
	}
	if lang == "diff" || lang == "patch" {
		return r.diff(strings.Join(lines, "\n"), width-indent, indent)
	}
	lines = strings.Split(cells.Clean(strings.Join(lines, "\n")), "\n")
	out := make([]string, 0, len(lines))
	for _, l := range r.coder.paint(lang, lines) {
		for _, part := range breakRuns(l, width-indent) {
			out = append(out, r.line(part, indent))
		}
	}
	return out
}

// diff renders a diff, below the name of its file.
func (r *Renderer) diff(text string, width, indent int) []string {
	d := NewDiff(text)
	rows := d.Lay(width, r.theme)
	var out []string
	if d.files == 1 {
		out = append(out, cells.Cut(r.theme.Paint(themes.Text, cells.CleanLine(cells.Reveal(d.Name)))+" "+d.Counts(r.theme), width))
	}
	out = append(out, rows.Rows(0, rows.Len())...)
	for i, s := range out {
		out[i] = cells.Spaces(indent) + s
	}
	return out
}

// htmlLead makes a block of HTML code.
const htmlLead = "```html\n"

// codeLines returns a code block's language and lines, without fences.
func codeLines(lead, src string) (string, []string) {
	if lead == "" || lead == htmlLead {
		src = strings.TrimLeft(src, "\r\n")
	}
	lines := strings.Split(strings.TrimSuffix(lead+src, "\n"), "\n")
	indent, body := indentOf(strings.TrimRight(lines[0], "\r"))
	fence := fenceOf(body)
	if fence == "" || indent >= 4 {
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
		for i := range lines {
			lines[i] = dedent(lines[i], 4)
		}
		return "", lines
	}
	lang, _, _ := strings.Cut(strings.TrimSpace(body[len(fence):]), " ")
	lines = lines[1:]
	if n := len(lines); n > 0 {
		if in, last := indentOf(strings.TrimRight(lines[n-1], "\r")); in < 4 && last != "" && closes(last, fence) {
			lines = lines[:n-1]
		}
	}
	for i := range lines {
		lines[i] = dedent(lines[i], indent)
	}
	if lead == htmlLead { // the empty line that ends HTML is no part of it
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
	}
	return strings.Trim(lang, "{}."), lines
}

// stretch is a piece of a line in one role.
type stretch struct {
	role themes.Role
	text string
}

// line paints a line's stretches.
func (r *Renderer) line(l []stretch, indent int) string {
	var b strings.Builder
	b.WriteString(cells.Spaces(indent))
	for _, s := range l {
		b.WriteString(r.theme.Paint(s.role, s.text))
	}
	if b.Len() == indent {
		return ""
	}
	return b.String()
}

// breakRuns breaks a line into lines of at most width cells.
func breakRuns(l []stretch, width int) [][]stretch {
	total := 0
	for _, s := range l {
		total += cells.Width(s.text)
	}
	if total <= width {
		return [][]stretch{l}
	}
	var out [][]stretch
	var line []stretch
	used := 0
	for _, s := range l {
		for s.text != "" {
			head, n := cells.Head(s.text, width-used)
			if head == "" && used > 0 {
				out = append(out, line)
				line, used = nil, 0
				continue
			}
			if head == "" { // one character wider than the line
				head, n = "…", 1
				_, size := cells.First(s.text)
				s.text = s.text[size:]
			} else {
				s.text = s.text[len(head):]
			}
			line = append(line, stretch{s.role, head})
			used += n
		}
	}
	return append(out, line)
}

// coder highlights code in a theme's roles. It is not safe for concurrent use.
type coder struct {
	plain  bool // the theme has no colours to highlight with
	lexers map[string]chroma.Lexer
}

func newCoder(t *themes.Theme) *coder {
	return &coder{plain: t.Look(themes.Keyword).Color == "", lexers: map[string]chroma.Lexer{}}
}

// paint splits lines of a language into styled pieces; lines of an unknown one stay whole.
func (c *coder) paint(lang string, lines []string) [][]stretch {
	return c.split(c.lexer(lang), lines)
}

// paintFile is paint for lines of a file, whose name says its language.
func (c *coder) paintFile(name string, lines []string) [][]stretch {
	key := "file " + path.Base(name)
	l, ok := c.lexers[key]
	if !ok && !c.plain {
		if l = lexerOf(path.Base(name)); l != nil {
			l = chroma.Coalesce(l)
		}
		c.lexers[key] = l
	}
	return c.split(l, lines)
}

// lexerOf returns the lexer for a file of that name, nil if there is none. lexers.Match knows more patterns, and takes
// ten milliseconds.
func lexerOf(name string) (found chroma.Lexer) {
	pattern := "*" + path.Ext(name)
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		c := l.Config()
		if found != nil && c.Priority <= found.Config().Priority {
			continue
		}
		if slices.Contains(c.Filenames, name) || len(pattern) > 2 && slices.Contains(c.Filenames, pattern) {
			found = l
		}
	}
	return found
}

// split splits lines into the pieces that a lexer finds; without one they stay whole.
func (c *coder) split(lexer chroma.Lexer, lines []string) [][]stretch {
	if lexer == nil || len(lines) == 0 {
		return whole(lines)
	}
	src := strings.Join(lines, "\n")
	tokens, err := lexer.Tokenise(nil, src)
	if err != nil {
		return whole(lines)
	}
	out := make([][]stretch, 0, len(lines))
	var line []stretch
	n := 0
	for t := tokens(); t != chroma.EOF; t = tokens() {
		role := roleOf(t.Type)
		n += len(t.Value)
		for text := t.Value; ; {
			head, rest, more := strings.Cut(text, "\n")
			if head != "" {
				line = append(line, stretch{role, head})
			}
			if !more {
				break
			}
			out = append(out, line)
			line, text = nil, rest
		}
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	// The output of a lexer that drops or adds anything but a last newline is not used.
	if n < len(src) || n > len(src)+1 {
		return whole(lines)
	}
	for len(out) < len(lines) {
		out = append(out, nil)
	}
	return out[:len(lines)]
}

func whole(lines []string) [][]stretch {
	out := make([][]stretch, len(lines))
	for i, l := range lines {
		out[i] = []stretch{{themes.Text, l}}
	}
	return out
}

func (c *coder) lexer(lang string) chroma.Lexer {
	if c.plain || lang == "" || lang == "text" {
		return nil
	}
	lang = strings.ToLower(lang)
	l, ok := c.lexers[lang]
	if !ok {
		if l = lexers.Get(lang); l != nil {
			l = chroma.Coalesce(l)
		}
		c.lexers[lang] = l
	}
	return l
}

// roleOf returns the role of a kind of token.
func roleOf(t chroma.TokenType) themes.Role {
	switch {
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameTag, t == chroma.NameException:
		return themes.Type
	case t.InCategory(chroma.Keyword):
		return themes.Keyword
	case t.InSubCategory(chroma.LiteralString):
		return themes.String
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.NameConstant:
		return themes.Number
	case t.InCategory(chroma.Comment):
		return themes.Comment
	case t == chroma.NameFunction, t == chroma.NameBuiltin, t == chroma.NameDecorator, t == chroma.NameAttribute:
		return themes.Call
	case t == chroma.GenericInserted:
		return themes.Good
	case t == chroma.GenericDeleted:
		return themes.Bad
	case t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return themes.Hunk
	}
	return themes.Text
}
