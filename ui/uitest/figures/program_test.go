package figures

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var beside = flag.String("beside", "", "`path` of another build of the program, measured in turn with this one")

// program is what is measured. TestMain builds it.
type program string

const (
	ours  program = "fantail"
	other program = "beside"
	empty program = "empty"
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

// variable is where TestMain tells the benchmarks where a program stands.
func (p program) variable() string { return "FANTAIL_FIGURES_" + strings.ToUpper(string(p)) }

func (p program) path() string { return os.Getenv(p.variable()) }

// fantails are the builds of the program that are measured.
func fantails() []program {
	if other.path() == "" {
		return []program{ours}
	}
	return []program{ours, other}
}

// programs are all that are measured, the empty one last.
func programs() []program { return append(fantails(), empty) }

// emptyProgram shows what was typed, with the modes of ours on its terminal and
// the program's imports linked in, so that the difference is ours alone. Its
// argument is whether it stays: without one, what is linked in would take it
// for a start of ours.
const emptyProgram = `package main

import (
	"os"

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

func main() {
	if os.Args[1] == "stay" {
		_, _ = tea.NewProgram(model(""), tea.WithFPS(120)).Run()
	}
}
`

// build builds the programs in dir. The empty one stands inside our module by
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
	at := map[program]string{}
	for p, pkg := range map[program]string{ours: "fantail", empty: "fantail/empty"} {
		at[p] = filepath.Join(dir, string(p))
		c := exec.Command("go", "build", "-overlay", overlay, "-o", at[p], pkg)
		c.Dir, c.Env = root, append(os.Environ(), "CGO_ENABLED=0") // as it is given to people
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	if *beside != "" {
		if at[other], err = filepath.Abs(*beside); err != nil {
			return err
		}
		if _, err := os.Stat(at[other]); err != nil {
			return fmt.Errorf("-beside: %w", err)
		}
	}
	for p, path := range at {
		if err := os.Setenv(p.variable(), path); err != nil {
			return err
		}
	}
	return nil
}

// site is where one program runs: a repository, and a home of its own.
type site struct {
	t       testing.TB
	program program
	model   *model // what it asks; may be nil
	home    string
	dir     string
	env     []string
}

// newSite makes one for p. Its model answers as m does.
func newSite(b testing.TB, p program, m model) *site {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("the figures are read from Linux's /proc")
	}
	if p.path() == "" {
		b.Fatal("the program was not built")
	}
	home := b.TempDir()
	s := &site{t: b, program: p, model: &m, home: home, dir: filepath.Join(home, "shop")}
	if err := os.MkdirAll(filepath.Join(s.dir, ".git"), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	s.env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + home, "LANG=C.UTF-8", "SHELL=/bin/sh",
		"TERM=xterm-256color", "COLORTERM=truecolor", "OLLAMA_HOST=127.0.0.1:1",
		"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + s.model.serve(b), "FANTAIL_MAX_RUNNING=20",
	}
	b.Cleanup(s.ends)
	return s
}

// command is the site's program with those arguments.
func (s *site) command(args ...string) *exec.Cmd {
	switch {
	case s.program != empty:
	case len(args) == 0:
		args = []string{"stay"}
	default:
		args = []string{"end"}
	}
	c := exec.Command(s.program.path(), args...)
	c.Dir, c.Env = s.dir, s.env
	return c
}

// run has the program carry out args, and is how long that took.
func (s *site) run(args ...string) time.Duration {
	s.t.Helper()
	took, _ := s.counted(args...)
	return took
}

// counted is run, with the pages that the command touched first: unlike its time, they are the same in each run, within
// a few, whatever the machine does beside it. A command that finds nothing has exit code 3.
func (s *site) counted(args ...string) (took time.Duration, pages int64) {
	s.t.Helper()
	c, began := s.command(args...), time.Now()
	if out, err := c.CombinedOutput(); err != nil && c.ProcessState.ExitCode() != 3 {
		s.t.Fatalf("%s %q: %v\n%s", s.program, args, err, out)
	}
	return time.Since(began), c.ProcessState.SysUsage().(*syscall.Rusage).Minflt
}

// data are the paths of that name in the workspaces of the site.
func (s *site) data(name string) []string {
	paths, _ := filepath.Glob(filepath.Join(s.home, ".local", "share", "fantail", "*", name))
	return paths
}

// hosts are the processes that hold the site's workspaces.
func (s *site) hosts() (pids []int) {
	for _, lock := range s.data("host.lock") {
		text, _ := os.ReadFile(lock)
		line, _, _ := strings.Cut(string(text), "\n")
		pid, _ := strconv.Atoi(line)
		words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(words), "\x00host\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ends ends the site's hosts, in order if they can.
func (s *site) ends() {
	for _, pid := range s.hosts() {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		for late := time.Now().Add(5 * time.Second); syscall.Kill(pid, 0) == nil; pause(time.Millisecond) {
			if time.Now().After(late) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
