package sandbox

import (
	"os"
	"testing"

	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	if code, acted := cell.Acts(os.Args); acted {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestFind(t *testing.T) {
	for _, k := range []Kind{Bubblewrap, Namespaces, Landlock} {
		w := Find(t.Context(), k)
		t.Log(k, w.Level(), w.Word(), w.Facts, w.Why())
	}
}
