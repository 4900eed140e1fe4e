package sandbox_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"fantail/tools/sandbox"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	if os.Getenv(concealed) != "" {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			panic(err)
		}
	}
	if len(os.Args) > 2 && os.Args[1] == escaper {
		syscall.Exit(tryEscape(os.Args[2], os.Args[3:])) // at its end the race detector sleeps for a second
	}
	os.Exit(m.Run())
}

// concealed names the kinds that a program finds into which nobody can look, as the host is one.
const concealed = "FE_CONCEALED"

// What a program is found that conceals itself, and that is not root: its own files of /proc are closed to it.
func TestFindConcealed(t *testing.T) {
	want := os.Getenv(concealed)
	if want == "" {
		var works []string
		for _, k := range kinds {
			if sandbox.Find(t.Context(), k).Level() != sandbox.None {
				works = append(works, string(k))
			}
		}
		asUser(t, "^TestFindConcealed$", os.Getenv("PATH"), concealed+"="+strings.Join(works, ","))
		return
	}
	for k := range strings.SplitSeq(want, ",") {
		if w := sandbox.Find(t.Context(), sandbox.Kind(k)); w.Level() == sandbox.None {
			t.Errorf("%s: %s", k, w.Why())
		}
	}
}

func TestFind(t *testing.T) {
	for _, k := range kinds {
		w := sandbox.Find(t.Context(), k)
		t.Log(k, w.Level(), w.Word(), w.Facts, w.Why())
		if (w.Level() == sandbox.None) != (len(w.Facts) == 0) || (w.Level() == sandbox.None) != (w.Why() != "") {
			t.Errorf("%s: level %s with the facts %v, and why there is no better: %q", k, w.Level(), w.Facts, w.Why())
		}
	}
	if cell.ABI() >= 6 && sandbox.Find(t.Context(), sandbox.Landlock).Level() != sandbox.Detects {
		t.Error("this kernel has Landlock, and the wall of it alone was not found")
	}
}
