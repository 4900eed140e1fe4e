package markdown

import (
	"strconv"
	"strings"
)

// indentOf returns the columns a line is indented by (a tab goes to the next
// multiple of four) and what follows, without spaces at its end.
func indentOf(text string) (int, string) {
	n := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n, strings.TrimRight(text[i:], " \t")
		}
	}
	return n, ""
}

// dedent removes up to n columns of indentation.
func dedent(text string, n int) string {
	at := 0
	for i := 0; i < len(text) && at < n; i++ {
		switch text[i] {
		case ' ':
			at++
		case '\t':
			if next := at + 4 - at%4; next <= n {
				at = next
			} else {
				return strings.Repeat(" ", next-n) + text[i+1:]
			}
		default:
			return text[i:]
		}
		if at == n {
			return text[i+1:]
		}
	}
	if n == 0 {
		return text
	}
	return strings.TrimLeft(text, " \t")
}

// fenceOf returns the fence with which a line opens code, "" if it opens none.
func fenceOf(body string) string {
	if body == "" || body[0] != '`' && body[0] != '~' {
		return ""
	}
	n := run(body, body[0])
	if n < 3 || body[0] == '`' && strings.IndexByte(body[n:], '`') >= 0 {
		return ""
	}
	return body[:n]
}

// closes reports whether a line closes code that fence opened.
func closes(body, fence string) bool {
	return len(body) >= len(fence) && body[0] == fence[0] && run(body, fence[0]) == len(body)
}

func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func isHeading(body string) bool {
	n := run(body, '#')
	return n >= 1 && n <= 6 && (n == len(body) || body[n] == ' ' || body[n] == '\t')
}

func isUnderline(body string) bool {
	return body != "" && (body[0] == '=' || body[0] == '-') && run(body, body[0]) == len(body)
}

func isRule(body string) bool {
	if body == "" || body[0] != '-' && body[0] != '*' && body[0] != '_' {
		return false
	}
	n := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case body[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// isDelimiter reports whether body is the line below the header row of a table.
func isDelimiter(body, row string) bool {
	if !strings.Contains(body, "-") || strings.Trim(body, "|-: \t") != "" || !strings.Contains(row, "|") {
		return false
	}
	_, row = indentOf(row)
	return countCells(body) == countCells(row)
}

// countCells counts the cells of a table's row.
func countCells(row string) int {
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	return strings.Count(row, "|") - strings.Count(row, `\|`) + 1
}

// interrupts reports whether a line ends a paragraph without an empty line between.
func interrupts(body string) bool {
	if body[0] == '>' || fenceOf(body) != "" || isHeading(body) || isRule(body) {
		return true
	}
	if end := htmlEnd(body); end != "" {
		return true
	}
	m, ok := markerOf(body)
	return ok && m.width <= len(body) && len(body) > m.length && (m.kind == '-' || m.kind == '+' || m.kind == '*' || m.number == 1)
}

// marker is what an item of a list begins with.
type marker struct {
	kind   byte // - + * . )
	number int
	length int // bytes
	width  int // columns up to the item's text
}

// text returns how the marker is shown.
func (m marker) text(number int) string {
	if m.kind == '.' || m.kind == ')' {
		return strconv.Itoa(number) + string(m.kind)
	}
	return "-"
}

func markerOf(body string) (marker, bool) {
	if body == "" {
		return marker{}, false
	}
	m := marker{kind: body[0], length: 1}
	if c := body[0]; c != '-' && c != '+' && c != '*' {
		n := 0
		for n < len(body) && n < 9 && body[n] >= '0' && body[n] <= '9' {
			m.number = m.number*10 + int(body[n]-'0')
			n++
		}
		if n == 0 || n == len(body) || body[n] != '.' && body[n] != ')' {
			return marker{}, false
		}
		m.kind, m.length = body[n], n+1
	}
	rest := body[m.length:]
	if rest == "" {
		m.width = m.length + 1
		return m, true
	}
	if rest[0] != ' ' && rest[0] != '\t' {
		return marker{}, false
	}
	spaces, _ := indentOf(rest)
	if spaces > 4 {
		spaces = 1
	}
	m.width = m.length + spaces
	return m, true
}

// htmlTags begin a block of HTML that ends at an empty line.
var htmlTags = map[string]bool{
	"address": true, "article": true, "aside": true, "blockquote": true, "body": true, "center": true, "details": true,
	"dialog": true, "dd": true, "div": true, "dl": true, "dt": true, "fieldset": true, "figcaption": true, "figure": true,
	"footer": true, "form": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "head": true,
	"header": true, "hr": true, "html": true, "iframe": true, "legend": true, "li": true, "link": true, "main": true,
	"menu": true, "nav": true, "ol": true, "option": true, "p": true, "section": true, "source": true, "summary": true,
	"table": true, "tbody": true, "td": true, "tfoot": true, "th": true, "thead": true, "title": true, "tr": true, "ul": true,
}

// htmlEnd returns what ends the HTML block that a line begins: a text, or a newline for an empty line; "" if it begins
// none.
func htmlEnd(body string) string {
	if len(body) < 3 || body[0] != '<' {
		return ""
	}
	if strings.HasPrefix(body, "<!--") {
		return "-->"
	}
	name := strings.TrimPrefix(body[1:], "/")
	n := 0
	for n < len(name) && (name[n] >= 'a' && name[n] <= 'z' || name[n] >= 'A' && name[n] <= 'Z' || name[n] >= '0' && name[n] <= '9') {
		n++
	}
	if n < len(name) && !strings.ContainsRune(" \t/>", rune(name[n])) {
		return ""
	}
	name = strings.ToLower(name[:n])
	switch {
	case body[1] != '/' && (name == "pre" || name == "script" || name == "style" || name == "textarea"):
		return "</" + name + ">"
	case htmlTags[name]:
		return "\n"
	}
	return ""
}
