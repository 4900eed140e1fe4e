package config

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The embedded file says what it was made from; who changes that must make it again.
func TestCatalogue_made(t *testing.T) {
	own, err := os.ReadFile("../../.ci/models/own.json")
	if err != nil {
		t.Fatal(err)
	}
	generator, err := os.ReadFile("../../.ci/models/models.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	module, rest, _ := strings.Cut(files.Comment, " ")
	sum, rest, _ := strings.Cut(rest, " ")
	for _, s := range []string{module, sum} {
		if s == "" || !strings.Contains(string(generator), `"`+s+`"`) {
			t.Errorf("it is made from %q, which .ci/models does not name", s)
		}
	}
	if want := fmt.Sprintf("own.json %x", sha256.Sum256(own)); rest != want {
		t.Errorf("got %s, want %s: run go run ./.ci/models", rest, want)
	}
}

// Every row can be read, and says what it must to be of use.
func TestCatalogue_rows(t *testing.T) {
	n := 0
	for provider, of := range catalogue() {
		for _, k := range of() {
			n++
			if k.ID == "" || k.Window < 0 || len(k.Price) != 0 && len(k.Price) != 4 || len(k.Long) != 0 && len(k.Long) != 3 ||
				!slices.Contains([]string{"", "none", "budget", "either", "adaptive", "always"}, k.Thinking) {
				t.Errorf("%s: %+v", provider, k)
			}
		}
	}
	if n < 1_700 {
		t.Errorf("only %d rows", n)
	}
	for _, v := range vendors {
		if m := v.Model; v.NeedsKey && rows(v.Name) != nil && v.Name != "moonshot" && v.Name != "fireworks" && (Config{}).Known(v.Name, m).Window == 0 {
			t.Errorf("nothing is known of %s/%s, a default", v.Name, m)
		}
	}
}

func TestCatalogue_thinking(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic/claude-sonnet-4-5-20250929": "budget, [] ", "anthropic/claude-opus-4-6": "either, [low medium high max] high",
		"anthropic/claude-opus-4-1": "budget, [] ", "anthropic/claude-sonnet-5-5": "adaptive, [low medium high xhigh max] high",
		"anthropic/claude-fable-5": "always, [low medium high xhigh max] high", "anthropic/claude-3-5-haiku": "none, [] ",
		"openrouter/anthropic/claude-opus-4.5": "budget, [low medium high] high", "openai/gpt-4o": "none, [] ",
		"openai/gpt-6.1-sol": ", [low medium high xhigh max] medium",
	} {
		provider, model, _ := strings.Cut(name, "/")
		m := Config{}.Known(provider, model)
		if got := fmt.Sprintf("%s, %v %s", m.Thinking, m.Efforts, m.DefaultEffort); got != want || m.Name == "" {
			t.Errorf("%s (%s): %s, want %s", name, m.Name, got, want)
		}
	}
}
