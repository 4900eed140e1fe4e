package main

import (
	"bytes"
	"cmp"
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"fantail/.ci/house"
	"fantail/.ci/house/promises"
	"fantail/.ci/house/tree"
	"fantail/.ci/long"
	"fantail/store/config"
)

// The architecture's rules, read out of the source. Each fails with a sentence
// that says what to do, and each is shown small sources it must refuse.

// layers are the packages, lower ones first. A package may import those of lower lines and those before it in its own.
// Packages of tests, whose name ends in test, may import all and are imported by tests only.
var layers = [][]string{
	{"themes", "store/paths", "tools/secret", "tools/validjson", "tools/sandbox/cell", "ui/screen/watchdog"},
	{"store/sqlite", "store/config", "store"},
	{"tools/permission/shell", "tools/permission", "tools/sandbox", "tools/proc", "tools/git", "tools/files"},
	{"inbox", "inbox/policy"},
	{"tools", "tools/mcp"},
	{"agents/llm", "agents/llm/anthropic", "agents/llm/openai", "agents/llm/responses", "agents/llm/builtin"},
	{"agents/history", "agents/audit", "agents/event", "agents/tasks", "agents/approval", "agents/fleet", "agents/hooks", "agents/instructions", "agents/mail", "agents/skills", "agents/mcpconfig", "agents/schedule"},
	{"agents/recovery", "agents/engine", "agents/turn", "agents/acp"},
	{"agents"},
	{"ui/term", "ui/cells", "ui/shell", "ui/composer", "ui/crash", "ui/markdown", "ui/screen/tty", "ui/screen/wire", "ui/screen", "ui/dialog", "ui/format", "ui/transcript", "ui/tabs", "ui/intent", "ui/manual", "ui/attach", "ui/workspace", "ui/notify", "ui/panel", "ui/slash"},
	{"ui"},
	{"ui/cli", "ui/host", "ui/app"},
	{"."},
}

// confined says where a module outside of ours may be imported. A path ends in
// /... when the packages below it count too.
var confined = []house.Confined{
	{Module: "database/sql", Places: []string{"store", "store/sqlite"}},                   // its rows are read in the one, its connections are the other's
	{Module: "modernc.org/sqlite", Places: []string{"store/sqlite", "ui/uitest/figures"}}, // figures counts the pages that are read
	{Module: "charm.land/lipgloss", Places: []string{"ui/...", "themes"}},
	{Module: "charm.land/bubbletea", Places: []string{"ui/..."}},
	{Module: "charm.land/bubbles", Places: []string{"ui/..."}},
	{Module: "charm.land/glamour", Places: []string{"ui/markdown"}},
	{Module: "github.com/charmbracelet/x", Places: []string{"ui/..."}},
	{Module: "github.com/fsnotify", Places: []string{"ui/workspace"}},
	{Module: "github.com/goccy/go-yaml", Places: []string{"inbox/policy", "tools"}},
	{Module: "github.com/pelletier/go-toml", Places: []string{"store/config", "themes"}},
	{Module: "github.com/adhocore/gronx", Places: []string{"agents/schedule"}},
	{Module: "github.com/spf13", Places: []string{"ui/cli", "ui/shell"}},
	{Module: "github.com/modelcontextprotocol", Places: []string{"tools/mcp", "ui/cli"}},
	{Module: "mvdan.cc/sh", Places: []string{"tools/permission/shell"}},
}

// starters are the places that may say `go`. All other code is given a function
// that starts goroutines, so that a panic in one restores the terminal; these
// are that function, what must not depend on it, and servers of tests. A
// package may have `func(_ string, f func()) { go f() }` for want of another.
var starters = []string{"ui/crash/guard.go", "tools/proc/...", "tools/sandbox/...", "agents/llm/llmtest/...", "ui/uitest/...", "ui/screen/...", "ui/host/client.go"}

// top is what may stand beside main.go, besides dot-files.
var top = []string{
	"main.go", "main_test.go", "agents", "inbox", "store", "themes", "tools", "ui", "README.md", "LICENSE", "go.mod", "go.sum",
	"fantail", // the built program, which git ignores
}

// memory are the functions that may look at memory inside a transaction, and why what they
// find there may be older than the tx. None of it is written back.
var memory = map[string]string{
	"agents/tasks.Waits.Awaited":    "who waits is in memory only; who begins to wait beside this finds the message gone",
	"agents/fleet.Fleet.ModelOf":    "the row may name a model that is no longer configured; memory has the one that took its place",
	"agents/mail.Delivery.Arrivals": "policies decide from memory; mail that enters beside a change of them entered before it",
	"agents.Forks.handled":          "what a fork was made for, which is set once, before it begins",
	"agents/tasks.SealKey.Spent":    "a task is spent for good or until the human renews it; StartTask and RemoveTask read the row",
	"agents/fleet.Agent.Halted":     "what stopped the agent is in memory only, and was set before its turn could end of it",
	"agents/audit.Log.judgement":    "what decided about a call is in memory only, and is noted before the call begins",
	"agents/history.BlockText.Rest": "the words are what is written; nobody but their scribe writes them down",
}

// later are the functions that run a function they are given at another time.
var later = []string{"AfterCommit", "AfterFunc", "Go", "Start", "start", "nameFor", "NameFor"}

// plan is what the rules hold the source to.
func plan(t *testing.T) house.Plan {
	t.Helper()
	return house.Plan{Layers: layers, Confined: confined, Starters: starters, Top: top, Later: later, Memory: memory, Gate: "ui/screen", Sizes: sizes(t)}
}

// listed is where the sizes stand of what is too large.
const listed = ".ci/house/sizes.txt"

func sizes(t *testing.T) house.Sizes {
	t.Helper()
	text, err := os.ReadFile(listed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := house.ReadSizes(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var lower = flag.Bool("lower", false, "write down the sizes that fell")

// single are the packages that one other may import only: one starts them, or they are a protocol.
var single = []string{"ui/app", "ui/host", "ui/term", "agents/acp"}

// TestSizes reports the largest packages and types, and the packages that one other imports only:
// go test . -run TestSizes -v. With -lower it lowers the list of limited sizes to what was reached. TestRules holds the source to that list.
func TestSizes(t *testing.T) {
	report, err := house.Report(whole(t), 12)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("the largest:\n" + strings.Join(report, "\n"))
	t.Log("imported once:\n" + strings.Join(house.Single(whole(t), single), "\n"))
	if !*lower {
		return
	}
	low, err := sizes(t).Lowered(whole(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(listed, []byte(low.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// built is what the go command knows of the packages; it is asked once.
var built = sync.OnceValues(tree.Build)

// source is this source, read once: no rule changes it.
var source = sync.OnceValues(func() (*tree.Tree, error) {
	b, err := built()
	if err != nil {
		return nil, err
	}
	return tree.Read(os.DirFS("."), b)
})

// whole is this source.
func whole(t *testing.T) *tree.Tree {
	t.Helper()
	wood, err := source()
	if err != nil {
		t.Fatal(err)
	}
	return wood
}

// small is a tree as tree.Small reads it.
func small(t *testing.T, text string) *tree.Tree {
	t.Helper()
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	wood, err := tree.Small(text, b)
	if err != nil {
		t.Fatal(err)
	}
	return wood
}

func TestRules(t *testing.T) {
	wood := whole(t)
	for _, r := range append(plan(t).Rules(), promises.Rule()) {
		t.Run(r.Name, func(t *testing.T) {
			for _, f := range r.Check(wood) {
				t.Error(f)
			}
			if r.Whole != nil {
				for _, f := range r.Whole(wood) {
					t.Error(f)
				}
			}
		})
		t.Run(r.Name+" bites", func(t *testing.T) {
			for i, bad := range r.Bad {
				if f := r.Check(small(t, bad)); len(f) == 0 {
					t.Errorf("accepts the bad source %d:\n%s", i, bad)
				}
			}
			for i, good := range r.Good {
				for _, f := range r.Check(small(t, good)) {
					t.Errorf("refuses the good source %d: %s\n%s", i, f, good)
				}
			}
		})
	}
}

// TestPromises lists which tests hold which promise: go test -run Promises -v . TestRules checks them.
func TestPromises(t *testing.T) {
	table, _ := promises.Held(whole(t))
	for _, id := range slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(a[:1], b[:1]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}) {
		t.Logf("%-5s %s", id, strings.Join(table[id], " "))
	}
}

// TestLong: .ci/run has tests try as often as they do in a long run; an ordinary run is short.
func TestLong(t *testing.T) {
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s*export (FANTAIL_\w+)=(\w+)$`).FindSubmatch(script)
	if m == nil {
		t.Fatal(".ci/run asks for no long run")
	}
	for said, want := range map[string]int{"": 3, "0": 3, "-1": 3, "yes": 3, string(m[2]): 50, "10": 500} {
		t.Setenv(string(m[1]), said)
		if got := long.Times(3, 50); got != want {
			t.Errorf("%q: %d times, want %d", said, got, want)
		}
	}
	t.Setenv("FANTAIL_TEST_SEED", "18446744073709551615")
	if got := long.Seed(t); got != 1<<64-1 {
		t.Errorf("seed %d", got)
	}
	t.Setenv("FANTAIL_TEST_SEED", "")
	if a, b := long.Seed(t), long.Seed(t); a == b {
		t.Errorf("the seed is %d twice", a)
	}
}

func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile("(?m)^```sh\n(?:.*\n)*?go test \\./\\.\\.\\.").Match(data) {
		t.Error("README.md has no sh block with the test command, which .ci/run calls")
	}
	if n := bytes.Count(data, []byte("\n")); n > 150 {
		t.Errorf("README.md has %d lines; it is one page of 150, the rest is in ui/manual", n)
	}
}

var tomlBlock = regexp.MustCompile("(?sm)^```toml\n(.*?)^```")

// TestConfiguration: each block of configuration in the manual can be read, and the page on it has every key.
func TestConfiguration(t *testing.T) {
	file := path.Join(t.TempDir(), "config.toml")
	there := map[string]bool{}
	pages, err := filepath.Glob("ui/manual/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pages {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range tomlBlock.FindAllStringSubmatch(string(page), -1) {
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(file); err != nil {
				t.Errorf("%s shows\n%s%v", name, m[1], err)
			}
			for line := range strings.SplitSeq(m[1], "\n") {
				keys, _, _ := strings.Cut(line, "=")
				for _, k := range strings.FieldsFunc(keys, func(r rune) bool { return strings.ContainsRune("[]. ", r) }) {
					there[k] = there[k] || name == "ui/manual/configuration.md"
				}
			}
		}
	}
	for _, of := range []any{config.Config{}, config.Permissions{}, config.ProviderRow{}, config.ModelRow{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if key := f.Tag.Get("toml"); key != "" && !there[key] {
				t.Errorf("configuration.md does not show %s", key)
			}
		}
	}
}
