package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/skills"
	"fantail/tools"
	"fantail/tools/permission"
)

// names are the tools that a set offers.
func kitNames(set *tools.Set) (all []string) {
	for _, s := range set.Specs() {
		all = append(all, s.Name)
	}
	return all
}

// shelf has a skill and an agent.
func kitShelf(t *testing.T) *skills.Catalog {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		".claude/skills/deploy/SKILL.md": "---\ndescription: Deploys\n---\nx",
		".claude/agents/reviewer.md":     "---\nname: reviewer\ndescription: Reviews\n---\nx",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return skills.New(skills.Options{Root: root})
}

// TestOf: a file's agent has what its kind has and its file leaves it, never more; a fork of it sees no more than it does, and
// can still answer.
func TestOf(t *testing.T) {
	kit := agents.NewKit(tools.New(), kitShelf(t), func(event.Info) string { return "" }, nil)
	all, _, _ := kit.Of(event.Info{Kind: event.Main})
	for _, c := range []struct {
		kind event.Kind
		role event.Role
		want string
	}{
		{event.Sub, event.Role{Tools: []string{"bash", "read_file", "run_check", "nothing"}}, "read_file bash"},
		{event.Sub, event.Role{Tools: []string{}}, ""},
		{event.Sub, event.Role{Tools: []string{"bash", "grep"}, Not: []string{"bash"}}, "grep"},
		{event.Fork, event.Role{Tools: []string{"grep", "bash"}}, "grep send receive list_messages read_message reply_to_message"},
		{event.Fork, event.Role{Not: []string{"memory", "send"}}, "read_file list_files glob grep receive list_messages read_message reply_to_message"},
		{event.Sub, event.Role{}, strings.Join(kitNames(all), " ")},
	} {
		set, mode, guard := kit.Of(event.Info{Kind: c.kind, Judged: event.Judged{Role: &c.role}})
		got := slices.DeleteFunc(kitNames(set), func(n string) bool { return n == "run_check" })
		if strings.Join(got, " ") != c.want || mode != "" || guard != nil {
			t.Errorf("%s %+v: %q, mode %q, %v", c.kind, c.role, got, mode, guard)
		}
	}
	if _, mode, _ := kit.Of(event.Info{Kind: event.Sub, Judged: event.Judged{Role: &event.Role{Mode: permission.Plan}}}); mode != permission.Plan {
		t.Errorf("mode %q", mode)
	}
}

// TestPrompt: an agent is told of what it can call, and of nothing else.
func TestPrompt(t *testing.T) {
	kit := agents.NewKit(tools.New(), kitShelf(t), func(event.Info) string { return "You.\n" }, nil)
	for _, c := range []struct {
		kind           event.Kind
		role           *event.Role
		skills, agents bool
	}{
		{event.Main, nil, true, true},
		{event.Fork, nil, false, false},
		{event.Headless, nil, false, false},
		{event.Sub, &event.Role{Tools: []string{"grep"}}, false, false},
		{event.Sub, &event.Role{Tools: []string{"skill"}}, true, false},
		{event.Sub, &event.Role{Not: []string{"skill"}}, false, true},
	} {
		text := kit.Prompt(event.Info{Kind: c.kind, Judged: event.Judged{Role: c.role}})
		if strings.Contains(text, "- deploy: Deploys") != c.skills || strings.Contains(text, "- reviewer: Reviews") != c.agents {
			t.Errorf("%s %+v is told %q", c.kind, c.role, text)
		}
	}
	bare := agents.NewKit(tools.New(), nil, func(event.Info) string { return "You.\n" }, nil)
	if text := bare.Prompt(event.Info{Kind: event.Main}); text != "You.\n" {
		t.Errorf("with nothing it is told %q", text)
	}
	if set, _, _ := bare.Of(event.Info{Kind: event.Main}); slices.Contains(kitNames(set), "skill") {
		t.Error("without skills there is a tool for them")
	}
}

// TestSteps: with the last request that an agent may make its calls are not run; it makes one more to answer, and no other.
func TestSteps(t *testing.T) {
	kit := agents.NewKit(tools.New(), nil, func(event.Info) string { return "" }, nil)
	_, _, guard := kit.Of(event.Info{Kind: event.Sub, Judged: event.Judged{Role: &event.Role{Steps: 2, Source: "x.md"}}})
	for n, runs := range []bool{true, false, false} {
		if err := guard.Request(&llm.Request{}); err != nil {
			t.Fatalf("request %d: %v", n+1, err)
		}
		guard.Replied(nil, llm.Usage{}, 0)
		if instead, err := guard.Call(history.Call{}); err != nil || (instead == "") != runs {
			t.Errorf("request %d: %q, %v", n+1, instead, err)
		}
	}
	if err := guard.Request(&llm.Request{}); err == nil || !strings.Contains(err.Error(), "maxTurns in x.md") {
		t.Error(err)
	}
}
