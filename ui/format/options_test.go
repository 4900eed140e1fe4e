package format

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
)

func TestLeading(t *testing.T) {
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
		{"name=a timout=5m go", nil, "", "timout=. Did you mean timeout=?"},
		{"\"timout=5m\" is wrong", nil, "\"timout=5m\" is wrong", ""},
		{"-name=a go", nil, "-name=a go", ""},
	} {
		opts, rest, err := LeadingOptions(c.in, "name", "model", "timeout")
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
		if got := Unquote(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for in, want := range map[string]time.Duration{"300": 5 * time.Minute, "90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute} {
		if got, err := Seconds(in); err != nil || got != want {
			t.Errorf("%q is %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "-5", "-1m", "soon", "5 m", "99999999999999999999"} {
		if got, err := Seconds(in); err == nil {
			t.Errorf("%q is taken for %s", in, got)
		}
	}
}

func TestFirst(t *testing.T) {
	for in, want := range map[string][2]string{
		"": {}, "run": {"run", ""}, "run 2": {"run", "2"}, "push\na\n b ": {"push", "a\n b"}, "send\tbob  hi": {"send", "bob  hi"}, " x": {"", "x"},
	} {
		if w, rest := FirstWord(in); w != want[0] || rest != want[1] {
			t.Errorf("%q is cut into %q and %q, want %q", in, w, rest, want)
		}
	}
}

// TestPush: resume and interactive are options where they stand among them, the former only with a name; what
// follows is the prompt as it was typed.
//
// Spec: C-4.
func TestPush(t *testing.T) {
	for text, want := range map[string]string{
		"name=kid resume go on":                    "map[name:kid resume:] go on",
		"resume name=kid go on":                    "map[name:kid resume:] go on",
		"resume=kid go on":                         "map[name:kid resume:kid] go on",
		"resume model=m name=kid go\non":           "map[model:m name:kid resume:] go\non",
		"resume the work":                          "map[] resume the work",
		"resume model=m the work":                  "map[] resume model=m the work",
		"name=kid go on":                           "map[name:kid] go on",
		"name=kid":                                 "map[name:kid] ",
		"interactive go\n on":                      "map[interactive:true] go\n on",
		"interactive idle=5m go":                   "map[idle:5m interactive:true] go",
		"idle=90s name=kid interactive go":         "map[idle:90s interactive:true name:kid] go",
		"interactive resume name=kid go":           "map[interactive:true name:kid resume:] go",
		"name=kid resume interactive go":           "map[interactive:true name:kid resume:] go",
		"interactive resume the work":              "map[interactive:true] resume the work",
		"resume interactive the work":              "map[] resume interactive the work",
		"interactive=false go":                     "map[interactive:false] go",
		"interactive interactive shells":           "map[interactive:true] interactive shells",
		"\"interactive shells\" are broken":        "map[] \"interactive shells\" are broken",
		"interactively done":                       "map[] interactively done",
		"name=a interactive name=b go":             "! name is given twice",
		"interactive interactve=true go":           "! unknown option interactve=. Did you mean interactive=? Put a prompt that begins like this in quotes",
		"interactive=true interactive model=m now": "map[interactive:true] interactive model=m now",
	} {
		opts, prompt, err := PushOptions(text)
		got := fmt.Sprint(opts, " ", prompt)
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want {
			t.Errorf("%q reads as %q, want %q", text, got, want)
		}
	}
}
