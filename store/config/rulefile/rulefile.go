// Package rulefile finds permission rules in files: in config.toml below [permissions], and in the settings that Claude
// Code keeps as JSON.
//
// Does: return each line of allow, ask and deny with its place, what else stands there that is not obeyed, and what is
// wrong with the file. What can be read before a fault counts.
//
// Does not: know what a rule means, follow a link out of a workspace, read more than a small regular file.
//
// Imports: nothing of ours.
package rulefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2/unstable"
)

const (
	most    = 1 << 20 // bytes of a file
	mostOf  = 2000    // rules of a file
	deepest = 64      // brackets in brackets
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
	r, err := os.OpenRoot(root)
	if err != nil {
		return File{}, plain(err)
	}
	defer r.Close()
	f, err := r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(f, name, err)
}

// Read reads the file at a path, wherever links lead. Without a file it says nothing.
func Read(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return read(f, path, err)
}

func read(f *os.File, name string, err error) (File, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return File{}, nil
	}
	if err != nil {
		return File{}, plain(err)
	}
	defer f.Close()
	switch i, err := f.Stat(); {
	case err != nil:
		return File{}, plain(err)
	case !i.Mode().IsRegular():
		return File{}, errors.New("it is no regular file")
	case i.Size() > most:
		return File{}, fmt.Errorf("it has %d bytes, at most %d are read", i.Size(), most)
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return File{}, plain(err)
	}
	if strings.HasSuffix(name, ".toml") {
		return TOML(data), nil
	}
	return JSON(data), nil
}

// plain is an error without the path that its reader names anyway.
func plain(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
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
func JSON(data []byte) File {
	s := &scan{data: bytes.TrimPrefix(data, []byte("\ufeff")), dec: nil}
	s.dec = json.NewDecoder(bytes.NewReader(s.data))
	s.dec.UseNumber()
	if len(bytes.TrimSpace(s.data)) == 0 {
		return s.f
	}
	if err := s.top(); err != nil {
		line, column := s.at(s.ahead())
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends in the middle")
		}
		s.f.Faults = append(s.f.Faults, Fault{line, column, strings.TrimPrefix(err.Error(), "json: ")})
	}
	return s.f
}

// scan reads JSON with the places of what it meets.
type scan struct {
	data []byte
	dec  *json.Decoder
	f    File
}

// at is the place of a byte.
func (s *scan) at(offset int64) (line, column int) {
	before := s.data[:min(max(int(offset), 0), len(s.data))]
	line = bytes.Count(before, []byte("\n")) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	return line, len([]rune(string(before[start:]))) + 1
}

// ahead is where the next token begins.
func (s *scan) ahead() int64 {
	i := int(s.dec.InputOffset())
	for i < len(s.data) && strings.IndexByte(" \t\r\n,:", s.data[i]) >= 0 {
		i++
	}
	return int64(i)
}

// next is the next token and the place where it begins.
func (s *scan) next() (t json.Token, line, column int, err error) {
	line, column = s.at(s.ahead())
	t, err = s.dec.Token()
	return t, line, column, err
}

func (s *scan) fault(line, column int, format string, args ...any) {
	s.f.Faults = append(s.f.Faults, Fault{line, column, fmt.Sprintf(format, args...)})
}

func (s *scan) top() error {
	t, line, column, err := s.next()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		s.fault(line, column, "settings are an object: { … }")
		return nil
	}
	return s.object(func(key string, line, column int) error {
		if key == "permissions" {
			return s.permissions()
		}
		s.f.Others = append(s.f.Others, Line{Text: key, Line: line, Column: column})
		return s.skip()
	})
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
