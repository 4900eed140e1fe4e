package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fantail/.ci/long"
)

// spawn starts an agent and returns its name.
func (s *site) spawn(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := s.run(t, "", append([]string{"agents", "spawn", "--json"}, args...)...)
	var a struct {
		Name     string
		ID, Task int64
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != ok || a.ID == 0 || a.Task == 0 {
		t.Fatalf("exit code %d, output %q, errors %q, %v", code, out, errs, err)
	}
	return a.Name
}

// listed waits until the agent's line of the list, as JSON, holds that. What begins with ! is not to be there.
func (s *site) listed(t *testing.T, name, want string) {
	t.Helper()
	holds(t, name+" is listed with "+want, func() bool {
		out, _, _ := s.run(t, "", "agents", "--json")
		for line := range strings.Lines(out) {
			if strings.Contains(line, fmt.Sprintf("%q", name)) {
				return lacks(line, []string{want}) == ""
			}
		}
		return false
	})
}

// Whoever is attached sees what the agent says, each word once, and tells it more; it goes on when they leave, however
// they do, and ends when they say so.
// Spec: C-1, C-3, C-12, C-14, C-17, C-18.
func TestAttach(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	if name := s.spawn(t, "--label", "auth", "--interactive", "--idle", "10m", "--prompt", "say first"); name != "auth" {
		t.Errorf("it is called %q", name)
	}
	host := s.host(t)
	c := open(t, s.command("agents", "attach", "auth"))
	c.until(t, "attached to auth: type to tell it something", "› say first", "◐ idle")
	s.listed(t, "auth", `"attached":1`)
	c.typed(t, "say second\r")
	c.until(t, "› say second", "\nsecond")

	other := s.command("agents", "attach", "auth", "--json")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	all := ""
	reads := func(want string) {
		t.Helper()
		for lines.Scan() {
			if all += lines.Text() + "\n"; strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("no %q in\n%s", want, all)
	}
	reads(`"attached":2`)
	if strings.Count(all, `"text":"first"`) != 1 || strings.Count(all, `"text":"second"`) != 1 {
		t.Errorf("a second one reads\n%s", all)
	}
	if _, err := io.WriteString(in, "\nnonsense\n{\"type\":\"UserMessage\",\"text\":\"say third\"}\n"); err != nil {
		t.Fatal(err)
	}
	reads(`"type":"error"`)
	reads(`"by":"user","text":"say third"`)
	reads(`"kind":"text","text":"third"`)
	c.until(t, "› say third", "\nthird")
	_ = other.Process.Kill()
	_ = other.Wait()
	s.listed(t, "auth", `"attached":1`)
	s.listed(t, "auth", `!"seconds_left"`)
	c.typed(t, "\x03")
	c.until(t, "detached from auth, which goes on")
	if code := c.exited(t); code != 130 {
		t.Errorf("detached with exit code %d", code)
	}
	s.listed(t, "auth", `"seconds_left":`)

	said, errs, code := s.run(t, "say fourth\n", "agents", "attach", "auth", "--end")
	if code != ok || errs != "" || !strings.HasSuffix(said, "✓ done\n") {
		t.Errorf("exit code %d, output %q, errors %q", code, said, errs)
	}
	for _, word := range []string{"first", "second", "third", "fourth"} {
		if strings.Count(said, "\n"+word+"\n") != 1 || strings.Count(said, "› say "+word) != 1 {
			t.Errorf("%q is not there once: %q", word, said)
		}
	}
	if said, errs, code := s.run(t, "", "agents", "attach", "auth"); code != ok || errs != "" || !strings.Contains(said, "auth has ended already (done)") {
		t.Errorf("exit code %d, output %q, errors %q", code, said, errs)
	}
	again, errs, code := s.run(t, "", "agents", "respawn", "auth")
	if again = strings.TrimSpace(again); code != ok || again == "" {
		t.Errorf("exit code %d, output %q, errors %q", code, again, errs)
	}
	s.listed(t, again, `"state":"idle"`)
	if _, errs, code := s.run(t, "", "agents", "end", again); code != ok {
		t.Errorf("exit code %d, errors %q", code, errs)
	}
	s.listed(t, again, `"state":"done"`)
	if now := s.host(t); now != host {
		t.Errorf("the host is %d, was %d", now, host)
	}
}

// What can't be attached to or spawned is refused with the next step, and nothing typed is lost; an agent's own command
// looks on, and tells nobody anything.
// Spec: C-13.
func TestAttach_refused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, e := range long.Some(t, 4, []struct {
		input string
		args  []string
		want  string
		code  int
	}{
		{"", []string{"attach", "auth"}, "fantail agents logs auth", failed},
		{"", []string{"attach"}, "takes one name", usage},
		{"", []string{"spawn"}, "needs --prompt", usage},
		{"", []string{"spawn", "review", "--prompt", "x"}, "in quotes", usage},
		{"", []string{"spawn", "--prompt", "x", "--idle", "5m"}, "goes with --interactive", usage},
		{"", []string{"spawn", "--prompt", "x", "--interactive", "--idle", "soon"}, "is not a time", usage},
		{"", []string{"--prompt", "x"}, "goes with spawn", usage},
		{"", []string{"logs", "auth", "--end"}, "goes with attach", usage},
	}) {
		if _, errs, code := s.run(t, e.input, append([]string{"agents"}, e.args...)...); code != e.code || !strings.Contains(errs, e.want) {
			t.Errorf("%q: exit code %d, errors %q", e.args, code, errs)
		}
	}
	if hosts := s.hosts(); len(hosts) > 0 {
		t.Errorf("hosts %d were started", hosts)
	}
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	if out, _, _ := s.run(t, "", "agents"); !strings.Contains(out, "no background agents") || !strings.Contains(out, "main") {
		t.Errorf("main alone is listed as %q", out)
	}
	if _, errs, code := s.run(t, "", "agents", "attach", "nobody"); code != failed || !strings.Contains(errs, "no such agent") {
		t.Errorf("exit code %d, errors %q", code, errs)
	}
	if _, errs, code := s.run(t, "", "agents", "attach", "main", "--end"); code != failed || !strings.Contains(errs, "has no end") {
		t.Errorf("main can be ended: exit code %d, errors %q", code, errs)
	}
	s.spawn(t, "--label", "job", "--prompt", "!touch begun; until test -e go; do sleep .05; done")
	s.exists(t, "begun")
	if _, errs, code := s.run(t, "say typed in vain\n", "agents", "attach", "job"); code != failed || !strings.Contains(errs, "not told: say typed in vain") {
		t.Errorf("exit code %d, errors %q", code, errs)
	}
	c.typed(t, "run (echo say forged | "+s.typed()+" agents attach main; "+s.typed()+" agents spawn --prompt 'say forged') > watched 2> refused; touch go\r")
	s.exists(t, "go")
	watched, _ := os.ReadFile(filepath.Join(s.dir, "watched"))
	refused, _ := os.ReadFile(filepath.Join(s.dir, "refused"))
	if !strings.Contains(string(watched), "● bash") || strings.Count(string(refused), "fantail: ") != 2 ||
		!strings.Contains(string(refused), "tells and ends none; not told: say forged") || !strings.Contains(string(refused), "this is the human's to do") {
		t.Errorf("an agent's command reads %q and is told %q", watched, refused)
	}
	s.listed(t, "job", `"state":"done"`)
}

// Whoever does not read is let go of, and told so; the agent goes on, and its host does not grow.
func TestAttach_slowReader(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	if err := os.WriteFile(filepath.Join(s.dir, "big"), []byte(strings.Repeat(strings.Repeat("x", 79)+"\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	name := s.spawn(t, "--interactive", "--prompt", "say first")
	c := s.command("agents", "attach", name, "--json")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.listed(t, name, `"attached":1`)
	if _, errs, code := s.run(t, strings.Repeat("read big\nread ./big\n", 60)+"run touch finished", "agents", "tell", name); code != ok {
		t.Fatal(errs)
	}
	s.listed(t, name, `!"attached"`)
	s.listed(t, name, `"state":"asking"`) // it goes on, up to what it needs a human for
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	if code := c.ProcessState.ExitCode(); code != failed || !strings.Contains(errs.String(), "so the host disconnected it") {
		t.Errorf("exit code %d, %v, errors %q", code, err, errs.String())
	}
	lines := strings.Split(strings.TrimSuffix(string(said), "\n"), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, `{"type":"error"`) || !strings.Contains(last, "the host disconnected it") {
		t.Errorf("its last line is %.200q", last)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is cut: %.200q", line)
		}
	}
}

// After kill -9 of the host an idle agent is idle, with what is left of its time and all it knows; one at work has
// crashed, and its task can be carried out anew; one that asks asks again.
// Spec: C-15.
func TestAttach_killedHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.spawn(t, "--label", "stays", "--interactive", "--idle", "30m", "--prompt", "say first")
	s.spawn(t, "--label", "works", "--interactive", "--prompt", "wait 10m")
	s.spawn(t, "--label", "asks", "--interactive", "--prompt", "run touch asked")
	s.listed(t, "stays", `"seconds_left":`)
	s.listed(t, "works", `"state":"running"`)
	s.listed(t, "asks", `"state":"asking"`)
	host := s.host(t)
	if err := syscall.Kill(host, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if outlives(strconv.Itoa(host)) { // who comes in its last moment can't be told what became of a task
		t.Fatal("the host outlives its kill")
	}
	s.spawn(t, "--label", "next", "--prompt", "say hi")
	s.listed(t, "stays", `"seconds_left":1`) // 17xx
	s.listed(t, "works", `"state":"crashed"`)
	s.listed(t, "asks", `"state":"asking"`)
	if _, errs, code := s.run(t, "", "agents", "tell", "stays", "now also say second"); code != ok {
		t.Fatalf("exit code %d, errors %q", code, errs)
	}
	said, errs, code := s.run(t, "", "agents", "attach", "stays", "--end")
	if code != ok || !strings.Contains(said, "\nsecond\n") || !strings.Contains(said, "earlier: `say first`") {
		t.Errorf("exit code %d, output %q, errors %q", code, said, errs)
	}
	if _, errs, code := s.run(t, "", "agents", "respawn", "works"); code != ok {
		t.Errorf("exit code %d, errors %q", code, errs)
	}
	s.listed(t, "works·1", `"state":"crashed"`)
}
