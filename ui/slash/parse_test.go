package slash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/ui/dialog"
)

func TestLeadingOptions(t *testing.T) {
	for _, c := range []struct {
		in   string
		opts map[string]string
		rest string
		err  string
	}{
		{"run the tests", nil, "run the tests", ""},
		{"name=tests run the tests", map[string]string{"name": "tests"}, "run the tests", ""},
		{"  name=a\tmodel=x/y \n timeout=5m go", map[string]string{"name": "a", "model": "x/y", "timeout": "5m"}, "go", ""},
		{"name=a first\nsecond name=b  third", map[string]string{"name": "a"}, "first\nsecond name=b  third", ""},
		{"x=1 name=a", nil, "x=1 name=a", ""},
		{"say name=a", nil, "say name=a", ""},
		{"model=a=b go", map[string]string{"model": "a=b"}, "go", ""},
		{"name=a", map[string]string{"name": "a"}, "", ""},
		{"", nil, "", ""},
		{"name= x", nil, "", "needs a value"},
		{"name=a name=b x", nil, "", "twice"},
		{"name=\"my task\" go", map[string]string{"name": "my task"}, "go", ""},
		{"name='a' go", map[string]string{"name": "a"}, "go", ""},
		{"name=\"a go", map[string]string{"name": "\"a"}, "go", ""},
		{"name=a timout=5m go", nil, "", "timout= is no option, is it timeout=?"},
		{"\"timout=5m\" is wrong", nil, "\"timout=5m\" is wrong", ""},
		{"-name=a go", nil, "-name=a go", ""},
	} {
		opts, rest, err := leadingOptions(c.in, "name", "model", "timeout")
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: the error is %v, want one with %q", c.in, err, c.err)
			}
		case err != nil:
			t.Errorf("%q: %v", c.in, err)
		case !maps.Equal(opts, c.opts) || rest != c.rest:
			t.Errorf("%q: %v and %q, want %v and %q", c.in, opts, rest, c.opts, c.rest)
		}
	}
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{
		`"run it"`: "run it", `'run it'`: "run it", ` "x" `: "x", `""`: "", `"`: `"`, `run "it"`: `run "it"`,
		`"a" and "b"`: `"a" and "b"`, `"mixed'`: `"mixed'`, `it's`: `it's`, "": "",
	} {
		if got := unquote(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for in, want := range map[string]time.Duration{"300": 5 * time.Minute, "90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute} {
		if got, err := seconds(in); err != nil || got != want {
			t.Errorf("%q is %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "-5", "-1m", "soon", "5 m", "99999999999999999999"} {
		if got, err := seconds(in); err == nil {
			t.Errorf("%q is taken for %s", in, got)
		}
	}
}

func TestFirstWord(t *testing.T) {
	for in, want := range map[string][2]string{
		"": {}, "run": {"run", ""}, "run 2": {"run", "2"}, "push\na\n b ": {"push", "a\n b"}, "send\tbob  hi": {"send", "bob  hi"}, " x": {"", "x"},
	} {
		if w, rest := firstWord(in); w != want[0] || rest != want[1] {
			t.Errorf("%q is cut into %q and %q, want %q", in, w, rest, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for in, want := range map[string]string{
		"chekc": "check", "pus": "push", "qeue": "queue", "quite": "quit", "recieve": "receive", "mesages": "messages", "inbx": "inbox",
		"modle": "model", "exi": "quit", "clera": "new", "h": "help", "thme": "theme", "xyzzy": "", "": "", "frobnicate": "",
	} {
		if got := nearest(in); got != want {
			t.Errorf("nearest to %q is %q, want %q", in, got, want)
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
		if !slices.Contains(Help(), dialog.Row{Left: c.usage(), Right: c.help}) {
			t.Errorf("the help does not show %s", c.usage())
		}
	}
	for _, n := range []string{"push", "run", "queue", "send", "receive", "check", "inbox", "messages", "kill", "model", "theme", "new", "help", "quit"} {
		if !seen[n] {
			t.Errorf("there is no /%s", n)
		}
	}
}

func TestResumedWord(t *testing.T) {
	keys := []string{"name", "model", "resume"}
	for text, want := range map[string]string{
		"name=kid resume go on":          "kid|true|go on",
		"resume name=kid go on":          "kid|true|go on",
		"resume=kid go on":               "kid|true|go on",
		"resume model=m name=kid go\non": "kid|true|go\non",
		"resume the work":                "|false|resume the work",
		"name=kid go on":                 "kid|false|go on",
		"name=kid":                       "kid|false|",
	} {
		opts, prompt, err := leadingOptions(text, keys...)
		if err != nil {
			t.Fatal(err)
		}
		rest, is, err := resumed(opts, prompt, keys)
		if got := fmt.Sprintf("%s|%v|%s", opts["name"], is, rest); got != want || err != nil {
			t.Errorf("%q reads as %q (%v), want %q", text, got, err, want)
		}
	}
}
