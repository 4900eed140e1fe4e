package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkErrand measures whole processes beside a host, in turns, as medians in milliseconds: a program that does
// nothing, the errand as it is handed to the host, and the same by another build, which does it itself.
func BenchmarkErrand(b *testing.B) {
	source := filepath.Join(b.TempDir(), "none.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	none := filepath.Join(filepath.Dir(source), "none")
	if out, err := exec.Command("go", "build", "-o", none, source).CombinedOutput(); err != nil {
		b.Fatalf("build the program that does nothing: %v\n%s", err, out)
	}
	for _, args := range []string{"send main hello", "push say hi", "check", "inbox"} {
		b.Run(strings.Fields(args)[0], func(b *testing.B) {
			s := newSite(b)
			s.opens(b)
			alone := twin(b, s.program)
			if out, err := s.command("send", "main", "hello").CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			took := map[string][]time.Duration{}
			for n := range b.N + 1 {
				for _, program := range []string{none, s.program, alone} {
					c := s.other(program, strings.Fields(args)...)
					began := time.Now()
					out, err := c.CombinedOutput()
					if err != nil {
						b.Fatalf("%v: %s", err, out)
					}
					if n > 0 { // the first finds its file on disk
						took[program] = append(took[program], time.Since(began))
					}
				}
			}
			b.ReportMetric(millis(took[none]), "none-ms")
			b.ReportMetric(millis(took[s.program]), "handed-ms")
			b.ReportMetric(millis(took[alone]), "alone-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
