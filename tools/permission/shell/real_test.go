package shell

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
)

var (
	realRuns = flag.Int("real-runs", 0, "how many random invocations that rules cover are run for real; 0: some, and 100 in a long run")
	realSeed = flag.Int64("real-seed", 1, "where their randomness begins")
)

// Sample values for each kind of option and operand.
var samples = map[string][]string{
	"text": {"KEY", "*", "main.go", "HEAD", ".", "x", "'", "[a-z]*"}, "prose": {"a message"}, "path": {".", "main.go", "sub", "a.txt", "a.json", "config"}, "num": {"0", "1", "5"},
	"word": {"auto", "always", "1", "name", "none", "full"}, "source": {"main.go", "sub/x.go", "*.go"}, "glob": {"*.go", "!x", "sub/*.md"}, "type": {"go", "md"}, "pkg": {".", "./..."},
	"dir": {".", "./sub"}, "goenv": {"GOPATH"}, "tip": {"HEAD", "main", "HEAD~1..HEAD"}, "pretty": {"%h %s", "oneline", "%B", "raw"}, "format": {"+%F"}, "jq": {".", ".a", "keys"}, "key": {"1", "2,2n"},
	"template": {"%s", "x"}, "select": {"x"}, "crate": {"x"},
}

// invocationOf makes a random invocation of the form from its own lists.
func invocationOf(r *rand.Rand, name []string, f form) []string {
	words := slices.Clone(name)
	opts := strings.Fields(f.opts)
	for range r.Intn(5) {
		if len(opts) == 0 {
			break
		}
		o := opts[r.Intn(len(opts))]
		id, kind, must := strings.Cut(o, "=")
		if !must {
			id, kind, _ = strings.Cut(o, "[")
			kind = strings.TrimSuffix(kind, "]")
		}
		value := ""
		if s := samples[kind]; len(s) > 0 {
			value = s[r.Intn(len(s))]
		}
		switch double := strings.HasPrefix(id, "--"); {
		case id == "-#":
			words = append(words, "-3")
		case kind == "" && !double && f.style <= apart && len(id) > 2:
			words = append(words, "-"+id[1+r.Intn(len(id)-1):][:1])
		case kind == "" || !must && r.Intn(2) == 0:
			words = append(words, id)
		case must && (r.Intn(2) == 0 || f.style == find || f.style == apart && !double):
			words = append(words, id, value)
		case double || f.style == dash:
			words = append(words, id+"="+value)
		default:
			words = append(words, id+value)
		}
	}
	if f.style == find { // its operands come first
		return append(name[:1:1], append([]string{"."}, words[len(name):]...)...)
	}
	kinds := strings.Fields(f.args)
	for i := 0; len(kinds) > 0 && i < r.Intn(4); i++ {
		kind, many := strings.CutSuffix(kinds[min(i, len(kinds)-1)], "...")
		if i >= len(kinds) && !many {
			break
		}
		words = append(words, samples[kind][r.Intn(len(samples[kind]))])
	}
	if f.after != nil && r.Intn(3) == 0 {
		words = append(words, "--")
		words = append(words, samples["source"][r.Intn(3)])
	}
	return words
}

// field is a repository with secrets in it, tracked and not.
func field(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"main.go": "package main\n\nfunc main() {} // KEY\n", "sub/x.go": "package sub // KEY\n", "a.txt": "KEY 1\nb 2\n", "a.json": `{"a": 1}`, "go.mod": "module x\n\ngo 1.24\n", "sub/y.md": "KEY\n",
		".env": "KEY=CANARY\n", "config/secrets.yaml": "KEY: CANARY\n", "sub/credentials.json": `{"KEY": "CANARY"}`, "prod.env": "KEY=CANARY\n", "id_rsa": "CANARY KEY\n",
	}
	put := func(files map[string]string) {
		for name, text := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(files)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "one")
	put(map[string]string{".env": "KEY=CANARY 2\n", "main.go": "package main\n\nfunc main() {} // KEY 2\n"})
	git("commit", "-qam", "two")
	put(map[string]string{".env": "KEY=CANARY 3\n", "config/secrets.yaml": "KEY: CANARY 3\n"})
	return dir
}

// state hashes the tree, without git's own records.
func state(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(p, filepath.Join(dir, ".git")+"/") && !strings.Contains(p, "/refs/") {
			return err
		}
		data, err := os.ReadFile(p)
		fmt.Fprintf(h, "%s %d %x\n", p, len(data), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// covered reports whether a rule with a * may cover a line of one command.
func covered(line, dir string) bool {
	s, err := Parse(line)
	if err != nil || s.Why != "" || len(s.Commands) != 1 {
		return false
	}
	c := Unwrap(s.Commands[0])
	_, ok := Covered(c.Words, dir)
	return ok && Never(c.Words) == ""
}

// Covered invocations do no harm: of random ones that rules cover, none prints a secret or changes a file.
func TestCovered_doesNoHarm(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	type one struct {
		name []string
		form form
	}
	var open []one
	var walk func(name []string, f form)
	walk = func(name []string, f form) {
		if f.opens && !f.writes && f.check == nil {
			open = append(open, one{name, f})
		}
		for sub, g := range f.subs {
			walk(append(slices.Clip(name), sub), g)
		}
	}
	slow := []string{"go", "cargo", "docker", "gh", "npm", "pnpm", "sleep", "seq", "staticcheck", "python", "python3"}
	for name, f := range forms {
		if _, err := exec.LookPath(name); err == nil && !slices.Contains(slow, name) {
			walk([]string{name}, f)
		}
	}
	slices.SortFunc(open, func(a, b one) int { return slices.Compare(a.name, b.name) })
	home, dir, r := t.TempDir(), field(t), rand.New(rand.NewSource(*realSeed))
	before, ran, runs := state(t, dir), 0, cmp.Or(*realRuns, long.Times(25, 100))
	for tries := 0; ran < runs && tries < 100*runs; tries++ {
		f := open[r.Intn(len(open))]
		line, err := Quote(invocationOf(r, f.name, f.form))
		if err != nil {
			t.Fatal(err)
		}
		if !covered(line, dir) {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cmd := exec.CommandContext(ctx, shell, "--norc", "-c", line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+home, "GIT_OPTIONAL_LOCKS=0", "MARK=CANARY")
		out, _ := cmd.CombinedOutput() // the exit code does not matter
		if ctx.Err() != nil {
			t.Errorf("%q does not end", line)
		}
		cancel()
		if bytes.Contains(out, []byte("CANARY")) {
			t.Errorf("%q prints a secret:\n%.300s", line, out)
		}
		if after := state(t, dir); after != before {
			t.Errorf("%q changes the tree", line)
			before = after
		}
	}
	t.Logf("%d invocations ran", ran)
}
