package agents_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/mail"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/tools"
)

// TestDefaultCap: with nothing configured eight agents run at once, and the others wait
// for a place, first come, first served.
func TestDefaultCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: hung}, setting{})
		for i := range 11 {
			w.Push(fmt.Sprintf("t%02d", i), "hang")
		}
		w.Run(0)
		synctest.Wait()
		running := 0
		for _, i := range w.Pool.Infos() {
			if i.Kind == event.Sub && i.State == event.Running {
				running++
			}
		}
		if running != 8 {
			t.Errorf("%d run", running)
		}
		q, err := w.Pool.Queue(t.Context(), w.Main())
		if text := tasks.QueueText(q, time.Now(), 10); err != nil || strings.Count(text, "(cap)") != 3 {
			t.Errorf("the queue says %q, %v", text, err)
		}
		check(t, w.Pool.Kill(t.Context(), "t03", false))
		w.State("t08", event.Running) // the first that waited
	})
}

// TestEachAgentHasItsOwn: whoever is born has a name, an empty inbox and an empty queue
// of its own; main has them over a restart, and what it dispatched comes to it alone.
//
// Spec: O-26, Q-2, Q-4.
func TestEachAgentHasItsOwn(t *testing.T) {
	m := &model{Reply: hung}
	dir := t.TempDir()
	w := open(t, m, setting{Dir: dir})
	info := func(name string) event.Info {
		for _, i := range w.Pool.Infos() {
			if i.Name == name {
				return i
			}
		}
		return event.Info{}
	}
	empty := func(name string) {
		t.Helper()
		i := info(name)
		q, err := w.Pool.Queue(t.Context(), i.ID)
		ms, err2 := w.Pool.Letters.Inbox(t.Context(), i.ID)
		if i.Name != name || err != nil || err2 != nil || len(q.Tasks) != 0 || len(ms) != 0 || i.Pending != 0 {
			t.Errorf("%s begins with %+v, %v and %d messages, %v", name, q, err, len(ms), err2)
		}
	}
	empty("main")
	_, err := w.Pool.NewHelper(t.Context(), "aide", "")
	check(t, err)
	empty("aide")
	w.Push("kid", "hang")
	w.Run(0)
	w.State("kid", event.Running)
	empty("kid")
	_, err = w.Pool.Tasks.Push(t.Context(), info("aide").ID, tools.Task{Name: "own", Prompt: "x"})
	check(t, err)
	_, err = w.Pool.Letters.Mail(t.Context(), w.Main(), mail.Letter{To: []string{"aide"}, Body: "for aide alone"})
	check(t, err)
	count := func(name string) (queued, pending int) {
		q, err := w.Pool.Queue(t.Context(), info(name).ID)
		check(t, err)
		for _, x := range q.Tasks {
			if x.State == "queued" {
				queued++
			}
		}
		return queued, info(name).Pending
	}
	for name, want := range map[string][2]int{"main": {0, 0}, "aide": {1, 1}, "kid": {0, 0}} {
		if q, p := count(name); [2]int{q, p} != want {
			t.Errorf("%s has %d tasks and %d messages, want %v", name, q, p, want)
		}
	}
	check(t, w.Pool.Kill(t.Context(), "kid", false))
	w.Until("its end came to main", func() bool { return w.Info("main").Pending == 1 })
	w.Push("later", "x")
	id := w.Main()
	w.Close()
	w = open(t, m, setting{Dir: dir})
	if q, p := count("main"); w.Main() != id || q != 1 || p != 1 {
		t.Errorf("after a restart main is %d with %d tasks and %d messages", w.Main(), q, p)
	}
}

// TestCountersOfUse: what was dispatched, what came back and was read, and what mail
// costs in the context can be counted afterwards.
//
// Spec: O-83.
func TestCountersOfUse(t *testing.T) {
	w := open(t, &model{Reply: hung}, setting{})
	for _, name := range []string{"a", "b", "c"} {
		w.Push(name, "go")
	}
	w.Run(2)
	w.Until("all came back", func() bool { return w.Info("main").Pending == 3 })
	_, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{Limit: 2})
	check(t, err)
	l, err := w.Pool.Records.Balance(t.Context())
	check(t, err)
	l.Wrong = nil
	if want := (agents.Balance{Started: 3, Delivered: 2, Pending: 1, Taken: 2, Waiting: 1}); fmt.Sprint(l) != fmt.Sprint(want) {
		t.Errorf("the books say %+v, want %+v", l, want)
	}
	c, err := w.Pool.Records.Context(t.Context(), w.Main())
	if err != nil || c.Mail != 2 || c.MailTokens <= 0 {
		t.Errorf("in the context: %d messages, %d tokens, %v", c.Mail, c.MailTokens, err)
	}
}
