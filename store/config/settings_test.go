package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Readable parts of a file are found, each section with its position.
func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"{}":                            "",
		"[]":                            "fault 1:2 settings are an object: { … }",
		"{\"a\": 1,\n \"b\" : [ {} ] }": "a 1:2 1|b 2:2 [ {} ]",
		"\ufeff{\"ä\":{},\"b\":null}":   "ä 1:2 {}|b 1:9 null",
		"{\"a\": 1, \"b\": [1,\n":       "a 1:2 1|b 1:10 cut [1,\n|fault 2:1 the file ends in the middle",
		"{\"a\": {\"x\": nope}}":        "a 1:2 cut {\"x\": nope}}|fault 1:13 invalid character",
		"{\"a\": 1} x":                  "a 1:2 1",
	} {
		var got []string
		d := SplitSettings([]byte(text))
		for _, s := range d.Sections {
			cut := ""
			if s.Cut {
				cut = "cut "
			}
			got = append(got, fmt.Sprintf("%s %d:%d %s%s", s.Key, s.Line, s.Column, cut, s.Value))
		}
		if f := d.Fault; f != nil {
			got = append(got, fmt.Sprintf("fault %d:%d %s", f.Line, f.Column, f.Text))
		}
		if is := strings.Join(got, "|"); is != want && (want == "" || !strings.HasPrefix(is, want)) {
			t.Errorf("%q:\n%s, want\n%s", text, is, want)
		}
	}
	if d := SplitSettings([]byte(strings.Repeat(`{"a":`, 5000))); d.Fault == nil || !strings.Contains(d.Fault.Text, "brackets") {
		t.Errorf("deep: %+v", d.Fault)
	}
	many := SplitSettings([]byte("{" + strings.Repeat("\"\": 1,\n", 100_000) + "\"b\": 2}"))
	if n := len(many.Sections); n != maxSections || many.Fault == nil || many.Fault.Line != maxSections+1 || !strings.Contains(many.Fault.Text, "keys") {
		t.Errorf("many: %d sections, %+v", n, many.Fault)
	}
}

// Only a small regular file is accepted, and no link leads out of a workspace.
func TestOpenSettings(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(root, "a"), []byte("a"), 0o600), os.WriteFile(filepath.Join(out, "b"), []byte("b"), 0o600),
		os.WriteFile(filepath.Join(root, "large"), make([]byte, most+1), 0o600), os.Symlink("a", filepath.Join(root, "in")),
		os.Symlink(filepath.Join(out, "b"), filepath.Join(root, "out")), syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a": "a", "in": "a", "none": "", "a/x": "", "out": "a link", "large": "bytes", "pipe": "no regular file"} {
		data, err := OpenSettings(root, name)
		if err == nil && string(data) != want || err != nil && (!strings.Contains(err.Error(), want) || want == "" || want == "a") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if data, err := ReadSettings(filepath.Join(root, "out")); string(data) != "b" || err != nil {
		t.Errorf("the user's own link: %q, %v", data, err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1]},"c":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := SplitSettings(data)
		for _, s := range d.Sections {
			if s.Line < 1 || s.Column < 1 || s.At < 0 || s.At > len(data) {
				t.Fatalf("%q: %+v", data, s)
			}
		}
	})
}
