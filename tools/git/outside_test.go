package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestOutside: the directories of a linked work tree and of a submodule, as git itself makes them; none for a tree that
// only claims to be one.
func TestOutside(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(rel string) string { return filepath.Join(base, rel) }
	git := func(dir string, words ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always"}, words...)...)
		c.Dir, c.Env = at(dir), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", words, err, out)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	git(".", "init", "-q", "main")
	git("main", "commit", "-q", "--allow-empty", "-m", "first")
	git("main", "worktree", "add", "-q", "../linked")
	git(".", "init", "-q", "super")
	git("super", "submodule", "--quiet", "add", at("main"), "sub")
	git(".", "init", "-q", "--separate-git-dir", "apart.git", "apart")
	if err := os.Symlink("linked", at("link")); err != nil {
		t.Fatal(err)
	}
	// A file .git may have any content.
	write("home/.ssh/config", "")
	write("claims/.git", "gitdir: "+at("home"))
	write("steals/.git", "gitdir: "+at("main/.git/worktrees/linked"))
	write("takes/.git", "gitdir: "+at("super/.git/modules/sub"))
	write("inside/.git", "gitdir: own")
	for _, n := range []string{"HEAD", "objects/x", "refs/x"} {
		write("inside/own/"+n, "")
	}
	write("inside/own/config", "[core]\n\tworktree = ..\n")
	// Nor do directories that lead back, but to a repository that is none of theirs.
	write("worktrees/x/gitdir", at("leads/.git"))
	write("worktrees/x/commondir", "../..")
	write("leads/.git", "gitdir: "+at("worktrees/x"))
	for _, n := range []string{"HEAD", "objects/x", "refs/x"} {
		write("other/"+n, "")
	}
	write("other/worktrees/x/gitdir", at("goes/.git"))
	write("other/worktrees/x/commondir", at("main/.git"))
	write("goes/.git", "gitdir: "+at("other/worktrees/x"))
	for root, want := range map[string][]string{
		"main": nil, "super": nil, "home": nil, "missing": nil, "apart": nil, "claims": nil, "steals": nil, "takes": nil, "inside": nil, "leads": nil, "goes": nil,
		"linked":    {at("main/.git"), at("main/.git/worktrees/linked")},
		"link":      {at("main/.git"), at("main/.git/worktrees/linked")},
		"super/sub": {at("super/.git/modules/sub")},
	} {
		if got := Outside(at(root)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", root, got, want)
		}
	}
}
