package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// kept returns a log at that path for the duration of a test.
func kept(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Keep(path, func(_ string, f func()) { go f() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.End)
	return l
}

// TestLog_theTailHasWhatWasJustWritten: what was written to standard error is in the tail at once, though it goes
// through a pipe: the stack of a panic is wanted right after it was printed.
func TestLog_theTailHasWhatWasJustWritten(t *testing.T) {
	l := kept(t, "")
	for i := range 500 {
		line := fmt.Sprintf("line %d of many\n", i)
		fmt.Fprint(os.Stderr, line)
		if got := l.Tail(); !strings.HasSuffix(got, line) {
			t.Fatalf("after %q the tail ends with %q", line, got[max(0, len(got)-40):])
		}
	}
}

// The log is at most two files of 8 MB, with the latest output.
func TestLog_isSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.log")
	standardError(t)
	l := kept(t, path)
	piece := strings.Repeat("x", 1<<20-1) + "\n"
	for range 20 {
		l.Printf("%s", piece)
	}
	fmt.Fprintln(os.Stderr, "the last line")
	if got := l.Tail(); !strings.HasSuffix(got, "the last line\n") {
		t.Errorf("the tail ends with %q", got[max(0, len(got)-40):])
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(text), "the last line\n") || len(text) > logSize {
		t.Errorf("%v: the file has %d bytes", err, len(text))
	}
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() > logSize || info.Size() < logSize/2 {
		t.Errorf("what was set aside: %v, %v", info, err)
	}
}

// standardError restores the test process's own descriptor 2 at the end.
func standardError(t *testing.T) {
	t.Helper()
	fd, err := syscall.Dup(syscall.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer syscall.Close(fd)
		if err := unix.Dup2(fd, syscall.Stderr); err != nil {
			t.Error(err)
		}
	})
}
