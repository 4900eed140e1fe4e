package attach

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// awkward are bytes that are special in JSON or to a terminal, whole and cut.
var awkward = []string{
	"é", "€", "日", "🙂", "\U000e0041", "\u2028", "\u2029", "\ufffd", "\u202e", "\u0085", "\x00", "\b", "\t", "\n", "\x1b[31m", "\x1f", "\x7f",
	`"`, `\`, `\"`, `\\`, "</script>", "&", "\xff", "\xc3", "\xe2\x80", "\xf0\x9f\x99", "\xed\xa0\xbd\xed\xb8\x80", "\xf4\x90\x80\x80", "\xc0\xaf",
	strings.Repeat("\x80", 9), strings.Repeat("\xe2\x80\xa8", 9), "a\u0301", " \t",
}

// texts returns long texts with something awkward at and around the borders of pieces, and random ones.
func texts() (all []string) {
	all = append(all, "", "short", strings.Join(awkward, ""))
	for _, a := range awkward {
		for before := range min(2*len(a)+3, 14) {
			all = append(all, strings.Repeat("x", max(piece-before, 0))+a+a+"y")
		}
	}
	for range 10 {
		var b strings.Builder
		b.WriteString("word ")
		for size := rand.IntN(4 * piece); b.Len() < size; {
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

// arguments returns JSON with blanks that contains the text.
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

// Types with each kind of field that lines have.
type (
	call struct {
		ID    string          `json:"id"`
		Input json.RawMessage `json:"input"`
	}
	part struct {
		Type string `json:"type"`
		Text string `json:"text,omitempty"`
	}
	letter struct {
		Type    string     `json:"type"`
		Inner   part       `json:"inner"`
		Parts   []any      `json:"parts"`
		Parent  *string    `json:"parent"`
		To      string     `json:"to,omitempty"`
		Error   bool       `json:"is_error"`
		Count   int        `json:"count,omitempty"`
		Cost    *float64   `json:"cost,omitempty"`
		Tags    []string   `json:"tags"`
		Body    []byte     `json:"body"`
		Rest    []byte     `json:"rest,omitempty"`
		Created time.Time  `json:"created"`
		Taken   *time.Time `json:"taken"`
	}
)

// TestWrite: a line is what encoding/json writes, byte for byte except for invisible characters, whatever it contains
// and wherever.
func TestWrite(t *testing.T) {
	now, cost, name := time.Now(), 0.1, "call"
	for i, text := range texts() {
		values := []any{text, call{"1", arguments(t, text)}}
		if all := []any{
			letter{Type: "assistant", Parts: []any{part{"text", text}, part{text, ""}}, Parent: &name, To: text},
			letter{Parts: []any{values[1], part{"result", text}, nil}, Error: true, Count: 3, Cost: &cost},
			letter{Tags: []string{"a", text, ""}, Inner: part{text, text}},
			letter{Tags: []string{}, Body: []byte(text), Rest: []byte(text + "x"), Created: now, Taken: &now},
			call{},
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
				write := WriteJSON
				if html {
					write = WriteEscapedJSON
				}
				if err := write(&got, v); err != nil {
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

func TestWriteRefuses(t *testing.T) {
	for name, v := range map[string]any{
		"no JSON": call{Input: json.RawMessage("{")}, "empty": call{Input: json.RawMessage{}}, "a channel": struct {
			C chan int `json:"c"`
		}{},
	} {
		if err := WriteEscapedJSON(io.Discard, v); err == nil {
			t.Errorf("%s is written", name)
		}
	}
}
