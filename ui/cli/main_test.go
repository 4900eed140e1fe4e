package cli_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fantail/.ci/parallel"
	"fantail/store/storetest"
	"fantail/ui/shell"
)

// Where TestMain built the program: as the tests are, and without the race detector.
const (
	builtEnv = "FANTAIL_TEST_BINARY"
	plainEnv = "FANTAIL_TEST_PLAIN_BINARY"
)

// TestMain builds the program once; the tests that run it take it from there.
// With a child's name in the environment it is that child instead.
func TestMain(m *testing.M) {
	switch child := os.Getenv(childEnv); child {
	case "":
	case "acp":
		if err := speak(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	case "mcp":
		if err := lend(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	default:
		beChild(child)
	}
	// What runs the tests may ignore signals, as nohup does, and programs inherit that;
	// those that we are told of they begin anew with.
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fantail-cli-test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		env := map[string][]string{builtEnv: nil}
		if raced {
			env[plainEnv] = []string{"GOFLAGS=", "CGO_ENABLED=0"}
		}
		for name, env := range env {
			binary := filepath.Join(dir, name)
			// go run keeps what it links in the build cache; go build links anew.
			build := exec.Command("go", "run", "-ldflags=-s -w", "-exec=cp", "fantail", binary)
			build.Stderr, build.Env = os.Stderr, append(os.Environ(), env...)
			if err := build.Run(); err != nil {
				fmt.Fprintln(os.Stderr, "build the program:", err)
				return 1
			}
			os.Setenv(name, binary)
		}
		parallel.Raise()
		return m.Run()
	}())
}

// site is a directory to run the program in, with a home of its own.
type site struct {
	dir     string // the workspace
	env     []string
	program string
}

// typed is the program as a shell reads it.
func (s *site) typed() string { return strings.ReplaceAll(s.program, " ", `\ `) }

func newSite(t testing.TB) *site {
	t.Helper()
	home, dir := storetest.Dir(t), t.TempDir()
	env := []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + temporary(t), "SHELL=/bin/sh", "LANG=C.UTF-8",
		"XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"TERM=xterm-256color", "COLORTERM=truecolor",
		"OLLAMA_HOST=127.0.0.1:1", // nothing answers there
		// Of itself a program with the race detector sleeps for a second at its end.
		"GORACE=atexit_sleep_ms=10 " + os.Getenv("GORACE"),
	}
	s := &site{dir: dir, env: env, program: plain()}
	t.Cleanup(func() { s.ends(t) })
	return s
}

// needs skips a test whose commands run programs that are not here.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// put writes a file, and makes the directories above it.
func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// temporary is a directory for the temporary files of programs. What a host had started that was killed in the middle of it
// may write there for a moment longer.
func temporary(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fantail-temporary")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !comes(func() bool { return os.RemoveAll(dir) == nil }, wait) {
			t.Errorf("%s can't be removed", dir)
		}
	})
	return dir
}

// plain is the program without the race detector, as users have it: that takes terabytes of addresses, and memory for each byte.
func plain() string { return cmp.Or(os.Getenv(plainEnv), os.Getenv(builtEnv)) }

// raced has the site's programs run as the tests do, with the race detector if they have it: where several do something at
// once with a host. Elsewhere what takes five times as long to start finds nothing that ui/uitest, with all of it in one
// process, does not.
func (s *site) raced() *site {
	s.program = os.Getenv(builtEnv)
	return s
}

// ends kills the site's hosts, which outlive the screens of a test.
func (s *site) ends(t testing.TB) {
	for _, pid := range s.hosts() {
		if t.Failed() { // where it was may tell why
			_ = syscall.Kill(pid, syscall.SIGQUIT)
			outlives(strconv.Itoa(pid))
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		outlives(strconv.Itoa(pid)) // it may still write where the test cleans up
	}
	s.logs(t)
}

// logs tells what the hosts said where nobody was to read it, if the test failed, and fails it for
// what none may say.
func (s *site) logs(t testing.TB) {
	t.Helper()
	for _, pattern := range []string{"host.log*", "fatal.txt", "crash-*"} {
		files, _ := filepath.Glob(filepath.Join(s.getenv("XDG_DATA_HOME"), "fantail", "*", pattern))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			raced := strings.Contains(string(text), "DATA RACE")
			if raced {
				t.Error("a host has a data race")
			}
			if raced || t.Failed() {
				t.Logf("%s: %s", filepath.Base(file), text)
			}
		}
	}
}

// hosts are the hosts that live in the site's home.
func (s *site) hosts() (pids []int) {
	locks, _ := filepath.Glob(filepath.Join(s.getenv("XDG_DATA_HOME"), "fantail", "*", "host.lock"))
	for _, lock := range locks {
		text, _ := os.ReadFile(lock)
		line, _, _ := strings.Cut(string(text), "\n")
		pid, _ := strconv.Atoi(line)
		words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasSuffix(string(words), "\x00host\x00serve\x00") || strings.Contains(string(words), "\x00host\x00run\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// host is the site's only host.
func (s *site) host(t testing.TB) int {
	t.Helper()
	pids := s.hosts()
	if len(pids) != 1 {
		t.Fatalf("hosts: %d", pids)
	}
	return pids[0]
}

// resident is how much of a process is in memory, in MB.
func resident(t testing.TB, pid int) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kb := 0.0
	if _, rest, found := strings.Cut(string(status), "VmRSS:"); found {
		_, _ = fmt.Sscan(rest, &kb)
	}
	return kb / 1024
}

func (s *site) getenv(name string) string {
	for _, e := range s.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// command is the built program with those arguments.
func (s *site) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...)
	c.Dir, c.Env = s.dir, s.env
	return c
}

// The exit codes of the program.
const (
	ok      = shell.ExitOK
	failed  = shell.ExitFailed
	usage   = shell.ExitUsage
	nothing = shell.ExitNothing
)
