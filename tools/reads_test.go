package tools

import (
	"os"
	"slices"
	"strings"
	"testing"

	"fantail/.ci/long"
	"fantail/tools/permission"
)

// readable is a repository without secrets, also in its history.
func readable(t testing.TB) *Runtime {
	t.Helper()
	e := repository(t)
	put(t, e.Root+"/.gitignore", "node_modules/\n*.log\n/build/\n")
	put(t, e.Root+"/main.go", "package main\n")
	put(t, e.Root+"/src/app.py", "x = 1\n")
	put(t, e.Root+"/docs/read me.md", "# it\n")
	put(t, e.Root+"/data.json", "{\"a\":1}\n")
	put(t, e.Root+"/out.log", "line\n")
	link(t, "src", e.Root+"/code")
	link(t, "../else", e.Root+"/away")
	link(t, "../else/other.txt", e.Root+"/far.txt")
	runGit(t, e, e.Root, "add", "-A", "--", ".gitignore", "main.go", "src", "docs", "data.json")
	runGit(t, e, e.Root, "commit", "-qm", "three")
	return e
}

// freely are commands that only read in the workspace.
var freely = []string{
	"ls &", "ls & cat main.go", "cat <<< x",
	"ls", "ls -la", "ls -R", "ls -R src docs", "ls src/", "ls ./src", "ls -t | head -3", "ls -la && ls src", "ls; ls src", "ls || true", "ls 2>/dev/null", "ls 2>&1", "(ls)", "{ ls; }", "! ls src",
	"if ls src; then cat main.go; fi", "time ls", "timeout 5 ls", "timeout 5s cat main.go", "cat main.go", "cat -n main.go", "cat 'docs/read me.md'", `cat docs/read\ me.md`, "cat \"main.go\"", "cat -- main.go",
	"cat main.go src/app.py", "cat missing.txt", "cat < main.go", "cat main.go | head -1", "head main.go", "head -5 main.go", "head -n 5 main.go", "tail -n 5 out.log", "tail -f out.log", "tail -F out.log",
	"tail --follow out.log", "wc -l main.go", "wc main.go src/app.py", "sort main.go", "sort -u main.go | uniq -c", "uniq main.go", "cut -d: -f1 data.json", "tr a b < main.go", "nl main.go", "tac main.go", "rev main.go", "comm main.go data.json",
	"cmp main.go data.json", "paste main.go data.json", "column -t data.json", "fold -w 80 main.go", "sed -n 1,5p main.go", "sed -n '1,5p' main.go", "sed -n p main.go", "sed 's/a/b/' main.go",
	"stat main.go", "du -sh .", "du -sh src docs", "file main.go", "tree", "tree -L 2 src", "find .", "find . -name '*.go'", "find . -type f -name \"*.go\" -print", "find src -maxdepth 2 -type d", "find . -name '*.go' | head", "find . -name '*.go' | wc -l",
	"grep x src/app.py", "grep -n x src/app.py main.go", "grep -rn x .", "grep -rn x src", "grep -r x", "grep -rn --include='*.go' package .", "grep -rl x src", "grep -c x src/app.py", "cat main.go | grep -v x", "egrep x main.go", "fgrep x main.go", "grep -e x main.go",
	"rg x", "rg x src", "rg -n x src docs", "rg -t go package", "rg -g '*.go' package", "rg -l x", "rg --files", "rg --files | head", "rg -e x", "rg -i -C 3 x src", "rg --hidden x src", "rg -u x src", "rg --json x src", "rg x code", "rg x main.go",
	"jq . data.json", "jq -r .a data.json", "cat data.json | jq .a", "sha256sum main.go", "md5sum main.go", "basename src/app.py", "dirname src/app.py", "realpath src/app.py", "readlink code", "pwd", "echo hello", "echo 'a b' c", "printf '%s\\n' x", "true", "date", "date +%F",
	"whoami", "uname -a", "nproc", "which go", "test -f main.go", "[ -f main.go ]", "test -d src && ls src", "cd src && ls", "cd src && cat app.py", "cd src; ls", "cd src && grep -rn x .", "cd src && rg x", "cd code && ls", "ls code", "cat code/app.py",
	"git status", "git status -s", "git status --porcelain", "git --no-pager status", "git diff", "git diff --stat", "git diff HEAD", "git diff HEAD~1", "git diff main..HEAD", "git diff --cached", "git diff --staged --stat", "git diff -- main.go", "git diff -U5", "git diff --name-only",
	"git diff HEAD~1 -- src", "git diff --word-diff", "git diff | head -50", "git log", "git log --oneline -5", "git log -3 --stat", "git log -p -2", "git log -p", "git log -p -- main.go", "git log --graph --oneline --all", "git log -p --graph --stat -1", "git log --author=x -n 3", "git log --format=%H",
	"git show", "git show HEAD", "git show HEAD~1", "git show --stat HEAD", "git show HEAD:main.go", "git show HEAD~1:a.txt | head -3", "git show -s HEAD", "git grep x", "git grep -n x", "git grep x -- src", "git grep -l x", "git blame a.txt", "git branch", "git branch -a", "git branch --show-current",
	"git rev-parse HEAD", "git rev-parse --show-toplevel", "git ls-files", "git ls-files src", "git ls-tree HEAD", "git rev-list --count HEAD", "git describe --always", "git shortlog -sn HEAD", "git merge-base main HEAD", "git check-ignore out.log", "git count-objects -v",
	"git status && git diff && git log -1", "git status; git diff", "pwd && ls -la && git status --short", "git diff HEAD~1 --stat | tail -1",
}

// asking are commands that write, run programs, leave the workspace, name a secret or may do one of these.
var asking = []string{
	// commands that write
	"ls | tee x", "touch x", "mkdir x", "cp main.go x", "mv main.go x", "ln -s main.go x", "rm x", "sed -i s/a/b/ main.go", "sed -i.bak p main.go", "sed 's/a/b/w x' main.go", "sed -n 'w x' main.go", "sed -ni p main.go",
	"sort -o x main.go", "sort main.go -ox", "sort --output=x main.go", "uniq main.go x", "uniq main.go -- x", "find . -delete", "find . -fprint x", "find . -fprintf x y", "find . -fls x", "tree -o x", "truncate -s 0 main.go", "dd if=main.go of=x", "file -C -m x", "date -s 2020-01-01", "split main.go", "csplit main.go 1",
	"git diff --output=x", "git diff --output x", "git log --output=x", "git show --output=x HEAD", "git branch x", "git branch -D x", "git branch -m x", "git tag x", "git add .", "git commit -m x", "git checkout x", "git stash", "git stash list -p", "git reset", "git config user.name x", "git config -l", "git fetch", "git pull", "git push",
	"git notes add", "git worktree add x", "git gc", "git reflog expire --all", "git update-index --refresh", "git apply x", "git cherry-pick x", "git rev-parse --parseopt x", "git bundle create x HEAD", "git archive HEAD -o x", "git format-patch -1", "xxd -r x y", "tail -f x | tee y",
	// commands that run others
	"find . -exec cat {} +", "find . -exec rm {} ;", "find . -execdir ls ;", "find . -ok ls ;", "find . | xargs cat", "ls | xargs rm", "ls | sh", "ls | bash", "bash -c ls", "sh x", "env", "env ls", "env X=1 ls", "printenv", "printenv HOME", "sudo ls", "nohup ls", "nice ls", "command ls", "builtin echo", "exec ls", "eval ls", "source x", ". x",
	"awk 1 main.go", "awk '{print}' main.go", "perl -ne print main.go", "python3 -c 1", "node -e 1", "less main.go", "more main.go", "man ls", "vi main.go", "view main.go", "watch ls", "parallel ls", "rg --pre cat x", "rg --pre=./x x", "rg --hostname-bin x x", "rg -z x", "rg --search-zip x", "fd -x rm", "fd -X rm", "fd --exec rm",
	"sort --compress-program=./x main.go", "sort --compress-program ./x main.go", "sed '1e ls' main.go", "sed 's/a/b/e' main.go", "sed -f x main.go", "git grep -O x", "git grep --open-files-in-pager=x x", "git diff --ext-diff", "git show --ext-diff", "git log --ext-diff -p", "git diff --textconv", "git log --textconv -p", "git show --textconv",
	"git -c core.pager=x log", "git -c diff.external=x diff", "git --exec-path=. status", "git --exec-path=x log", "git --config-env=a=b log", "git -p log", "git --paginate log", "git --git-dir=x status", "git --work-tree=/ status", "git -C .. status", "git -C sub log", "git --namespace x log", "git bisect run ls", "git rebase -x ls", "git difftool", "git help log", "git log --show-signature", "git log -qs -p", "git show -p --no-patch HEAD", "git diff --quiet -p", "git log --format=%GG",
	"git submodule status", "git remote -v", "git ls-remote", "git cat-file -p HEAD", "git hash-object main.go", "git var GIT_EDITOR", "git credential fill", "coproc ls", "ls & rm x", "rm x & ls", "ls & cat .env", "make", "make -n", "go test ./...", "go vet ./...", "npm test", "./ls", "/bin/ls", "bin/ls", "../ls", "l?", "gi[t] status", "jq -f x data.json", "jq -n env", "jq -n '$ENV'", "jq input_filename data.json",
	// the shell's own features
	"X=1 ls", "PATH=. ls", "LD_PRELOAD=x ls", "GIT_PAGER=x git log", "GIT_EXTERNAL_DIFF=x git diff", "GIT_DIR=x git status", "PAGER=x git log", "X=1", "export X=1", "alias ls=rm", "ls() { rm x; }; ls", "function ls { rm x; }", "for f in *; do cat $f; done", "while true; do ls; done", "case x in x) ls;; esac", "[[ -v x ]]", "test -v 'a[$(id)]'", "printf -v x y", "read x < main.go", "set -x", "trap ls EXIT",
	"cat $(ls)", "cat `ls`", "cat <(ls)", "ls >(cat)", "echo $HOME", "echo \"$HOME\"", "echo ${x:-y}", "echo $((1+1))", "echo $'x'", "cat <<X\ny\nX", "cat {main.go,data.json}", "ls ~", "cat ~/x", "cat ~root/x", "ls !(x)", "l\\\ns", "ls 3< main.go", "exec 3<main.go", "ls\r", "ls\u2028rm x", "ls\u00a0x", "ls (", "",
	// files elsewhere
	"cat /etc/passwd", "cat /etc/hosts", "ls /", "ls ..", "ls ../else", "cat ../else/other.txt", "cat src/../../else/other.txt", "cat /proc/self/environ", "cat /proc/self/root/etc/hosts", "cat /proc/self/cwd/main.go", "cat /dev/zero", "cat /dev/stdin", "cat < /dev/tcp/x/1", "head -c 10 /dev/urandom", "cat //etc/passwd", "cat /./etc/passwd", "cat /dev/fd/3", "find / -name x", "find .. -name x", "rg x /etc", "rg x ..", "grep -r x /etc", "grep -r x ..", "grep -f /etc/passwd main.go",
	"grep -R x .", "grep --dereference-recursive x .", "grep -d recurse x .", "rg -L x", "rg --follow x", "find -L .", "find . -follow", "tree -l", "ls --x=/etc", "diff main.go /etc/passwd", "cd / && ls", "cd .. && ls", "cd && ls", "cd - && ls", "cd ~ && ls", "cd away && ls", "cat away/other.txt", "ls away", "cat far.txt", "cat < far.txt", "cat f*", "ls a*", "rg x away", "grep -r x away", "grep x far.txt", "cd src && cat ../../else/other.txt",
	"git diff --no-index /etc/passwd main.go", "git diff --no-index main.go data.json", "cd sub && git status", "cd sub && git log", "cd sub; git diff", "git blame --contents /etc/passwd main.go", "wc --files0-from=x", "du -X x", "file -f x", "sort --files0-from=x", "sha256sum -c x", "date -f x", "tree --fromfile x", "ps", "ps e", "ps aux", "sleep 1", "cd src; rg x", "cd src; grep -r x .",
	// secrets by their names
	"cat .env", "cat ./.env", "cat src/.env.local", "head -1 .env", "wc -c .env", "grep x .env", "grep -r x . .env", "rg x .env", "sort .env", "cat < .env", "cat id_rsa", "cat .netrc", "cat config/secrets.yaml", "cat server.key", "cat *", "cat .*", "cat .e*", "cat .en[v]", "cat *.pem", "cat src/*", "cat .aws/credentials", "cat token", "sed -n p token", "sed -n p .env", "git show HEAD:.env", "git show :.env", "git show HEAD:token", "git show HEAD:config/credentials.json",
	"git log -p -- .env", "git diff -- .env", "git diff HEAD -- .env", "git blame .env", "git blame token", "git grep x -- .env", "cd src && cat .env", "ls .ssh", "cat .git/config.worktree/.env", "jq . .docker/config.json", "rg x *", "rg x s*", "grep -r x *", "rg -g '*' x", "rg -g '.env' x", "rg --no-ignore-vcs x", "git show --format=raw :0:main.go", "git log -L1,5:main.go", "git show deadbeef:", "cat main.go .env", "ls && cat .env", "cat main.go | cat - .env",
}

// written only read, except for the file of their output, which is judged like an edit.
var written = []string{"ls > x", "ls >> x", "ls >| x", "ls &> x", "cat main.go 2> x", "ls > sub/new"}

// TestReads: a command that only reads in the workspace asks in no mode, not even for an agent that may do nothing;
// other commands are judged as before.
func TestReads(t *testing.T) {
	e := readable(t)
	if len(freely)+len(asking) < 400 {
		t.Errorf("the corpus has %d rows", len(freely)+len(asking))
	}
	actions := map[string]permission.Action{"": {Kind: permission.Command, Dir: e.Root}} // the tool refuses that one
	for _, command := range slices.Concat(freely, asking, written) {
		if command != "" {
			actions[command] = parse(t, e, "bash", "command", command).Action
		}
	}
	for i, m := range []permission.Mode{permission.Ask, permission.AcceptEdits, permission.Plan, permission.Auto} {
		g := reader(t, m)
		for j, strict := range []bool{false, true} {
			// An ordinary run judges a command in two of the eight ways, a long one in all.
			some := func(commands []string) (some []string) {
				for n, command := range commands {
					if long.Wanted() || n%4 == (i+2*j)%4 {
						some = append(some, command)
					}
				}
				return some
			}
			for _, command := range some(freely) {
				a := actions[command]
				a.Strict = strict
				if v := g.Decide(a); v.Decision != permission.Allow || v.Reason != "only reads in the workspace" {
					t.Errorf("%s, strict %v: %q: %s (%s)", m, strict, command, v.Decision, v.Reason)
				}
			}
			for _, command := range some(asking) {
				a := actions[command]
				a.Strict = strict
				if v := g.Decide(a); v.Decision == permission.Allow || m == permission.Plan && v.Decision != permission.Deny {
					t.Errorf("%s, strict %v: %q: %s (%s)", m, strict, command, v.Decision, v.Reason)
				}
			}
			for _, command := range some(written) {
				a := actions[command]
				a.Strict = strict
				edits := !strict && (m == permission.AcceptEdits || m == permission.Auto)
				if v := g.Decide(a); (v.Decision == permission.Allow) != edits || edits && !strings.Contains(v.Reason, "writes ") {
					t.Errorf("%s, strict %v: %q: %s (%s)", m, strict, command, v.Decision, v.Reason)
				}
			}
		}
	}
}

// reader is a gate over a sandbox that prevents.
func reader(t testing.TB, m permission.Mode) *permission.Gate {
	t.Helper()
	g, err := permission.NewGate(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Boxes(permission.Prevents)
	return g
}

// searching are commands that read everything below a directory, and the kinds of files for which they ask.
var searching = map[string]string{
	"grep -rn x .": "all", "grep -r x": "all", "grep -rl x": "all", "grep -rn --include='*.go' x .": "code", "rg x": "seen", "rg x .": "seen", "rg -l x": "seen", "rg --hidden x": "all", "rg -u x": "all", "rg --no-ignore x": "all", "rg -t go x": "code",
	"git grep x": "tracked", "git grep x -- src": "tracked", "git log -p": "once", "git log -p -1": "", "git diff": "", "git diff HEAD~1": "tracked", "git diff --cached": "", "git show": "", "git show HEAD~1": "once", "git show HEAD": "", "git diff --stat HEAD~1": "", "git log --stat": "", "git show --stat HEAD~1": "",
	"ls -R": "", "find .": "", "rg --files": "", "tree": "", "git ls-files": "", "git status": "", "du -a .": "", "ls && rg x": "seen", "git status | rg x": "seen", "cd src && rg x": "", "cd src && grep -r x": "", "rg x docs": "", "grep -r x docs src": "", "cat main.go; grep -r x .": "all",
}

// TestReads_secretsBelow: a command that reads a directory with everything below it asks if it would find a file with a
// secret's name. In auto too.
func TestReads_secretsBelow(t *testing.T) {
	for name, at := range long.SomeOf(t, 2, map[string]struct {
		file string
		asks string
		add  bool
	}{
		"hidden":        {file: ".env", asks: "all"},
		"ignored":       {file: "node_modules/x/server.key", asks: "all"},
		"in plain view": {file: "config/secrets.yml", asks: "all seen"},
		"code":          {file: "secrets/db.go", asks: "all seen code"},
	}) {
		t.Run(name, func(t *testing.T) {
			e := readable(t)
			put(t, e.Root+"/"+at.file, "x=1\n")
			holdTo(t, e, at.asks)
		})
	}
	t.Run("tracked", func(t *testing.T) {
		e := readable(t)
		put(t, e.Root+"/prod.pem", "x=1\n")
		put(t, e.Root+"/.gitattributes", "")
		runGit(t, e, e.Root, "add", "prod.pem")
		runGit(t, e, e.Root, "commit", "-qm", "four")
		runGit(t, e, e.Root, "commit", "-q", "--allow-empty", "-m", "five")
		holdTo(t, e, "all seen once", "git grep x", "git grep x -- src", "git diff HEAD~1")
		for command, want := range map[string]permission.Decision{"git grep x": permission.AskHuman, "git diff HEAD~1": permission.Allow, "git diff HEAD~2": permission.AskHuman} {
			if v := reader(t, permission.Ask).Decide(parse(t, e, "bash", "command", command).Action); v.Decision != want {
				t.Errorf("%s: %+v", command, v)
			}
		}
	})
	t.Run("once tracked", func(t *testing.T) {
		e := readable(t)
		put(t, e.Root+"/.env", "x=1\nyy\nzz\nuu\nvv\n")
		runGit(t, e, e.Root, "add", ".env")
		runGit(t, e, e.Root, "commit", "-qm", "four")
		runGit(t, e, e.Root, "mv", ".env", "plain.txt")
		put(t, e.Root+"/plain.txt", "x=2\nyy\nzz\nuu\nvv\n")
		runGit(t, e, e.Root, "commit", "-qam", "five")
		g := reader(t, permission.Ask)
		for _, command := range []string{"git log -p", "git log -p -1", "git show", "git show HEAD", "git show HEAD~1", "git diff HEAD~1", "git diff HEAD~1 -- plain.txt plain.txt .", "git log -p -- .", "git show --stat -p HEAD", "git log --oneline -p", "git log -p --graph --format=%s", "git log -p --follow plain.txt", "git log --follow -p -- plain.txt"} {
			if v := g.Decide(parse(t, e, "bash", "command", command).Action); v.Decision != permission.AskHuman || !strings.Contains(v.Reason, ".env") {
				t.Errorf("%s: %+v", command, v)
			}
		}
		for _, command := range []string{"git diff", "git grep x", "git log", "git show --stat"} {
			if v := g.Decide(parse(t, e, "bash", "command", command).Action); v.Decision != permission.Allow {
				t.Errorf("%s: %+v", command, v)
			}
		}
	})
}

// holdTo decides about each of the searches: it asks if its word is one of asks.
func holdTo(t *testing.T, e *Runtime, asks string, but ...string) {
	t.Helper()
	ask, auto := reader(t, permission.Ask), reader(t, permission.Auto)
	for command, by := range searching {
		if strings.Contains(strings.Join(but, "\n"), command) {
			continue
		}
		want := permission.Allow
		if by != "" && strings.Contains(asks, by) {
			want = permission.AskHuman
		}
		a := parse(t, e, "bash", "command", command).Action
		if v := ask.Decide(a); v.Decision != want {
			t.Errorf("%s: %+v, want %s", command, v, want)
		}
		a.Boxed = true
		if v := auto.Decide(a); v.Decision != want {
			t.Errorf("%s in auto: %+v, want %s", command, v, want)
		}
	}
}

// TestReads_hostileIgnores: files that ripgrep would find anyway are checked.
func TestReads_hostileIgnores(t *testing.T) {
	for name, arm := range map[string]func(e *Runtime){
		"brought back":   func(e *Runtime) { put(t, e.Root+"/.ignore", "!.env\n"); put(t, e.Root+"/.env", "x\n") },
		"in a directory": func(e *Runtime) { put(t, e.Root+"/src/.rgignore", "!.env\n"); put(t, e.Root+"/src/.env", "x\n") },
		"by gitignore":   func(e *Runtime) { put(t, e.Root+"/.gitignore", "*.pem\n!a.pem\n"); put(t, e.Root+"/a.pem", "x\n") },
		"another name":   func(e *Runtime) { put(t, e.Root+"/.env", "x\n"); hard(t, e.Root+"/.env", e.Root+"/notes.txt") },
		"a repository": func(e *Runtime) {
			put(t, e.Root+"/sub2/.git/HEAD", "x\n")
			put(t, e.Root+"/.gitignore", "*.pem\n")
			put(t, e.Root+"/sub2/a.pem", "x\n")
		},
		"an odd pattern": func(e *Runtime) { put(t, e.Root+"/.gitignore", "a[.]pem\n"); put(t, e.Root+"/a.pem", "x\n") },
		"ignored by a link": func(e *Runtime) {
			put(t, e.Root+"/.ignore", "")
			os.Remove(e.Root + "/.ignore")
			link(t, "a.txt", e.Root+"/.ignore")
			put(t, e.Root+"/x.pem", "x\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := readable(t)
			arm(e)
			if v := reader(t, permission.Ask).Decide(parse(t, e, "bash", "command", "rg x").Action); v.Decision != permission.AskHuman {
				t.Errorf("%+v", v)
			}
		})
	}
}

func hard(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Link(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestReads_strays: a program in the workspace is not a known one.
func TestReads_strays(t *testing.T) {
	e := readable(t)
	put(t, e.Root+"/bin/ls", "#!/bin/sh\n")
	if err := os.Chmod(e.Root+"/bin/ls", 0o755); err != nil {
		t.Fatal(err)
	}
	g, path := reader(t, permission.Ask), e.Environ[0]
	for _, dirs := range []string{e.Root + "/bin:", "bin:", "./bin:", "/nowhere:bin:"} {
		e.Environ[0] = "PATH=" + dirs + strings.TrimPrefix(path, "PATH=")
		for command, want := range map[string]permission.Decision{"ls": permission.AskHuman, "cat main.go && ls": permission.AskHuman, "cat main.go": permission.Allow} {
			if v := g.Decide(parse(t, e, "bash", "command", command).Action); v.Decision != want {
				t.Errorf("%s with %s: %+v", command, dirs, v)
			}
		}
	}
	e.Environ[0] = path
	e.Environ = append(e.Environ, "RIPGREP_CONFIG_PATH=rc", "CDPATH=/")
	for _, command := range []string{"rg x", "cd src && ls"} {
		if v := g.Decide(parse(t, e, "bash", "command", command).Action); v.Decision != permission.AskHuman {
			t.Errorf("%s: %+v", command, v)
		}
	}
}

// TestReads_unseen: without the checks, no command is known to only read.
func TestReads_unseen(t *testing.T) {
	e := readable(t)
	for name, blind := range map[string]func(a *permission.Action){
		"leads": func(a *permission.Action) { a.Leads = nil }, "secrets": func(a *permission.Action) { a.Secrets = nil }, "git": func(a *permission.Action) { a.Git = nil },
		"listed": func(a *permission.Action) { a.Listed = nil }, "strays": func(a *permission.Action) { a.Strays = nil },
	} {
		a := parse(t, e, "bash", "command", "rg x && git diff").Action
		blind(&a)
		if v := reader(t, permission.Ask).Decide(a); v.Decision != permission.AskHuman {
			t.Errorf("without %s: %+v", name, v)
		}
	}
}

// TestAuto: in mode auto a command in the sandbox is free, unless it names a secret; outside it asks; a command that
// can't be parsed is refused; rules still apply.
func TestAuto(t *testing.T) {
	e := readable(t)
	put(t, e.Root+"/.env", "x\n")
	put(t, e.Root+"/plain.pem", "x\n")
	put(t, e.Root+"/token", "x\n")
	link(t, ".env", e.Root+"/looks.txt")
	hard(t, e.Root+"/token", e.Root+"/other.txt")
	g := reader(t, permission.Auto)
	free := []string{
		"go test ./...", "npm test", "make", "touch x", "rm -rf build", "python3 -c 'print(1)'", "for f in src/*.py; do python3 $f; done", "X=1 make", "ls > x", "git commit -m 'handle secrets and credentials'", "git add -A", "./configure && make -j8", "ls src/*", "ls node*/*", "wc -l src/*",
		"echo $HOME", "cat $(ls src)", "cp main.go x", "cp -v main.go x", "curl http://localhost:1/", "find . -name '*.go' -delete", "cat <<X > y\nthe token is read\nX", "sleep 1", "ls /usr/lib", "git -C sub status",
	}
	named := []string{
		"cat .env", "cat ./.env", "cat < .env", "cp .env x", "mv .env x", "cat $PWD/.env", "cat \"$PWD\"/.env", "cat .e'n'v", "cat .e\\nv", "bash -c 'cat .env'", "sh -c \"cat .env\"", "python3 -c \"open('.env').read()\"", "for f in .env x; do cat $f; done", "for f in .en?; do cat $f; done", "for f in token; do cat $f; done", "for f in loo*; do cat $f; done", "cat $(echo .env)", "echo `cat .env`",
		"cat {.env,x}", "cat <<< $(cat .env)", "tar cf x .", "tar cf - . | base64", "zip -r x .", "cp -r . /tmp/x", "cp -a . ../x", "rsync -a . x", "grep -R x .", "grep -rn x .", "grep --dereference-recursive x", "find . -exec cat {} +", "find . -type f | xargs cat", "rg --hidden -L x", "ag x", "diff -r . sub", "cat ~/.ssh/id_rsa",
		"cat $HOME/.ssh/id_rsa", "cat ~/.aws/credentials", "ls ~/.ssh", "cat plain.pem", "cat *.pem", "cat pl*", "cat token", "cat t*n", "cat looks.txt", "cat other.txt", "head -1 looks*", "source .env", ". .env", "X=$(cat .env) make", "cd src && cat ../.env", "cat @(.env|x)", "export $(cat .env | xargs)", "env $(cat .env) make", "git show HEAD:.env", "git archive HEAD", "cat /proc/self/environ", "base64 < .env > x", "[[ $(< .env) ]]",
		"cat <<X\n$(cat .env)\nX", "docker run --env-file .env x", "node --env-file=.env x.js",
	}
	for _, boxed := range []bool{true, false} {
		for _, command := range free {
			a := parse(t, e, "bash", "command", command).Action
			a.Boxed = boxed
			v := g.Decide(a)
			if boxed && (v.Decision != permission.Allow || v.Free) || !boxed && v.Decision != permission.AskHuman && !strings.HasPrefix(v.Reason, "only reads in the workspace") {
				t.Errorf("boxed %v: %q: %+v", boxed, command, v)
			}
			a.Strict = true
			if v := g.Decide(a); v.Decision != permission.AskHuman && v.Reason != "only reads in the workspace" {
				t.Errorf("strict: %q: %+v", command, v)
			}
		}
		for _, command := range named {
			a := parse(t, e, "bash", "command", command).Action
			if a.Boxed = boxed; g.Decide(a).Decision != permission.AskHuman {
				t.Errorf("boxed %v: %q: %+v", boxed, command, g.Decide(a))
			}
		}
	}
	a := parse(t, e, "bash", "command", "ls (").Action
	if a.Boxed = true; g.Decide(a).Decision != permission.Deny {
		t.Errorf("%+v", g.Decide(a))
	}
	if err := g.Allow("bash(touch *)"); err != nil {
		t.Fatal(err)
	}
	if v := g.Decide(parse(t, e, "bash", "command", "touch x").Action); v.Decision != permission.Allow || v.Reason != "allowed by bash(touch *)" {
		t.Errorf("%+v", v)
	}
	if v := g.Decide(parse(t, e, "write_file", "path", "x", "content", "y").Action); v.Decision != permission.Allow || v.Reason != "writes in the workspace, in auto mode" {
		t.Errorf("%+v", v)
	}
}
