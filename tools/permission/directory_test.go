package permission

import "testing"

// TestDecide_rulesAreBoundToTheirDirectory: a rule covers a command only where it was given, and an offer elsewhere
// names the directory.
func TestDecide_rulesAreBoundToTheirDirectory(t *testing.T) {
	for command, offer := range map[string]string{
		"cd third_party/x && make":                 "bash(make) in third_party/x",
		"cd third_party && cd x && make":           "bash(make) in third_party/x",
		"cd ./third_party//x/ && make":             "bash(make) in third_party/x",
		"cd " + root + "/third_party/x && make":    "bash(make) in third_party/x",
		"(cd third_party/x && make)":               "bash(make) in third_party/x",
		"cd third_party/x && make && echo done":    "bash(make) in third_party/x",
		"cd third_party/x && timeout 60 make":      "bash(make) in third_party/x",
		"cd third_party/x && (true && make)":       "bash(make) in third_party/x",
		"{ cd third_party/x && true; } && make":    "",
		"cd third_party/x; make":                   "",
		"cd third_party/x || make":                 "",
		"! cd third_party/x && make":               "",
		"if cd third_party/x; then make; fi":       "",
		"cd third_party/x && true || make":         "",
		"make && cd third_party/x && make":         "bash(make) in third_party/x",
		"cd - && make":                             "",
		"cd && make":                               "",
		"cd third_party/* && make":                 "",
		"cd /elsewhere && make":                    "",
		"cd third_party/x && go test ./...":        "bash(go test *) in third_party/x",
		"cd a && ls && cd b && cat x && go vet ./": "bash(go vet *) in a/b",
	} {
		a := Action{Kind: Command, Command: command, Dir: root}
		g := gate(t, Ask, "bash(make)", "bash(go test *)", "bash(go vet *)", "bash(make) in other", "bash(ls *)", "bash(cat *)", "bash(cd *)")
		v := g.Decide(a)
		if v.Decision != AskHuman || string(v.Rule) != offer {
			t.Errorf("%s: %s, offers %q (%s), want %q", command, v.Decision, v.Rule, v.Reason, offer)
			continue
		}
		if offer == "" {
			continue
		}
		if err := g.Allow(v.Rule); err != nil {
			t.Fatal(err)
		}
		if v := g.Decide(a); v.Decision != Allow {
			t.Errorf("%s is not covered by %s: %s", command, offer, v.Reason)
		}
	}
	g := gate(t, Ask, "bash(make)", "bash(cat *)", "bash(go test *) in sub/")
	for _, command := range []string{
		"make", "(cd third_party/x && true); make", "cd " + root + " && make", "cd third_party/x | make", "cd . && make", "cd sub && cat x", "cd sub && go test .", "(cd sub && go test .) && make",
	} {
		if v := g.Decide(Action{Kind: Command, Command: command, Dir: root}); v.Decision != Allow {
			t.Errorf("%s: %s", command, v.Reason)
		}
	}
}

func TestParseRule_directory(t *testing.T) {
	for in, want := range map[string]string{
		"bash(make) in third_party/x": "bash(make) in third_party/x", "bash(make) in sub/": "bash(make) in sub", "bash(make) in .": "bash(make)", "bash(go test *) in a b": "bash(go test *) in a b",
		"bash(echo ')' in x)": "bash(echo ')' 'in' x)", "bash(echo ')') in x": "bash(echo ')') in x",
	} {
		got, err := parseRule(in)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
		if again, err := parseRule(string(got)); err != nil || again != got {
			t.Errorf("%s does not parse to itself: %q, %v", got, again, err)
		}
	}
	for _, in := range []string{"bash(make) in ../x", "bash(make) in /abs", "bash(make) in ~/x", "bash(make) in a/../b", "bash(make) in a*", "bash(make) at x", "write(x) in y", "bash(make) in a\nb", "bash(make) in a) in b/.."} {
		if got, err := parseRule(in); err == nil {
			t.Errorf("%s is %q", in, got)
		}
	}
}
