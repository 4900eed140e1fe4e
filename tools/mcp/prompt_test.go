package mcp

import (
	"slices"
	"strings"
	"testing"
)

func TestRoom_prompts(t *testing.T) {
	dir := t.TempDir()
	b := open(t, Options{Dir: dir}, child(t, "db", "rich"))
	b.Lend(t.Context())
	all := b.Prompts()
	if len(all) != 2 || all[0].Name != "mcp__db__review" || all[0].From != "db" || all[0].Hint() != "<what> [how]" || strings.Contains(all[0].About, "\x1b") {
		t.Fatalf("%+v", all)
	}
	for typed, want := range map[string]string{
		"main.go":               `Review {"what":"main.go"}`,
		"main.go with  care":    `Review {"how":"with  care","what":"main.go"}`,
		"  main.go\nin detail ": `Review {"how":"in detail","what":"main.go"}`,
	} {
		if got, err := b.Prompt(t.Context(), "mcp__db__review", typed); got != want {
			t.Errorf("%q: %q %v", typed, got, err)
		}
	}
	for name, why := range map[string]string{
		"mcp__db__review": "/mcp__db__review <what> [how]: what is missing", "mcp__db__none": "no MCP server offers", "mcp__db__fails": "no such prompt",
	} {
		if got, err := b.Prompt(t.Context(), name, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if _, err := b.Prompt(t.Context(), "mcp__db__fails", "more"); err == nil || !strings.Contains(err.Error(), `takes no "more"`) {
		t.Error(err)
	}
	b.Close(t.Context())
	b = open(t, Options{Dir: dir}, child(t, "db", "rich"))
	b.States()
	if len(b.Prompts()) != 2 || b.state("db").Phase != Idle {
		t.Error("what is kept is not offered, or a server was started for it")
	}
}

func TestRoom_resources(t *testing.T) {
	b := open(t, Options{}, child(t, "db", "rich"))
	b.Lend(t.Context())
	if got := b.Resources("users", 10); !slices.Equal(got, []string{"db:db://users"}) {
		t.Error(got)
	}
	for args, want := range map[string]string{
		`{}`:                          "db://users  users  All users\ndb://bad uri  b\ndb://users/{id}  user",
		`{"uri":"db://users"}`:        "[the resource db://users]\nada, grace",
		`{"uri":"@db:db://users"}`:    "[the resource db://users]\nada, grace",
		`{"uri":"file:///etc/hosts"}`: "no such resource",
	} {
		r, a := b.call(t.Context(), "mcp__db__read_resource", args)
		if !strings.Contains(r.Text, want) || r.Error != strings.Contains(args, "etc") || a.Tool != "mcp__db__read_resource" || a.Reads {
			t.Errorf("%s: %+v %+v", args, r, a)
		}
	}
}
