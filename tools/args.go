package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxTitle is the longest title, in characters.
const maxTitle = 200

// decode fills T from a call's arguments. The error tells the model what to fix; then v is empty.
func decode[T any](c call) (v T, err error) {
	raw := bytes.TrimSpace(c.args)
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	v, err = exactly[T](raw)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		if meant, ok := exactly[T](c.tool.retype(raw)); ok == nil {
			return meant, nil
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, errNoNames):
		err = fmt.Errorf("%w; the arguments are %s", err, c.tool.arguments())
	case mistyped != nil && mistyped.Field != "":
		err = fmt.Errorf("the argument %q must be %s, not %s", mistyped.Field, kind(mistyped.Type.String()), mistyped.Value)
	case mistyped != nil:
		err = fmt.Errorf("the arguments must be an object, not %s", mistyped.Value)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		err = fmt.Errorf("there is no argument %s; the arguments are %s", strings.TrimPrefix(err.Error(), "json: unknown field "), c.tool.arguments())
	default:
		err = fmt.Errorf("the arguments are not valid JSON (%w); send an object with %s", err, c.tool.arguments())
	}
	return v, err
}

// exactly reads one object with no field that T lacks.
func exactly[T any](raw []byte) (T, error) {
	var v, none T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return none, err
	}
	if _, end := d.Token(); !errors.Is(end, io.EOF) {
		return none, errors.New("there is text behind the arguments")
	}
	return v, nil
}

// kind names a Go type for the model.
func kind(t string) string {
	switch t {
	case "int", "int64":
		return "a whole number"
	case "bool":
		return "true or false"
	case "string":
		return "a string"
	}
	if strings.HasPrefix(t, "[]") {
		return "an array"
	}
	return "an object"
}

// arguments lists the tool's arguments.
func (t *tool) arguments() string {
	var s struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if json.Unmarshal([]byte(t.schema), &s) != nil || len(s.Properties) == 0 {
		return "none"
	}
	var names []string
	for n := range s.Properties {
		if !slices.Contains(s.Required, n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return strings.Join(append(s.Required, names...), ", ")
}

// loose has the arguments as received, for titles.
type loose map[string]any

// word returns a string argument, or "".
func (a loose) word(name string) string {
	s, _ := a[name].(string)
	return s
}

// words returns an argument that is a string or an array of them.
func (a loose) words(name string) []string {
	list, _ := a[name].([]any)
	if list == nil {
		return []string{a.word(name)}
	}
	ws := make([]string, 0, len(list))
	for _, v := range list {
		s, _ := v.(string)
		ws = append(ws, s)
	}
	return ws
}

// number returns a numeric argument, or 0.
func (a loose) number(name string) int {
	f, _ := a[name].(float64)
	return int(f)
}

// Line makes text one line without characters that a terminal interprets.
func Line(s string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range strings.TrimSpace(s) {
		if n == maxTitle {
			b.WriteRune('…')
			break
		}
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case !unicode.IsPrint(r):
			r = '\uFFFD'
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// between checks a whole number.
func between(name string, v, low, high int) error {
	if v < low || v > high {
		return fmt.Errorf("the argument %q must be between %d and %d, not %d", name, low, high, v)
	}
	return nil
}

// need checks that a string is not empty.
func need(name, v string) error {
	if v == "" {
		return fmt.Errorf("the argument %q is missing", name)
	}
	return nil
}

// retype converts values to the schema's type if their meaning is clear: 30.0 or "30" becomes 30, "true" becomes true,
// one string becomes an array of one.
func (t *tool) retype(args json.RawMessage) json.RawMessage {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(t.schema), &schema) != nil || json.Unmarshal(args, &m) != nil {
		return args
	}
	for name, v := range m {
		text := ""
		quoted := json.Unmarshal(v, &text) == nil && string(v) != "null"
		if !quoted {
			text = string(v)
		}
		switch schema.Properties[name].Type {
		case "integer":
			if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
				m[name] = strconv.AppendInt(nil, int64(f), 10)
			}
		case "boolean", nil: // nil: it is accepted, not advertised
			if b := strings.ToLower(text); b == "true" || b == "false" {
				m[name] = json.RawMessage(b)
			}
		case "array":
			var list []json.RawMessage
			switch {
			case quoted && json.Unmarshal([]byte(text), &list) == nil:
				m[name] = json.RawMessage(text)
			case quoted:
				m[name] = slices.Concat([]byte("["), v, []byte("]"))
			}
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return args
	}
	return out
}

// oneOrMore is a string, or an array of them.
type oneOrMore []string

var errNoNames = errors.New("names and tags must be a string or an array of strings")

// UnmarshalJSON reads either form.
func (o *oneOrMore) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*o = []string{one}
		return nil
	}
	if json.Unmarshal(b, (*[]string)(o)) != nil {
		return errNoNames
	}
	return nil
}
