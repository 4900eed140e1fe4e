package sandbox_test

import (
	"os"
	"testing"

	"fantail/tools/sandbox"
	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	if code, acted := cell.Acts(os.Args); acted {
		os.Exit(code)
	}
	if len(os.Args) > 2 && os.Args[1] == escaper {
		os.Exit(tryEscape(os.Args[2], os.Args[3:]))
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
