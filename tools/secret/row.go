package secret

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Row is Text for what a program keeps of itself: JSON stays JSON, and a single word
// in lower case stays what it is. Such words are the program's own (a state, a kind),
// and a key may happen to be one of them; where one came from elsewhere, Text has
// seen it before.
func (k *Keys) Row(text string) string {
	if !k.Within(text) || oneWord(text) {
		return text
	}
	if first := text[0]; first == '{' || first == '[' {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if json.Valid([]byte(text)) && d.Decode(&v) == nil {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if e.Encode(k.value(v)) == nil {
				return strings.TrimSuffix(b.String(), "\n")
			}
		}
	}
	return k.Text(text)
}

// value is Row for a decoded value.
func (k *Keys) value(v any) any {
	switch v := v.(type) {
	case string:
		return k.Row(v)
	case []any:
		for i := range v {
			v[i] = k.value(v[i])
		}
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, inner := range v {
			kept[k.Row(name)] = k.value(inner)
		}
		return kept
	}
	return v
}

// longestWord is that of the words a program keeps of itself, in bytes.
const longestWord = 24

func oneWord(s string) bool {
	if len(s) > longestWord {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
