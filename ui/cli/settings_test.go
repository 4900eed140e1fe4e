package cli_test

import (
	"strings"
	"testing"

	"fantail/store/config"
	"fantail/tools/permission"
	"fantail/ui/cli"
)

// TestReread: rules hold at once, what a screen reads on new screens, the rest after a restart; a bad
// rule changes nothing.
func TestReread(t *testing.T) {
	t.Parallel()
	was, is := config.Default(), config.Default()
	gate, err := cli.Gate(was, func() permission.Sandbox { return permission.NoSandbox })
	if err != nil {
		t.Fatal(err)
	}
	if text, err := cli.Reread(was, is, gate); text != "" || err != nil {
		t.Errorf("nothing changed: %q, %v", text, err)
	}
	is.Allow, is.Theme, is.MaxRunning = []string{"bash(go vet *)"}, "light", 3
	text, err := cli.Reread(was, is, gate)
	if want := "the configuration changed: allow now; theme on screens from now on; max_running after /restart"; text != want || err != nil {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if v := gate.Decide(permission.Action{Kind: permission.Command, Command: "go vet ./...", Dir: "/w"}); v.Decision != permission.Allow {
		t.Errorf("the new rule: %+v", v)
	}
	bad := is
	bad.Allow = []string{"nonsense("}
	if _, err := cli.Reread(is, bad, gate); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a bad rule: %v", err)
	}
}
