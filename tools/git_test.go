package tools

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/.ci/long"
	"fantail/tools/permission"
)

// runGit runs git to set up a test.
func runGit(t testing.TB, e *Runtime, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(e.Environ[:len(e.Environ):len(e.Environ)], "GIT_CONFIG_NOSYSTEM=1", "GIT_EXTERNAL_DIFF=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repository makes the workspace a repository with two commits, a changed file, a file for every driver, and a nested
// repository that is in its index.
func repository(t testing.TB) *Runtime {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	e := place(t)
	e.Environ = append(e.Environ, "GIT_CONFIG_NOSYSTEM=1")
	runGit(t, e, e.Root, "init", "-q", "-b", "main", ".")
	put(t, e.Root+"/a.txt", "one\n")
	put(t, e.Root+"/same.md", "same\n")
	runGit(t, e, e.Root, "add", ".")
	runGit(t, e, e.Root, "commit", "-qm", "one")
	put(t, e.Root+"/a.txt", "two\n")
	runGit(t, e, e.Root, "commit", "-qam", "two")
	put(t, e.Root+"/sub/b.txt", "b\n")
	runGit(t, e, e.Root+"/sub", "init", "-q", "-b", "main", ".")
	runGit(t, e, e.Root+"/sub", "add", ".")
	runGit(t, e, e.Root+"/sub", "commit", "-qm", "sub")
	runGit(t, e, e.Root, "add", "sub")
	runGit(t, e, e.Root, "commit", "-qm", "sub")
	put(t, e.Root+"/.gitattributes", "*.txt diff=evil filter=evil merge=evil\n")
	return e
}

// copied is a copy of a workspace that [repository] made.
func copied(t testing.TB, from *Runtime) *Runtime {
	t.Helper()
	e := place(t)
	e.Environ = append(e.Environ, "GIT_CONFIG_NOSYSTEM=1")
	if err := os.CopyFS(e.Root, os.DirFS(from.Root)); err != nil {
		t.Fatal(err)
	}
	return e
}

// biting reports whether the command runs what a hostile repository names, where nothing is done against it.
func biting(command string) bool {
	return strings.Contains("git status git diff git log git log -p git show", command)
}

// stir makes git's record of the files' times stale, so that git reads them.
func stir(t testing.TB, e *Runtime) {
	for _, p := range []string{"a.txt", "same.md", "sub/b.txt"} {
		put(t, e.Root+"/"+p, text(t, e.Root+"/"+p))
	}
	put(t, e.Root+"/a.txt", "three\n")
}

var gitReaders = []string{
	"git status", "git status --short --branch", "git diff", "git diff --stat", "git diff HEAD~1", "git diff --cached", "git log", "git log -p", "git log --oneline -3", "git log -p -- a.txt", "git show", "git show HEAD",
	"git ls-files", "git ls-files -m", "git ls-files -s", "git grep one", "git blame a.txt", "git branch", "git branch -vv", "git rev-parse HEAD", "git rev-list HEAD", "git describe --all --dirty",
	"git shortlog HEAD", "git ls-tree HEAD", "git cat-file -p HEAD", "git diff-tree -p HEAD", "git for-each-ref", "git show-ref", "git name-rev HEAD", "git whatchanged", "git cherry main main", "git merge-base HEAD HEAD",
	"git check-ignore a.txt", "git count-objects",
}

// TestBash_gitRunsNothingOfAHostileRepository: a git that a rule lets run freely
// runs no program that the repository names, in any of the places it may name one.
func TestBash_gitRunsNothingOfAHostileRepository(t *testing.T) {
	rules := make([]permission.Rule, len(gitReaders))
	for i, c := range gitReaders {
		rules[i] = permission.Rule("bash(" + c + ")")
	}
	made := repository(t)
	for name, arm := range long.SomeOf(t, 2, map[string]func(t *testing.T, e *Runtime, script string){
		"nothing":           func(*testing.T, *Runtime, string) {},
		"core.fsmonitor":    func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "core.fsmonitor", s) },
		"diff.external":     func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "diff.external", s) },
		"diff command":      func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "diff.evil.command", s) },
		"textconv":          func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "diff.evil.textconv", s) },
		"clean filter":      func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "filter.evil.clean", s) },
		"filter process":    func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "filter.evil.process", s) },
		"core.pager":        func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "core.pager", s) },
		"gpg.program":       func(t *testing.T, e *Runtime, s string) { signed(t, e, s) },
		"core.sshCommand":   func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "core.sshCommand", s) },
		"credential.helper": func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root, "config", "credential.helper", "!"+s) },
		"hooks": func(t *testing.T, e *Runtime, s string) {
			for _, h := range []string{"post-index-change", "post-checkout", "reference-transaction", "pre-commit"} {
				put(t, e.Root+"/.git/hooks/"+h, text(t, s))
				if err := os.Chmod(e.Root+"/.git/hooks/"+h, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		},
		"hooksPath": func(t *testing.T, e *Runtime, s string) {
			put(t, e.Root+"/tools/post-index-change", text(t, s))
			if err := os.Chmod(e.Root+"/tools/post-index-change", 0o755); err != nil {
				t.Fatal(err)
			}
			runGit(t, e, e.Root, "config", "core.hooksPath", "tools")
		},
		"include": func(t *testing.T, e *Runtime, s string) {
			put(t, e.Root+"/more", "[diff]\n\texternal = "+s+"\n")
			runGit(t, e, e.Root, "config", "include.path", "../more")
		},
		"worktree configuration": func(t *testing.T, e *Runtime, s string) {
			runGit(t, e, e.Root, "config", "extensions.worktreeConfig", "true")
			put(t, e.Root+"/.git/config.worktree", "[diff]\n\texternal = "+s+"\n")
		},
		"submodule's fsmonitor": func(t *testing.T, e *Runtime, s string) { runGit(t, e, e.Root+"/sub", "config", "core.fsmonitor", s) },
		"submodule's filter": func(t *testing.T, e *Runtime, s string) {
			put(t, e.Root+"/sub/.gitattributes", "*.txt filter=evil\n")
			runGit(t, e, e.Root+"/sub", "config", "filter.evil.clean", s)
		},
		"submodule elsewhere": func(t *testing.T, e *Runtime, s string) {
			runGit(t, e, e.Root+"/sub", "config", "core.fsmonitor", s)
			if err := os.Rename(e.Root+"/sub/.git", e.Root+"/.git/moved"); err != nil {
				t.Fatal(err)
			}
			put(t, e.Root+"/sub/.git", "gitdir: ../.git/moved\n")
		},
		"index of version 4": func(t *testing.T, e *Runtime, s string) {
			runGit(t, e, e.Root, "update-index", "--index-version=4")
			runGit(t, e, e.Root+"/sub", "config", "core.fsmonitor", s)
		},
		"split index": func(t *testing.T, e *Runtime, s string) {
			runGit(t, e, e.Root, "update-index", "--split-index")
			runGit(t, e, e.Root+"/sub", "config", "core.fsmonitor", s)
		},
		"missing objects": func(t *testing.T, e *Runtime, s string) {
			runGit(t, e, e.Root, "config", "remote.origin.url", "ext::"+s)
			runGit(t, e, e.Root, "config", "remote.origin.promisor", "true")
			runGit(t, e, e.Root, "config", "extensions.partialClone", "origin")
			runGit(t, e, e.Root, "config", "protocol.ext.allow", "always")
			out, err := exec.Command("git", "-C", e.Root, "rev-parse", "HEAD~1:a.txt").Output()
			if err != nil {
				t.Fatal(err)
			}
			o := strings.TrimSpace(string(out))
			if err := os.Remove(filepath.Join(e.Root, ".git/objects", o[:2], o[2:])); err != nil {
				t.Fatal(err)
			}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := copied(t, made)
			touched := top(e) + "/touched"
			script := top(e) + "/else/evil"
			put(t, script, "#!/bin/sh\necho x >>"+touched+"\ncat 2>/dev/null </dev/null\nexit 1\n")
			if err := os.Chmod(script, 0o755); err != nil {
				t.Fatal(err)
			}
			arm(t, e, script)
			g, err := permission.NewGate(permission.Ask, rules)
			if err != nil {
				t.Fatal(err)
			}
			readers := slices.Clone(gitReaders)
			if !long.Wanted() { // those that bite, and some of the others
				readers = slices.DeleteFunc(readers, func(c string) bool { return !biting(c) && rand.IntN(8) > 0 })
			}
			free, bites := 0, 0
			for _, command := range readers {
				stir(t, e)
				c := parse(t, e, "bash", "command", command)
				v := g.Decide(c.Action)
				if v.Decision == permission.Allow {
					free++
					c.Run(t.Context())
					if _, err := os.Stat(touched); err == nil {
						t.Errorf("%s ran what the repository names", command)
					}
				} else if v.Decision != permission.AskHuman || v.Rule != "" || !strings.Contains(v.Reason, "configuration names what git runs") {
					t.Errorf("%s: %+v", command, v)
				}
				_ = os.Remove(touched)
				if !biting(command) || bites > 0 {
					continue
				}
				stir(t, e)
				e.Command(t.Context(), "mine", command, nil) // the human's own command does not count
				if _, err := os.Stat(touched); err == nil {
					bites++
				}
				_ = os.Remove(touched)
			}
			quiet := name == "nothing" || name == "core.pager" || name == "core.sshCommand" || name == "credential.helper"
			if quiet != (bites == 0) {
				t.Errorf("%d commands run what the repository names where nothing is done against it", bites)
			}
			if (quiet || strings.HasPrefix(name, "core.") || strings.HasPrefix(name, "hooks") || name == "missing objects") && free != len(readers) {
				t.Errorf("%d of %d commands are free", free, len(readers))
			}
		})
	}
}

// signed makes git check a signature with the script.
func signed(t *testing.T, e *Runtime, script string) {
	put(t, top(e)+"/else/sign", "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\necho x\necho '-----END PGP SIGNATURE-----'\n")
	if err := os.Chmod(top(e)+"/else/sign", 0o755); err != nil {
		t.Fatal(err)
	}
	runGit(t, e, e.Root, "-c", "gpg.program="+top(e)+"/else/sign", "commit", "-q", "--allow-empty", "-S", "-m", "signed")
	runGit(t, e, e.Root, "config", "gpg.program", script)
	runGit(t, e, e.Root, "config", "log.showSignature", "true")
}
