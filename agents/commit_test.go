package agents_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/tools/permission"
)

// together has one transaction carry out what these functions write, in their order:
// it is held open until all of them have queued. It needs the fake time of play.
func (w *world) together(fs ...func()) {
	w.T.Helper()
	var all sync.WaitGroup
	var first sync.Once // what fails with others is tried again
	held, release := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := w.DB.Write(context.Background(), "hold", func(*store.Tx) error {
			first.Do(func() {
				close(held)
				<-release
			})
			return nil
		}); err != nil {
			w.T.Error(err)
		}
	})
	<-held
	for _, f := range fs {
		all.Go(f)
		synctest.Wait()
	}
	close(release)
	all.Wait()
}

// overridden is what the database keeps of what the human said about main's mail.
func (w *world) overridden() (o policy.Overrides) {
	w.T.Helper()
	check(w.T, w.DB.Read(w.T.Context(), func(rx *store.Rx) error {
		all, err := policy.Overridden(&rx.View)
		o = all[w.Main()]
		return err
	}))
	return o
}

// TestOverride_losesNothing: each change that was acknowledged holds, in memory and in
// the row, also where many were committed with one another.
func TestOverride_losesNothing(t *testing.T) {
	w := open(t, answers(), setting{})
	main := w.Main()
	want := map[string]policy.Mode{}
	var all sync.WaitGroup
	for caller := range 4 {
		for n := range 100 {
			want[fmt.Sprintf("from-%d-%d", caller, n)] = policy.Interrupt
		}
		all.Go(func() {
			for n := range 100 {
				_, err := w.Pool.Mail.Override(context.Background(), main, func(o *policy.Overrides) {
					if o.From == nil {
						o.From = map[string]policy.Mode{}
					}
					o.From[fmt.Sprintf("from-%d-%d", caller, n)] = policy.Interrupt
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	now, err := w.Pool.Mail.Policy(main)
	check(t, err)
	if got := now.Human.From; !maps.Equal(got, want) {
		t.Errorf("memory has %d of %d changes", len(got), len(want))
	}
	if got := w.overridden().From; !maps.Equal(got, want) {
		t.Errorf("the row has %d of %d changes", len(got), len(want))
	}
}

// TestQuiet_committedTogether: who begins and ends it beside others sees what they did.
func TestQuiet_committedTogether(t *testing.T) {
	quiet := func(w *world) policy.Quiet {
		now, err := w.Pool.Mail.Policy(w.Main())
		check(w.T, err)
		var kept policy.Quiet
		check(w.T, w.DB.Read(w.T.Context(), func(rx *store.Rx) error {
			kept, err = policy.IsQuiet(&rx.View)
			return err
		}))
		if now.Quiet.On != kept.On || !now.Quiet.Until.Equal(kept.Until) || now.Quiet.Since != kept.Since {
			w.T.Errorf("memory has %+v, the row %+v", now.Quiet, kept)
		}
		return kept
	}
	t.Run("made longer", func(t *testing.T) {
		play(t, answers(), setting{}, func(w *world) {
			ctx, later := context.Background(), time.Now().Add(time.Hour)
			w.mails("ci", "before", mail.Letter{})
			helper, main := w.Info("ci").ID, w.Main()
			w.together(
				func() { check(t, w.Pool.Mail.BeQuiet(ctx, time.Time{})) },
				func() {
					_, err := w.Pool.Letters.Mail(ctx, helper, mail.Letter{To: []string{"main"}, Body: "meanwhile"})
					check(t, err)
				},
				func() { check(t, w.Pool.Mail.BeQuiet(ctx, later)) },
			)
			ms, err := w.Pool.Letters.Inbox(ctx, main)
			check(t, err)
			if q := quiet(w); len(ms) != 2 || !q.On || !q.Until.Equal(later) || q.Since != ms[0].ID {
				t.Errorf("it is %+v; messages %+v", q, ms)
			}
			if came, err := w.Pool.Mail.EndQuiet(ctx); err != nil || !strings.Contains(came, "1 message came") {
				t.Errorf("came: %q, %v", came, err)
			}
		})
	})
	t.Run("begun and ended", func(t *testing.T) {
		play(t, answers(), setting{}, func(w *world) {
			ctx := context.Background()
			errs := make([]error, 3)
			end := func(n int) func() { return func() { _, errs[n] = w.Pool.Mail.EndQuiet(ctx) } }
			w.together(func() { errs[0] = w.Pool.Mail.BeQuiet(ctx, time.Time{}) }, end(1), end(2))
			if errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], mail.ErrLoud) {
				t.Errorf("begin, end, end again: %v", errs)
			}
			if quiet(w).On {
				t.Error("it is quiet")
			}
		})
	})
}

// TestCommit_showsAtOnce: what a write changes of what is in memory changes with its
// commit, in the order of the commits: the hook of a write behind it, committed
// with it, sees that.
func TestCommit_showsAtOnce(t *testing.T) {
	main := func(is []event.Info) event.Info { return is[0] }
	for name, c := range map[string]struct {
		before func(w *world)
		write  func(w *world) error
		shown  func(is []event.Info) bool
	}{
		"SetModel": {
			func(*world) {},
			func(w *world) error {
				return w.Pool.SetModel(context.Background(), main(w.Pool.Infos()).ID, "test/two")
			},
			func(is []event.Info) bool { return main(is).Model == "test/two" },
		},
		"CloseTab": {
			func(w *world) {
				w.Push("kid", "x")
				w.Run(1)
				w.rest()
			},
			func(w *world) error { return w.Pool.CloseTab(context.Background(), "kid") },
			func(is []event.Info) bool { return len(is) == 1 },
		},
		"Clear": {
			func(w *world) {
				w.Prompt("hello")
				w.rest()
				if main(w.Pool.Infos()).Context == 0 {
					w.T.Fatal("the context is empty")
				}
			},
			func(w *world) error { return w.Pool.Clear(context.Background(), main(w.Pool.Infos()).ID) },
			func(is []event.Info) bool { return main(is).Context == 0 },
		},
		"Unprompt": {
			func(w *world) {
				w.Prompt("think")
				w.Until("it thinks", func() bool { return w.Info("main").Doing == "streaming" })
				w.Prompt("later")
				w.Until("one waits", func() bool { return len(w.Info("main").Prompts) == 1 })
			},
			func(w *world) error {
				_, err := w.Pool.Unprompt(context.Background(), main(w.Pool.Infos()).Prompts[0].ID)
				return err
			},
			func(is []event.Info) bool { return len(main(is).Prompts) == 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := answers()
			plain := m.Reply
			m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
				ps, err := plain(ctx, req)
				return append(ps, llm.Usage{Input: 100, Output: 1}), err
			}
			play(t, m, setting{}, func(w *world) {
				w.Main()
				c.before(w)
				var is []event.Info
				w.together(
					func() { check(t, c.write(w)) },
					func() {
						check(t, w.DB.Write(context.Background(), "look", func(tx *store.Tx) error {
							tx.AfterCommit(func() { is = w.Pool.Infos() })
							return nil
						}))
					},
				)
				if !c.shown(is) {
					t.Errorf("the hook behind it sees %+v", is)
				}
			})
		})
	}
}

// TestAsk_notAfterAStop: of calls that run side by side and come to ask because the mode
// changed meanwhile, one asks at a time, and none does once their turn was stopped.
func TestAsk_notAfterAStop(t *testing.T) {
	var w *world
	var stricter sync.Once
	m := &model{Reply: func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		return slices.Concat(call("a", "read_file", `{"path":"/etc/hosts"}`), call("b", "read_file", `{"path":"/etc/hosts"}`), call("c", "read_file", `{"path":"/etc/hosts"}`)), nil
	}}
	play(t, m, setting{Start: func(name string, f func()) {
		if strings.HasPrefix(name, "tool ") {
			stricter.Do(func() { check(t, w.Pool.SetMode(context.Background(), permission.Ask)) })
		}
		go f()
	}}, func(it *world) {
		w = it
		w.Prompt("read")
		q := w.asks("main")
		synctest.Wait()
		w.Pool.Stop(w.Main())
		w.rest()
		first, _ := w.row(q.ID)
		second, _ := w.row(q.ID + 1)
		if first.Call == "" || second.Call != "" {
			t.Errorf("questions were put for %q and %q", first.Call, second.Call)
		}
		es := w.Entries("main")
		if end := es[len(es)-1].End; end == nil || end.Outcome != history.Interrupted {
			t.Errorf("it ended as %+v", es[len(es)-1])
		}
	})
}

// TestStop_twice: who stopped an agent's turn and presses Esc once more finds it at rest
// all the same: mail that would wake it still waits for what they do next.
func TestStop_twice(t *testing.T) {
	play(t, answers(), setting{}, func(w *world) {
		w.Prompt("think")
		w.Until("it thinks", func() bool { return w.Info("main").Doing == "streaming" })
		w.Pool.Stop(w.Main())
		w.rest()
		_, err := w.Pool.Deposit(inbox.Message{Recipient: w.Main(), From: "ci", Kind: inbox.Mail, Deliver: inbox.Wake, Body: "wake up"})
		check(t, err)
		synctest.Wait()
		w.Pool.Stop(w.Main())
		w.rest()
		w.Until("the mail waits", func() bool { return w.Info("main").Pending == 1 })
		w.Prompt("go on")
		w.rest()
		w.Until("it came in", func() bool { return w.Info("main").Pending == 0 })
	})
}

// TestCompact_clearedBehindIt: a conversation that is begun anew right after the summary was
// written down is empty, also where both are committed at once.
func TestCompact_clearedBehindIt(t *testing.T) {
	var asked, release chan struct{} // of the bubble
	m := &model{Reply: summing}
	plain := m.Reply
	m.Reply = func(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
		if wantsSummary(req) {
			asked <- struct{}{}
			<-release
		}
		return plain(ctx, req)
	}
	synctest.Test(t, func(t *testing.T) {
		asked, release = make(chan struct{}, 1), make(chan struct{})
		w := open(t, m, setting{})
		w.Prompt("one")
		w.rest()
		w.Prompt("two")
		w.rest()
		done := make(chan error, 1)
		go func() { done <- w.Pool.Compact(context.Background(), w.Main(), "") }()
		<-asked
		w.together(
			func() { close(release) },
			func() { check(t, w.Pool.Clear(context.Background(), w.Pool.Infos()[0].ID)) },
		)
		if err := <-done; err != nil {
			t.Errorf("compact: %v", err)
		}
		w.rest()
		if got := w.Pool.Infos()[0].Context; got != 0 {
			t.Errorf("the context holds %d tokens", got)
		}
		w.Close()
		synctest.Wait()
	})
}
