package paths

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirectories(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	home := env(map[string]string{"HOME": "/h"})
	xdgs := env(map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/run/user/7"})
	relative := env(map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "d", "XDG_RUNTIME_DIR": "r"})
	slug := Slug("/src/app")
	for name, tc := range map[string]struct {
		env                   func(string) string
		config, data, runtime string
	}{
		"home":     {home, "/h/.config/fantail/config.toml", "/h/.local/share/fantail/" + slug, "/tmp/fantail-7"},
		"xdg":      {xdgs, "/c/fantail/config.toml", "/d/fantail/" + slug, "/run/user/7/fantail"},
		"relative": {relative, "/h/.config/fantail/config.toml", "/h/.local/share/fantail/" + slug, "/tmp/fantail-7"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := File(tc.env); got != tc.config || err != nil {
				t.Errorf("File: %q, %v", got, err)
			}
			if got, err := Data(tc.env, "/src/app"); got != tc.data || err != nil {
				t.Errorf("Data: %q, %v", got, err)
			}
			if got := Runtime(tc.env, 7); got != tc.runtime {
				t.Errorf("Runtime: %q", got)
			}
		})
	}
	if _, err := File(env(nil)); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without HOME: %v", err)
	}
	if _, err := Data(env(map[string]string{"HOME": "rel"}), "/x"); err == nil {
		t.Error("a relative HOME is accepted")
	}
	deep := "/" + strings.Repeat("long/", 30)
	if got := Runtime(env(map[string]string{"XDG_RUNTIME_DIR": deep, "TMPDIR": deep}), 7); got != "/tmp/fantail-7" {
		t.Errorf("deep directories: %q", got)
	}
	if got := Runtime(env(map[string]string{"XDG_RUNTIME_DIR": deep, "TMPDIR": "/t"}), 7); got != "/t/fantail-7" {
		t.Errorf("TMPDIR: %q", got)
	}
}

func TestSlug(t *testing.T) {
	for root, want := range map[string]string{
		"/src/My App!": "my-app-", "/": "workspace-", "/x/日本": "workspace-", "/x/" + strings.Repeat("a", 200): strings.Repeat("a", 32) + "-",
	} {
		got := Slug(root)
		if !strings.HasPrefix(got, want) || len(got) != len(want)+10 {
			t.Errorf("%q: %q", root, got)
		}
	}
	if Slug("/a/x") == Slug("/b/x") {
		t.Error("two workspaces of one name meet")
	}
}

func TestWorkspace(t *testing.T) {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p ...string) string { return filepath.Join(append([]string{tmp}, p...)...) }
	for _, dir := range []string{at("repo", ".git"), at("repo", "a", "b"), at("tree", "c"), at("plain", "d"), at("repo", "nothing", ".git"), at("repo", "nothing", "e")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{at("tree", ".git"): "gitdir: elsewhere\n", at("repo", ".git", "HEAD"): "ref: refs/heads/main\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("repo", "a"), at("link")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		at("repo"): at("repo"), at("repo", "a", "b"): at("repo"), at("tree", "c"): at("tree"),
		at("plain", "d"): at("plain", "d"), at("link", "b"): at("repo"), at("repo", ".git"): at("repo"),
		at("repo", "nothing"): at("repo"), at("repo", "nothing", "e"): at("repo"), // an empty .git is no repository
	} {
		if got, err := Workspace(dir); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", dir, got, err, want)
		}
	}
	if _, err := Workspace(at("tree", ".git")); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	if _, err := Workspace(at("gone")); err == nil {
		t.Error("a missing directory is accepted")
	}
}

func TestMakePrivate(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "a", "b")
	if err := MakePrivate(dir); err != nil {
		t.Fatal(err)
	}
	loose := filepath.Join(tmp, "loose")
	if err := os.Mkdir(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(loose); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, loose} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
	link := filepath.Join(tmp, "link")
	if err := os.Symlink(loose, link); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(link); err == nil {
		t.Error("a symbolic link is accepted")
	}
}

// TestMakePrivate_inSomebodysHome: a program under sudo leaves nothing in the home of the user who started it.
func TestMakePrivate_inSomebodysHome(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can write where somebody else is at home")
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	err := MakePrivate(filepath.Join(home, ".local", "share", "fantail", "x"))
	if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "12345") {
		t.Errorf("in somebody's home: %v", err)
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
