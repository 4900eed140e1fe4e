package tools

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of front matter: it is small, and the parser is slow on deeply nested input.
const (
	maxFrontMatter = 32 << 10 // bytes
	brackets       = 256      // that open a list or a mapping
)

// FrontMatter is the front matter of a file, and the text after it.
type FrontMatter struct {
	Fields []FrontField // in their order
	Body   string       // the text after the matter
	Line   int          // at which the body begins, from 1
	Left   *FrontFault  // the first line that could not be read and was left out; nil: none
}

// FrontField is one key of the matter.
type FrontField struct {
	Key  string
	Text string   // a plain value; a list's values with commas between them; the words of any other value
	List []string // a list's values; nil if it is no list
	Raw  string   // its lines in the file
	Line int      // from 1

	odd bool // it is neither plain nor a list, and has no text yet
}

// FrontFault is an error at a place in a file.
type FrontFault struct {
	Line, Column int // from 1
	Text         string
}

func (f *FrontFault) Error() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Text) }

// Get returns the field of that name; nil: there is none.
func (m *FrontMatter) Get(key string) *FrontField {
	for i := range m.Fields {
		if m.Fields[i].Key == key {
			return &m.Fields[i]
		}
	}
	return nil
}

// Words returns the values of a list, or of a plain value with commas. Commas in brackets of any kind belong to a
// value. f may be nil.
func (f *FrontField) Words() []string {
	if f == nil {
		return nil
	}
	if f.List != nil {
		return f.List
	}
	var words []string
	depth, from := 0, 0
	add := func(to int) {
		if w := strings.TrimSpace(f.Text[from:to]); w != "" {
			words = append(words, w)
		}
		from = to + 1
	}
	for i, r := range f.Text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	add(len(f.Text))
	return words
}

// ReadFrontMatter splits a file into its front matter and its body. A file without front matter is all body. It leaves
// out lines that can't be read; Left is the first. The only error, a [*FrontFault], is front matter that is too large:
// then it also returns the body.
func ReadFrontMatter(text []byte) (FrontMatter, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	all := strings.ReplaceAll(string(text), "\r\n", "\n")
	first, rest, ok := strings.Cut(all, "\n")
	if !ok || strings.TrimRight(first, " \t") != "---" {
		return FrontMatter{Body: all, Line: 1}, nil
	}
	var head []string
	for after := rest; after != ""; {
		var l string
		l, after, _ = strings.Cut(after, "\n")
		if end := strings.TrimRight(l, " \t"); end == "---" || end == "..." {
			m := FrontMatter{Body: after, Line: len(head) + 3}
			return m, m.parse(head)
		}
		head = append(head, l)
	}
	return endless(all, rest)
}

// endless reads a file whose matter has no end: it ends before the first line that does not belong to it.
func endless(all, rest string) (FrontMatter, error) {
	var head []string
	m := FrontMatter{Body: rest}
	for m.Body != "" {
		l, after, _ := strings.Cut(m.Body, "\n")
		if _, _, ok := keyLine(l); !ok && !goesOn(l) || strings.TrimSpace(l) == "" || comment(l) {
			break
		}
		head, m.Body = append(head, l), after
	}
	if len(head) == 0 || goesOn(head[0]) { // three dashes were a rule across the page
		return FrontMatter{Body: all, Line: 1}, nil
	}
	m.Line = len(head) + 2
	if err := m.parse(head); err != nil {
		return m, err
	}
	m.Left = &FrontFault{1, 1, "its front matter has no end: a line of three dashes"}
	return m, nil
}

// parse reads the lines of the matter, the first of which is the second line of the file.
func (m *FrontMatter) parse(head []string) error {
	text := strings.Join(head, "\n") + "\n"
	if len(text) > maxFrontMatter {
		return &FrontFault{1, 1, fmt.Sprintf("its front matter has %d bytes, at most %d are read", len(text), maxFrontMatter)}
	}
	ok := false
	if m.Fields, ok = simple(head); !ok {
		var err error
		if m.Fields, err = strict(text); err != nil {
			m.Fields, m.Left = looseFields(head, err)
		}
	}
	for i := range m.Fields {
		f, last := &m.Fields[i], len(head)
		if i+1 < len(m.Fields) {
			last = m.Fields[i+1].Line - 2
		}
		lines := head[f.Line-2 : last]
		f.Raw = strings.Join(lines, "\n") + "\n"
		if f.odd {
			_, first, _ := keyLine(lines[0])
			f.Text, f.odd = folded(append([]string{first}, lines[1:]...)), false
		}
		f.Text = unbent(f.Text)
		for i, v := range f.List {
			f.List[i] = unbent(v)
		}
		if f.List != nil {
			f.Text = strings.Join(f.List, ", ")
		}
	}
	return nil
}

// unbent returns s without typographic quotation marks around it, which YAML does not know.
func unbent(s string) string {
	for _, marks := range [...][2]string{{"\u201c", "\u201d"}, {"\u2018", "\u2019"}} {
		if in, ok := strings.CutPrefix(s, marks[0]); ok {
			if in, ok := strings.CutSuffix(in, marks[1]); ok {
				return in
			}
		}
	}
	return s
}

// simple reads the lines of most files, whose meaning is plain, much faster than strict does and with the same result.
// ok is false if a line is not plain.
func simple(head []string) (fields []FrontField, ok bool) {
	for i := 0; i < len(head); i++ {
		key, text, ok := plainLine(head[i])
		if !ok || strings.EqualFold(key, "null") || slices.ContainsFunc(fields, func(f FrontField) bool { return f.Key == key }) {
			return nil, false
		}
		f := FrontField{Key: key, Line: i + 2}
		if f.Text, ok = value(text); !ok {
			return nil, false
		}
		if text == "" {
			deep := -1
			for ; i+1 < len(head); i++ {
				item, at, is := item(head[i+1])
				if !is {
					break
				}
				if deep >= 0 && at != deep {
					return nil, false
				}
				deep, f.List = at, append(f.List, item)
			}
			if i+1 < len(head) && head[i+1] != "" {
				if _, _, ok := plainLine(head[i+1]); !ok {
					return nil, false
				}
			}
		}
		fields = append(fields, f)
	}
	return fields, true
}

// plainLine splits a line of the form key: text. ok is false if the key contains other characters than a word.
func plainLine(l string) (key, text string, ok bool) {
	key, rest, ok := strings.Cut(l, ":")
	if !ok || key == "" || !letter(key[0]) {
		return "", "", false
	}
	for i := range len(key) {
		if c := key[i]; !letter(c) && !digit(c) && c != '_' && c != '-' {
			return "", "", false
		}
	}
	text = strings.Trim(rest, " ")
	return key, text, text == "" || rest[0] == ' '
}

// item parses a line of the form - text, and returns its depth.
func item(l string) (text string, deep int, ok bool) {
	rest := strings.TrimLeft(l, " ")
	rest, ok = strings.CutPrefix(rest, "- ")
	if text = strings.Trim(rest, " "); !ok || text == "" {
		return "", 0, false
	}
	text, ok = value(text)
	return text, strings.IndexByte(l, '-'), ok
}

// value returns the meaning of a text in YAML, if no sign in it has a special meaning, or if it is in quotes and
// contains none.
func value(s string) (string, bool) {
	if s == "" {
		return s, true
	}
	forbidden, in := ":#", s
	if q := s[0]; q == '"' || q == '\'' {
		if len(s) < 2 || s[len(s)-1] != q {
			return "", false
		}
		forbidden, in = string(q)+"\\\u0085\u2028\u2029\ufeff", s[1:len(s)-1]
	} else if !letter(q) && !digit(q) || strings.EqualFold(s, "null") {
		return "", false
	}
	return in, !strings.ContainsAny(in, forbidden) && !strings.ContainsFunc(in, func(r rune) bool { return r < ' ' })
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// strict reads YAML.
func strict(text string) ([]FrontField, error) {
	if n := strings.Count(text, "[") + strings.Count(text, "{"); n > brackets {
		return nil, &FrontFault{1, 1, fmt.Sprintf("its front matter has %d brackets, at most %d are read as YAML", n, brackets)}
	}
	doc, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		var e yaml.Error
		if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
			p := e.GetToken().Position
			return nil, &FrontFault{p.Line + 1, p.Column, "its front matter is no YAML: " + Line(e.GetMessage())}
		}
		return nil, &FrontFault{2, 1, "its front matter is no YAML: " + Line(err.Error())}
	}
	var fields []FrontField
	for _, d := range doc.Docs {
		var entries []*ast.MappingValueNode
		switch n := d.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
			continue
		case *ast.MappingNode:
			entries = n.Values
		case *ast.MappingValueNode:
			entries = []*ast.MappingValueNode{n}
		default:
			return nil, fault(d.Body, "here belong lines of the form key: value")
		}
		for _, e := range entries {
			key, ok := plain(e.Key)
			if !ok {
				return nil, fault(e.Key, "a key is a word")
			}
			f := FrontField{Key: key, Line: line(e.Key)}
			if f.Text, ok = plain(e.Value); !ok {
				f.List = list(e.Value)
				f.odd = f.List == nil
			}
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// list returns the values of a list, those that are not plain as they are written; nil if n is no list.
func list(n ast.Node) []string {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	words := []string{}
	for _, v := range s.Values {
		w, ok := plain(v)
		if !ok {
			w = strings.Join(strings.Fields(v.String()), " ")
		}
		words = append(words, w)
	}
	return words
}

// plain is the text of a plain value.
func plain(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.NullNode:
		return "", true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line + 1
	}
	return 2
}

func fault(n ast.Node, text string) error {
	f := &FrontFault{Line: line(n), Column: 1, Text: "its front matter can't be read: " + text}
	if t := n.GetToken(); t != nil && t.Position != nil {
		f.Column = t.Position.Column
	}
	return f
}

// looseFields reads matter that is not valid YAML. A line at the left margin with a colon begins a field; the indented
// and empty lines below belong to it. It leaves out any other line, and returns the first of them. cause is the YAML
// parser's error.
func looseFields(head []string, cause error) (fields []FrontField, left *FrontFault) {
	for i := 0; i < len(head); {
		to := i + 1
		if _, _, ok := keyLine(head[i]); !ok {
			if left == nil && strings.TrimSpace(head[i]) != "" && !comment(head[i]) {
				left = &FrontFault{i + 2, 1, fmt.Sprintf("left out: %.60q is no line of the form key: value", head[i])}
			}
			i = to
			continue
		}
		for to < len(head) && goesOn(head[to]) {
			to++
		}
		fields = append(fields, field(head[i:to], i+2))
		i = to
	}
	if f := (*FrontFault)(nil); left != nil && len(fields) == 0 && errors.As(cause, &f) {
		left = f
	}
	return fields, left
}

// keyLine splits a line at the left margin of the form key: value.
func keyLine(l string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(l, ":")
	key = unquoted(strings.TrimRight(key, " \t"))
	if !ok || key == "" || strings.ContainsAny(key[:1], "-#*`!&%@|") || strings.ContainsAny(key, " \t\"'{}[]<>") {
		return "", "", false
	}
	return key, strings.TrimSpace(value), !strings.HasPrefix(value, "//") // an address
}

// goesOn reports whether a line belongs to the field above it.
func goesOn(l string) bool {
	t := strings.TrimSpace(l)
	return t == "" || l[0] == ' ' || l[0] == '\t' || t == "-" || strings.HasPrefix(t, "- ") || l[0] == ']' || l[0] == '}' || comment(t)
}

func comment(l string) bool {
	l = strings.TrimSpace(l)
	return l == "#" || strings.HasPrefix(l, "# ")
}

// field reads the lines of one field, as YAML if they are any.
func field(lines []string, at int) FrontField {
	if fs, ok := simple(lines); ok {
		fs[0].Line = at
		return fs[0]
	}
	key, first, _ := keyLine(lines[0])
	if fs, err := strict(strings.Join(lines, "\n") + "\n"); err == nil && len(fs) == 1 && fs[0].Key == key {
		fs[0].Line = at
		return fs[0]
	}
	f := FrontField{Key: key, Line: at}
	below := lines[1:]
	for first == "" && len(below) > 0 { // the value begins at the first line that is not empty
		if !comment(below[0]) {
			first = strings.TrimSpace(below[0])
		}
		if below = below[1:]; first == "-" || strings.HasPrefix(first, "- ") {
			f.List = items(append([]string{first}, below...))
			return f
		}
	}
	if m := blockForm.FindStringSubmatch(first); m != nil {
		f.Text = block(m[1], m[2], below)
		return f
	}
	f.Text = folded(append([]string{first}, below...))
	if in, ok := flow(f.Text); ok {
		f.Text, f.List = "", []string{}
		for _, w := range (&FrontField{Text: in}).Words() {
			f.List = append(f.List, unquoted(w))
		}
		return f
	}
	f.Text = unquoted(f.Text)
	return f
}

// blockForm matches the beginning of a text over several lines. Words may follow on that line, which YAML does not
// allow.
var blockForm = regexp.MustCompile(`^([>|])[0-9+-]*(?:[ \t]+(.*))?$`)

// block is a text over several lines. With kind | it keeps its line ends.
func block(kind, first string, below []string) string {
	if comment(first) {
		first = ""
	}
	if kind == ">" {
		return folded(append([]string{first}, below...))
	}
	deep := -1
	for _, l := range below {
		if t := strings.TrimLeft(l, " \t"); t != "" && (deep < 0 || len(l)-len(t) < deep) {
			deep = len(l) - len(t)
		}
	}
	text := []string{first}
	for _, l := range below {
		text = append(text, l[min(max(deep, 0), len(l)):])
	}
	return strings.TrimSpace(strings.Join(text, "\n"))
}

// folded is lines as one; an empty one ends a line.
func folded(lines []string) string {
	var b strings.Builder
	sep := ""
	for _, l := range lines {
		switch l = strings.TrimSpace(l); {
		case comment(l):
		case l == "":
			sep = "\n"
		default:
			if b.Len() > 0 {
				b.WriteString(sep)
			}
			b.WriteString(l)
			sep = " "
		}
	}
	return b.String()
}

// items is the values of a list, one a line or over several.
func items(lines []string) []string {
	var list []string
	for _, l := range lines {
		t := strings.TrimSpace(l)
		switch in, ok := strings.CutPrefix(t+" ", "- "); {
		case t == "" || comment(t):
		case ok:
			list = append(list, strings.TrimSpace(in))
		default:
			list[len(list)-1] += " " + t
		}
	}
	for i, v := range list {
		list[i] = unquoted(strings.TrimSpace(v))
	}
	return list
}

// flow returns the text between the brackets of a list; the last bracket may be missing. `[file] [line]` is no list.
func flow(s string) (in string, ok bool) {
	in, ok = strings.CutPrefix(s, "[")
	end := strings.IndexByte(in, ']')
	if end < 0 {
		return in, ok
	}
	return in[:end], ok && end == len(in)-1
}

func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
