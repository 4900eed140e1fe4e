package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Limits of what a row keeps of a call's arguments, in bytes.
const (
	mostText  = 2 << 10
	mostArgs  = 8 << 10
	mostCause = 300 // of why a turn ended
)

// bodies are the arguments that carry the text of a file, a message or a question. A row says how long they were.
const bodies = " content old new text message prompt cancel_when question label why "

// Abridged returns what a row keeps of a call's arguments: JSON with its keys in order, without bodies, and with long
// texts cut.
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
	if s := spelled(abridge("", v)); len(s) <= mostArgs {
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

// sized stands for a text of n bytes.
func sized(n int) string { return fmt.Sprintf("(%d bytes)", n) }

// cut is a text, without its end if it is long.
func cut(s string) string { return clip(s, mostText) }

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%d bytes)", len(s))
}

// spelled is v as JSON, with <, > and & as they are.
func spelled(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // of strings, numbers and their like nothing else is made
	}
	return strings.TrimSuffix(b.String(), "\n")
}
