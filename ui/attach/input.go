package attach

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fantail/tools/files"
)

// MaxLine is the longest line a program may write, in bytes.
const MaxLine = 1 << 20

// ErrLong is the error of a longer one, which is skipped.
var ErrLong = fmt.Errorf("the line is longer than %d MiB", MaxLine>>20)

// Input is a line from a program: a text for the agent, or the end of its input.
type Input struct {
	Text string // for the agent; "": no more follows, so that it ends after its present turn
}

// InputOf parses such a line: {"type":"user_message","text":…} or {"type":"end_input"}. The types UserMessage and
// EndInput mean the same.
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

// beginning is how much of a line that is too long is shown in the error.
const beginning = 80

// ReadLine reads the next line, without its end. It skips a line that is too long and returns [ErrLong] with its
// beginning, and [io.EOF] after the last.
func ReadLine(r *bufio.Reader) (line []byte, err error) {
	line, rest, err := files.ReadLine(context.Background(), r, MaxLine+len("\r"))
	if err != nil && len(line) == 0 {
		return nil, err
	}
	if rest == 0 {
		line = bytes.TrimRight(line, "\r")
	}
	if rest > 0 || len(line) > MaxLine {
		return line[:beginning], ErrLong
	}
	return line, nil
}
