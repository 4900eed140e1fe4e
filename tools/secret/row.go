package secret

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Row is Text for rows that the program stores: JSON stays JSON, and a single word in lower case is unchanged. Such
// words are the program's own (a state, a kind), and a key may happen to equal one; if a word came from elsewhere, Text
// has seen it before.
func (k *Keys) Row(text string) string {
	if !k.Within(text) || oneWord(text) {
		return text
	}
	return k.inside(text, k.Row)
}

// JSON is Text for each string in a JSON text.
func (k *Keys) JSON(text string) string {
	if !k.Within(text) {
		return text
	}
	return k.inside(text, k.Text)
}

// inside applies leaf to each string in a JSON object or array, and Text to other text.
func (k *Keys) inside(text string, leaf func(string) string) string {
	if first := text[0]; first == '{' || first == '[' {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if json.Valid([]byte(text)) && d.Decode(&v) == nil {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if e.Encode(each(v, leaf)) == nil {
				return strings.TrimSuffix(b.String(), "\n")
			}
		}
	}
	return k.Text(text)
}

// each applies leaf to each string in a decoded value.
func each(v any, leaf func(string) string) any {
	switch v := v.(type) {
	case string:
		return leaf(v)
	case []any:
		for i := range v {
			v[i] = each(v[i], leaf)
		}
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, inner := range v {
			kept[leaf(name)] = each(inner, leaf)
		}
		return kept
	}
	return v
}

// longestWord is the length of the program's longest word of that sort, in bytes.
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
