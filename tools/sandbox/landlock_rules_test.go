package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A link in a tree gives no access to hidden files: rights follow from the path that it leads to.
func TestAround_links(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(home, name) }
	for _, dir := range []string{".ssh", "src", "deep/.gnupg", "deep/er"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"keys": ".ssh", "whole": at(".ssh"), "deep/up": "../.ssh", "code": "src", "deep/ring": ".gnupg", "nowhere": "not/there", "self": ".",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		hidden []string
		want   []string
	}{
		{"nothing hidden", nil, []string{""}},
		{"one", []string{".ssh"}, []string{"deep", "src"}},
		{"two", []string{".ssh", "deep/.gnupg"}, []string{"deep/er", "src"}},
		{"all of it", []string{""}, nil},
	} {
		var hidden, got, want []string
		for _, h := range c.hidden {
			hidden = append(hidden, at(h))
		}
		for _, w := range c.want {
			want = append(want, at(w))
		}
		for _, r := range around(home, hidden) {
			got = append(got, r.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
