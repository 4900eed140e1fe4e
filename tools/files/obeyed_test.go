package files

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fantail/.ci/long"
)

// made makes a workspace with those files; a name that ends in / is a directory, and "a -> b" a link.
func made(t testing.TB, names ...string) (root string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	root = filepath.Join(base, "work")
	must(t, os.MkdirAll(root, 0o755))
	for _, n := range names {
		put(t, root, n)
	}
	return root
}

func put(t testing.TB, root, name string) {
	t.Helper()
	name, text, _ := strings.Cut(name, "=")
	name, to, link := strings.Cut(name, " -> ")
	at := filepath.Join(root, name)
	must(t, os.MkdirAll(filepath.Dir(at), 0o755))
	switch {
	case link:
		must(t, os.Symlink(to, at))
	case strings.HasSuffix(name, "/"):
		must(t, os.MkdirAll(at, 0o755))
	default:
		must(t, os.WriteFile(at, []byte(strings.ReplaceAll(text, "|", "\n")), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rels are the existing paths, relative to the root.
func rels(root string, paths []string) (all []string) {
	for _, p := range paths {
		if _, err := os.Lstat(p); err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, p); err == nil && !slices.Contains(all, rel) {
			all = append(all, rel)
		}
	}
	slices.Sort(all)
	return all
}

// reasons are files that are obeyed for other reasons than their names: git's configuration, and links.
var reasons = []struct {
	name  string
	files []string
	want  string // besides .git/config and .git/hooks
}{
	{"hooks elsewhere", []string{".git/config=[core]|hooksPath = tools/hooks", "tools/hooks/pre-commit"}, "tools/hooks"},
	{"hooks elsewhere, absolute", []string{".git/config=[core]|hooksPath = ROOT/h", "h/pre-commit"}, "h"},
	{"hooks of the user's configuration", []string{"../.gitconfig=[core]|hooksPath = githook.d", "githook.d/pre-commit"}, "githook.d"},
	{"an included file", []string{".git/config=[include]|path = ../.gitinclude", ".gitinclude=[core]|fsmonitor = tools/fsm", "tools/fsm"}, ".gitinclude tools/fsm"},
	{"included on a condition", []string{".git/config=[includeIf \"onbranch:x\"]|path = ../inc/x", "inc/x"}, "inc/x"},
	{"a file that includes itself", []string{".git/config=[include]|path = ../a", "a=[include]|path = a"}, "a"},
	{"a monitor", []string{".git/config=[core]|fsmonitor = scripts/watch.sh --fast", "scripts/watch.sh"}, "scripts/watch.sh"},
	{"a filter", []string{".git/config=[filter \"x\"]|clean = python3 tools/clean.py %f|smudge = cat", "tools/clean.py"}, "tools/clean.py"},
	{"a driver of diffs", []string{".git/config=[diff]|external = tools/d", "tools/d"}, "tools/d"},
	{"textconv", []string{".git/config=[diff \"p\"]|textconv = \"sh -c 'x; tools/u'\"", "tools/u"}, "tools/u"},
	{"a driver of merges", []string{".git/config=[merge \"p\"]|driver = tools/m %O %A %B", "tools/m"}, "tools/m"},
	{"an alias", []string{".git/config=[alias]|go = !sh ./tools/go.sh", "tools/go.sh"}, "tools/go.sh"},
	{"a pager", []string{".git/config=[core]|pager = tools/p", "tools/p"}, "tools/p"},
	{"an editor", []string{".git/config=[core]|editor = tools/e", "tools/e"}, "tools/e"},
	{"credentials", []string{".git/config=[credential]|helper = !tools/c", "tools/c"}, "tools/c"},
	{"gpg", []string{".git/config=[gpg]|program = tools/g", "tools/g"}, "tools/g"},
	{"ssh", []string{".git/config=[core]|sshCommand = tools/ssh -x", "tools/ssh"}, "tools/ssh"},
	{"attributes", []string{".git/config=[core]|attributesFile = attrs", "attrs"}, "attrs"},
	{"attributes of the repository", []string{".git/info/attributes"}, ".git/info/attributes"},
	{"who signs", []string{".git/config=[gpg \"ssh\"]|allowedSignersFile = signers", "signers"}, "signers"},
	{"a work tree's configuration", []string{".git/config.worktree=[core]|hooksPath = wt", "wt/"}, ".git/config.worktree wt"},
	{"a submodule's", []string{".git/modules/a/b/HEAD", ".git/modules/a/b/config=[core]|fsmonitor = tools/f", ".git/modules/a/b/hooks/", "tools/f"}, ".git/modules/a/b/config .git/modules/a/b/hooks tools/f"},
	{"a linked work tree's", []string{".git/worktrees/w/HEAD", ".git/worktrees/w/gitdir", ".git/worktrees/w/commondir"}, ".git/worktrees/w/commondir .git/worktrees/w/gitdir"},
	{"a file .git", []string{".git=gitdir: own", "own/HEAD", "own/config=[core]|hooksPath = hk", "hk/"}, ".git hk own/config"},
	{"a hook that is a link", []string{".git/hooks/post-commit -> ../../scripts/pc", "scripts/pc"}, ".git/hooks/post-commit scripts/pc"},
	{"hooks that are a link", []string{".git/hooks -> ../hooks", "hooks/pre-commit"}, "hooks"},
	{"CLAUDE.md is AGENTS.md", []string{"CLAUDE.md -> AGENTS.md", "AGENTS.md"}, "AGENTS.md CLAUDE.md"},
	{"AGENTS.md leads to docs", []string{"AGENTS.md -> docs/agents.md", "docs/agents.md"}, "AGENTS.md docs/agents.md"},
	{"by two links", []string{".envrc -> conf/envrc", "conf/envrc -> real", "conf/real"}, ".envrc conf/envrc conf/real"},
	{"a link to a directory", []string{".vscode -> conf/vscode", "conf/vscode/tasks.json"}, ".vscode conf/vscode"},
	{"a link in a directory", []string{".claude/skills/x -> ../../skills/x", "skills/x/SKILL.md"}, ".claude .claude/skills/x skills/x"},
	{"a link above", []string{"conf -> other", "other/", ".git/config=[core]|hooksPath = conf/h", "other/h/pre-commit"}, "conf conf/h other/h"},
	{"a link out of the workspace", []string{"CLAUDE.md -> ../CLAUDE.md", "../CLAUDE.md"}, "CLAUDE.md"},
	{"a link in a circle", []string{"CLAUDE.md -> AGENTS.md", "AGENTS.md -> CLAUDE.md"}, "AGENTS.md CLAUDE.md"},
	{"a link to the workspace", []string{".claude -> .", "main.go"}, ".claude"},
	{"words that are no files", []string{".git/config=[core]|pager = less -R|editor = vim|[alias]|st = status", "vimrc"}, ""},
}

// TestProtected: files that are obeyed because of git's configuration, and the targets of links.
func TestProtected(t *testing.T) {
	for _, c := range reasons {
		t.Run(c.name, func(t *testing.T) {
			root := made(t)
			for _, f := range c.files {
				put(t, root, strings.ReplaceAll(f, "ROOT", root))
			}
			want := strings.Fields(c.want)
			for _, always := range []string{".git/config", ".git/hooks"} {
				if _, err := os.Lstat(filepath.Join(root, always)); err == nil {
					want = append(want, always)
				}
			}
			slices.Sort(want)
			all := slices.DeleteFunc(Protected(root, nil, filepath.Dir(root)), func(p string) bool { return !strings.HasPrefix(p, root+"/") })
			got := rels(root, all)
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			before := rels(root, slices.DeleteFunc(ObeyedIn(root, nil, filepath.Dir(root)).Before(), func(p string) bool { return !strings.HasPrefix(p, root+"/") }))
			for _, w := range want {
				if !slices.Contains(before, w) {
					t.Errorf("%s is not remembered before a command", w)
				}
			}
		})
	}
	t.Logf("%d reasons", len(reasons))
}

// changes are changes of a workspace, and the files that are obeyed afterwards.
var changes = []struct {
	name, does string
	want       string
}{
	{"nothing", ":", "AGENTS.md a/b/AGENTS.md"},
	{"made in a directory", "echo x >a/.envrc", "AGENTS.md a/.envrc a/b/AGENTS.md"},
	{"made in a new directory", "mkdir -p n/e/w; echo x >n/e/w/CLAUDE.md", "AGENTS.md a/b/AGENTS.md n/e/w/CLAUDE.md"},
	{"many directories at once", "for i in 1 2 3 4 5; do mkdir -p d/$i/e; echo x >d/$i/e/.npmrc; done", "AGENTS.md a/b/AGENTS.md d/1/e/.npmrc d/2/e/.npmrc d/3/e/.npmrc d/4/e/.npmrc d/5/e/.npmrc"},
	{"renamed to the name", "echo x >a/f; mv a/f a/.yarnrc.yml", "AGENTS.md a/.yarnrc.yml a/b/AGENTS.md"},
	{"renamed away", "mv a/b/AGENTS.md a/b/x", "AGENTS.md"},
	{"removed", "rm a/b/AGENTS.md", "AGENTS.md"},
	{"its directory removed", "rm -r a", "AGENTS.md"},
	{"its directory renamed", "mv a z", "AGENTS.md z/b/AGENTS.md"},
	{"made after a rename", "mv a z; echo x >z/b/.envrc", "AGENTS.md z/b/.envrc z/b/AGENTS.md"},
	{"a directory takes another's place", "mv a z; mkdir -p a/b; echo x >a/b/CLAUDE.md; rm -r z", "AGENTS.md a/b/CLAUDE.md"},
	{"two directories swap", "mkdir c; mv a t; mv c a; mv t c; echo x >a/.envrc", "AGENTS.md a/.envrc c/b/AGENTS.md"},
	{"moved from where nobody looks", "mkdir -p node_modules/p; echo x >node_modules/p/AGENTS.md; mv node_modules/p p", "AGENTS.md a/b/AGENTS.md p/AGENTS.md"},
	{"moved from outside", "mkdir -p ../o; echo x >../o/.pdbrc; mv ../o o", "AGENTS.md a/b/AGENTS.md o/.pdbrc"},
	{"a link", "ln -s /etc/passwd a/CLAUDE.md", "AGENTS.md a/CLAUDE.md a/b/AGENTS.md"},
	{"a hard link", "echo x >f; ln f a/GEMINI.md", "AGENTS.md a/GEMINI.md a/b/AGENTS.md"},
	{"a directory of the name", "mkdir -p a/.vscode; echo x >a/.vscode/tasks.json", "AGENTS.md a/.vscode a/b/AGENTS.md"},
	{"a link to a directory of the name", "mkdir v; ln -s ../v a/.idea", "AGENTS.md a/.idea a/b/AGENTS.md"},
	{"a pipe", "mkfifo a/.envrc", "AGENTS.md a/.envrc a/b/AGENTS.md"},
	{"two names deep", "mkdir -p a/.github/workflows a/.cargo; echo x >a/.cargo/config.toml", "AGENTS.md a/.cargo/config.toml a/.github/workflows a/b/AGENTS.md"},
	{"in letters of the other case", "echo x >a/agents.MD", "AGENTS.md a/agents.MD a/b/AGENTS.md"},
	{"what is the agent's", "mkdir -p q/node_modules/x q/.venv; echo x >q/Makefile; echo x >q/package.json; echo x >q/node_modules/x/AGENTS.md; echo x >q/x_test.go", "AGENTS.md a/b/AGENTS.md"},
	{"mercurial", "mkdir -p r/.hg; echo x >r/.hg/hgrc", "AGENTS.md a/b/AGENTS.md r/.hg/hgrc"},
	{"jj", "mkdir -p r/.jj/repo; echo x >r/.jj/repo/config.toml", "AGENTS.md a/b/AGENTS.md r/.jj/repo/config.toml"},
	{"a repository that runs nothing", "mkdir -p r/.git/hooks r/.git/objects r/.git/refs; echo x >r/.git/HEAD; echo '[core]' >r/.git/config; echo x >r/.git/hooks/a.sample", "AGENTS.md a/b/AGENTS.md"},
	{"a repository with a hook", "mkdir -p r/.git/hooks; echo x >r/.git/hooks/post-checkout", "AGENTS.md a/b/AGENTS.md r/.git/hooks/post-checkout"},
	{"a repository with a monitor", "mkdir -p r/.git; printf '[core]\\nfsmonitor = x\\n' >r/.git/config", "AGENTS.md a/b/AGENTS.md r/.git/config"},
	{"a repository whose hooks are elsewhere", "mkdir -p r/.git; printf '[core]\\nhooksPath = ../h\\n' >r/.git/config", "AGENTS.md a/b/AGENTS.md r/.git/config"},
	{"a bare repository with a monitor", "mkdir -p r/objects r/refs; printf '[core]\\nfsmonitor = x\\n' >r/config; echo ref: refs/heads/m >r/HEAD", "AGENTS.md a/b/AGENTS.md r/config"},
	{"a file .git that leads to one", "mkdir -p r g; printf '[core]\\nfsmonitor = x\\n' >g/config; echo gitdir: ../g >r/.git", "AGENTS.md a/b/AGENTS.md g/config"},
	{"a rebase that runs a program", "mkdir -p .git/rebase-merge; printf 'pick a b\\nexec evil\\n' >.git/rebase-merge/git-rebase-todo", ".git/rebase-merge/git-rebase-todo AGENTS.md a/b/AGENTS.md"},
	{"a rebase", "mkdir -p .git/rebase-merge; printf 'pick a b\\n' >.git/rebase-merge/git-rebase-todo", "AGENTS.md a/b/AGENTS.md"},
	{"closed, and opened later", "mkdir c; echo x >c/.envrc; chmod 0 c; chmod 755 c", "AGENTS.md a/b/AGENTS.md c/.envrc"},
}

// TestTree: files made at any depth are found, also if the kernel reports nothing, or too little.
func TestTree(t *testing.T) {
	for i, c := range changes {
		for _, how := range []string{"told", "untold", "twice", "overrun"} {
			if how == "overrun" && i%8 != 1 {
				continue // it is slow
			}
			if how != "told" && !long.Wanted() && rand.IntN(4) > 0 && i != 1 {
				continue
			}
			t.Run(c.name+"/"+how, func(t *testing.T) {
				root := made(t, "AGENTS.md", "a/b/AGENTS.md", "main.go", "a/x.go", ".git/hooks/", ".git/objects/", ".git/refs/", ".git/HEAD")
				tree := ObeyedIn(root, nil, filepath.Dir(root))
				tree.silent = how == "untold"
				tree.Look()
				if how == "overrun" { // more than the kernel remembers
					for n := range 40_000 {
						must(t, os.Rename(filepath.Join(root, "main.go"), filepath.Join(root, "other.go")))
						if must(t, os.Rename(filepath.Join(root, "other.go"), filepath.Join(root, "main.go"))); n > 10_000 {
							break
						}
					}
				}
				sh := exec.Command("sh", "-ec", c.does)
				sh.Dir = root
				if out, err := sh.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if how == "twice" {
					tree.Before()
				}
				if got := strings.Join(rels(root, tree.After()), " "); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		}
	}
	t.Logf("%d changes", len(changes))
}

// TestTree_looksOnce: in a large workspace a command does not read all of it.
func TestTree_looksOnce(t *testing.T) {
	root := made(t)
	for n := range 300 {
		put(t, root, fmt.Sprintf("d%d/AGENTS.md", n))
	}
	tree := ObeyedIn(root, nil, filepath.Dir(root))
	if tree.Look(); tree.news == nil {
		t.Skip("the kernel tells of no changes here")
	}
	looked := tree.looked
	put(t, root, "d7/.envrc")
	tree.Before()
	if got := len(tree.After()); got != 301 || tree.looked != looked+1 {
		t.Errorf("%d are obeyed, and %d entries were looked at again", got, tree.looked-looked)
	}
}

// BenchmarkTree measures a command's wait in a workspace of 100,000 files.
func BenchmarkTree(b *testing.B) {
	root := made(b, ".git/config", ".git/hooks/", "AGENTS.md", ".vscode/tasks.json", ".github/workflows/ci.yml")
	for d := range 10_000 {
		dir := filepath.Join(root, fmt.Sprintf("p%d/q%d/r%d", d/1000, d/100%10, d%100))
		must(b, os.MkdirAll(dir, 0o755))
		for f := range 10 {
			must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", f)), nil, 0o644))
		}
	}
	tree := ObeyedIn(root, nil, filepath.Dir(root))
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			tree.news, tree.silent = nil, false
			tree.Look()
		}
	})
	b.Run("command", func(b *testing.B) {
		for b.Loop() {
			tree.Before()
			tree.After()
		}
	})
	b.Run("mounts", func(b *testing.B) {
		for b.Loop() {
			Protected(root, nil, filepath.Dir(root))
		}
	})
	b.Run("untold", func(b *testing.B) {
		tree := ObeyedIn(root, nil, filepath.Dir(root))
		tree.silent = true
		for b.Loop() {
			tree.Before()
			tree.After()
		}
	})
}
