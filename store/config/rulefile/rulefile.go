// Package rulefile finds permission rules in files: in config.toml below [permissions], and in the settings that Claude
// Code keeps as JSON.
//
// Does: return each line of allow, ask and deny with its place, what else stands there that is not obeyed, and what is
// wrong with the file. What can be read before a fault counts.
//
// Does not: know what a rule means.
//
// Imports: store/config/settings, store/config/walk.
package rulefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"fantail/store/config/settings"
	"fantail/store/config/walk"
)

const (
	mostOf     = 2000 // rules of a file
	mostOthers = 1000 // other keys that are named
	mostFaults = 50   // what is wrong, a place each
)

// Lists are the keys that hold rules.
var Lists = []string{"allow", "ask", "deny"}

// Line is one rule, as it stands in a file.
type Line struct {
	List         string // allow, ask or deny
	Text         string
	Line, Column int // from 1
}

// Fault is what is wrong at a place.
type Fault struct {
	Line, Column int
	Text         string
}

// File is what a file says.
type File struct {
	Lines  []Line
	Others []Line  // keys beside the lists: List is "", Text the key
	Faults []Fault // in their order

	full bool // it has more rules than are read
}

// Open reads the file below root, which no link leads out of. Without a file it says nothing.
func Open(root, name string) (File, error) {
	data, err := settings.Open(root, name)
	return read(data, name, err)
}

// Read reads the file at a path, wherever links lead. Without a file it says nothing.
func Read(path string) (File, error) {
	data, err := settings.Read(path)
	return read(data, path, err)
}

func read(data []byte, name string, err error) (File, error) {
	switch {
	case err != nil:
		return File{}, err
	case strings.HasSuffix(name, ".toml"):
		return TOML(data), nil
	}
	return JSON(data), nil
}

// add adds a rule, as long as they are not too many.
func (f *File) add(l Line) {
	switch {
	case len(f.Lines) < mostOf:
		f.Lines = append(f.Lines, l)
	case !f.full:
		f.full = true
		f.fault(l.Line, l.Column, "there are more than %d rules; this and what follows are not read", mostOf)
	}
}

// other adds a key that holds no rules, as long as they are not too many.
func (f *File) other(l Line) {
	if len(f.Others) < mostOthers {
		f.Others = append(f.Others, l)
	}
}

// fault adds what is wrong, as long as it is not too much. Of the rest one tells.
func (f *File) fault(line, column int, format string, args ...any) {
	switch n := len(f.Faults); {
	case n < mostFaults:
		f.Faults = append(f.Faults, Fault{line, column, fmt.Sprintf(format, args...)})
	case n == mostFaults:
		f.Faults = append(f.Faults, Fault{line, column, "more is wrong from here on"})
	}
}

// JSON reads the key permissions of a settings file.
func JSON(data []byte) (f File) {
	doc := settings.Split(data)
	for _, sec := range doc.Sections {
		if sec.Key != "permissions" {
			f.other(Line{Text: sec.Key, Line: sec.Line, Column: sec.Column})
			continue
		}
		s := &scan{doc: doc, Walk: doc.Walk(sec), f: &f}
		_ = s.permissions() // where it can't be read further the file can't
	}
	if w := doc.Fault; w != nil {
		f.fault(w.Line, w.Column, "%s", w.Text)
	}
	return f
}

// scan reads what stands below permissions, with the places of what it meets.
type scan struct {
	*walk.Walk
	doc *settings.Doc
	f   *File
}

// next is the next token and the byte where it begins.
func (s *scan) next() (t json.Token, at int, err error) {
	at = s.Ahead()
	t, err = s.Next()
	return t, at, err
}

func (s *scan) fault(at int, format string, args ...any) {
	line, column := s.doc.Place(at)
	s.f.fault(line, column, format, args...)
}

func (s *scan) permissions() error {
	t, at, err := s.next()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		s.fault(at, "permissions is an object: { … }")
		return s.Rest(t)
	}
	return s.Object(func(key string, at int) error {
		if slices.Contains(Lists, key) {
			return s.list(key)
		}
		line, column := s.doc.Place(at)
		s.f.other(Line{Text: "permissions." + key, Line: line, Column: column})
		return s.Skip()
	})
}

func (s *scan) list(key string) error {
	t, at, err := s.next()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		s.fault(at, "%s is a list of rules: [ … ]", key)
		return s.Rest(t)
	}
	for s.More() {
		t, at, err := s.next()
		if err != nil {
			return err
		}
		text, is := t.(string)
		if !is {
			s.fault(at, "a rule is a text, such as \"Bash(git push *)\"")
			if err := s.Rest(t); err != nil {
				return err
			}
			continue
		}
		line, column := s.doc.Place(at)
		s.f.add(Line{key, text, line, column})
	}
	_, err = s.Next()
	return err
}

// TOML reads the table permissions of a configuration.
func TOML(data []byte) (f File) {
	p := unstable.Parser{}
	p.Reset(data)
	r := tables{f: &f, text: walk.Over(data)}
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		var first unstable.Range
		for it := e.Key(); it.Next(); {
			if n := it.Node(); len(keys) == 0 {
				first = n.Raw
			}
			keys = append(keys, string(it.Node().Data))
		}
		name, at := strings.Join(keys, "."), int(first.Offset)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name
			if root, _, _ := strings.Cut(name, "."); name != "permissions" {
				f.other(r.line("", root, at))
			}
			continue
		case unstable.KeyValue:
		default:
			continue
		}
		if table != "" {
			if table != "permissions" {
				continue
			}
			name = table + "." + name
		}
		r.value(name, e.Value(), at)
	}
	if err := p.Error(); err != nil {
		at, text := 0, err.Error()
		if e := (*unstable.ParserError)(nil); errors.As(err, &e) {
			at, text = int(p.Range(e.Highlight).Offset), e.Message
		}
		r.fault(at, "%s", text)
	}
	return f
}

// tables reads what stands in tables, with the places of what it meets.
type tables struct {
	f    *File
	text *walk.Text
}

func (r tables) line(list, text string, at int) Line {
	line, column := r.text.Place(at)
	return Line{list, text, line, column}
}

func (r tables) fault(at int, format string, args ...any) {
	line, column := r.text.Place(at)
	r.f.fault(line, column, format, args...)
}

// value adds what a key of that name holds.
func (r tables) value(name string, v *unstable.Node, at int) {
	list, is := strings.CutPrefix(name, "permissions.")
	switch {
	case name == "permissions" && v.Kind == unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			kv := it.Node()
			for key := kv.Key(); key.Next(); {
				r.value(name+"."+string(key.Node().Data), kv.Value(), at)
				break
			}
		}
	case !is || !slices.Contains(Lists, list):
		r.f.other(r.line("", name, at))
	case v.Kind != unstable.Array:
		r.fault(at, "%s is a list of rules: [ … ]", list)
	default:
		for it := v.Children(); it.Next(); {
			n := it.Node()
			place := at
			if n.Raw.Length > 0 {
				place = int(n.Raw.Offset)
			}
			switch n.Kind {
			case unstable.String:
				r.f.add(r.line(list, string(n.Data), place))
			case unstable.Comment:
			default:
				r.fault(place, "a rule is a text, such as \"Bash(git push *)\"")
			}
		}
	}
}
