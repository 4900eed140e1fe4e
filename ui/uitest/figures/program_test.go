package figures

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Where TestMain built the programs, for the benchmarks.
const (
	programEnv = "FANTAIL_FIGURES_PROGRAM"
	emptyEnv   = "FANTAIL_FIGURES_EMPTY"
)

// TestMain builds the programs if there is a benchmark to run.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" || runtime.GOOS != "linux" {
		os.Exit(m.Run())
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fantail-figures")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if err := build(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// emptyProgram shows what was typed, with the modes of ours on its terminal and
// the program's imports linked in, so that the difference is ours alone.
const emptyProgram = `package main

import (
	tea "charm.land/bubbletea/v2"
%s
)

type model string

func (m model) Init() tea.Cmd { return nil }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, typed := msg.(tea.KeyPressMsg); typed {
		if k.String() == "backspace" {
			return m[:max(0, len(m)-1)], nil
		}
		m += model(k.Text)
	}
	return m, nil
}

func (m model) View() tea.View {
	v := tea.NewView("[Agent: none]\n\u203a " + string(m))
	v.AltScreen, v.ReportFocus, v.MouseMode = true, true, tea.MouseModeCellMotion
	return v
}

func main() { _, _ = tea.NewProgram(model(""), tea.WithFPS(120)).Run() }
`

// build builds both programs in dir. The empty one stands inside our module by
// an overlay, without a file in it.
func build(dir string) error {
	list, err := exec.Command("go", "list", "-f", `{{.Dir}}{{range .Imports}}{{"\n"}}{{.}}{{end}}`, "fantail").Output()
	if err != nil {
		return fmt.Errorf("list the program's imports: %w", err)
	}
	root, paths, _ := strings.Cut(strings.TrimSpace(string(list)), "\n")
	var imports strings.Builder
	for _, path := range strings.Fields(paths) {
		if strings.HasPrefix(path, "fantail/") {
			fmt.Fprintf(&imports, "\t_ %q\n", path)
		}
	}
	source, overlay := filepath.Join(dir, "empty.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(source, fmt.Appendf(nil, emptyProgram, imports.String()), 0o600); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "empty", "main.go"): source}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	for _, b := range []struct{ env, path string }{{programEnv, "fantail"}, {emptyEnv, "fantail/empty"}} {
		binary := filepath.Join(dir, filepath.Base(b.path))
		c := exec.Command("go", "build", "-overlay", overlay, "-o", binary, b.path)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", b.path, err, out)
		}
		if err := os.Setenv(b.env, binary); err != nil {
			return err
		}
	}
	return nil
}

// site is where the programs run: a repository, and a home of its own.
type site struct {
	dir string
	env []string
}

// newSite makes one whose model is served at base.
func newSite(t testing.TB, base string) *site {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &site{dir: dir, env: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + home, "LANG=C.UTF-8", "SHELL=/bin/sh",
		"TERM=xterm-256color", "COLORTERM=truecolor", "OLLAMA_HOST=127.0.0.1:1",
		"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + base,
	}}
}

// command is a program that stands under env, in the site.
func (s *site) command(env string) *exec.Cmd {
	c := exec.Command(os.Getenv(env))
	c.Dir, c.Env = s.dir, s.env
	return c
}
