package toolrule

import (
	"path"
	"strings"
	"testing"
)

func TestParse_wrong(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", "Bash(x": "not closed", "Bash(a\nb)": "U+000A", "Bash(\u202ex)": "U+202E", "\x1b[2J": "U+001B", "rm -rf /": "no tool's name",
		"Bash(" + strings.Repeat("x", longest) + ")": "bytes", "(x)": "no tool's name",
	} {
		if r, err := Parse(text, Places{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, r, err, want)
		}
	}
}

// TestMeets: two patterns meet if one text matches both.
func TestMeets(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"abc", "abc", true},
		{"abc", "abd", false},
		{"a*", "abc", true},
		{"a*c", "a*d", false},
		{"a*", "*c", true},
		{"*", "", true},
		{"?", "", false},
		{"?", "x", true},
		{"a?c", "a*", true},
		{"[ab]c", "xc", true},
		{"[ab]c", "x", false},
		{`a\*`, "ab", false},
		{`a\*`, `a\*`, true},
		{"**", "x", true},
		{"", "", true},
		{"a[", "ab", true},
	} {
		if got := shell(c.a).meets(shell(c.b)); got != c.want {
			t.Errorf("%q and %q meet: %t", c.a, c.b, got)
		}
		if got := shell(c.b).meets(shell(c.a)); got != c.want {
			t.Errorf("%q and %q meet: %t", c.b, c.a, got)
		}
	}
}

// FuzzShell: what the library matches, the patterns here match too: none is narrower.
func FuzzShell(f *testing.F) {
	for _, s := range [][2]string{{"a*", "abc"}, {"[a-z]x", "bx"}, {`\*`, "*"}, {"[^a]", "b"}, {"[", "["}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern)*len(name) > 10_000 {
			return
		}
		if is, err := path.Match(pattern, name); err == nil && is && !shell(pattern).matches(name) {
			t.Fatalf("%q does not match %q", pattern, name)
		}
	})
}

// TestAt: what the paths of rules count from.
func TestAt(t *testing.T) {
	at := Places{Root: "/w", Base: "/w", Home: "/home/u"}
	for _, c := range []struct {
		rule, yes, no string
	}{
		{"Read(./a)", "/w/a /w/a/b", "/w/b/a /a /w/ab"},
		{"Read(a/b)", "/w/a/b /w/a/b/c", "/w/x/a/b"},
		{"Read(**/b)", "/w/b /w/x/y/b /w/x/b/c", "/b /w/bc"},
		{"Read(a/**/z)", "/w/a/z /w/a/b/c/z", "/w/z"},
		{"Read(name)", "/w/name /w/x/name/y /other/name", "/w/names"},
		{"Read(*.pem)", "/w/k.pem /x/y/k.PEM", "/w/pem"},
		{"Read(//etc/x)", "/etc/x /etc/x/y", "/w/etc/x"},
		{"Read(/etc/x)", "/etc/x /w/etc/x", "/w/x"},
		{"Read(~/k)", "/home/u/k /HOME/U/K/x", "/w/k"},
		{"Read(../up)", "/up", "/w/up"},
		{"Read(a[bc])", "/w/ab", "/w/a"},
	} {
		r, err := Parse(c.rule, at)
		if err != nil {
			t.Fatal(err)
		}
		for p := range strings.FieldsSeq(c.yes) {
			if !r.At(p) {
				t.Errorf("%s does not speak of %s", c.rule, p)
			}
		}
		for p := range strings.FieldsSeq(c.no) {
			if r.At(p) {
				t.Errorf("%s speaks of %s", c.rule, p)
			}
		}
	}
}

// TestRead_bounds: whatever a line holds, it is taken apart in bounded time, and what is too much may be anything.
func TestRead_bounds(t *testing.T) {
	r, err := Parse("Bash(git push *)", Places{Root: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"many":     strings.Repeat("true;", 3000),
		"nested":   strings.Repeat("sh -c '", 1) + strings.Repeat("env ", 2000) + "'",
		"wrappers": strings.Repeat("env ", 5000) + "x",
		"long":     "echo " + strings.Repeat("x", 40<<10),
		"words":    "git " + strings.Repeat("a ", 10000),
	} {
		if m := r.Match(Call{Tool: "bash", Line: Read(text)}); m == Yes {
			t.Errorf("%s: the rule speaks of it", name)
		}
	}
	if m := r.Match(Call{Tool: "bash", Line: Read(strings.Repeat("true;", 3000) + "git push")}); m == No {
		t.Error("what comes after many commands is not seen")
	}
}

func BenchmarkMatch(b *testing.B) {
	var rules []Rule
	for _, text := range []string{"Bash(git push *)", "Bash(rm -rf *)", "Bash(npm run test:*)", "Read(./secret/**)", "Edit(src/gen/**)"} {
		for range 20 {
			r, err := Parse(text, Places{Root: "/w", Base: "/w", Home: "/home/u"})
			if err != nil {
				b.Fatal(err)
			}
			rules = append(rules, r)
		}
	}
	for b.Loop() {
		c := Call{Tool: "bash", Line: Read("cd web && env A=b timeout 60 npm run lint 2>&1 | tail -20")}
		for i := range rules {
			if rules[i].Match(c) != No {
				b.Fatal("it matches")
			}
		}
	}
}
