package agents_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
)

const crashDir = "FANTAIL_TEST_CRASH_DIR"

// crashing is the model of both lives: it says something, then runs a command
// that does not end.
func crashing(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	if asked(req) == "endless" && len(results(req)) == 0 {
		return append(text("I begin."), call("a", "bash", `{"command":"echo $$ > pid; echo output so far; sleep 600"}`)...), nil
	}
	return text("ok"), nil
}

// child is the first life, in a process of its own: it leaves a task running, one
// queued and a message unread, says so, and waits to be killed.
func child() bool {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return false
	}
	tests := []testing.InternalTest{{Name: "child", F: func(t *testing.T) {
		w := open(t, &model{Reply: crashing}, setting{Dir: dir, Cap: 2})
		_, err := w.Pool.Letters.Send(t.Context(), w.Main(), "main", "unread mail", "")
		check(t, err)
		w.Push("job", "endless")
		w.Push("cmd", "!echo $$ > cmd-pid; echo begun; trap '' TERM; while :; do sleep 0.1; done")
		w.Push("later", "quick")
		w.after("lost", "quick", "job", "later")
		w.after("kept", "quick", "later")
		w.Run(2)
		w.Output("job", "output so far")
		w.Output("cmd", "begun")
		fmt.Println("READY")
		<-make(chan struct{})
	}}}
	testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
	return true
}

// crash lives the first life in a directory, and kills it.
func crash(t *testing.T, dir string) {
	t.Helper()
	exe, err := os.Executable()
	check(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "READY" {
		t.Log(lines.Text())
	}
	check(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// Spec: E-1, N-19, Q-42, Q-45.
func TestCrash_nextStartReportsWhatRan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crash(t, dir)
	w := open(t, &model{Reply: crashing}, setting{Dir: dir, Cap: 1})
	w.State("job", event.Crashed)
	ms, err := w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	if len(ms) != 4 || ms[0].Body != "unread mail" {
		t.Fatalf("inbox %+v", ms)
	}
	by := w.mail()
	if lost, c := by["lost"], by["cmd"]; lost.Error != "not started: job crashed: the program ended while it ran" || c.Outcome != "crashed" || !strings.Contains(c.Partial, "begun") {
		t.Errorf("messages %+v", ms)
	}
	f := by["job"]
	if f.Kind != inbox.Failure || f.From != "job" || f.Outcome != "crashed" || !strings.Contains(f.Partial, "I begin.") || !strings.Contains(f.Partial, "output so far") {
		t.Errorf("failure %+v", f)
	}
	l, err := w.Pool.Queue(t.Context(), w.Main())
	check(t, err)
	ts := l.Tasks
	if got := w.listed(); got != "job finished crashed, cmd finished crashed, later queued, lost finished failed, kept queued" {
		t.Errorf("the queue is %s", got)
	}
	if f.Task != ts[0].ID {
		t.Errorf("the failure is of task %d, want %d", f.Task, ts[0].ID)
	}
	w.dead("pid")
	w.dead("cmd-pid")
	w.Close()

	// A third start finds nothing to recover.
	w = open(t, &model{Reply: crashing}, setting{Dir: dir, Cap: 1})
	ms, err = w.Pool.Letters.Inbox(t.Context(), w.Main())
	check(t, err)
	if len(ms) != 4 {
		t.Errorf("a second recovery deposited again: %+v", ms)
	}
	if got := w.queued(); !strings.Contains(got, "  - kept (after later)") {
		t.Errorf("queue:\n%s", got)
	}
	w.Consent(2)
	w.Settle()
	w.State("later", event.Done)
	w.State("kept", event.Done)
}

// TestClose_recordsWhatRan: an orderly end reports running work at once, so that
// the next start has nothing to report.
func TestClose_recordsWhatRan(t *testing.T) {
	dir := t.TempDir()
	w := open(t, &model{Reply: crashing}, setting{Dir: dir})
	w.Push("job", "endless")
	w.Run(0)
	w.Output("job", "output so far")
	w.Close()
	db, err := store.Open(t.Context(), dir+"/fantail.db", store.Options{})
	check(t, err)
	defer db.Close()
	check(t, db.Read(t.Context(), func(rx *store.Rx) error {
		ts, err := rx.RunningTasks()
		if len(ts) != 0 {
			t.Errorf("tasks still run: %+v", ts)
		}
		return err
	}))
	ms, err := inbox.New(db, nil).List(t.Context(), inbox.Query{Recipient: 1})
	check(t, err)
	if len(ms) != 1 || ms[0].Outcome != "interrupted" || !strings.Contains(ms[0].Error, "the program was closed") {
		t.Errorf("messages %+v", ms)
	}
}
