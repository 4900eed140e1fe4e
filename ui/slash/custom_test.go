package slash

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/skills"
	"fantail/agents/tasks"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/ui/intent"
)

// room is over those files.
func room(t *testing.T, files map[string]string) CustomCommands {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, ".claude", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return CustomCommands{Skills: skills.New(skills.Options{Root: root, Words: []string{"model"}})}
}

// TestRun: a command's text is sent as a prompt, below what was typed; one for an agent of its own is queued to start at once. A
// refusal is an error.
func TestRun(t *testing.T) {
	r := room(t, map[string]string{
		"commands/fix.md":      "Fix $1.",
		"skills/look/SKILL.md": "---\ndescription: x\ncontext: fork\n---\nLook at $1.",
	})
	var prompt string
	var task tools.Task
	refused := error(nil)
	run := func(name, args string) string {
		t.Helper()
		prompt, task = "", tools.Task{}
		i, err := r.Run(CustomCall{
			Name: name, Args: args, Said: "sent", Queued: func(t tasks.Task) string { return "queued " + t.Name },
			Prompt: func(_ context.Context, text string) error { prompt = text; return refused },
			Push: func(_ context.Context, t tools.Task) (tasks.Task, error) {
				task = t
				return tasks.Task{Name: "wren"}, refused
			},
		})(t.Context())
		if err != nil {
			return err.Error()
		}
		return i.(intent.Said).Text
	}
	if said := run("fix", "12"); said != "sent" || prompt != "/fix 12" || task.Prompt != "" {
		t.Errorf("%q, %q, %+v", said, prompt, task)
	}
	if said := run("look", "it"); said != "queued wren" || prompt != "" || !task.Start || task.Prompt != "/look it" {
		t.Errorf("%q, %q, %+v", said, prompt, task)
	}
	refused = errors.New("full")
	for _, name := range []string{"fix", "look"} {
		if said := run(name, ""); said != "full" {
			t.Errorf("%s: %q", name, said)
		}
	}
	if said := run("gone", ""); !strings.Contains(said, "/gone is gone") {
		t.Error(said)
	}
}

// TestNothing: where nothing is known of files, nothing is listed.
func TestNothing(t *testing.T) {
	var r CustomCommands
	if r.Has("x") || r.Rows() != nil || r.Candidates() != nil || r.Agents() != nil || !strings.HasPrefix(r.List(), "no files with skills, commands or agents are known here") {
		t.Error("there is something")
	}
}

// TestList: what is in use is listed with what it costs, and what is not with the reason.
func TestList(t *testing.T) {
	r := room(t, map[string]string{
		"skills/deploy/SKILL.md": "---\ndescription: Deploys\n---\nx",
		"skills/model/SKILL.md":  "---\ndescription: Models\n---\nx",
		"agents/a.md":            "---\nname: a\ndescription: A\ntools: Read\nmaxTurns: 3\npermissionMode: plan\n---\nx",
	})
	text := r.List()
	for _, want := range []string{
		"Skills (models are told of 2 of them: about ", "  deploy  Deploys · .claude/skills/deploy/SKILL.md · ~9 tokens\n", "you only: /review",
		"Agents (models are told of all: about ", "  a  A · .claude/agents/a.md · ~", "mode plan · at most 3 requests",
		"! .claude/skills/model/SKILL.md: /model is a command of the program; models use it as the skill model",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if r.Has("model") || !r.Has("deploy") {
		t.Error("a file takes the place of the program's own command")
	}
	var rows []string
	for _, row := range r.Rows() {
		rows = append(rows, row.Left+": "+row.Right)
	}
	if len(rows) != 4 || rows[1] != "/deploy: Deploys · .claude/skills/deploy/SKILL.md" {
		t.Errorf("%q", rows)
	}
}

// What an MCP server says is no command here, whatever it begins with.
func TestServed(t *testing.T) {
	r := room(t, map[string]string{"commands/fix.md": "Fix $1."})
	for _, words := range []string{"/fix 12", " \n/fix 12", "plain"} {
		prompt := CustomCall{Name: "mcp__tracker__ask", Args: "it"}.served(words)
		if r.Skills.Names(prompt) || !strings.HasPrefix(prompt, "/mcp__tracker__ask it\n") || !strings.HasSuffix(prompt, words) {
			t.Errorf("%q", prompt)
		}
	}
	if !r.Skills.Names("/fix 12") {
		t.Error("the command is not known at all")
	}
}

// TestList_denied: who reads the list sees what rules keep from models, and where the rule stands.
func TestList_denied(t *testing.T) {
	r := room(t, map[string]string{
		"agents/one.md":      "---\nname: one\ndescription: x\n---\nOne.",
		"agents/two.md":      "---\nname: two\ndescription: x\n---\nTwo.",
		"skills/no/SKILL.md": "---\ndescription: x\n---\nNo.",
	})
	gate, err := permission.NewGate(permission.Ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	var limits permission.Limits
	for _, text := range []string{"Agent(two)", "Skill(no)"} {
		rule, err := permission.ParseToolRule(text, permission.Places{Root: "/w", Base: "/w"})
		if err != nil {
			t.Fatal(err)
		}
		limits = append(limits, permission.Limit{ToolRule: rule, List: permission.DenyList, From: ".claude/settings.json:3:5"})
	}
	r.Skills.Obey(gate)
	gate.Limit(limits)
	text := r.List()
	for name, says := range map[string]string{"two": "Agent(two)", "no": "Skill(no)"} {
		if line := lineOf(text, name); !strings.Contains(line, "denied to models by the rule "+says+" (.claude/settings.json:3:5)") {
			t.Errorf("%s: %q in\n%s", name, line, text)
		}
	}
	if line := lineOf(text, "one"); line == "" || strings.Contains(line, "denied") || !strings.Contains(text, "Agents (models are told of 1 of them") {
		t.Errorf("%q in\n%s", line, text)
	}
}

// lineOf is the line of a list that begins with that name.
func lineOf(text, name string) string {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == name {
			return line
		}
	}
	return ""
}
