package channel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line a program may write, in bytes.
const MaxLine = 1 << 20

// ErrLong is the error of a longer one, which is skipped.
var ErrLong = fmt.Errorf("the line is longer than %d MiB", MaxLine>>20)

// Input is a line that a program writes: something to tell the agent, or the end of what it is told.
type Input struct {
	Text string // what it is told; "": nothing more, so that it ends after its present turn
}

// InputOf reads such a line: {"type":"user_message","text":…} or {"type":"end_input"}. UserMessage and EndInput are the
// same.
func InputOf(line []byte) (in Input, err error) {
	var j struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(line, &j); err != nil {
		return in, fmt.Errorf("the line is not understood: %w", err)
	}
	switch j.Type {
	case "user_message", "UserMessage":
		if j.Text == nil || blank(*j.Text) {
			return in, errors.New("a user_message needs a text")
		}
		return Input{*j.Text}, nil
	case "end_input", "EndInput":
		return in, nil
	case "":
		return in, errors.New("the line has no type: it is user_message or end_input")
	}
	return in, fmt.Errorf("the type %q is not known: it is user_message or end_input", j.Type)
}

// Lines cuts what is read into lines, none longer than [MaxLine].
type Lines struct{ r *bufio.Reader }

// LinesOf returns the lines of r.
func LinesOf(r io.Reader) *Lines { return &Lines{bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line, without its end. The error is [ErrLong] for a line that is skipped, with how it begins,
// and [io.EOF] behind the last.
func (l *Lines) Next() (line []byte, err error) {
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
			long = len(line) > MaxLine+len("\r\n")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		}
		for n := len(line); !long && n > 0 && (line[n-1] == '\n' || line[n-1] == '\r'); n = len(line) {
			line = line[:n-1]
		}
		if long || len(line) > MaxLine {
			return line[:beginning], ErrLong
		}
		return line, nil
	}
}

// beginning is how much of a line that is too long is told.
const beginning = 80
