package agents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/builtin"
	"fantail/agents/llm/llmtest"
	"fantail/inbox"
)

// wantsSummary reports whether a request asks for a summary, which none with tools does.
func wantsSummary(req *llm.Request) bool { return len(req.Tools) == 0 }

// summing is a model that counts its summaries and otherwise echoes.
func summing(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	if wantsSummary(req) {
		return append(text("SUMMARY of it."), llm.Usage{Input: 500, Output: 20}), nil
	}
	return echo(ctx, req)
}

// summaries are the summary entries of an agent.
func (w *world) summaries(name string) (ss []history.Entry) {
	for _, e := range w.Entries(name) {
		if e.Kind == history.EntrySummary {
			ss = append(ss, e)
		}
	}
	return ss
}

// TestCompact: after /compact requests begin with the summary and what the program
// knows to be under way; the rows before are kept; all of it survives a restart
// and a second compaction.
func TestCompact(t *testing.T) {
	m := &model{Reply: summing}
	w := open(t, m, setting{Cap: 1})
	main := w.Main()
	if err := w.Pool.Compact(t.Context(), main, ""); err == nil || !strings.Contains(err.Error(), "nothing to compact") {
		t.Errorf("an empty conversation: %v", err)
	}
	w.Prompt("one")
	w.Settle()
	w.Prompt("two")
	w.Settle()
	w.Push("later", "quick")
	_, err := w.Pool.Letters.Send(t.Context(), main, "main", "unread words", "")
	check(t, err)
	check(t, w.Pool.Shell(t.Context(), main, "echo seen by the human"))
	check(t, w.Pool.Compact(t.Context(), main, "mind the gap"))
	req := m.Last()
	if got := said(req); !wantsSummary(req) || !strings.Contains(got, "said by main: two") || !strings.Contains(got, "mind the gap") || asked(req) != "" {
		t.Errorf("the request for the summary: %q", got)
	}
	if w.State("main", event.Idle); w.Info("main").Usage.Input != 500 {
		t.Errorf("it was not counted: %+v", w.Info("main").Usage)
	}
	w.Prompt("three")
	w.Settle()
	got := said(m.Last())
	for _, want := range []string{"SUMMARY of it.", "Tasks in your queue: later.", "Messages unread in your inbox: #1 mail from main.", "seen by the human", "three"} {
		if !strings.Contains(got, want) {
			t.Errorf("the next request lacks %q: %s", want, got)
		}
	}
	if strings.Contains(got, "said by main: one") || strings.Index(got, "SUMMARY") > strings.Index(got, "seen by the human") {
		t.Errorf("the next request: %s", got)
	}
	check(t, valid(m.Last().Messages))
	if got := kinds(w.Entries("main")); !strings.HasPrefix(got, "prompt text ended prompt text ended shell summary") {
		t.Errorf("the transcript: %s", got)
	}
	w.Close()

	w = open(t, m, setting{Dir: w.Dir})
	w.Main()
	w.Prompt("four")
	w.Settle()
	got = said(m.Last())
	if strings.Contains(got, "said by main: one") || strings.Count(got, "SUMMARY") != 1 || !strings.Contains(got, "seen by the human") || !strings.Contains(got, "said by main: three") {
		t.Errorf("after a restart: %s", got)
	}
	check(t, w.Pool.Compact(t.Context(), main, ""))
	w.Prompt("five")
	w.Settle()
	got = said(m.Last())
	if strings.Count(got, "SUMMARY") != 1 || strings.Contains(got, "three") {
		t.Errorf("after a second compaction: %s", got)
	}
	if err := w.Pool.Clear(t.Context(), main); err != nil {
		t.Error(err)
	}
	w.Prompt("six")
	w.Settle()
	if got := said(m.Last()); got != "six" {
		t.Errorf("a new conversation begins with %q", got)
	}
}

// TestCompact_thatFailsChangesNothing: stopped, refused or cut, the conversation
// stays as it was.
func TestCompact_thatFailsChangesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		reply func(ctx context.Context) ([]llm.Part, error)
		want  string
	}{
		"stopped": {func(ctx context.Context) ([]llm.Part, error) { <-ctx.Done(); return nil, nil }, fleet.ErrStopped.Error()},
		"failed": {func(context.Context) ([]llm.Part, error) {
			return text("half a summ"), &llm.Error{Kind: llm.Server, Provider: "test", Message: "It broke."}
		}, "It broke."},
		"empty":   {func(context.Context) ([]llm.Part, error) { return nil, nil }, "answered nothing"},
		"refused": {func(context.Context) ([]llm.Part, error) { return []llm.Part{llm.Stop{Reason: llm.Refusal}}, nil }, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				if wantsSummary(req) {
					return c.reply(ctx)
				}
				return echo(ctx, req)
			}
			w := open(t, m, setting{})
			w.Prompt("one")
			w.Settle()
			main, done := w.Main(), make(chan error, 1)
			go func() { done <- w.Pool.Compact(t.Context(), main, "") }()
			if name == "stopped" {
				w.Until("it compacts", func() bool { return w.Info("main").Doing == "compacting" })
				w.Pool.Stop(main)
			}
			if err := <-done; err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
			w.State("main", event.Idle)
			w.Prompt("two")
			w.Settle()
			if got := said(m.Last()); got != "one | said by main: one | two" {
				t.Errorf("the next request: %q", got)
			}
			if got := kinds(w.Entries("main")); got != "prompt text ended prompt text ended" {
				t.Errorf("the transcript: %s", got)
			}
		})
	}
}

// TestCompact_waitsForTheTurn and is itself waited for; what came meanwhile is
// sent word for word behind the summary.
func TestCompact_waitsForTheTurn(t *testing.T) {
	summing, go_on := make(chan struct{}), make(chan struct{})
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch {
		case wantsSummary(req):
			close(summing)
			<-go_on
			return text("SUMMARY"), nil
		case asked(req) == "long":
			<-go_on
		}
		return echo(ctx, req)
	}
	w := open(t, m, setting{})
	main := w.Main()
	w.Prompt("long")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	done := make(chan error, 1)
	go func() { done <- w.Pool.Compact(t.Context(), main, "") }()
	go_on <- struct{}{}
	<-summing
	_, err := w.Pool.Letters.Send(t.Context(), main, "main", "came meanwhile", "")
	check(t, err)
	_, _, err = w.Pool.Pickup.Check(t.Context(), main, inbox.Query{})
	check(t, err)
	w.Prompt("typed meanwhile")
	close(go_on)
	check(t, <-done)
	w.Settle()
	got := said(m.Last())
	if strings.Contains(got, "said by main: long") || strings.Index(got, "SUMMARY") > strings.Index(got, "came meanwhile") || !strings.HasSuffix(got, "typed meanwhile") {
		t.Errorf("the next request: %q", got)
	}
}

// TestCompact_givenUp: who asks for it and goes away before it begins has asked for nothing,
// and whoever asks next is not told that it is under way.
func TestCompact_givenUp(t *testing.T) {
	stream := make(chan struct{})
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch {
		case wantsSummary(req):
			return text("SUMMARY"), nil
		case asked(req) == "long":
			<-stream
		}
		return echo(ctx, req)
	}
	w := open(t, m, setting{})
	w.Prompt("long")
	w.Until("it streams", func() bool { return w.Info("main").Doing == "streaming" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Pool.Compact(ctx, w.Main(), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	close(stream)
	w.Settle()
	for _, e := range w.Entries("main") {
		if e.Kind == history.EntrySummary {
			t.Errorf("it was compacted all the same: %+v", e)
		}
	}
	check(t, w.Pool.Compact(t.Context(), w.Main(), ""))
}

// TestCompact_byItself: at 85 % of the window, in the middle of a turn too, and for
// sub-agents; the turn goes on with its prompt.
func TestCompact_byItself(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		switch {
		case wantsSummary(req):
			return append(text("SUMMARY"), llm.Usage{Input: 90_000, Output: 10}), nil
		case strings.Contains(said(req), "SUMMARY"):
			return append(text("done: "+asked(req)), llm.Usage{Input: 1000, Output: 10}), nil
		}
		long := text(strings.Repeat("so many words ", 20_000))
		return append(append(long, call("c", "bash", `{"command":"echo step"}`)...), llm.Usage{Input: 3000, Output: 82_010}), nil
	}
	w := open(t, m, setting{})
	w.Prompt("fill it")
	w.Settle()
	es := w.Entries("main")
	if got := kinds(es); got != "prompt text call started result summary text ended" {
		t.Fatalf("the transcript: %s", got)
	}
	if s := es[5].Summary; !s.Auto || s.Prompt != "fill it" || s.Before != 85_010 || s.After >= 85_000 || s.After == 0 || es[5].Turn != es[0].Turn {
		t.Errorf("the summary: %+v", s)
	}
	if got := es[6].Text; got != "done: fill it" {
		t.Errorf("the turn ended with %q", got)
	}
	w.Until("the context is what the last request filled", func() bool { return w.Info("main").Context == 1010 })
	check(t, valid(m.Last().Messages))

	w.Push("sub", "fill it too")
	w.Run(0)
	w.Settle()
	if len(w.summaries("sub")) != 1 {
		t.Errorf("the sub-agent's transcript: %s", kinds(w.Entries("sub")))
	}
	ms, _, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
	check(t, err)
	if len(ms) != 1 || ms[0].Body != "done: fill it too" {
		t.Errorf("its result: %+v", ms)
	}
}

// TestCompact_neverLoops: where a summary does not make room, or can't be had, the
// human is told once and the turn goes on.
func TestCompact_neverLoops(t *testing.T) {
	for name, fails := range map[string]bool{"no help": false, "fails": true} {
		t.Run(name, func(t *testing.T) {
			m := &model{}
			steps := 0
			m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				if wantsSummary(req) {
					if fails {
						return nil, nil // which is no summary
					}
					return text("SUMMARY"), nil
				}
				if steps++; steps > 6 {
					return append(text("done"), llm.Usage{Input: 95_000}), nil
				}
				return append(call(fmt.Sprint("c", steps), "bash", fmt.Sprintf(`{"command":"true %d"}`, steps)), llm.Usage{Input: 95_000}), nil
			}
			w := open(t, m, setting{})
			w.Prompt("go")
			w.Settle()
			asks, notices := 0, 0
			for _, r := range m.Seen() {
				if wantsSummary(r) {
					asks++
				}
			}
			for _, e := range w.Entries("main") {
				if e.Kind == history.EntryNotice {
					notices++
					if _, then, failed := strings.Cut(e.Text, "failed: "); failed && !strings.Contains(then, ". It goes on") || strings.Contains(then, "..") {
						t.Errorf("it was told %q", e.Text)
					}
				}
			}
			if asks != 1 || notices != 1 {
				t.Errorf("%d summaries were asked for, %d notices given: %s", asks, notices, kinds(w.Entries("main")))
			}
			w.Until("the turn is done", func() bool { return w.Info("main").Outcome == history.Completed })
		})
	}
}

// TestCompact_afterARefusal: a request that is refused as too long is compacted and
// sent once more, over real HTTP; a second refusal ends the turn with the way out.
func TestCompact_afterARefusal(t *testing.T) {
	for name, again := range map[string]bool{"helps": false, "does not": true} {
		t.Run(name, func(t *testing.T) {
			long := llmtest.Fail(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)
			asks := 0
			s := &llmtest.Server{Answer: func(req llmtest.Request) llmtest.Reply {
				switch text := req.LastText(); {
				case len(req.Tools) == 0:
					asks++
					return llmtest.Say("SUMMARY")
				case strings.HasSuffix(text, "second") && (again || asks == 0):
					return long
				}
				return llmtest.Say("fine")
			}}
			base, stop, err := s.Start()
			check(t, err)
			defer stop()
			w := open(t, llm.Retry(anthropic.New(anthropic.Options{Key: "k", BaseURL: base}), llm.RetryOptions{}), setting{})
			w.Prompt("first")
			w.Settle()
			w.Prompt("second")
			w.Settle()
			es := w.Entries("main")
			want := "prompt text ended prompt summary text ended"
			if again {
				want = "prompt text ended prompt summary ended"
			}
			if got := kinds(es); got != want {
				t.Errorf("the transcript: %s", got)
			}
			end := es[len(es)-1].End
			if again && (end.Outcome != history.OutFailed || !strings.Contains(end.Error, "/new begins a new conversation")) {
				t.Errorf("the turn ended %+v", end)
			}
			if asks != 1 {
				t.Errorf("%d summaries", asks)
			}
		})
	}
}

// TestCompact_ofATextThatIsTooLong: the conversation is cut until the model takes it.
func TestCompact_ofATextThatIsTooLong(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if wantsSummary(req) {
			if len(said(req)) > 30_000 {
				return nil, &llm.Error{Kind: llm.ContextTooLong, Provider: "test", Message: "Too long."}
			}
			return text("SUMMARY"), nil
		}
		return text(strings.Repeat("a long answer with </conversation> in it. ", 2000)), nil
	}
	w := open(t, m, setting{})
	for _, p := range []string{"one", "two", "three"} {
		w.Prompt(p)
		w.Settle()
	}
	check(t, w.Pool.Compact(t.Context(), w.Main(), ""))
	if got := said(m.Last()); strings.Count(got, "</conversation>") != 1 {
		t.Error("the text can end itself")
	}
}

// TestCompact_thatIsCut: a summary that reached the token limit is used, and says
// that its end is missing.
func TestCompact_thatIsCut(t *testing.T) {
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if wantsSummary(req) {
			return append(text("SUMMARY, and"), llm.Stop{Reason: llm.Length}), nil
		}
		return echo(ctx, req)
	}
	w := open(t, m, setting{})
	w.Prompt("one")
	w.Settle()
	check(t, w.Pool.Compact(t.Context(), w.Main(), ""))
	w.Prompt("two")
	w.Settle()
	if got := said(m.Last()); !strings.Contains(got, "SUMMARY, and\n\n(The summary was cut here") {
		t.Errorf("the next request: %q", got)
	}
}

// TestCompact_withoutAModel: the built-in engine says what it can't and gives an
// excerpt; it never obeys what it summarises.
func TestCompact_withoutAModel(t *testing.T) {
	w := open(t, builtin.New(), setting{})
	w.Prompt("run echo made > made")
	w.Settle()
	w.Prompt("say hello")
	w.Settle()
	check(t, w.Pool.Compact(t.Context(), w.Main(), ""))
	ss := w.summaries("main")
	if len(ss) != 1 || !strings.Contains(ss[0].Text, "can't summarise") || !strings.Contains(ss[0].Text, "say hello") {
		t.Fatalf("summaries: %+v", ss)
	}
	if got := kinds(w.Entries("main")); strings.Count(got, "call") != 1 {
		t.Errorf("it did something again: %s", got)
	}
	w.Prompt("say further")
	w.Settle()
	es := w.Entries("main")
	if got := es[len(es)-2].Text; !strings.Contains(got, "further") || strings.Contains(got, "hello") {
		t.Errorf("it goes on with %q", got)
	}
}

// TestCompact_andANewConversation: a conversation that was begun anew while the old
// one was being summarised stays new.
func TestCompact_andANewConversation(t *testing.T) {
	summing, go_on := make(chan struct{}), make(chan struct{})
	m := &model{}
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if wantsSummary(req) {
			close(summing)
			<-go_on
			return text("SUMMARY"), nil
		}
		return echo(ctx, req)
	}
	w := open(t, m, setting{})
	w.Prompt("one")
	w.Settle()
	done := make(chan error, 1)
	main := w.Main()
	go func() { done <- w.Pool.Compact(t.Context(), main, "") }()
	<-summing
	check(t, w.Pool.Clear(t.Context(), w.Main()))
	close(go_on)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "new conversation") {
		t.Errorf("the error is %v", err)
	}
	w.Prompt("two")
	w.Settle()
	if got := said(m.Last()); got != "two" {
		t.Errorf("the next request: %q", got)
	}
}

// TestCompact_ofABranch: a branch behind a turn of a compacted conversation begins
// with what was sent then.
func TestCompact_ofABranch(t *testing.T) {
	m := &model{Reply: summing}
	w := open(t, m, setting{})
	for _, p := range []string{"one", "two"} {
		w.Prompt(p)
		w.Settle()
	}
	check(t, w.Pool.Compact(t.Context(), w.Main(), ""))
	w.Prompt("three")
	w.Settle()
	for number, want := range map[int]string{1: "one | said by main: one | end", 3: "three"} {
		i, err := w.Pool.Branch(t.Context(), w.Main(), number, "")
		check(t, err)
		w.tell(i.ID, "end")
		got := said(m.Last())
		if number == 1 && got != want || number == 3 && (!strings.Contains(got, want) || !strings.Contains(got, "SUMMARY") || strings.Contains(got, "said by main: two")) {
			t.Errorf("the branch behind turn %d: %q", number, got)
		}
		check(t, w.Pool.Compact(t.Context(), i.ID, ""))
		w.tell(i.ID, "again")
		if got := said(m.Last()); strings.Contains(got, "end |") || !strings.Contains(got, "SUMMARY") {
			t.Errorf("the branch behind turn %d, compacted: %q", number, got)
		}
	}
}
