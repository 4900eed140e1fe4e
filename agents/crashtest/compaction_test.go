package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
)

// compacts is a life in which main's conversation is compacted, because the human
// asks or, in the middle of a turn, by itself. It says how much of the summary came.
func compacts(t *testing.T, dir, argument string) {
	base, how, _ := strings.Cut(argument, " ")
	w := agentstest.Open(t, openai.New(openai.Options{Key: "k", BaseURL: base + "/v1"}), agentstest.Setting{Dir: dir})
	w.Prompt("one")
	w.Settle()
	w.Prompt("two")
	w.Settle()
	feed, _ := w.Pool.Subscribe()
	if how == "asked" {
		main := w.Main()
		go func() { fmt.Println("ended", w.Pool.Compact(t.Context(), main, "")) }()
	} else {
		w.Prompt("fill it")
	}
	heard := 0
	for {
		<-feed.Wait()
		w.Feed.Take()
		for _, e := range feed.Take() {
			switch e := e.(type) {
			case event.Delta:
				if heard += len(e.Text); heard == len(e.Text) {
					time.AfterFunc(1200*time.Millisecond, func() { fmt.Println("late") })
				}
				fmt.Println("heard", heard)
			case event.Appended:
				if agentstest.Kinds(e.Entries) == "summary" {
					fmt.Println("adopted")
				}
			}
		}
	}
}

// TestKill_duringACompaction kills the program while a summary is streamed. A part of
// one is nothing: the next start has the conversation as it was, and compacts it anew;
// or the whole summary, once, if that was recorded.
// Spec: E-1.
func TestKill_duringACompaction(t *testing.T) {
	t.Parallel()
	var pieces []string
	for i := range 60 {
		pieces = append(pieces, fmt.Sprintf("Piece %d of the summary. %s\n", i, strings.Repeat("word ", rand.IntN(40))))
	}
	stream, ends := body(pieces)
	whole := strings.Join(pieces, "")
	for life := range 8 {
		how := []string{"asked", "by itself"}[life%2]
		moment := []string{"early", "cut", "late", "adopted"}[life/2]
		t.Run(how+" "+moment, func(t *testing.T) {
			t.Parallel()
			n := 1 + rand.IntN(len(pieces)-1) // that many pieces come
			s := &llmtest.Server{Answer: func(req llmtest.Request) llmtest.Reply {
				switch {
				case len(req.Tools) > 0 && strings.HasSuffix(req.LastText(), "fill it"):
					r := llmtest.Call("c", "bash", `{"command":"echo step"}`)
					r.Usage = llm.Usage{Input: 95_000, Output: 10}
					return r
				case len(req.Tools) > 0:
					return llmtest.Say("answer to " + req.LastText())
				case moment == "adopted":
					return llmtest.Say(whole)
				}
				return llmtest.Reply{Raw: stream, Stall: ends[n-1] + 1}
			}}
			base, stop, err := s.Start()
			agentstest.Check(t, err)
			defer stop()
			least := len(strings.Join(pieces[:n], ""))
			if moment == "early" {
				least = 1
			}
			dir, last := t.TempDir(), ""
			if !agentstest.Lived(t, "compacts", dir, base+" "+how, func(line string) bool {
				last = line
				heard := 0
				_, _ = fmt.Sscanf(line, "heard %d", &heard)
				return line == moment || (moment == "cut" || moment == "early") && heard >= least
			}) {
				t.Fatalf("it ended by itself: %s", last)
			}

			m := &agentstest.Model{Reply: summing}
			w := agentstest.Open(t, m, agentstest.Setting{Dir: dir})
			defer w.Close()
			recorded := moment == "adopted"
			left := agentstest.Kinds(w.Entries("main"))
			if !strings.HasPrefix(left, "prompt text ended prompt text ended") || recorded != strings.Contains(left, "summary") || strings.Count(left, "text") != 2 {
				t.Errorf("the transcript: %s", left)
			}
			w.Prompt("three")
			w.Settle()
			sent := said(m.Seen()[0]) // to go on, or for the summary that is begun anew
			want := []string{"one", "answer to one", "two", "answer to two"}
			if recorded {
				want = []string{strings.TrimSpace(whole)}
			}
			for _, text := range want {
				if !strings.Contains(sent, text) {
					t.Errorf("the next request lacks %.80q: %.300q", text, sent)
				}
			}
			if !recorded && strings.Contains(sent, "of the summary") {
				t.Errorf("the next request has a part of the summary: %.300q", sent)
			}
			agentstest.Check(t, w.Pool.Compact(t.Context(), w.Main(), ""))
			if last := summary(w.Entries("main")); last != "SUMMARY of it." {
				t.Errorf("compacted anew: %.80q", last)
			}
		})
	}
}

// summing is a model that sums up where it is to.
func summing(_ context.Context, req *llm.Request) ([]llm.Part, error) {
	if len(req.Tools) == 0 {
		return append(agentstest.Text("SUMMARY of it."), llm.Usage{Input: 500, Output: 20}), nil
	}
	return agentstest.Text("ok"), nil
}

// summary is the text of the last summary.
func summary(es []history.Entry) (text string) {
	for _, e := range es {
		if e.Kind == history.EntrySummary {
			text = e.Text
		}
	}
	return text
}

// said is all that a request says.
func said(req *llm.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(llm.Text); ok {
				b.WriteString(t.Text + " | ")
			}
		}
	}
	return b.String()
}
