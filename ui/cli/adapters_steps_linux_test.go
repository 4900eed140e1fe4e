package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"fantail/ui/attach"
)

// step is a part of the trial of an adapter: it goes on where the one before it ended.
type step struct {
	name string
	do   func(t *testing.T, y *trial)
}

// TestAdapters: Claude Code, Codex and opencode carry out turns as the agents that they are.
func TestAdapters(t *testing.T) {
	t.Parallel()
	for _, a := range []adapter{claude(), codex(), opencode()} {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			y := newTrial(t, "acp/"+a.Name, a)
			y.opens(t)
			for _, s := range []step{
				{"talks", talks},
				{"works", works},
				{"asks", asks},
				{"hears words", hearsWords},
				{"wonders", wonders},
				{"is stopped", isStopped},
				{"uses our tools", usesOurs},
				{"takes mail", takesMail},
				{"does a task", doesTask},
				{"fails", fails},
				{"dies", dies},
				{"dies asking", diesAsking},
				{"loses its host", losesHost},
			} {
				if !t.Run(s.name, func(t *testing.T) { s.do(t, y) }) {
					return
				}
			}
		})
	}
}

// opens opens a screen, and reads main's transcript.
func (y *trial) opens(t *testing.T) {
	t.Helper()
	y.c = openOf(t, y.command(), 120, 40)
	y.c.until(t, home, " · ask") // its model and its mode
	y.all = y.watch(t, "main")
}

// types has a command carried out, and waits for what it shows.
func (y *trial) types(t *testing.T, command string, shows ...string) {
	t.Helper()
	y.c.typed(t, command)
	y.c.until(t, "› "+command)
	pressed(t, "\r", shows, y.c) // right after a question it does nothing
}

// prompt has the model do what the lines say at a prompt, and prompts.
func (y *trial) prompt(t *testing.T, name string, lines ...string) {
	t.Helper()
	y.write(name, lines...)
	y.prompts = append(y.prompts, name)
	y.c.typed(t, "play "+name)
	y.c.until(t, "› play "+name)
	pressed(t, "\r", []string{"!› play "}, y.c) // right after a question it does nothing
}

// ends waits for the turn to end, in that way, and returns what was said and done in it.
func (y *trial) ends(t *testing.T, how string) []attach.Entry {
	t.Helper()
	y.turns++
	es, outcome := y.all.ends(t, y.turns)
	if outcome != how {
		t.Errorf("the turn is %s, want %s", outcome, how)
	}
	return es
}

// results are what calls returned.
func results(es []attach.Entry) (rs []attach.Entry) {
	for _, e := range es {
		if e.Kind == "result" {
			rs = append(rs, e)
		}
	}
	return rs
}

// said checks that there are entries of those kinds that say that.
func said(t *testing.T, es []attach.Entry, kind, text string) {
	t.Helper()
	if _, found := has(es, kind, text); !found {
		t.Errorf("there is no %s with %q", kind, text)
	}
}

// talks: thoughts, words, the model that is configured, and how it is held.
func talks(t *testing.T, y *trial) {
	y.prompt(t, "talk", "think a thought of it", "say an answer of it")
	es := y.ends(t, "completed")
	said(t, es, "thinking", "a thought of it")
	said(t, es, "text", "an answer of it")
	said(t, es, "notice", y.held)
	y.c.until(t, "an answer of it")
	if r, _ := y.last("play talk"); !strings.Contains(r.Model, y.model) {
		t.Errorf("its model is %q", r.Model)
	}
}

// works: it reads and edits files and runs commands by tools of its own, which show as ours do.
func works(t *testing.T, y *trial) {
	notes := filepath.Join(y.dir, "notes.txt")
	y.prompt(t, "works", y.Call("read", notes), y.Call("edit", notes), y.Call("run", "echo out; cat nowhere 2>&1"), "say worked")
	es := y.ends(t, "completed")
	rs := results(es)
	if len(rs) != 3 || !strings.Contains(rs[0].Text, "alpha beta") || !strings.Contains(rs[2].Text, "out\n") || !strings.Contains(rs[2].Text, "nowhere: No such file") {
		t.Errorf("%+v", rs)
	}
	said(t, es, "call", "notes.txt")
	y.c.until(t, "+1 −1", "worked")
	y.c.typed(t, "\x0f") // unfolds it
	y.c.until(t, "- alpha", "+ omega")
	if text, _ := os.ReadFile(notes); string(text) != "omega beta\n" {
		t.Errorf("%q", text)
	}
}

// answers answers what it asks by the key of an option.
func (y *trial) answers(t *testing.T, about, key string) {
	t.Helper()
	y.opened(t, about)
	pressed(t, key, []string{"!has a question"}, y.c)
}

// opened opens the question that it asks. The key is pressed once: again, it would close it.
func (y *trial) opened(t *testing.T, about string) {
	t.Helper()
	y.c.until(t, "asks: ", "1 asking")
	y.c.typed(t, "\x1ba")
	y.c.until(t, "─ main has a question", about)
}

// The keys of what it offers: all three put their yes first and their no third.
const keyYes, keyNo = "1", "3"

// asks: a permission is asked and answered; what was refused is not done. In a sandbox even what was allowed is done only
// where that may write.
func asks(t *testing.T, y *trial) {
	outside := filepath.Join(t.TempDir(), "outside")
	for _, c := range []struct {
		path, key string
		made      bool
	}{{filepath.Join(y.dir, "made-yes"), keyYes, true}, {filepath.Join(y.dir, "made-no"), keyNo, false}, {outside, keyYes, !y.boxed}} {
		name := filepath.Base(c.path)
		y.prompt(t, "ask-"+name, y.Call("ask", "install -m 600 /dev/null "+c.path), "say went on")
		y.answers(t, name, c.key)
		how := "completed"
		if c.key == keyNo && y.stopsAtNo {
			how = "interrupted"
		}
		es := y.ends(t, how)
		if _, err := os.Stat(c.path); (err == nil) != c.made {
			t.Errorf("%s: %v: %+v", name, err, results(es))
		}
	}
}

// hearsWords: an answer in words of the human's own is a no, and its model reads them.
func hearsWords(t *testing.T, y *trial) {
	y.prompt(t, "words", y.Call("ask", "install -m 600 /dev/null "+filepath.Join(y.dir, "made-words")), "say went on")
	y.opened(t, "made-words")
	pressed(t, "o", []string{"!Type your own answer"}, y.c)
	y.c.typed(t, "nly in a copy")
	y.c.until(t, "only in a copy")
	pressed(t, "\r", []string{"!has a question"}, y.c)
	y.ends(t, "completed") // where it stops it is told at once
	y.prompt(t, "worded", "say it has read")
	y.ends(t, "completed")
	if _, err := os.Stat(filepath.Join(y.dir, "made-words")); err == nil {
		t.Error("it was made")
	}
	r, _ := y.last("play worded")
	if n := len(regexp.MustCompile("The user said no, and: o+nly in a copy").FindAll(r.Body, -1)); n != 1 {
		t.Errorf("it was told %d times: %s", n, strings.Join(y.told(r), "\n"))
	}
}

// wonders: what it asks the human is a question like any, with its own words to choose from.
func wonders(t *testing.T, y *trial) {
	if y.Calls["wonder"] == nil {
		t.Skip("it has no tool for that here")
	}
	y.prompt(t, "wonder", y.Call("wonder", "Which colour"), "say it knows")
	y.opened(t, "Which colour")
	last := time.Time{}
	holds(t, "its second question follows", func() bool { // 2 is pressed only on the first: on the second it is something else
		shows := y.c.text()
		if open := strings.Contains(shows, "─ main has a question"); open && strings.Contains(shows, "add a note") {
			return true
		} else if open && time.Since(last) > time.Second {
			last = time.Now()
			y.c.typed(t, "2")
		}
		return false
	})
	pressed(t, "1", []string{"!has a question"}, y.c) // leaves it out
	said(t, y.ends(t, "completed"), "text", "it knows")
	r, _ := y.last("play wonder")
	if told := strings.Join(y.told(r), "\n"); !strings.Contains(told, `="blue"`) {
		t.Error(told)
	}
}

// isStopped: Esc stops it, and the next prompt finds it as before.
func isStopped(t *testing.T, y *trial) {
	y.prompt(t, "stop", "say it begins, and is not over", "stall")
	y.c.until(t, "it begins")
	y.c.typed(t, "\x1b")
	es := y.ends(t, "interrupted")
	said(t, es, "text", "it begins")
	y.prompt(t, "stopped", "say it goes on")
	said(t, y.ends(t, "completed"), "text", "it goes on")
	y.once(t)
}

// usesOurs: it works with the queue and with mail by our tools, and nobody is asked about that.
func usesOurs(t *testing.T, y *trial) {
	y.prompt(t, "ours",
		y.CallOurs("send", `{"to":["main"],"message":"a word to itself"}`), y.CallOurs("inbox", `{}`),
		y.CallOurs("push", `{"name":"w","prompt":"say the result of w","model":"builtin"}`), y.CallOurs("queue", `{}`), y.CallOurs("run", `{}`),
		y.CallOurs("receive", `{"from":"w"}`), y.CallOurs("check", `{}`), y.CallOurs("check", `{}`), "say balanced")
	es := y.ends(t, "completed")
	rs := results(es)
	wants := []string{"in the inbox of main", "a word to itself", "Queued 'w'", "w", "Running 1 of 1", "the result of w", "a word to itself", "No messages ready"}
	if len(rs) != len(wants) {
		t.Fatalf("%d results", len(rs))
	}
	for i, want := range wants {
		if rs[i].Error || !strings.Contains(rs[i].Text, want) {
			t.Errorf("call %d: no %q in %s", i, want, described(rs[i]))
		}
	}
	y.balanced(t)
}

// messages are those that were taken.
func messages(es []attach.Entry) (ids []int64) {
	for _, e := range es {
		for _, m := range e.Messages {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// balanced checks that nothing waits, and that each message that was taken was taken once.
func (y *trial) balanced(t *testing.T) {
	t.Helper()
	if out, errs, code := y.run(t, "", "inbox"); code != nothing {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	taken := map[int64]bool{}
	for _, id := range messages(y.all.now()) {
		if taken[id] {
			t.Errorf("message %d was taken twice", id)
		}
		taken[id] = true
	}
}

// takesMail: mail that interrupts is put into a turn right after a call has ended, where the agent lets that be done, else
// it is told at the turn's end; the model reads it once.
func takesMail(t *testing.T, y *trial) {
	pipe := filepath.Join(y.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	y.c.typed(t, "/messages mode interrupt\r")
	y.c.until(t, "interrupt")
	y.prompt(t, "mail", y.Call("run", "cat "+pipe), "hold mail", "say the call is over")
	y.all.until(t, "call that waits", func(es []attach.Entry) bool { _, found := has(es, "call", "pipe"); return found })
	if _, errs, code := y.run(t, "", "send", "main", "the build is red"); code != ok {
		t.Fatal(errs)
	}
	y.c.until(t, "1 pending")
	if err := os.WriteFile(pipe, []byte("through\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-y.server.Held("mail")
	told := func() bool { _, found := y.last("the build is red"); return found }
	if y.steers == cutting && !comes(told, wait) {
		t.Error("it was not told while the model replied")
	}
	y.server.Go("mail")
	es := y.ends(t, "completed")
	if y.steers == "" { // it begins a turn of its own
		es = y.ends(t, "completed")
	}
	// What it took as its turn ended it may keep for the next.
	if n := len(messages(es)); n != 1 || !told() && y.steers != after {
		t.Errorf("%d messages entered, told %v", n, told())
	}
	y.prompt(t, "mailed", "say it has read")
	y.ends(t, "completed")
	r, _ := y.last("play mailed")
	if n := strings.Count(string(r.Body), "the build is red"); n != 1 {
		t.Errorf("the model reads it %d times", n)
	}
	y.c.typed(t, "/messages mode manual\r")
	y.c.until(t, "manual")
	y.once(t)
	y.balanced(t)
}

// doesTask: what the human pushes to it ends as a message, which is counted, and taken once.
func doesTask(t *testing.T, y *trial) {
	y.write("task", "say the task is done")
	y.c.typed(t, fmt.Sprintf("/push agent=%s name=job play task\r", y.Name))
	y.c.until(t, "Queued job")
	y.c.typed(t, "/run\r")
	y.c.until(t, "1 pending", "!1 running")
	y.c.typed(t, "/check\r")
	y.c.until(t, "the task is done", "!1 pending")
	y.c.typed(t, "/check\r")
	y.c.until(t, "No messages")
	y.balanced(t)
}

// dies: its program is killed while it speaks. What it had said stays; it goes on with its session, and is told nothing
// twice.
func dies(t *testing.T, y *trial) {
	y.prompt(t, "die", "say its last words, and not all", "stall")
	y.c.until(t, "its last words")
	y.kill(t)
	es := y.ends(t, "failed")
	said(t, es, "text", "its last words")
	said(t, es, "ended", "it ended")
	y.prompt(t, "died", "say it is back")
	said(t, y.ends(t, "completed"), "text", "it is back")
	y.once(t)
}

// diesAsking: its program is killed while it asks. The question stays; with the answer it goes on, and where it asks the
// same again it is given the answer.
func diesAsking(t *testing.T, y *trial) {
	made := filepath.Join(y.dir, "made-late")
	asks := y.Call("ask", "install -m 600 /dev/null "+made)
	y.write(hadAsked, asks, "say it had asked")
	y.prompt(t, "die-asking", asks, "say it goes on")
	y.c.until(t, "asks: ", "1 asking")
	y.kill(t)
	y.c.until(t, "What it asked stays open")
	y.answers(t, "made-late", keyYes)
	es := y.ends(t, "completed")
	said(t, es, "notice", "What it asked stays open")
	said(t, es, "text", "it had asked")
	if _, err := os.Stat(made); err != nil {
		t.Error(err)
	}
	y.once(t)
}

// fails: a turn that its model fails is none that is completed, and the next goes on.
func fails(t *testing.T, y *trial) {
	y.prompt(t, "fail", "status 400 9")
	said(t, y.ends(t, "failed"), "ended", "400 as the script wants it")
	y.prompt(t, "failed", "say it works again")
	said(t, y.ends(t, "completed"), "text", "it works again")
}

// losesHost: this program is killed while it speaks. Its program ends too; the next start goes on with its session.
func losesHost(t *testing.T, y *trial) {
	y.prompt(t, "lose", "say its last words here, and not all", "stall")
	y.c.until(t, "its last words here")
	host := y.host(t)
	groups := y.theirs(t, host)
	if err := syscall.Kill(host, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	y.c.exited(t)
	y.opens(t)
	y.ends(t, "crashed")
	for _, g := range groups {
		holds(t, "its programs have ended", func() bool { return syscall.Kill(-g, 0) != nil })
	}
	y.prompt(t, "lost", "say it is here again")
	said(t, y.ends(t, "completed"), "text", "it is here again")
	y.once(t)
	y.balanced(t)
}
