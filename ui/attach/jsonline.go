package attach

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// piece is how many bytes of a long text are encoded at once.
const piece = 32 << 10

// jsonLine writes a value as encoding/json spells it and ends the line, with two differences: characters that control
// a terminal are escaped (see visible), and a long text is written in pieces, so that the line is never in memory as a
// whole. A struct's fields have tags with a name and at most omitempty.
type jsonLine struct {
	out  *bufio.Writer
	html bool // < > & are escaped
	enc  *json.Encoder
	buf  bytes.Buffer // what enc wrote
}

// WriteJSON writes v as a line.
func WriteJSON(w io.Writer, v any) error { return (&jsonLine{}).write(w, v) }

// WriteEscapedJSON is Write with < > & escaped, as encoding/json does by default.
func WriteEscapedJSON(w io.Writer, v any) error { return (&jsonLine{html: true}).write(w, v) }

func (l *jsonLine) write(w io.Writer, v any) error {
	l.out = bufio.NewWriterSize(w, piece)
	l.enc = json.NewEncoder(&l.buf)
	l.enc.SetEscapeHTML(l.html)
	if err := l.value(reflect.ValueOf(v)); err != nil {
		return err
	}
	l.put("\n")
	return l.out.Flush()
}

// put writes JSON; the writer remembers an error until the line is flushed.
func (l *jsonLine) put(s string) { _, _ = l.out.WriteString(s) }

func (l *jsonLine) value(v reflect.Value) error {
	switch k := v.Kind(); {
	case k == reflect.Invalid:
		l.put("null")
		return nil
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		return l.raw(v.Bytes())
	case v.Type().Implements(reflect.TypeFor[json.Marshaler]()):
		return l.short(v.Interface(), 0)
	case k == reflect.Pointer, k == reflect.Interface:
		return l.value(v.Elem())
	case k == reflect.Struct:
		return l.object(v)
	case k == reflect.String:
		return l.text(v.String())
	case k == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() == reflect.Uint8:
		l.put(`"`)
		base := base64.NewEncoder(base64.StdEncoding, l.out)
		_, err := base.Write(v.Bytes())
		err = errors.Join(err, base.Close())
		l.put(`"`)
		return err
	case k == reflect.Slice && v.Len() > 0:
		between := "["
		for i := range v.Len() {
			l.put(between)
			if err := l.value(v.Index(i)); err != nil {
				return err
			}
			between = ","
		}
		l.put("]")
		return nil
	}
	return l.short(v.Interface(), 0)
}

func (l *jsonLine) object(v reflect.Value) error {
	between := "{"
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		field := v.Field(i)
		if option == "omitempty" && (field.IsZero() || field.Kind() == reflect.Slice && field.Len() == 0) {
			continue
		}
		l.put(between)
		if err := l.short(name, 0); err != nil {
			return err
		}
		l.put(":")
		if err := l.value(field); err != nil {
			return err
		}
		between = ","
	}
	if between == "{" {
		l.put(between)
	}
	l.put("}")
	return nil
}

func (l *jsonLine) text(s string) error {
	l.put(`"`)
	for len(s) > 0 {
		n := pieceEnd(s)
		if err := l.short(s[:n], len(`"`)); err != nil {
			return err
		}
		s = s[n:]
	}
	l.put(`"`)
	return nil
}

// short writes a value that is not long, leaving out without bytes at both ends.
func (l *jsonLine) short(v any, without int) error {
	l.buf.Reset()
	if err := l.enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	whole := bytes.TrimSuffix(l.buf.Bytes(), []byte("\n"))
	_, err := l.out.Write(visible(whole[without : len(whole)-without]))
	return err
}

// raw writes JSON without the blanks between its parts.
func (l *jsonLine) raw(m []byte) error {
	if m == nil {
		m = []byte("null")
	}
	if !json.Valid(m) {
		return errors.New("write JSON: it is none")
	}
	var inside, escaped bool // a string, after a backslash
	for len(m) > 0 {
		n := pieceEnd(m)
		l.buf.Reset()
		for _, c := range m[:n] {
			switch {
			case inside:
				inside, escaped = c != '"' || escaped, c == '\\' && !escaped
			case c == ' ', c == '\t', c == '\r', c == '\n':
				continue
			default:
				inside = c == '"'
			}
			if l.html && (c == '<' || c == '>' || c == '&') {
				fmt.Fprintf(&l.buf, `\u%04x`, c)
			} else {
				l.buf.WriteByte(c)
			}
		}
		if _, err := l.out.Write(visible(l.buf.Bytes())); err != nil {
			return err
		}
		m = m[n:]
	}
	return nil
}

// pieceEnd returns where the next piece of a text ends: between two characters.
func pieceEnd[T string | []byte](s T) int {
	if len(s) <= piece {
		return len(s)
	}
	for n := piece; n > piece-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return piece // there is no character
}

// visible returns a piece of JSON with the same meaning and no control characters: non-ASCII characters that are
// invisible are escaped.
func visible(line []byte) []byte {
	if !bytes.ContainsFunc(line, unseen) {
		return line
	}
	out := make([]byte, 0, len(line)+64)
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case !unseen(r):
			out = append(out, line[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		line = line[n:]
	}
	return out
}

func unseen(r rune) bool { return r >= 0x7f && (r == utf8.RuneError || !unicode.IsPrint(r)) }
