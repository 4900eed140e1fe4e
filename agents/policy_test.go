package agents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/tools"
	"fantail/tools/permission"
)

// answers is a model that answers everything with ok, and runs a command where it is
// asked to.
func answers() *model {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if last(req) == "think" {
			select {
			case <-time.After(100 * time.Second):
			case <-ctx.Done():
			}
		}
		if a := asked(req); strings.HasPrefix(a, "run ") && len(results(req)) == 0 {
			var calls []llm.Part
			for i, cmd := range strings.Split(a[4:], " ;; ") {
				calls = append(calls, call(fmt.Sprintf("c%d", i), "bash", fmt.Sprintf(`{"command":%q}`, cmd))...)
			}
			return calls, nil
		}
		return text("ok"), nil
	}
	return m
}

// last is the last text of a request.
func last(req *llm.Request) string {
	ps := req.Messages[len(req.Messages)-1].Parts
	if t, ok := ps[len(ps)-1].(llm.Text); ok {
		return t.Text
	}
	return ""
}

// mails sends main a message from an agent of that name.
func (w *world) mails(from, body string, l mail.Letter) int64 {
	w.T.Helper()
	id := w.Info(from).ID
	if id == 0 {
		i, err := w.Pool.NewHelper(w.T.Context(), from, "")
		check(w.T, err)
		id = i.ID
		w.Until(from+" is there", func() bool { return w.Info(from).ID != 0 })
	}
	l.Body = body
	if len(l.To) == 0 {
		l.To = []string{"main"}
	}
	sent, err := w.Pool.Letters.Mail(w.T.Context(), id, l)
	check(w.T, err)
	return sent[0].ID
}

func (w *world) override(change func(o *policy.Overrides)) {
	w.T.Helper()
	_, err := w.Pool.Mail.Override(w.T.Context(), w.Main(), change)
	check(w.T, err)
}

func (w *world) mode(m policy.Mode) { w.override(func(o *policy.Overrides) { o.Mode = m }) }

// key presses a key.
func (w *world) key() { w.Human().Pressed(time.Now()) }

// why asks when a message enters.
func (w *world) decided(id int64, want string) {
	w.T.Helper()
	if s, err := w.Pool.Mail.Why(w.T.Context(), id); err != nil || !strings.Contains(s, want) {
		w.T.Errorf("why #%d: %q %v, want %q", id, s, err, want)
	}
}

// TestInterrupt_entersAtTheNextSeam: it waits for all results of a tool batch, and
// enters before the next request.
// Spec: M-2, M-20, M-31, R-51, R-53, E-11.
func TestInterrupt_entersAtTheNextSeam(t *testing.T) {
	m := answers()
	w := open(t, m, setting{})
	w.mode(policy.Interrupt)
	gate := w.Dir + "/go"
	w.Prompt("run echo begun; while [ ! -e " + gate + " ]; do :; done ;; echo second")
	w.Output("main", "begun")
	id := w.mails("ci", "the build broke", mail.Letter{})
	w.decided(id, "until all tools of this step have ended: it enters before the next request.\nPolicy: interrupt, by /messages mode interrupt.")
	check(t, os.WriteFile(gate, nil, 0o600))
	w.Settle()
	if got := kinds(w.Entries("main")); got != "prompt call call started result started result message text ended" {
		t.Fatalf("entries: %s", got)
	}
	reqs := m.Seen()
	if len(reqs) != 2 {
		t.Fatalf("%d requests", len(reqs))
	}
	check(t, valid(reqs[1].Messages))
	w.Until("nothing waits", func() bool { return w.Info("main").Pending == 0 })
}

// Spec: M-2, M-21, R-42, E-25.
func TestInterrupt_startsATurnOfAnIdleAgent(t *testing.T) {
	m := answers()
	play(t, m, setting{}, func(w *world) {
		w.key()
		w.override(func(o *policy.Overrides) { o.From = map[string]policy.Mode{"ci": policy.UrgentOnly} })
		calm := w.mails("ci", "all is well", mail.Letter{})
		w.rest()
		if len(m.Seen()) != 0 {
			t.Fatal("mail that is not urgent started a turn")
		}
		w.decided(calm, "until no key came for 30s")
		w.mails("ci", "it burns", mail.Letter{Priority: inbox.Urgent})
		w.rest()
		if got := kinds(w.Entries("main")); got != "message text ended" || !strings.Contains(w.Entries("main")[0].Text, "it burns") {
			t.Fatalf("entries: %s", got)
		}
		// A turn that was stopped by hand is not started again by mail.
		w.Prompt("think")
		w.State("main", event.Running)
		time.Sleep(time.Second)
		w.Pool.Stop(w.Main())
		w.rest()
		n := len(m.Seen())
		late := w.mails("ci", "it burns again", mail.Letter{Priority: inbox.Urgent})
		time.Sleep(time.Minute)
		w.rest()
		if len(m.Seen()) != n {
			t.Error("it started a turn after the human stopped one")
		}
		w.decided(late, "you stopped the last one")
		w.Prompt("go on")
		w.rest()
		if es := w.Entries("main"); !strings.Contains(kinds(es), "ended message prompt text ended") {
			t.Errorf("entries: %s", kinds(es))
		}
	})
}

// TestQueue_waitsForAPause: mail is handled when the agent is idle, no key came for
// as long as was said, and the box is empty; one line says so afterwards.
// Spec: M-3, M-28, R-44, E-26.
func TestQueue_waitsForAPause(t *testing.T) {
	m := answers()
	play(t, m, setting{}, func(w *world) {
		w.override(func(o *policy.Overrides) { o.Default, o.IdleAfter = policy.Queue, 40*time.Second })
		main := w.Main()
		quietly := func(what string) {
			t.Helper()
			if n := len(m.Seen()); n != 0 {
				t.Fatalf("%s: %d requests", what, n)
			}
		}
		w.key()
		id := w.mails("research-agent", "found it", mail.Letter{Priority: inbox.Low})
		time.Sleep(39 * time.Second)
		quietly("before the pause is long enough")
		w.decided(id, "until no key came for 40s (1s to go)")
		w.key()
		w.Human().Drafts(main, true)
		time.Sleep(39 * time.Second)
		quietly("a key began the pause anew")
		time.Sleep(time.Hour)
		quietly("a draft is in the box")
		w.decided(id, "until your prompt box is empty")
		w.Human().Drafts(main, false)
		w.Until("it is handled", func() bool { return w.Info("main").Pending == 0 })
		w.rest()
		es := w.Entries("main")
		if got := kinds(es); got != "message text notice ended" || es[2].Text != "Handled message from research-agent while you were thinking" {
			t.Fatalf("entries: %s %q", got, es[2].Text)
		}
		w.key()
		w.Prompt("think")
		w.State("main", event.Running)
		for _, body := range []string{"a", "b", "c"} {
			w.mails("research-agent", body, mail.Letter{})
		}
		time.Sleep(90 * time.Second)
		if n := len(m.Seen()); n != 2 {
			t.Fatalf("%d requests while the turn runs", n)
		}
		w.Until("they are handled", func() bool { return w.Info("main").Pending == 0 })
		w.rest()
		if es := w.Entries("main"); !strings.HasSuffix(kinds(es), "prompt text ended message text notice ended") || es[len(es)-2].Text != "Handled 3 messages while you were idle" {
			t.Errorf("entries: %s", kinds(es))
		}
	})
}

// TestPolicy_takesAllThatFits: what does not fit in one automatic take begins the
// next turn.
func TestPolicy_takesAllThatFits(t *testing.T) {
	m := answers()
	play(t, m, setting{}, func(w *world) {
		w.mode(policy.Manual)
		for range 5 {
			w.mails("ci", strings.Repeat("word ", 1000), mail.Letter{})
		}
		w.mode(policy.Interrupt)
		w.rest()
		w.Until("nothing waits", func() bool { return w.Info("main").Pending == 0 })
		if n := len(m.Seen()); n != 5 {
			t.Errorf("%d turns for 5 messages of which each fills one", n)
		}
		w.mode(policy.Queue)
		w.key()
		for range 3 {
			w.mails("ci", strings.Repeat("word ", 1000), mail.Letter{})
		}
		time.Sleep(40 * time.Second)
		w.rest()
		w.Until("nothing waits", func() bool { return w.Info("main").Pending == 0 })
	})
}

// TestQuiet_holdsEverything: no request, whatever asks for one, until it is ended;
// then what is urgent is named first and the policy goes on.
// Spec: M-22, R-43.
func TestQuiet_holdsEverything(t *testing.T) {
	t.Parallel()
	m := answers()
	dir := t.TempDir()
	play(t, m, setting{Dir: dir}, func(w *world) {
		w.mode(policy.Interrupt)
		check(t, w.Pool.Mail.BeQuiet(w.T.Context(), time.Time{}))
		w.mails("ci", "first", mail.Letter{})
		id := w.mails("testing-agent", "test failures", mail.Letter{Priority: inbox.Urgent})
		_, err := w.Pool.Tasks.Push(w.T.Context(), w.Main(), tools.Task{Name: "kid", Prompt: "work", Deliver: "wake"})
		check(t, err)
		w.Run(0)
		w.State("kid", event.Done) // work in the background goes on
		time.Sleep(24 * time.Hour)
		if n := len(m.Seen()); n != 1 {
			t.Fatalf("%d requests, want that of kid alone", n)
		}
		w.Until("all is counted", func() bool { return w.Info("main").Pending == 3 && w.Info("main").Urgent == 1 })
		if !w.Tally.Quiet.On {
			t.Error("the tally does not say that it is quiet")
		}
		w.decided(id, "because it is quiet; /messages resume ends it. /check,")
	})
	play(t, m, setting{Dir: dir}, func(w *world) { // it outlives the program
		w.Until("it is quiet", func() bool { return w.Tally.Quiet.On })
		time.Sleep(time.Hour)
		if n := len(m.Seen()); n != 1 {
			t.Fatalf("%d requests after the restart", n)
		}
		came, err := w.Pool.Mail.EndQuiet(w.T.Context())
		check(t, err)
		if !strings.HasPrefix(came, "Quiet is over. 3 messages came meanwhile: 1 urgent, 1 done, 1 to read.\n  🔴 #2 from testing-agent: test failures") {
			t.Errorf("it says %q", came)
		}
		w.Until("the policy goes on", func() bool { return w.Info("main").Pending == 0 })
		w.rest()
		if _, err := w.Pool.Mail.EndQuiet(w.T.Context()); !errors.Is(err, mail.ErrLoud) {
			t.Errorf("ended twice: %v", err)
		}
	})
}

// Spec: M-22.
func TestQuiet_endsByItself(t *testing.T) {
	m := answers()
	play(t, m, setting{}, func(w *world) {
		check(t, w.Pool.Mail.BeQuiet(w.T.Context(), time.Now().Add(2*time.Hour)))
		w.mails("ci", "news", mail.Letter{})
		w.mode(policy.Interrupt)
		time.Sleep(2*time.Hour - time.Second)
		if len(m.Seen()) != 0 {
			t.Fatal("it was not quiet")
		}
		time.Sleep(2 * time.Second)
		w.Until("it is over", func() bool { return !w.Tally.Quiet.On && w.Info("main").Pending == 0 })
		w.rest()
		if es := w.Entries("main"); es[0].Kind != history.EntryNotice || !strings.HasPrefix(es[0].Text, "Quiet is over. 1 message came") {
			t.Errorf("entries: %s", kinds(es))
		}
		if err := w.Pool.Mail.BeQuiet(w.T.Context(), time.Now().Add(-time.Second)); err == nil {
			t.Error("quiet until a time that is over")
		}
	})
}

// TestRules_hybrid: what a file says, by sender, tag, priority and the hour.
// Spec: M-14, M-15, M-16, M-17, M-18, R-41.
func TestRules_hybrid(t *testing.T) {
	m := answers()
	nine := [7]bool{true, true, true, true, true, true, true}
	rules := map[string]policy.Rules{"main": {
		Default: policy.Manual, From: map[string]policy.Mode{"testing-*": policy.Fork}, Tags: map[string]policy.Mode{"blocker": policy.Interrupt},
		Priority: map[inbox.Priority]policy.Mode{inbox.Urgent: policy.Interrupt, inbox.High: policy.Manual},
		Schedule: []policy.Period{{Name: "daily 9am-10am", Days: nine, From: 9 * 60, To: 10 * 60, Mode: policy.Interrupt}}, File: ".agents/main.yml",
	}}
	play(t, m, setting{Rules: rules}, func(w *world) {
		now := time.Now()
		time.Sleep(time.Date(now.Year(), now.Month(), now.Day()+1, 8, 0, 0, 0, now.Location()).Sub(now))
		w.mails("testing-a", "a test broke", mail.Letter{})
		w.Until("a fork was made", func() bool { return w.Info("main-fork-1").ID != 0 })
		w.rest()
		if got := kinds(w.Entries("main")); got != "" {
			t.Fatalf("the fork's message entered: %s", got)
		}
		held := w.mails("ci", "held until nine", mail.Letter{})
		high := w.mails("ci", "held whatever the hour", mail.Letter{Priority: inbox.High})
		w.mails("ci", "it blocks", mail.Letter{Tags: []string{"blocker"}})
		w.rest()
		if es := w.Entries("main"); kinds(es) != "message text ended" || len(es[0].Messages) != 1 {
			t.Fatalf("entries: %s", kinds(es))
		}
		w.decided(held, "Policy: manual, by the default in .agents/main.yml.")
		time.Sleep(61 * time.Minute)
		w.rest()
		if es := w.Entries("main"); kinds(es) != "message text ended message text ended" || es[3].Messages[0].ID != held {
			t.Fatalf("at nine: %s", kinds(es))
		}
		w.decided(high, "its rule for high messages in .agents/main.yml")
	})
}

// TestRules_change: a file that changes decides anew about what waits; one that is
// broken changes nothing and is told of once.
func TestRules_change(t *testing.T) {
	m := answers()
	play(t, m, setting{}, func(w *world) {
		w.mails("ci", "news", mail.Letter{})
		w.rest()
		interrupt := map[string]policy.Rules{"main": {Default: policy.Interrupt, File: ".agents/main.yml"}}
		w.Pool.Mail.Rules(w.T.Context(), interrupt, nil)
		w.Until("it is handled", func() bool { return w.Info("main").Pending == 0 })
		w.rest()
		broken := map[string]error{"main": errors.New(".agents/main.yml:3:5: unknown mode"), "other": errors.New(".agents/other.yml:1:1: no")}
		for range 3 {
			w.Pool.Mail.Rules(w.T.Context(), nil, broken)
		}
		w.mails("ci", "more", mail.Letter{})
		w.Until("the last good rules hold", func() bool { return w.Info("main").Pending == 0 })
		w.rest()
		var notices []string
		for _, e := range w.Entries("main") {
			if e.Kind == history.EntryNotice {
				notices = append(notices, e.Text)
			}
		}
		if len(notices) != 2 || !strings.Contains(notices[0], "main.yml:3:5: unknown mode. The policy that was read of it before still holds.") ||
			!strings.Contains(notices[1], "other.yml:1:1: no. No policy of it holds.") {
			t.Errorf("notices %q", notices)
		}
		w.Pool.Mail.Rules(w.T.Context(), nil, nil)
		w.mails("ci", "and more", mail.Letter{})
		w.rest()
		if w.Until("it waits", func() bool { return w.Info("main").Pending == 1 }); len(m.Seen()) != 2 {
			t.Errorf("%d requests", len(m.Seen()))
		}
	})
}

// TestOverride_outlivesTheProgram, and default takes it back.
// Spec: M-1, M-20, M-21.
func TestOverride_outlivesTheProgram(t *testing.T) {
	m := answers()
	dir := t.TempDir()
	play(t, m, setting{Dir: dir}, func(w *world) {
		w.override(func(o *policy.Overrides) {
			*o = policy.Overrides{Default: policy.Queue, IdleAfter: time.Minute, Mode: policy.Manual, From: map[string]policy.Mode{"ci": policy.Interrupt}}
		})
	})
	play(t, m, setting{Dir: dir}, func(w *world) {
		p, err := w.Pool.Mail.Policy(w.Main())
		check(t, err)
		if p.Human.Default != policy.Queue || p.Pause() != time.Minute || p.Human.Mode != policy.Manual || p.Human.From["ci"] != policy.Interrupt {
			t.Errorf("policy %+v", p)
		}
		w.mails("ci", "now", mail.Letter{})
		w.Until("it is handled", func() bool { return w.Info("main").Pending == 0 })
		w.override(func(o *policy.Overrides) { *o = policy.Overrides{} })
		w.rest()
		w.mails("ci", "later", mail.Letter{})
		w.rest()
		w.Until("it waits", func() bool { return w.Info("main").Pending == 1 })
	})
}

// TestPolicy_ofBackgroundAgents: queued mail enters when their work is done.
// Spec: M-3, R-51.
func TestPolicy_ofBackgroundAgents(t *testing.T) {
	m := answers()
	w := open(t, m, setting{Rules: map[string]policy.Rules{"kid": {Default: policy.Queue}}})
	gate := w.Dir + "/go"
	w.Push("kid", "run echo begun; while [ ! -e "+gate+" ]; do :; done")
	w.Run(0)
	w.Output("kid", "begun")
	id := w.mails("ci", "by the way", mail.Letter{To: []string{"kid"}})
	w.decided(id, "until the agent's work is done: it enters before it ends.")
	check(t, os.WriteFile(gate, nil, 0o600))
	w.State("kid", event.Done)
	if got := kinds(w.Entries("kid")); got != "prompt call started result text message text ended" {
		t.Errorf("entries: %s", got)
	}
}

// TestInterrupt_inEveryState: wherever an agent stands, the message enters exactly
// once, at a place a provider accepts, and nothing that ran is cut.
// Spec: M-2, R-53, E-11.
func TestInterrupt_inEveryState(t *testing.T) {
	for name, stand := range map[string]func(w *world) (then func()){
		"streaming": func(w *world) func() {
			w.Prompt("think")
			w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
			return func() { <-time.After(100 * time.Second) }
		},
		"a question is open": func(w *world) func() {
			w.Pool.SetMode(context.Background(), permission.Ask)
			w.Prompt("run touch " + w.Dir + "/x")
			w.State("main", event.Asking)
			return func() { w.Answer(w.Info("main").Question.ID, permission.Once) }
		},
		"it receives": func(w *world) func() {
			w.Prompt("receive somebody")
			w.State("main", event.Waiting)
			return func() { w.mails("somebody", "what it waited for", mail.Letter{}) }
		},
		"the human receives": func(w *world) func() {
			main, ended := w.Main(), make(chan error, 1)
			_ = w.mails("somebody", "to be there", mail.Letter{To: []string{"somebody"}})
			go func() {
				_, err := w.Pool.Pickup.Await(w.T.Context(), main, inbox.Query{From: "somebody"}, mail.Await{})
				ended <- err
			}()
			w.State("main", event.Waiting)
			return func() {
				w.mails("somebody", "what was waited for", mail.Letter{})
				check(w.T, <-ended)
			}
		},
		"compacting": func(w *world) func() {
			for range 3 {
				w.Prompt(strings.Repeat("much ", 2000))
				w.rest()
			}
			main, ended := w.Main(), make(chan error, 1)
			go func() { ended <- w.Pool.Compact(w.T.Context(), main, "") }()
			w.Until("it compacts", func() bool { return w.Info("main").Doing == "compacting" })
			return func() { check(w.T, <-ended) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := answers()
			answer := m.Reply
			m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				switch {
				case asked(req) == "receive somebody" && len(results(req)) == 0:
					return call("r", "receive", `{"from":"somebody"}`), nil
				case len(req.Tools) == 0: // a summary
					select {
					case <-time.After(10 * time.Second):
					case <-ctx.Done():
					}
					return text("the summary"), nil
				}
				return answer(ctx, req)
			}
			play(t, m, setting{}, func(w *world) {
				if name == "it receives" {
					_ = w.mails("somebody", "to be there", mail.Letter{To: []string{"somebody"}})
				}
				w.key()
				w.mode(policy.Interrupt)
				then := stand(w)
				id := w.mails("ci", "news of the build", mail.Letter{})
				time.Sleep(time.Second)
				if w.Until("all is known", func() bool { return true }); name != "it receives" && w.Info("main").Pending != 1 {
					t.Errorf("it entered while %s", name)
				}
				then()
				w.Until("it entered", func() bool { return w.Info("main").Pending == 0 && w.Info("main").State == event.Idle })
				w.rest()
				times := 0
				for _, e := range w.Entries("main") {
					for _, m := range e.Messages {
						if m.ID == id {
							times++
						}
					}
					if e.Kind == history.EntryEnded && e.End.Outcome != history.Completed {
						t.Errorf("a turn ended %s: %s", e.End.Outcome, e.End.Error)
					}
				}
				if times != 1 {
					t.Errorf("it entered %d times", times)
				}
				for _, req := range m.Seen() {
					if err := valid(req.Messages); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// TestQuiet_countsWhatWaits: what was taken while it was quiet is not told again, and
// nobody is told that it did not come.
// Spec: M-22, R-43.
func TestQuiet_countsWhatWaits(t *testing.T) {
	w := open(t, answers(), setting{})
	check(t, w.Pool.Mail.BeQuiet(t.Context(), time.Time{}))
	w.mails("ci", "taken at once", mail.Letter{})
	_, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if came, err := w.Pool.Mail.EndQuiet(t.Context()); err != nil || came != "Quiet is over. No new mail." {
		t.Errorf("%q %v", came, err)
	}
}
