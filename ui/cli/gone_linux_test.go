package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestHostWhoseFilesAreGone holds that a host which can record nothing any more ends by itself, with a reason on its screens,
// and that a directory which is gone stays gone.
func TestHostWhoseFilesAreGone(t *testing.T) {
	t.Parallel()
	elsewhere := func(t *testing.T, home string) {
		if err := os.Rename(home, home+"-elsewhere"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(home + "-elsewhere") })
	}
	for _, c := range []struct {
		name string
		does func(t *testing.T, home, data string)
		says string // on the screen; it is short, for the screen breaks lines
		left bool   // the directory is there, with the log under another name
	}{
		{"home deleted", func(t *testing.T, home, _ string) { _ = os.RemoveAll(home) }, "was deleted", false},
		{"data deleted", func(t *testing.T, home, data string) { _ = os.RemoveAll(data) }, "was deleted", false},
		{"home moved", func(t *testing.T, home, _ string) { elsewhere(t, home) }, "is gone", false},
		{"home replaced", func(t *testing.T, home, _ string) {
			elsewhere(t, home)
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is gone", false},
		{"database deleted", func(t *testing.T, _, data string) { _ = os.Remove(filepath.Join(data, "fantail.db")) }, "was deleted", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			screen := open(t, s.command())
			screen.until(t, home, ready)
			pid, data := s.host(t), s.dataFor(t, s.dir)
			c.does(t, s.getenv("HOME"), data)
			if code := screen.exited(t); code != failed {
				t.Errorf("the screen ended with %d", code)
			}
			screen.shows(t, "nothing can be recorded any more")
			screen.shows(t, c.says)
			screen.restored(t)
			if outlives(strconv.Itoa(pid)) {
				t.Errorf("process %d lives on", pid)
			}
			logs, _ := filepath.Glob(filepath.Join(data, "fantail.db.old-*-wal"))
			if _, err := os.Stat(data); c.left != (len(logs) == 1) || c.left != (err == nil) {
				t.Errorf("there is %q, and its directory: %v", logs, err)
			}
		})
	}
}
