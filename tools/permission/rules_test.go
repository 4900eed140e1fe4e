package permission

import (
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"fantail/tools/permission/shell"
)

// corpus are command lines that must ask under any rules, by class: each does harm, or is of a kind that does.
func corpus(t testing.TB) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, class := map[string][]string{}, ""
	for l := range strings.SplitSeq(string(data), "\n") {
		switch name, head := strings.CutPrefix(l, "# "); {
		case head:
			class = name
		case l != "":
			lines[class] = append(lines[class], strings.ReplaceAll(l, "⏎", "\n"))
		}
	}
	return lines
}

// wide are all valid rules with a *: one for each form of the tables.
func wide() []Rule {
	var out []Rule
	for _, name := range shell.Open() {
		out = append(out, Rule("bash("+name+" *)"))
	}
	return out
}

// day is a day's work: a command, and another of the same kind after it. covered says whether the rule offered for the
// first covers the second.
var day = []struct {
	first, then string
	covered     bool
}{
	{"go test ./...", "go test -run 'TestX|TestY' ./agents -v", true},
	{"go test ./... 2>&1 | tail -20", "go test -race -count=1 ./agents/... 2>&1 | grep -E 'FAIL|ok' | head -5", true},
	{"go test -short ./store", "go test -bench=. -benchmem -run xxx ./store", true},
	{"cd sub && go test ./...", "cd sub && go test -timeout 30s -failfast .", true},
	{"timeout 60 go test ./...", "timeout 120 go test -json ./...", true},
	{"go build ./...", "go build -tags dev -race ./cmd/x", true},
	{"go vet ./...", "go vet -tags integration ./agents", true},
	{"go list ./...", "go list -m all", true},
	{"go list -deps .", "go list -f '{{.Name}} {{.Imports}}' ./...", true},
	{"go doc fmt.Println", "go doc -all strings", true},
	{"go mod tidy", "go mod tidy -v", true},
	{"go mod why golang.org/x/mod", "go mod why -m golang.org/x/sync", true},
	{"go env GOPATH", "go env GOMODCACHE GOOS", true},
	{"go version", "go version -m bin/app", true},
	{"go fmt ./...", "go fmt ./agents", true},
	{"gofmt -l .", "gofmt -l -s agents inbox", true},
	{"gofmt -w main.go", "gofmt -w -s agents/pool.go", true},
	{"gofumpt -l .", "gofumpt -d -extra main.go", true},
	{"staticcheck ./...", "staticcheck -checks all ./agents", true},
	{"go run .", "go run ./cmd/x", false},
	{"go generate ./...", "go generate ./themes", false},
	{"golangci-lint run ./...", "golangci-lint run ./agents", false},
	{"git status", "git status --short --branch", true},
	{"git status -s", "git status --porcelain=v2 agents", true},
	{"git log --oneline -5", "git log --stat --since=yesterday main..HEAD", true},
	{"git log --oneline | head -5", "git log -n 3 --format='%h %an %s' -- main.go", true},
	{"git log --graph --all", "git log --author=me --grep=fix --no-merges", true},
	{"git diff", "git diff HEAD~1", false},
	{"git diff --stat", "git diff --name-only main...HEAD", true},
	{"git diff -- main.go", "git diff HEAD~2 -- agents/pool.go README.md", true},
	{"git show --stat HEAD", "git show --name-only HEAD~2", true},
	{"git --no-pager log --oneline -3", "git log --oneline -9 --decorate", true},
	{"git blame main.go", "git blame -L 10,20 -w agents/pool.go", true},
	{"git branch", "git branch -a -vv", true},
	{"git branch --show-current", "git branch --contains HEAD~3", true},
	{"git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", true},
	{"git ls-files", "git ls-files --others --exclude-standard agents", true},
	{"git grep -n TODO -- '*.go'", "git grep -l -i fixme", true},
	{"git add -A", "git add main.go agents/pool.go", true},
	{"git commit -m 'fix: a bug'", "git commit -am 'agents: say what the credentials/tokens are for' -q", true},
	{"git describe --tags", "git describe --tags --always --dirty", true},
	{"git stash list", "git stash list -n 3", true},
	{"git tag -l", "git tag -l 'v1.*'", true},
	{"git shortlog -sn HEAD", "git shortlog -sne --since=2024-01-01 main", true},
	{"git push", "git push origin main", false},
	{"git checkout main", "git checkout feature", false},
	{"ls", "ls -la agents", true},
	{"ls -lh *.go", "ls -1tr --color=never agents/*.go", true},
	{"cat main.go", "cat -n agents/pool.go go.mod", true},
	{"cat main.go | head -20", "cat go.sum | sort | uniq -c | sort -rn | head -3", true},
	{"head -50 main.go", "head -n 5 go.mod go.sum", true},
	{"tail -n 20 x.log", "tail -5 y.log", true},
	{"wc -l *.go", "wc -c main.go", true},
	{"stat main.go", "stat -c '%s %n' go.mod", true},
	{"file main.go", "file -b --mime-type bin/app", true},
	{"tree -L 2", "tree -a -I node_modules -L 3 agents", true},
	{"du -sh .", "du -h --max-depth=1 agents", true},
	{"df -h", "df -h .", true},
	{"which go", "which -a gofmt", true},
	{"find . -name '*.go'", "find agents -type f -name '*_test.go' -not -path './vendor/*' -mtime -2", true},
	{"find . -name '*.go' | wc -l", "find . -maxdepth 2 \\( -name '*.md' -o -name '*.txt' \\) -print | sort", true},
	{"find . -type d", "find . -empty -size +1k", true},
	{"fd pool", "fd -e go -t f test agents", true},
	{"grep -n foo main.go", "grep -in 'func .*Pool' agents/pool.go -A3", true},
	{"grep -rn --include='*.go' foo .", "grep -rn --include=*.md --exclude-dir=vendor bar agents", true},
	{"grep -c foo main.go", "grep -rl foo agents", true},
	{"rg -n 'func main' --type go", "rg -tpy -i 'def x' -C 2 src", true},
	{"rg -l TODO", "rg -g '*.go' -g '!vendor' 'type .* struct' -n", true},
	{"rg foo main.go", "rg -n -A 3 bar agents/pool.go", true},
	{"rg foo", "rg bar", false},
	{"sed -n 1,20p main.go", "sed -n '10,$p' agents/pool.go", true},
	{"sort x.txt", "sort -t, -k2,2n -r y.txt", true},
	{"uniq -c x.txt", "uniq -d y.txt", true},
	{"cut -d, -f1 x.csv", "cut -d: -f 1-3 y.csv", true},
	{"diff a.txt b.txt", "diff -u c.txt d.txt", false},
	{"cmp a.bin b.bin", "cmp -s c.bin d.bin", true},
	{"jq .version package.json", "jq -r '.scripts | keys[]' web/package.json", true},
	{"jq '.dependencies' package.json", "jq '.items[] | select(.name == \"x\") | .id' x.json", true},
	{"sha256sum a.txt", "sha256sum b.txt c.txt", true},
	{"mkdir -p a/b", "mkdir c", true},
	{"date", "date -u +%F", true},
	{"ps aux", "ps -ef | grep go", true},
	{"echo hello", "echo done && true", true},
	{"npm test", "npm test", true},
	{"npm run build", "npm run lint", false},
	{"npm ls", "npm ls --depth=0", true},
	{"make", "make test", false},
	{"cargo test", "cargo test --release pool -- --nocapture", true},
	{"cargo build", "cargo build --release -p app --locked", true},
	{"cargo clippy", "cargo clippy --all-targets -- -D warnings", true},
	{"cargo check", "cargo check --workspace --all-features", true},
	{"cargo fmt --check", "cargo fmt --check --all", true},
	{"pytest", "pytest -q -x tests/test_x.py::test_y --tb=short", true},
	{"pytest -k 'x and not y'", "pytest --lf -vv", true},
	{"python -m pytest -x", "python -m pytest tests -k slow", true},
	{"mypy src", "mypy --strict src/app.py", true},
	{"ruff check .", "ruff check --select=E,F src", true},
	{"black --check .", "black --check -q src", true},
	{"eslint .", "eslint --max-warnings 0 src --ext .ts,.tsx", true},
	{"tsc --noEmit", "tsc --noEmit -p tsconfig.build.json", true},
	{"prettier --check .", "prettier --check src README.md", true},
	{"docker ps -a", "docker ps --format '{{.Names}}'", true},
	{"gh pr view 12", "gh pr view 13 --comments", true},
	{"kubectl get pods", "kubectl get services", false},
	{"terraform plan", "terraform plan -no-color", false},
	{"./gradlew test", "./gradlew build", false},
}

// dayRules are the rules that the day's questions offered.
func dayRules(t testing.TB) []Rule {
	var out []Rule
	for _, c := range day {
		if r := gate(t, Ask).Decide(Action{Kind: Command, Command: c.first, Dir: root}).Rule; r != "" {
			out = append(out, r)
		}
	}
	return out
}

func TestRule_coversNothingOfTheCorpus(t *testing.T) {
	g := gate(t, Ask, append(dayRules(t), wide()...)...)
	n, harm := 0, 0
	for class, lines := range corpus(t) {
		for _, l := range lines {
			n++
			if v := g.Decide(Action{Kind: Command, Command: l, Dir: root}); v.Decision == Allow {
				harm++
				t.Errorf("%s: %q is allowed: %s", class, l, v.Reason)
			}
		}
	}
	t.Logf("%d of %d lines run without a question, under %d rules", harm, n, len(g.rules))
	if n < 800 {
		t.Errorf("the corpus has %d lines, it should have 800", n)
	}
}

func TestRule_offeredInADaysWorkCoversWhatComesAfter(t *testing.T) {
	covered := 0
	for _, c := range day {
		first := Action{Kind: Command, Command: c.first, Dir: root}
		v := gate(t, Ask).Decide(first)
		if v.Rule == "" {
			t.Errorf("%q offers no rule: %s", c.first, v.Reason)
			continue
		}
		g := gate(t, Ask, v.Rule)
		if w := g.Decide(first); w.Decision != Allow {
			t.Errorf("%q is not covered by its own rule %s", c.first, v.Rule)
		}
		w := g.Decide(Action{Kind: Command, Command: c.then, Dir: root})
		if got := w.Decision == Allow; got != c.covered {
			t.Errorf("%q offers %s, which covers %q: %v, want %v", c.first, v.Rule, c.then, got, c.covered)
		}
		if w.Decision == Allow {
			covered++
		}
	}
	t.Logf("%d of %d are covered by what the question before offered", covered, len(day))
	if covered*100 < 70*len(day) || len(day) < 100 {
		t.Errorf("%d of %d, should be 70 of 100", covered, len(day))
	}
}

// A rule covers only the use that it was given for.
func TestRule_coversItsOwnKindOnly(t *testing.T) {
	for _, c := range []struct{ given, not string }{
		{"gofmt -l .", "gofmt -w ."},
		{"gofmt -d main.go", "gofmt -w main.go"},
		{"gofumpt -l .", "gofumpt -w ."},
		{"goimports -l .", "goimports -w ."},
		{"cargo fmt --check", "cargo fmt"},
		{"cargo fmt --all --check", "cargo fmt --all"},
		{"cargo fmt -- --check", "cargo fmt"},
		{"black --check .", "black ."},
		{"black . --check", "black ."},
		{"ruff check .", "ruff check --fix ."},
		{"ruff format --check .", "ruff format ."},
		{"ruff format . --check", "ruff format ."},
		{"prettier --check .", "prettier --write ."},
		{"eslint .", "eslint --fix ."},
		{"tsc --noEmit", "tsc"},
		{"rustfmt --check main.rs", "rustfmt main.rs"},
		{"go fmt -n ./...", "go fmt ./..."},
		{"go test -n ./...", "go test ./..."},
		{"go test -list . ./...", "go test ./..."},
		{"go mod tidy -diff", "go mod tidy"},
		{"git add -n .", "git add ."},
		{"git commit --dry-run -m x", "git commit -m x"},
		{"pytest --co", "pytest"},
		{"cargo test --no-run", "cargo test"},
		{"git stash list", "git stash"},
		{"git tag -l", "git tag v1"},
		{"git branch", "git branch x"},
		{"git diff --stat", "git diff"},
		{"make -n", "make"},
		{"git worktree list", "git worktree prune"},
		{"go mod graph", "go mod tidy"},
		{"go build .", "go test ."},
		{"npm ls", "npm test"},
		{"python -m mypy x", "python -m pytest x"},
		{"sort -o a.txt b.txt", "cd sub && sort -o a.txt b.txt"},
	} {
		r := gate(t, Ask).Decide(Action{Kind: Command, Command: c.given, Dir: root}).Rule
		if r == "" {
			continue
		}
		if v := gate(t, Ask, r).Decide(Action{Kind: Command, Command: c.not, Dir: root}); v.Decision == Allow {
			t.Errorf("%q offers %s, which covers %q", c.given, r, c.not)
		}
	}
}

// An option that is on no list makes any invocation ask, in any position and under any rules.
func TestRule_asksForAnOptionOfNoList(t *testing.T) {
	g := gate(t, Ask, wide()...)
	r := rand.New(rand.NewSource(1))
	for _, c := range day {
		for _, command := range []string{c.first, c.then} {
			s, err := shell.Parse(command)
			if err != nil || len(s.Commands) != 1 || g.Decide(Action{Kind: Command, Command: command, Dir: root}).Decision != Allow {
				continue
			}
			words := shell.Texts(s.Commands[0].Words)
			if slices.Contains([]string{"echo", "true", "false", ":", "test", "["}, words[0]) {
				continue // its words are no options
			}
			for range 25 {
				strange := []string{"--zzz", "--zzz=1", "-%", "-%x", "-@", "--output=zz", "---", "-\\", "--zz zz"}[r.Intn(9)]
				at := 1 + r.Intn(len(words))
				with := append(append(append([]string{}, words[:at]...), strange), words[at:]...)
				text, err := ruleText(with, false)
				if err != nil {
					t.Fatal(err)
				}
				line := strings.TrimSuffix(strings.TrimPrefix(string(text), "bash("), ")")
				if v := g.Decide(Action{Kind: Command, Command: line, Dir: root}); v.Decision == Allow {
					t.Errorf("%q is allowed: %s", line, v.Reason)
				}
			}
		}
	}
}

// TestKeep_each: each kind of question that a rule can answer offers it, for the session and the project, and once it
// is kept for the project the same is not asked again; other kinds offer no rule.
func TestKeep_each(t *testing.T) {
	for _, c := range []struct {
		a      Action
		offers bool
	}{
		{Action{Tool: "bash", Kind: Command, Command: "touch x", Dir: "/w"}, true},
		{Action{Tool: "write_file", Kind: Write, Paths: []string{"/w/x"}, Dir: "/w"}, true},
		{Action{Tool: "edit_file", Kind: Write, Paths: []string{"/other/x"}, Outside: true, Dir: "/w"}, true},
		{Action{Tool: "read_file", Kind: Read, Paths: []string{"/other/x"}, Outside: true, Dir: "/w"}, true},
		{Action{Tool: "grep", Kind: Read, Paths: []string{"/other"}, Outside: true, Dir: "/w"}, true},
		{Action{Tool: "bash", Kind: Widen, Wants: NetworkRule, Dir: "/w"}, true},
		{Action{Tool: "bash", Kind: Command, Command: "sudo rm x", Dir: "/w"}, false},
		{Action{Tool: "read_file", Kind: Read, Paths: []string{"/w/.env"}, Sensitive: "a secret", Dir: "/w"}, false},
		{Action{Tool: "bash", Kind: Tamper, Dir: "/w"}, false},
		{Action{Tool: "push", Kind: Abroad, Vendor: "codex", Dir: "/w"}, false},
		{Action{Tool: "bash", Kind: Command, Command: "touch x", Strict: true, Dir: "/w"}, false},
	} {
		g := gate(t, Ask)
		v := g.Decide(c.a)
		if v.Decision != AskHuman || (v.Rule != "") != c.offers {
			t.Errorf("%s %s %s: %s, offers %q", c.a.Tool, c.a.Kind, c.a.Command, v.Decision, v.Rule)
		}
		if v.Rule == "" {
			continue
		}
		if err := g.Keep(v.Rule); err != nil {
			t.Fatal(err)
		}
		g.Forget() // the session's; the project's stay
		if again := g.Decide(c.a); again.Decision != Allow {
			t.Errorf("%s was kept, and %s %s still: %s (%s)", v.Rule, c.a.Tool, c.a.Kind, again.Decision, again.Reason)
		}
	}
}

// BenchmarkDecide_files: a decision under a hundred rules of files and as many that a human gave.
func BenchmarkDecide_files(b *testing.B) {
	g := gate(b, Ask)
	var ls Limits
	for i := range 100 {
		text := []string{"Bash(git push *)", "Bash(rm -rf *)", "Bash(npm run test:*)", "Read(./secret/**)", "Edit(src/gen/**)"}[i%5]
		ls = append(ls, limit(b, DenyList, text))
		if err := g.Allow(Rule("write(dir" + strings.Repeat("x", i) + "/**)")); err != nil {
			b.Fatal(err)
		}
	}
	g.Limit(ls)
	if err := g.Allow("bash(npm run lint)"); err != nil {
		b.Fatal(err)
	}
	a := Action{Tool: "bash", Kind: Command, Command: "cd web && env A=b timeout 60 npm run lint 2>&1 | tail -20", Dir: "/w"}
	for b.Loop() {
		if v := g.Decide(a); v.Decision == Deny {
			b.Fatal(v)
		}
	}
}

// TestRule_coversWhatPeopleWrite: rules of files also cover commands with constant texts, with variables that no
// program obeys, with parts that run at the same time, and with packages named from a lower directory.
func TestRule_coversWhatPeopleWrite(t *testing.T) {
	data, err := os.ReadFile("testdata/covered.txt")
	if err != nil {
		t.Fatal(err)
	}
	g := gate(t, Ask)
	var all []Filed
	for _, r := range wide() {
		all = append(all, Filed{Rule: r, From: "settings.json:1:1"})
	}
	g.Admit(all)
	rows := 0
	for l := range strings.Lines(string(data)) {
		rows++
		l = strings.ReplaceAll(strings.TrimSuffix(l, "\n"), "⏎", "\n")
		a := Action{Kind: Command, Command: l, Dir: root, Leads: func(string, bool) string { return "" }, Runs: func(p string) string {
			if strings.HasSuffix(p, "AGENTS.md") || strings.HasSuffix(p, ".mcp.json") {
				return p
			}
			return ""
		}}
		if v := g.Decide(a); v.Decision != Allow {
			t.Errorf("%q: %s: %s", l, v.Decision, v.Reason)
		}
	}
	if t.Logf("%d rows", rows); rows < 60 {
		t.Errorf("the corpus has %d rows", rows)
	}
}

// TestRule_redirections: a redirection is judged as a tool's write of that file: a rule for the command alone never
// covers it, and if the write is allowed it is covered with the command.
func TestRule_redirections(t *testing.T) {
	writing := func(p string) (Action, error) {
		a := Action{Kind: Write, Dir: root, Outside: strings.HasPrefix(p, "/") || strings.Contains(p, ".."), Paths: []string{root + "/" + p}}
		if strings.Contains(p, ".git/") || strings.Contains(p, "AGENTS.md") || p == ".env" {
			a.Sensitive = p
		}
		if p == "never" {
			a.Forbidden = "it is the program's own"
		}
		return a, nil
	}
	for _, c := range []struct {
		mode    Mode
		rules   []Rule
		command string
		want    Decision
	}{
		{Ask, []Rule{"bash(go test *)"}, "go test ./... > out.txt", AskHuman},
		{Ask, []Rule{"bash(go test *)", "write(*)"}, "go test ./... > out.txt", Allow},
		{Ask, []Rule{"bash(go test *)", "write(out.txt)"}, "go test ./... > out.txt 2>&1", Allow},
		{Ask, []Rule{"bash(go test *)", "write(out.txt)"}, "go test ./... > other.txt", AskHuman},
		{Ask, []Rule{"write(*)"}, "go test ./... > out.txt", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > out.txt", Allow},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... &>> out.txt", Allow},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... 2> a.txt | tail -3 > b.txt", Allow},
		{AcceptEdits, []Rule{"bash(go test *)"}, "cd sub && go test ../... > out.txt", AskHuman},
		{AcceptEdits, nil, "go test ./... > out.txt", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > never", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > /etc/x", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > ../x", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > .git/config", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > a.txt > AGENTS.md", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > .env", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > ~/x", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > $X", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > x*", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... > >(rm x)", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... <> x", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "go test ./... 3> x", AskHuman},
		{AcceptEdits, []Rule{"bash(go test *)"}, "> x", AskHuman},
		{Plan, []Rule{"bash(go test *)", "write(*)"}, "go test ./... > out.txt", Deny},
	} {
		a := Action{Kind: Command, Command: c.command, Dir: root, Writing: writing}
		if v := gate(t, c.mode, c.rules...).Decide(a); v.Decision != c.want {
			t.Errorf("%s, %v: %q: %s: %s", c.mode, c.rules, c.command, v.Decision, v.Reason)
		}
	}
	if _, err := NewGate(Ask, []Rule{"bash(ls > x)"}); err == nil {
		t.Error("a rule holds a redirection")
	}
}
