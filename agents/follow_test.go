package agents_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/tools"
)

// reader reads what a follower returns.
type reader struct {
	seqs   []int64
	reply  string // what was streamed and is not recorded yet
	last   string // the last reply that was recorded
	states []event.State
}

// reads reads until the agent has ended, and returns the first thing that is wrong.
func (r *reader) reads(ctx context.Context, f *event.Follower) error {
	for {
		e, err := f.Next(ctx)
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case event.Appended:
			for _, entry := range e.Entries {
				r.seqs = append(r.seqs, entry.Seq)
				if entry.Kind != history.EntryText {
					continue
				}
				if e.Live && !strings.HasPrefix(entry.Text, r.reply) {
					return fmt.Errorf("%.40q was streamed before %.40q", r.reply, entry.Text)
				}
				r.last = entry.Text
			}
			if e.Live {
				r.reply = ""
			}
		case event.Void:
			r.reply = ""
		case event.Delta:
			if r.reply += e.Text; r.last != "" && strings.HasPrefix(r.reply, r.last[:strings.Index(r.last, ":")+1]) {
				return fmt.Errorf("%.40q was streamed after it was recorded", r.reply)
			}
		case event.Changed:
			if r.states = append(r.states, e.State); e.State.Terminal() {
				return nil
			}
		}
	}
}

// Whenever a reader begins to follow an agent, it reads each entry once, in order, those of other processes too, and of
// each reply that streams the words before its entry.
// Spec: C-11.
func TestFollow(t *testing.T) {
	t.Parallel()
	replies := 0
	m := &model{Reply: func(_ context.Context, req *llm.Request) (parts []llm.Part, err error) {
		replies++
		for _, word := range []string{fmt.Sprintf("reply %d:", replies), " one", " two", " three"} {
			parts = append(parts, llm.Text{Text: word})
		}
		if replies < 60 {
			parts = append(parts, call(fmt.Sprint("c", replies), "list_messages", fmt.Sprintf(`{"from":"x%d"}`, replies))...)
		}
		return parts, nil
	}}
	w := open(t, m, setting{})
	_, err := w.Pool.Tasks.Push(t.Context(), w.Main(), tools.Task{Name: "job", Prompt: "work", Interactive: true, Start: true})
	check(t, err)
	w.Until("it began", func() bool { return w.Info("job").ID != 0 })
	id := w.Info("job").ID
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	begin := func() {
		f := w.Pool.Follow.Begin(id)(func() { t.Error("a reader fell behind that reads") })
		all.Go(func() {
			defer f.Close()
			r := &reader{}
			if err := r.reads(ctx, f); err != nil {
				t.Error(err)
			}
			var want []int64
			for _, e := range w.Entries("job") {
				want = append(want, e.Seq)
			}
			if !slices.Equal(r.seqs, want) {
				t.Errorf("read %d entries %d, there are %d: %d", len(r.seqs), r.seqs, len(want), want)
			}
		})
	}
	begin()
	for range 16 {
		at := len(m.Seen()) + rand.IntN(3)
		w.Until("it goes on", func() bool { return len(m.Seen()) > min(at, 59) })
		begin()
		if rand.IntN(4) == 0 { // somebody else writes into its transcript
			_, err := w.Pool.Deposit(inbox.Message{Recipient: id, From: "x", Kind: inbox.Mail, Deliver: inbox.Hold, Body: "y"})
			check(t, err)
			_, _, err = w.Pool.Door.Check(t.Context(), "job", inbox.Query{})
			check(t, err)
		}
	}
	w.Until("it is idle", func() bool { return w.Info("job").State == event.Idle })
	check(t, w.Pool.End(t.Context(), "job"))
	all.Wait()
	begin() // one that has ended
	all.Wait()
}

// A reader that reads nothing is let go of, once, and the agent never waits for it.
func TestFollow_behind(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	m := &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) {
		return []llm.Part{llm.Text{Text: long}, llm.Text{Text: long}}, nil
	}}
	w := open(t, m, setting{})
	behind := make(chan struct{}, 2)
	f := w.Pool.Follow.Begin(w.Main())(func() { behind <- struct{}{} })
	defer f.Close()
	for n := range 20 {
		w.Prompt(fmt.Sprint("go ", n))
		w.Settle()
	}
	<-behind
	if _, err := f.Next(t.Context()); err != nil { // the transcript is on disk, and so it is read
		t.Error(err)
	}
	var err error
	for err == nil {
		_, err = f.Next(t.Context())
	}
	if !errors.Is(err, event.ErrBehind) || len(behind) > 0 {
		t.Errorf("%v, told %d times more", err, len(behind))
	}
}

// Why a reader is stopped is told, also where it is stopped while it reads the transcript.
func TestFollow_stopped(t *testing.T) {
	w := open(t, &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("done"), nil }}, setting{})
	f := w.Pool.Follow.Begin(w.Main())(func() {})
	defer f.Close()
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	if _, err := f.Next(ctx); !errors.Is(err, why) {
		t.Error(err)
	}
}

// A reader of an agent whose tab is closed meanwhile does not wait for ever.
func TestFollow_closed(t *testing.T) {
	w := open(t, &model{Reply: func(context.Context, *llm.Request) ([]llm.Part, error) { return text("done"), nil }}, setting{})
	w.Push("job", "work")
	w.Run(0)
	w.State("job", event.Done)
	id := w.Info("job").ID
	check(t, w.Pool.CloseTab(t.Context(), "job"))
	f := w.Pool.Follow.Begin(id)(func() {})
	defer f.Close()
	for {
		e, err := f.Next(t.Context())
		check(t, err)
		if _, closed := e.(event.Closed); closed {
			return
		}
	}
}
