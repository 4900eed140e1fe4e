package files

import (
	"fmt"
	"strings"
	"testing"
)

func TestDiff_bounds(t *testing.T) {
	var a, b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&a, "line %d\n", i)
		fmt.Fprintf(&b, "other %d\n", i*7)
	}
	d := Diff("f", a.String(), b.String())
	if len(d) > diffTotal+200 || !strings.Contains(d, "more bytes of the diff are not shown") {
		t.Errorf("a diff of all lines has %d bytes", len(d))
	}
	if d := Diff("f", "", strings.Repeat("x", diffBytes+1)); !strings.Contains(d, "too large") {
		t.Errorf("a huge diff is %.100q", d)
	}
	if d := Diff("f", "a", "a"); d != "" {
		t.Errorf("no change is %q", d)
	}
}
