package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/ui/shell"
)

func TestReceiversAndInboxes(t *testing.T) {
	if got := Receivers(",main,,lint,"); !slices.Equal(got, []string{"main", "lint"}) {
		t.Errorf("receivers %q", got)
	}
	if got := InInboxes([]mail.OutsideReceipt{{ID: 4, To: "lint"}}); got != "Message #4 is in the inbox of lint" {
		t.Errorf("%q", got)
	}
}

// A model is named in whole, even if its key is elsewhere; one of nobody's is wrong usage.
func TestPushModel(t *testing.T) {
	set := map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "OLLAMA_HOST": "127.0.0.1:1"}
	env := func(name string) string { return set[name] }
	for name, want := range map[string]string{"builtin": "builtin", "anthropic/some": "anthropic/some"} {
		if got, err := PushModel(env, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := PushModel(env, "nobody/x"); shell.ExitCode(err) != shell.ExitUsage {
		t.Errorf("nobody's model: %v", err)
	}
}

// A task that names no model is doubted if the one it would get can't carry it out.
func TestDoubt(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	set := map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "OLLAMA_HOST": "127.0.0.1:1"}
	env := func(name string) string { return set[name] }
	doubt := func() string { return Doubt(t.Context(), db, env, tasks.Task{Name: "job", Prompt: "please"}) }
	if got := doubt(); !strings.Contains(got, "No language model is configured") {
		t.Errorf("the built-in engine: %q", got)
	}
	set["ANTHROPIC_API_KEY"] = "k-0123456789"
	if got := doubt(); got != "" {
		t.Errorf("a model of a vendor: %q", got)
	}
}
