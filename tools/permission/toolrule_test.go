package permission

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
		if r, err := ParseToolRule(text, Places{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, r, err, want)
		}
	}
}

// TestMeets: two patterns meet if some text matches both.
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
		if got := shellGlob(c.a).meets(shellGlob(c.b)); got != c.want {
			t.Errorf("%q and %q meet: %t", c.a, c.b, got)
		}
		if got := shellGlob(c.b).meets(shellGlob(c.a)); got != c.want {
			t.Errorf("%q and %q meet: %t", c.b, c.a, got)
		}
	}
}

// FuzzShell: the patterns here match everything that the library matches.
func FuzzShell(f *testing.F) {
	for _, s := range [][2]string{{"a*", "abc"}, {"[a-z]x", "bx"}, {`\*`, "*"}, {"[^a]", "b"}, {"[", "["}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern)*len(name) > 10_000 {
			return
		}
		if is, err := path.Match(pattern, name); err == nil && is && !shellGlob(pattern).matches(name) {
			t.Fatalf("%q does not match %q", pattern, name)
		}
	})
}

// TestAt: the directories that the paths of rules are relative to.
func TestAt(t *testing.T) {
	at := Places{Root: "/w", Base: "/w", Home: "/home/u"}
	for _, c := range []struct {
		rule, yes, no string
	}{
		{"Read(./a)", "/w/a /w/a/b /w/b/a", "/a /w/ab"},
		{"Read(./a/**)", "/w/a/b", "/w/b/a/c"},
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
		r, err := ParseToolRule(c.rule, at)
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

// TestMatch_writers: a program that only reads changes a protected file if an option makes it write.
func TestMatch_writers(t *testing.T) {
	r, err := ParseToolRule("Edit(gen/**)", Places{Root: "/w", Base: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{
		"git diff gen/x":                   false,
		"git --no-pager log -p gen/x":      false,
		"git diff --output=gen/x":          true,
		"git log --output gen/x":           true,
		"git show --outp=gen/x":            true,
		"git -c core.pager=x diff gen/x":   true,
		"git --exec-path=. diff gen/x":     true,
		"sort gen/x":                       false,
		"sort -uo gen/x a":                 true,
		"sort --outp=gen/x a":              true,
		"uniq gen/x":                       false,
		"uniq a gen/x":                     true,
		"xxd -r a gen/x":                   true,
		"tree gen/x":                       false,
		"tree -ao gen/x":                   true,
		"sed -n 5p gen/x":                  false,
		"sed -Ei s/a/b/ gen/x":             true,
		"sed 's/a/b/w gen/x' a":            true,
		"find gen/x -name a":               false,
		"find . -fprintf gen/x %p":         true,
		"fd -Hx rm gen/x":                  true,
		"rg x gen/x":                       false,
		"rg --pre tee x gen/x":             true,
		"less -O gen/x a":                  true,
		"curl -o gen/x a":                  true,
		"head gen/x && git show HEAD:gen/": false,
	} {
		if got := r.Match(ToolCall{Tool: "bash", Line: ReadLine(command)}) != NoMatch; got != want {
			t.Errorf("%s may change gen: %t", command, got)
		}
	}
}

// TestRead_bounds: any line is parsed in bounded time, and what is beyond a limit may be anything.
func TestRead_bounds(t *testing.T) {
	r, err := ParseToolRule("Bash(git push *)", Places{Root: "/w"})
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
		if m := r.Match(ToolCall{Tool: "bash", Line: ReadLine(text)}); m == Matches {
			t.Errorf("%s: the rule speaks of it", name)
		}
	}
	if m := r.Match(ToolCall{Tool: "bash", Line: ReadLine(strings.Repeat("true;", 3000) + "git push")}); m == NoMatch {
		t.Error("what comes after many commands is not seen")
	}
}

func BenchmarkMatch(b *testing.B) {
	var rules []ToolRule
	for _, text := range []string{"Bash(git push *)", "Bash(rm -rf *)", "Bash(npm run test:*)", "Read(./secret/**)", "Edit(src/gen/**)"} {
		for range 20 {
			r, err := ParseToolRule(text, Places{Root: "/w", Base: "/w", Home: "/home/u"})
			if err != nil {
				b.Fatal(err)
			}
			rules = append(rules, r)
		}
	}
	for b.Loop() {
		c := ToolCall{Tool: "bash", Line: ReadLine("cd web && env A=b timeout 60 npm run lint 2>&1 | tail -20")}
		for i := range rules {
			if rules[i].Match(c) != NoMatch {
				b.Fatal("it matches")
			}
		}
	}
}

func rule(t *testing.T, text string) ToolRule {
	t.Helper()
	r, err := ParseToolRule(text, Places{Root: "/w", Base: "/w", Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMatch_names: rules for tools without commands and paths: by the tool's name, an agent's or a skill's.
func TestMatch_names(t *testing.T) {
	tools := []string{"bash", "push", "delegate", "skill", "read_file", "mcp__github__push_files", "mcp__github__list"}
	for _, c := range []struct {
		rule, yes, no string // TOOL or TOOL=ABOUT
		never         string
	}{
		{"Agent(reviewer)", "push=reviewer delegate=reviewer", "push push=other skill=reviewer", ""},
		{"Task(review*)", "push=reviewer delegate=review", "push=other", ""},
		{"delegate(reviewer)", "delegate=reviewer", "push=reviewer", ""},
		{"Task", "push push=x delegate", "skill=x bash", ""},
		{"Skill(deploy)", "skill=deploy skill=packages:api:deploy", "skill=deploys push=deploy skill=deploy:it", ""},
		{"Skill(deploy:*)", "skill=deploy", "skill=other", ""},
		{"Skill(deploy prod *)", "skill=deploy", "skill=other", ""},
		{"mcp__github", "mcp__github__list mcp__github__push_files", "mcp__git bash mcp__githubs__list", ""},
		{"mcp__github__*", "mcp__github__list", "mcp__gitlab__list", ""},
		{"mcp__github__list", "mcp__github__list", "mcp__github__lists mcp__github__push_files", ""},
		{"mcp__*", "mcp__a__b mcp__c__d", "bash push", ""},
		{"mcp__other__tool", "mcp__other__tool", "mcp__github__list", "no MCP server of that name"},
		{"WebFetch(domain:example.com)", "", "bash push", "there is no such tool here"},
		{"NoSuch(x)", "", "bash", "there is no tool NoSuch here"},
		{"mcp__github__list(x)", "", "mcp__github__list", "is not told apart"},
	} {
		r := rule(t, c.rule)
		for i, calls := range []string{c.no, c.yes} {
			for call := range strings.FieldsSeq(calls) {
				tool, about, _ := strings.Cut(call, "=")
				if got := r.Match(ToolCall{Tool: tool, About: about}) == Matches; got != (i == 1) {
					t.Errorf("%s speaks of %s: %t", c.rule, call, got)
				}
			}
		}
		if why := r.Never(tools); c.never == "" && why != "" || !strings.Contains(why, c.never) {
			t.Errorf("%s never matches: %q, want %q", c.rule, why, c.never)
		}
	}
}

// TestWithin: rules that contain others.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		rule, in string
		want     bool
	}{
		{"Bash(git push *)", "Bash(git push *)", true},
		{"bash(git push *)", "Bash(git push:*)", true},
		{"Bash(git push origin *)", "Bash(git push *)", true},
		{"Bash(git push)", "Bash(git *)", true},
		{"Bash(git push)", "Bash", true},
		{"Bash(git *)", "Bash(git push *)", false},
		{"Bash(git push *)", "Bash(git push)", false},
		{"Bash(git push *)", "Bash(npm *)", false},
		{"Bash(* push)", "Bash(git *)", false},
		{"Edit(src/**)", "Edit(src/**)", true},
		{"write(src/gen/**)", "Edit(src/**)", true},
		{"Write(src/x)", "Edit(src/**)", true},
		{"Write(src/**)", "Edit", true},
		{"Edit(src/**)", "Edit(src/gen/**)", false},
		{"Read(src/**)", "Edit(src/**)", false},
		{"Edit(src/**)", "Read(src/**)", false},
		{"Read(a/b)", "Grep(a/b)", false},
		{"Read(a/b)", "Grep", false},
		{"Read(*.pem)", "Read(*.pem)", true},
		{"Agent(x)", "Task", true},
		{"Agent(x)", "Agent(x)", true},
		{"Agent(x)", "Agent(y)", false},
		{"mcp__a__b", "mcp__a__*", true},
		{"mcp__a__*", "mcp__a__b", false},
	} {
		r, in := rule(t, c.rule), rule(t, c.in)
		if got := r.Sample().Within(&in); got != c.want {
			t.Errorf("%s within %s: %t", c.rule, c.in, got)
		}
	}
}

// TestBelow: directories in which a rule with a pattern may match files.
func TestBelow(t *testing.T) {
	for _, c := range []struct{ rule, yes, no string }{
		{"Read(./.env.*)", "/w / /w/src", "/x"},
		{"Read(src/*/key)", "/w /w/src /w/src/a /w/src/a/key", "/w/lib /w/src/a/b"},
		{"Read(**/*.pem)", "/w /w/a/b", "/x"},
		{"Read(*.pem)", "/w /w/a/b /x", ""},
	} {
		r := rule(t, c.rule)
		if !r.Wild() {
			t.Errorf("%s is no pattern", c.rule)
		}
		for i, dirs := range []string{c.no, c.yes} {
			for d := range strings.FieldsSeq(dirs) {
				if got := r.Below(d); got != (i == 1) {
					t.Errorf("%s below %s: %t", c.rule, d, got)
				}
			}
		}
	}
	if r := rule(t, "Read(./secret/**)"); r.Wild() {
		t.Error("it names a directory")
	}
}
