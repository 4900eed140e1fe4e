package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
)

// site is a runner, the agent that it is of, and the engine that works as that.
type site struct {
	Agent // what is not the test's fails
	Loop
	Session Session
	*testing.T
	*Runner
	db *store.DB
	id int64

	asked   []string          // "CALL: TITLE: QUESTION"
	asks    chan struct{}     // a token for each question; nil: nobody looks
	answers chan answer       // of the human
	told    chan string       // what they are told
	stops   func()            // called before the last that is heard
	heard   []*event.Reply    // what the engine says
	then    [][]Done          // the calls that have ended with each of that
	charges []fleet.Charge    // with what was recorded
	paid    int               // requests that are afforded
	results map[string]string // of calls
	verdict permission.Verdict

	had   int64 // up to which entry the engine has all
	sent  int64
	said  []Input
	done  []Done
	steer bool
}

type answer struct {
	text string
	err  error
}

func newSite(t *testing.T) *site {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &site{T: t, db: db, answers: make(chan answer, 4), told: make(chan string, 4), results: map[string]string{}}
	s.write(func(tx *store.Tx) (err error) {
		s.id, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", State: "running"})
		return err
	})
	s.Runner = NewRunner(fake{s}, s, s, RunnerOptions{
		ID: s.id, Name: "main", Attended: true, DB: db, Now: time.Now,
		Asks: approval.NewQuestions(db, nil, nil, nil, tasks.LoadLastingSeal(t.TempDir()), nil, time.Now), Judge: func(permission.Action) permission.Verdict { return s.verdict },
	})
	return s
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.db.Write(s.Context(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// The agent.

func (s *site) Turn() int64          { return 0 }
func (s *site) Book() history.Writer { return history.Writer{Agent: s.id} }
func (s *site) Asked(string)         {}

func (s *site) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	return s.db.Write(ctx, what, f)
}

func (s *site) Tell(_ context.Context, text string) error {
	s.told <- text
	return nil
}

func (s *site) Ask(ctx context.Context, call, title string, q tools.Question) (string, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s: %s: %s", call, title, q.Text))
	if s.asks != nil {
		s.asks <- struct{}{}
	}
	select {
	case a := <-s.answers:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *site) Set(func(*event.Info))         {}
func (s *site) Working(string, string) func() { return func() {} }
func (s *site) Talk() *history.Talk {
	return &history.Talk{Entries: s.entries(), Last: int64(len(s.entries())), Calls: map[string]bool{}}
}

func (s *site) Result(_ context.Context, c history.Call, _ time.Time, r tools.Result) error {
	s.results[c.ID] = r.Text
	return nil
}

func (s *site) Afford(context.Context, llm.Model) (fleet.Charge, error) {
	s.paid++
	return fleet.Charge{}, nil
}

func (s *site) Record(_ context.Context, _ llm.Model, _ *event.Reply, paid fleet.Charge) error {
	s.charges = append(s.charges, paid)
	return nil
}

func (s *site) Hear(context.Context, llm.Model, iter.Seq2[llm.Part, error]) (*event.Reply, error) {
	if len(s.heard) == 0 {
		return &event.Reply{}, errors.New("its program ended")
	}
	if len(s.heard) == 1 && s.stops != nil {
		s.stops()
	}
	r := s.heard[0]
	s.heard = s.heard[1:]
	if len(s.then) > 0 {
		s.done, s.then = s.then[0], s.then[1:]
	}
	return r, nil
}

// fake is the engine, and its session.
type fake struct{ s *site }

func (f fake) Stream(context.Context, *llm.Request) iter.Seq2[llm.Part, error] { return nil }
func (f fake) NewSession(Options) Session                                      { return f }
func (f fake) Next(context.Context) iter.Seq2[llm.Part, error]                 { return nil }
func (f fake) Steers() bool                                                    { return f.s.steer }
func (f fake) Rest()                                                           {}
func (f fake) End()                                                            {}
func (f fake) Open(context.Context, int64) (int64, bool, error)                { return f.s.sent, false, nil }

func (f fake) Say(_ context.Context, w Input) error {
	f.s.said = append(f.s.said, w)
	return nil
}

func (f fake) Ended() (done []Done, notes []string) {
	done, f.s.done = f.s.done, nil
	return done, nil
}

func (f fake) Had(_ context.Context, upTo int64) error {
	f.s.had = upTo
	return nil
}

// adds puts entries into the agent's transcript.
func (s *site) adds(es ...history.Entry) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		b := s.Book().Batch(tx)
		for _, e := range es {
			if _, err := b.Add(0, e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *site) entries() (es []history.Entry) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		rows, err := tx.EntriesAfter(s.id, 0, 1000)
		es = history.DecodeAll(rows)
		return err
	})
	return es
}

func prompt(text string) history.Entry { return history.Entry{Kind: history.EntryPrompt, Text: text} }
func says(text string) history.Entry   { return history.Entry{Kind: history.EntryText, Text: text} }
func mail(by string) history.Entry {
	return history.Entry{Kind: history.EntryMessage, By: by, Text: "mail " + by}
}

var ended = history.Entry{Kind: history.EntryEnded}

// What an engine is told: all that it does not have, and as a conversation what was said with another in its place.
func TestWords(t *testing.T) {
	const before, meanwhile = "This was said before you came", "This was said meanwhile, and not to you"
	for _, c := range []struct {
		name    string
		entries []history.Entry
		sent    int64
		had     []int64
		want    []string // in this order
		not     []string
		maybe   bool
	}{
		{"the first prompt", []history.Entry{prompt("one")}, 0, nil, []string{"one"}, []string{before, "<conversation>"}, false},
		{"after another", []history.Entry{prompt("one"), says("two"), ended, prompt("three")}, 0, nil, []string{before, "<conversation>", "one", "two", "</conversation>", "three"}, nil, false},
		{"after another, and nothing new", []history.Entry{prompt("one"), says("two"), ended}, 0, nil, []string{before, "one", "two", "Go on from there."}, nil, false},
		{"the next prompt", []history.Entry{prompt("one"), says("two"), ended, prompt("three")}, 1, nil, []string{"three"}, []string{"one", "two", "conversation"}, false},
		{"all of it", []history.Entry{prompt("one"), says("two")}, 1, nil, nil, []string{"one", "two"}, false},
		{"while another was there", []history.Entry{prompt("one"), says("two"), ended, prompt("three"), says("four"), ended, prompt("five")}, 1, nil, []string{meanwhile, "three", "four", "</conversation>", "five"}, []string{"one", "two"}, false},
		{"in its turn, and after it", []history.Entry{prompt("one"), prompt("two"), says("three"), ended, prompt("four")}, 1, nil, []string{"two", "four"}, []string{"one", "three", "conversation"}, false},
		{"what was withdrawn", []history.Entry{prompt("one"), prompt("two"), {Kind: history.EntryWithdrawn, Withdraws: 2}, prompt("three")}, 1, nil, []string{"three"}, []string{"two"}, false},
		{"what its call returned", []history.Entry{prompt("one"), mail(byCall), prompt("two")}, 1, []int64{2}, []string{"two"}, []string{"mail"}, false},
		{"what its call may have returned", []history.Entry{prompt("one"), mail(byCall), prompt("two")}, 1, nil, []string{"mail tool", "two"}, nil, true},
		{"what came by itself", []history.Entry{prompt("one"), mail("next")}, 1, nil, []string{"mail next"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := range c.entries {
				c.entries[n].Seq = int64(n + 1)
			}
			s := &Runner{}
			for _, entry := range c.had {
				s.had.by(entry)
			}
			text, maybe := s.words(c.entries, c.sent)
			rest, in := text, true
			for _, want := range c.want {
				if _, rest, in = strings.Cut(rest, want); !in {
					t.Errorf("no %q: %s", want, text)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text, not) {
					t.Errorf("%q: %s", not, text)
				}
			}
			if maybe != c.maybe || (text == "") != (c.want == nil) {
				t.Errorf("maybe %v: %q", maybe, text)
			}
		})
	}
}

// A call that hands work to another vendor runs where the human said so, and they are asked once; no other answer lets it run.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name       string
		decision   permission.Decision
		answer     string
		err        error
		unattended bool
		why        string
		asked      int // by two calls
	}{
		{"allowed", permission.Allow, "", nil, false, "", 0},
		{"denied", permission.Deny, "", nil, false, "Refused: is odd", 0},
		{"yes", permission.AskHuman, lets, nil, false, "", 1},
		{"no", permission.AskHuman, letsNot, nil, false, "The user said no.", 2},
		{"words", permission.AskHuman, "later", nil, false, "The user said no: later", 2},
		{"nobody is there", permission.AskHuman, "", nil, true, "nobody is here to be asked", 0},
		{"no answer", permission.AskHuman, "", errors.New("gone"), false, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.o.Attended = !c.unattended
			s.verdict = permission.Verdict{Decision: c.decision, Vendor: "codex", Reason: "is odd"}
			for range 2 {
				s.answers <- answer{c.answer, c.err}
				why, err := s.refused(t.Context(), &tools.Call{})
				if !errors.Is(err, c.err) || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
					t.Errorf("%q, %v", why, err)
				}
			}
			if len(s.asked) != c.asked {
				t.Errorf("asked %q", s.asked)
			}
		})
	}
}

// A question is put to the human once, as one about the call that the transcript knows; what they answered to a program that
// has ended is given to the same question.
func TestAsk(t *testing.T) {
	q := tools.Question{Text: "Go?"}
	for _, c := range []struct {
		name   string
		before func(s *site)
		call   string
		answer string
		err    error
		asked  string
	}{
		{"asked", func(*site) {}, "c", "typed", nil, "c: t: Go?"},
		{"by the name that the transcript has", func(s *site) { s.names["c"] = "c-1" }, "c", "typed", nil, "c-1: t: Go?"},
		{"about no call", func(*site) {}, "", "typed", nil, "0-"},
		{"nobody is there", func(s *site) { s.o.Attended = false }, "c", "", ErrUnasked, ""},
		{"its program has ended", func(s *site) { s.lost = true }, "c", "", ErrLost, ""},
		{"answered before", func(s *site) { s.toThat, s.given = "Go?", "kept" }, "c", "kept", nil, ""},
		{"another was answered before", func(s *site) { s.toThat, s.given = "Stay?", "kept" }, "c", "typed", nil, "c: t: Go?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.answers <- answer{"typed", nil}
			c.before(s)
			got, err := s.ask(t.Context(), c.call, "t", q)
			if got != c.answer || !errors.Is(err, c.err) || !strings.HasPrefix(strings.Join(s.asked, "|"), c.asked) || (len(s.asked) == 0) != (c.asked == "") {
				t.Errorf("%q, %v, asked %q", got, err, s.asked)
			}
			if c.answer != "kept" {
				return
			}
			if got, _ = s.ask(t.Context(), c.call, "t", q); got != "typed" { // an answer answers once
				t.Errorf("the second time: %q", got)
			}
		})
	}
}

// A question that waits for another is given up with its context.
func TestAsk_oneAtATime(t *testing.T) {
	s := newSite(t)
	s.asking <- struct{}{}
	why := errors.New("hung up")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	if _, err := s.ask(ctx, "c", "t", tools.Question{}); !errors.Is(err, why) || len(s.asked) > 0 {
		t.Errorf("%v, asked %q", err, s.asked)
	}
}

// A turn whose program ends with a question open goes on with the answer, which is told, and given if the engine asks the same
// again. Without a question, or an answer, it ends for the reason of the program's end.
func TestOutlived(t *testing.T) {
	gone, stopped := errors.New("it ended"), errors.New("stopped")
	for _, c := range []struct {
		name   string
		open   bool
		answer answer
		stops  bool
		want   error
	}{
		{"no question", false, answer{}, false, gone},
		{"answered", true, answer{"yes", nil}, false, nil},
		{"no answer", true, answer{"", errors.New("odd")}, false, gone},
		{"this program closes", true, answer{"", approval.ErrParked}, false, approval.ErrParked},
		{"the turn is stopped", true, answer{"yes", nil}, true, stopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			ctx, stop := context.WithCancelCause(t.Context())
			asked := make(chan struct{})
			if c.open {
				s.asks = make(chan struct{})
				go func() {
					defer close(asked)
					_, _ = s.ask(t.Context(), "c", "t", tools.Question{Text: "Go?"})
				}()
				<-s.asks
			}
			over := make(chan error, 1)
			go func() { over <- s.outlived(ctx, gone) }()
			if c.open {
				if text := <-s.told; !strings.Contains(text, gone.Error()) || !strings.Contains(text, "stays open") {
					t.Errorf("told %q", text)
				}
				if c.stops {
					stop(stopped)
				}
				s.answers <- c.answer
				<-asked
			}
			if err := <-over; !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatal(err)
			}
			stop(nil)
			es := s.entries()
			if c.want != nil {
				if len(es) > 0 {
					t.Errorf("%+v", es)
				}
				return
			}
			if len(es) != 1 || es[0].Kind != history.EntryHost || !strings.Contains(es[0].Text, "You had asked: Go?") || !strings.Contains(es[0].Text, "The answer is: yes") {
				t.Errorf("%+v", es)
			}
			s.with(func() { s.lost = false }) // it was started again
			if got, err := s.ask(t.Context(), "c2", "t", tools.Question{Text: "Go?"}); got != "yes" || err != nil || len(s.asked) != 1 {
				t.Errorf("asked again: %q, %v, %q", got, err, s.asked)
			}
		})
	}
}

// What the engine has by its calls, or by a turn of its own, is written down once its turn is over, up to what it has yet to be
// told.
func TestKeep(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []history.Entry
		told    int64
		had     []int64
		alone   bool
		want    int64 // 0: nothing is written down
	}{
		{"nothing by a call", []history.Entry{prompt("one"), says("two")}, 1, nil, false, 0},
		{"by a call", []history.Entry{prompt("one"), mail(byCall), says("two")}, 1, []int64{2}, false, 3},
		{"with a prompt in between", []history.Entry{prompt("one"), mail(byCall), prompt("two"), mail(byCall)}, 1, []int64{2, 4}, false, 2},
		{"with a prompt before", []history.Entry{prompt("one"), prompt("two"), mail(byCall)}, 1, []int64{3}, false, 1},
		{"by itself", []history.Entry{prompt("one"), says("two"), says("three")}, 1, nil, true, 3},
		{"over several pages", append([]history.Entry{prompt("one"), mail(byCall)}, slices.Repeat([]history.Entry{says("x")}, 500)...), 1, []int64{2}, false, 502},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.adds(c.entries...)
			s.Runner.told, s.alone = c.told, c.alone
			for _, entry := range c.had {
				s.Runner.had.by(entry)
			}
			if err := s.keep(t.Context()); err != nil || s.had != c.want {
				t.Errorf("up to %d, %v", s.had, err)
			}
			if c.want > 0 && (s.Runner.told != c.want || s.alone) {
				t.Errorf("told up to %d, alone %v", s.Runner.told, s.alone)
			}
		})
	}
}

// A turn of the engine's is told what is new, once, and heard until it is over; where words can be put into it, the end of a
// call is a seam. It counts as one request, and after it no call comes in.
func TestAnswer(t *testing.T) {
	call := llm.ToolCall{ID: "c", Name: "f", Args: []byte(`{}`)}
	works := func() *event.Reply { return until(llm.ToolUse, call) }
	says := func() *event.Reply { return until(llm.EndTurn, llm.Text{Text: "done"}) }
	done := []Done{{Call: "c", Result: tools.Result{Text: "7"}}}
	for _, c := range []struct {
		name    string
		entries []history.Entry
		steers  bool
		inside  bool // a call of our tools is, until the turn ends
		heard   []*event.Reply
		then    [][]Done
		seams   int
		wrong   string
		result  string
	}{
		{"an answer", []history.Entry{prompt("one")}, true, false, []*event.Reply{says()}, nil, 0, "", ""},
		{"a call", []history.Entry{prompt("one")}, true, false, []*event.Reply{works(), until(llm.ToolUse), says()}, [][]Done{nil, done}, 1, "", "7"},
		{"a call, and no words in between", []history.Entry{prompt("one")}, false, false, []*event.Reply{works(), until(llm.ToolUse), says()}, [][]Done{nil, done}, 0, "", "7"},
		{"a call of ours is inside", []history.Entry{prompt("one")}, true, true, []*event.Reply{works(), until(llm.ToolUse), says()}, [][]Done{nil, done}, 0, "", "7"},
		{"a call that does not end", []history.Entry{prompt("one")}, true, false, []*event.Reply{works(), says()}, nil, 0, "", ""},
		{"its program ends", []history.Entry{prompt("one")}, true, false, []*event.Reply{works()}, nil, 0, "its program ended", ""},
		{"nothing to say", nil, true, false, nil, nil, 0, "there is nothing to say", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.adds(c.entries...)
			s.steer, s.heard, s.then = c.steers, c.heard, c.then
			if c.inside {
				s.gate.opens(t.Context())
				ctx, leave, err := s.gate.enter(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				context.AfterFunc(ctx, leave)
			}
			seams := 0
			r, err := s.Answer(t.Context())
			for ; r == nil && err == nil && seams < 9; seams++ {
				if !s.Busy() {
					t.Error("a seam of no turn")
				}
				s.sent = int64(len(c.entries)) // it has the words
				r, err = s.Answer(t.Context())
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || seams != c.seams || s.results["c"] != c.result {
				t.Fatalf("%v, %d seams, results %v", err, seams, s.results)
			}
			if c.entries == nil {
				return
			}
			if s.Busy() || s.gate.now() != nil || len(s.open) > 0 || len(s.names) > 0 {
				t.Errorf("the turn goes on: %v %v %v", s.Busy(), s.open, s.names)
			}
			if len(s.said) != 1 || s.said[0].Text != "one" || s.said[0].UpTo != 1 || s.paid != 1 {
				t.Errorf("said %+v, paid %d times", s.said, s.paid)
			}
			if err == nil && (r.Text() != "done" || len(r.Calls) > 0) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A turn that is stopped ends for that reason; one that this program's end stops while a question is open stays open, with the
// call that it is about.
func TestAnswer_stopped(t *testing.T) {
	stopped := errors.New("stopped")
	for _, c := range []struct {
		name   string
		parked bool
		want   error
		result string // of the call that was cut
	}{
		{"stopped", false, stopped, "cut"},
		{"with a question open", true, approval.ErrParked, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.adds(prompt("one"))
			s.heard = []*event.Reply{until(llm.ToolUse, llm.ToolCall{ID: "c", Name: "f", Args: []byte(`{}`)}), until(llm.EndTurn)}
			s.then = [][]Done{nil, {{Call: "c", Result: tools.Result{Text: "cut"}, Cut: true}}}
			ctx, stop := context.WithCancelCause(t.Context())
			s.stops = func() {
				s.parked = c.parked
				stop(stopped)
			}
			if r, err := s.Answer(ctx); r != nil || !errors.Is(err, c.want) || s.results["c"] != c.result {
				t.Errorf("%v, %v, results %v", r, err, s.results)
			}
		})
	}
}

// An engine may take its time to end a turn where the human goes on talking to it, and nowhere else.
func TestGrace(t *testing.T) {
	for _, c := range []struct {
		cause error
		ends  bool
		want  time.Duration
	}{
		{fleet.ErrStopped, false, leisure}, {fleet.ErrStopped, true, atOnce}, {event.ErrClosing, false, atOnce}, {event.ErrClosing, true, atOnce},
	} {
		s := newSite(t)
		s.o.Ends = c.ends
		if got := s.grace(c.cause); got != c.want {
			t.Errorf("%v, ends %v: %v", c.cause, c.ends, got)
		}
	}
}

// An engine calls what it is offered: nothing that works in the workspace, for which it has its own tools and questions.
func TestCall_notOffered(t *testing.T) {
	s := newSite(t)
	s.gate.opens(t.Context())
	for _, name := range []string{"bash", "write_file", "read_file", "ask_user", "list_messages", "", "PUSH"} {
		if r := s.call(t.Context(), name, []byte(`{}`)); !r.Error || !strings.Contains(r.Text, "there is no tool") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// until is what an engine says until it stops for that reason.
func until(reason llm.Reason, parts ...llm.Part) *event.Reply {
	r := &event.Reply{}
	for _, p := range append(parts, llm.Stop{Reason: reason}) {
		r.Add(p)
	}
	return r
}
