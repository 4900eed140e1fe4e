package slash

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/instructions"
)

type rulesOfFiles struct {
	p    instructions.BriefReport
	said string
}

func (r *rulesOfFiles) Report(context.Context, event.Info) (instructions.BriefReport, error) {
	return r.p, nil
}

func (r *rulesOfFiles) Allow(name string) (string, error) {
	r.said += "allow " + name
	return name, nil
}
func (r *rulesOfFiles) Forbid(name string) (string, error) { return "", errors.New("not allowed") }

func TestFiles(t *testing.T) {
	r := &rulesOfFiles{p: instructions.BriefReport{
		Follows: true, Tokens: 1234, Start: 1000,
		Lines: []instructions.BriefLine{
			{Name: "AGENTS.md", How: "start", By: "", Tokens: 900},
			{Name: "docs/a.md", How: "import", By: "AGENTS.md", Tokens: 100},
			{Name: "web/AGENTS.md", How: "touched", By: "", Tokens: 1234567},
			{Name: "x\x1b[31m.md", How: "waits", By: "src/**", Tokens: 5},
		},
		Notes:   []instructions.Note{{Name: "CLAUDE.md", Why: instructions.Shadowed, Text: "not used"}, {Name: "a.md", Line: 2, Column: 3, Text: "bad\x1b[2J"}},
		Allowed: []string{"~/a.md"},
	}}
	get := func(rest string) string {
		t.Helper()
		do, ok := InstructionFiles(r, event.Info{Name: "main"}, rest)
		if !ok {
			t.Fatalf("unexpected %q", rest)
		}
		text, err := do(t.Context())
		if err != nil {
			return err.Error()
		}
		return text
	}
	got := get("")
	for _, want := range []string{
		"Instruction files that main follows, about 1,234 tokens together:\n  AGENTS.md         900  from the start\n", "  imported by AGENTS.md\n", "1,234,567  since a tool touched",
		"\nNot yet:\n", "joins when a tool touches src/**", "\nNot used, or not all of it:\n  CLAUDE.md: not used\n  a.md:2:3: bad", "forbid to remove):\n  ~/a.md",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	if s := get("allow ~/my file.md"); r.said != "allow ~/my file.md" || !strings.HasPrefix(s, "~/my file.md is used from now on") {
		t.Error(s, r.said)
	}
	if s := get("forbid x"); s != "not allowed" {
		t.Error(s)
	}
	for _, bad := range []string{"allow", "forbid ", "what", "what x"} {
		if _, ok := InstructionFiles(r, event.Info{}, bad); ok {
			t.Errorf("%q is understood", bad)
		}
	}
	if s := InstructionsSum(r.p); !strings.Contains(s, "~1,234 tokens, 1,000 of them in") {
		t.Error(s)
	}
	r.p = instructions.BriefReport{Follows: true}
	if s := get(""); !strings.Contains(s, "/init") || InstructionsSum(r.p) != "" {
		t.Error(s)
	}
	r.p = instructions.BriefReport{}
	if s := get(""); !strings.Contains(s, "observer") {
		t.Error(s)
	}
}

func TestFound(t *testing.T) {
	s := &instructions.Set{Rules: make([]instructions.File, 3), Notes: []instructions.Note{{Name: "a", Text: "b"}}}
	for range 10 {
		s.Files = append(s.Files, instructions.File{Name: "f"})
	}
	if says, notes := InstructionsFound(s); says != "f, f, f, f, f, f, f, f, 2 more; 3 for files of certain paths" || len(notes) != 1 {
		t.Error(says, notes)
	}
	if says, _ := InstructionsFound(&instructions.Set{}); says != "none" {
		t.Error(says)
	}
}

func TestInitText(t *testing.T) {
	if a, b := InitText(""), InitText(" in French "); !strings.Contains(a, "AGENTS.md") || b != a+"\nin French" {
		t.Errorf("%q", b)
	}
}
