// Package front reads the front matter of Markdown files: the YAML between two lines of three dashes at their beginning.
//
// Does: tell the matter from the text, and read its top level into words and lists with their places, also where it is
// written as people and other tools write it, which is not always YAML.
//
// Does not: know what a key means, open files.
//
// Imports: tools.
package front

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"fantail/tools"
)

// What front matter may have: it is small, and the parser takes its time with what is deeply nested.
const (
	most     = 32 << 10 // bytes
	brackets = 256      // that open a list or a mapping
)

// Matter is what a file begins with, and its text.
type Matter struct {
	Fields []Field // in their order
	Body   string  // what follows the matter
	Line   int     // at which the body begins, from 1
}

// Field is one key of the matter.
type Field struct {
	Key  string
	Text string   // a plain value; "" for a list
	List []string // a list's plain values; nil for a plain value
	Raw  string   // the lines of the file that hold it
	Line int      // from 1
}

// Fault is what is wrong at a place of a file.
type Fault struct {
	Line, Column int // from 1
	Text         string
}

func (f *Fault) Error() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Text) }

// Get returns the field of that name; nil: there is none.
func (m *Matter) Get(key string) *Field {
	for i := range m.Fields {
		if m.Fields[i].Key == key {
			return &m.Fields[i]
		}
	}
	return nil
}

// Words returns the values of a list, or of a plain value in which commas stand between them. Commas in brackets of any kind
// belong to a value. f may be nil.
func (f *Field) Words() []string {
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

// Read tells the matter from the text of a file. A file without any is only body. The error is a [*Fault]; the body stands
// along with it.
func Read(text []byte) (Matter, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	all := strings.ReplaceAll(string(text), "\r\n", "\n")
	first, rest, ok := strings.Cut(all, "\n")
	if !ok || strings.TrimRight(first, " \t") != "---" {
		return Matter{Body: all, Line: 1}, nil
	}
	var head []string
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		if rest = after; strings.TrimRight(line, " \t") == "---" {
			m := Matter{Body: rest, Line: len(head) + 3}
			fields, err := parse(head)
			m.Fields = fields
			return m, err
		}
		head = append(head, line)
	}
	return Matter{Body: all, Line: 1}, &Fault{1, 1, "its front matter has no end: a line of three dashes"}
}

// parse reads the lines of the matter, the first of which is the file's second.
func parse(head []string) ([]Field, error) {
	text := strings.Join(head, "\n") + "\n"
	if len(text) > most {
		return nil, &Fault{1, 1, fmt.Sprintf("its front matter has %d bytes, at most %d are read", len(text), most)}
	}
	if n := strings.Count(text, "[") + strings.Count(text, "{"); n > brackets {
		return nil, &Fault{1, 1, fmt.Sprintf("its front matter has %d brackets, at most %d are read", n, brackets)}
	}
	fields, ok := simple(head)
	var err error
	if !ok {
		fields, err = strict(text)
	}
	if err != nil {
		if lax, ok := loose(head); ok {
			fields, err = lax, nil
		}
	}
	for i := range fields {
		last := len(head)
		if i+1 < len(fields) {
			last = fields[i+1].Line - 2
		}
		fields[i].Raw = strings.Join(head[fields[i].Line-2:last], "\n") + "\n"
	}
	return fields, err
}

// simple reads what most files have, lines that mean what they look like, much faster than strict does and alike. ok is false if a
// line is another.
func simple(head []string) (fields []Field, ok bool) {
	for i := 0; i < len(head); i++ {
		key, text, ok := plainLine(head[i])
		if !ok || strings.EqualFold(key, "null") || slices.ContainsFunc(fields, func(f Field) bool { return f.Key == key }) {
			return nil, false
		}
		f := Field{Key: key, Line: i + 2}
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

// plainLine takes a line of the form key: text apart. ok is false if the key has other signs than words have.
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

// item takes a line of the form - text apart, and says how deep it stands.
func item(l string) (text string, deep int, ok bool) {
	rest := strings.TrimLeft(l, " ")
	rest, ok = strings.CutPrefix(rest, "- ")
	if text = strings.Trim(rest, " "); !ok || text == "" {
		return "", 0, false
	}
	text, ok = value(text)
	return text, strings.IndexByte(l, '-'), ok
}

// value is what a text means in YAML that no sign in it gives another meaning, or that stands in quotes with none in them.
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
func strict(text string) ([]Field, error) {
	doc, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		var e yaml.Error
		if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
			p := e.GetToken().Position
			return nil, &Fault{p.Line + 1, p.Column, "its front matter is no YAML: " + tools.Line(e.GetMessage())}
		}
		return nil, &Fault{2, 1, "its front matter is no YAML: " + tools.Line(err.Error())}
	}
	var fields []Field
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
			f := Field{Key: key, Line: line(e.Key)}
			if f.Text, ok = plain(e.Value); !ok {
				f.List = list(e.Value)
			}
			fields = append(fields, f)
		}
	}
	return fields, nil
}

// list is the plain values of a list; what is no plain value is in none.
func list(n ast.Node) []string {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	words := []string{}
	for _, v := range s.Values {
		if w, ok := plain(v); ok {
			words = append(words, w)
		}
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
	f := &Fault{Line: line(n), Column: 1, Text: "its front matter can't be read: " + text}
	if t := n.GetToken(); t != nil && t.Position != nil {
		f.Column = t.Position.Column
	}
	return f
}

// loose reads what is no YAML line by line, as other tools do: a value such as [file] [line], or words with a colon in them,
// is text. ok is false if a line is neither key: value nor - value.
func loose(head []string) (fields []Field, ok bool) {
	for i, l := range head {
		text := strings.TrimSpace(l)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if item, is := strings.CutPrefix(text, "- "); is && len(fields) > 0 && fields[len(fields)-1].Text == "" {
			f := &fields[len(fields)-1]
			f.List = append(f.List, unquoted(item))
			continue
		}
		key, value, is := strings.Cut(l, ":")
		if !is || key != strings.TrimSpace(key) || key == "" || strings.ContainsAny(key, " \t\"'{}[]") {
			return nil, false
		}
		fields = append(fields, Field{Key: key, Text: unquoted(strings.TrimSpace(value)), Line: i + 2})
	}
	return fields, true
}

func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
