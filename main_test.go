package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"fantail/store/config"
)

// The architecture's rules, read out of the source. Each fails with a sentence
// that says what to do, and each is shown small sources it must refuse.

// arrows says which packages of ours a package may import. A package that is
// not here has no place yet: give it one here and in its parents' comments.
// Tests may import what they need, but the screen's packages only from there.
var arrows = map[string][]string{
	".":                    {"*"},
	"agents":               {"agents/history", "agents/llm", "agents/memory", "agents/prompts", "agents/queue", "inbox", "store", "tools", "tools/permit", "tools/proc", "tools/secret"},
	"agents/history":       {"agents/llm", "agents/memory", "inbox", "store", "tools/secret"},
	"agents/llm":           {},
	"agents/llm/anthropic": {"agents/llm", "agents/llm/wire"},
	"agents/llm/builtin":   {"agents/llm"},
	"agents/llm/llmtest":   {"agents/llm"},
	"agents/llm/openai":    {"agents/llm", "agents/llm/wire"},
	"agents/llm/wire":      {"agents/llm"},
	"agents/memory":        {"inbox", "store"},
	"agents/prompts":       {},
	"agents/queue":         {},
	"inbox":                {"store"},
	"inbox/rules":          {"inbox"},
	"store":                {},
	"store/config":         {"store/config/near"},
	"store/config/near":    {},
	"store/storetest":      {"store"},
	"themes":               {},
	"tools":                {"tools/permit", "tools/proc", "tools/secret"},
	"tools/permit":         {},
	"tools/proc":           {"tools/secret"},
	"tools/secret":         {},
	"ui": {
		"agents", "agents/history", "agents/llm", "agents/memory", "inbox", "store/config/near", "themes", "tools", "tools/permit",
		"ui/composer", "ui/dialog", "ui/files", "ui/frame", "ui/markdown", "ui/tabs", "ui/transcript", "ui/words",
	},
	"ui/cli": {
		"agents", "agents/llm", "agents/llm/anthropic", "agents/llm/builtin", "agents/llm/openai", "agents/memory", "agents/prompts",
		"inbox", "inbox/rules", "store", "store/config", "store/config/near", "themes", "tools", "tools/permit", "tools/proc", "tools/secret", "ui", "ui/frame",
	},
	"ui/composer":       {"themes", "ui/frame"},
	"ui/dialog":         {"themes", "tools/permit", "ui/frame"},
	"ui/files":          {},
	"ui/frame":          {},
	"ui/markdown":       {"themes", "ui/frame"},
	"ui/transcript":     {"agents", "agents/llm", "inbox", "themes", "ui/frame", "ui/markdown"},
	"ui/tabs":           {"agents", "inbox", "themes", "tools/permit", "ui/composer", "ui/dialog", "ui/frame", "ui/transcript", "ui/words"},
	"ui/words":          {"agents", "inbox", "themes", "ui/frame"},
	"ui/uitest":         {"*"},
	"ui/uitest/figures": {},
}

// confined says where a module outside of ours may be imported. A path ends in
// /... when the packages below it count too.
var confined = []struct {
	module string
	places []string
}{
	{"database/sql", []string{"store"}},
	{"modernc.org/sqlite", []string{"store"}},
	{"charm.land/lipgloss", []string{"ui/...", "themes"}},
	{"charm.land/bubbletea", []string{"ui/..."}},
	{"charm.land/bubbles", []string{"ui/..."}},
	{"charm.land/glamour", []string{"ui/markdown"}},
	{"github.com/charmbracelet/x", []string{"ui/..."}},
	{"github.com/anthropics", []string{"agents/llm/anthropic"}},
	{"github.com/openai", []string{"agents/llm/openai"}},
	{"github.com/fsnotify", []string{"ui/cli"}},
	{"github.com/goccy/go-yaml", []string{"inbox/rules"}},
	{"github.com/pelletier/go-toml", []string{"store/config", "themes"}},
	{"github.com/spf13", []string{"ui/cli"}},
	{"github.com/modelcontextprotocol", []string{"ui/cli"}},
	{"mvdan.cc/sh", []string{"tools/permit"}},
}

// starters are the places that may say `go`. All other code is given a function
// that starts goroutines, so that a panic in one restores the terminal; these
// are that function, what must not depend on it, and servers of tests. A
// package may have `func(_ string, f func()) { go f() }` for want of another.
var starters = []string{"ui/cli/guard.go", "tools/proc/...", "agents/llm/llmtest/...", "ui/uitest/..."}

// top is what may stand beside main.go, besides dot-files.
var top = []string{
	"main.go", "main_test.go", "agents", "inbox", "store", "themes", "tools", "ui", "README.md", "LICENSE", "go.mod", "go.sum",
	"fantail", // the built program, which git ignores
}

// source is one Go file.
type source struct {
	path, dir string
	test      bool
	syntax    *ast.File
}

// tree is what the rules read.
type tree struct {
	fsys  fs.FS
	set   *token.FileSet
	files []*source
	texts map[string]string // SQL, markdown, themes and scripts
}

// findings collects what is wrong, in the order of the files.
type findings []string

func (f *findings) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func (t *tree) at(n ast.Node) string {
	p := t.set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// plant reads a tree. Folders that begin with a dot are passed over, except .ci.
func plant(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys, set: token.NewFileSet(), texts: map[string]string{}}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(name, ".") && p != ".ci" || name == "testdata" || p == ".ci/bin") {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			data, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			syntax, err := parser.ParseFile(t.set, p, data, parser.ParseComments)
			if err != nil {
				return err
			}
			t.files = append(t.files, &source{p, path.Dir(p), strings.HasSuffix(p, "_test.go"), syntax})
		case ".sql", ".md", ".toml", ".sh", ".mod":
		default:
			if p != ".ci/run" {
				return nil
			}
		}
		if path.Ext(name) != ".go" {
			data, err := fs.ReadFile(fsys, p)
			t.texts[p] = string(data)
			return err
		}
		return nil
	})
	return t, err
}

func under(dir string, places []string) bool {
	return slices.ContainsFunc(places, func(p string) bool {
		root, deep := strings.CutSuffix(p, "/...")
		return dir == root || deep && strings.HasPrefix(dir, root+"/")
	})
}

const module = "fantail"

// ours is an import of ours without the module's name.
func ours(s *ast.ImportSpec) (string, bool) {
	p, _ := strconv.Unquote(s.Path.Value)
	if p == module {
		return ".", true
	}
	return strings.CutPrefix(p, module+"/")
}

func checkArrows(t *tree) (f findings) {
	for _, s := range t.files {
		if s.dir == ".ci" {
			continue
		}
		allowed, known := arrows[s.dir]
		if !known {
			f.add("%s: the package %s has no place in the map; give it one in arrows of main_test.go, with what it may import", s.path, s.dir)
			continue
		}
		for _, i := range s.syntax.Imports {
			p, own := ours(i)
			switch {
			case !own || p == s.dir || slices.Contains(allowed, "*") || slices.Contains(allowed, p):
			case s.test && (under(s.dir, []string{"ui/..."}) || !under(p, []string{"ui/..."})):
			default:
				f.add("%s: %s must not import %s (it may import: %s); let the caller hand in what is needed, or move the code", t.at(i), s.dir, p, strings.Join(allowed, ", "))
			}
		}
	}
	return f
}

func checkConfined(t *tree) (f findings) {
	for _, s := range t.files {
		for _, i := range s.syntax.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			for _, c := range confined {
				if (p == c.module || strings.HasPrefix(p, c.module+"/")) && !under(s.dir, c.places) && !(s.test && s.dir == ".") {
					f.add("%s: %s belongs into %s only; use what that package offers", t.at(i), c.module, strings.Join(c.places, ", "))
				}
			}
		}
	}
	return f
}

// literals calls do with each string of a file.
func literals(s *source, do func(n ast.Node, text string)) {
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				do(n, text)
			}
		}
		return true
	})
}

var (
	sqlText  = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|REPLACE|VACUUM|WITH|ATTACH|SAVEPOINT)\s+[A-Za-z_(*"]`)
	mailSQL  = regexp.MustCompile(`(?i)\b(FROM|INTO|UPDATE|JOIN|TABLE)\s+(messages|counts|mutes|policies)\b`)
	entrySQL = regexp.MustCompile(`(?i)\b(UPDATE\s+(OR\s+\w+\s+)?entries|DELETE\s+FROM\s+entries|REPLACE\s+INTO\s+entries|DROP\s+TABLE\s+(IF\s+EXISTS\s+)?entries)\b`)
)

func checkSQL(t *tree) (f findings) {
	for _, s := range t.files {
		if s.path == "main_test.go" {
			continue
		}
		literals(s, func(n ast.Node, text string) {
			switch {
			case !sqlText.MatchString(text):
			case s.dir != "store" && s.dir != "inbox":
				f.add("%s: SQL stands only in store and inbox; ask one of them for what is needed", t.at(n))
			case s.dir == "store" && !s.test && mailSQL.MatchString(text):
				f.add("%s: the tables messages, counts, mutes and policies belong to inbox; move the statement there", t.at(n))
			}
		})
	}
	return f
}

func checkAppendOnly(t *tree) (f findings) {
	for _, s := range t.files {
		if s.test { // a test may show that the triggers bite
			continue
		}
		literals(s, func(n ast.Node, text string) {
			if entrySQL.MatchString(text) {
				f.add("%s: entries are append-only; append an entry that says what changed", t.at(n))
			}
		})
	}
	schema := ""
	for _, p := range slices.Sorted(maps.Keys(t.texts)) {
		if path.Ext(p) != ".sql" {
			continue
		}
		schema += t.texts[p]
		for i, line := range strings.Split(t.texts[p], "\n") {
			if entrySQL.MatchString(line) {
				f.add("%s:%d: entries are append-only; a migration must not change them either", p, i+1)
			}
		}
	}
	for _, verb := range []string{"UPDATE", "DELETE"} {
		if !regexp.MustCompile(`(?i)CREATE\s+TRIGGER\s+\w+\s+BEFORE\s+` + verb + `\s+ON\s+entries\b`).MatchString(schema) {
			f.add("store/migrations: no trigger refuses %s on entries; create one", verb)
		}
	}
	return f
}

func checkInit(t *tree) (f findings) {
	for _, s := range t.files {
		for _, d := range s.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				f.add("%s: no init functions; let main call what must happen first", t.at(fn))
			}
		}
	}
	return f
}

func checkSleep(t *tree) (f findings) {
	for _, s := range t.files {
		if !s.test {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch name(call.Fun) {
			case "synctest.Test", "play": // what tests call their own way into a bubble
				return false // there time is fake
			case "time.Sleep":
				f.add("%s: no time.Sleep in tests; wait for what you wait for, or use fake time (testing/synctest)", t.at(n))
			}
			return true
		})
	}
	return f
}

// name is a called function's name: f, pkg.F.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := name(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	case *ast.IndexExpr:
		return name(e.X)
	}
	return ""
}

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func checkFinished(t *tree) (f findings) {
	for _, s := range t.files {
		for _, g := range s.syntax.Comments {
			for _, c := range g.List {
				if m := unfinished.FindString(c.Text); m != "" {
					f.add("%s: a comment says %s; do it, or write down why it is right as it is", t.at(c), m)
				}
			}
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && name(call.Fun) == "panic" && len(call.Args) == 1 {
				if l, ok := call.Args[0].(*ast.BasicLit); ok && (l.Value == `"contract"` || strings.Contains(strings.ToLower(l.Value), "not implemented")) {
					f.add("%s: the body is missing; write it", t.at(n))
				}
			}
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "contract" {
				f.add("%s: the type contract is a placeholder; remove it", t.at(n))
			}
			return true
		})
	}
	return f
}

func checkGo(t *tree) (f findings) {
	for _, s := range t.files {
		if s.test || under(s.path, starters) {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && plainStart(lit) {
				return false
			}
			if _, ok := n.(*ast.GoStmt); ok {
				f.add("%s: start goroutines with the function the caller hands in (Go func(name string, f func())), so that a panic restores the terminal", t.at(n))
			}
			return true
		})
	}
	return f
}

// cleaners are what may be given the program's own environment: what makes that of
// others of it, and what hides its values.
var cleaners = []string{"proc.Own", "proc.Clean", "cli.NewGuard"}

// checkChildren refuses what starts a program in another way than with an environment
// that was made for it: one that is left out is the program's own, with all its keys.
func checkChildren(t *tree) (f findings) {
	for _, s := range t.files {
		if s.test || s.dir == ".ci" || under(s.dir, []string{"ui/uitest/..."}) {
			continue
		}
		cleaned := map[ast.Node]bool{}
		for _, d := range s.syntax.Decls {
			given, env := []ast.Node{}, false
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					env = env || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { x, ok := e.(*ast.SelectorExpr); return ok && x.Sel.Name == "Env" })
				case *ast.CompositeLit:
					if n.Type != nil && name(n.Type) == "exec.Cmd" {
						f.add("%s: make it with exec.Command, so that this rule finds it", t.at(n))
					}
				case *ast.CallExpr:
					switch called := name(n.Fun); called {
					case "exec.Command", "exec.CommandContext":
						given = append(given, n)
					case "os.StartProcess", "syscall.StartProcess", "syscall.ForkExec", "syscall.Exec", "unix.Exec":
						f.add("%s: start programs with exec.Command and an environment, not with %s", t.at(n), called)
					case "os.Environ", "syscall.Environ":
						if !cleaned[n] {
							f.add("%s: the program's own environment holds keys; it is for %s only", t.at(n), strings.Join(cleaners, ", "))
						}
					default:
						for _, arg := range n.Args {
							cleaned[arg] = slices.Contains(cleaners, called)
						}
					}
				}
				return true
			})
			for _, n := range given {
				if !env {
					f.add("%s: set the command's Env to one that proc.Own, proc.Clean or proc.Bare made, in the same function", t.at(n))
				}
			}
		}
	}
	return f
}

// plainStart reports whether f only starts the function it is given.
func plainStart(f *ast.FuncLit) bool {
	if len(f.Body.List) != 1 || len(f.Type.Params.List) != 2 {
		return false
	}
	start, ok := f.Body.List[0].(*ast.GoStmt)
	given := f.Type.Params.List[1].Names
	return ok && len(given) == 1 && name(start.Call.Fun) == given[0].Name && len(start.Call.Args) == 0
}

var badName = regexp.MustCompile(`(Manager|Handler|Service|Utils?|Common|Helpers?|Impl|Base)$`)

func checkNames(t *tree) (f findings) {
	for _, s := range t.files {
		for _, part := range strings.Split(strings.TrimSuffix(s.path, ".go"), "/") {
			switch strings.TrimSuffix(part, "_test") {
			case "util", "utils", "common", "helper", "helpers", "misc", "base", "types":
				f.add("%s: %q names nothing; name the file or package after what is in it", s.path, part)
			}
		}
		for _, d := range s.syntax.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if n := spec.(*ast.TypeSpec).Name; badName.MatchString(n.Name) {
					f.add("%s: the type %s says what it is for software, not what it is; take a plain noun", t.at(n), n.Name)
				}
			}
		}
	}
	return f
}

func checkTop(t *tree) (f findings) {
	entries, err := fs.ReadDir(t.fsys, ".")
	if err != nil {
		f.add("%v", err)
	}
	for _, e := range entries {
		if n := e.Name(); !strings.HasPrefix(n, ".") && !slices.Contains(top, n) && !strings.HasSuffix(n, ".test") && !strings.HasSuffix(n, ".out") && !strings.HasSuffix(n, ".prof") {
			f.add("%s: the top level is fixed (%s); put it into one of the folders", n, strings.Join(top[:len(top)-1], ", "))
		}
	}
	return f
}

// checkTools pairs each tool's code with its description for the model.
func checkTools(t *tree) (f findings) {
	for _, p := range slices.Sorted(maps.Keys(t.texts)) {
		if path.Dir(p) == "tools" && path.Ext(p) == ".md" {
			if code := strings.TrimSuffix(p, ".md") + ".go"; !exists(t.fsys, code) {
				f.add("%s: a description without its tool; write %s or remove it", p, code)
			}
		}
	}
	for _, s := range t.files {
		if s.dir != "tools" || s.test {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || name(lit.Type) != "tool" {
				return true
			}
			for _, e := range lit.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok || name(kv.Key) != "name" {
					continue
				}
				l, ok := kv.Value.(*ast.BasicLit)
				if !ok {
					f.add("%s: name the tool with a plain string", t.at(kv))
					continue
				}
				tool, _ := strconv.Unquote(l.Value)
				for _, ext := range []string{".go", ".md"} {
					if !exists(t.fsys, "tools/"+tool+ext) {
						f.add("%s: the tool %s lacks tools/%s%s; one tool is one .go and one .md", t.at(l), tool, tool, ext)
					}
				}
			}
			return true
		})
	}
	return f
}

func exists(fsys fs.FS, p string) bool {
	_, err := fs.Stat(fsys, p)
	return err == nil
}

// The paths of one machine, and the hosts packages come from. What a test needs
// as data may name a home directory.
var (
	machine  = regexp.MustCompile(`(^|[^\w.~$}/:-])/(root|work|workspace|home|Users)/[A-Za-z.]`)
	homeDir  = regexp.MustCompile(`/(home|Users|root|work|workspace)/[A-Za-z.]`)
	registry = regexp.MustCompile(`(?i)(proxy|sum)\.golang\.org|goproxy\.|registry\.npmjs|pypi\.org|files\.pythonhosted|deb\.debian\.org|crates\.io`)
)

func checkPlaces(t *tree) (f findings) {
	look := func(at, text string, test bool) {
		if machine.MatchString(text) && !(test && homeDir.MatchString(text)) {
			f.add("%s: an absolute path of one machine; take it from the environment or a temporary directory", at)
		}
		if m := registry.FindString(text); m != "" {
			f.add("%s: %s is where one machine gets its packages; leave that to the tools' own settings", at, m)
		}
	}
	for _, s := range t.files {
		if s.path == "main_test.go" {
			continue
		}
		literals(s, func(n ast.Node, text string) { look(t.at(n), text, s.test) })
		for _, g := range s.syntax.Comments {
			look(t.at(g), g.Text(), s.test)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(t.texts)) {
		for i, line := range strings.Split(t.texts[p], "\n") {
			look(fmt.Sprintf("%s:%d", p, i+1), line, false)
		}
	}
	return f
}

func TestRules(t *testing.T) {
	whole, err := plant(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range r.check(whole) {
				t.Error(f)
			}
		})
		t.Run(r.name+" bites", func(t *testing.T) {
			for i, bad := range r.bad {
				if f := r.check(small(t, bad)); len(f) == 0 {
					t.Errorf("accepts the bad source %d:\n%s", i, bad)
				}
			}
			for i, good := range r.good {
				for _, f := range r.check(small(t, good)) {
					t.Errorf("refuses the good source %d: %s\n%s", i, f, good)
				}
			}
		})
	}
}

// small is a tree of files written as "-- PATH --" and their text.
func small(t *testing.T, text string) *tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, part := range strings.Split(text, "-- ")[1:] {
		p, body, _ := strings.Cut(part, " --\n")
		fsys[p] = &fstest.MapFile{Data: []byte(body)}
	}
	tr, err := plant(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile("(?m)^```sh\n(?:.*\n)*?go test \\./\\.\\.\\.").Match(data) {
		t.Error("README.md has no sh block with the test command, which .ci/run calls")
	}
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(data)
	if m == nil {
		t.Fatal("README.md shows no configuration")
	}
	file := path.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, m[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(file); err != nil || len(c.Rules.Allow) == 0 || c.Model == "" {
		t.Errorf("the configuration README.md shows: %+v, %v", c, err)
	}
}

// packages groups the files by folder; tests of a package from outside are left out.
func (t *tree) packages() map[string][]*source {
	ps := map[string][]*source{}
	for _, s := range t.files {
		if !strings.HasSuffix(s.syntax.Name.Name, "_test") {
			ps[s.dir] = append(ps[s.dir], s)
		}
	}
	return ps
}

// makers are calls whose result nothing changes.
var makers = []string{
	"errors.New", "fmt.Errorf", "fmt.Sprintf", "regexp.MustCompile", "reflect.TypeFor", "time.Date", "time.Duration",
	"json.RawMessage", "sync.OnceValue", "sync.OnceValues", "len", "string", "int", "int64", "float64", "rune", "byte",
}

// checkState finds package variables that are, or may become, state.
func checkState(t *tree) (f findings) {
	ps := t.packages()
	for _, dir := range slices.Sorted(maps.Keys(ps)) {
		vars := map[string]*ast.ValueSpec{}
		results := map[string]ast.Expr{} // of functions with one result
		for _, s := range ps[dir] {
			for _, d := range s.syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Type.Results.NumFields() == 1 {
					results[fn.Name.Name] = fn.Type.Results.List[0].Type
				}
			}
		}
		for _, s := range ps[dir] {
			for _, d := range s.syntax.Decls {
				gen, ok := d.(*ast.GenDecl)
				if !ok || gen.Tok != token.VAR {
					continue
				}
				for _, spec := range gen.Specs {
					v := spec.(*ast.ValueSpec)
					embedded := embeds(gen.Doc) || embeds(v.Doc) || v.Type != nil && name(v.Type) == "embed.FS"
					for i, n := range v.Names {
						switch {
						case n.Name == "_" || embedded:
						case len(v.Values) == 0:
							f.add("%s: the package variable %s is state; put it into a value that somebody owns", t.at(n), n.Name)
						case !fixed(v.Values[min(i, len(v.Values)-1)], results, s.test, true):
							f.add("%s: the package variable %s may be state; allowed are constants, tables, sentinel errors and regexps", t.at(n), n.Name)
						}
						if n.Name != "_" {
							vars[n.Name] = v
						}
					}
				}
			}
		}
		for _, s := range ps[dir] {
			changes(s.syntax, func(n ast.Node, id *ast.Ident, how string) {
				v := vars[id.Name]
				if v != nil && (id.Obj == nil || id.Obj.Decl == v) {
					f.add("%s: the package variable %s is %s; a table stays as it was written", t.at(n), id.Name, how)
				}
			})
		}
	}
	return f
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// fixed reports whether a package variable's value is one that stays.
func fixed(e ast.Expr, results map[string]ast.Expr, test, outermost bool) bool {
	in := func(e ast.Expr) bool { return fixed(e, results, test, false) }
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr, *ast.FuncLit:
		return true
	case *ast.ParenExpr:
		return in(e.X)
	case *ast.BinaryExpr:
		return in(e.X) && in(e.Y)
	case *ast.KeyValueExpr:
		return in(e.Value)
	case *ast.IndexExpr:
		return in(e.X)
	case *ast.UnaryExpr:
		return (e.Op != token.AND || !outermost) && in(e.X)
	case *ast.CompositeLit:
		if n := name(e.Type); strings.HasPrefix(n, "sync.") || strings.HasPrefix(n, "atomic.") {
			return false
		}
		return !slices.ContainsFunc(e.Elts, func(e ast.Expr) bool { return !in(e) })
	case *ast.CallExpr:
		called := name(e.Fun)
		switch _, array := e.Fun.(*ast.ArrayType); {
		case array, slices.Contains(makers, called), strings.HasPrefix(called, "strings."), test && strings.HasPrefix(called, "flag."):
		case results[called] != nil:
			switch results[called].(type) {
			case *ast.StarExpr, *ast.ChanType, *ast.InterfaceType:
				return false
			}
		default:
			return false
		}
		return !slices.ContainsFunc(e.Args, func(e ast.Expr) bool { return !in(e) })
	}
	return false
}

// changes finds what is assigned, counted, emptied, sorted or handed out by address.
func changes(file *ast.File, found func(n ast.Node, id *ast.Ident, how string)) {
	hit := func(n ast.Node, e ast.Expr, how string) {
		if id := root(e); id != nil {
			found(n, id, how)
		}
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, l := range n.Lhs {
					if n.Tok != token.DEFINE {
						hit(n, l, "assigned")
					}
				}
			case *ast.IncDecStmt:
				hit(n, n.X, "counted")
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					hit(n, n.Key, "assigned")
				}
			case *ast.UnaryExpr:
				if _, whole := n.X.(*ast.CompositeLit); n.Op == token.AND && !whole {
					hit(n, n.X, "handed out by its address")
				}
			case *ast.CallExpr:
				if len(n.Args) == 0 {
					break
				}
				switch c := name(n.Fun); {
				case c == "delete" || c == "clear" || c == "copy":
					hit(n, n.Args[0], "changed by "+c)
				case strings.HasPrefix(c, "slices.Sort") || strings.HasPrefix(c, "sort.") || c == "slices.Reverse":
					hit(n, n.Args[0], "reordered")
				}
			}
			return true
		})
	}
}

// root is the variable an expression reaches into.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// checkComments reads each package's comment: what it does, what it does not,
// and what it imports of ours, which must be so.
func checkComments(t *tree) (f findings) {
	for dir, files := range t.packages() {
		var doc *ast.CommentGroup
		imported := map[string]bool{}
		code := false
		for _, s := range files {
			if s.test {
				continue
			}
			code = true
			if s.syntax.Doc != nil && doc != nil {
				f.add("%s: the package has a second comment; keep the one at %s", t.at(s.syntax.Doc), t.at(doc))
			} else if s.syntax.Doc != nil {
				doc = s.syntax.Doc
			}
			for _, i := range s.syntax.Imports {
				if p, own := ours(i); own {
					imported[p] = true
				}
			}
		}
		switch {
		case !code:
			continue
		case doc == nil:
			f.add("%s: the package has no comment; write what it does, what it does not, and what it imports", dir)
			continue
		case dir == ".":
			for _, folder := range []string{"agents", "inbox", "store", "themes", "tools", "ui"} {
				if !strings.Contains(doc.Text(), folder) {
					f.add("%s: the map in main.go's comment does not show %s", t.at(doc), folder)
				}
			}
			continue
		}
		paragraphs := map[string]string{}
		for p := range strings.SplitSeq(doc.Text(), "\n\n") {
			if head, rest, ok := strings.Cut(p, ":"); ok && paragraphs[head] == "" {
				paragraphs[head] = strings.Join(strings.Fields(rest), " ")
			}
		}
		for _, head := range []string{"Does", "Does not", "Imports"} {
			if paragraphs[head] == "" {
				f.add("%s: the comment of %s has no paragraph that begins with %q", t.at(doc), dir, head+":")
			}
		}
		if said := paragraphs["Imports"]; said != "" {
			f = append(f, checkSaid(t.at(doc), said, imported)...)
		}
	}
	slices.Sort(f)
	return f
}

// checkSaid compares what a comment says of imports with the imports.
func checkSaid(at, said string, imported map[string]bool) (f findings) {
	named := map[string]bool{}
	for _, p := range regexp.MustCompile(`[a-z]+(?:/[a-z]+)*`).FindAllString(said, -1) {
		if _, known := arrows[p]; known {
			named[p] = true
		}
	}
	for p := range imported {
		if !named[p] && !(strings.Contains(said, "under it") && named[path.Dir(p)]) {
			f.add("%s: the paragraph Imports does not name %s, which is imported", at, p)
		}
	}
	for p := range named {
		if !imported[p] && !regexp.MustCompile(`\bnot?\b`).MatchString(said) {
			f.add("%s: the paragraph Imports names %s, which is not imported", at, p)
		}
	}
	return f
}

// declared are the names of each package, by the package's name: T, T.Method,
// T.Field, Func.
func (t *tree) declared() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, s := range t.files {
		pkg := s.syntax.Name.Name
		if s.test || pkg == "main" {
			continue
		}
		names := all[pkg]
		if names == nil {
			names = map[string]bool{}
			all[pkg] = names
		}
		for _, d := range s.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else if r := receiver(d.Recv.List[0].Type); r != nil {
					names[r.Name+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					declare(names, spec)
				}
			}
		}
	}
	return all
}

// receiver is a method's type, without its type parameters.
func receiver(e ast.Expr) *ast.Ident {
	if l, ok := e.(*ast.IndexListExpr); ok {
		e = l.X
	}
	return root(e)
}

func declare(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		var fields *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			fields = typ.Fields
		case *ast.InterfaceType:
			fields = typ.Methods
		default:
			return
		}
		for _, field := range fields.List {
			for _, n := range field.Names {
				names[spec.Name.Name+"."+n.Name] = true
			}
		}
	}
}

var (
	fenced    = regexp.MustCompile("(?sm)^```.*?^```")
	indented  = regexp.MustCompile(`(?m)^[\t ].*$`)
	ticked    = regexp.MustCompile("`([A-Za-z0-9_./*-]+)`")
	barePath  = regexp.MustCompile(`(?:^|[\s(])((?:agents|inbox|store|themes|tools|ui)/[A-Za-z0-9_./*-]+)`)
	qualified = regexp.MustCompile(`(?:^|[^\w/.])([a-z]+)\.([A-Z]\w*)(?:\.([A-Za-z]\w*))?`)
	docLink   = regexp.MustCompile(`\[\*?([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// checkExists looks up each path and name the documentation mentions.
func checkExists(t *tree) (f findings) {
	all := t.declared()
	look := func(at, pkg, text string) {
		for _, m := range ticked.FindAllStringSubmatch(text, -1) {
			checkPath(t, &f, at, m[1])
		}
		for _, m := range barePath.FindAllStringSubmatch(text, -1) {
			checkPath(t, &f, at, m[1])
		}
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			names, known := all[m[1]]
			full := m[2]
			if m[3] != "" && names[m[2]+"."+m[3]] {
				full += "." + m[3]
			}
			if known && !names[full] {
				f.add("%s: %s.%s does not exist; correct the sentence", at, m[1], full)
			}
		}
		if pkg != "" {
			for _, m := range docLink.FindAllStringSubmatch(indented.ReplaceAllString(text, ""), -1) {
				if !all[pkg][m[1]] {
					f.add("%s: [%s] does not exist in %s; correct the sentence", at, m[1], pkg)
				}
			}
		}
	}
	for _, s := range t.files {
		if s.syntax.Doc != nil && !s.test {
			pkg := s.syntax.Name.Name
			if pkg == "main" {
				pkg = ""
			}
			look(t.at(s.syntax.Doc), pkg, s.syntax.Doc.Text())
		}
	}
	readme := fenced.ReplaceAllString(t.texts["README.md"], "")
	look("README.md", "", readme)
	anchors := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(readme, -1) {
		anchors["#"+strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	for _, m := range mdLink.FindAllStringSubmatch(readme, -1) {
		if to := m[1]; !strings.Contains(to, "://") && !anchors[to] && (strings.HasPrefix(to, "#") || !exists(t.fsys, to)) {
			f.add("README.md: the link to %s leads nowhere", to)
		}
	}
	return f
}

// checkPath looks up what is written like a path in one of our folders.
func checkPath(t *tree, f *findings, at, p string) {
	p = strings.TrimRight(p, "./")
	first, _, _ := strings.Cut(p, "/")
	if first != ".ci" && (first == module || !slices.Contains(top, first)) {
		return
	}
	if before, _, stars := strings.Cut(p, "**"); stars {
		p = strings.TrimRight(before, "/")
	}
	if found, err := fs.Glob(t.fsys, p); err != nil || len(found) == 0 {
		f.add("%s: %s does not exist; correct the sentence", at, p)
	}
}

// promises are the numbers of what the specification promises and tests hold,
// by letter, from and to.
var promises = []struct {
	letter   string
	from, to int
}{
	{"O", 1, 3},
	{"O", 5, 5},
	{"O", 7, 39},
	{"O", 74, 83},
	{"N", 1, 37},
	{"Q", 1, 59},
	{"E", 1, 12},
	{"E", 19, 26},
	{"E", 29, 35},
	{"M", 1, 45},
}

var (
	specNote   = regexp.MustCompile(`Spec: ([^.]*)\.`)
	specNumber = regexp.MustCompile(`^[A-Z]-[1-9][0-9]*$`)
)

// held returns which promises the comments of tests name, and the tests that do.
func held(t *tree) (table map[string][]string, f findings) {
	table = map[string][]string{}
	for _, s := range t.files {
		for _, d := range s.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, m := range specNote.FindAllStringSubmatch(fn.Doc.Text(), -1) {
				for _, id := range strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
					switch {
					case !s.test || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz"):
						f.add("%s: %s stands at %s, which is no test; name it where it is tested", t.at(fn), id, fn.Name.Name)
					case !specNumber.MatchString(id):
						f.add("%s: %q is no number of the specification", t.at(fn), id)
					default:
						table[id] = append(table[id], fn.Name.Name)
					}
				}
			}
		}
	}
	return table, f
}

func checkPromises(t *tree) (f findings) {
	table, f := held(t)
	for _, p := range promises {
		for n := p.from; n <= p.to; n++ {
			if id := fmt.Sprintf("%s-%d", p.letter, n); len(table[id]) == 0 {
				f.add("%s: no test names it; write one, or name it in the comment of the test that holds it (Spec: %s)", id, id)
			}
		}
	}
	return f
}

// TestPromises lists which tests hold which promise: go test -run Promises -v .
// checkPromises fails where there is none.
func TestPromises(t *testing.T) {
	wood, err := plant(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checkPromises(wood) {
		t.Error(f)
	}
	table, _ := held(wood)
	for _, id := range slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(a[:1], b[:1]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}) {
		t.Logf("%-5s %s", id, strings.Join(table[id], " "))
	}
}

func TestPromises_refusesWhatIsNoTest(t *testing.T) {
	for source, want := range map[string]string{
		"-- a_test.go --\npackage a\n// Spec: Q-1, Q-2.\nfunc TestA() {}\n":      "",
		"-- a_test.go --\npackage a\n// Spec: Q1.\nfunc TestA() {}\n":            "no number",
		"-- a_test.go --\npackage a\n// Spec: Q-1.\nfunc a() {}\n":               "which is no test",
		"-- a.go --\npackage a\n// Spec: Q-1.\nfunc TestA() {}\n":                "which is no test",
		"-- a_test.go --\npackage a\n// Specs: Q-1 and so on\nfunc TestA() {}\n": "",
	} {
		wood := small(t, source)
		table, f := held(wood)
		if got := strings.Join(f, "; "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %q", source, got)
		}
		if want == "" && len(checkPromises(wood)) != 215-len(table) {
			t.Errorf("%q: %d findings", source, len(checkPromises(wood)))
		}
	}
}

// rules are all of them, with sources they must refuse and some they must accept.
var rules = []struct {
	name      string
	check     func(*tree) findings
	bad, good []string
}{
	{"imports follow the arrows", checkArrows, []string{
		"-- store/a.go --\npackage store\nimport _ \"fantail/inbox\"\n",
		"-- agents/a.go --\npackage agents\nimport _ \"fantail/agents/llm/openai\"\n",
		"-- agents/a.go --\npackage agents\nimport _ \"fantail/store/config\"\n",
		"-- tools/a.go --\npackage tools\nimport _ \"fantail/agents\"\n",
		"-- tools/a_test.go --\npackage tools\nimport _ \"fantail/ui\"\n",
		"-- ui/dialog/a.go --\npackage dialog\nimport _ \"fantail/store\"\n",
		"-- extra/a.go --\npackage extra\n",
	}, []string{
		"-- inbox/a.go --\npackage inbox\nimport _ \"fantail/store\"\n",
		"-- tools/a_test.go --\npackage tools\nimport _ \"fantail/store\"\n",
		"-- main.go --\npackage main\nimport _ \"fantail/ui/cli\"\n",
	}},
	{"other modules stay in their places", checkConfined, []string{
		"-- inbox/a.go --\npackage inbox\nimport _ \"database/sql\"\n",
		"-- agents/a.go --\npackage agents\nimport _ \"modernc.org/sqlite\"\n",
		"-- agents/a.go --\npackage agents\nimport _ \"charm.land/lipgloss/v2\"\n",
		"-- themes/a.go --\npackage themes\nimport _ \"charm.land/bubbletea/v2\"\n",
		"-- agents/llm/openai/a.go --\npackage openai\nimport _ \"github.com/anthropics/anthropic-sdk-go\"\n",
		"-- ui/cli/a_test.go --\npackage cli\nimport _ \"database/sql\"\n",
	}, []string{
		"-- store/a.go --\npackage store\nimport _ \"database/sql\"\n",
		"-- ui/markdown/a.go --\npackage markdown\nimport _ \"charm.land/lipgloss/v2\"\n",
	}},
	{"SQL stands in store and inbox", checkSQL, []string{
		"-- agents/a.go --\npackage agents\nconst q = \"SELECT id FROM tasks\"\n",
		"-- agents/a_test.go --\npackage agents\nconst q = `\n\tUPDATE tasks SET state = 1`\n",
		"-- store/a.go --\npackage store\nconst q = \"INSERT INTO messages (body) VALUES (?)\"\n",
		"-- store/a.go --\npackage store\nconst q = \"SELECT n FROM tasks JOIN counts ON 1\"\n",
	}, []string{
		"-- inbox/a.go --\npackage inbox\nconst q = \"UPDATE messages SET taken = 1\"\n",
		"-- agents/a.go --\npackage agents\nconst q = \"Select one of the models\"\n",
	}},
	{"entries are append-only", checkAppendOnly, []string{
		"-- store/a.go --\npackage store\nconst q = \"UPDATE entries SET text = ?\"\n",
		"-- inbox/a.go --\npackage inbox\nconst q = \"delete from entries where seq = 1\"\n",
		"-- store/migrations/2.sql --\nCREATE TRIGGER a BEFORE UPDATE ON entries BEGIN SELECT 1; END;\n",
		"-- store/migrations/2.sql --\nCREATE TRIGGER a BEFORE UPDATE ON entries\nCREATE TRIGGER b BEFORE DELETE ON entries\nDELETE FROM entries;\n",
	}, []string{
		"-- store/migrations/2.sql --\nCREATE TRIGGER a BEFORE UPDATE ON entries\nCREATE TRIGGER b BEFORE DELETE ON entries\n-- store/a.go --\npackage store\nconst q = \"INSERT INTO entries VALUES (?)\"\n",
	}},
	{"no init", checkInit, []string{"-- a.go --\npackage main\nfunc init() {}\n"}, []string{"-- a.go --\npackage main\ntype t int\nfunc (t) init() {}\n"}},
	{"no state in packages", checkState, []string{
		"-- a.go --\npackage main\nvar n int\n",
		"-- a.go --\npackage main\nimport \"sync\"\nvar m sync.Mutex\n",
		"-- a.go --\npackage main\nvar m = make(map[string]int)\n",
		"-- a.go --\npackage main\nvar p = &struct{ n int }{}\n",
		"-- a.go --\npackage main\nvar m = map[string]int{}\nfunc f() { m[\"a\"] = 1 }\n",
		"-- a.go --\npackage main\nvar m = map[string]int{}\nfunc f() { delete(m, \"a\") }\n",
		"-- a.go --\npackage main\nvar n = 1\n-- b.go --\npackage main\nfunc f() { n++ }\n",
		"-- a.go --\npackage main\nvar n = 1\nfunc f() *int { return &n }\n",
		"-- a.go --\npackage main\nvar s = []int{2, 1}\nfunc f() { slices.Sort(s) }\n",
		"-- a.go --\npackage main\nvar s = struct{ n int }{}\nfunc f() { s.n = 2 }\n",
		"-- a.go --\npackage main\nvar c = open()\nfunc open() *int { return nil }\n",
		"-- a.go --\npackage main\nvar f = flag.Bool(\"x\", false, \"\")\n",
		"-- a_test.go --\npackage main\nvar n int\n",
		"-- a.go --\npackage main\nvar p, q = 1, &struct{}{}\n",
	}, []string{
		"-- a.go --\npackage main\nvar _ I = T{}\nvar e = errors.New(\"x\")\nvar r = regexp.MustCompile(`x`)\n//go:embed a.md\nvar s string\nvar t = []T{{1, 2}, {n: 3}}\nvar w = words()\nfunc words() []string { return nil }\n",
		"-- a.go --\npackage main\nvar n = 1\nfunc f() { n := 2; n++; for n = range 3 {} }\n",
		"-- a_test.go --\npackage main\nvar f = flag.Bool(\"x\", false, \"\")\n",
	}},
	{"tests do not sleep", checkSleep, []string{
		"-- a_test.go --\npackage main\nfunc f() { time.Sleep(1) }\n",
		"-- a_test.go --\npackage main\nfunc f() { go func() { time.Sleep(time.Second) }() }\n",
	}, []string{"-- a_test.go --\npackage main\nfunc f() { synctest.Test(nil, func() { time.Sleep(1) }) }\n"}},
	{"nothing is left unfinished", checkFinished, []string{
		"-- a.go --\npackage main\n// TODO: more\n",
		"-- a.go --\npackage main\nfunc f() { panic(\"contract\") }\n",
		"-- a.go --\npackage main\ntype contract struct{}\n",
	}, []string{"-- a.go --\npackage main\nconst s = \"grep TODO\"\nfunc f() { panic(\"store: a Tx inside a Tx\") }\n"}},
	{
		"goroutines start in their places", checkGo,
		[]string{
			"-- agents/a.go --\npackage agents\nfunc f() { go f() }\n",
			"-- agents/a.go --\npackage agents\nvar f = func(s string, f func()) { go g() }\n",
		},
		[]string{"-- tools/proc/a.go --\npackage proc\nfunc f() { go f() }\n-- store/a.go --\npackage store\nvar g = func(_ string, f func()) { go f() }\n-- agents/a_test.go --\npackage agents\nfunc f() { go f() }\n"},
	},
	{"no program is started with a key in its environment", checkChildren, []string{
		"-- tools/a.go --\npackage tools\nfunc f() { exec.Command(\"rg\").Run() }\n",
		"-- ui/a.go --\npackage ui\nfunc f() { c := exec.CommandContext(ctx, \"vi\"); c.Dir = \"/\"; c.Run() }\n",
		"-- ui/a.go --\npackage ui\nfunc f() { c := exec.Command(\"vi\"); c.Env = e; c.Run() }\nvar g = exec.Command(\"vi\")\n",
		"-- ui/a.go --\npackage ui\nfunc f() { c := exec.Cmd{Path: \"vi\"}; c.Env = e }\n",
		"-- tools/a.go --\npackage tools\nfunc f() { os.StartProcess(\"a\", nil, nil) }\n",
		"-- tools/a.go --\npackage tools\nfunc f() { syscall.Exec(\"a\", nil, nil) }\n",
		"-- ui/a.go --\npackage ui\nfunc f() { c := exec.Command(\"vi\"); c.Env = os.Environ() }\n",
		"-- main.go --\npackage main\nvar e = append(os.Environ(), \"A=b\")\n",
	}, []string{
		"-- tools/a.go --\npackage tools\nfunc f() { c := exec.Command(\"rg\"); c.Env = e }\n-- main.go --\npackage main\nvar e = proc.Clean(os.Environ(), keys)\n" +
			"-- tools/a_test.go --\npackage tools\nfunc f() { exec.Command(\"git\").Run() }\n",
	}},
	{"names say what a thing is", checkNames, []string{
		"-- a.go --\npackage main\ntype MailManager struct{}\n", "-- ui/utils.go --\npackage ui\n", "-- store/common/a.go --\npackage common\n",
	}, []string{"-- a.go --\npackage main\ntype Mailbox struct{}\n"}},
	{"the top level holds what it may", checkTop, []string{"-- util/a.go --\npackage util\n", "-- Makefile --\n"}, []string{"-- main.go --\npackage main\n-- .gitignore --\n"}},
	{"a tool is its code and its text", checkTools, []string{
		"-- tools/a.md --\nText.\n", "-- tools/a.go --\npackage tools\nvar _ = tool{name: \"a\"}\n", "-- tools/a.md --\n-- tools/all.go --\npackage tools\nvar _ = tool{name: \"a\"}\n",
	}, []string{"-- tools/a.md --\n-- tools/a.go --\npackage tools\nvar _ = tool{name: \"a\"}\n"}},
	{"no machine is named", checkPlaces, []string{
		"-- a.go --\npackage main\nconst p = \"/root/.cache\"\n", "-- a.go --\npackage main\n// see /work/main\n", "-- README.md --\nclone it to /home/me\n",
		"-- .ci/run --\nGOPROXY=https://proxy.golang.org\n",
	}, []string{"-- a_test.go --\npackage main\nconst p = \"/home/me\"\n", "-- a.go --\npackage main\nconst p = \"~/work/x /tmp /usr/bin\"\n"}},
	{"package comments are whole and true", checkComments, []string{
		"-- store/a.go --\npackage store\n",
		"-- store/a.go --\n// Package store is.\n//\n// Does: x.\n//\n// Imports: nothing of ours.\npackage store\n",
		"-- inbox/a.go --\n// Package inbox is.\n//\n// Does: x.\n//\n// Does not: y.\n//\n// Imports: nothing of ours.\npackage inbox\nimport _ \"fantail/store\"\n",
		"-- inbox/a.go --\n// Package inbox is.\n//\n// Does: x.\n//\n// Does not: y.\n//\n// Imports: store, themes.\npackage inbox\nimport _ \"fantail/store\"\n",
		"-- main.go --\n// Fantail. agents inbox store tools ui\npackage main\n",
		"-- ui/a.go --\n// Package ui is.\npackage ui\n-- ui/b.go --\n// Package ui is.\npackage ui\n",
	}, []string{"-- inbox/a.go --\n// Package inbox is.\n//\n// Does: x.\n//\n// Does not: y.\n//\n// Imports: store.\npackage inbox\nimport _ \"fantail/store\"\n"}},
	{"what the documentation names exists", checkExists, []string{
		"-- README.md --\nsee `store/gone.go`\n", "-- README.md --\n`store.Gone` does it\n-- store/a.go --\npackage store\n", "-- README.md --\n[x](ui/none.svg)\n", "-- README.md --\n[x](#none)\n",
		"-- store/a.go --\n// Package store is [Gone].\npackage store\n", "-- store/a.go --\n// Package store calls store.Open.\npackage store\n",
		"-- store/a.go --\n// Package store stands beside inbox/gone.\npackage store\n", "-- main.go --\n// main is in ui/gone.go.\npackage main\n",
		"-- store/a.go --\n// Package store has [DB.Gone].\npackage store\ntype DB struct{}\n",
	}, []string{
		"-- README.md --\n# A b\n`store` [x](#a-b) `store/*.go` `go test ./...`\n```sh\n`ui/gone`\n```\n-- store/a.go --\n// Package store has [DB.Write], store.DB and io.Reader.\npackage store\ntype DB struct{}\nfunc (*DB) Write() {}\n",
	}},
}
