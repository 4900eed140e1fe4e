package git

import (
	"errors"
	"strings"
)

var errConfig = errors.New("it can't be read as git does")

// setting is one variable of a git configuration: section.subsection.name, with the subsection as written and the rest
// in lower case.
type setting struct{ section, name, value string }

// parse reads a git configuration as git does. It returns an error for input that git would refuse.
func parse(text string) ([]setting, error) {
	r := &reader{text: strings.ReplaceAll(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\r\n", "\n")}
	var out []setting
	section := ""
	for {
		c, ok := r.next()
		switch {
		case !ok:
			return out, nil
		case c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r':
		case c == '#' || c == ';':
			r.skipLine()
		case c == '[':
			var err error
			if section, err = r.section(); err != nil {
				return nil, err
			}
		case isLetter(c):
			s, err := r.variable(c)
			if err != nil || section == "" {
				return nil, errConfig
			}
			s.section = section
			out = append(out, s)
		default:
			return nil, errConfig
		}
	}
}

// reader reads a configuration byte by byte.
type reader struct {
	text string
	at   int
}

func (r *reader) next() (byte, bool) {
	if r.at == len(r.text) {
		return 0, false
	}
	r.at++
	return r.text[r.at-1], true
}

func (r *reader) skipLine() {
	for {
		if c, ok := r.next(); !ok || c == '\n' {
			return
		}
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isName(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

// section reads the text after a [.
func (r *reader) section() (string, error) {
	var b strings.Builder
	for {
		c, ok := r.next()
		switch {
		case ok && c == ']':
			return b.String(), nil
		case ok && (isName(c) || c == '.'):
			b.WriteString(strings.ToLower(string(c)))
		case ok && (c == ' ' || c == '\t'):
			return r.subsection(b.String())
		default:
			return "", errConfig
		}
	}
}

// subsection reads "name"] with its escapes.
func (r *reader) subsection(section string) (string, error) {
	c, ok := r.next()
	for ok && (c == ' ' || c == '\t') {
		c, ok = r.next()
	}
	if !ok || c != '"' {
		return "", errConfig
	}
	var b strings.Builder
	for {
		c, ok := r.next()
		switch {
		case !ok || c == '\n':
			return "", errConfig
		case c == '"':
			if c, ok = r.next(); !ok || c != ']' {
				return "", errConfig
			}
			return section + "." + b.String(), nil
		case c == '\\':
			if c, ok = r.next(); !ok || c == '\n' {
				return "", errConfig
			}
		}
		b.WriteByte(c)
	}
}

// variable reads a name that begins with c, and its value.
func (r *reader) variable(c byte) (s setting, err error) {
	var b strings.Builder
	ok := true
	for ; ok && isName(c); c, ok = r.next() {
		b.WriteByte(c)
	}
	s.name = strings.ToLower(b.String())
	for ok && (c == ' ' || c == '\t') {
		c, ok = r.next()
	}
	switch {
	case !ok || c == '\n':
		s.value = "true"
		return s, nil
	case c != '=':
		return s, errConfig
	}
	s.value, err = r.value()
	return s, err
}

// value reads to the end of the line, with quotes, escapes, comments and continued lines.
func (r *reader) value() (string, error) {
	var b strings.Builder
	quoted, comment := false, false
	for {
		c, ok := r.next()
		switch {
		case !ok || c == '\n':
			if quoted {
				return "", errConfig
			}
			return strings.TrimSpace(b.String()), nil
		case comment:
		case !quoted && (c == '#' || c == ';'):
			comment = true
		case c == '"':
			quoted = !quoted
		case c == '\\':
			if c, ok = r.next(); !ok {
				return "", errConfig
			}
			if c != '\n' {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
}
