package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/ui/uitest/adapters"
)

// TestAdapters_two: an agent of the protocol's own library speaks version 2 of it, which that library checks on both ways: text, a
// call, a permission that nobody is there to give, and a session that goes on in another process.
func TestAdapters_two(t *testing.T) {
	t.Parallel()
	path := adapters.Path(t)
	s := newSite(t)
	script, err := filepath.Abs("../../.ci/vendors/two.mjs")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail", "config.toml"), fmt.Sprintf(
		"[agents.two]\ncommand = [%q, %q, %q]\nprotocol = 2\nsandbox = \"off\"\n", filepath.Join(path, "node"), script, os.Getenv("FANTAIL_TEST_ADAPTERS")))
	for i, c := range []struct{ prompt, want string }{
		{"say hello\nread", `"text":"hello (said)"`},
		{"ask", "it did not run"},
		{"say more", `"text":"more (said)"`},
	} {
		args := []string{"-p", "--agent", "two", "--output-format", "stream-json", c.prompt}
		if i > 0 {
			args = append(args, "-c")
		}
		out, errs, code := s.run(t, "", args...)
		if code != ok || !strings.Contains(out, c.want) {
			t.Errorf("%q: exit code %d: %s%s", c.prompt, code, out, errs)
		}
		if i == 0 && !strings.Contains(out, "alpha beta") {
			t.Errorf("its call is not there: %s", out)
		}
		if i > 0 && strings.Contains(errs, "does not know its session") {
			t.Errorf("its session was lost: %s", errs)
		}
	}
}
