package cli_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/store"
	"fantail/ui/screen"
	"fantail/ui/screen/wire"
)

// hosted is a site with a host that has its agents.
func hosted(t *testing.T) (*site, *service) {
	t.Helper()
	s := newSite(t)
	put(t, filepath.Join(s.dir, ".git", "HEAD"), "ref: refs/heads/main\n") // what is below belongs to it
	return s, s.opens(t)
}

// opens starts a host, and waits until it has its agents.
func (s *site) opens(t testing.TB) *service {
	t.Helper()
	host := s.serves(t)
	holds(t, "the host has its agents", func() bool {
		out, _ := s.command("host").Output()
		return bytes.Contains(out, []byte("idle"))
	})
	return host
}

// twin is the same program in another file. A host takes it for another build, and its errands are its own to do.
func twin(t testing.TB, program string) string {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fantail")
	if err := os.WriteFile(path, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// outcome is all that an errand shows of itself.
type outcome struct {
	out, errs string
	code      int
}

// line says what came out of a line of a shell that runs the program as $0, and whether the program did it without its
// libraries: only the start gate does that.
func (s *site) line(t *testing.T, line string) (o outcome, gate bool) {
	t.Helper()
	traced := s.with("GODEBUG=inittrace=1")
	c := exec.Command("/bin/sh", "-c", line, s.program)
	c.Dir, c.Env = s.dir, traced.env
	return ran(t, c)
}

// ran runs a command to its end.
func ran(t *testing.T, c *exec.Cmd) (o outcome, gate bool) {
	t.Helper()
	var out, errs bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(wait, func() { _ = c.Process.Kill() })
	defer late.Stop()
	_ = c.Wait()
	gate = true
	for line := range strings.Lines(errs.String()) {
		switch words := strings.Fields(line); {
		case len(words) < 9 || words[0] != "init":
			o.errs += line
		case strings.Contains(words[1], "glamour"):
			gate = false
		}
	}
	o.out, o.code = out.String(), c.ProcessState.ExitCode()
	return o, gate
}

// ages is what differs from run to run: ages and moments, the names of letters, and what a host counts and takes.
var ages = regexp.MustCompile(`/nowhere/\w+|(\d+[smh] ?)+ago|"(created|taken|started|finished|ended)_at":"[^"]*"|"(since|at|due|written)":"[^"]*"` +
	`|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?|\d\d:\d\d(:\d\d(\.\d+)?)?|\(in [0-9smh ]+\)|process \d+|"(pid|files|duration_ms|ms)":\d+|\d+(\.\d+)? ?m?s\b|[0-9a-f]{64}|\b[A-Z2-7]{26}\b`)

func (o outcome) ageless(s *site) outcome {
	for _, text := range []*string{&o.out, &o.errs} {
		*text = strings.ReplaceAll(ages.ReplaceAllString(*text, "…"), s.program, "fantail")
		*text = strings.ReplaceAll(*text, s.dir, "DIR")
	}
	return o
}

// An errand beside a host shows and does the same whether the host carries it out or the process itself does. A short
// run draws some lines of the list.
func TestHand_asTheProcessItself(t *testing.T) {
	t.Parallel()
	a, _ := hosted(t)
	b, _ := hosted(t)
	b.program = twin(t, b.program)
	for _, s := range []*site{a, b} {
		s.env = append(s.env, "ANTHROPIC_API_KEY=sk-ant-a-key-that-is-long-enough", "FULL=/dev/full")
		must(t, os.Mkdir(filepath.Join(s.dir, "sub"), 0o700),
			os.WriteFile(filepath.Join(s.dir, "huge"), bytes.Repeat([]byte("x"), 8<<20+1), 0o600),
			os.WriteFile(filepath.Join(s.dir, "large"), bytes.Repeat([]byte("x"), 1<<20+1), 0o600),
			os.WriteFile(filepath.Join(s.dir, "mebi"), bytes.Repeat([]byte("é\n"), 1<<18), 0o600))
		if o, _ := s.line(t, `"$0" agents tell main "run echo hi"`); o.code != ok { // it has a transcript, and the audit a row
			t.Fatalf("%+v", o)
		}
		holds(t, "the audit has the call", func() bool { out, _, _ := s.run(t, "", "audit"); return strings.Contains(out, "echo hi") })
		s.documents(t)
	}
	const alone = true // the process does it itself in both
	type errand struct {
		line  string
		alone bool
		slow  bool // a busy host takes longer than its second: then the process does it itself
		after bool // tried where the one before it is
	}
	all := []errand{
		{line: `"$0" inbox`},
		{line: `"$0" inbox --json`},
		{line: `"$0" check`},
		{line: `"$0" check --json`},
		{line: `"$0" check --take`},
		{line: `"$0" send main "tests broke" --priority=high`},
		{line: `"$0" send main --json --tag=ci --tag "two words" --key k < mebi`},
		{line: `"$0" send main --tag=ci - --key k < mebi`},
		{line: `"$0" send main "another text" --key k`},
		{line: `"$0" send main "no key" --key=`},
		{line: `"$0" send main -- -x --json`},
		{line: `"$0" send main < /dev/null`},
		{line: `"$0" send main <&-`},
		{line: `"$0" send main < sub`},
		{line: `"$0" send main < large`},
		{line: `"$0" send main < huge`, slow: true},
		{line: `"$0" send main ""`},
		{line: `"$0" send main "  日本語 🐢 \\ ' \"quoted\" "`},
		{line: `printf 'a\0b\377\033[31mred\n' | "$0" send main`},
		{line: `printf 'with sk-ant-a-key-that-is-long-enough in it' | "$0" send main --json`},
		{line: `"$0" send main sk-ant-a-key-that-is-long-enough`},
		{line: `"$0" send nobody-sk-ant-a-key-that-is-long-enough x`},
		{line: `"$0" send mai,main "to one agent, once"`},
		{line: `"$0" send main,nobody x`},
		{line: `"$0" send nobody x`},
		{line: `"$0" send , x`},
		{line: `"$0" send`},
		{line: `"$0" send main x --priority=hihg`},
		{line: `"$0" send main x --prioriti=high`},
		{line: `"$0" send main x --tag`},
		{line: `"$0" send main x --json=maybe`},
		{line: `"$0" send -j main x`},
		{line: `cd sub && "$0" send main "from below"`},
		{line: `"$0" send main --help`, alone: alone},
		{line: `"$0" check -h`, alone: alone},
		{line: `"$0" --cwd . send main "another way"`, alone: alone},
		{line: `"$0" send --cwd=sub main "named"`, alone: alone},
		{line: `cd / && "$0" send --cwd nowhere main x`, alone: alone},
		{line: `"$0" send main "a closed output" >&-`},
		{line: `"$0" send main "a full disk" > $FULL`},
		{line: `"$0" send main --json x > $FULL`},
		{line: `"$0" inbox`},
		{line: `"$0" inbox --json`},
		{line: `"$0" inbox --agent mai`},
		{line: `"$0" inbox --agent nobody`},
		{line: `"$0" inbox x`},
		{line: `"$0" inbox > $FULL`},
		{line: `"$0" send main first; "$0" inbox --follow | { head -n 1; exec <&-; "$0" send main second; }`, alone: alone},
		{line: `"$0" check`},
		{line: `"$0" check --peek --lifo`},
		{line: `"$0" check --peek --take`},
		{line: `"$0" check from=outside --json`},
		{line: `"$0" check from=tests`},
		{line: `"$0" check from=`},
		{line: `"$0" check tests`},
		{line: `"$0" check from=a from=b`},
		{line: `"$0" check > $FULL`},
		{line: `"$0" check from=tests > $FULL`},
		{line: `TZ=Asia/Tokyo "$0" check --json`, alone: alone},
		{line: `FANTAIL_MAIL=/nowhere "$0" send main x`, alone: alone},
		{line: `FANTAIL_MAIL=/nowhere "$0" check`, alone: alone},
		{line: `"$0" push name=job timeout=5m run go test -v`},
		{line: `echo say hi | "$0" push --json name=other`},
		{line: `"$0" push name=job x`},
		{line: `"$0" push name=main x`},
		{line: `"$0" push '!rm -rf x'`},
		{line: `"$0" push deliver=wake x`},
		{line: `"$0" push timeout=soon x`},
		{line: `"$0" push name=a name=b x`},
		{line: `"$0" push model=nobody/x x`},
		{line: `"$0" push name=paid model=anthropic/some x`},
		{line: `"$0" push name=dear model=openai/some x`},
		{line: `"$0" push name=next after=job,other budget=50k say x`},
		{line: `"$0" push budget=much x`},
		{line: `"$0" push name=free please look`},
		{line: `echo please look | "$0" push --json name=plain model=builtin`},
		{line: `"$0" push after=nobody x`},
		{line: `"$0" push name= x`},
		{line: `"$0" push < /dev/null`},
		{line: `"$0" push name=full say x > $FULL`},
		{line: `"$0" push name=flags say --json x`},
		{line: `"$0" push name=key say sk-ant-a-key-that-is-long-enough`},
		{line: `echo 'nonsense = [' > broken; XDG_CONFIG_HOME=$PWD/conf; mkdir -p conf/fantail; mv broken conf/fantail/config.toml; export XDG_CONFIG_HOME; "$0" send main x; "$0" check; "$0" push x`},
		{line: `"$0" check --take from=outside > $FULL`},
		{line: `"$0" check --take`},
		{line: `"$0" check --take --json`},
		{line: `"$0" send main one; "$0" send main two; "$0" check --take --lifo --json`},
		{line: `for n in 1 2 3 4 5 6 7 8; do for m in 1 2 3 4 5; do echo $n$m | "$0" send main; done; done`},
		{line: `"$0" check`},
		{line: `"$0" inbox --json`},
		{line: `"$0" check --lifo --json from=outside`},
		{line: `"$0" check --take --lifo`},
		{line: `for n in 1 2 3 4 5 6; do "$0" send main < mebi; done`},
		{line: `"$0" check`, alone: alone, after: true},
		{line: `"$0" inbox --json`, alone: alone, after: true},
		{line: `"$0" check --take`, alone: alone, after: true},
		{line: `"$0" check`},
		{line: `"$0" queue`},
		{line: `"$0" queue --all`},
		{line: `"$0" queue --json --all`},
		{line: `"$0" queue --agent nobody`},
		{line: `"$0" queue x`},
		{line: `"$0" queue --json > $FULL`},
		{line: `"$0" queue > $FULL`},
		{line: `"$0" show 1`},
		{line: `"$0" show '#1' --json`},
		{line: `"$0" show 1 > $FULL`},
		{line: `"$0" show 9999`},
		{line: `"$0" show`},
		{line: `"$0" show one`},
		{line: `"$0" schedule`},
		{line: `"$0" schedule list --json`},
		{line: `"$0" schedule remind 30m the oven`},
		{line: `"$0" schedule remind 30m "the key sk-ant-a-key-that-is-long-enough"`},
		{line: `"$0" schedule name=ci every 10m "look at ci.log"`},
		{line: `"$0" schedule name=ci every 10m "look at ci.log"`},
		{line: `"$0" schedule every 10m "!make test"`},
		{line: `"$0" schedule soon x`},
		{line: `"$0" schedule remind "30m the oven" "is hot"`},
		{line: `"$0" schedule run ci`},
		{line: `"$0" schedule pause ci`},
		{line: `"$0" schedule`},
		{line: `"$0" schedule --json`},
		{line: `"$0" schedule show ci`},
		{line: `"$0" schedule show ci > $FULL`},
		{line: `"$0" schedule resume ci > $FULL`},
		{line: `"$0" schedule rm ci`},
		{line: `"$0" schedule rm ci`},
		{line: `"$0" schedule watch 5m until '"green"' look`},
		{line: `TZ=Asia/Tokyo "$0" schedule`, alone: alone},
		{line: `"$0" memory`},
		{line: `"$0" memory list --json`},
		{line: `"$0" memory show oauth`},
		{line: `"$0" memory show "o auth"`},
		{line: `"$0" memory show nothing`},
		{line: `"$0" memory edit x`},
		{line: `"$0" memory > $FULL`},
		{line: `"$0" agents`},
		{line: `"$0" agents list --json`},
		{line: `"$0" agents list x`},
		{line: `"$0" agents > $FULL`},
		{line: `"$0" agents logs main`},
		{line: `"$0" agents logs main --json`},
		{line: `"$0" agents logs main > $FULL`},
		{line: `"$0" agents logs nobody`},
		{line: `"$0" agents logs`},
		{line: `"$0" agents --follow`},
		{line: `"$0" agents tel x`},
		{line: `"$0" agents kill`},
		{line: `"$0" agents kill nobody`},
		{line: `"$0" agents kill main`},
		{line: `"$0" agents end nobody`},
		{line: `"$0" agents wrapup nobody`},
		{line: `"$0" agents respawn nobody`},
		{line: `"$0" agents tell nobody x`},
		{line: `echo x | "$0" agents tell nobody`},
		{line: `"$0" agents tell nobody < /dev/null`},
		{line: `"$0" agents attach nobody`, alone: alone},
		{line: `"$0" agents spawn`, alone: alone},
		{line: `"$0" audit`},
		{line: `"$0" audit --json`},
		{line: `"$0" audit main`},
		{line: `"$0" audit nobody`},
		{line: `"$0" audit 1`},
		{line: `"$0" audit 1 --json > $FULL`},
		{line: `"$0" audit 99999`},
		{line: `"$0" audit a b`},
		{line: `"$0" audit > $FULL`},
		{line: `"$0" audit --verify`, alone: alone},
		{line: `"$0" audit --verify main`},
		{line: `"$0" ls`},
		{line: `"$0" ls --json`},
		{line: `"$0" ls x`},
		{line: `"$0" ls > $FULL`},
		{line: `"$0" host`},
		{line: `"$0" host status --json`},
		{line: `"$0" host > $FULL`},
		{line: `"$0" host x`, alone: alone},
		{line: `"$0" host status x`},
		{line: `"$0" host status --now`},
		{line: `"$0" host log | grep -c .`, alone: alone},
		{line: `"$0" host stop --wait --now`},
		{line: `for n in 1 2 3 4 5 6; do "$0" push name=big$n < mebi; done`},
		{line: `"$0" queue --json`, alone: alone, after: true},
		{line: `"$0" send main < mebi; cp mebi m; "$0" send main < m; "$0" check --take --json | grep -c é`},
	}
	r := rand.New(rand.NewPCG(long.Seed(t), 0))
	var tried []errand
	with := false
	for _, x := range all {
		if with = x.after && with || !x.after && r.IntN(len(all)) < long.Times(len(all)/10, len(all)); with {
			tried = append(tried, x)
		}
	}
	for _, x := range tried {
		var own outcome
		var other bool
		var both sync.WaitGroup
		both.Go(func() { own, other = b.line(t, x.line) })
		did, gate := a.line(t, x.line)
		both.Wait()
		if did, own := did.ageless(a), own.ageless(b); did != own {
			t.Errorf("%s: the host: %d %.2000q %.2000q; the process itself: %d %.2000q %.2000q", x.line, did.code, did.out, did.errs, own.code, own.out, own.errs)
		}
		if gate == x.alone && !x.slow || other {
			t.Errorf("%s: the gate did it: %v, and %v for another build", x.line, gate, other)
		}
	}
	// All that was written by the one and the other.
	rows := func(s *site) string {
		out, _, _ := s.run(t, "", "queue", "--all", "--json")
		return outcome{out: s.letters(t) + out}.ageless(s).out
	}
	if x, y := rows(a), rows(b); x != y || strings.Contains(x, "sk-ant-a-key") || len(tried) == len(all) && strings.Count(x, "\n") < 70 {
		t.Errorf("the rows differ, %d and %d bytes", len(x), len(y))
		for n, line := range strings.Split(x, "\n") {
			if other := strings.Split(y+strings.Repeat("\n", n), "\n")[n]; other != line {
				t.Errorf("%.500s\n%.500s", line, other)
			}
		}
	}
}

// What the start gate asks a host for, the host does: no such errand waits for the libraries.
func TestHand_each(t *testing.T) {
	t.Parallel()
	s, _ := hosted(t)
	for _, name := range screen.Errands() {
		if o, gate := s.line(t, `"$0" `+name+" < /dev/null"); !gate {
			t.Errorf("%s: the process did it itself: %+v", name, o)
		}
	}
}

// documents writes a memory document.
func (s *site) documents(t *testing.T) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(s.dataFor(t, s.dir), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := (history.Documents{DB: db}).Write(t.Context(), "oauth", "red \x1b[31m\nno end", nil); err != nil {
		t.Fatal(err)
	}
}

// letters are all messages that the workspace has, with a line for each. Of their moments only whether there are any is
// told, of a long body what stands for it.
func (s *site) letters(t *testing.T) string {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(s.dataFor(t, s.dir), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all strings.Builder
	door := mail.Client{DB: db}
	for id := int64(1); ; id++ {
		m, to, found, err := door.Message(t.Context(), id)
		switch {
		case err != nil:
			t.Fatal(err)
		case !found:
			return all.String()
		}
		taken, body := !m.Taken.IsZero(), fmt.Sprintf("%q", m.Body)
		if len(m.Body) > 1<<10 {
			body = fmt.Sprintf("%d bytes, %x", len(m.Body), sha256.Sum256([]byte(m.Body)))
		}
		m.Body, m.Created, m.Taken = "", time.Time{}, time.Time{}
		if m.Key != "k" { // one that was drawn
			m.Key = ""
		}
		fmt.Fprintf(&all, "%s, taken: %v, %+v, %s\n", to, taken, m, body)
	}
}

// On a terminal nothing steers it, check takes, and a missing text is not waited for.
func TestHand_onATerminal(t *testing.T) {
	t.Parallel()
	a, _ := hosted(t)
	b, _ := hosted(t)
	b.program = twin(t, b.program)
	for _, s := range []*site{a, b} {
		s.run(t, "evil \x1b]52;c;aGk=\x07\x1b[2J text", "send", "main")
	}
	for _, args := range [][]string{{"send", "main"}, {"inbox"}, {"check"}, {"check"}, {"push", "name=x", "say y"}, {"queue"}, {"show", "1"}, {"schedule"}, {"agents"}, {"host"}} {
		var said []outcome
		for _, s := range []*site{a, b} {
			c := open(t, s.command(args...))
			code := c.exited(t)
			said = append(said, outcome{out: c.written(), code: code}.ageless(s))
			if strings.ContainsAny(c.written(), "\x1b\x07") {
				t.Errorf("%q steers the terminal: %q", args, c.written())
			}
		}
		if said[0] != said[1] {
			t.Errorf("%q: the host: %+v; the process itself: %+v", args, said[0], said[1])
		}
	}
	c := open(t, a.command("send", "main", "-"))
	c.typed(t, "typed\r\x04")
	if code := c.exited(t); code != ok || !a.waits(t, "typed") {
		t.Errorf("what is typed: exit code %d, %q", code, c.written())
	}
}

// An output that nobody reads.
func TestHand_unread(t *testing.T) {
	t.Parallel()
	a, _ := hosted(t)
	b, _ := hosted(t)
	b.program = twin(t, b.program)
	for _, args := range []string{
		"check", "send main x", "send main --json x", "push name=x say x", "inbox", "check", "check --take", "check --take",
		"queue", "queue --json", "show 1", "schedule remind 30m x", "schedule", "schedule --json", "memory", "agents", "agents --json", "ls", "host", "audit", "audit --json",
	} {
		var said []outcome
		for _, s := range []*site{a, b} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			c := s.command(strings.Fields(args)...)
			c.Stdout = w
			o, _ := ran(t, c)
			w.Close()
			said = append(said, o)
		}
		if said[0] != said[1] {
			t.Errorf("%s: the host: %+v; the process itself: %+v", args, said[0], said[1])
		}
	}
	// One that is read slowly holds up nobody but its own process.
	for range 3 {
		a.run(t, strings.Repeat("x", 1<<20), "send", "main")
	}
	c := a.command("check", "--take")
	out, err := c.StdoutPipe()
	must(t, err, c.Start())
	holds(t, "they are taken", func() bool { _, _, code := a.run(t, "", "check"); return code == nothing })
	if text, err := io.ReadAll(out); err != nil || len(text) < 3<<20 || c.Wait() != nil {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// between stands between the site's host and who comes to it.
type between struct {
	t    *testing.T
	l    *net.UnixListener
	path string
	held string // where the host is reached
}

func (s *site) between(t *testing.T) *between {
	t.Helper()
	b := &between{t: t, path: s.socket(t)}
	b.held = b.path + "-"
	must(t, os.Rename(b.path, b.held))
	var err error
	if b.l, err = net.ListenUnix("unix", &net.UnixAddr{Name: b.path, Net: "unix"}); err != nil {
		t.Fatal(err)
	}
	b.l.SetUnlinkOnClose(false)
	t.Cleanup(func() { b.l.Close() })
	return b
}

// gone has nobody reached any more.
func (b *between) gone() {
	b.l.Close()
	_ = os.Remove(b.path)
	_ = os.Rename(b.held, b.path) // the host's own, be it alive or dead
}

// carries takes one connection to the host and back, and calls cut with the number of each step before it is passed on:
// first the question, then each frame of either side. If that says so, nothing more is passed on.
func (b *between) carries(cut func(step int) bool) (steps int) {
	conn, err := b.l.AcceptUnix()
	if err != nil {
		b.t.Error(err)
		return 0
	}
	defer conn.Close()
	host, err := net.Dial("unix", b.held)
	if err != nil {
		b.t.Error(err)
		return 0
	}
	defer host.Close()
	late := time.Now().Add(wait / 2)
	if err := errors.Join(conn.SetDeadline(late), host.SetDeadline(late)); err != nil {
		b.t.Error(err)
	}
	magic := make([]byte, len(wire.Magic))
	if _, err := io.ReadFull(conn, magic); err != nil {
		b.t.Error(err)
		return 0
	}
	if _, err := host.Write(magic); err != nil {
		b.t.Error(err)
		return 0
	}
	from, to := net.Conn(conn), host
	for {
		k, body, _, err := wire.Read(from, wire.MaxHello, nil)
		if err != nil || cut(steps) {
			return steps
		}
		steps++
		if _, err := to.Write(wire.Append(nil, k, body)); err != nil || k == wire.Bye {
			return steps
		}
		switch {
		case k == wire.Ask, k == wire.Keys && len(body) == 0:
			from, to = host, net.Conn(conn)
		case k == wire.Answer:
			from, to = conn, host
		}
	}
}

// Where a host is killed in the middle of an errand, at whatever step (a short run draws some of them), nothing is done twice and nothing is lost without a
// word.
func TestHand_killedHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := rand.New(rand.NewPCG(long.Seed(t), 0))
	for _, x := range long.Some(t, 2, []struct {
		args, input string
		row         string // what stands once in the list
		list        []string
		steps       int // question, wishes and answers, page
		word        int // the step at which the host gets the last word: nobody can tell whether it has it
		lost        string
	}{
		{args: "send main --tag=%s", input: "body", row: `"tags":["%s"]`, list: []string{"inbox", "--json"}, steps: 8, word: 5},
		{args: "send main --json --tag=%s text", row: `"tags":["%s"]`, list: []string{"inbox", "--json"}, steps: 5, word: 2},
		{args: "push name=%s say x", row: `"name":"%s"`, list: []string{"queue", "--all", "--json"}, steps: 5, word: 2, lost: "fantail queue shows whether the task is queued"},
		{args: "schedule remind name=%s 30m text", row: `"name":"%s"`, list: []string{"schedule", "--json"}, steps: 5, word: 2, lost: "fantail schedule lists them"},
		{args: "check --take", lost: "fantail show N prints one", steps: 5, word: 2},
		{args: "check", steps: 3, word: 9},
		{args: "inbox", steps: 3, word: 9},
	}) {
		for _, at := range r.Perm(x.steps + 1)[:min(long.Times(1, x.steps+1), x.steps+1)] {
			name := fmt.Sprintf("%s%d", strings.Fields(x.args)[0], at) + strings.Repeat("i", len(x.input)%3)
			args := strings.Fields(strings.ReplaceAll(x.args, "%s", name))
			host := s.opens(t)
			if len(x.list) == 0 { // one message, for each is a step
				s.run(t, "", "check", "--take")
				s.run(t, "", "send", "main", "for "+name)
			}
			b := s.between(t)
			steps := make(chan int)
			go func() {
				n := b.carries(func(step int) bool {
					if step == at {
						_ = host.Process.Kill()
						<-host.ended
						b.gone()
					}
					return step == at
				})
				steps <- n
			}()
			out, errs, code := s.run(t, x.input, args...)
			if n := <-steps; n != min(at, x.steps) {
				t.Errorf("%q, killed at step %d: it had %d steps", args, at, n)
			}
			if at == x.steps {
				b.gone()
				_ = host.Process.Kill()
				<-host.ended
			}
			maybe := x.lost != "" && at >= x.word && at < x.steps
			if want := map[bool]int{false: ok, true: failed}[maybe]; code != want || !maybe && (errs != "" || out == "") || maybe && (out != "" || !strings.Contains(errs, x.lost)) {
				t.Errorf("%q, killed at step %d: %d %q %q", args, at, code, out, errs)
			}
			if len(x.list) == 0 {
				// What was not printed is there, and can be taken or be looked at.
				left, _, _ := s.run(t, "", "inbox")
				if takes := x.word < 9; !maybe && takes == strings.Contains(left, "for "+name) {
					t.Errorf("%q, killed at step %d: %q is left", args, at, left)
				}
				s.run(t, "", "check", "--take")
				continue
			}
			list, _, _ := s.run(t, "", x.list...)
			n := strings.Count(list, strings.ReplaceAll(x.row, "%s", name))
			if n != 1 && !(maybe && n == 0) {
				t.Errorf("%q, killed at step %d: it is there %d times: %d %q %q", args, at, n, code, out, errs)
			}
		}
	}
}

// A host that hangs is waited for a moment; what it does when it goes on is no second time.
func TestHand_hangingHost(t *testing.T) {
	t.Parallel()
	s, host := hosted(t)
	for at := range min(5, long.Times(2, 5)) {
		b := s.between(t)
		name := fmt.Sprint("tag", at)
		passed := make(chan bool)
		go func() {
			b.carries(func(step int) bool {
				if step == at {
					_ = host.Process.Signal(syscall.SIGSTOP)
					b.l.Close() // who comes later meets the host itself
					_ = os.Remove(b.path)
					_ = os.Rename(b.held, b.path)
				}
				return false
			})
			close(passed)
		}()
		out, errs, code := s.run(t, "", "send", "main", "--tag="+name, "text")
		locked := strings.Contains(errs, "keeps the database locked") // it was stopped in the middle of a write
		if !locked && (code != ok || errs != "" || out == "") {
			t.Errorf("stopped at step %d: %d %q %q", at, code, out, errs)
		}
		must(t, host.Process.Signal(syscall.SIGCONT))
		<-passed
		holds(t, "the host answers", func() bool {
			out, _, _ := s.run(t, "", "host")
			return strings.Contains(out, "idle")
		})
		list, _, _ := s.run(t, "", "inbox", "--json")
		if n := strings.Count(list, name); n > 1 || n == 0 && !locked {
			t.Errorf("stopped at step %d: it is there %d times: %s", at, n, list)
		}
	}
	// A task waits for the host to go on, as it can't be told whether it has it.
	must(t, host.Process.Signal(syscall.SIGSTOP))
	c := s.command("push", "name=later", "say x")
	must(t, c.Start())
	<-time.After(1500 * time.Millisecond)
	must(t, host.Process.Signal(syscall.SIGCONT), c.Wait())
	if list, _, _ := s.run(t, "", "queue", "--json"); strings.Count(list, `"name":"later"`) != 1 {
		t.Errorf("the task: %s", list)
	}
}

// A host that says nothing is left by signals, and by itself.
func TestHand_signalled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(t, "", "send", "main", "first")
	path := s.socket(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		c := s.command("check")
		must(t, c.Start())
		conn := accepts(t, l)
		<-time.After(400 * time.Millisecond) // in the first moment a signal ends it by itself
		must(t, c.Process.Signal(sig))
		_ = c.Wait()
		conn.Close()
		if code := c.ProcessState.ExitCode(); code != 128+int(sig) {
			t.Errorf("%v: exit code %d", sig, code)
		}
	}
	// By itself it goes on without the host.
	if out, errs, code := s.run(t, "", "check"); code != ok || !strings.Contains(out, "first") {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// Standard input that goes on for long is the process's own to wait for; nothing of it is lost.
func TestHand_slowInput(t *testing.T) {
	t.Parallel()
	s, _ := hosted(t)
	for n, x := range []struct {
		line string
		gate bool
	}{
		{`(printf a; sleep 0.2; printf b) | "$0" send main`, true},
		{`(printf a; sleep 1.5; printf b; sleep 1; printf c) | "$0" send main`, false},
		{`(sleep 1.5; cat huge; printf z) | "$0" push name=long`, false},
	} {
		must(t, os.WriteFile(filepath.Join(s.dir, "huge"), bytes.Repeat([]byte("say yes\n"), 200<<10), 0o600))
		if o, gate := s.line(t, x.line); o.code != ok || gate != x.gate {
			t.Errorf("%s: %+v, by the gate: %v", x.line, o, gate)
		}
		if want := []string{"ab", "abc"}; n < 2 {
			if out, _, _ := s.run(t, "", "show", "--json", fmt.Sprint(n+1)); !strings.Contains(out, `"body":"`+want[n]+`"`) {
				t.Errorf("%s: %s", x.line, out)
			}
		}
	}
	if out, _, _ := s.run(t, "", "queue", "--json"); !strings.Contains(out, `yes\nz"`) || len(out) < 1600<<10 {
		t.Errorf("%d bytes of the long one arrived", len(out))
	}
}

// Who begins an errand and does not go on takes up the room of one for some seconds. Until then others do theirs themselves.
func TestHand_busyHost(t *testing.T) {
	t.Parallel()
	s, _ := hosted(t)
	info, err := os.Stat(s.program)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	f := wire.Fields{"do=errand", "arg=send", "arg=main", "zone=" + time.Now().Format("-0700 MST")}
	f.Add(wire.Dir, s.dir)
	f.Add(wire.Build, fmt.Sprintf("%d:%d:%d", st.Dev, st.Ino, info.ModTime().UnixNano()))
	for _, e := range s.env {
		f.Add(wire.Env, e)
	}
	var all []line
	for tries := 1; ; tries++ {
		for range 64 {
			l := s.dials(t)
			l.says(wire.Append([]byte(wire.Magic), wire.Ask, f.Bytes()))
			if body, _ := l.until(wire.Answer); wire.FieldsOf(body).Get(wire.Wants) != wire.Input {
				t.Fatalf("the host wants %q", body)
			}
			all = append(all, l)
		}
		o, gate := s.line(t, `"$0" send main "beside them"`)
		if o.code == ok && !gate {
			break
		}
		if o.code != ok || tries == 5 { // on a busy machine the first may be let go by now
			t.Fatalf("%+v, by the gate: %v", o, gate)
		}
		for _, l := range all {
			l.Close()
		}
		all = nil
	}
	for _, l := range all {
		if _, _, _, err := wire.Read(l, wire.MaxFrame, nil); !errors.Is(err, io.EOF) {
			t.Errorf("it is not let go: %v", err)
		}
	}
	if o, gate := s.line(t, `"$0" send main "after them"`); o.code != ok || !gate {
		t.Errorf("%+v, by the gate: %v", o, gate)
	}
}
