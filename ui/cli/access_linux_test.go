package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fantail/.ci/long"
)

// stranger is a user of no name. The tests run as root, who may write everywhere,
// or as somebody else.
const stranger = 4242

// newStrangersSite is a site that belongs to stranger, who can run the program
// there; without root's leave it belongs to who runs the tests.
func newStrangersSite(t *testing.T) (s *site, as *syscall.SysProcAttr) {
	t.Helper()
	base, err := os.MkdirTemp("", "fantail-stranger")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(base, func(path string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				return os.Chmod(path, 0o700) // so that who is not root can remove it
			}
			return nil
		})
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	s = &site{dir: filepath.Join(base, "work")}
	t.Cleanup(func() { s.ends(t) })
	home := filepath.Join(base, "home")
	s.env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(home, "tmp"), "SHELL=/bin/sh", "LANG=C.UTF-8",
		"XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "TERM=xterm-256color", "OLLAMA_HOST=127.0.0.1:1",
	}
	// A link, for a file that was just written can't be run while another test's child,
	// forked meanwhile, still has it open.
	must(t, os.Chmod(base, 0o755), os.Link(plain(), filepath.Join(base, "fantail")), os.MkdirAll(filepath.Join(home, "tmp"), 0o700), os.Mkdir(s.dir, 0o700))
	if os.Geteuid() == 0 {
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
		for _, dir := range []string{s.dir, home, filepath.Join(home, "tmp")} {
			must(t, os.Chown(dir, stranger, stranger))
		}
	}
	return s, as
}

// user is the program as a user runs it.
func (s *site) user(as *syscall.SysProcAttr, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(filepath.Dir(s.dir), "fantail"), args...)
	c.Dir, c.Env = s.dir, s.env
	if as != nil {
		own := *as // opening a terminal sets more of it
		c.SysProcAttr = &own
	}
	return c
}

// by runs the program as a user.
func (s *site) by(t *testing.T, as *syscall.SysProcAttr, args ...string) (said string, code int) {
	t.Helper()
	c := s.user(as, args...)
	out, _ := c.CombinedOutput() // the code says it
	return string(out), c.ProcessState.ExitCode()
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// names are what a directory holds.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

// Where nothing can be written all that was acknowledged is read, also what only
// the log has; what would write is an error; nothing is left behind, and once it can
// be written again it is.
// Spec: N-15.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	for _, c := range long.Some(t, 2, []struct {
		name      string
		dir, file fs.FileMode
		killed    bool     // mail is in the log only
		gone      []string // what is deleted beside the file
	}{
		{name: "clean", dir: 0o500, file: 0o400},
		{name: "listed by all", dir: 0o555, file: 0o444},
		{name: "directory only", dir: 0o500, file: 0o600},
		{name: "file only", dir: 0o700, file: 0o400},
		{name: "log", dir: 0o500, file: 0o400, killed: true},
		{name: "log of a directory only", dir: 0o500, file: 0o600, killed: true},
		{name: "log without index", dir: 0o500, file: 0o400, killed: true, gone: []string{"-shm"}},
		{name: "log without index, file only", dir: 0o700, file: 0o400, killed: true, gone: []string{"-shm"}},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, as := newStrangersSite(t)
			if said, code := s.by(t, as, "send", "main", "first"); code != ok {
				t.Fatal(said)
			}
			data := s.data(t)
			if c.killed {
				s.kills(t, as, "second")
			}
			for _, suffix := range c.gone {
				must(t, os.Remove(filepath.Join(data, "fantail.db"+suffix)))
			}
			entries, err := os.ReadDir(data)
			must(t, err)
			for _, e := range entries {
				if !e.IsDir() {
					must(t, os.Chmod(filepath.Join(data, e.Name()), c.file))
				}
			}
			must(t, os.Chmod(data, c.dir))
			before := names(t, data)

			for _, look := range [][]string{{"inbox"}, {"show", "1"}, {"inbox", "--json"}, {"check", "--peek"}} {
				if said, code := s.by(t, as, look...); code != ok || !strings.Contains(said, "first") {
					t.Errorf("%v: exit code %d: %s", look, code, said)
				}
			}
			if said, code := s.by(t, as, "show", "2"); c.killed && (code != ok || !strings.Contains(said, "second")) {
				t.Errorf("what is in the log: exit code %d: %s", code, said)
			}
			for _, quiet := range []string{"queue", "memory"} {
				if said, code := s.by(t, as, quiet); code != nothing {
					t.Errorf("%s: exit code %d: %s", quiet, code, said)
				}
			}
			for _, writes := range [][]string{{"send", "main", "third"}, {"push", "say x"}, {"check", "--take"}} {
				said, code := s.by(t, as, writes...)
				if code != failed || strings.Count(said, "\n") != 1 || !strings.Contains(said, "can only be read here") || !strings.Contains(said, data) || !strings.Contains(said, "writable for you") {
					t.Errorf("%v: exit code %d: %s", writes, code, said)
				}
			}
			if said, code := s.by(t, as, "-p", "say x"); code != ok || !strings.Contains(said, "can only be read here") || !strings.Contains(said, "temporary database") || !strings.HasSuffix(said, "x\n") {
				t.Errorf("-p: exit code %d: %s", code, said)
			}
			s.readsOnScreen(t, as)
			if now := names(t, data); now != before {
				t.Errorf("the directory held %s and holds %s", before, now)
			}
			if left := names(t, filepath.Join(filepath.Dir(s.dir), "home/tmp")); left != "" {
				t.Errorf("left behind: %s", left)
			}

			must(t, os.Chmod(data, 0o700))
			for _, e := range entries {
				must(t, os.Chmod(filepath.Join(data, e.Name()), 0o700))
			}
			if said, code := s.by(t, as, "send", "main", "third"); code != ok || !strings.Contains(said, fmt.Sprintf("#%d ", map[bool]int{true: 3, false: 2}[c.killed])) {
				t.Errorf("once it can be written: exit code %d: %s", code, said)
			}
		})
	}
}

// kills sends mail and kills who could have copied it from the log into the file.
func (s *site) kills(t *testing.T, as *syscall.SysProcAttr, text string) {
	t.Helper()
	c := s.user(as, "inbox", "--follow")
	out, err := c.StdoutPipe()
	must(t, err, c.Start())
	_, err = out.Read(make([]byte, 1)) // what waited is printed: the database is open
	must(t, err)
	if said, code := s.by(t, as, "send", "main", text); code != ok {
		t.Error(said)
	}
	must(t, c.Process.Kill())
	_ = c.Wait() // it was killed
}

// readsOnScreen starts the program on a terminal, where it shows what is there and refuses
// a prompt. No host can be there: the process is both, and nothing stays of it.
func (s *site) readsOnScreen(t *testing.T, as *syscall.SysProcAttr) {
	t.Helper()
	con := open(t, s.user(as))
	con.until(t, "Read-only: the database", "pending", "read-only")
	con.typed(t, "say x\r")
	con.until(t, "The database can only be read here", "› say x")
	con.typed(t, "\x03")
	con.typed(t, "/quit\r")
	if code := con.exited(t); code != ok {
		t.Errorf("a screen: exit code %d", code)
	}
	if hosts := s.hosts(); len(hosts) > 0 {
		t.Errorf("hosts of what can only be read: %d", hosts)
	}
}

// refusesScreen starts the program on a terminal, where it is to end with an error.
func (s *site) refusesScreen(t *testing.T, as *syscall.SysProcAttr, says ...string) {
	t.Helper()
	con := open(t, s.user(as))
	code := con.exited(t)
	con.mu.Lock()
	said := string(con.raw)
	con.mu.Unlock()
	_, after, fronted := strings.Cut(said, "\x1b[?1049l") // the front's end
	if !fronted {
		after = said
	}
	for _, want := range says {
		if code != failed || !strings.Contains(after, want) || strings.Contains(after, "\x1b[?1049h") {
			t.Errorf("a screen: exit code %d, want %q: %q", code, want, said)
		}
	}
}

// Another user's data is left alone, by root too, and the error says whose it is.
func TestForeignOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const daemon = 1 // a user of that name is everywhere
	for _, c := range long.Some(t, 2, []struct {
		name, path string // below the data directory
		owner      int
		root       bool // root runs it
		whose      string
	}{
		{name: "database", path: "fantail.db", owner: daemon, whose: "daemon (uid 1)"},
		{name: "log", path: "fantail.db-wal", owner: 0, whose: "root (uid 0)"},
		{name: "lock", path: "host.lock", owner: 0, whose: "root (uid 0)"},
		{name: "directory", path: ".", owner: 4343, whose: "uid 4343"},
		{name: "directory above", path: "../..", owner: daemon, whose: "daemon (uid 1)"},
		{name: "by root", path: ".", owner: stranger, root: true, whose: "uid 4242"},
		{name: "database by root", path: "fantail.db", owner: stranger, root: true, whose: "uid 4242"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, as := newStrangersSite(t)
			if said, code := s.by(t, as, "send", "main", "first"); code != ok {
				t.Fatal(said)
			}
			data := s.data(t)
			path := filepath.Join(data, c.path)
			if c.path != "." && c.path != "../.." {
				f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
				must(t, err, f.Close())
			} else {
				must(t, os.Chmod(path, 0o700))
			}
			if c.root {
				as = nil
				if c.path != "." {
					must(t, os.Chown(data, 0, 0))
				}
			}
			must(t, os.Chown(path, c.owner, c.owner))
			before := names(t, data)
			for _, args := range [][]string{{"inbox"}, {"send", "main", "second"}, {"-p", "say x"}} {
				said, code := s.by(t, as, args...)
				if code != failed || strings.Count(said, "\n") != 1 {
					t.Errorf("%v: exit code %d: %s", args, code, said)
				}
				for _, want := range []string{path + " belongs to " + c.whose, "run it as its owner", "XDG_DATA_HOME"} {
					if !strings.Contains(said, want) {
						t.Errorf("%v: want %q: %s", args, want, said)
					}
				}
			}
			s.refusesScreen(t, as, "belongs to "+c.whose)
			if now := names(t, data); now != before {
				t.Errorf("the directory held %s and holds %s", before, now)
			}
		})
	}
}
