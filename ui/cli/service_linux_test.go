package cli_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fantail/store/paths"
	"fantail/ui/workspace"
)

// service is a host as a service manager has it run: without a terminal, in a session of its own, from somewhere else.
type service struct {
	*exec.Cmd
	said  *heard
	ended chan struct{}
}

// heard takes what a program says while somebody reads it. It is safe for concurrent use.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// serves starts fantail host run.
func (s *site) serves(t testing.TB) *service {
	t.Helper()
	c := &service{Cmd: s.command("host", "run", "--cwd", s.dir), said: &heard{}, ended: make(chan struct{})}
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true}
	c.Stdout, c.Stderr = c.said, c.said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.ended
	})
	return c
}

// ends tells the service to end as service managers do, and returns the exit code.
func (c *service) ends(t *testing.T) int {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return c.code(t)
}

// code is the exit code of one that ends.
func (c *service) code(t *testing.T) int {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(wait):
		t.Fatalf("it does not end: %s", c.said)
	}
	return c.ProcessState.ExitCode()
}

// has reports whether that process is the host of the workspace.
func (s *site) has(t *testing.T, c *service) bool {
	t.Helper()
	out, _, _ := s.run(t, "", "host")
	return strings.Contains(out, "process "+strconv.Itoa(c.Process.Pid)+" ")
}

// waits reports whether that waits in main's inbox.
func (s *site) waits(t *testing.T, text string) bool {
	t.Helper()
	out, _, _ := s.run(t, "", "inbox")
	return strings.Contains(out, text)
}

// A service fires what is due with no screen ever attached, stays without work, shows itself to screens, is waited for by
// the next, and ends in order.
func TestServiceFiresWithoutAScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail")
	if err := errors.Join(os.MkdirAll(config, 0o700), os.WriteFile(filepath.Join(config, "config.toml"), []byte("host_linger = \"1ms\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"schedule", "remind", "20s", "the oven"}, {"host", "stop", "--now"}} {
		if _, errs, code := s.run(t, "", args...); code != ok {
			t.Fatalf("%q: %d, %s", args, code, errs)
		}
	}
	c := s.serves(t)
	holds(t, "what is due fires", func() bool { return s.waits(t, "the oven") })
	if !s.has(t, c) {
		t.Error("another process is the host")
	}
	next := s.serves(t)
	holds(t, "the next one waits", func() bool { return strings.Contains(next.said.String(), "it goes on here once that has ended") })

	// A screen comes and goes. A host that lingers would be gone with it.
	screen := open(t, s.command())
	screen.until(t, home, ready, "1 pending")
	s.closes(t, screen)
	if out, errs, code := s.run(t, "", "schedule", "remind", "1s", "the roast"); code != ok || strings.Contains(out, "without a host") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	holds(t, "what is due later fires", func() bool { return s.waits(t, "the roast") })
	if !s.has(t, c) {
		t.Error("it did not stay")
	}

	if code := c.ends(t); code != ok {
		t.Errorf("exit code %d: %s", code, c.said)
	}
	holds(t, "the next one takes over", func() bool { return s.has(t, next) })
	if out, errs, code := s.run(t, "", "host", "stop"); code != ok || strings.Contains(out, "its unit") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	if code := next.code(t); code != ok {
		t.Errorf("exit code %d: %s", code, next.said)
	}
	for _, path := range []string{s.socket(t), paths.Bell(s.getenv, os.Geteuid(), s.dataFor(t, s.dir))} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stays behind: %v", path, err)
		}
	}
	if held := workspace.Holder(s.dataFor(t, s.dir)); held != nil {
		t.Errorf("the lock stays behind: %v", held)
	}
	if said := c.said.String(); said != "" {
		t.Errorf("it said %q", said)
	}
}

// A service that waits for another host ends when it is told to; one that can't open the workspace says why where it is
// read, and ends with a failure.
func TestServiceEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.serves(t)
	holds(t, "it serves", func() bool { return s.has(t, a) })
	b := s.serves(t)
	holds(t, "the next one waits", func() bool { return strings.Contains(b.said.String(), "once that has ended") })
	if code := b.ends(t); code != ok {
		t.Errorf("the one that waits: exit code %d: %s", code, b.said)
	}
	if code := a.ends(t); code != ok {
		t.Errorf("exit code %d: %s", code, a.said)
	}
	database := filepath.Join(s.dataFor(t, s.dir), "fantail.db")
	if err := os.WriteFile(database, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := s.serves(t)
	if code := broken.code(t); code != failed || !strings.Contains(broken.said.String(), "fantail.db") {
		t.Errorf("exit code %d: %s", code, broken.said)
	}
}

// A service that has no key for its model says so and goes on without, for reminders need none; the first screen whose
// shell has the key brings the model.
func TestServiceWithoutAKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	config := filepath.Join(s.getenv("XDG_CONFIG_HOME"), "fantail")
	if err := errors.Join(os.MkdirAll(config, 0o700), os.WriteFile(filepath.Join(config, "config.toml"), []byte("model = \"anthropic/claude-sonnet-4-5\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := s.serves(t)
	holds(t, "it says what is missing", func() bool {
		return strings.Contains(c.said.String(), "ANTHROPIC_API_KEY") && strings.Contains(c.said.String(), "builtin is used")
	})
	holds(t, "it serves", func() bool { return s.has(t, c) })
	if out, errs, code := s.run(t, "", "schedule", "remind", "1s", "the oven"); code != ok {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	holds(t, "a reminder fires", func() bool { return s.waits(t, "the oven") })
	screen := open(t, s.with("ANTHROPIC_API_KEY=sk-ant-of-a-shell").command())
	screen.until(t, home, "claude-sonnet-4-5 ·")
	s.closes(t, screen)
	if code := c.ends(t); code != ok {
		t.Errorf("exit code %d: %s", code, c.said)
	}
}

// A schedule that a script makes starts the host that fires it, and which is gone afterwards.
func TestScheduleStartsAHost(t *testing.T) {
	t.Parallel()
	s := newSite(t).raced()
	if out, errs, code := s.run(t, "", "schedule", "remind", "2s", "the oven"); code != ok || strings.Contains(out, "without a host") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	host := s.host(t)
	holds(t, "it fires", func() bool { return s.waits(t, "the oven") })
	if outlives(strconv.Itoa(host)) {
		t.Error("the host stays for nothing")
	}
	far := time.Now().AddDate(1, 0, 0).Format("2006-01-02 15:04")
	for _, args := range [][]string{{"schedule", "remind", far, "a year later"}, {"schedule", "pause", "reminder-1"}, {"schedule"}} {
		if out, errs, code := s.run(t, "", args...); code != ok || len(s.hosts()) != 0 {
			t.Errorf("%q: %d, %q, %q, hosts %d", args, code, out, errs, s.hosts())
		}
	}
	barred := s.with("XDG_RUNTIME_DIR=" + os.DevNull)
	if out, errs, code := barred.run(t, "", "schedule", "remind", "1h", "tea"); code != ok || !strings.Contains(out, "none answers (") || !strings.Contains(out, "not a directory") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
}

// What is installed runs the program in the workspace, and nothing of it stays.
func TestHostInstall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "ANTHROPIC_API_KEY=sk-ant-none-of-its-business")
	dir := filepath.Join(s.getenv("XDG_CONFIG_HOME"), "systemd", "user")
	files := func() (all []string) {
		all, _ = filepath.Glob(filepath.Join(dir, "*"))
		return all
	}
	out, errs, code := s.run(t, "", "host", "install")
	if code != ok || len(files()) != 1 || !strings.Contains(out, "Wrote "+files()[0]) || !strings.Contains(out, "No key is in it") {
		t.Fatalf("%d, %q, %q, %q", code, out, errs, files())
	}
	text, err := os.ReadFile(files()[0])
	if err != nil || !strings.Contains(string(text), `ExecStart="`+s.program+`" host run --cwd "`+s.dir+`"`) ||
		!strings.Contains(string(text), `Environment="XDG_DATA_HOME=`+s.getenv("XDG_DATA_HOME")+`"`) || strings.Contains(string(text), "sk-ant") {
		t.Errorf("%v:\n%s", err, text)
	}
	if out, errs, code := s.run(t, "", "host", "install"); code != ok || !strings.Contains(out, "is as it is to be") {
		t.Errorf("once more: %d, %q, %q", code, out, errs)
	}
	c := s.serves(t)
	holds(t, "it serves", func() bool { return s.has(t, c) })
	if out, errs, code := s.run(t, "", "host", "stop"); code != ok || !strings.Contains(out, "its unit may start the next one: systemctl --user stop fantail-") {
		t.Errorf("stop: %d, %q, %q", code, out, errs)
	}
	if out, errs, code := s.run(t, "", "host", "uninstall"); code != ok || !strings.Contains(out, "Removed ") || len(files()) != 0 {
		t.Errorf("uninstall: %d, %q, %q, %q", code, out, errs, files())
	}
	if out, errs, code := s.run(t, "", "host", "uninstall"); code != nothing || !strings.Contains(out, "nothing is installed") {
		t.Errorf("once more: %d, %q, %q", code, out, errs)
	}
	for _, args := range [][]string{{"host", "install", "--wait"}, {"host", "log", "--now"}, {"host", "run", "--now"}, {"host", "run", "here"}, {"host", "instal"}} {
		if out, errs, code := s.run(t, "", args...); code != usage || out != "" {
			t.Errorf("%q: %d, %q, %q", args, code, out, errs)
		}
	}
}

// TestServiceWhoseDatabaseIsGone holds that a service which is started again after its database was deleted does not begin
// with an empty one, and goes on once a backup is there.
func TestServiceWhoseDatabaseIsGone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, errs, code := s.run(t, "", "send", "main", "hello again"); code != ok {
		t.Fatal(errs)
	}
	c := s.serves(t)
	holds(t, "the service is the host", func() bool { return s.has(t, c) })
	db := filepath.Join(s.dataFor(t, s.dir), "fantail.db")
	backup := db + "-backup"
	for _, err := range []error{copied(db, backup), copied(db+"-wal", backup+"-wal"), os.Remove(db)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if code := c.code(t); code == ok {
		t.Errorf("without its database it ends with %d: %s", code, c.said)
	}
	again := s.serves(t)
	if code := again.code(t); code == ok || !strings.Contains(again.said.String(), "put a backup there") {
		t.Errorf("started again it ends with %d: %s", code, again.said)
	}
	if _, err := os.Stat(db); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it has begun anew: %v", err)
	}
	for _, err := range []error{os.Rename(backup, db), os.Rename(backup+"-wal", db+"-wal")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c = s.serves(t)
	holds(t, "the service is the host again", func() bool { return s.has(t, c) })
	if !s.waits(t, "hello again") {
		t.Error("what was sent is lost")
	}
	if code := c.ends(t); code != ok {
		t.Errorf("it ends with %d: %s", code, c.said)
	}
}

// copied copies a file.
func copied(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
