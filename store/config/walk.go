package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	deepest = 64  // brackets in brackets
	step    = 512 // bytes between two known positions
)

// JSONText is a text with known positions in it.
type JSONText struct {
	data  []byte
	marks []mark
}

// mark is the place of a byte.
type mark struct{ at, line, column int }

// JSONOver makes a JSONText; it goes through the text once for its positions.
func JSONOver(data []byte) *JSONText {
	t := &JSONText{data: data, marks: []mark{{0, 1, 1}}}
	for m := t.marks[0]; ; {
		if m = t.to(m, m.at+step); m.at == len(data) {
			return t
		}
		t.marks = append(t.marks, m)
	}
}

// to is the place of a byte that is not before m, or of the next at which a letter begins.
func (t *JSONText) to(m mark, at int) mark {
	for m.at < min(at, len(t.data)) {
		size := 1
		switch c := t.data[m.at]; {
		case c == '\n':
			m.line, m.column = m.line+1, 0
		case c >= utf8.RuneSelf:
			_, size = utf8.DecodeRune(t.data[m.at:])
		}
		m.at, m.column = m.at+size, m.column+1
	}
	return m
}

// Place is the place of a byte, from 1; a column is a letter.
func (t *JSONText) Place(at int) (line, column int) {
	m := t.to(t.before(at), at)
	return m.line, m.column
}

// before is the last known position that is not after that byte.
func (t *JSONText) before(at int) mark {
	i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].at > at })
	return t.marks[max(i-1, 0)]
}

// JSONWalk walks a part of a text. Its positions are those of the whole text.
type JSONWalk struct {
	data []byte // up to its end
	from int
	dec  *json.Decoder
}

// Walk walks the bytes from one position to another.
func (t *JSONText) Walk(from, to int) *JSONWalk {
	w := &JSONWalk{data: t.data[:to], from: from, dec: json.NewDecoder(bytes.NewReader(t.data[from:to]))}
	w.dec.UseNumber()
	return w
}

// More reports whether the object or list has more.
func (w *JSONWalk) More() bool { return w.dec.More() }

// Next is the next token.
func (w *JSONWalk) Next() (json.Token, error) { return w.dec.Token() }

// Passed is the position after the last token.
func (w *JSONWalk) Passed() int { return w.from + int(w.dec.InputOffset()) }

// Ahead is the byte at which the next token begins.
func (w *JSONWalk) Ahead() int {
	i := w.Passed()
	for i < len(w.data) && strings.IndexByte(" \t\r\n,:", w.data[i]) >= 0 {
		i++
	}
	return i
}

// Object calls each with the keys of the object that has begun, and their positions; each reads the value.
func (w *JSONWalk) Object(each func(key string, at int) error) error {
	for w.More() {
		at := w.Ahead()
		t, err := w.Next()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := each(key, at); err != nil {
			return err
		}
	}
	_, err := w.Next()
	return err
}

// Skip passes over a value.
func (w *JSONWalk) Skip() error {
	t, err := w.Next()
	if err != nil {
		return err
	}
	return w.Rest(t)
}

// Rest passes over the rest of a value that began with t.
func (w *JSONWalk) Rest(t json.Token) error {
	for depth := 0; ; {
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
		if t, err = w.Next(); err != nil {
			return err
		}
	}
}
