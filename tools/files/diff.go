package files

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	diffBytes = 1 << 20  // the largest file that is shown as a diff
	diffTotal = 64 << 10 // the largest diff
)

// Diff shows a change as a unified diff.
func Diff(name, before, after string) string {
	if before == after {
		return ""
	}
	if len(before) > diffBytes || len(after) > diffBytes {
		return fmt.Sprintf("--- %s\n+++ %s\n(too large to show: %d bytes become %d)\n", name, name, len(before), len(after))
	}
	d := udiff.Unified(name, name, before, after)
	if len(d) > diffTotal {
		cut := strings.LastIndexByte(d[:diffTotal], '\n') + 1
		d = d[:cut] + fmt.Sprintf("(%d more bytes of the diff are not shown)\n", len(d)-cut)
	}
	return d
}

// DiffCounts returns how many lines a diff adds and removes.
func DiffCounts(d string) string {
	plus, minus := 0, 0
	for i, l := range strings.Split(d, "\n") {
		switch {
		case i < 2:
		case strings.HasPrefix(l, "+"):
			plus++
		case strings.HasPrefix(l, "-"):
			minus++
		}
	}
	return fmt.Sprintf("+%d -%d", plus, minus)
}

// SketchEdits shows edits without the content of their file.
func SketchEdits(name string, edits []Edit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	for _, ed := range edits {
		b.WriteString("@@ @@\n")
		for _, l := range strings.Split(strings.TrimSuffix(ed.Old, "\n"), "\n") {
			b.WriteString("-" + l + "\n")
		}
		if ed.New != "" {
			for _, l := range strings.Split(strings.TrimSuffix(ed.New, "\n"), "\n") {
				b.WriteString("+" + l + "\n")
			}
		}
	}
	return b.String()
}
