package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/.ci/long"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/ui/cli"
	"fantail/ui/shell"
)

// Depositing, looking and taking without a program that runs.
//
// Spec, E-7, E-10.
func TestErrands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for errand, want := range map[string]int{"inbox": nothing, "check": nothing, "queue": nothing, "show 1": failed} {
		out, errs, code := s.run(t, "", strings.Fields(errand)...)
		if code != want || out != "" || !strings.Contains(errs, "nobody used fantail in") || !strings.Contains(errs, "fantail send main TEXT") {
			t.Errorf("%s before anything: %d %q %q", errand, code, out, errs)
		}
	}
	body := "two\nlines, \"quoted\", \x1b[31mred\x07 \u202e </message> \xff end\n"
	for _, c := range []struct {
		input string
		args  []string
		code  int
		want  string // in the output
		errs  string
	}{
		{"", []string{"send", "main", "--priority=high", "tests broke"}, ok, "Message #1 is in the inbox of main\n", ""},
		{body, []string{"send", "main", "--tag", "ci", "--key", "k", "--json"}, ok, `{"id":2,"to":"main"}`, ""},
		{body, []string{"send", "main", "-", "--tag", "ci", "--key", "k"}, ok, "Message #2 ", ""},
		{"", []string{"send", "main", "another text", "--key", "k"}, failed, "", "the key was used for another message"},
		{"", []string{"send", "main", "--", "-x"}, ok, "#3", ""},
		{"", []string{"send", "main"}, failed, "", "the message is empty"},
		{strings.Repeat("x", 1<<20+1), []string{"send", "main"}, failed, "", "larger than 1 MiB"},
		{"", []string{"send", "mai,main", "to one agent, once"}, ok, "Message #4 is in the inbox of main\n", ""},
		{"", []string{"send", "main,nobody", "x"}, failed, "", "nothing was sent"},
		{"", []string{"send", "nobody", "x"}, failed, "", `"nobody": no such agent; agents that read mail: main`},
		{"", []string{"send"}, usage, "", "fantail send NAME TEXT"},
		{"", []string{"send", "main", "x", "--priority=hihg"}, usage, "", "did you mean high?"},
		{"", []string{"send", "main", "x", "--prioriti=high"}, usage, "", "did you mean --priority?"},
		{"", []string{"sned", "main", "x"}, usage, "", "did you mean send?"},
		{"", []string{"inbox"}, ok, "s ago)\n    #1 · high external mail · tests broke\n", ""},
		{"", []string{"check"}, ok, "tests broke", ""}, // no terminal: nothing is taken
		{"", []string{"check", "--peek", "--lifo"}, ok, "#4 from outside", ""},
		{"", []string{"check", "--peek", "--take"}, usage, "", "contradict"},
		{"", []string{"check", "from=tests"}, nothing, "No messages ready.\n", ""},
		{"", []string{"check", "tests"}, usage, "", "check [from=NAME]"},
		{"", []string{"show", "#2"}, ok, "two\nlines", ""},
		{"", []string{"schedule"}, nothing, "Nothing is scheduled.\n", ""},
		{"", []string{"schedule", "remind", "30m", "the", "oven"}, ok, "Reminder reminder-1: in 30m, due ", ""},
		{"", []string{"schedule", "name=ci", "every", "10m", "look at ci.log"}, ok, "Scheduled ci: every 10m, due ", ""},
		{"", []string{"schedule", "every", "10m", "!make test"}, failed, "", "only the human can schedule a command"},
		{"", []string{"schedule", "cron 0 0 9 * * *", "look at ci.log"}, usage, "", "leave out the seconds"},
		{"", []string{"schedule", "remind", "30m the oven", "is hot"}, usage, "", "\"the oven\" follows in 30m"},
		{"", []string{"schedule", "soon", "x"}, usage, "", "say when: 30m, 14:00"},
		{"", []string{"schedule", "run", "ci"}, failed, "", "only a screen fires one"},
		{"", []string{"schedule", "pause", "ci"}, ok, "Paused ci", ""},
		{"", []string{"schedule", "resume", "ci"}, ok, "Resumed ci, due ", ""},
		{"", []string{"schedule", "show", "ci"}, ok, "says      look at ci.log", ""},
		{"", []string{"schedule", "rm", "ci"}, ok, "Removed ci\n", ""},
		{"", []string{"schedule", "rm", "ci"}, failed, "", "there is no schedule ci"},
		{"", []string{"schedule", "watch", "5m", "until", `"green"`, "look"}, ok, "Scheduled task-1: every 5m", ""},
		{"", []string{"schedule", "--json"}, ok, `"name":"task-1"`, ""},
		{"", []string{"schedule", "list", "--json"}, ok, `{"name":"task-1","kind":"task","text":"look","when":"every 5m","state":"active","due":"`, ""},
		{"", []string{"memory"}, nothing, "No memory documents.\n", ""},
		{"", []string{"memory", "list", "--json"}, nothing, "", ""},
		{"", []string{"memory", "show", "oauth"}, failed, "", "no memory document #mem-oauth. None was written yet"},
		{"", []string{"memory", "show", "o auth"}, failed, "", "names no memory document"},
		{"", []string{"memory", "edit", "x"}, usage, "", "fantail memory [list | show NAME]"},
		{"", []string{"show", "99"}, failed, "", "there is no message #99"},
		{"", []string{"show", "two"}, usage, "", "is not a message number"},
		{"", []string{"inbox", "--agent", "nobody"}, failed, "", "agents that read mail: main"},
		{"", []string{"queue"}, nothing, "The queue is empty", ""},
		{"", []string{"push", "name=job", "timeout=5m", "run", "go", "test", "-v"}, ok, "Queued job; /run in the program starts it\n", ""},
		{"say hi\n", []string{"push", "--json", "name=other"}, ok, `"prompt":"say hi"`, ""},
		{"", []string{"push", "name=job", "x"}, failed, "", `a task "job" is queued or runs already`},
		{"", []string{"push", "name=main", "x"}, failed, "", "is reserved"},
		{"", []string{"push", "name=outside", "x"}, failed, "", "is reserved"},
		{"", []string{"push", "!rm -rf x"}, failed, "", "only the human can queue a command"},
		{"", []string{"push", "deliver=wake", "x"}, usage, "", "deliver= is not for tasks from outside"},
		{"", []string{"push", "timeout=soon", "x"}, usage, "", "is not a time"},
		{"", []string{"push", "name=a", "name=b", "x"}, usage, "", "given twice"},
		{"", []string{"push", "model=nobody/x", "x"}, usage, "", "no such provider"},
		{"", []string{"push", "name=paid", "model=anthropic/some", "x"}, ok, "Queued paid", ""}, // the key may be set elsewhere
		{"", []string{"push", "name=next", "after=job,other", "say x"}, ok, "Queued next", ""},
		{"", []string{"push", "name=free", "please look"}, ok, "Queued free; /run in the program starts it\n", "free: It will fail: No language model is configured: `please look` is not"},
		{"please look", []string{"push", "--json", "name=plain", "model=builtin"}, ok, `"model":"builtin"`, "plain: It will fail: No language model is configured"},
		{"", []string{"push", "after=nobody", "x"}, failed, "", "there is no task of that name"},
		{"", []string{"queue"}, ok, "Queued:\n  - job (from outside: cli)\n  - other (from outside: cli)\n  - paid (from outside: cli)\n  - next (after job, other) (from outside: cli)\n  - free (from outside: cli)\n", ""},
		{"", []string{"check", "--take"}, ok, "#3 from outside", ""},
		{"", []string{"check", "--take"}, nothing, "No messages ready.", ""},
		{"", []string{"check", "--take", "--json"}, nothing, "", ""},
		{"", []string{"inbox"}, nothing, "No messages.", ""},
		{"", []string{"show", "1"}, ok, "taken from outside (cli)", ""},
		{"", []string{"help", "chekc"}, usage, "", "did you mean check?"},
		{"", []string{"help", "check"}, ok, "Exit codes: 0 something, 3 nothing ready, 1 failed, 2 wrong usage", ""},
		{"", []string{"send", "--help"}, ok, "go test ./... || fantail send main", ""},
	} {
		var out, errs string
		var code int
		if _, err := cli.Parse(c.args, io.Discard); err != nil { // what is wrong with the line shows without the program
			errs, code = err.Error(), shell.ExitCode(err)
		} else {
			out, errs, code = s.run(t, c.input, c.args...)
		}
		if code != c.code || !strings.Contains(out, c.want) || c.want == "" && out != "" || !strings.Contains(errs, c.errs) || c.errs == "" && errs != "" {
			t.Errorf("%q: exit code %d (want %d), output %q (want %q), errors %q (want %q)", c.args, code, c.code, out, c.want, errs, c.errs)
		}
	}
	// From another directory, and from a subdirectory of the workspace.
	elsewhere := newSite(t)
	elsewhere.env = s.env
	if out, errs, code := elsewhere.run(t, "", "show", "2", "--cwd", s.dir, "--json"); code != ok {
		t.Errorf("--cwd: %d %q %q", code, out, errs)
	} else {
		var m struct {
			To      string     `json:"to"`
			From    string     `json:"from"`
			Outside bool       `json:"outside"`
			Tags    []string   `json:"tags"`
			Raw     []byte     `json:"body_base64"`
			Taken   *time.Time `json:"taken_at"`
			TakenBy string     `json:"taken_by"`
		}
		if err := json.Unmarshal([]byte(out), &m); err != nil || string(m.Raw) != body || m.From != "outside" || !m.Outside || m.To != "main" ||
			fmt.Sprint(m.Tags) != "[ci]" || m.TakenBy != "cli" || m.Taken == nil {
			t.Errorf("%v: %s", err, out)
		}
		if strings.ContainsAny(out, "\x1b\x07") || strings.Contains(out, "\u202e") {
			t.Errorf("JSON that steers a terminal: %q", out)
		}
	}
	if _, _, code := elsewhere.run(t, "", "--cwd", s.dir, "queue", "--json"); code != ok {
		t.Errorf("--cwd before the sub-command: %d", code)
	}
}

// As a Makefile or a git hook has it.
func TestErrands_inAShell(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	line := `false || "$0" send main --priority=high "tests broke" && "$0" check --take && ! "$0" check; echo "code $?"; "$0" check > /dev/null; echo "code $?"`
	c := exec.Command("/bin/sh", "-c", line, os.Getenv(builtEnv))
	c.Dir, c.Env = s.dir, s.env
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "tests broke") || !strings.HasSuffix(string(out), "No messages ready.\ncode 0\ncode 3\n") {
		t.Errorf("%v: %s", err, out)
	}
}

// On a terminal nothing from outside steers it, and check takes.
func TestErrands_onATerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(t, "evil \x1b]52;c;aGk=\x07\x1b[2J text", "send", "main")
	c := open(t, s.command("check"))
	c.until(t, "evil", "text")
	if code := c.exited(t); code != ok {
		t.Errorf("exit code %d", code)
	}
	if raw := c.written(); strings.ContainsAny(raw, "\x1b\x07") {
		t.Errorf("it wrote %q", raw)
	}
	if _, _, code := s.run(t, "", "check"); code != nothing {
		t.Errorf("it was not taken: %d", code)
	}
}

// A message that was acknowledged is there, however its sender ended.
//
// Spec: O-28, Q-42.
func TestErrands_acknowledgedIsStored(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sent := long.Times(3, 10)
	for i := range sent {
		c := s.command("send", "main", fmt.Sprint("message ", i), "--json")
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		_ = c.Process.Kill()
		_ = c.Wait()
		if err != nil {
			t.Fatalf("no answer: %q, %v", line, err)
		}
	}
	out, _, _ := s.run(t, "", "inbox")
	if n := strings.Count(out, "message "); n != sent {
		t.Errorf("%d of %d messages:\n%s", n, sent, out)
	}
}

// Of many messages a text shows the first hundred and says how many more there are; --all and --json print all.
func TestInbox_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(t, "", "send", "main", "message 1.")
	s.deposit(t, 249)
	for _, c := range []struct {
		args        []string
		lines       int
		first, last string
		rest, warns string
	}{
		{[]string{"inbox"}, 100, "message 1.", "message 100.", "\n  150 more: --all\n", ""},
		{[]string{"inbox", "--all"}, 250, "message 1.", "message 250.", "", ""},
		{[]string{"inbox", "--json"}, 250, "message 1.", "message 250.", "", ""},
		{[]string{"check", "--peek"}, 100, "message 1.", "message 100.", "", "fantail: 150 more: --all\n"},
		{[]string{"check", "--peek", "--lifo", "from=outside"}, 100, "message 250.", "message 151.", "", "fantail: 150 more: --all\n"},
		{[]string{"check", "--peek", "--all"}, 250, "message 1.", "message 250.", "", ""},
		{[]string{"check", "--peek", "--json", "--lifo"}, 250, "message 250.", "message 1.", "", ""},
	} {
		out, errs, code := s.run(t, "", c.args...)
		got := regexp.MustCompile(`message \d+\.`).FindAllString(out, -1)
		if code != ok || len(got) != c.lines || got[0] != c.first || got[len(got)-1] != c.last || !strings.HasSuffix(out, c.rest) || errs != c.warns ||
			strings.Count(out, "Messages:") != min(1, strings.Count(out, "  - ")) {
			t.Errorf("%s: code %d, %d messages, errors %q:\n%s", c.args, code, len(got), errs, out)
		}
	}
	if _, errs, code := s.run(t, "", "check", "--take", "--all"); code != usage || !strings.Contains(errs, "--all goes with --peek") {
		t.Errorf("take all: code %d, %s", code, errs)
	}
}

// deposit puts that many more messages into main's inbox, at once.
func (s *site) deposit(t *testing.T, n int) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(s.data(t), "fantail.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Write(t.Context(), "fill", func(tx *store.Tx) error {
		main, _, err := tx.AgentByName("main")
		for i := range n {
			if err == nil {
				_, err = inbox.New(db, nil).Add(tx, inbox.Message{Recipient: main.ID, From: tasks.OutsideName, Kind: inbox.Mail, Deliver: inbox.Hold, Body: fmt.Sprintf("message %d.", i+2)})
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A follower prints what comes, once, and ends when it is told to or when nobody
// reads it.
func TestInbox_follow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.run(t, "", "send", "main", "before")
	c := s.command("inbox", "--follow")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(wait, func() { _ = c.Process.Kill() })
	defer late.Stop()
	r := bufio.NewReader(out)
	for _, text := range []string{"before", "first", "second"} {
		if text != "before" {
			s.run(t, "", "send", "main", text)
		}
		if line, err := r.ReadString('\n'); err != nil || !strings.HasSuffix(line, " · "+text+"\n") {
			t.Fatalf("%q, %v; want %s", line, err, text)
		}
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(r)
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) || len(rest) > 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, rest %q, errors %q", code, rest, errs.String())
	}

	c = s.command("inbox", "--follow", "--json")
	if out, err = c.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	errs.Reset()
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(out, 16).ReadByte(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	s.run(t, "", "send", "main", "to nobody")
	ended := time.AfterFunc(wait, func() { _ = c.Process.Kill() })
	defer ended.Stop()
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != failed && code != ok || errs.Len() > 0 {
		t.Errorf("nobody reads: exit code %d, errors %q", code, errs.String())
	}
}

// A running program shows what comes from outside without a key being pressed, and
// what is taken there is gone here.
//
// Spec: O-39, N-19, Q-58, M-23, M-25, E-5.
func TestErrands_besideTheProgram(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command("--yolo"))
	c.until(t, "[Agent: main]")
	errand := func(args ...string) {
		t.Helper()
		if out, errs, code := s.run(t, "", args...); code != ok {
			t.Fatalf("%q: exit code %d, %q, %q", args, code, out, errs)
		}
	}
	errand("send", "main", "from a hook")
	c.until(t, "1 pending")
	errand("send", "main", "--priority=urgent", "on fire")
	c.until(t, "2 pending", "🔴 urgent")
	errand("check", "--take")
	c.until(t, "2 messages taken by outside", "[Agent: main]")
	errand("push", "name=job", "run touch made")
	c.until(t, "1 queued")
	c.typed(t, "/run\r")
	c.until(t, "asking before all they do but reading", "job: run touch made", "1 asking")
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err == nil {
		t.Error("the task from outside ran without a question")
	}
	// Who was there first keeps the message: many takers, one message each.
	errand("send", "main", "for one")
	takers := 0
	codes := make(chan int, 6)
	for range cap(codes) {
		taker := s.command("check", "--take")
		if err := taker.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			_ = taker.Wait()
			codes <- taker.ProcessState.ExitCode()
		}()
	}
	c.typed(t, "/check\r")
	for range cap(codes) {
		if <-codes == ok {
			takers++
		}
	}
	c.until(t, "1 asking")
	out, _, _ := s.run(t, "", "show", "4")
	if (takers == 1) != strings.Contains(out, "taken from outside (cli)") || takers > 1 {
		t.Errorf("%d takers outside: %s", takers, out)
	}
}

// A task that the human's shell hands to a living host is that host's: one /run lets it in. One that an agent's command
// hands in is asked about first, whatever it says of itself.
//
// Spec: X-2.
func TestPush_besideAHost(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	c.typed(t, "run "+s.typed()+" push name=inner say inner\r")
	c.until(t, "Queued inner", "1 queued")
	if out, errs, code := s.run(t, "", "push", "name=inner", "say it twice"); code != failed || out != "" || !strings.Contains(errs, `a task "inner" is queued or runs already`) {
		t.Errorf("a name that is taken: exit code %d, %q, %q", code, out, errs)
	}
	if out, errs, code := s.run(t, "", "push", "name=outer", "timeout=90s", "after=inner", "say outer"); code != ok || errs != "" || !strings.Contains(out, "Queued outer") {
		t.Fatalf("exit code %d, %q, %q", code, out, errs)
	}
	c.until(t, "2 queued")
	out, _, _ := s.run(t, "", "queue", "--json")
	for _, want := range []string{`"name":"inner"`, `"name":"outer"`, `"after":["inner"]`, `"timeout_ms":90000`} {
		if !strings.Contains(out, want) {
			t.Errorf("the queue has no %s: %s", want, out)
		}
	}
	c.typed(t, "/run\r")
	c.until(t, "From outside", "- outer: say outer", "Not started", "- inner (pushed by main's command): say inner")
	if at := strings.Index(c.text(), "Not started"); strings.Contains(c.text()[at:], "- outer") {
		t.Errorf("asked about the human's own:\n%s", c.text())
	}
	c.typed(t, "/run\r")
	c.until(t, "2 pending")
}

// Mail that an agent's command sends carries that agent's name, whatever its environment is; that of everybody else does
// not. All of it is from outside.
func TestSend_besideAHost(t *testing.T) {
	t.Parallel()
	needs(t, "grep", "setsid")
	s := newSite(t)
	c := open(t, s.command("--yolo"))
	c.until(t, home, ready)
	send := s.typed() + " send main "
	for i, x := range []struct{ how, from string }{
		{"run " + send + "1", "main"},
		{"run sh -c 'env -i HOME=$HOME PATH=$PATH $(env | grep ^XDG_ | tr \"\\n\" \" \") " + send + "2'; true", "main"},
		{"run (setsid sh -c '" + send + "3' &); sleep 1", "outside"}, // nobody knows any more whose it was
		{"!" + send + "4", "outside"}, // the human's own
	} {
		c.typed(t, x.how+"\r")
		c.until(t, fmt.Sprint(i+1, " pending"))
		if out, errs, _ := s.run(t, "", "show", "--json", fmt.Sprint(i+1)); !strings.Contains(out, `"from":"`+x.from+`","outside":true`) {
			t.Errorf("%s: want it from %s: %s%s", x.how, x.from, out, errs)
		}
	}
	if out, errs, code := s.run(t, "", "send", "main", "--tag=a", "--tag=b", "--priority=high", "--key=k", "5"); code != ok {
		t.Fatal(out, errs)
	}
	if out, errs, code := s.run(t, "", "send", "main", "--tag=a", "--tag=b", "--priority=high", "--key=k", "5"); code != ok || out != "Message #5 is in the inbox of main\n" {
		t.Error("a retry:", out, errs)
	}
	if out, errs, _ := s.run(t, "", "show", "--json", "5"); !strings.Contains(out, `"from":"outside","outside":true,"kind":"mail","priority":"high","tags":["a","b"]`) {
		t.Error(out, errs)
	}
	if out, errs, code := s.run(t, "", "send", "nobody", "x"); code != failed || !strings.Contains(errs, "nothing was sent") {
		t.Error(code, out, errs)
	}
	if out, errs, code := s.run(t, "a\x00b", "send", "main"); code != ok { // it does not go through the socket
		t.Error(out, errs)
	}
	c.until(t, "6 pending")
}
