package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/tools/files"
	"fantail/tools/proc"
	"fantail/tools/sandbox"
)

// everyday is a command that agents commonly run, in a workspace that is prepared once for all of them.
type everyday struct {
	how   string
	needs string // programs
	some  bool   // a representative of its kind
}

// everydays are commands that must work without a grant. They run in this order, and later ones may use files of
// earlier ones.
func everydays() (all []everyday) {
	add := func(needs string, some bool, how ...string) {
		for _, h := range how {
			all = append(all, everyday{h, needs, some})
		}
	}
	add("git", true, `git status --short`, `git add -A && git commit -qm first`, `git log --oneline | cat`, `echo more >>app.txt && git diff --stat | cat`,
		`git commit -qam more && git push -q ../bare HEAD:refs/heads/main`)
	add("git", false, `git stash list`, `echo s >>app.txt && git stash -q && git stash pop -q && git checkout -q app.txt`, `git branch topic`,
		`git checkout -q topic && echo t >topic.txt && git add . && git commit -qm topic && git checkout -q main`, `git merge -q --no-edit topic`,
		`git checkout -q -b other HEAD~1 && git commit -q --allow-empty -m o && git rebase -q main && git checkout -q main`, `git tag v1`, `git show --stat | cat`,
		`git blame app.txt | cat`, `git grep -n more`, `git ls-files`, `git rev-parse HEAD`, `git reset -q --soft HEAD~1 && git commit -qm again`,
		`git fetch -q ../bare main`, `git cherry-pick --no-commit topic || git reset -q --hard`, `git worktree list`, `git gc -q`, `git fsck`,
		`git archive HEAD | tar t`, `git clone -q . "$(mktemp -d)/clone"`, `git clean -nd`, `git mv topic.txt moved.txt && git commit -qm moved`)
	add("go", true, `cd gomod && go build ./...`)
	add("go", long.Wanted(), `cd gomod && go vet ./...`, `cd gomod && go test ./...`, `cd gomod && go run .`)
	add("go", false, `cd gomod && go list ./...`, `cd gomod && gofmt -l .`, `cd gomod && go doc strings.Cut`, `cd gomod && go mod tidy`, `cd gomod && go env GOCACHE`,
		`cd gomod && go test -run X -count 1 ./...`, `cd gomod && go build -o /dev/null .`, `cd gomod && go version`, `cd gomod && go generate ./...`)
	add("node", true, `node -e 'console.log(1)'`, `node --test node/`)
	add("node", false, `node -e 'require("fs").writeFileSync("n.txt","x")'`, `node -e 'require("os").cpus()'`,
		`node -e 'const s=require("http").createServer((q,r)=>r.end("hi")).listen(0,()=>fetch("http://127.0.0.1:"+s.address().port).then(r=>r.text()).then(t=>{if(t!="hi")process.exit(1);s.close()}))'`,
		`node -e 'new (require("worker_threads").Worker)("1",{eval:true})'`)
	add("npm", long.Wanted(), `cd node && npm test --silent`)
	add("npm", false, `cd node && npm run --silent hello`, `mkdir -p node2 && cd node2 && npm init -y >/dev/null`,
		`cd node && npm install --silent --offline --no-audit --no-fund ./local`, `cd node && npm ls`, `npm --version`)
	add("python3", true, `python3 -c 'print(1)'`, `python3 -m unittest -q test_app`,
		`python3 -m http.server 8017 --bind 127.0.0.1 >/dev/null 2>&1 & p=$!; r=1; for i in 1 2 3 4 5 6 7 8 9; do python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8017/app.txt").read()' 2>/dev/null && r=0 && break; sleep 0.3; done; kill $p; exit $r`)
	add("python3", false, `python3 -m venv --without-pip venv && venv/bin/python -c 'print(2)'`, `python3 -m py_compile test_app.py`, `python3 -m json.tool data.json`,
		`python3 -c 'import sqlite3; sqlite3.connect("p.db").execute("create table t(a)")'`, `python3 -c 'import tempfile; tempfile.NamedTemporaryFile().write(b"x")'`,
		`python3 -c 'import subprocess; subprocess.run(["true"], check=True)'`,
		`python3 -c 'from concurrent.futures import ThreadPoolExecutor as T; list(T(4).map(abs, range(9)))'`,
		`python3 -c 'import multiprocessing as m; print(m.get_context("fork").Pool(2).map(abs, [1, -2]))'`,
		`python3 -c 'import asyncio; asyncio.run(asyncio.sleep(0))'`, `python3 -m pip --version`)
	add("make gcc", true, `make -s -C c`, `make -s -C c test`)
	add("gcc", false, `gcc -O2 -o c/two c/main.c && c/two`, `echo 'int main(){return 0;}' | gcc -xc - -o c/three`, `make -s -C c clean`)
	add("cargo", false, `cd rust && cargo build -q --offline`, `cd rust && cargo test -q --offline`)
	add("", true, `tar czf t.tgz app.txt && tar xzf t.tgz -C "$(mktemp -d)"`, `sed -i s/app/application/ app.txt`, `grep -rn application . | head -3`, `find . -name '*.go' | wc -l`,
		`for i in 1 2 3; do echo $i; done | sort -r`, "cat >heredoc.txt <<'X'\nhello\nX\ntest -s heredoc.txt", `f=$(mktemp) && echo x >"$f" && rm "$f"`, `ls -la`, `echo x >/dev/null`)
	add("", false, `cp -r gomod copy && rm -rf copy`, `mv heredoc.txt there.txt`, `chmod +x there.txt`, `ln -s app.txt link && readlink link`, `diff app.txt app.txt`,
		`wc -l app.txt`, `head -1 app.txt | tr a-z A-Z`, `awk '{print $1}' app.txt`, `xargs -n1 echo <app.txt`, `date`, `env | sort`, `id`, `df .`, `ps`, `nproc`, `ulimit -a`,
		`stat app.txt`, `touch -d yesterday app.txt`, `sha256sum app.txt`, `cat <(echo a) <(echo b)`, `sleep 0.1 & wait`, `(sleep 0.1; echo late) | cat`, `timeout 5 true`,
		`mkfifo ff && (echo x >ff &) && cat ff`, `dd if=/dev/zero of=big bs=1M count=5 2>/dev/null`, `split -l 1 app.txt part-`, `cat /etc/os-release`, `which sh`, `uname -a`,
		`mkdir -p ~/.cache || true`, `test -r /etc/passwd`, `getent passwd root`, `hostname`)
	add("rg", false, `rg -n application`)
	add("jq", true, `jq .a data.json`)
	add("sqlite3", true, `sqlite3 s.db 'create table if not exists t(a); insert into t values(1); select * from t'`)
	add("zip unzip", false, `zip -q z.zip app.txt && unzip -qo z.zip -d unzipped`)
	add("perl", false, `perl -e 'print 1'`, `perl -pi -e 's/x/y/' there.txt`)
	add("openssl", true, `openssl rand -hex 8`)
	add("openssl", false, `openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 1 -subj /CN=x 2>/dev/null`)
	add("ssh-keygen", true, `ssh-keygen -q -t ed25519 -N '' -f sshkey`)
	add("python3 curl", false, `python3 -m http.server 8018 --bind 127.0.0.1 >/dev/null 2>&1 & p=$!; curl -s --retry 9 --retry-connrefused --retry-delay 1 http://127.0.0.1:8018/app.txt; r=$?; kill $p; exit $r`)
	add("patch", false, `printf -- '--- a\n+++ b\n@@ -1 +1 @@\n-%s\n+new\n' "$(head -1 there.txt)" | patch -s there.txt`)
	add("java", false, `java -version`)
	add("tmux", false, `tmux -L inside -f /dev/null new-session -d true`)
	return all
}

// TestEveryday counts the everyday commands that work in each sandbox.
func TestEveryday(t *testing.T) {
	t.Parallel()
	at := place(t)
	for _, k := range tried() {
		t.Run(string(k), func(t *testing.T) {
			w := sandbox.Find(t.Context(), k)
			if w.Level() == sandbox.None {
				t.Skip(w.Why())
			}
			ran, failed := live(t, w, at)
			need := 95
			if w.Level() == sandbox.Detects {
				need = 80
			}
			t.Logf("%d of %d work as %d", ran-failed, ran, os.Getuid())
			if ran < 15 || (ran-failed)*100 < need*ran {
				t.Errorf("%d of %d work; %d of a hundred are to", ran-failed, ran, need)
			}
		})
	}
}

// TestEverydayAsUser repeats it without root, with the system's programs.
func TestEverydayAsUser(t *testing.T) {
	if os.Getenv(everything) == "" {
		t.Skip("root has tried it; " + everything + "=1 does it as a user, too")
	}
	asUser(t, "^TestEveryday$", "/usr/local/bin:/usr/bin:/bin")
}

// live runs the commands in one workspace.
func live(t *testing.T, w *sandbox.Backend, at string) (ran, failed int) {
	t.Helper()
	base, err := os.MkdirTemp(at, "everyday-")
	must(t, err)
	root := filepath.Join(base, "work")
	for path, text := range map[string]string{
		"app.txt": "app one\n", "data.json": `{"a":1}`, "test_app.py": "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n",
		"gomod/go.mod": "module example.com/m\n\ngo 1.22\n", "gomod/main.go": "package main\n\nfunc main() { println(\"hi\") }\n",
		"gomod/main_test.go": "package main\n\nimport (\n\t\"net/http\"\n\t\"net/http/httptest\"\n\t\"testing\"\n)\n\nfunc TestServer(t *testing.T) {\n\ts := httptest.NewServer(http.NotFoundHandler())\n\tdefer s.Close()\n\tif _, err := http.Get(s.URL); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
		"node/package.json":  `{"name":"n","version":"1.0.0","scripts":{"test":"node --test","hello":"echo hello"}}`, "node/a.test.js": "require('node:test')('a', () => {})\n",
		"node/local/package.json": `{"name":"local","version":"1.0.0"}`,
		"c/Makefile":              "all: one\none: main.c\n\tcc -o one main.c\ntest: one\n\t./one\nclean:\n\trm -f one\n", "c/main.c": "#include <stdio.h>\nint main(void) { puts(\"c\"); return 0; }\n",
		"rust/Cargo.toml": "[package]\nname = \"r\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "rust/src/main.rs": "fn main() {}\n#[test]\nfn t() {}\n", "../home/": "", "../scratch/": "",
	} {
		p := filepath.Join(root, path)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		if strings.HasSuffix(path, "/") {
			must(t, os.MkdirAll(p, 0o755))
		} else {
			must(t, os.WriteFile(p, []byte(text), 0o644))
		}
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "LANG=C.UTF-8",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	for _, n := range []string{"PYENV_ROOT", "RUSTUP_HOME", "CARGO_HOME"} {
		if v := os.Getenv(n); v != "" {
			env = append(env, n+"="+v)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		env = append(env, "RUSTUP_HOME="+filepath.Join(home, ".rustup"))
	}
	if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil { // build the standard library once
		env = append(env, "GOCACHE="+strings.TrimSpace(string(out)))
	}
	bare := filepath.Join(base, "bare")
	for _, args := range [][]string{{"init", "-q", "-b", "main", root}, {"init", "-q", "--bare", bare}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v, %s", args, err, out)
		}
	}
	g := sandbox.Workspace{Root: root, Home: filepath.Join(base, "home"), Environ: env, Scratch: filepath.Join(base, "scratch")}
	g.Kept = func() []string { return files.Protected(g.Root, nil, g.Home) }
	missing := map[string]bool{}
	for _, c := range everydays() {
		if !c.some && os.Getenv("FANTAIL_TEST_EVERYDAY") != "all" {
			continue
		}
		if slices.ContainsFunc(strings.Fields(c.needs), func(p string) bool {
			_, err := exec.LookPath(p)
			missing[p] = missing[p] || err != nil
			return err != nil
		}) {
			continue
		}
		box, err := w.Box(g, sandbox.Command, sandbox.Leave{Write: []string{bare}}, root)
		must(t, err)
		r, err := proc.Run(t.Context(), proc.Spec{Shell: c.how, Dir: root, Env: env, Box: box, Head: 1 << 12, Tail: 1 << 12, Timeout: 2 * time.Minute})
		ran++
		if err != nil || r.Exit != 0 {
			failed++
			t.Logf("%s: %v, exit code %d, %.300q", c.how, err, r.Exit, r.Text)
		}
	}
	for p, is := range missing {
		if is {
			t.Log("not here:", p)
		}
	}
	return ran, failed
}
