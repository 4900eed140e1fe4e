package vendortest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/acp/acptest"
	"fantail/agents/event"
	"fantail/inbox"
	"fantail/tools"
	"fantail/tools/permission"
)

// TestVendor_tools: another vendor's agent queues work, sends and takes mail as the agent that it is.
func TestVendor_tools(t *testing.T) {
	var v *Vendor
	said := make(chan string, 10)
	v = New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			call := func(tool, args string) {
				r := v.Call(t.Context, "main", tool, args)
				if r.Error {
					r.Text = "error: " + r.Text
				}
				said <- r.Text
			}
			switch {
			case strings.Contains(t.Prompt, "begin"):
				call("push", `{"prompt":"work","name":"a"}`)
				call("queue", `{}`)
				call("inbox", `{}`)
				call("check", `{}`)
				call("check", `{}`)
				call("write_file", `{"path":"x","content":"y"}`)
				call("send", `{"to":["main"],"text":5}`)
				call("run", `{}`)
				call("receive", `{}`)
			default:
				t.Say("It is done.")
			}
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.mailed(inbox.Hold, "the build is red")
	w.Prompt("begin")
	for _, want := range []string{
		"Queued 'a'", "a", "outside", "the build is red", "No messages ready.", `error: there is no tool "write_file" here`, "error: send: ", "Running 1 of 1", "It is done.",
	} {
		if got := <-said; !strings.Contains(got, want) {
			t.Errorf("want %q in %s", want, got)
		}
	}
	w.State("main", event.Idle)
	w.Settle()
	got := transcribed(w.Entries("main"))
	if strings.Count(got, "message: the build is red") != 1 || strings.Count(got, "message: It is done.") != 1 {
		t.Error(got)
	}
	w.Balanced()
}

// TestVendor_had: what a call has returned is told no more; what a crash left in doubt once more, and marked.
func TestVendor_had(t *testing.T) {
	for _, dies := range []bool{false, true} {
		name := "ends"
		if dies {
			name = "dies"
		}
		t.Run(name, func(t *testing.T) {
			var v *Vendor
			prompts := make(chan string, 10)
			v = New(t, func() *acptest.Agent {
				return &acptest.Agent{Loads: true, Resumes: true, Turn: func(t *acptest.Turn) string {
					prompts <- t.Prompt
					if strings.Contains(t.Prompt, "begin") {
						v.Call(t.Context, "main", "check", `{}`)
						if dies {
							v.Go("kill", v.Kill)
							<-t.Context.Done()
						}
					}
					return ""
				}}
			})
			w := open(t, v.Engine(), setting{Start: v.Go})
			w.mailed(inbox.Hold, "the build is red")
			w.Prompt("begin")
			<-prompts
			w.Until("it has ended", func() bool { return strings.Contains(transcribed(w.Entries("main")), "ended:") })
			w.Prompt("go on")
			next := <-prompts
			if told := strings.Contains(next, "the build is red"); told != dies || strings.Contains(next, "may have reached you already") != dies {
				t.Errorf("dies %v: %s", dies, next)
			}
			w.Settle()
			w.Balanced()
		})
	}
}

// TestVendor_dispatches: that it hands work to another vendor's agent is asked once; it holds for all that follows.
func TestVendor_dispatches(t *testing.T) {
	var v *Vendor
	said := make(chan string, 10)
	v = New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			for _, args := range []string{`{"prompt":"x","agent":"codex"}`, `{"prompt":"y","agent":"codex"}`} {
				said <- v.Call(t.Context, "main", "push", args).Text
			}
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Mode: permission.Ask, Start: v.Go})
	w.Prompt("begin")
	w.State("main", event.Asking)
	q := w.Info("main").Question
	if q == nil || q.Asks == nil || !strings.Contains(q.Asks.Text, "codex, another vendor's agent") {
		t.Fatalf("%+v", q)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "No"}))
	if got := <-said; !strings.Contains(got, "The user said no") {
		t.Error(got)
	}
	w.State("main", event.Asking)
	check(t, w.Pool.Asks.Answer(t.Context(), w.Info("main").Question.ID, event.Answer{Text: q.Asks.Options[0].Label}))
	if got := <-said; !strings.Contains(got, "no model acp/codex") { // none is known here
		t.Error(got)
	}
	w.State("main", event.Idle)
	w.Prompt("begin again")
	for range 2 {
		if got := <-said; !strings.Contains(got, "no model acp/codex") { // none is known here
			t.Error(got)
		}
	}
	w.Settle()
}

// TestVendor_receives: a call that waits ends with the message that comes, or with who called; one that comes between two
// turns is carried out in the next.
func TestVendor_receives(t *testing.T) {
	var v *Vendor
	said, runs, through := make(chan tools.Result, 10), make(chan struct{}), make(chan struct{})
	v = New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			switch {
			case strings.Contains(t.Prompt, "do it"):
				t.Say("It is done.")
				return ""
			case strings.Contains(t.Prompt, "more"):
				<-through
				return ""
			}
			ctx, cancel := context.WithCancel(t.Context)
			cancel()
			said <- v.Call(ctx, "main", "receive", `{}`)
			<-runs
			said <- v.Call(t.Context, "main", "receive", `{"from":"a"}`)
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Push("a", "do it")
	w.Prompt("begin")
	if r := <-said; !r.Error {
		t.Errorf("%+v", r)
	}
	w.Run(1)
	close(runs)
	if r := <-said; r.Error {
		t.Errorf("%+v", r)
	}
	w.State("main", event.Idle)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := v.Call(ctx, "main", "queue", `{}`); !r.Error {
		t.Errorf("%+v", r)
	}
	v.Go("call", func() {
		said <- v.Call(t.Context(), "main", "queue", `{}`)
		close(through)
	})
	w.Prompt("more")
	if r := <-said; r.Error {
		t.Errorf("%+v", r)
	}
	w.Settle()
	w.Balanced()
}

// TestVendor_stuck: an agent whose call waits for a message shows as waiting, whatever else it did just before; those who wait
// for each other are told so.
func TestVendor_stuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPuppets(t, waits)
		w, _ := p.open(t, setting{})
		w.dispatches(tools.Task{Name: "kid", Prompt: "be a kid"}, "")
		kid := <-p.turns
		w.Prompt("begin")
		main := <-p.turns
		got := make(chan string, 2)
		for _, name := range []string{"kid", "main"} {
			n := map[string]*turn{"kid": kid, "main": main}[name]
			n.Call("c1", "other", "queue")
			w.says(name, "call: queue")
			n.Done("c1", p.CallIn(n.Turn, "queue", `{}`).Text)
			p.Go("receive", func() {
				n.Call("c2", "other", "receive")
				r := p.CallIn(n.Turn, "receive", map[string]string{"kid": `{"from":"main"}`, "main": `{"from":"kid"}`}[name])
				n.Done("c2", r.Text)
				got <- r.Text
			})
			if name == "kid" {
				time.Sleep(time.Second)
				w.Until("it waits", func() bool { return w.Info("kid").State == event.Waiting })
			}
		}
		for range 2 {
			if text := <-got; !strings.Contains(text, "nothing can arrive: kid waits for main, main waits for kid") {
				t.Errorf("it was told %s", text)
			}
		}
		kid.answers("I end.")
		main.answers("I end too.")
		w.rests("main", 1)
		w.Settle()
		w.Balanced()
	})
}

// TestVendor_ours: who asks whether it may call a tool of ours hears yes, and nobody is asked: the call itself is judged. A
// tool of another server is asked about.
func TestVendor_ours(t *testing.T) {
	said := make(chan string, 10)
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			for _, tool := range []string{"mcp__fantail__queue", "mcp__fantail__bash", "mcp__other__queue"} {
				r, err := t.Request("session/request_permission", json.RawMessage(`{"sessionId":"`+t.Session+`","toolCall":{"toolCallId":"`+tool+`","name":"`+tool+`"},
					"options":[{"optionId":"a","name":"Always","kind":"allow_always"},{"optionId":"o","name":"Once","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}`))
				said <- string(r)
				if err != nil {
					said <- err.Error()
				}
			}
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Prompt("begin")
	if got := <-said; !strings.Contains(got, `"optionId":"o"`) {
		t.Error(got)
	}
	for range 2 {
		w.State("main", event.Asking)
		check(t, w.Pool.Asks.Answer(t.Context(), w.Info("main").Question.ID, event.Answer{Text: "No"}))
		if got := <-said; !strings.Contains(got, `"optionId":"n"`) {
			t.Error(got)
		}
	}
	w.State("main", event.Idle)
	w.Settle()
}

// TestVendor_words: what the human says instead of one of its choices is a no, and reaches the agent with what it is told
// next: right after the call where it can be steered, else with the next prompt.
func TestVendor_words(t *testing.T) {
	for _, steers := range []bool{true, false} {
		told := make(chan string, 10)
		v := New(t, func() *acptest.Agent {
			return &acptest.Agent{Steers: steers, Turn: func(t *acptest.Turn) string {
				if strings.Contains(t.Prompt, "clean") {
					t.Call("c1", "execute", "rm -r build")
					told <- t.Ask("c1", "rm -r build", "allow_once", "reject_once")
					t.Done("c1", "refused")
					if steers {
						told <- <-t.Steered
					}
					return ""
				}
				told <- t.Prompt
				return ""
			}}
		})
		w := open(t, v.Engine(), setting{Start: v.Go})
		w.Prompt("clean")
		w.State("main", event.Asking)
		check(t, w.Pool.Asks.Answer(t.Context(), w.Info("main").Question.ID, event.Answer{Text: "only the cache"}))
		if got := <-told; got != "reject_once" {
			t.Errorf("it was given %q", got)
		}
		if !steers {
			w.State("main", event.Idle)
			w.Prompt("go on")
		}
		if got := <-told; !strings.Contains(got, "You had asked: rm -r build") || !strings.Contains(got, "The user said no, and: only the cache") {
			t.Errorf("steers %v: it was told %q", steers, got)
		}
		w.State("main", event.Idle)
		w.Settle()
	}
}
