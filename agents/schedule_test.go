package agents_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/agents/llm/builtin"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/store"
)

// plan registers what the human schedules in main's tab.
func (w *world) plan(o schedule.Order, text string) schedule.Schedule {
	w.T.Helper()
	var err error
	o.When, o.Text, err = schedule.ParseWhen(text, time.Now())
	check(w.T, err)
	o.Owner, o.Origin = w.Main(), schedule.Human
	s, err := w.Pool.Schedule.Add(w.T.Context(), o)
	check(w.T, err)
	return s
}

// spoke is all texts of an agent's transcript.
func (w *world) spoke(name string) string {
	var b strings.Builder
	for _, e := range w.Entries(name) {
		b.WriteString(e.Text + "\n")
	}
	return b.String()
}

// TestReminder_isPassive: a reminder waits for the next turn, which begins with it, and starts none; one that wakes
// starts a turn.
//
// Spec: O-40.
func TestReminder_isPassive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, builtin.New(), setting{})
		defer w.Close()
		w.plan(schedule.Order{Kind: schedule.Reminder}, "30m commit your work")
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		w.Until("it is counted", func() bool { return w.Info("main").Pending == 1 })
		if i := w.Info("main"); i.State != event.Idle || i.Steps != 0 {
			t.Fatalf("a turn began: %+v", i)
		}
		w.Prompt("say hello")
		w.Settle()
		if ms := w.waits(w.Main()); len(ms) != 0 {
			t.Errorf("it still waits: %+v", ms)
		}
		if said := w.spoke("main"); !strings.Contains(said, "commit your work") || !strings.Contains(said, "hello") {
			t.Errorf("%q", said)
		}
		w.plan(schedule.Order{Kind: schedule.Reminder, Deliver: inbox.Wake}, "30m lunch")
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		w.Settle()
		if said := w.spoke("main"); !strings.Contains(said, "lunch") {
			t.Errorf("it did not wake: %q", said)
		}
	})
}

// TestReminder_quiet: quiet holds a reminder, also one that wakes, and it is counted; what held it gone, it wakes.
func TestReminder_quiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, builtin.New(), setting{})
		defer w.Close()
		check(t, w.Pool.Mail.BeQuiet(t.Context(), time.Time{}))
		w.plan(schedule.Order{Kind: schedule.Reminder, Deliver: inbox.Wake}, "30m lunch")
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		w.Until("it is counted", func() bool { return w.Info("main").Pending == 1 })
		if i := w.Info("main"); i.State != event.Idle || i.Steps != 0 {
			t.Errorf("a turn began in quiet: %+v", i)
		}
		came, err := w.Pool.Mail.EndQuiet(t.Context())
		check(t, err)
		if !strings.Contains(came, "1 message came meanwhile") {
			t.Errorf("at its end: %q", came)
		}
		w.Until("it wakes", func() bool { return strings.Contains(w.spoke("main"), "lunch") })
		w.Settle()
	})
}

// TestScheduledCommand runs in the workspace as the human's tasks do, and tells where its outcome changed.
//
// Spec: O-36, O-86.
func TestScheduledCommand(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	broken := filepath.Join(w.Dir, "broken")
	s := w.plan(schedule.Order{Kind: schedule.Command, Sandbox: schedule.NoSandbox, Name: "tests"}, "every 10m echo looking; test ! -e broken")
	w.plan(schedule.Order{Kind: schedule.Command, Sandbox: schedule.NoSandbox, Name: "each", Always: true}, "every 10m true")
	fire := func(name string, n int) []inbox.Message {
		t.Helper()
		_, err := w.Pool.Schedule.Fire(t.Context(), name, 0)
		check(t, err)
		w.Until(fmt.Sprint(name, " ran"), func() bool {
			var open bool
			check(t, w.DB.Read(context.Background(), func(rx *store.Rx) (err error) {
				k, err := schedule.Known(&rx.View, name)
				open = k.Last.Ended.IsZero()
				return err
			}))
			return !open
		})
		ms := w.waits(w.Main())
		if len(ms) != n {
			t.Fatalf("%d messages, not %d: %+v", len(ms), n, ms)
		}
		return ms
	}
	m := fire("tests", 1)[0]
	if m.Kind != inbox.Scheduled || m.Subject != "!echo looking; test ! -e broken" || m.Error != "" || !strings.Contains(m.Body, "looking") || m.From != "tests" {
		t.Errorf("%+v", m)
	}
	fire("tests", 1) // as before
	check(t, os.WriteFile(broken, nil, 0o600))
	m = fire("tests", 2)[1]
	if m.Error != "exit 1" || !strings.Contains(m.Body, "the time before: completed") {
		t.Errorf("%+v", m)
	}
	fire("tests", 2)
	check(t, os.Remove(broken))
	fire("tests", 3)
	tabs := 0
	for _, i := range w.Pool.Infos() {
		if strings.HasPrefix(i.Name, "tests") {
			tabs++
		}
	}
	if tabs != 1 {
		t.Errorf("%d tabs of its runs are open", tabs)
	}
	fire("each", 4)
	fire("each", 5)
	check(t, w.DB.Read(t.Context(), func(rx *store.Rx) error {
		rs, err := schedule.Runs(&rx.View, s.ID, 10)
		if len(rs) != 5 || rs[1].Outcome != "failed: exit 1" || rs[1].Finding != "looking" || rs[1].Message != 0 || rs[0].Message == 0 {
			t.Errorf("%+v", rs)
		}
		return err
	}))
}

// TestScheduledCommand_whenNobodyBeganIt: a command that was due when the program ended is told as lost by the next
// start, once, and its schedule goes on.
func TestScheduledCommand_whenNobodyBeganIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, builtin.New(), setting{Dir: dir, Cap: 1})
	w.Push("busy", "!sleep 60")
	w.Run(0)
	w.State("busy", event.Running)
	w.plan(schedule.Order{Kind: schedule.Command, Sandbox: schedule.NoSandbox, Name: "tests"}, "every 10m true")
	_, err := w.Pool.Schedule.Fire(t.Context(), "tests", 0)
	check(t, err)
	w.Until("it is queued", func() bool { return w.Tally.Queued == 1 })
	w.Close()
	for range 2 {
		w = open(t, builtin.New(), setting{Dir: dir, Cap: 1})
		w.Until("there are agents", func() bool { return w.Info("main").ID != 0 })
		lost := 0
		for _, m := range w.waits(w.Main()) {
			if m.Kind == inbox.Scheduled && m.Error == "the program ended before it began" {
				lost++
			}
		}
		if lost != 1 || w.Tally.Queued != 0 {
			t.Errorf("%d messages tell of it, %d tasks are queued: %+v", lost, w.Tally.Queued, w.waits(w.Main()))
		}
		w.Close()
	}
	w = open(t, builtin.New(), setting{Dir: dir})
	_, err = w.Pool.Schedule.Fire(t.Context(), "tests", 0)
	check(t, err)
	w.Settle()
}

// TestWatch: a schedule with a condition has an observer look each time, and the one that finds the condition met ends
// the schedule that fired it, and no other; the last report says that the watch ended. What they called stands in a file
// of lines, too.
//
// Spec: O-6, O-52, O-68, O-84, E-28.
func TestWatch(t *testing.T) {
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		said := results(req)
		switch {
		case len(said) == 0:
			return call("a", "read_file", `{"path":"ci.log"}`), nil
		case len(said) == 1 && strings.Contains(said[0].Text, "passed"):
			return append(call("b", "schedule", `{"action":"unregister","task_id":"other"}`), call("c", "schedule", `{"action":"unregister","task_id":"ci"}`)...), nil
		case len(said) == 1:
			return text("CI is red"), nil
		}
		return text("CI is green: " + said[1].Text), nil
	}}
	w := open(t, m, setting{})
	log := filepath.Join(w.Dir, "ci.log")
	check(t, os.WriteFile(log, []byte("failed\n"), 0o600))
	watch := schedule.Order{Kind: schedule.Task, Name: "ci", CancelWhen: "CI is green"}
	w.plan(watch, "every 10m Does CI pass?")
	other := watch
	other.Name = "other"
	w.plan(other, "every 10m Does CI pass?")
	fire := func(n int) inbox.Message {
		t.Helper()
		_, err := w.Pool.Schedule.Fire(t.Context(), "ci", 0)
		check(t, err)
		w.Until("it reports", func() bool { return len(w.waits(w.Main())) == n })
		return w.waits(w.Main())[n-1]
	}
	if m := fire(1); m.Kind != inbox.Scheduled || m.Body != "CI is red" {
		t.Errorf("%+v", m)
	}
	check(t, os.WriteFile(log, []byte("passed\n"), 0o600))
	m2 := fire(2)
	if m := m2.Body; !strings.HasPrefix(m, "CI is green: Refused: an observer ") || !strings.HasSuffix(m, "\n\nThe watch has ended: ci is not scheduled any more.") {
		t.Errorf("%+v", m)
	}
	if s, _, err := w.Pool.Schedule.About(t.Context(), "ci"); err != nil || s.State != schedule.Ended || s.Runs != 2 || s.Last.Message != m2.ID || s.Last.Outcome != "completed" {
		t.Errorf("%+v, %v", s, err)
	}
	lines, err := os.ReadFile(audit.LinesFile(w.Dir))
	if err != nil || strings.Count(string(lines), `"headless-ci-1"`) == 0 || strings.Count(string(lines), "ci.log") < 2 {
		t.Errorf("the file of what observers called: %v\n%s", err, lines)
	}
	if s, _, err := w.Pool.Schedule.About(t.Context(), "other"); err != nil || s.State != schedule.Active {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestTask_once: what was due once has no watch that could end, and its report tells of none.
func TestTask_once(t *testing.T) {
	t.Parallel()
	w := open(t, builtin.New(), setting{})
	w.plan(schedule.Order{Kind: schedule.Task, Name: "look"}, "1s say looked")
	w.Until("it reports", func() bool { return len(w.waits(w.Main())) == 1 })
	if m := w.waits(w.Main())[0]; m.Kind != inbox.Scheduled || m.Body != "looked" {
		t.Errorf("%+v", m)
	}
	w.Settle()
}
