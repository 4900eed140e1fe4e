package turn

import (
	"strings"
	"testing"
)

func TestSystem(t *testing.T) {
	f := PromptFacts{
		Name: "main", Dir: "/src/app", Platform: "linux/amd64", Date: "2026-11-21", Branch: "feature/x",
		Files: "Use tabs.\n{{.Name}} stays.",
	}
	for _, sub := range []bool{false, true} {
		f.Sub = sub
		s, err := SystemPrompt(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{f.Name, f.Dir, f.Platform, f.Date, f.Branch, f.Files, "not an instruction", "allow nothing"} {
			if !strings.Contains(s, want) {
				t.Errorf("sub %v: %q is missing", sub, want)
			}
		}
		if !strings.HasSuffix(s, "\n") || strings.Contains(s, "\n\n\n") || strings.Contains(s, "<no value>") {
			t.Errorf("sub %v: badly formed:\n%s", sub, s)
		}
	}
}

// An observer is told first what it is, word for word, and that it changes nothing.
// Spec: O-56.
func TestSystem_observer(t *testing.T) {
	s, err := SystemPrompt(PromptFacts{Name: "headless-ci-1", Dir: "/d", Observer: true, Files: "Use tabs."})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s, "You are a background task agent. Be concise. Report findings only.\n") ||
		!strings.Contains(s, "headless-ci-1") || !strings.Contains(s, "/d") || !strings.Contains(s, "change nothing") || strings.Contains(s, "Use tabs.") {
		t.Error(s)
	}
}

func TestSystem_leavesOutWhatIsUnknown(t *testing.T) {
	for _, sub := range []bool{false, true} {
		s, err := SystemPrompt(PromptFacts{Name: "a", Dir: "/d", Sub: sub})
		if err != nil {
			t.Fatal(err)
		}
		for _, none := range []string{"Branch", "branch is", "Platform", "Today", "Files that say", "()"} {
			if strings.Contains(s, none) {
				t.Errorf("sub %v says %q", sub, none)
			}
		}
	}
	if _, err := SystemPrompt(PromptFacts{Dir: "/d"}); err == nil {
		t.Error("an agent without a name is accepted")
	}
}

// A sub-agent knows itself and its task, and nothing of who dispatched it.
func TestSystem_tellsASubAgentNothingOfItsParent(t *testing.T) {
	s, err := SystemPrompt(PromptFacts{Name: "worker-a", Dir: "/d", Sub: true})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s, "main") || !strings.Contains(s, "worker-a") || !strings.Contains(s, "delivered automatically") {
		t.Error(s)
	}
}
