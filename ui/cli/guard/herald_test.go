package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHeralding: what the runtime writes at the end is told in a line and kept whole;
// anything else passes as it is.
func TestHeralding(t *testing.T) {
	t.Parallel()
	const noThread = "no memory for another thread: this process may have no more under ulimit -d 1, or the user no more processes"
	const trace = "\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:1 +0x2\n"
	for _, c := range []struct{ in, passes, why string }{
		{in: ""},
		{"a line\n  another \\n %s", "a line\n  another \\n %s\n", ""},
		{"fatal error: runtime: out of memory\n" + trace, "", "out of memory: this process may have no more under ulimit -d 1"},
		{"runtime: out of memory: cannot allocate 4194304-byte block (1 in use)\nfatal error: out of memory\n" + trace, "", "out of memory: this process may have no more under ulimit -d 1"},
		{"fatal error: runtime: cannot allocate memory" + trace, "", "out of memory: this process may have no more under ulimit -d 1"},
		{"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x0" + trace, "", noThread},
		{"runtime: failed to create new OS thread (have 9 already; errno=11)\nfatal error: newosproc" + trace, "", noThread},
		{"before\nfatal error: concurrent map writes\n" + trace, "before\n", "the program failed (fatal error: concurrent map writes)"},
		{"panic: $(touch x) `touch y` %s\n" + trace, "panic: $(touch x) `touch y` %s\n" + trace, ""},
		{"fatal error: $(touch x) `touch y` %s\n" + trace, "", "the program failed (fatal error: $(touch x) `touch y` %s)"},
		{"SIGSEGV: segmentation violation\nPC=0x0" + trace, "", "the program failed (SIGSEGV: segmentation violation)"},
	} {
		dir := t.TempDir()
		sh := exec.Command("/bin/sh", "-c", heralding, "fantail-herald", dir, "ulimit -d 1")
		sh.Dir, sh.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
		sh.Stdin = strings.NewReader(c.in)
		out, err := sh.CombinedOutput()
		files, e := filepath.Glob(dir + "/*")
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		if c.why == "" {
			if string(out) != c.passes || len(files) > 0 {
				t.Errorf("%q: it says %q; files %q", c.in, out, files)
			}
			continue
		}
		if len(files) != 1 {
			t.Fatalf("%q: it says %q; files %q", c.in, out, files)
		}
		kept, err := os.ReadFile(files[0])
		want := c.passes + "fantail: " + c.why + "; messages and transcripts are on disk; details are in " + files[0] + "\n"
		if err != nil || string(out) != want || strings.TrimSuffix(c.passes+string(kept), "\n") != strings.TrimSuffix(c.in, "\n") {
			t.Errorf("%q: it says %q and keeps %q, %v", c.in, out, kept, err)
		}
	}
}
