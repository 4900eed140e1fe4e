package proc

import (
	"bufio"
	"context"
	"errors"
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

	"go.uber.org/goleak"

	"fantail/tools/sandbox/cell"
)

func TestMain(m *testing.M) {
	cell.Act(os.Args)
	if shell := os.Getenv(doomedEnv); shell != "" {
		doomed(shell)
		return
	}
	goleak.VerifyTestMain(m)
}

// doomedEnv makes the test binary a program that runs a command and is killed.
const doomedEnv = "FANTAIL_PROC_DOOMED"

func doomed(shell string) {
	_, err := Run(context.Background(), Spec{Shell: shell, Env: os.Environ(), Head: 1 << 10, Started: func(Group) error { return nil }})
	fmt.Println("ended", err)
}

// fifo makes a named pipe for a child's reports; the returned function waits for its next line. Opening it for both
// ways keeps it from ending.
func fifo(t *testing.T) (path string, line func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "says")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r := bufio.NewReader(f)
	return path, func() string {
		t.Helper()
		_ = f.SetReadDeadline(time.Now().Add(time.Minute))
		s, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the child did not report: %v", err)
		}
		return strings.TrimSpace(s)
	}
}

// gone fails if a process of that number still runs.
func gone(t *testing.T, pid string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err == nil && !strings.Contains(string(b), ") Z ") {
		t.Errorf("process %s still lives: %s", pid, b)
	}
}

func run(t *testing.T, s Spec) Result {
	t.Helper()
	if s.Env == nil {
		s.Env = os.Environ()
	}
	if s.Head == 0 && s.Tail == 0 {
		s.Head, s.Tail = 1<<16, 1<<16
	}
	r, err := Run(t.Context(), s)
	if err != nil {
		t.Fatalf("Run(%q): %v", s.Shell, err)
	}
	return r
}

func TestRun_outcomes(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	for _, c := range []struct {
		shell, text, signal string
		exit                int
	}{
		{"echo out; echo err >&2", "out\nerr\n", "", 0},
		{"exit 3", "", "", 3},
		{"printf %s \"$PWD\"", dir, "", 0},
		{"kill -SEGV $$", "", "SEGV", -1},
		{"no-such-command-here 2>/dev/null", "", "", 127},
		{"cat; echo end", "end\n", "", 0},                                                    // standard input is at its end
		{"[ -t 0 ] || echo no; (: </dev/tty) 2>/dev/null || echo none", "no\nnone\n", "", 0}, // no terminal
		{"printf 'a\\xffb'", "a\xffb", "", 0},
		{"set -o pipefail; false | true", "", "", 1},
		{"[[ a == a ]] && echo bash", "bash\n", "", 0},
	} {
		r := run(t, Spec{Shell: c.shell, Dir: dir})
		if r.Text != c.text || r.Exit != c.exit || r.Signal != c.signal || r.TimedOut || r.Left || r.Cut {
			t.Errorf("%q gave %+v, want text %q exit %d signal %q", c.shell, r, c.text, c.exit, c.signal)
		}
		if r.Size != int64(len(c.text)) {
			t.Errorf("%q: size %d, want %d", c.shell, r.Size, len(c.text))
		}
	}
}

func TestRun_ownSessionAndGroup(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	var g Group
	r := run(t, Spec{Shell: "cut -d' ' -f1,5,6,7 /proc/$$/stat", Started: func(x Group) error { g = x; return nil }})
	f := strings.Fields(r.Text)
	if len(f) != 4 || f[0] != f[1] || f[0] != f[2] || f[3] != "0" || f[0] != strconv.Itoa(g.PGID) {
		t.Errorf("pid, group, session, terminal are %q; want three times %d and 0", r.Text, g.PGID)
	}
	if g.Start == 0 {
		t.Error("the start time is unknown")
	}
}

// TestRun_isHeldUntilStartedReturns: no part of a command runs before its group is recorded, nor ever if that fails.
func TestRun_isHeldUntilStartedReturns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	file := filepath.Join(t.TempDir(), "file")
	refused := errors.New("not recorded")
	shows := "ls /proc/self/fd; echo $0 $# $SHLVL; umask; env | grep -v ^_= | sort" // the shell passes its variables on in any order
	for _, err := range []error{refused, nil} {
		slow := func(g Group) error {
			if e := untilIdle(t.Context(), g.PGID); e != nil {
				t.Error(e)
			}
			if _, e := os.Stat(file); e == nil {
				t.Error("the command runs before Started returned")
			}
			return err
		}
		r, got := Run(t.Context(), Spec{Shell: "echo ran >" + file + "; " + shows, Env: os.Environ(), Head: 1 << 20, Started: slow})
		_, e := os.Stat(file)
		if !errors.Is(got, err) || (e == nil) != (err == nil) {
			t.Errorf("after Started returned %v: %+v, %v; file: %v", err, r, got, e)
		}
		if plain := run(t, Spec{Shell: shows}); err == nil && r.Text != plain.Text {
			t.Errorf("the command sees %q, without being held %q", r.Text, plain.Text)
		}
	}
}

// untilIdle returns when the process is waiting or has ended.
func untilIdle(ctx context.Context, pid int) error {
	for ctx.Err() == nil {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return err
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if strings.HasPrefix(rest, "S") || strings.HasPrefix(rest, "Z") {
			return nil
		}
		runtime.Gosched()
	}
	return ctx.Err()
}

func TestRun_cannotStart(t *testing.T) {
	for _, s := range []Spec{
		{Shell: "true", Dir: filepath.Join(t.TempDir(), "missing")},
		{Shell: "true", Output: filepath.Join(t.TempDir(), "missing", "out")},
		{Shell: strings.Repeat("x", 4<<20)},
	} {
		s.Tick = func(string) {}
		if _, err := Run(t.Context(), s); err == nil {
			t.Errorf("Run(dir %q, output %q) started", s.Dir, s.Output)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Spec{Shell: "true"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gave %v", err)
	}
}

func TestRun_output(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	r := run(t, Spec{Shell: "seq 1 200000", Output: out, Head: 100, Tail: 50})
	whole, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(whole)) != r.Size || !strings.HasSuffix(string(whole), "\n200000\n") {
		t.Errorf("the file holds %d bytes, the command wrote %d", len(whole), r.Size)
	}
	if i, _ := os.Stat(out); i.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v", i.Mode())
	}
	left := r.Size - 150
	note := fmt.Sprintf("[%d of %d bytes are left out here; the whole output is in %s]\n", left, r.Size, out)
	if !r.Cut || !strings.HasPrefix(r.Text, string(whole[:100])) || !strings.HasSuffix(r.Text, note+string(whole[len(whole)-50:])) {
		t.Errorf("text is %q", r.Text)
	}
}

func TestRun_outputBounds(t *testing.T) {
	for _, c := range []struct{ n, head, tail int }{
		{0, 10, 10},
		{10, 10, 10},
		{19, 10, 10},
		{20, 10, 10},
		{21, 10, 10},
		{5000, 0, 4999},
		{5000, 0, 5000},
		{9000, 4000, 5000},
		{9001, 4000, 5000},
		{70000, 1, 1},
		{70000, 0, 65536},
		{70000, 69999, 0},
	} {
		r := run(t, Spec{Shell: fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; printf ''", c.n), Head: c.head, Tail: c.tail})
		if r.Size != int64(c.n) || r.Cut != (c.n > c.head+c.tail) {
			t.Errorf("%+v: size %d cut %v", c, r.Size, r.Cut)
		}
		if x := strings.Count(r.Text, "x"); x != min(c.n, c.head+c.tail) {
			t.Errorf("%+v: %d of the output's bytes are shown", c, x)
		}
	}
}

func TestRun_cutsBetweenCharacters(t *testing.T) {
	for head := 95; head < 105; head++ {
		r := run(t, Spec{Shell: "for i in $(seq 500); do printf 'ä€😀'; done", Head: head, Tail: head})
		if !r.Cut || strings.ContainsRune(r.Text, '\uFFFD') || strings.ToValidUTF8(r.Text, "") != r.Text {
			t.Errorf("head and tail of %d cut a character: %q", head, r.Text)
		}
	}
}

func TestRun_fileCap(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	r := run(t, Spec{Shell: "head -c 3000000 /dev/zero | tr '\\0' y; echo done", Output: out, Head: 10, Tail: 10, FileCap: 1000})
	if i, _ := os.Stat(out); i.Size() != 1000 {
		t.Errorf("the file has %d bytes, its cap is 1000", i.Size())
	}
	if r.Size != 3000005 || !strings.HasSuffix(r.Text, "done\n") || !strings.Contains(r.Text, "the first 1000 bytes") || r.Exit != 0 {
		t.Errorf("got %+v", r)
	}
}

func TestRun_fullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	r := run(t, Spec{Shell: "echo one; echo two", Output: "/dev/full"})
	if r.Exit != 0 || !strings.Contains(r.Text, "one\ntwo\n") || !strings.Contains(r.Text, "no space left") {
		t.Errorf("got %+v", r)
	}
}

// The file is written as the output arrives: a reader finds the first line while the command waits.
func TestRun_fileGrowsWithTheOutput(t *testing.T) {
	says, line := fifo(t)
	out := filepath.Join(t.TempDir(), "out")
	ticked := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result)
	go func() {
		r, _ := Run(ctx, Spec{
			Shell: "echo first; echo up >" + says + "; sleep 1000", Output: out, Env: os.Environ(), Head: 100,
			Tick: func(tail string) { ticked <- tail },
		})
		done <- r
	}()
	line()
	if tail := <-ticked; tail != "first\n" {
		t.Errorf("the tick told %q", tail)
	}
	if b, _ := os.ReadFile(out); string(b) != "first\n" {
		t.Errorf("the file holds %q while the command runs", b)
	}
	cancel()
	if r := <-done; r.Text != "first\n" {
		t.Errorf("the partial text is %q", r.Text)
	}
}

func TestRun_ticksAreFewAndLatest(t *testing.T) {
	n := 0
	began := time.Now()
	run(t, Spec{Shell: "for i in $(seq 20000); do echo $i; done", Tick: func(tail string) {
		n++
		if len(tail) > tickTail {
			t.Errorf("a tick told %d bytes", len(tail))
		}
	}})
	if limit := int(time.Since(began)/tickGap) + 1; n > limit {
		t.Errorf("%d ticks in %v", n, time.Since(began))
	}
}

func TestRun_cancel(t *testing.T) {
	for name, shell := range map[string]string{
		"waits":       "echo $$ >SAYS; sleep 1000",
		"busy":        "echo $$ >SAYS; while :; do :; done",
		"floods":      "echo $$ >SAYS; yes",
		"pipeline":    "sleep 1000 | { echo $BASHPID >SAYS; sleep 1000; }",
		"stopped":     "echo $$ >SAYS; kill -STOP $$",
		"grandchild":  "bash -c 'bash -c \"echo \\$\\$ >SAYS; sleep 1000; :\"; :'; :",
		"backgrounds": "sleep 1000 & sleep 1000 & echo $! >SAYS; wait",
	} {
		t.Run(name, func(t *testing.T) {
			says, line := fifo(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			var r Result
			go func() {
				var err error
				r, err = Run(ctx, Spec{Shell: strings.ReplaceAll(shell, "SAYS", says), Env: os.Environ(), Head: 10, Tail: 10})
				done <- err
			}()
			pid := line()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
			if r.Signal == "KILL" || r.Signal == "" && r.Exit == 0 {
				t.Errorf("outcome %+v", r)
			}
			gone(t, pid)
		})
	}
}

func TestRun_cancelWhatIgnoresTERM(t *testing.T) {
	t.Parallel()
	says, line := fifo(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result)
	go func() {
		r, _ := Run(ctx, Spec{Shell: "trap '' TERM HUP INT; (trap '' TERM; echo $BASHPID >" + says + "; while :; do sleep 1000; done) & wait", Env: os.Environ(), Head: 10})
		done <- r
	}()
	pid := line()
	began := time.Now()
	cancel()
	r := <-done
	if d := time.Since(began); d < stopAfter {
		t.Errorf("ended after %v, want KILL not before %v", d, stopAfter)
	}
	if r.Signal != "KILL" || r.Exit != -1 {
		t.Errorf("outcome %+v", r)
	}
	gone(t, pid)
}

// TestRun_cancelWhileItIsEnded: a process that ignores TERM is killed at once when a caller waits, even if its time was
// up before.
func TestRun_cancelWhileItIsEnded(t *testing.T) {
	t.Parallel()
	says, line := fifo(t)
	limit := 50 * time.Millisecond
	hurried(t, func() time.Duration {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan Result, 1)
		go func() {
			r, _ := Run(ctx, Spec{Shell: "trap 'echo asked >" + says + "' TERM; while :; do sleep .1; done", Env: os.Environ(), Timeout: limit})
			if r.Signal == "TERM" {
				_ = os.WriteFile(says, []byte("ended before its trap was set\n"), 0)
			}
			done <- r
		}()
		if line() != "asked" { // a busy machine needs longer to start a shell
			limit *= 5
			return killAfter
		}
		began := time.Now()
		cancel()
		if r := <-done; r.Signal != "KILL" {
			t.Errorf("ended with %+v", r)
		}
		return time.Since(began)
	})
}

// hurried ends a command in a hurry, up to five times: on a busy machine one of them may take as long as without hurry.
func hurried(t *testing.T, end func() time.Duration) {
	t.Helper()
	var took time.Duration
	for range 5 {
		if took = end(); took < killAfter {
			return
		}
	}
	t.Errorf("in a hurry it ended after %v", took)
}

// TestRun_timeToEnd: a command that is cancelled without hurry may take two seconds to end, and gets only a moment once
// there is a hurry.
//
// Spec: Q-56.
func TestRun_timeToEnd(t *testing.T) {
	t.Parallel()
	says, line := fifo(t)
	goOn, _ := fifo(t)
	hurry := make(chan struct{})
	// If a signal comes just before one of bash's reads blocks, bash handles it once the read returns.
	shell := "trap 'echo asked >" + says + "; read -r _ <" + goOn + "; echo tidied up; exit 3' TERM; echo ready >" + says + "; while :; do read -t .1 -r _ <>" + goOn + "; done"
	begin := func() (cancel func(), done chan Result) {
		ctx, stop := context.WithCancel(t.Context())
		done = make(chan Result, 1)
		go func() {
			r, _ := Run(ctx, Spec{Shell: shell, Env: os.Environ(), Head: 100, Hurry: hurry})
			done <- r
		}()
		line()
		return func() { stop(); line() }, done
	}
	cancel, done := begin()
	cancel()
	select {
	case r := <-done:
		t.Errorf("it was ended before it could tidy up: %+v", r)
	case <-time.After(3 * stopAfter):
	}
	if err := os.WriteFile(goOn, []byte("now\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.Text != "tidied up\n" || r.Exit != 3 {
		t.Errorf("it ended with %+v", r)
	}

	hurried(t, func() time.Duration {
		hurry = make(chan struct{})
		cancel, done = begin()
		cancel()
		began := time.Now()
		close(hurry)
		if r := <-done; r.Signal != "KILL" {
			t.Errorf("in a hurry it ended with %+v", r)
		}
		return time.Since(began)
	})
}

func TestRun_timeout(t *testing.T) {
	t.Parallel()
	// A busy machine may need longer than the first of these to start a shell.
	var r Result
	limit := 50 * time.Millisecond
	for ; limit < time.Minute; limit *= 5 {
		if r = run(t, Spec{Shell: "echo before; sleep 1000", Timeout: limit}); r.Text != "" {
			break
		}
	}
	if !r.TimedOut || r.Text != "before\n" || r.Signal != "TERM" || r.Duration < limit {
		t.Errorf("got %+v", r)
	}
}

// needs skips a test where there is no such program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("there is no " + program)
	}
}

func TestRun_whatTheCommandLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		shell string
		left  bool
	}{
		"holds the output":      {"sleep 1000 & echo $! >SAYS; echo done", true},
		"holds nothing":         {"sleep 1000 >/dev/null 2>&1 & echo $! >SAYS; echo done", true},
		"ignores TERM":          {"(trap '' TERM; echo $BASHPID >SAYS; exec sleep 1000) & read -r _ <SAYS.2; echo done", true},
		"ends at once":          {"(echo $BASHPID >SAYS) & wait; echo done", false},
		"left the session":      {"setsid bash -c 'echo $$ >SAYS; exec sleep 3' & read -r _ <SAYS.2; echo done", true},
		"left, with own output": {"setsid bash -c 'echo $$ >SAYS; exec sleep 3' >/dev/null 2>&1 & read -r _ <SAYS.2; echo done", false},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.shell, "setsid") {
				needs(t, "setsid")
			}
			says, line := fifo(t)
			if err := syscall.Mkfifo(says+".2", 0o600); err != nil {
				t.Fatal(err)
			}
			go2, err := os.OpenFile(says+".2", os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer go2.Close()
			done := make(chan Result)
			go func() {
				r, _ := Run(context.Background(), Spec{Shell: strings.ReplaceAll(c.shell, "SAYS", says), Env: os.Environ(), Head: 100})
				done <- r
			}()
			pid := line()
			fmt.Fprintln(go2, "go")
			r := <-done
			if r.Text != "done\n" || r.Exit != 0 || r.Left != c.left {
				t.Errorf("got %+v, want Left %v", r, c.left)
			}
			if !strings.HasPrefix(name, "left") {
				gone(t, pid)
			}
		})
	}
}

func TestEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs start times")
	}
	says, line := fifo(t)
	groups := make(chan Group, 1)
	done := make(chan Result)
	go func() {
		r, _ := Run(context.Background(), Spec{Shell: "sleep 1000 & echo $! >" + says + "; wait", Env: os.Environ(), Started: func(g Group) error { groups <- g; return nil }})
		done <- r
	}()
	g, child := <-groups, line()
	for _, other := range []Group{{PGID: g.PGID, Start: g.Start + 1}, {PGID: g.PGID}, {}, {PGID: 1, Start: started(1)}, {PGID: -g.PGID, Start: g.Start}} {
		if End(other, 0) {
			t.Errorf("End(%+v) ended something", other)
		}
	}
	if !End(g, killAfter) {
		t.Error("End found nothing to end")
	}
	if r := <-done; r.Signal != "TERM" {
		t.Errorf("outcome %+v", r)
	}
	gone(t, child)
	if End(g, 0) {
		t.Error("End ended it twice")
	}
}

func TestClean(t *testing.T) {
	keep := []string{
		"PATH=/bin", "PWD=/x", "OLDPWD=/y", "HOME=/h", "EMPTY=", "KEYBOARD=us", "TOKENIZER=x", "MONKEY=1", "SSH_AUTH_SOCK=/s",
		"GOFLAGS=-mod=mod", "LANG=C", "AUTHOR=me", "COMPASS=n", "FANTAIL_MODEL=builtin",
	}
	drop := []string{
		"ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=x", "OPENAI_BASE_URL=x", "OLLAMA_HOST=x", "GITHUB_TOKEN=x", "github_token=x",
		"AWS_SECRET_ACCESS_KEY=x", "AWS_ACCESS_KEY_ID=x", "MY_SECRET=x", "DB_PASSWORD=x", "PGPASSWORD=x", "GOOGLE_APPLICATION_CREDENTIALS=x",
		"TOKEN=x", "NPM_AUTH=x", "OPENAI_API_KEY_2=x", "STRIPE_SECRET_LIVE=x", "GH_PAT=x", "GITHUBTOKEN=x", "npm_config_//r.example/:_authToken=x", "DBPASSWORD=x", "MYSQL_PWD=x", "novalue", "=x",
	}
	got := Clean(append(append([]string{}, keep...), drop...), nil)
	if strings.Join(got, "\n") != strings.Join(keep, "\n") {
		t.Errorf("kept %q, want %q", got, keep)
	}
}

// A command is judged as it is written: no variable may make cd go elsewhere or a pattern match more.
func TestRun_variablesDoNotChangeHowACommandIsRead(t *testing.T) {
	bash, err := Shell()
	if err != nil || !strings.HasSuffix(bash, "bash") {
		t.Skip("there is no bash")
	}
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(filepath.Join(d, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", ".hidden"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Spec{Shell: "cd sub && /bin/pwd && echo *", Dir: dir, Env: []string{"CDPATH=" + other, "BASHOPTS=dotglob", "PATH=/bin:/usr/bin"}, Head: 1 << 10, Tail: 1 << 10})
	real, _ := filepath.EvalSymlinks(filepath.Join(dir, "sub"))
	if err != nil || r.Text != real+"\n*\n" {
		t.Errorf("%q, %v", r.Text, err)
	}
}
