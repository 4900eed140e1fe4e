package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// emptyProgram shows a line and what was typed, with the program's imports
// linked in, so that the difference is ours alone.
const emptyProgram = `package main

import (
	"os"
	"strconv"

	tea "charm.land/bubbletea/v2"
%s
)

type model string

func (m model) Init() tea.Cmd { return nil }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, typed := msg.(tea.KeyPressMsg); typed {
		m += model(k.Text)
	}
	return m, nil
}

func (m model) View() tea.View {
	v := tea.NewView("[empty] " + string(m))
	v.AltScreen = true
	return v
}

func main() {
	fps, _ := strconv.Atoi(os.Args[1])
	_, _ = tea.NewProgram(model(""), tea.WithFPS(fps)).Run()
}
`

// buildEmpty builds the empty program inside our module without a file in it.
func buildEmpty(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	list, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "fantail").Output()
	if err != nil {
		b.Fatal(err)
	}
	var imports strings.Builder
	for _, path := range strings.Fields(string(list)) {
		if strings.HasPrefix(path, "fantail/") {
			fmt.Fprintf(&imports, "\t_ %q\n", path)
		}
	}
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, fmt.Appendf(nil, emptyProgram, imports.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "empty", "main.go"): source}})
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		b.Fatal(err)
	}
	binary := filepath.Join(dir, "empty")
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", binary, "./empty").CombinedOutput(); err != nil {
		b.Fatalf("build the empty program: %v\n%s", err, out)
	}
	return binary
}

// BenchmarkStart measures from exec to the first frame and to the echo of a key
// typed on it, as medians in milliseconds, beside an empty program: of a start that
// starts the host too, and of one that finds it. Memory is the median of the process
// in the terminal and of the host, resident, in MB.
func BenchmarkStart(b *testing.B) {
	empty := buildEmpty(b)
	s := newSite(b)
	for _, c := range []struct {
		name, frame, echo string
		cmd               func() *exec.Cmd
		stays             bool // the host
	}{
		{name: "empty-60fps", frame: "[empty]", echo: "[empty] ~", cmd: func() *exec.Cmd { return s.other(empty, "60") }},
		{name: "empty-120fps", frame: "[empty]", echo: "[empty] ~", cmd: func() *exec.Cmd { return s.other(empty, "120") }},
		{name: "fantail", frame: home, echo: "~", cmd: func() *exec.Cmd { return s.command() }},
		{name: "fantail-attach", frame: home, echo: "~", cmd: func() *exec.Cmd { return s.command() }, stays: true},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.stays {
				t := open(b, c.cmd())
				t.until(b, home, ready)
				_ = t.cmd.Process.Signal(syscall.SIGTERM)
				t.exited(b)
			}
			var frames, keys []time.Duration
			var shows, stays []float64
			for range b.N {
				began := time.Now()
				t := open(b, c.cmd())
				frames = append(frames, t.until(b, c.frame).Sub(began))
				t.typed(b, "~")
				keys = append(keys, t.until(b, c.echo).Sub(began))
				shows = append(shows, resident(b, t.cmd.Process.Pid))
				for _, host := range s.hosts() {
					stays = append(stays, resident(b, host))
				}
				_ = t.cmd.Process.Signal(syscall.SIGTERM)
				t.exited(b)
				if !c.stays {
					s.ends(b)
				}
			}
			b.ReportMetric(millis(frames), "frame-ms")
			b.ReportMetric(millis(keys), "key-ms")
			b.ReportMetric(median(shows), "MB")
			if len(stays) > 0 {
				b.ReportMetric(median(stays), "host-MB")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// other is another program in the same place.
func (s *site) other(path string, args ...string) *exec.Cmd {
	c := exec.Command(path, args...)
	c.Dir, c.Env = s.dir, s.env
	return c
}

// millis is the median in milliseconds.
func millis(ds []time.Duration) float64 { return float64(median(ds).Microseconds()) / 1000 }

func median[T cmp.Ordered](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}
