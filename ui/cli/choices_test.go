package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// with is the site with more of an environment, or less: a name alone is taken away.
func (s *site) with(env ...string) *site {
	c := *s
	for _, e := range env {
		name, _, set := strings.Cut(e, "=")
		c.env = slices.DeleteFunc(slices.Clone(c.env), func(had string) bool { return strings.HasPrefix(had, name+"=") })
		if set {
			c.env = append(c.env, e)
		}
	}
	return &c
}

// shows starts the program on a terminal and waits for what it shows, types what is
// to be typed, each after the screen shows what was to come of the one before, and quits, so
// that the host ends too.
func (s *site) shows(t *testing.T, args []string, want []string, typed ...[2]string) {
	t.Helper()
	c := open(t, s.command(args...))
	c.until(t, append(want, home)...)
	for _, step := range typed {
		c.typed(t, step[0])
		c.until(t, step[1])
	}
	host := s.host(t)
	c.typed(t, "/quit\r")
	c.awaits(t)
	if code := c.exited(t); code != ok {
		t.Errorf("exit code %d", code)
	}
	if outlives(strconv.Itoa(host)) {
		t.Error("the host outlives /quit")
	}
}

// awaits waits until the program leaves the screen. What was waited for may show while
// its turn still runs; then the program asks what shall become of that.
func (c *console) awaits(t *testing.T) {
	t.Helper()
	late := time.NewTimer(wait)
	defer late.Stop()
	for asked := false; ; {
		c.mu.Lock()
		screen, changed := c.screen.String(), c.changed
		c.mu.Unlock()
		if !asked && strings.Contains(screen, "wait until they are done, then quit") {
			asked = true
			c.typed(t, "w")
		}
		select {
		case <-changed:
		case <-c.end:
			return
		case <-late.C:
			return // who waits for the end says so
		}
	}
}

// What was chosen on a screen is there at the next start in the same workspace; a
// flag and a variable are for one start and change nothing of it.
func TestScreenRemembersModelAndTheme(t *testing.T) {
	t.Parallel()
	s := working(t)
	s.shows(t, []string{"--model", "builtin"}, []string{"builtin — chosen by --model"}, [2]string{"/model work/m1\r", "Model: work/m1"}, [2]string{"/theme light\r", "Theme: light"})
	s.shows(t, nil, []string{"work/m1 — chosen here with /model"}, [2]string{"/theme\r", "Theme (now light)"}, [2]string{"\r", "Theme: light"})
	s.shows(t, []string{"--model", "builtin"}, []string{"builtin — chosen by --model"})
	s.with("FANTAIL_MODEL=builtin", "FANTAIL_THEME=dark").shows(t, nil, []string{"builtin — chosen by FANTAIL_MODEL"}, [2]string{"/theme\r", "Theme (now dark)"}, [2]string{"light\r", "Theme: light"})
	s.shows(t, nil, []string{"work/m1 — chosen here with /model"})
	// Its key is gone: that is said, and the start does not fail.
	s.with("WORK_LLM", "COPY").shows(t, nil, []string{"work/m1, chosen here with /model, can't be had now", "set WORK_LLM"}, [2]string{"say hi\r", "hi"})
	s.with("WORK_LLM", "COPY").shows(t, nil, []string{"can't be had now", "hi"})
	// In another workspace nothing was chosen.
	other := *s
	other.dir = t.TempDir()
	other.shows(t, nil, []string{"work"})
	if out, errs, _ := s.run(t, "", "-p", "say it", "--model", "builtin"); !strings.Contains(out, "it") {
		t.Errorf("without a screen: %q, %q", out, errs)
	}
}

// The start says which files of the workspace steer main: on the start screen, and in
// the transcript of a conversation that goes on.
func TestScreenTellsWhichFilesAreInForce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, text := range map[string]string{"CLAUDE.md": "Use tabs.\n", ".agents/main.yml": "message_handling:\n  default: queue\n"} {
		path = filepath.Join(s.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const both = "CLAUDE.md, the mail policy of .agents/main.yml"
	s.shows(t, nil, []string{"in ", both}, [2]string{"say hi\r", "hi"})
	s.shows(t, nil, []string{"Using " + both, "hi"})
	if err := os.Remove(filepath.Join(s.dir, "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	s.shows(t, nil, []string{"Using the mail policy of .agents/main.yml"})
}
