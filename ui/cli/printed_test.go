package cli

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"fantail/ui/attach"
)

// TestLinesAreSpelledAsUsual: each kind of line is what encoding/json makes of it.
func TestLinesAreSpelledAsUsual(t *testing.T) {
	now := time.Now()
	for _, v := range []any{
		jDocument{Name: "n", Text: "x"},
		jLetter{Tags: []string{"a"}, Body: "x", Raw: []byte("\xff"), RawPart: []byte("yz"), Created: now, Taken: &now},
		jLetter{},
		jTask{Prompt: "x", Timeout: 5, After: []string{"a", "b"}, Started: &now},
	} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := attach.WriteJSON(&got, v); err != nil || got.String() != string(want)+"\n" {
			t.Errorf("%T: %s, %v; want %s", v, got.String(), err, want)
		}
	}
}
