package turn_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"fantail/agents/event"
	"fantail/agents/skills"
	"fantail/agents/turn"
)

// TestMean_waits: of a prompt that may not enter yet no command line runs: it runs when the prompt enters.
func TestMean_waits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".claude", "commands", "fix.md")
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte("Fix !`date`."), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	shelf := skills.New(skills.Options{Root: dir})
	shelf.Begin(func(context.Context, skills.Wanted) (string, error) {
		t.Error("a command line ran")
		return "", nil
	})
	i := event.Info{ID: 1, Kind: event.Main, Prompts: []event.Prompt{{ID: 7, Text: "/fix it"}}}
	m, err := turn.NewTypedPrompts(nil, shelf).Mean(t.Context(), i, func(int64) bool { return false })
	if err != nil || len(m) > 0 {
		t.Errorf("%v: it means %v", err, m)
	}
}
