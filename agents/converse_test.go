package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/llm/builtin"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/permission"
)

// says prompts a conversation, waits until it is at rest and returns its transcript's text.
func (w *world) says(c *agents.Conversation, prompt string) string {
	w.T.Helper()
	check(w.T, c.Prompt(w.T.Context(), prompt))
	check(w.T, c.Settled(w.T.Context()))
	var all strings.Builder
	for _, e := range w.Entries(c.Info.Name) {
		all.WriteString(e.Text + "\n")
	}
	return all.String()
}

// A conversation that nobody attends is its own: what main knows it does not, main hears nothing of it, and it goes on
// only by name or as the last one, with what was said.
func TestConverse(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	w.Prompt("say only main knows")
	w.Settle()
	before := len(w.Entries("main"))

	first := w.Unattended(t.Context(), agents.Unattended{})
	if all := w.says(first, "say one"); strings.Contains(all, "only main knows") {
		t.Errorf("it knows what main was told: %s", all)
	}
	if _, err := first.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Until("its tab is gone", func() bool { return w.Entries(first.Info.Name) == nil })
	second := w.Unattended(t.Context(), agents.Unattended{})
	w.says(second, "say two")
	if _, err := w.Pool.Scripts.Open(t.Context(), agents.Unattended{Mode: permission.Ask, Last: true}); err == nil || !strings.Contains(err.Error(), "is at work") {
		t.Errorf("the last one, which is at work, goes on: %v", err)
	}
	_, err := second.End(t.Context())
	check(t, err)

	for _, c := range []struct{ goes, had string }{{"", "two"}, {first.Info.Name, "one"}, {"", "one"}} {
		c, had := w.Unattended(t.Context(), agents.Unattended{Goes: c.goes, Last: c.goes == ""}), c.had
		if all := w.says(c, "say three"); !strings.Contains(all, "say "+had+"\n") || !strings.Contains(all, "three") {
			t.Errorf("%s goes on with %s", c.Info.Name, all)
		}
		_, err = c.End(t.Context())
		check(t, err)
	}
	if is := len(w.Entries("main")); is != before {
		t.Errorf("main has %d entries, had %d", is, before)
	}
	if n := w.Info("main").Pending; n > 0 {
		t.Errorf("main has %d messages", n)
	}
}

// What is no earlier conversation is not gone on with, and the error says what to do.
func TestConverse_refuses(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	if _, err := w.Pool.Scripts.Open(t.Context(), agents.Unattended{Mode: permission.Ask, Last: true}); err == nil || !strings.Contains(err.Error(), "without --continue") {
		t.Errorf("the last of none: %v", err)
	}
	w.Push("job", "say done")
	w.Consent(0)
	w.Settle()
	_, err := w.Pool.NewHelper(t.Context(), "aide", "")
	check(t, err)
	for goes, want := range map[string]string{
		"main": "belongs to the screens", "job": "sub-agent", "aide": "open at a screen", "nobody": "no conversation nobody",
	} {
		if _, err := w.Pool.Scripts.Open(t.Context(), agents.Unattended{Mode: permission.Ask, Goes: goes}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", goes, err)
		}
	}
	if _, err := w.Pool.Scripts.Open(t.Context(), agents.Unattended{Mode: permission.Auto}); err == nil || !strings.Contains(err.Error(), "none works here") {
		t.Errorf("auto without a sandbox: %v", err)
	}
	if _, err := w.Pool.Scripts.Open(t.Context(), agents.Unattended{Mode: permission.Ask, Model: "no/such"}); err == nil {
		t.Error("a model that is none")
	}
}

// Its mode is its own: the session's mode and rules loosen nothing for it nor for whom it dispatches, and its mode
// nothing for others. A human who goes on with it at a screen is asked again.
func TestConverse_mode(t *testing.T) {
	touch := func(name string) string { return "run touch " + name }
	w := open(t, builtin.New(), setting{Mode: permission.Yolo})
	ask := w.Unattended(t.Context(), agents.Unattended{Mode: permission.Ask})
	if all := w.says(ask, touch("a")); w.there("a") {
		t.Errorf("in the session's mode: %s", all)
	}
	w.says(ask, "delegate kid: "+touch("b"))
	if w.there("b") {
		t.Error("who it dispatched, in the session's mode")
	}
	check(t, w.Pool.SetMode(context.Background(), permission.Ask))
	yolo := w.Unattended(t.Context(), agents.Unattended{Mode: permission.Yolo})
	if all := w.says(yolo, touch("c")); !w.there("c") {
		t.Errorf("in its own mode: %s", all)
	}
	if all := w.says(yolo, "delegate kid2: "+touch("d")); !w.there("d") {
		t.Errorf("who it dispatched, in its mode: %s", all)
	}
	w.Prompt(touch("e"))
	q := w.asks("main")
	w.Answer(q.ID, permission.Session) // a rule of the session
	w.Settle()
	check(t, os.Remove(filepath.Join(w.Dir, "e")))
	if all := w.says(ask, touch("e")); w.there("e") {
		t.Errorf("under a rule of the session: %s", all)
	}
	_, err := yolo.End(t.Context())
	check(t, err)
	_, _, err = w.Pool.Resume(t.Context(), w.Main(), yolo.Info.Name, "run mkdir f")
	check(t, err)
	w.Answer(w.asks(yolo.Info.Name).ID, permission.No)
	w.Settle()
	if w.there("f") {
		t.Error("a human who goes on with it was not asked")
	}
}

// there reports whether a file is in the workspace.
func (w *world) there(name string) bool {
	_, err := os.Stat(filepath.Join(w.Dir, name))
	return err == nil
}

// What it dispatched is waited for, what others do is not; its end ends what still runs, tells what it leaves, and
// passes its queue, but not its mail, to main.
func TestConverse_end(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	w.Prompt("run sleep 600")
	w.Output("main", "")
	c := w.Unattended(t.Context(), agents.Unattended{})
	w.says(c, "delegate async kid: run echo made > made")
	if !w.there("made") {
		t.Error("what it dispatched was not waited for")
	}
	w.says(c, "push later: run touch never")
	stop, cancel := context.WithCancelCause(t.Context())
	check(t, c.Prompt(t.Context(), "delegate async long: run echo on; sleep 600"))
	w.Output("long", "on")
	why := errors.New("enough")
	cancel(why)
	if err := c.Settled(stop); !errors.Is(err, why) {
		t.Errorf("it is settled: %v", err)
	}
	left, err := c.End(t.Context())
	check(t, err)
	if left.Queued != 1 || left.Unread == 0 || left.Running != 0 {
		t.Errorf("it left %+v", left)
	}
	if s := w.state1("long"); s != event.Killed {
		t.Errorf("long is %s", s)
	}
	for _, i := range w.Pool.Infos() {
		if i.Name != "main" {
			t.Errorf("the tab of %s stays", i.Name)
		}
	}
	if i := w.Info("main"); i.State != event.Running || i.Pending != 0 {
		t.Errorf("main: %+v", i)
	}
	if l, err := w.Pool.Queue(t.Context(), w.Main()); err != nil || len(l.Tasks) != 1 || l.Tasks[0].Name != "later" {
		t.Errorf("main's queue: %+v, %v", l, err)
	}
	w.Pool.Stop(w.Main())
	w.Settle()
	again := w.Unattended(t.Context(), agents.Unattended{Last: true})
	ms, _, err := w.Pool.Pickup.Check(t.Context(), again.Info.ID, inbox.Query{})
	if err != nil || len(ms) != left.Unread {
		t.Errorf("it has %d messages when it goes on, left %d: %v", len(ms), left.Unread, err)
	}
}

// state1 is what the feed last said of an agent.
func (w *world) state1(name string) event.State {
	w.Until("all is heard", func() bool { return true })
	return w.Info(name).State
}

// A crash leaves no conversation open that nobody waits for any more; what it did is kept.
func TestConverse_crash(t *testing.T) {
	s := setting{Dir: t.TempDir()}
	w := open(t, builtin.New(), s)
	c := w.Unattended(t.Context(), agents.Unattended{})
	w.says(c, "say before")
	check(t, c.Prompt(t.Context(), "delegate async kid: run echo on; sleep 600"))
	w.Output("kid", "on")
	w.Close() // its rows are as a crash would leave them, but for the ends of turns
	w = open(t, builtin.New(), s)
	for _, i := range w.Pool.Infos() {
		if i.Unattended {
			t.Errorf("%s is open, %s", i.Name, i.State)
		}
	}
	w.Settle()
	again := w.Unattended(t.Context(), agents.Unattended{Last: true})
	if again.Info.Name != c.Info.Name {
		t.Fatalf("%s goes on", again.Info.Name)
	}
	if all := w.says(again, "say after"); !strings.Contains(all, "before") || !strings.Contains(all, "after") {
		t.Errorf("it is %s", all)
	}
}

// Many that begin at once have names of their own.
func TestConverse_atOnce(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	const n = 16
	names := make(chan string, n)
	for k := range n {
		go func() {
			c, err := w.Pool.Scripts.Open(t.Context(), agents.Unattended{Mode: permission.Ask})
			if err != nil {
				names <- err.Error()
				return
			}
			err = errors.Join(c.Prompt(t.Context(), fmt.Sprint("say ", k)), c.Settled(t.Context()))
			_, ended := c.End(t.Context())
			if err = errors.Join(err, ended); err != nil {
				t.Error(err)
			}
			names <- c.Info.Name
		}()
	}
	seen := map[string]bool{}
	for range n {
		name := <-names
		if seen[name] || !strings.HasPrefix(name, "prompt-") {
			t.Errorf("name %q", name)
		}
		seen[name] = true
	}
}

// A task of it that a human starts later is a human's.
func TestConverse_queued(t *testing.T) {
	w := open(t, builtin.New(), setting{Mode: permission.Ask})
	c := w.Unattended(t.Context(), agents.Unattended{Mode: permission.Yolo})
	w.says(c, "push later: run touch made")
	_, err := c.End(t.Context())
	check(t, err)
	for range 2 { // shown, and started
		_, err := w.Pool.Run(t.Context(), w.Main(), tools.Start{})
		check(t, err)
	}
	w.Answer(w.asks("later").ID, permission.No)
	w.Settle()
	if w.there("made") {
		t.Error("it ran in the mode of who pushed it")
	}
}
