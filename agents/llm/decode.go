package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode decodes an event into v. It skips a member of the wrong type and keeps the others. It fails only if data is no
// JSON.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) {
		return nil
	}
	return err
}

// Done reports whether the event is the end mark [DONE].
func (e SSEEvent) Done() bool { return bytes.Equal(bytes.TrimSpace(e.Data), []byte("[DONE]")) }

// Number is a whole number. Some servers send it as a text.
type Number struct {
	N     int
	Valid bool // N was sent
}

// UnmarshalJSON never fails.
func (n *Number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		*n = Number{int(f), true}
	}
	return nil
}

// ContentText is a text. Some servers send it as a list of content parts.
type ContentText string

// UnmarshalJSON never fails: a value without text is an empty text.
func (t *ContentText) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		if bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
			*t = ContentText(b[1 : len(b)-1]) // nearly every piece: nothing in it is escaped
			return nil
		}
		_ = json.Unmarshal(b, (*string)(t)) // a text never fails
	case '[':
		var pieces []json.RawMessage
		_ = json.Unmarshal(b, &pieces) // a list never fails
		for _, p := range pieces {
			var piece ContentText
			_ = piece.UnmarshalJSON(p)
			*t += piece
		}
	case '{':
		var piece struct {
			Text ContentText `json:"text"`
		}
		_ = Decode(b, &piece) // an object never fails
		*t = piece.Text
	}
	return nil
}

// DecodeArgs returns the arguments of a call as JSON text. In the documented protocol they are JSON in a string; some servers send
// the object itself. It returns nil for anything else.
func DecodeArgs(raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil
	case raw[0] == '{':
		return raw
	case raw[0] != '"':
		return nil
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is a valid string: it has been parsed
	return []byte(s)
}

// RepairArgs returns the joined pieces of a call's arguments as one value. Some servers send an empty object before the arguments,
// or send them twice: it leaves out empty values and repeated ones.
func RepairArgs(args []byte) []byte {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || json.Valid(args) {
		return args
	}
	d := json.NewDecoder(bytes.NewReader(args))
	var one []byte
	for d.More() {
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return args
		}
		switch {
		case EmptyJSON(v) || bytes.Equal(v, one):
		case one != nil:
			return args
		default:
			one = v
		}
	}
	if one == nil {
		return []byte("{}")
	}
	return one
}

// EmptyJSON reports whether a value is missing, null, zero or empty.
func EmptyJSON(raw json.RawMessage) bool {
	var b bytes.Buffer
	if len(raw) > 64 || json.Compact(&b, raw) != nil {
		return len(raw) == 0
	}
	switch b.String() {
	case "null", `""`, "[]", "{}", "0", "false":
		return true
	}
	return false
}
