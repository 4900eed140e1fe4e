package ui

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"

	tea "charm.land/bubbletea/v2"
)

// filled is a screen of 200 by 60 over a transcript of n entries, all that is
// visible rendered.
func filled(t testing.TB, n int) *App {
	t.Helper()
	a := screen(t, 200, 60).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Running, Doing: "streaming", Model: "test/one", Spent: event.Spent{Window: 1000, Context: 300}})
	for i := range 12 {
		a.with(event.Info{ID: int64(i + 2), Name: fmt.Sprintf("agent%d", i), Kind: event.Sub, State: event.Running, Started: a.o.Now()})
	}
	es := make([]history.Entry, 0, n)
	for i := 0; len(es) < n; i++ {
		id := fmt.Sprint("c", i)
		for _, e := range []history.Entry{
			{Kind: history.EntryPrompt, Text: fmt.Sprintf("question %d", i)},
			{Kind: history.EntryText, Text: fmt.Sprintf("Answer **%d** with `code`.\n\n- one\n- two\n\n```go\nx := %d\n```\n", i, i)},
			{Kind: history.EntryCall, Call: &history.Call{ID: id, Name: "bash", Title: "bash make", Args: json.RawMessage(`{}`)}},
			{Kind: history.EntryResult, Result: &history.Result{ID: id, Name: "bash", Text: "line\nline\nline\nline\nline\nline\nline\nline\n", Millis: 120}},
			{Kind: history.EntryEnded, End: &history.End{Outcome: history.Completed, Millis: 900, Steps: 2}},
		} {
			e.Seq, e.Agent, e.At = int64(len(es)+1), 1, a.o.Now()
			es = append(es, e)
		}
	}
	a.page(paged{agent: 1, entries: es[:n]})
	settle(t, a)
	return a
}

// settle runs what the frame asks for, until it asks for nothing.
func settle(t testing.TB, a *App) {
	t.Helper()
	for range 20 {
		a.draw()
		js := a.tabs.Focus.View.Jobs()
		if len(js) == 0 {
			return
		}
		for _, j := range js {
			a.tabs.Focus.View.Rendered(j.Run())
		}
	}
	t.Fatal("the frame never comes to rest")
}

// frame is what one event of a running agent costs: apply it and compose.
func (a *App) frame(i int) {
	a.apply(event.Changed{Info: event.Info{ID: 3, Name: "agent1", Kind: event.Sub, State: event.Running, Started: a.o.Now(), Spent: event.Spent{Steps: i}}})
	a.draw()
}

func BenchmarkFrame200x60(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			a := filled(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				a.frame(i)
			}
		})
	}
}

// BenchmarkFrameStreams is a frame for each piece of a reply that streams.
func BenchmarkFrameStreams(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			a := filled(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				text := "some words "
				if i%12 == 0 {
					text = "the end of a line\n\n"
				}
				a.apply(event.Delta{Agent: 1, Block: i / 2000, Text: text})
				a.draw()
			}
		})
	}
}

func BenchmarkKeyEcho(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			a := filled(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i++; i%100 == 0 {
					a.tabs.Typing().Clear()
				}
				a.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
				a.View()
			}
		})
	}
}

// TestFrameIsIndependentOfLength takes the best of several runs, so that a busy
// machine does not decide; the allowance is wide, for what it must find is a
// cost that grows with the transcript.
func TestFrameIsIndependentOfLength(t *testing.T) {
	best := func(a *App) time.Duration {
		least := time.Hour
		for i := range 30 {
			began := time.Now()
			for j := range 10 {
				a.frame(10*i + j)
			}
			least = min(least, time.Since(began)/10)
		}
		return least
	}
	short, long := best(filled(t, 100)), best(filled(t, 10_000))
	t.Logf("a frame costs %s at 100 entries, %s at 10,000", short, long)
	if long > 3*short+200*time.Microsecond {
		t.Errorf("a frame costs %s at 100 entries and %s at 10,000", short, long)
	}
}

// crowd is a screen with n agents, a third of which work.
func crowd(t testing.TB, w, n int) *App {
	t.Helper()
	return screen(t, w, 60).with(mixed(n)...)
}

// BenchmarkTabRow costs what shows, whatever the number of agents.
func BenchmarkTabRow(b *testing.B) {
	for _, n := range []int{64, 1000, 10_000} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			a := crowd(b, 200, n)
			b.ReportAllocs()
			for b.Loop() {
				a.tabs.Row(200)
			}
		})
	}
}

// BenchmarkOverview is a frame of the overview: still, for each event of an
// agent, and for each change of an agent's state.
func BenchmarkOverview(b *testing.B) {
	for _, n := range []int{64, 1000} {
		a := crowd(b, 200, n)
		a.boards.overview()
		run := func(name string, f func(i int)) {
			b.Run(fmt.Sprintf("%s/agents=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i++
					f(i)
					a.draw()
				}
			})
		}
		run("still", func(int) {})
		run("event", func(i int) {
			a.apply(event.Changed{Info: event.Info{ID: 3, Name: "agent03", Kind: event.Sub, State: event.Running, Spent: event.Spent{Steps: i}}})
		})
		run("state", func(i int) {
			s := []event.State{event.Running, event.Waiting}[i%2]
			a.apply(event.Changed{Info: event.Info{ID: 3, Name: "agent03", Kind: event.Sub, State: s}})
		})
	}
}

// TestTabRowIsIndependentOfTheNumber allows much, for what it must find is a
// cost that grows with the agents.
func TestTabRowIsIndependentOfTheNumber(t *testing.T) {
	best := func(a *App) time.Duration {
		least := time.Hour
		for range 30 {
			began := time.Now()
			for range 10 {
				a.tabs.Row(200)
			}
			least = min(least, time.Since(began)/10)
		}
		return least
	}
	few, many := best(crowd(t, 200, 64)), best(crowd(t, 200, 10_000))
	t.Logf("the row costs %s with 64 agents, %s with 10,000", few, many)
	if many > 3*few+200*time.Microsecond {
		t.Errorf("the row costs %s with 64 agents and %s with 10,000", few, many)
	}
}
