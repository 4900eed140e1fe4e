package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Limits of a call's arguments in a row, in bytes.
const (
	maxText  = 2 << 10
	maxArgs  = 8 << 10
	maxCause = 300 // of why a turn ended
)

// bodies are the arguments that hold the text of a file, a message or a question. A row has only their length.
const bodies = " content old new text message prompt cancel_when question label why "

// Abridged returns a call's arguments for a row: JSON with its keys in order, without bodies, and with long texts cut.
func Abridged(args json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return spelled(sized(len(args)))
	}
	if _, err := d.Token(); err != io.EOF {
		return spelled(sized(len(args)))
	}
	if s := spelled(abridge("", v)); len(s) <= maxArgs {
		return s
	}
	return spelled(sized(len(args)))
}

func abridge(name string, v any) any {
	switch v := v.(type) {
	case string:
		if strings.Contains(bodies, " "+strings.ToLower(name)+" ") {
			return sized(len(v))
		}
		return cut(v)
	case []any:
		for i := range v {
			v[i] = abridge(name, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = abridge(k, v[k])
		}
	}
	return v
}

// sized replaces a text of n bytes.
func sized(n int) string { return fmt.Sprintf("(%d bytes)", n) }

// cut returns a text, without its end if it is long.
func cut(s string) string { return clip(s, maxText) }

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%d bytes)", len(s))
}

// spelled returns v as JSON, with <, > and & as they are.
func spelled(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // strings, numbers and the like can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
