package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	maxBatch = 10_000 // messages of one batch
	maxShown = 200    // bytes of a line that are shown
)

// cleanLine returns a line without the blanks and the byte order mark around its message.
func cleanLine(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
}

// startOf returns the beginning of a line.
func startOf(line []byte) string {
	if len(line) > maxShown {
		return string(line[:maxShown]) + "…"
	}
	return string(line)
}

// isMessage reports whether an invalid line was meant as a message or as part of one. A log line
// that mentions messages is not.
func isMessage(line []byte) bool {
	first := bytes.TrimLeft(line, "[ \t")
	return bytes.Contains(line, []byte(`"jsonrpc"`)) && (first[0] == '{' || bytes.HasPrefix(first, []byte(`"jsonrpc"`)))
}

// readMessages passes the message, or each message of a batch, on a line that is not empty to take.
// An error of take ends it. told gets a text about what was left out of a message. It also gets the
// text of an error without an id, with which a program says that it could not read a message,
// because such an error answers no call.
func readMessages(line []byte, take func(jsonrpc.Message) error, told func(text string)) error {
	one := func(b []byte) error {
		b, left := mendMessage(b)
		m, err := jsonrpc.DecodeMessage(b)
		if err == nil {
			if len(left) > 0 {
				told("what it sent has an odd form, and is left out or filled in: " + strings.Join(left, ", "))
			}
			return take(m)
		}
		if text := orphan(b); text != "" {
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
		if n == maxBatch {
			return fmt.Errorf("a batch of more than %d messages", maxBatch)
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

// orphan describes a message that no call waits for: an error with a null id, or a notification
// without a method; "": b is neither.
func orphan(b []byte) string {
	var m struct {
		Version string           `json:"jsonrpc"`
		ID      *json.RawMessage `json:"id"`
		Method  json.RawMessage  `json:"method"`
		Error   *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch {
	case json.Unmarshal(b, &m) != nil || m.Version != "2.0" || m.ID != nil:
	case m.Error != nil:
		return "it says that it was sent what it does not understand: " + m.Error.Message
	case m.Method != nil:
		return "it sent a notification without a name: " + startOf(b)
	}
	return ""
}
