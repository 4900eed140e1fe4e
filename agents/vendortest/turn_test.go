package vendortest

import (
	"fmt"
	"strings"
	"testing"

	"fantail/agents/acp/acptest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
)

// TestVendor: a turn that another vendor's agent carries out is in the transcript as its own would be.
func TestVendor(t *testing.T) {
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Think("hm")
			t.Say("I ")
			t.Say("look.")
			t.Call("c1", "read", "Read a file")
			t.Done("c1", "its text")
			t.Update(`{"sessionUpdate":"tool_call","toolCallId":"c2","kind":"edit","title":"Edit b","status":"completed","content":[{"type":"diff","path":"b","oldText":"x\n","newText":"y\n"}]}`)
			t.Update(`{"sessionUpdate":"plan","entries":[{"content":"first","status":"completed","priority":"low"},{"content":"then","status":"pending","priority":"low"}]}`)
			t.Update(`{"sessionUpdate":"usage_update","used":1200,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}`)
			t.Update(`{"sessionUpdate":"brand_new","content":{"type":"text","text":"x"}}`)
			t.Say("Done: " + strings.SplitN(t.Prompt, "\n", 2)[0])
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Prompt("look at a")
	w.Until("it has ended", func() bool {
		return strings.Contains(transcribed(w.Entries("main")), "ended:") && w.Info("main").State == event.Idle
	})
	es := w.Entries("main")
	want := strings.Join([]string{
		"prompt: look at a", "notice: fake carries out the turns here (fake 1: /opt/fake acp), as you, in no sandbox of this program. Its tools are its own: " +
			"no rule and no mode of this program judges them.", "thinking: hm", "text: I look.", "call: Read a file", "result: its text", "call: Edit b", "result: (changed)",
		"notice: Its plan:\n✓ first\n○ then", "notice: It says something that this program can't show: brand_new",
		"text: Done: look at a", "ended: completed ",
	}, "\n")
	if got := transcribed(es); got != want {
		t.Errorf("%s\n---\n%s", got, want)
	}
	for _, e := range es {
		if e.Kind == history.EntryResult && e.Result.ID == "c2" && !strings.Contains(e.Result.Diff, "-x\n+y\n") {
			t.Errorf("%+v", e.Result)
		}
	}
	if i := w.Info("main"); i.Context != 1200 || i.Window != 200_000 || i.Cost != 250_000 {
		t.Errorf("%+v", i)
	}
	c, err := w.Pool.Records.Context(t.Context(), w.Main())
	if err != nil || !c.Abroad || c.Used != 1200 || c.Parts[0].What != "prompts" || w.Info("main").Held != event.AsUser {
		t.Errorf("%+v, %v", c, err)
	}
	w.Prompt("again")
	w.Until("it has answered again", func() bool { return strings.Contains(transcribed(w.Entries("main")), "Done: again") })
	w.Settle()
	if v.Began() != 1 {
		t.Errorf("%d programs", v.Began())
	}
	w.Balanced()
}

// TestVendor_mail: mail that is due enters after a call has ended where the agent lets itself be steered, else at its
// turn's end; it is sent once either way.
func TestVendor_mail(t *testing.T) {
	for _, steers := range []bool{true, false} {
		t.Run(fmt.Sprint("steers ", steers), func(t *testing.T) {
			calls, goes := make(chan struct{}), make(chan struct{})
			v := New(t, func() *acptest.Agent {
				return &acptest.Agent{Steers: steers, Turn: func(t *acptest.Turn) string {
					if !strings.Contains(t.Prompt, "begin") {
						t.Say("Then: " + t.Prompt)
						return ""
					}
					t.Call("c1", "execute", "make")
					close(calls)
					<-goes
					t.Done("c1", "made")
					if steers {
						t.Say("Heard: " + <-t.Steered)
					}
					t.Say("Over.")
					return ""
				}}
			})
			w := open(t, v.Engine(), setting{Start: v.Go})
			w.Prompt("begin")
			<-calls
			w.mailed(inbox.Next, "the build is red")
			w.Prompt("also look at the mail")
			close(goes)
			word := "Then: "
			if steers {
				word = "Heard: "
			}
			w.Until("it heard of the mail", func() bool { return strings.Contains(transcribed(w.Entries("main")), word) })
			w.Until("it has ended", func() bool { return strings.Contains(transcribed(w.Entries("main")), "ended:") })
			got := transcribed(w.Entries("main"))
			if strings.Count(got, "message: the build is red") != 1 || strings.Count(got, word) != 1 || !strings.Contains(got[strings.Index(got, word):], "the build is red") {
				t.Error(got)
			}
			w.Balanced()
		})
	}
}

// TestVendor_asks: what the agent asks is a question like any, with its own words to choose from.
func TestVendor_asks(t *testing.T) {
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Call("c1", "execute", "rm -r build")
			t.Say("chosen: " + t.Ask("c1", "rm -r build", "allow_once", "reject_once"))
			t.Done("c1", "gone")
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Prompt("clean")
	w.State("main", event.Asking)
	q := w.Info("main").Question
	if q == nil || q.Asks == nil || !strings.Contains(q.Asks.Text, "rm -r build") || len(q.Asks.Options) != 2 || q.Asks.Options[0].Label != "Choice allow_once" {
		t.Fatalf("%+v", q)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "Choice allow_once"}))
	w.State("main", event.Idle)
	w.Settle()
	if got := transcribed(w.Entries("main")); !strings.Contains(got, "text: chosen: allow_once") {
		t.Error(got)
	}
}

// TestVendor_fails: an agent that dies ends the turn with what it had said; the next goes on with its session.
func TestVendor_fails(t *testing.T) {
	says := make(chan struct{})
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Loads: true, Resumes: true, Turn: func(t *acptest.Turn) string {
			if strings.Contains(t.Prompt, "begin") {
				t.Say("partial")
				t.Call("c1", "execute", "make")
				close(says)
				<-t.Context.Done()
				return ""
			}
			t.Say("In " + t.Session + ": " + strings.SplitN(t.Prompt, "\n", 2)[0])
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Prompt("begin")
	<-says
	w.Until("its words show", func() bool { return strings.Contains(transcribed(w.Entries("main")), "partial") })
	v.Kill()
	w.State("main", event.Idle)
	got := transcribed(w.Entries("main"))
	if !strings.Contains(got, "ended: failed fake: it ended") && !strings.Contains(got, "ended: failed fake:") {
		t.Error(got)
	}
	w.Prompt("go on")
	w.Until("it answers", func() bool { return strings.Contains(transcribed(w.Entries("main")), "In s1: go on") })
	w.Settle()
	if v.Began() != 2 {
		t.Errorf("%d programs", v.Began())
	}
	w.Balanced()
}

// TestVendor_task: a task carried out by another vendor's agent ends with its result in the inbox.
func TestVendor_task(t *testing.T) {
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string { t.Say("It is done."); return "" }}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Push("a", "do it")
	w.Run(1)
	w.State("a", event.Done)
	w.Settle()
	_, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if got := transcribed(w.Entries("main")); !strings.Contains(got, "message: It is done.") {
		t.Error(got)
	}
	w.Balanced()
	v.Ended() // with its agent
}

// TestVendor_dies: a question outlives the program that asked it. Once it is answered the turn goes on with a program that
// is started again: it is told the answer, and given it where it asks the same again.
func TestVendor_dies(t *testing.T) {
	for _, again := range []bool{true, false} {
		t.Run(fmt.Sprint("asks again ", again), func(t *testing.T) {
			chosen, told := make(chan string, 2), make(chan string, 2)
			v := New(t, func() *acptest.Agent {
				return &acptest.Agent{Loads: true, Resumes: true, Turn: func(t *acptest.Turn) string {
					told <- t.Prompt
					if strings.Contains(t.Prompt, "clean") || again {
						t.Call("c1", "execute", "rm -r build")
						chosen <- t.Ask("c1", "rm -r build", "allow_once", "reject_once")
						t.Done("c1", "gone")
					}
					return ""
				}}
			})
			w := open(t, v.Engine(), setting{Start: v.Go})
			w.Prompt("clean")
			w.State("main", event.Asking)
			<-told
			v.Kill()
			<-chosen
			w.Until("it is said", func() bool { return strings.Contains(transcribed(w.Entries("main")), "What it asked stays open") })
			q := w.Info("main").Question
			if q == nil || w.Info("main").State != event.Asking {
				t.Fatalf("%+v", w.Info("main"))
			}
			check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "Choice allow_once"}))
			if got := <-told; !strings.Contains(got, "You had asked: fake asks: rm -r build") || !strings.Contains(got, "The answer is: Choice allow_once") {
				t.Error(got)
			}
			if again {
				if got := <-chosen; got != "allow_once" {
					t.Errorf("it was given %q", got)
				}
			}
			w.State("main", event.Idle)
			w.Settle()
			got := transcribed(w.Entries("main"))
			if !strings.Contains(got, "ended: completed") || strings.Contains(got, "ended: failed") || strings.Count(got, "prompt: clean") != 1 {
				t.Error(got)
			}
			// In another turn the same is asked anew.
			if again {
				w.Prompt("and again")
				w.State("main", event.Asking)
				<-told
				check(t, w.Pool.Asks.Answer(t.Context(), w.Info("main").Question.ID, event.Answer{Text: "Choice reject_once"}))
				if got := <-chosen; got != "reject_once" {
					t.Errorf("it was given %q", got)
				}
				w.State("main", event.Idle)
			}
			w.Settle()
			w.Balanced()
		})
	}
}

// TestVendor_stopped: a turn that waits with the question of a program that has ended can be stopped.
func TestVendor_stopped(t *testing.T) {
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Ask("c1", "rm -r build", "allow_once", "reject_once")
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	w.Prompt("clean")
	w.State("main", event.Asking)
	v.Kill()
	w.Until("it is said", func() bool { return strings.Contains(transcribed(w.Entries("main")), "What it asked stays open") })
	w.Pool.Stop(w.Main())
	w.State("main", event.Idle)
	w.Settle()
	if got := transcribed(w.Entries("main")); !strings.Contains(got, "ended: interrupted") {
		t.Error(got)
	}
	w.Balanced()
}

// TestVendor_refused: an agent that stops where the human says no has not failed.
func TestVendor_refused(t *testing.T) {
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Ask("c1", "rm -r build", "allow_once", "reject_once")
			return "cancelled"
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	for _, c := range []struct{ answer, ended string }{
		{"Choice reject_once", "ended: interrupted fake stopped: what it asked for was refused"},
		{"leave it", "ended: interrupted fake stopped: what it asked for was refused"},
		{"Choice allow_once", "ended: failed fake stopped its turn by itself"},
	} {
		w.Prompt("clean")
		w.State("main", event.Asking)
		check(t, w.Pool.Asks.Answer(t.Context(), w.Info("main").Question.ID, event.Answer{Text: c.answer}))
		w.State("main", event.Idle)
		w.Settle()
		if got := transcribed(w.Entries("main")); !strings.HasSuffix(got, c.ended) {
			t.Errorf("%s: %s", c.answer, got)
		}
	}
}

// TestVendor_broken: a turn that has failed, as the agent says beside the protocol, is none that is completed.
func TestVendor_broken(t *testing.T) {
	v := New(t, func() *acptest.Agent {
		return &acptest.Agent{Turn: func(t *acptest.Turn) string {
			t.Update(`{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}`)
			if strings.Contains(t.Prompt, "mends") {
				t.Update(`{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"active"}}}}`)
			}
			t.Say("no such model")
			t.Update(`{"sessionUpdate":"session_info_update","title":"a title"}`)
			return ""
		}}
	})
	w := open(t, v.Engine(), setting{Start: v.Go})
	for prompt, ended := range map[string]string{"begin": "ended: failed fake failed: no such model", "it mends": "ended: completed "} {
		w.Prompt(prompt)
		w.Until("it has ended", func() bool { return strings.HasSuffix(transcribed(w.Entries("main")), ended) })
	}
	w.Settle()
}
