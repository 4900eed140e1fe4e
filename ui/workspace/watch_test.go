package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fantail/inbox/policy"
)

// TestWatch: the directory may come, go and come again, files may be written in place or replaced, and each change is
// reported.
func TestWatch(t *testing.T) {
	root := t.TempDir()
	r, err := NewWatch(root, policy.RulesDir)
	if err != nil {
		t.Fatal(err)
	}
	type read struct {
		good   map[string]policy.Rules
		broken map[string]error
	}
	told := make(chan read, 100)
	r.Serve(func(_ string, f func()) { go f() }, func() {
		good, broken := policy.ReadRules(root)
		told <- read{good, broken}
	})
	until := func(what string, ok func(r read) bool) {
		t.Helper()
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		for {
			select {
			case r := <-told:
				if ok(r) {
					return
				}
			case <-late.C:
				t.Fatalf("not told: %s", what)
			}
		}
	}
	dir := filepath.Join(root, ".agents")
	path := filepath.Join(dir, "main.yml")
	says := func(m policy.Mode) []byte { return []byte("message_handling:\n  default: " + string(m) + "\n") }
	is := func(m policy.Mode) func(read) bool { return func(r read) bool { return r.good["main"].Default == m } }
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		must(os.Mkdir(dir, 0o700), os.WriteFile(path, says(policy.Queue), 0o600))
		until("a new directory with a file", is(policy.Queue))
		must(os.WriteFile(path, says(policy.Fork), 0o600))
		until("a file written in place", is(policy.Fork))
		must(os.WriteFile(path+"~", says(policy.Interrupt), 0o600), os.Rename(path+"~", path))
		until("a file put in place", is(policy.Interrupt))
		must(os.WriteFile(path, []byte("message_handling: [\n"), 0o600))
		until("a broken file", func(r read) bool { return r.broken["main"] != nil })
		must(os.RemoveAll(dir))
		until("no directory", func(r read) bool { return len(r.good)+len(r.broken) == 0 })
	}
	must(os.WriteFile(filepath.Join(root, "other.yml"), nil, 0o600)) // none of its business
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := NewWatch(filepath.Join(root, "nowhere"), policy.RulesDir); err == nil {
		t.Error("a directory that is not there is watched")
	}
}
