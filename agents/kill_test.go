package agents_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/llm"
	"fantail/inbox"
)

const lifeDir = "FANTAIL_TEST_OBSERVER_DIR"

// lives is the first life, in a process of its own: two observers, one in the middle of its work and one that has not
// got its model's first word, until it is killed.
func observerLives() bool {
	dir := os.Getenv(lifeDir)
	if dir == "" {
		return false
	}
	tests := []testing.InternalTest{{Name: "life", F: func(t *testing.T) {
		w := observerOpen(t, observerSetting{dir: dir, reply: func(_ context.Context, _ int, req *llm.Request) ([]llm.Part, error) {
			if len(observerResults(req)) == 0 && strings.Contains(req.System, "ci") {
				return append(says("Half is green."), calls(0, "read_file", read("log"))...), nil
			}
			fmt.Println("HANGS")
			select {}
		}})
		w.file("log", "x")
		_, err := w.fire(agents.ObserverOrder{})
		observerCheck(t, err)
		_, err = w.fire(agents.ObserverOrder{Schedule: 8, Name: "other"})
		observerCheck(t, err)
		select {}
	}}}
	testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
	return true
}

// A program that was killed leaves one `scheduled` message for each observer, which the next start writes, and no second
// one ever.
// Spec: O-86, E-1.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lifeDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	observerCheck(t, err)
	observerCheck(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; n < 2 && lines.Scan(); {
		if lines.Text() == "HANGS" {
			n++
		}
	}
	observerCheck(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	for range 2 {
		w := observerOpen(t, observerSetting{dir: dir, reply: func(context.Context, int, *llm.Request) ([]llm.Part, error) { return says("fine"), nil }})
		ms := w.mail()
		if len(ms) != 2 {
			t.Fatalf("%d messages: %+v", len(ms), ms)
		}
		for _, m := range ms {
			if m.Kind != inbox.Scheduled || m.Error != "the program ended meanwhile" || m.Outcome != "crashed" {
				t.Errorf("%+v", m)
			}
		}
		if ms[0].Body != "Half is green." || ms[1].Body != "(nothing)" {
			t.Errorf("they found %q and %q", ms[0].Body, ms[1].Body)
		}
		w.close()
	}
	w := observerOpen(t, observerSetting{dir: dir, reply: func(context.Context, int, *llm.Request) ([]llm.Part, error) { return says("fine"), nil }})
	if _, err := w.fire(agents.ObserverOrder{}); err != nil { // nothing of it holds the schedule up
		t.Error(err)
	}
	if n := len(w.mail()); n != 3 {
		t.Errorf("%d messages", n)
	}
}
