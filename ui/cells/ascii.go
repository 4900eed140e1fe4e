package cells

import (
	"strings"
)

// plainGlyphs are the replacements of the program's own signs on a terminal that has only ASCII.
var plainGlyphs = map[string]string{
	"─": "-", "│": "|", "┃": "|", "┊": ":", "┼": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "└": "+", "┌": "+", "┐": "+", "┘": "+",
	"╭": "+", "╰": "+", "╮": "+", "╯": "+", "┏": "#", "┓": "#", "┗": "#", "┛": "#", "━": "=", "═": "=", "▌": "|", "▎": "|", "▏": "|", "■": "#", "▪": "*", "▸": ">", "▶": ">",
	"┄": "-", "○": "o", "◌": "o", "◎": "@", "◦": "-", "●": "+", "◐": "~", "⚠": "!", "✉": "*", "📨": "**", "🔴": "!!", "✓": "v", "✗": "x", "✻": "*", "⟦": "[", "⟧": "]", "↳": ">", "↻": "~",
	"▁": "_", "▂": ".", "▃": ".", "▄": "-", "▅": "-", "▆": "=", "▇": "=", "╍": "~", "▒": "#", "▲": "^", "·": "-", "•": "*", "…": ".", "›": ">", "‹": "<", "–": "-", "—": "-", "−": "-", "×": "x", "≡": "=", "↓": "v", "↑": "^", "→": ">", "←": "<",
	"“": "\"", "”": "\"", "‘": "'", "’": "'", "\u00a0": " ", "⏎": "$",
}

// spinning are the signs of a spinner, in ASCII.
const spinning = `|/-\`

// ASCII returns a line of a frame in ASCII, with the same width: our own signs replaced by plainGlyphs, the rest by
// question marks.
func ASCII(line string) string {
	if strings.IndexFunc(line, func(r rune) bool { return r > '~' }) < 0 {
		return line
	}
	var b strings.Builder
	b.Grow(len(line))
	for line != "" {
		if c := line[0]; c <= '~' && (len(line) == 1 || line[1] <= '~') {
			b.WriteByte(c)
			line = line[1:]
			continue
		}
		g, n := First(line)
		line = line[n:]
		r := []rune(g)[0]
		switch p, ok := plainGlyphs[g]; {
		case ok:
			b.WriteString(p)
		case r <= '~':
			b.WriteRune(r) // a letter without its accents
		case r >= 0x2800 && r < 0x2900:
			b.WriteByte(spinning[int(r)%len(spinning)])
		default:
			b.WriteString(strings.Repeat("?", Width(g)))
		}
	}
	return b.String()
}
