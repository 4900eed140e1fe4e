package agents_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/tools"
)

// TestIdle_command: an agent that awaited input and goes on with a command ends with it: a command reads nothing, and
// runs once.
func TestIdle_command(t *testing.T) {
	w := open(t, &model{Reply: echoes}, setting{})
	ctx := context.Background()
	w.interactive("auth", "one", time.Hour)
	w.idles("auth")
	check(t, w.Pool.End(ctx, "auth"))
	w.State("auth", event.Done)
	_, _, err := w.Pool.Resume(ctx, w.Main(), "auth", "!echo ran")
	check(t, err)
	w.Until("it reported", func() bool { return w.Info("main").Pending == 2 })
	w.Until("it ended", func() bool { return w.Info("auth").State != event.Running })
	if s := w.Info("auth").State; s != event.Done {
		t.Errorf("after its command it is %s", s)
	}
	w.Settle()
	w.Balanced()
}

// TestIdle_received: while the human waits for a message in the tab of an idle agent, it neither goes on nor ends, and
// looks at nothing over and over; what it was told meanwhile it does then.
func TestIdle_received(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx, cancel := context.WithCancel(context.Background())
		w.interactive("auth", "one", 7*time.Second)
		i := w.idles("auth")
		got := make(chan error, 1)
		go func() {
			_, err := w.Pool.Pickup.Await(ctx, i.ID, inbox.Query{}, mail.Await{Outside: true})
			got <- err
		}()
		w.State("auth", event.Waiting)
		check(t, w.Pool.Tell(context.Background(), "auth", "two"))
		time.Sleep(10 * time.Second)
		cancel()
		<-got
		w.Until("it reported", func() bool { return w.Info("main").Pending == 2 })
		w.State("auth", event.Done)
		w.Balanced()
	})
}

// TestIdle_taken: the human takes the result that a call waits for out of the inbox first. The call says so.
func TestIdle_taken(t *testing.T) {
	t.Parallel()
	for range 10 {
		m := &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
			switch rs := results(req); {
			case asked(req) != "boss":
				select {
				case <-ctx.Done():
				case <-time.After(50 * time.Millisecond):
				}
				return text("one"), nil
			case len(rs) == 0:
				return call("c", "delegate", `{"name":"kid","prompt":"one","mode":"sync","interactive":true}`), nil
			}
			return text("done"), nil
		}}
		w := open(t, m, setting{})
		w.Prompt("boss")
		w.State("main", event.Waiting)
		got := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		home := w.Main()
		go func() {
			_, err := w.Pool.Pickup.Receive(ctx, home, inbox.Query{From: "kid"})
			got <- err
		}()
		w.State("kid", event.Idle)
		w.Settle()
		cancel()
		theirs := <-got == nil
		r := w.result("main", 0)
		if theirs && !strings.Contains(r.Result.Text, "taken out of your inbox before this call could") {
			t.Fatalf("the call's result is %q", r.Result.Text)
		}
		w.Close()
	}
}

// TestIdle_noSlot: an idle agent that was told something and waits for a slot is killed, or its host ends: nothing it
// was told is lost, and no slot.
func TestIdle_noSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{Cap: 1})
		ctx := context.Background()
		w.interactive("a", "one", 7*time.Second)
		w.idles("a")
		w.interactive("b", "one", 7*time.Second)
		w.idles("b")
		w.Push("plain", "long")
		w.Run(0)
		w.Until("it streams", func() bool { return w.Info("plain").Doing == "streaming" })
		check(t, w.Pool.Tell(ctx, "a", "two"))
		check(t, w.Pool.Tell(ctx, "b", "two"))
		check(t, w.Pool.End(ctx, "b"))
		time.Sleep(10 * time.Second) // their time is over, but they have something to do
		for _, i := range w.Pool.Infos() {
			if (i.Name == "a" || i.Name == "b") && i.State != event.Idle {
				t.Errorf("%s is %s", i.Name, i.State)
			}
		}
		check(t, w.Pool.Kill(ctx, "a", false))
		w.State("b", event.Done)
		w.Settle()
		want := []string{"a completed: one", "a killed: ", "b completed: one", "b completed: one, two", "plain completed: long"}
		if got := w.reports(); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_heir: what an idle agent reports after its dispatcher ended goes to the one above.
func TestIdle_heir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
			if !strings.HasPrefix(asked(req), "boss") {
				return echoes(ctx, req)
			}
			if len(results(req)) == 0 {
				return call("c", "push", `{"name":"kid","prompt":"one","start":true,"interactive":true}`), nil
			}
			return text("the boss is done"), nil
		}}
		w := open(t, m, setting{})
		ctx := context.Background()
		w.Push("boss", "boss")
		w.Run(0)
		w.State("boss", event.Done)
		w.idles("kid")
		w.Settle()
		check(t, w.Pool.Tell(ctx, "kid", "two"))
		w.Settle()
		check(t, w.Pool.Kill(ctx, "kid", true))
		got := w.reports() // the boss read the first one
		want := []string{"boss completed: the boss is done", "kid completed: one, two", "kid killed: "}
		if !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_needed: a task that waits for an agent that awaits input starts once that has ended, with its last result.
// While that is idle nothing goes on.
func TestIdle_needed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: echoes}
		w := open(t, m, setting{})
		ctx := context.Background()
		w.interactive("auth", "one", time.Hour)
		w.idles("auth")
		_, err := w.Pool.Tasks.Push(ctx, w.Main(), tools.Task{Name: "next", Prompt: "after", After: []string{"auth"}, Start: true})
		check(t, err)
		_, err = w.Pool.Tasks.Push(ctx, w.Main(), tools.Task{Name: "last", Prompt: "after", After: []string{"next"}, Start: true})
		check(t, err)
		w.Settle()
		check(t, w.Pool.Tell(ctx, "auth", "two"))
		w.Settle()
		if i := w.Info("next"); i.ID != 0 {
			t.Errorf("it is %s already", i.State)
		}
		check(t, w.Pool.End(ctx, "auth"))
		w.State("last", event.Done)
		es := w.Entries("next")
		if len(es[0].Messages) != 1 || es[0].Messages[0].Body != "one, two" {
			t.Errorf("it goes by %+v", es[0].Messages)
		}
		w.Balanced()
	})
}

// TestIdle_reportFault: where the report of a turn can't be written, the turn ends later, with one report.
func TestIdle_reportFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx := context.Background()
		w.interactive("auth", "one", 7*time.Second)
		w.idles("auth")
		w.fault("reports")
		check(t, w.Pool.Tell(ctx, "auth", "two"))
		w.why("auth", "fault in reports")
		w.fault("none")
		w.idles("auth")
		w.State("auth", event.Done)
		if want := []string{"auth completed: one", "auth completed: one, two"}; !slices.Equal(w.reports(), want) {
			t.Errorf("reported %q", w.reports())
		}
		w.Balanced()
	})
}

// TestIdle_limit: the time-out of a task is one of each turn, and does not run while the agent is idle.
func TestIdle_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx := context.Background()
		_, err := w.Pool.Tasks.Push(ctx, w.Main(), tools.Task{
			Name: "auth", Prompt: "long", Interactive: true, Idle: time.Hour, Timeout: 20 * time.Second, Start: true,
		})
		check(t, err)
		w.idles("auth")
		time.Sleep(time.Minute)
		check(t, w.Pool.Tell(ctx, "auth", "long again"))
		w.Until("it reported", func() bool { return w.Info("main").Pending == 2 })
		w.idles("auth")
		if got := w.reports(); got[1] != "auth completed: long, long again" {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_lastMoment: what an agent is told in the very millisecond in which its time is over is either done or
// refused.
func TestIdle_lastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx := context.Background()
		for n := range 100 {
			name := fmt.Sprint("a", n)
			w.interactive(name, "one", 7*time.Second)
			i := w.idles(name)
			time.Sleep(time.Until(i.Await.Until))
			ends := n%2 == 0 && w.Pool.End(ctx, name) == nil
			told := w.Pool.Tell(ctx, name, "two") == nil
			w.State(name, event.Done)
			if did := w.Info(name).Gist == "one, two"; told != did {
				t.Fatalf("told: %t, done: %t, told to end: %t", told, did, ends)
			}
		}
		w.Balanced()
	})
}

// TestIdle_unattended: who waits for an idle agent, and nobody is there to have that go on, learns why it waits in vain.
func TestIdle_unattended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{Reply: func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
			if asked(req) != "receive" {
				return echoes(ctx, req)
			}
			if len(results(req)) == 0 {
				return call("c", "receive", `{"from":"auth"}`), nil
			}
			return text("done"), nil
		}}
		w := open(t, m, setting{})
		w.interactive("auth", "one", time.Hour)
		w.idles("auth")
		c := w.Unattended(context.Background(), agents.Unattended{})
		check(t, c.Prompt(context.Background(), "receive"))
		w.Until("its turn ended", func() bool { return w.Info(c.Info.Name).Outcome == history.Completed })
		if r := w.result(c.Info.Name, 0).Result; !strings.Contains(r.Text, "auth is idle") {
			t.Errorf("it waited in vain, as %q", r.Text)
		}
	})
}

// TestIdle_resumed: an agent that awaited input and has ended goes on as one that awaits input, as long as before.
func TestIdle_resumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{})
		ctx := context.Background()
		w.interactive("auth", "one", 7*time.Second)
		w.idles("auth")
		w.State("auth", event.Done)
		_, _, err := w.Pool.Resume(ctx, w.Main(), "auth", "two")
		check(t, err)
		if left, counts := w.idles("auth").Await.Left(time.Now()); left != 7*time.Second || !counts {
			t.Errorf("%s are left (%t)", left, counts)
		}
		w.State("auth", event.Done)
		_, err = w.Pool.Tasks.Respawn(ctx, w.Main(), "auth")
		check(t, err)
		w.Until("all reported", func() bool { return w.Info("main").Pending == 3 })
		w.Settle()
		want := []string{"auth completed: one", "auth completed: one, two", "auth completed: two"} // its last task, anew
		if got := w.reports(); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		w.Balanced()
	})
}

// TestIdle_policies: the policy of an idle agent says which mail begins a turn of it, at once or where the human pauses,
// and which a fork handles.
func TestIdle_policies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("ok"), nil }}, setting{})
		ctx := context.Background()
		for name, mode := range map[string]policy.Mode{"at-once": policy.Interrupt, "at-pause": policy.Queue, "forked": policy.Fork} {
			w.interactive(name, "one", 5*time.Minute)
			id := w.idles(name).ID
			_, err := w.Pool.Mail.Override(ctx, id, func(o *policy.Overrides) { o.Mode = mode })
			check(t, err)
		}
		w.Settle()
		for _, name := range []string{"at-once", "at-pause", "forked"} {
			_, err := w.Pool.Deposit(inbox.Message{Recipient: w.Info(name).ID, From: "cli", Body: "mail", Deliver: inbox.Hold})
			check(t, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"at-once completed: ok", "at-once completed: ok", "at-pause completed: ok", "at-pause completed: ok", "forked completed: ok"}
		if got := w.reports(); !slices.Equal(got, want) {
			t.Errorf("reported %q", got)
		}
		for _, i := range w.Pool.Infos()[1:] {
			if i.State != event.Idle && !i.Kind.Handles() || i.Pending > 0 {
				t.Errorf("%s is %s with %d messages", i.Name, i.State, i.Pending)
			}
		}
		w.Balanced()
	})
}

// TestIdle_wokenInATurn: mail that wakes and is taken in the turn it came in asks for nothing afterwards.
func TestIdle_wokenInATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &model{Reply: echoes}, setting{Cap: 1})
		w.interactive("auth", "long", 3*time.Second)
		w.Until("it works", func() bool { return w.Info("auth").Doing == "streaming" })
		_, err := w.Pool.Deposit(inbox.Message{Recipient: w.Info("auth").ID, From: "cli", Body: "mail", Deliver: inbox.Wake})
		check(t, err)
		w.Push("plain", "long")
		w.Push("other", "long")
		w.Run(0)
		w.idles("auth")
		began := time.Now()
		w.State("auth", event.Done)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it stayed %s", took)
		}
	})
}
