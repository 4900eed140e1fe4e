package files

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/tools/permission"
	"fantail/tools/secret"
)

// benchTree makes a workspace of so many files of so many lines, fifty in a directory.
func benchTree(b *testing.B, n, lines int) string {
	b.Helper()
	root := b.TempDir()
	text := strings.Repeat("func (t Target) show(name string) string { return name }\n", lines)
	for i := range n {
		p := filepath.Join(root, fmt.Sprintf("d%d/e%d/file%d.go", i/1000, i/50%20, i))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// BenchmarkSearch compares a search without ripgrep with grep's, for a text that no file has.
func BenchmarkSearch(b *testing.B) {
	for _, size := range []struct{ files, lines int }{{5_000, 20}, {4, 200_000}} {
		root := benchTree(b, size.files, size.lines)
		b.Run(fmt.Sprintf("files=%d/own", size.files), func(b *testing.B) {
			tr := &Tree{Root: root, Barred: func(string) string { return "" }}
			before := cpu(b, syscall.RUSAGE_SELF)
			defer func() { b.ReportMetric(float64(cpu(b, syscall.RUSAGE_SELF)-before)/1e6/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				t, err := tr.Target(".", permission.Read)
				if err != nil {
					b.Fatal(err)
				}
				q := SearchQuery{Pattern: "nowhere", Limit: 200}
				if err := q.Compile(); err != nil {
					b.Fatal(err)
				}
				if _, err := q.Walk(b.Context(), tr.Walk(t), "", &secret.Keys{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("files=%d/grep", size.files), func(b *testing.B) {
			before := cpu(b, syscall.RUSAGE_CHILDREN)
			defer func() { b.ReportMetric(float64(cpu(b, syscall.RUSAGE_CHILDREN)-before)/1e6/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				if err := exec.Command("grep", "-rn", "nowhere", root).Run(); err == nil {
					b.Fatal("grep found something")
				}
			}
		})
	}
}

// cpu is the processor time used so far by this process, or by the commands that it ran.
func cpu(b *testing.B, who int) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
