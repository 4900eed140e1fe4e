package slash

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	for in, want := range map[string]string{
		"chekc": "check", "pus": "push", "qeue": "queue", "quite": "quit", "recieve": "receive", "mesages": "messages", "inbx": "inbox",
		"modle": "model", "exi": "quit", "clera": "new", "h": "help hooks", "thme": "theme", "bu": "budget", "xyzzy": "", "": "", "frobnicate": "",
	} {
		if got := strings.Join(near(in), " "); got != want {
			t.Errorf("near %q is %q, want %q", in, got, want)
		}
	}
}

// TestCommandsAreWhole: names are unique, each has help, and what the table says
// it takes begins as its usage shows.
func TestCommandsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range commands() {
		for _, n := range append([]string{c.name}, c.aliases...) {
			if seen[n] || n == "" || strings.ToLower(n) != n {
				t.Errorf("the name %q is taken or no name", n)
			}
			seen[n] = true
			if got, ok := find(n); !ok || got.name != c.name {
				t.Errorf("/%s finds %q", n, got.name)
			}
		}
		if c.help == "" || c.run == nil {
			t.Errorf("/%s has no help or does nothing", c.name)
		}
		if p := overview(CustomCommands{}); !strings.Contains(p.Text, "| `/"+c.name+"` | "+c.help+" |\n") {
			t.Errorf("the help does not show /%s", c.name)
		}
	}
	for _, n := range []string{"push", "run", "queue", "send", "receive", "check", "inbox", "messages", "kill", "model", "theme", "new", "help", "quit"} {
		if !seen[n] {
			t.Errorf("there is no /%s", n)
		}
	}
}
