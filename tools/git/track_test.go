package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const shared = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

// TestOnlyTracks: a change of what branches track is allowed, as git writes it; no other change, and no address.
func TestOnlyTracks(t *testing.T) {
	root := tracked(t, "")
	main := "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
	odd := "[branch \"odd\"]\n\tremote = ../odd.git\n\tmergeoptions = --no-ff\n"
	for _, c := range []struct {
		was, is string
		only    bool
	}{
		{shared, shared + main, true},
		{shared + main, shared, true},
		{shared + main, shared + "[branch \"renamed\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", true},
		{shared, shared + "[branch \"a\"]\n\tremote = .\n\tmerge = refs/heads/b\n\trebase = true\n\tpushRemote = origin\n\tdescription = \"words\\nmore\"\n", true},
		{shared, main + shared, true},
		{shared, shared + "# a comment\n", true},
		{shared + odd, shared, true},
		{shared + odd, shared + "[branch \"even\"]\n\tremote = ../odd.git\n\tmergeoptions = --no-ff\n", true},
		{shared, shared + odd, false},
		{shared, shared + "[branch \"a\"]\n\tremote = https://example.org/b.git\n", false},
		{shared, shared + "[branch \"a\"]\n\tremote = ext::sh -c x\n", false},
		{shared, shared + "[branch \"a\"]\n\tremote = other\n", false},
		{shared, shared + "[branch \"a\"]\n\tpushRemote = sub/dir\n", false},
		{shared, shared + "[branch \"a\"]\n\tmerge = main\n", false},
		{shared, shared + "[branch \"a\"]\n\trebase = interactive\n", false},
		{shared, shared + "[branch \"a\"]\n\tmergeOptions = --strategy=x\n", false},
		{shared, shared + "[branch]\n\tautoSetupMerge = false\n", false},
		{shared, shared + main + "[core]\n\tfsmonitor = ./x\n", false},
		{shared, shared + main + "[alias]\n\tco = !x\n", false},
		{shared, shared + "[remote \"evil\"]\n\turl = ../evil\n[branch \"a\"]\n\tremote = evil\n", false},
		{shared, "[core]\n\tbare = false\n" + main, false},
		{shared, "", false},
		{shared, shared + "[branch \"a\n", false},
		{"[branch \"a\n", shared, false},
	} {
		if got := OnlyTracks(root, filepath.Join(root, ".git/config"), []byte(c.was), []byte(c.is)); got != c.only {
			t.Errorf("%v for %q, then %q", got, c.was, c.is)
		}
	}
	if OnlyTracks(root, filepath.Join(root, "sub/.git/config"), []byte(shared), []byte(shared+main)) {
		t.Error("another repository's configuration counts")
	}
}

// TestTracking: git may record what branches track only where it runs no program that a command wrote.
func TestTracking(t *testing.T) {
	for name, c := range map[string]struct {
		more   string // of the configuration
		users  string // the user's own
		files  string // a file that is there, from the top
		env    string
		remote string
		may    bool
	}{
		"plain":               {may: true},
		"push":                {remote: "origin", may: true},
		"hook":                {files: ".git/hooks/post-checkout"},
		"sample of a hook":    {files: ".git/hooks/post-checkout.sample", may: true},
		"hooks elsewhere":     {more: "[core]\n\thooksPath = .husky\n"},
		"user's hooks":        {users: "[core]\n\thooksPath = ~/hooks\n"},
		"user's name":         {users: "[user]\n\tname = A\n", may: true},
		"monitor":             {more: "[core]\n\tfsmonitor = ./x\n"},
		"filter":              {more: "[filter \"x\"]\n\tsmudge = ./x\n"},
		"large files":         {more: "[filter \"lfs\"]\n\tprocess = git-lfs filter-process\n", may: true},
		"driver":              {more: "[merge \"x\"]\n\tdriver = ./x\n"},
		"included":            {more: "[include]\n\tpath = ../x\n"},
		"submodules":          {more: "[submodule]\n\trecurse = true\n"},
		"no submodules":       {more: "[submodule]\n\trecurse = false\n", may: true},
		"environment":         {env: "GIT_DIR=/x"},
		"program for ssh":     {env: "GIT_SSH_COMMAND=./x"},
		"git's own programs":  {env: "GIT_EXEC_PATH=/x"},
		"configuration":       {env: "GIT_CONFIG_COUNT=1"},
		"library":             {env: "LD_PRELOAD=./x.so"},
		"author":              {env: "GIT_AUTHOR_NAME=a", may: true},
		"broken":              {more: "[x\n"},
		"user's broken":       {users: "[x\n"},
		"unknown remote":      {remote: "sub"},
		"remote here":         {more: "[remote \"here\"]\n\turl = ../here.git\n", remote: "origin"},
		"remote here, unsent": {more: "[remote \"here\"]\n\turl = ../here.git\n", may: true},
		"remote by file":      {more: "[remote \"here\"]\n\turl = file:///x\n", remote: "origin"},
		"remote by ssh":       {more: "[remote \"there\"]\n\turl = git@example.com:a.git\n", remote: "there", may: true},
		"pushed here":         {more: "[remote \"origin\"]\n\tpushurl = sub\n", remote: "origin"},
		"renamed address":     {more: "[url \"/x\"]\n\tinsteadOf = https://example.com\n", remote: "origin"},
		"user's renamed":      {users: "[url \"/x\"]\n\tpushInsteadOf = https://example.com\n", remote: "origin"},
		"default here":        {more: "[remote]\n\tpushDefault = ./sub\n", remote: "origin"},
		"branch to here":      {more: "[branch \"a\"]\n\tremote = ../here\n", remote: "origin"},
	} {
		t.Run(name, func(t *testing.T) {
			root, home := tracked(t, c.more), t.TempDir()
			if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(c.users), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.files != "" {
				if err := os.WriteFile(filepath.Join(root, c.files), []byte("#!/bin/sh\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if got := Tracking(root, []string{c.env}, home, c.remote); (got != "") != c.may || c.may && got != filepath.Join(root, ".git/config") {
				t.Errorf("%q", got)
			}
		})
	}
	root := tracked(t, "")
	if err := os.Rename(filepath.Join(root, ".git/config"), filepath.Join(root, "config")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../config", filepath.Join(root, ".git/config")); err != nil {
		t.Fatal(err)
	}
	if got := Tracking(root, nil, t.TempDir(), ""); got != "" {
		t.Errorf("a link: %q", got)
	}
}

// TestTracking_linked: a linked work tree has its configuration in its main repository.
func TestTracking_linked(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, of, tree := t.TempDir(), filepath.Join(base, "of"), filepath.Join(base, "tree")
	for _, args := range [][]string{
		{"init", "-q", "--template=", of},
		{"-C", of, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a"},
		{"-C", of, "worktree", "add", "-q", tree},
	} {
		c := exec.Command("git", args...)
		c.Env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	if got := Tracking(tree, nil, home, ""); got != filepath.Join(of, ".git/config") {
		t.Errorf("%q", got)
	}
}

// tracked is the top of a repository with a remote and more in its configuration.
func tracked(t *testing.T, more string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{".git/hooks", ".git/objects", ".git/refs", "sub/.git"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": shared + more} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
