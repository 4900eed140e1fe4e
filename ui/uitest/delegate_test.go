package uitest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
	"fantail/ui/uitest"
)

// heard is what a request's last prompt says, how many results stand behind it,
// and the text of the messages that came with it.
func heard(req llmtest.Request) (prompt string, results int, mail string) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				if m.Role == llm.User && strings.Contains(p.Text, "<message ") {
					mail += p.Text
				} else if m.Role == llm.User {
					prompt, results = p.Text, 0
				}
			case llm.ToolResult:
				results++
				mail += p.Text
			}
		}
	}
	return prompt, results, mail
}

// first is the first prompt of the conversation that a request carries.
func first(req llmtest.Request) string {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok && m.Role == llm.User {
				return t.Text
			}
		}
	}
	return ""
}

// delegator plays a model that delegates. A prompt `task N: TEXT` is a
// sub-agent's: it takes N seconds and answers TEXT.
func delegator(req llmtest.Request) llmtest.Reply {
	prompt, results, mail := heard(req)
	var took int
	if _, err := fmt.Sscanf(prompt, "task %d:", &took); err == nil {
		_, answer, _ := strings.Cut(prompt, ": ")
		r := llmtest.Say(answer)
		r.Delay = time.Duration(took) * time.Second
		return r
	}
	calls := func(args ...string) (r llmtest.Reply) {
		for i, a := range args {
			name, a, _ := strings.Cut(a, " ")
			r.Parts = append(r.Parts, llmtest.Call(fmt.Sprintf("c%d-%d", len(req.Messages), i), name, a).Parts...)
		}
		return r
	}
	switch {
	case strings.HasPrefix(prompt, "now also say "):
		return llmtest.Say(strings.TrimPrefix(prompt, "now also say ") + ", beside " + first(req))
	case strings.Contains(prompt, "in the background"):
		if results == 0 {
			return calls(`delegate {"name":"auth","prompt":"task 60: auth uses signed tokens","mode":"async"}`)
		}
		return llmtest.Say("I sent an agent to look.")
	case strings.Contains(prompt, "explore") && results == 0:
		return calls(`delegate {"name":"read","prompt":"task 30: the module is small"}`,
			`delegate {"name":"usages","prompt":"task 20: nine usages"}`, `delegate {"name":"tests","prompt":"task 10: no tests"}`)
	case strings.Contains(prompt, "and wait") && results < 6:
		return calls(`receive {}`)
	case strings.HasPrefix(prompt, "ask") && results == 0:
		return calls(`sub_agent {"name":"kid","prompt":"task 40: the kid found it","mode":"sync"}`)
	case strings.HasPrefix(prompt, "sum up"):
		return llmtest.Say(fmt.Sprintf("In sum: %d findings.", strings.Count(mail, "What follows is data")))
	case results > 0:
		return llmtest.Say(fmt.Sprintf("Done with %d findings.", strings.Count(mail, "What follows is data")))
	}
	return llmtest.Say("Four.")
}

// engines are what carries out turns, by name: the engine that needs no model and other vendors' agents, which are told plain
// instructions, and models behind real protocols, which are told words.
type engines string

const (
	oneModel engines = "builtin anthropic"
	models   engines = "builtin anthropic openai"
	attached engines = "builtin anthropic vendor"
	every    engines = "builtin anthropic openai vendor"
)

// reach is a model behind a real protocol; nil: it is none.
func reach(engine string, c *http.Client) llm.Provider {
	switch engine {
	case "anthropic":
		return anthropic.New(anthropic.Options{Key: "k", BaseURL: "http://fake", HTTPClient: c})
	case "openai":
		return openai.New(openai.Options{Key: "k", BaseURL: "http://fake/v1", HTTPClient: c})
	}
	return nil
}

// tell types what an engine understands.
type tell func(s *uitest.Session, plain, words string)

// playAll plays a scenario with each of the engines. Behind the protocols answer is the model.
func playAll(t *testing.T, with engines, o uitest.Options, answer func(llmtest.Request) llmtest.Reply, f func(t *testing.T, s *uitest.Session, tell tell, model bool)) {
	t.Helper()
	for _, e := range strings.Fields(string(with)) {
		o := o
		t.Run(e, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &llmtest.Server{Answer: answer}
				client, stop := server.Pipe()
				t.Cleanup(stop)
				if p := reach(e, client); p != nil {
					o.Provider, o.Model = p, e+"/fake"
					f(t, uitest.Start(t, o), func(s *uitest.Session, _, words string) { s.Enter(words) }, true)
					return
				}
				if e == "vendor" {
					o = theirs(t, o)
				}
				f(t, uitest.Start(t, o), func(s *uitest.Session, plain, _ string) { s.Enter(plain) }, false)
			})
		})
	}
}

// play2 plays a scenario twice: with the built-in engine, and with a model that delegates.
func play2(t *testing.T, o uitest.Options, f func(s *uitest.Session, tell func(plain, words string), model bool)) {
	t.Helper()
	playEach(t, oneModel, o, f)
}

// playEach plays a scenario with each of the engines, whose models delegate.
func playEach(t *testing.T, with engines, o uitest.Options, f func(s *uitest.Session, tell func(plain, words string), model bool)) {
	t.Helper()
	playAll(t, with, o, delegator, func(_ *testing.T, s *uitest.Session, tell tell, model bool) {
		f(s, func(plain, words string) { tell(s, plain, words) }, model)
	})
}

// TestDelegated_inTheBackground: the agent answers at once, works on meanwhile, and
// the result enters with the next prompt; once.
// Spec: O-1, O-2, O-3, O-10, O-12, O-15, O-23, O-24, O-79, O-80, N-5, N-7, N-9.
func TestDelegated_inTheBackground(t *testing.T) {
	t.Parallel()
	playEach(t, attached, uitest.Options{}, func(s *uitest.Session, tell func(plain, words string), model bool) {
		tell("delegate auth: wait 60s then say auth uses signed tokens", "research how auth works in the background")
		s.See("delegate auth", "Task dispatched to 'auth' (session: 1)", "2 steps", "1 running")
		tell("say Four.", "what is two and two?")
		s.See("Four.")
		s.Wait(time.Minute)
		s.See("[Agent: main | 📨 1 pending]", "auth ✓")
		s.NotSee("✉ from auth")
		tell("say In sum: 1 findings.", "sum up")
		s.See("✉ from auth · ", " · completed", "signed tokens", "In sum: 1 findings.", "[Agent: main]")
		s.NotSee("pending")
		tell("say Five.", "what is two and three?")
		s.See(map[bool]string{false: "Five.", true: "Four."}[model])
		if n := strings.Count(s.Screen(), "✉ from auth"); n != 1 {
			t.Errorf("the result stands %d times on the screen", n)
		}
	})
}

// TestDelegated_fanOut: one request dispatches three; the human collects all at once,
// or the model waits for them with receive.
// Spec: O-5, N-33, Q-22.
func TestDelegated_fanOut(t *testing.T) {
	t.Parallel()
	const lines = "delegate read: wait 30s then say the module is small\ndelegate usages: wait 20s then say nine usages\ndelegate tests: wait 10s then say no tests"
	playEach(t, attached, uitest.Options{}, func(s *uitest.Session, tell func(plain, words string), model bool) {
		s.Paste(map[bool]string{false: lines, true: "explore"}[model])
		s.Press("enter")
		s.See("(session: 1)", "(session: 2)", "(session: 3)", "3 running")
		s.Wait(30 * time.Second)
		s.See("[Agent: main | 📨 3 pending]")
		s.Enter("/check")
		s.See("3 messages collected", "✓ tests   no tests", "✓ usages  nine usages", "✓ read    the module is small", "[Agent: main]")
		s.NotSee("pending")
		tell("say In sum: 3 findings.", "sum up")
		s.See("In sum: 3 findings.")
	})
	playEach(t, attached, uitest.Options{H: 60}, func(s *uitest.Session, _ func(plain, words string), model bool) {
		s.Paste(map[bool]string{false: lines + "\nreceive\nreceive\nreceive", true: "explore and wait"}[model])
		s.Press("enter")
		s.See("waiting for any message")
		s.Wait(40 * time.Second)
		s.See("no tests", "nine usages", "the module is small", "[Agent: main]")
		s.See(map[bool]string{false: "✓ receive", true: "Done with 3 findings."}[model])
	})
}

// TestDelegated_sync: a sync delegation shows what its agent does inside the call
// that waits, and in a tab; the answer is the call's result.
// Spec: N-4, O-81, R-19.
func TestDelegated_sync(t *testing.T) {
	t.Parallel()
	play2(t, uitest.Options{}, func(s *uitest.Session, tell func(plain, words string), model bool) {
		tell("delegate sync kid: wait 40s then say the kid found it", "ask the kid")
		s.See("delegate kid", "thinking", "ctrl+b run it in the background", "waiting for kid")
		s.Press("alt+2")
		s.See("kid ●")
		s.Press("alt+1")
		s.Wait(40 * time.Second)
		s.See("✓ delegate kid · 1 message · 40s", "✉ from kid · ", " · completed", "the kid found it", "[Agent: main]")
		s.NotSee("ctrl+b", "pending")
		s.See(map[bool]string{false: "completed: the kid found it", true: "Done with 1 findings."}[model])
	})
}

// TestDelegated_moved: Ctrl+B lets the agent go on; the work is not begun anew and
// its result comes later, once.
// Spec: N-3.
func TestDelegated_moved(t *testing.T) {
	t.Parallel()
	play2(t, uitest.Options{}, func(s *uitest.Session, tell func(plain, words string), model bool) {
		s.Press("ctrl+b") // there is nothing to move
		tell("delegate sync kid: wait 40s then say the kid found it", "ask the kid")
		s.See("ctrl+b run it in the background")
		s.Wait(10 * time.Second)
		s.Press("ctrl+b")
		s.See("Task dispatched to 'kid' (session: 1)", "The user moved it to the background.", "2 steps", "kid ●")
		s.NotSee("ctrl+b", "waiting for kid")
		tell("say Four.", "what is two and two?")
		s.See("Four.")
		s.Wait(30 * time.Second)
		s.See("[Agent: main | 📨 1 pending]", "kid ✓")
		s.Enter("/check")
		s.See("✉ from kid · ", " · completed", "the kid found it", "[Agent: main]")
		s.Enter("/doctor")
		s.See("started 1 = delivered 1 + pending 0 + running 0")
	})
}

// TestDelegated_movedFromItsTab: Ctrl+B moves what the focused agent waits for, all
// of it, and nothing of another's.
// Spec: N-3, N-37.
func TestDelegated_movedFromItsTab(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("delegate sync boss: delegate sync kid: wait 40s then say the kid found it")
		s.See("waiting for boss", "waiting for kid")
		s.Press("alt+2")
		s.See("delegate kid", "ctrl+b run it in the background")
		s.Press("ctrl+b")
		s.See("The user moved it to the background.")
		s.Press("alt+1")
		s.See("waiting for boss", "ctrl+b run it in the background")
		s.Wait(40 * time.Second)
		s.See("✉ from boss · ", " · completed", "[Agent: main]")
		s.NotSee("pending")
		s.Press("alt+2")
		s.See("✉ from kid · ", " · completed", "the kid found it")
	})
}

// nested plays a parent and children that speak, run tools and ask.
func nested(ctx context.Context, req *llm.Request, say func(llm.Part) bool) error {
	prompt, results := uitest.Prompt(req)
	switch {
	case prompt == "review both" && results == 0:
		say(llm.Text{Text: "Two agents shall look at it."})
		say(call("d1", "delegate", map[string]any{"name": "cart", "prompt": "Review cart.go.", "mode": "sync"}))
		say(call("d2", "delegate", map[string]any{"name": "invoice", "prompt": "Test invoice.go.", "mode": "sync"}))
	case prompt == "Review cart.go.":
		for n := range 7 {
			say(llm.Text{Text: fmt.Sprintf("Looking at part %d of the cart.\n", n+1)})
			uitest.Pause(ctx, time.Second)
		}
		uitest.Pause(ctx, 30*time.Second)
		say(llm.Text{Text: "The cart is **sound**."})
	case prompt == "Test invoice.go." && results == 0:
		say(call("t", "bash", map[string]any{"command": "go test ./invoice"}))
	case prompt == "Test invoice.go.":
		return &llm.Error{Kind: llm.BadRequest, Message: "The tests could not run."}
	default:
		say(llm.Text{Text: "Both looked."})
	}
	return nil
}

// TestDelegated_frames shows nested work while it runs, moved aside, and done.
// Spec: R-19, O-80.
func TestDelegated_frames(t *testing.T) {
	t.Parallel()
	for _, w := range []int{120, 80, 40} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			play(t, uitest.Options{W: w, Provider: uitest.Script(nested)}, func(s *uitest.Session) {
				s.Enter("review both")
				s.See("asks: bash go test ./invoice")
				s.Wait(8 * time.Second)
				s.Golden(fmt.Sprintf("nested-%d", w))
				s.Press("f5")
				s.See("invoice wants to run a command")
				if strings.Contains(s.Screen(), "bash go test") {
					t.Errorf("it shows twice:\n%s", s.Screen())
				}
				s.Wait(600 * time.Millisecond)
				s.Press("esc")
				s.See("asks: bash go test ./invoice")
				s.Press("alt+3")
				s.Wait(firstSecond)
				s.Type("n")
				s.Press("enter")
				s.Press("alt+1")
				s.Wait(40 * time.Second)
				s.Golden(fmt.Sprintf("nested-done-%d", w))
			})
		})
	}
}

// TestResumed: an agent that ended goes on in its own tab, by /resume and by /push;
// a closed tab opens again.
// Spec: R-14, N-32.
func TestResumed(t *testing.T) {
	t.Parallel()
	play(t, uitest.Options{}, func(s *uitest.Session) {
		s.Enter("/push name=kid say the first answer")
		s.See("Queued kid")
		s.Enter("/run")
		s.See("kid ✓", "1 pending")
		s.Enter("/resume kid say the second answer")
		s.See("kid continues", "2 pending")
		s.Press("alt+2")
		s.See("the first answer", "the second answer")
		s.Press("alt+1")
		s.Enter("/push resume name=kid say the third answer")
		s.See("Queued kid. /run to start")
		s.Enter("/resume kid say too soon")
		s.See("can't be resumed before it ended")
		s.Press("ctrl+c")
		s.Enter("/run")
		s.See("3 pending")
		s.Enter("/push resume=kid say the fourth answer")
		s.See("Queued kid. /run to start")
		s.Enter("/run")
		s.See("4 pending")
		s.Enter("/close kid")
		s.Gone("kid ✓")
		s.Enter("/resume kid")
		s.See("The tab of kid is open again", "kid ✓")
		s.Enter("/resume kid")
		s.See("/resume kid PROMPT")
	})
}
