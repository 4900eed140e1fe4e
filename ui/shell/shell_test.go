package shell

import (
	"bytes"
	"testing"
)

func TestWarnSteersNoTerminal(t *testing.T) {
	var b bytes.Buffer
	Warn(&b, "open %s: %v", "a\x1b[2Jb", "no\u202e")
	if want := "fantail: open ab: no<U+202E>\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
