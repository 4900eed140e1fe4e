package cells

import (
	"strings"
	"testing"
)

func TestASCII(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain \x1b[1mbold\x1b[m", "plain \x1b[1mbold\x1b[m"},
		{"╭─ ⚠ asks", "+- ! asks"},
		{"\x1b[31m✗\x1b[m failed…", "\x1b[31mx\x1b[m failed."},
		{"日本 e\u0301 👩‍👧", "???? e ??"},
		{"é", "?"},
	} {
		got := ASCII(c.in)
		if got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
		if Width(got) != Width(c.in) {
			t.Errorf("%q is %d cells wide, was %d", got, Width(got), Width(c.in))
		}
		if strings.IndexFunc(got, func(r rune) bool { return r > '~' }) >= 0 {
			t.Errorf("%q is not ASCII", got)
		}
	}
}
