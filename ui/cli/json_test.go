package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// awkward are bytes that JSON or a terminal makes something else of, whole and cut.
var awkward = []string{
	"é", "€", "日", "🙂", "\U000e0041", "\u2028", "\u2029", "\ufffd", "\u202e", "\u0085", "\x00", "\b", "\t", "\n", "\x1b[31m", "\x1f", "\x7f",
	`"`, `\`, `\"`, `\\`, "</script>", "&", "\xff", "\xc3", "\xe2\x80", "\xf0\x9f\x99", "\xed\xa0\xbd\xed\xb8\x80", "\xf4\x90\x80\x80", "\xc0\xaf",
	strings.Repeat("\x80", 9), strings.Repeat("\xe2\x80\xa8", 9), "a\u0301", " \t",
}

// texts are long texts with something awkward at and around the borders of pieces,
// and random ones.
func texts() (all []string) {
	all = append(all, "", "short", strings.Join(awkward, ""))
	for _, a := range awkward {
		for before := range min(2*len(a)+3, 14) {
			all = append(all, strings.Repeat("x", max(jsonPiece-before, 0))+a+a+"y")
		}
	}
	for range 10 {
		var b strings.Builder
		b.WriteString("word ")
		for size := rand.IntN(4 * jsonPiece); b.Len() < size; {
			if rand.IntN(3) == 0 {
				b.WriteString(strings.Repeat("word ", rand.IntN(400)))
			}
			b.WriteString(awkward[rand.IntN(len(awkward))])
			b.WriteByte(byte(rand.IntN(256)))
		}
		all = append(all, b.String())
	}
	return all
}

// arguments are JSON with blanks, in which the text stands.
func arguments(t *testing.T, text string) json.RawMessage {
	t.Helper()
	key, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	raw := `"` + strings.NewReplacer(`"`, "", `\`, `\ud83d\ude00\"\\`, "\x00", "", "\b", "", "\t", "", "\n", "", "\x1b", "", "\x1f", "").Replace(text) + `"`
	if !json.Valid([]byte(raw)) {
		raw = "[ 1e9 ,\r\n\ttrue ]"
	}
	return json.RawMessage(" { " + string(key) + "\n:\t" + raw + strings.Repeat(" \n", len(text)/3) + " , \"x\": [ { } , [ ], null ] } ")
}

// TestWriteJSON: a line is what encoding/json writes, byte for byte but for what can't
// be seen, whatever it holds and wherever that stands.
func TestWriteJSON(t *testing.T) {
	now, cost, call := time.Now(), 0.1, "call"
	for i, text := range texts() {
		values := []any{text, jUse{"tool_use", "1", "bash", arguments(t, text)}}
		if all := []any{
			lineMessage{Type: "assistant", Message: jMessage{"assistant", "m", []any{jText{"text", text}, jThinking{"thinking", text}}}, Parent: &call, Agent: text},
			lineMessage{Message: jMessage{"user", "", []any{values[1], jResult{"tool_result", "1", text, true}, nil}}},
			lineResult{Type: "result", Error: true, Result: text, Why: text, Turns: 3, Cost: &cost, Usage: jUsage{1, 2, 3, 4}},
			lineInit{Type: "system", Dir: text, Tools: []string{"a", text, ""}},
			lineTask{Prompt: text},
			lineNotice{Text: text},
			jDocument{Name: text, Text: text},
			jLetter{Tags: []string{}, Body: text, Raw: []byte(text), RawPart: []byte(text + "x"), Created: now, Taken: &now},
			jTask{Prompt: text, Timeout: 5},
			jMessage{},
			jUse{},
			struct{}{},
			&cost,
			map[string]string{"k": text},
			[]any(nil), []byte(nil),
		}; i%40 == 0 || strings.HasPrefix(text, "word") {
			values = append(values, all...)
		}
		for _, v := range values {
			for _, html := range []bool{true, false} {
				var want, got bytes.Buffer
				enc := json.NewEncoder(&want)
				enc.SetEscapeHTML(html)
				if err := enc.Encode(v); err != nil {
					t.Fatal(err)
				}
				if err := writeJSON(&got, v, html); err != nil {
					t.Fatal(err)
				}
				if w, g := visible(want.Bytes()), got.Bytes(); !bytes.Equal(w, g) {
					at := 0
					for at < min(len(w), len(g)) && w[at] == g[at] {
						at++
					}
					t.Fatalf("%T, %v, byte %d of %d: %.60q; encoding/json has %.60q", v, html, at, len(w), g[max(at-20, 0):], w[max(at-20, 0):])
				}
			}
		}
	}
}

func TestWriteJSONRefuses(t *testing.T) {
	for name, v := range map[string]any{
		"no JSON": jUse{Input: json.RawMessage("{")}, "empty": jUse{Input: json.RawMessage{}}, "a channel": struct {
			C chan int `json:"c"`
		}{},
	} {
		if err := writeJSON(io.Discard, v, true); err == nil {
			t.Errorf("%s is written", name)
		}
	}
}
