// Package rulefile finds permission rules in files: in config.toml below [permissions], and in the settings that Claude
// Code keeps as JSON.
//
// Does: return each line of allow, ask and deny with its place, what else stands there that is not obeyed, and what is
// wrong with the file. What can be read before a fault counts.
//
// Does not: know what a rule means.
//
// Imports: store/config/settings.
package rulefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"fantail/store/config/settings"
)

const (
	mostOf  = 2000 // rules of a file
	deepest = 64   // brackets in brackets
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
	if len(f.Lines) == mostOf {
		f.Faults = append(f.Faults, Fault{l.Line, l.Column, fmt.Sprintf("there are more than %d rules; these and what follows are not read", mostOf)})
	}
	if len(f.Lines) <= mostOf {
		f.Lines = append(f.Lines, l)
	}
	f.Lines = f.Lines[:min(len(f.Lines), mostOf)]
}

// JSON reads the key permissions of a settings file.
func JSON(data []byte) (f File) {
	doc := settings.Split(data)
	for _, sec := range doc.Sections {
		if sec.Key != "permissions" {
			f.Others = append(f.Others, Line{Text: sec.Key, Line: sec.Line, Column: sec.Column})
			continue
		}
		s := &scan{doc: doc, at: sec.At, data: sec.Value, f: &f, dec: json.NewDecoder(bytes.NewReader(sec.Value))}
		s.dec.UseNumber()
		_ = s.permissions() // where it can't be read further the file can't
	}
	if w := doc.Fault; w != nil {
		f.Faults = append(f.Faults, Fault{w.Line, w.Column, w.Text})
	}
	return f
}

// scan reads what stands below permissions, with the places of what it meets.
type scan struct {
	doc  *settings.Doc
	at   int // where it begins
	data []byte
	dec  *json.Decoder
	f    *File
}

// next is the next token and the place where it begins.
func (s *scan) next() (t json.Token, line, column int, err error) {
	i := int(s.dec.InputOffset())
	for i < len(s.data) && strings.IndexByte(" \t\r\n,:", s.data[i]) >= 0 {
		i++
	}
	line, column = s.doc.Place(s.at + i)
	t, err = s.dec.Token()
	return t, line, column, err
}

func (s *scan) fault(line, column int, format string, args ...any) {
	s.f.Faults = append(s.f.Faults, Fault{line, column, fmt.Sprintf(format, args...)})
}

// object calls f with each key of the object that has begun; f reads the value.
func (s *scan) object(f func(key string, line, column int) error) error {
	for s.dec.More() {
		t, line, column, err := s.next()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := f(key, line, column); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

func (s *scan) permissions() error {
	t, line, column, err := s.next()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		s.fault(line, column, "permissions is an object: { … }")
		return s.rest(t)
	}
	return s.object(func(key string, line, column int) error {
		if !slices.Contains(Lists, key) {
			s.f.Others = append(s.f.Others, Line{Text: "permissions." + key, Line: line, Column: column})
			return s.skip()
		}
		return s.list(key)
	})
}

func (s *scan) list(key string) error {
	t, line, column, err := s.next()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		s.fault(line, column, "%s is a list of rules: [ … ]", key)
		return s.rest(t)
	}
	for s.dec.More() {
		t, line, column, err := s.next()
		if err != nil {
			return err
		}
		text, is := t.(string)
		if !is {
			s.fault(line, column, "a rule is a text, such as \"Bash(git push *)\"")
			if err := s.rest(t); err != nil {
				return err
			}
			continue
		}
		s.f.add(Line{key, text, line, column})
	}
	_, err = s.dec.Token()
	return err
}

// skip passes over a value.
func (s *scan) skip() error {
	t, err := s.dec.Token()
	if err != nil {
		return err
	}
	return s.rest(t)
}

// rest passes over the rest of a value that began with t.
func (s *scan) rest(t json.Token) error {
	depth := 0
	for {
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > deepest {
				return fmt.Errorf("more than %d brackets in one another", deepest)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if t, err = s.dec.Token(); err != nil {
			return err
		}
	}
}

// TOML reads the table permissions of a configuration.
func TOML(data []byte) (f File) {
	p := unstable.Parser{}
	p.Reset(data)
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
		name := strings.Join(keys, ".")
		at := p.Shape(first).Start
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name
			if root, _, _ := strings.Cut(name, "."); name != "permissions" {
				f.Others = append(f.Others, Line{Text: root, Line: at.Line, Column: at.Column})
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
		f.value(&p, name, e.Value(), at)
	}
	if err := p.Error(); err != nil {
		at := unstable.Position{Line: 1, Column: 1}
		text := err.Error()
		if e := (*unstable.ParserError)(nil); errors.As(err, &e) {
			at, text = p.Shape(p.Range(e.Highlight)).Start, e.Message
		}
		f.Faults = append(f.Faults, Fault{at.Line, at.Column, text})
	}
	return f
}

// value adds what a key of that name holds.
func (f *File) value(p *unstable.Parser, name string, v *unstable.Node, at unstable.Position) {
	list, is := strings.CutPrefix(name, "permissions.")
	switch {
	case name == "permissions" && v.Kind == unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			kv := it.Node()
			for key := kv.Key(); key.Next(); {
				f.value(p, name+"."+string(key.Node().Data), kv.Value(), at)
				break
			}
		}
	case !is || !slices.Contains(Lists, list):
		f.Others = append(f.Others, Line{Text: name, Line: at.Line, Column: at.Column})
	case v.Kind != unstable.Array:
		f.Faults = append(f.Faults, Fault{at.Line, at.Column, list + " is a list of rules: [ … ]"})
	default:
		for it := v.Children(); it.Next(); {
			n := it.Node()
			place := at
			if n.Raw.Length > 0 {
				place = p.Shape(n.Raw).Start
			}
			switch n.Kind {
			case unstable.String:
				f.add(Line{list, string(n.Data), place.Line, place.Column})
			case unstable.Comment:
			default:
				f.Faults = append(f.Faults, Fault{place.Line, place.Column, "a rule is a text, such as \"Bash(git push *)\""})
			}
		}
	}
}
