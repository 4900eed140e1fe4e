package agents_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/store"
)

// speech is a provider that says its parts one by one: a string is a text, a
// duration a pause, an error the end; at the end of the parts it says no more until
// it is stopped, unless the last is "." alone.
type speech []any

func (s speech) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		for _, part := range s {
			var p llm.Part
			switch part := part.(type) {
			case time.Duration:
				select {
				case <-time.After(part):
				case <-ctx.Done():
				}
				continue
			case error:
				yield(nil, part)
				return
			case llm.Part:
				p = part
			case string:
				p = llm.Text{Text: part}
			}
			if ctx.Err() != nil || !yield(p, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}

var whole = llm.Stop{Reason: llm.EndTurn}

// said is what stands written down of a reply that still comes, by block.
func (w *world) said(turn int64) (texts []string) {
	w.T.Helper()
	check(w.T, w.DB.Read(w.T.Context(), func(rx *store.Rx) error {
		said, err := rx.Sayings(turn)
		for _, s := range said {
			text, err := rx.Text(s.Head, s.Size)
			if err != nil {
				return err
			}
			texts = append(texts, s.Kind+" "+text)
		}
		return err
	}))
	return texts
}

// wrote counts the transactions that wrote a reply down.
func wrote(n *atomic.Int32) func(string) {
	return func(statement string) {
		if strings.HasPrefix(statement, "INSERT") && strings.Contains(statement, " pieces ") {
			n.Add(1)
		}
	}
}

// Spec: O-7, E-1.
func TestScribe_textIsOnDiskWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := speech{llm.Thinking{Text: "I think"}, "Hel", 400 * time.Millisecond, "lo", 3 * time.Second, llm.Text{Text: " again", Index: 0}, time.Hour}
		var n atomic.Int32
		w := open(t, m, setting{Trace: wrote(&n)})
		w.Prompt("go")
		synctest.Wait()
		if got := w.said(1); got != nil {
			t.Errorf("at once %q", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := fmt.Sprint(w.said(1)); got != "[thinking I think text Hello]" {
			t.Errorf("after a second %s", got)
		}
		before := n.Load()
		time.Sleep(2 * time.Second)
		if n.Load() != before {
			t.Error("it writes while nothing comes")
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if got := fmt.Sprint(w.said(1)); got != "[thinking I think text Hello again]" || n.Load() != before+1 {
			t.Errorf("a second after the next piece %s, %d", got, n.Load()-before)
		}
		if got := kinds(w.Entries("main")); got != "prompt" {
			t.Errorf("entries %s", got)
		}
		w.Pool.Stop(w.Main())
		w.Settle()
		es := w.Entries("main")
		if got := kinds(es); got != "prompt thinking text ended" || es[2].Text != "Hello again" || w.said(1) != nil {
			t.Errorf("in the end %s, %q", got, w.said(1))
		}
	})
}

// A short reply costs nothing beside its record, a long one that comes at once is written
// down as it comes.
func TestScribe_shortReplyCostsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		m    speech
		want func(int32) bool
	}{
		"short": {speech{"a", 300 * time.Millisecond, "b", 300 * time.Millisecond, "c", whole}, func(n int32) bool { return n == 0 }},
		"fast":  {speech{strings.Repeat("x", 900_000), whole}, func(n int32) bool { return n == 0 }},
		"long":  {speech{strings.Repeat("x", 2_000_000), 100 * time.Millisecond, "y", whole}, func(n int32) bool { return n >= 8 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int32
				w := open(t, c.m, setting{Trace: wrote(&n)})
				w.Prompt("go")
				w.Settle()
				if !c.want(n.Load()) {
					t.Errorf("%d pieces", n.Load())
				}
				var want strings.Builder
				for _, p := range c.m {
					if s, ok := p.(string); ok {
						want.WriteString(s)
					}
				}
				if es := w.Entries("main"); kinds(es) != "prompt text ended" || es[1].Text != want.String() || w.said(1) != nil {
					t.Errorf("entries %s", kinds(es))
				}
			})
		})
	}
}

// What a try said that failed is forgotten, within a second, as on the screen (torture L20).
func TestScribe_aFailedTryIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		cut := &llm.Error{Kind: llm.Cut, Message: "cut"}
		m := llm.Retry(provider(func(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
			tries++
			if tries == 1 {
				return speech{"first", 2 * time.Second, cut}.Stream(ctx, req)
			}
			return speech{5 * time.Second, "second", 2 * time.Second, time.Hour}.Stream(ctx, req)
		}), llm.RetryOptions{})
		w := open(t, m, setting{})
		w.Prompt("go")
		time.Sleep(1500 * time.Millisecond)
		if got := fmt.Sprint(w.said(1)); got != "[text first]" {
			t.Errorf("of the first try %s", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.said(1); got != nil {
			t.Errorf("after it failed %q", got)
		}
		time.Sleep(10 * time.Second)
		if got := fmt.Sprint(w.said(1)); got != "[text second]" {
			t.Errorf("of the second try %s", got)
		}
		w.Pool.Stop(w.Main())
		w.Settle()
		if es := w.Entries("main"); kinds(es) != "prompt text ended" || es[1].Text != "second" {
			t.Errorf("entries %s", kinds(es))
		}
	})
}

type provider func(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error]

func (p provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Part, error] {
	return p(ctx, req)
}

// A database that refuses holds up nothing and loses nothing: what could not be
// written down is, later, once.
func TestScribe_aDiskThatRefusesLosesNothing(t *testing.T) {
	for _, fault := range []string{"pieces", "full"} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				half := strings.Repeat("of much text ", 200_000)
				m := speech{"A beginning ", 2 * time.Second, half, 4 * time.Second, half, 4 * time.Second, "and an end.", 2 * time.Second, whole}
				w := open(t, m, setting{})
				w.Prompt("go")
				time.Sleep(1500 * time.Millisecond)
				w.fault(fault)
				w.Until("it says so", func() bool { return strings.Contains(w.Info("main").Why, "write down the reply") })
				if i := w.Info("main"); i.State != event.Running || i.Doing != "streaming" {
					t.Errorf("meanwhile %+v", i)
				}
				w.fault(map[string]string{"pieces": "none", "full": "space"}[fault])
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := w.said(1); len(got) != 1 || got[0] != "text A beginning "+half {
					t.Errorf("written down then: %d texts", len(got))
				}
				w.Until("the trouble is gone", func() bool { return w.Info("main").Why == "" })
				w.Settle()
				if es := w.Entries("main"); kinds(es) != "prompt text ended" || es[1].Text != "A beginning "+half+half+"and an end." {
					t.Errorf("entries %s", kinds(es))
				}
			})
		})
	}
}

// newPiece is in the statement that writes a piece down.
const newPiece = "INTO pieces ("

// A long text stands in pieces even if none of it was written down before: what a
// human typed, and what came at once.
func TestScribe_longTextsStandInPieces(t *testing.T) {
	long := strings.Repeat("of much text ", 200_000)
	synctest.Test(t, func(t *testing.T) {
		var pieces atomic.Int64
		trace := func(statement string) {
			if strings.Contains(statement, newPiece) {
				pieces.Add(1)
			}
		}
		w := open(t, speech{"short", whole}, setting{Trace: trace})
		w.Prompt(long)
		w.Settle()
		if es := w.Entries("main"); kinds(es) != "prompt text ended" || es[0].Text != long || es[1].Text != "short" {
			t.Errorf("entries %s", kinds(es))
		}
		if n := pieces.Load(); n < 10 {
			t.Errorf("%d bytes stand in %d pieces", len(long), n)
		}
	})
}

// A commit that took effect although it seemed to fail leaves nothing twice: what
// stands written down is looked at before more is.
func TestScribe_aCommitThatOnlySeemedToFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, said, seemed := t.TempDir(), false, false
		file := filepath.Join(dir, "fantail.db")
		trace := func(statement string) {
			said = said || strings.Contains(statement, newPiece)
			if statement == "COMMIT" && said && !seemed {
				seemed = true
				check(t, os.Rename(file, file+"-away")) // whether it was kept isn't known
			}
		}
		w := open(t, speech{"one ", 3 * time.Second, "two ", 3 * time.Second, "three", 3 * time.Second, whole}, setting{Dir: dir, Trace: trace})
		w.Prompt("go")
		w.Until("it says so", func() bool { return strings.Contains(w.Info("main").Why, "may or may not have been kept") })
		check(t, os.Rename(file+"-away", file))
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()
		if got := fmt.Sprint(w.said(1)); got != "[text one two ]" {
			t.Errorf("written down then: %s", got)
		}
		w.Settle()
		if es := w.Entries("main"); kinds(es) != "prompt text ended" || es[1].Text != "one two three" || w.said(1) != nil {
			t.Errorf("entries %s", kinds(es))
		}
	})
}

// A reply that can't be recorded leaves what was written down of it, as the end of its turn.
func TestScribe_aReplyThatIsNotRecordedIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, speech{"what was said", 2 * time.Second, whole}, setting{})
		w.Prompt("go")
		time.Sleep(1500 * time.Millisecond)
		w.fault("texts")
		time.Sleep(2 * time.Second)
		w.fault("none")
		w.Settle()
		if es := w.Entries("main"); kinds(es) != "prompt text ended" || es[1].Text != "what was said" || es[2].End.Outcome != history.OutFailed || w.said(1) != nil {
			t.Errorf("entries %s", kinds(es))
		}
	})
}

// A feed that joins in the middle of a reply sees it whole; of a long one it sees
// the end, and all of it when the reply is over.
func TestScribe_aFeedThatJoinsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ text, want string }{
			{"short", "short more"},
			{strings.Repeat("0123456789", 300_000), "… 3000000 bytes before, which show when the reply is over …\n more"},
		} {
			w := open(t, speech{c.text, 5 * time.Second, " more", 5 * time.Second, whole}, setting{})
			w.Prompt("go")
			time.Sleep(5*time.Second + 100*time.Millisecond)
			f, was := w.Pool.Subscribe()
			defer f.Close()
			got := ""
			for _, e := range was {
				if d, ok := e.(event.Delta); ok {
					got += d.Text
				}
			}
			if got != c.want {
				t.Errorf("%.80q, want %.80q", got, c.want)
			}
			w.Settle()
			for _, e := range f.Take() {
				if a, ok := e.(event.Appended); ok && len(a.Entries) > 0 && a.Entries[0].Kind == history.EntryText {
					if !a.Live || a.Entries[0].Text != c.text+" more" {
						t.Errorf("%d bytes in the end", len(a.Entries[0].Text))
					}
					got = ""
				}
			}
			if got != "" {
				t.Error("no entry came")
			}
			w.Close()
		}
	})
}

// No key is written down, however it is cut, in a short text or a long one.
func TestScribe_withoutKeys(t *testing.T) {
	values, keys, _ := canaries(t)
	for _, fill := range []string{"some words ", strings.Repeat("many words ", 200_000)} {
		synctest.Test(t, func(t *testing.T) {
			var m speech
			for _, v := range values {
				m = append(m, "Here: "+v[:len(v)/2], 1200*time.Millisecond, v[len(v)/2:]+" and "+v+"\n")
			}
			m = append(m, fill, 2*time.Second)
			w := open(t, append(m, time.Hour), setting{Keys: keys})
			w.Prompt("go")
			time.Sleep(time.Duration(len(values)+5) * 1200 * time.Millisecond)
			synctest.Wait()
			said := strings.Join(w.said(1), "\n")
			w.Pool.Stop(w.Main())
			w.Settle()
			es := w.Entries("main")
			if kinds(es) != "prompt text ended" || len(said) < len(fill) {
				t.Fatalf("entries %s, %d bytes written down", kinds(es), len(said))
			}
			for _, v := range values {
				if strings.Contains(said, v) || strings.Contains(es[1].Text, v) {
					t.Errorf("%.4s… is there", v)
				}
			}
		})
	}
}
