// Package frames reads what a program writes on one line where messages of JSON-RPC are meant.
//
// Does: take messages out of a line, one or a batch, as some versions of the Model Context Protocol have them; tell what was
// meant as one from what was not.
//
// Does not: read from a program, answer.
//
// Imports: .
package frames

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	mostBatch = 10_000 // messages of one batch
	mostShown = 200    // bytes of a line that are shown
)

// Clean is a line without what stands around its message: blanks, and the mark with which some systems begin text.
func Clean(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
}

// Start is the first bytes of a line.
func Start(line []byte) string {
	if len(line) > mostShown {
		return string(line[:mostShown]) + "…"
	}
	return string(line)
}

// Meant reports whether a line that is no message was meant as one, or as a part of one. What a program says of its
// messages in words is not.
func Meant(line []byte) bool {
	first := bytes.TrimLeft(line, "[ \t")
	return bytes.Contains(line, []byte(`"jsonrpc"`)) && (first[0] == '{' || bytes.HasPrefix(first, []byte(`"jsonrpc"`)))
}

// Read hands on what stands on a line, which is not empty: a message, or a batch of them, one after the other. An error of
// take ends it. told hears what a program says that could not read what it was sent: it answers nothing.
func Read(line []byte, take func(jsonrpc.Message) error, told func(text string)) error {
	one := func(b []byte) error {
		m, err := jsonrpc.DecodeMessage(b)
		if err == nil {
			return take(m)
		}
		if text, is := complaint(b); is {
			told(text)
			return nil
		}
		return err
	}
	if line[0] != '[' {
		return one(line)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return err
	}
	n := 0
	for ; d.More(); n++ {
		var b json.RawMessage
		if n == mostBatch {
			return fmt.Errorf("a batch of more than %d messages", mostBatch)
		}
		if err := d.Decode(&b); err != nil {
			return err
		}
		if err := one(b); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if n == 0 {
		return errors.New("a batch of nothing")
	}
	return nil
}

// complaint is an error that answers no request, as its number is null.
func complaint(b []byte) (text string, is bool) {
	var m struct {
		Version string           `json:"jsonrpc"`
		ID      *json.RawMessage `json:"id"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(b, &m) != nil || m.Version != "2.0" || m.ID != nil || m.Error == nil {
		return "", false
	}
	return m.Error.Message, true
}
