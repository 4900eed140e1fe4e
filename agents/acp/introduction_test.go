package acp

import (
	"errors"
	"strings"
	"testing"

	"fantail/agents/llm"
)

// TestSaid: who is asked to log in is told the command for it, or what the agent says of that.
func TestSaid(t *testing.T) {
	asks := &LoginError{Vendor: "fake", AuthMethods: []AuthMethod{{ID: "a"}, {ID: "b", Description: Optional[string]{V: "Run fake auth\nin a terminal", OK: true}}}}
	for login, want := range map[string]string{
		"fake login": "it asks you to log in first, which this program never does for you. Run fake login in a terminal of yours, then prompt again.",
		"":           "it asks you to log in first, which this program never does for you. It says: Run fake auth in a terminal",
	} {
		err := (&vendorSession{vendor: NewVendor(VendorOptions{Name: "fake", Login: login})}).userError(asks)
		if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Kind != llm.Auth || e.Message != want || !errors.Is(err, asks) {
			t.Errorf("%v", err)
		}
	}
	if err := (&vendorSession{vendor: NewVendor(VendorOptions{Name: "fake"})}).userError(errors.New("other")); !strings.Contains(err.Error(), "other") {
		t.Error(err)
	}
}

// TestEnters: people are told who carries out the turns, and what holds it.
func TestEnters(t *testing.T) {
	for _, c := range []struct {
		boxed, holds bool
		want         string
	}{
		{true, false, "in a sandbox of this program: it writes the workspace and what it keeps, and reaches any network."},
		{true, true, "in a sandbox of this program, in which its own does not work: its commands run only in a mode that does without."},
		{false, true, "as you, in no sandbox of this program: its own, which works in no other, holds its commands."},
		{false, false, "as you, in no sandbox of this program."},
	} {
		v := NewVendor(VendorOptions{Name: "fake", OwnSandbox: c.holds})
		v.o.Program.Argv = []string{"/opt/fake", "acp"}
		if got := (&vendorSession{vendor: v, sandboxed: c.boxed}).introduction(&Session{}); !strings.HasPrefix(got, "fake carries out the turns here (/opt/fake acp), "+c.want) {
			t.Error(got)
		}
	}
}
