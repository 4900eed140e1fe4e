package sandbox_test

import (
	"os"
	"syscall"
	"testing"

	"fantail/tools/sandbox"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	if len(os.Args) > 2 && os.Args[1] == escaper {
		syscall.Exit(tryEscape(os.Args[2], os.Args[3:])) // at its end the race detector sleeps for a second
	}
	os.Exit(m.Run())
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
