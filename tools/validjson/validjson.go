// Package validjson repairs JSON from elsewhere, so that every strict reader accepts it.
//
// Does: replace halves of surrogate pairs, zero characters and invalid UTF-8; keep one of several members with the same
// name; reduce numbers that are out of range.
//
// Does not: complete truncated text, or repair text that is not JSON.
package validjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// replacement replaces an invalid character, as it is written into a text.
const replacement = "\uFFFD"

// Make returns raw without anything that a strict reader refuses, and whether raw is JSON at all. If raw is valid
// already, or is not JSON, Make returns it uncopied.
//
//   - A half of a surrogate pair (\ud83d alone), a zero character (\u0000) and an invalid UTF-8 byte become U+FFFD.
//   - Of members with the same name the last one stays: most programs read that one.
//   - A number that is too large (1e999) becomes the largest one.
func Make(raw []byte) (valid []byte, is bool) {
	if !json.Valid(raw) {
		return raw, false
	}
	r := reader{in: raw, out: make([]byte, 0, len(raw))}
	r.blank()
	r.value()
	r.blank()
	if !r.changed {
		return raw, true
	}
	return r.out, true
}

// reader copies a valid text of JSON.
type reader struct {
	in      []byte
	at      int
	out     []byte
	changed bool
}

// copy copies the next n bytes.
func (r *reader) copy(n int) {
	r.out = append(r.out, r.in[r.at:r.at+n]...)
	r.at += n
}

func (r *reader) blank() {
	n := 0
	for r.at+n < len(r.in) && bytes.IndexByte([]byte(" \t\r\n"), r.in[r.at+n]) >= 0 {
		n++
	}
	r.copy(n)
}

func (r *reader) value() {
	switch c := r.in[r.at]; {
	case c == '{':
		r.object()
	case c == '[':
		r.array()
	case c == '"':
		r.text()
	case c == '-' || c >= '0' && c <= '9':
		r.number()
	default:
		r.copy(map[byte]int{'t': 4, 'f': 5, 'n': 4}[c])
	}
}

func (r *reader) array() {
	r.copy(1)
	r.blank()
	for r.in[r.at] != ']' {
		r.value()
		r.blank()
		if r.in[r.at] == ',' {
			r.copy(1)
			r.blank()
		}
	}
	r.copy(1)
}

// member is the position of an object's member in the copied text.
type member struct{ from, to int }

func (r *reader) object() {
	r.copy(1)
	r.blank()
	var all []member
	last := map[string]int{} // by name
	twice := false
	for r.in[r.at] != '}' {
		m := member{from: len(r.out)}
		r.text()
		name := string(r.out[m.from:])
		if bytes.IndexByte(r.out[m.from:], '\\') >= 0 { // the same name may be spelt in two ways
			_ = json.Unmarshal(r.out[m.from:], &name)
			name = "\\" + name
		} else {
			name = "\\" + name[1:len(name)-1]
		}
		r.blank()
		r.copy(1) // the colon
		r.blank()
		r.value()
		m.to = len(r.out)
		_, is := last[name]
		twice = twice || is
		last[name] = len(all)
		all = append(all, m)
		r.blank()
		if r.in[r.at] == ',' {
			r.copy(1)
			r.blank()
		}
	}
	if twice {
		r.single(all, last)
	}
	r.copy(1)
}

// single keeps the last member of each name in an object.
func (r *reader) single(all []member, last map[string]int) {
	r.changed = true
	stays := make([]bool, len(all))
	for _, n := range last {
		stays[n] = true
	}
	kept := make([]byte, 0, len(r.out)-all[0].from)
	for n, m := range all {
		if !stays[n] {
			continue
		}
		if len(kept) > 0 {
			kept = append(kept, ',')
		}
		kept = append(kept, r.out[m.from:m.to]...)
	}
	r.out = append(r.out[:all[0].from], kept...)
}

func (r *reader) number() {
	n := 0
	for r.at+n < len(r.in) && bytes.IndexByte([]byte("+-.eE0123456789"), r.in[r.at+n]) >= 0 {
		n++
	}
	if f, err := strconv.ParseFloat(string(r.in[r.at:r.at+n]), 64); err != nil { // it is out of range, and f is an infinity
		r.out = strconv.AppendFloat(r.out, math.Copysign(math.MaxFloat64, f), 'g', -1, 64)
		r.at += n
		r.changed = true
		return
	}
	r.copy(n)
}

func (r *reader) text() {
	r.copy(1)
	for {
		switch c := r.in[r.at]; {
		case c == '"':
			r.copy(1)
			return
		case c == '\\' && r.in[r.at+1] == 'u':
			r.escaped()
		case c == '\\':
			r.copy(2)
		case c < utf8.RuneSelf:
			r.copy(1)
		default:
			if got, n := utf8.DecodeRune(r.in[r.at:]); got != utf8.RuneError || n > 1 {
				r.copy(n)
			} else {
				r.replace(1)
			}
		}
	}
}

// escaped copies \uXXXX, or both halves of a character.
func (r *reader) escaped() {
	first := unit(r.in[r.at:])
	switch {
	case first == 0:
		r.replace(6)
	case !utf16.IsSurrogate(first):
		r.copy(6)
	case utf16.DecodeRune(first, unit(r.in[r.at+6:])) != utf8.RuneError:
		r.copy(12)
	default:
		r.replace(6)
	}
}

// replace writes the replacement for the next n bytes.
func (r *reader) replace(n int) {
	r.out = append(r.out, replacement...)
	r.at += n
	r.changed = true
}

// unit returns the number of \uXXXX at the beginning of b, or -1 if there is none.
func unit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Text returns s without zero characters and invalid UTF-8, so that every reader accepts it.
func Text(s string) string {
	if utf8.ValidString(s) && !bytes.Contains([]byte(s), []byte{0}) {
		return s
	}
	return string(bytes.ReplaceAll(bytes.ToValidUTF8([]byte(s), []byte(replacement)), []byte{0}, []byte(replacement)))
}
