package slash

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeListsTheCommands holds the README's table against the one that runs.
func TestReadmeListsTheCommands(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "<!-- commands -->\n")
	table, _, closed := strings.Cut(rest, "<!-- /commands -->")
	if !ok || !closed {
		t.Fatal("README.md has lost the marks <!-- commands --> and <!-- /commands -->")
	}
	if want := Table(); table != want {
		t.Errorf("README.md lists other commands than there are; between the marks it must say:\n%s", want)
	}
}
