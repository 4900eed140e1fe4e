package mcpconfig

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// spot is a place in a text, from 1.
type spot struct{ line, column int }

// member is something at the top of a JSON object.
type member struct {
	key  string
	at   spot   // of the key
	data []byte // its value, if it was wanted
	from spot   // where that begins
}

const (
	maxKey     = 200 // bytes of a key that are stored
	maxMembers = 500 // that are returned
)

// errMiddle is the error of a file that ends too early.
var errMiddle = errors.New("the file ends in the middle")

// scan reads a JSON object and returns its top-level members without storing the rest: the values of the wanted key,
// each of at most most bytes, and the names of the others. After an error it returns what was read before.
func scan(r io.Reader, wanted string, most int) (all []member, at spot, err error) {
	s := scanner{r: bufio.NewReaderSize(r, 64<<10), at: spot{1, 0}, most: most}
	err = s.object(func(m member) {
		if len(all) < maxMembers {
			all = append(all, m)
		} else if m.data != nil { // the last value counts
			all[maxMembers-1] = m
		}
	}, wanted)
	return all, s.at, err
}

// scanner reads bytes and knows where it is.
type scanner struct {
	r    *bufio.Reader
	at   spot // of the byte that was read last
	ends bool // that byte ended a line
	most int

	keeps bool // store the bytes that are read
	kept  []byte
}

func (s *scanner) next() (byte, error) {
	b, err := s.r.ReadByte()
	if err != nil {
		if err == io.EOF {
			err = errMiddle
		}
		return 0, err
	}
	if s.ends {
		s.at.line, s.at.column = s.at.line+1, 0
	}
	s.at.column++
	s.ends = b == '\n'
	if s.keeps {
		if s.kept = append(s.kept, b); len(s.kept) > s.most {
			return 0, fmt.Errorf("it has more than %d bytes: so many are not read", s.most)
		}
	}
	return b, nil
}

// token returns the next byte that is no blank.
func (s *scanner) token() (byte, error) {
	for {
		b, err := s.next()
		if err != nil || b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, err
		}
	}
}

// object reads the object at the top.
func (s *scanner) object(each func(m member), wanted string) error {
	if mark, _ := s.r.Peek(3); string(mark) == "\ufeff" {
		_, _ = s.r.Discard(3)
	}
	if err := s.want('{', "an object { } was expected"); err != nil {
		return err
	}
	for {
		b, err := s.token()
		switch {
		case err != nil:
			return err
		case b == '}':
			return nil
		case b != '"':
			return errors.New("a name in quotes was expected")
		}
		m := member{at: s.at}
		if m.key, err = s.key(); err != nil {
			return err
		}
		if err := s.want(':', "a colon was expected"); err != nil {
			return err
		}
		if b, err = s.token(); err != nil {
			return err
		}
		m.from = s.at
		if m.key == wanted {
			s.kept, s.keeps = append(s.kept[:0:0], b), true
		}
		b, err = s.value(b)
		if m.data, s.kept, s.keeps = s.kept, nil, false; err != nil {
			return err
		}
		each(m)
		switch b {
		case '}':
			return nil
		case ',':
		default:
			return errors.New("a comma was expected")
		}
	}
}

func (s *scanner) want(b byte, otherwise string) error {
	is, err := s.token()
	if err == nil && is != b {
		err = errors.New(otherwise)
	}
	return err
}

// key reads a name, of which the opening quote was read.
func (s *scanner) key() (string, error) {
	raw := []byte{'"'}
	for {
		b, err := s.next()
		if err != nil {
			return "", err
		}
		if len(raw) <= maxKey {
			raw = append(raw, b)
		}
		if b == '\\' {
			if b, err = s.next(); err != nil {
				return "", err
			}
			raw = append(raw, b)
		} else if b == '"' {
			break
		}
	}
	key := ""
	if len(raw) > maxKey {
		return string(raw[1:maxKey]), nil // too long to be a wanted name
	}
	if json.Unmarshal(raw, &key) != nil {
		return "", errors.New("a name in quotes was expected")
	}
	return key, nil
}

// value skips a value that begins with b, and returns the first byte after it that is no blank. It stores at most the
// value.
func (s *scanner) value(b byte) (after byte, err error) {
	switch b {
	case '{', '[':
		err = s.nested()
	case '"':
		err = s.text()
	case ',', '}', ']', ':':
		err = errors.New("a value was expected")
	default: // a number or a word, which what comes after it ends
		for err == nil && b != ',' && b != '}' && b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			b, err = s.next()
		}
		if n := len(s.kept); err == nil && n > 0 {
			s.kept = s.kept[:n-1]
		}
		if s.keeps = false; err != nil || b == ',' || b == '}' {
			return b, err
		}
	}
	if s.keeps = false; err != nil {
		return 0, err
	}
	return s.token()
}

// nested skips the content of brackets, the first of which was read.
func (s *scanner) nested() error {
	for depth := 1; depth > 0; {
		b, err := s.next()
		if err != nil {
			return err
		}
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			if err := s.text(); err != nil {
				return err
			}
		}
	}
	return nil
}

// text skips a string whose opening quote was read.
func (s *scanner) text() error {
	for {
		b, err := s.next()
		if err == nil && b == '\\' {
			b, err = s.next()
			if err == nil {
				continue
			}
		}
		if err != nil || b == '"' {
			return err
		}
	}
}
