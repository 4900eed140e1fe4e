package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/ui/intent"
)

func TestPast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if got, err := readPast(path); got != nil || err != nil {
		t.Errorf("without a file: %q, %v", got, err)
	}
	want := []string{"one", "two\nlines \x1b[2J", "/check", strings.Repeat("x", pastLongest)}
	d := draftScreen(t, DraftOptions{History: path})
	for _, text := range append(want, strings.Repeat("x", pastLongest+1)) {
		if i, ok := d.Remember(d.Tabs.Main().Box, text).(intent.Run); ok {
			if said := i.F(t.Context()); said != nil {
				t.Fatal(said)
			}
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "\"cut sho\n")
	f.Close()
	if got, err := readPast(path); !slices.Equal(got, want) || err != nil {
		t.Errorf("read %.80q, %v", got, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", fi.Mode(), err)
	}
}

// What is kept stays bounded, and its newest is what stays.
func TestPast_staysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var texts []string
	for i := range 4*pastKept + 1 {
		texts = append(texts, fmt.Sprint("prompt ", i))
	}
	if err := appendPast(path, texts); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := readPast(path)
		if err != nil || !slices.Equal(got, texts[len(texts)-pastKept:]) {
			t.Fatalf("read %d entries, %v", len(got), err)
		}
	}
	if b, _ := os.ReadFile(path); strings.Count(string(b), "\n") != pastKept {
		t.Errorf("the file has %d lines", strings.Count(string(b), "\n"))
	}
}
