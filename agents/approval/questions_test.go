package approval_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fantail/agents/approval"
	"fantail/agents/event"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agent is one that asks, and records what it shows.
type agent struct {
	id   int64
	turn int64
	db   *store.DB
	full error  // of its writes
	then func() // what happens before one of them
	slot error  // of taking it back

	mu   sync.Mutex // several of its calls may ask
	said []string
}

func (a *agent) note(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said = append(a.said, s)
}

func (a *agent) asker() approval.Asker {
	return approval.Asker{ID: a.id, Name: fmt.Sprintf("a%d", a.id), Turn: a.turn, Agent: a, Keep: a.Keep}
}

func (a *agent) Keep(ctx context.Context, what string, f func(tx *store.Tx) error) error {
	if a.note(what); a.full != nil {
		return a.full
	}
	if a.then != nil {
		a.then()
	}
	return a.db.Write(ctx, what, f)
}

func (a *agent) Asking(q *event.Question) { a.note("asks " + q.Call) }

func (a *agent) Heard(ans *event.Answer) {
	if ans == nil {
		a.note("unanswered")
		return
	}
	a.note("heard " + ans.String())
}

func (a *agent) Regain(context.Context) error {
	a.note("regains")
	return a.slot
}

// desk has Questions over a database, main, and a sub-agent below it.
type questions struct {
	*approval.Questions
	t         *testing.T
	db        *store.DB
	gate      *permission.Gate
	box       *inbox.Inbox
	main, sub *agent
}

// newDesk must be called in fake time, and so must everything done with it.
func newDesk(t *testing.T) *questions {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d := &questions{t: t, db: db, box: inbox.New(db, func(inbox.Change) {})}
	if d.gate, err = permission.NewGate(permission.Ask, nil); err != nil {
		t.Fatal(err)
	}
	d.Questions = approval.NewQuestions(db, d.box, d.gate, tasks.NewSealKey(), tasks.LoadLastingSeal(t.TempDir()), nil, time.Now)
	add := func(tx *store.Tx, a store.Agent) (*agent, error) {
		id, err := tx.AddAgent(a)
		if err != nil {
			return nil, err
		}
		turn, err := tx.BeginTurn(store.Turn{Agent: id, Kind: "agent"})
		return &agent{id: id, turn: turn, db: db}, err
	}
	if err := db.Write(t.Context(), "make agents", func(tx *store.Tx) (err error) {
		if d.main, err = add(tx, store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Running)}); err == nil {
			d.sub, err = add(tx, store.Agent{Name: "kid", Kind: string(event.Sub), Parent: d.main.id, State: string(event.Running)})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return d
}

// got is the result of a Put.
type got struct {
	ans event.Answer
	err error
}

// put asks whether a command may run; its result is there once that is decided.
func (d *questions) put(ctx context.Context, who *agent, call string, by approval.Company) *got {
	return d.asks(ctx, who, event.Question{Question: permission.Question{
		Call: call, Action: permission.Action{Tool: "bash", Kind: permission.Command, Title: "bash make", Command: "make all", Dir: "/w"}, Rule: "bash(make all)",
	}}, by)
}

func (d *questions) asks(ctx context.Context, who *agent, q event.Question, by approval.Company) *got {
	g := &got{err: errOpen}
	go func() { g.ans, g.err = d.Put(ctx, who.asker(), q, by) }()
	synctest.Wait()
	return g
}

var errOpen = errors.New("open")

// row returns the question that the call asked last.
func (d *questions) row(who *agent, call string) (row store.Approval) {
	d.t.Helper()
	if err := d.db.Read(d.t.Context(), func(rx *store.Rx) error {
		rows, err := rx.Approvals(who.turn)
		for _, r := range rows {
			if r.Call == call {
				row = r
			}
		}
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
	return row
}

// pending counts the questions that wait for main.
func (d *questions) pending() int {
	d.t.Helper()
	n, err := d.box.Count(d.t.Context(), d.main.id)
	if err != nil {
		d.t.Fatal(err)
	}
	return n.Asks
}

func (d *questions) answer(question int64, ans event.Answer) error {
	err := d.Answer(d.t.Context(), question, ans)
	synctest.Wait()
	return err
}

func said(t *testing.T, a *agent, want ...string) {
	t.Helper()
	if !slices.Equal(a.said, want) {
		t.Errorf("agent %d: %q, want %q", a.id, a.said, want)
	}
	a.said = nil
}

// refused reports whether err says want; "": it is nil.
func refused(err error, want string) bool {
	return want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want)
}

// TestPut: a question is a row, and a message for the agent the human talks to, before its agent shows it; the answer
// is in both before the agent gets it, and is marked as acted upon before the agent acts.
func TestPut(t *testing.T) {
	for _, c := range []struct {
		choice permission.Choice
		said   []string
	}{
		{permission.Once, []string{"ask the human", "asks c", "heard yes", "regains", "act on an answer"}},
		{permission.Session, []string{"ask the human", "asks c", "heard yes, for this session", "regains", "act on an answer"}},
		{permission.No, []string{"ask the human", "asks c", "heard no", "regains"}},
	} {
		for _, above := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				who, mail := d.main, 0
				if above {
					who, mail = d.sub, 1
				}
				g := d.put(t.Context(), who, "c", approval.Alone)
				row := d.row(who, "c")
				if g.err != errOpen || row.ID == 0 || row.Kind != event.AskApproval || d.pending() != mail || (row.Message != 0) != above {
					t.Fatalf("%v; the row is %+v, %d messages wait", g.err, row, d.pending())
				}
				if q, err := d.Asked(t.Context(), row.Message); (err == nil) != above || above && (q.ID != row.ID || q.Name != "kid" || q.Action.Command != "make all") {
					t.Errorf("message %d asks %+v, %v", row.Message, q, err)
				}
				if err := d.answer(row.ID, event.Answer{Choice: c.choice, Settled: "nobody says so"}); err != nil {
					t.Error(err)
				}
				if g.err != nil || g.ans != (event.Answer{Choice: c.choice}) {
					t.Errorf("%+v, %v", g.ans, g.err)
				}
				said(t, who, c.said...)
				if row = d.row(who, "c"); row.Answered.IsZero() || row.Acted.IsZero() != (c.choice == permission.No) || d.pending() != 0 {
					t.Errorf("the row is %+v, %d messages wait", row, d.pending())
				}
				if err := d.answer(row.ID, event.Answer{Choice: permission.No}); !errors.Is(err, event.ErrAnswered) || errors.Is(err, event.ErrSettled) {
					t.Errorf("a second answer: %v", err)
				}
				if above {
					if _, err := d.Asked(t.Context(), row.Message); !errors.Is(err, event.ErrAnswered) {
						t.Errorf("the message asks still: %v", err)
					}
				}
			})
		}
	}
}

// TestAnswer_suits: only an answer that fits the question ends it.
func TestAnswer_suits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		call := d.put(t.Context(), d.main, "c", approval.Alone)
		asks := d.asks(t.Context(), d.sub, event.Question{Question: permission.Question{Call: "q"}, Asks: &tools.Question{Text: "which?"}}, approval.Alone)
		once := d.asks(t.Context(), &agent{id: d.main.id, turn: d.main.turn, db: d.db},
			event.Question{Question: permission.Question{Call: "n", Action: permission.Action{Kind: permission.Write, Title: "edit x", Dir: "/w", Paths: []string{"/w/x"}}}}, approval.Alone)
		if row := d.row(d.sub, "q"); row.Kind != event.AskQuestion {
			t.Errorf("it is an %s", row.Kind)
		}
		for _, c := range []struct {
			question int64
			ans      event.Answer
			want     string
		}{
			{99, event.Answer{}, "question 99"},
			{d.row(d.main, "c").ID, event.Answer{Text: "yes"}, "a call waits for yes, session, project or no"},
			{d.row(d.sub, "q").ID, event.Answer{Choice: permission.Once}, "the answer is missing"},
			{d.row(d.main, "n").ID, event.Answer{Choice: permission.Session}, "no rule can cover this call for the session"},
		} {
			if err := d.answer(c.question, c.ans); !refused(err, c.want) {
				t.Errorf("%d: %v, want %s", c.question, err, c.want)
			}
		}
		for _, g := range []*got{call, asks, once} {
			if g.err != errOpen {
				t.Errorf("ended with %+v, %v", g.ans, g.err)
			}
		}
		if err := d.answer(d.row(d.sub, "q").ID, event.Answer{Text: "that"}); err != nil || asks.ans.Text != "that" || asks.err != nil {
			t.Errorf("%v: %+v, %v", err, asks.ans, asks.err)
		}
		said(t, d.sub, "ask the human", "asks q", "heard that", "regains")
		d.settle(d.main.id, "the test ends")
	})
}

func (d *questions) settle(agent int64, why string) {
	d.t.Helper()
	if err := d.db.Write(d.t.Context(), "settle", func(tx *store.Tx) error { return d.Settle(tx, agent, why) }); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

// TestSettle: it ends an agent's questions and no others, once it is committed. The asking agent gets no answer, and
// does not go on.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		kept, ended := d.put(t.Context(), d.main, "m", approval.Alone), d.put(t.Context(), d.sub, "s", approval.Alone)
		failed := errors.New("failed")
		if err := d.db.Write(t.Context(), "settle", func(tx *store.Tx) error { return errors.Join(d.Settle(tx, d.sub.id, "no"), failed) }); !errors.Is(err, failed) {
			t.Error(err)
		}
		if synctest.Wait(); ended.err != errOpen {
			t.Errorf("ended without a commit: %+v, %v", ended.ans, ended.err)
		}
		d.settle(d.sub.id, "it was killed")
		if !errors.Is(ended.err, event.ErrSettled) || !strings.Contains(ended.err.Error(), "it was killed") || kept.err != errOpen || d.pending() != 0 {
			t.Errorf("%+v, %v; the other %v; %d messages wait", ended.ans, ended.err, kept.err, d.pending())
		}
		if err := d.answer(d.row(d.sub, "s").ID, event.Answer{Choice: permission.Once}); !errors.Is(err, event.ErrSettled) || !strings.Contains(err.Error(), "it was killed") {
			t.Errorf("an answer to it: %v", err)
		}
		said(t, d.sub, "ask the human", "asks s", "unanswered")
		d.settle(d.main.id, "the test ends")
	})
}

// TestReview: it answers what the gate would not ask any more, and only that; a question of ask_user is for the human.
func TestReview(t *testing.T) {
	for _, c := range []struct {
		what string
		do   func(d *questions) error
		want event.Answer // of the command
		file error        // of the write
	}{
		{"nothing changed", func(d *questions) error { return d.Review(d.t.Context()) }, event.Answer{}, errOpen},
		{"a rule covers it", func(d *questions) error {
			return errors.Join(d.gate.Allow("bash(make all)"), d.Review(d.t.Context()))
		}, event.Answer{Choice: permission.Once, Settled: "a rule allows it"}, errOpen},
		{"a rule refuses it", func(d *questions) error {
			r, err := permission.ParseToolRule("Bash(make *)", permission.Places{})
			d.gate.Limit(permission.Limits{{ToolRule: r, List: permission.DenyList, From: "a file"}})
			return errors.Join(err, d.Review(d.t.Context()))
		}, event.Answer{Choice: permission.No, Settled: "a rule refuses it"}, errOpen},
		{"a looser mode that lets writes be", func(d *questions) error {
			d.gate.SetMode(permission.AcceptEdits)
			return d.Review(d.t.Context())
		}, event.Answer{}, errOpen},
		{"the loosest mode", func(d *questions) error {
			d.gate.SetMode(permission.Yolo)
			return d.Review(d.t.Context())
		}, event.Answer{}, errOpen},
		{"a stricter mode", func(d *questions) error {
			d.gate.SetMode(permission.Plan)
			return d.Review(d.t.Context())
		}, event.Answer{}, errOpen},
		{"a stricter mode, and a rule that covers it", func(d *questions) error {
			d.gate.SetMode(permission.Plan)
			return errors.Join(d.gate.Allow("bash(make all)"), d.Review(d.t.Context()))
		}, event.Answer{}, errOpen},
		{"an answer for the session to another, in the loosest mode", func(d *questions) error {
			d.gate.SetMode(permission.Yolo)
			other := d.asks(d.t.Context(), d.sub, event.Question{Question: permission.Question{Call: "o", Rule: "bash(true)", Action: permission.Action{Kind: permission.Command, Command: "true", Dir: "/w"}}}, approval.Alone)
			err := d.Answer(d.t.Context(), d.row(d.sub, "o").ID, event.Answer{Choice: permission.Session})
			synctest.Wait()
			return errors.Join(err, other.err)
		}, event.Answer{}, errOpen},
		{"an answer for the session to another", func(d *questions) error {
			other := d.put(d.t.Context(), d.sub, "o", approval.Alone)
			err := d.Answer(d.t.Context(), d.row(d.sub, "o").ID, event.Answer{Choice: permission.Session})
			synctest.Wait()
			return errors.Join(err, other.err)
		}, event.Answer{Choice: permission.Once, Settled: "a rule allows it"}, errOpen},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			ask := d.asks(t.Context(), d.sub, event.Question{Question: permission.Question{Call: "q"}, Asks: &tools.Question{Text: "which?"}}, approval.Alone)
			file := d.asks(t.Context(), d.sub, event.Question{Question: permission.Question{Call: "f", Action: permission.Action{Kind: permission.Write, Title: "edit x", Dir: "/w", Paths: []string{"/w/x"}}}}, approval.Alone)
			g := d.put(t.Context(), d.main, "c", approval.Alone)
			if err := c.do(d); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			synctest.Wait()
			g.ans.Reason = ""
			if open := c.want == (event.Answer{}); g.ans != c.want || (g.err == errOpen) != open || file.err != c.file || ask.err != errOpen {
				t.Errorf("%s: %+v, %v; the write %v, the question %v", c.what, g.ans, g.err, file.err, ask.err)
			}
			d.settle(0, "the test ends")
		})
	}
}

// TestPut_ruled: a rule that comes after the gate judged a call, and before its question is open, answers the
// question; another mode does not.
func TestPut_ruled(t *testing.T) {
	for what, then := range map[string]func(d *questions){
		"a rule": func(d *questions) { _ = d.gate.Allow("bash(make all)") },
		"a mode": func(d *questions) { _ = d.gate.SetMode(permission.Yolo) },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.main.then = func() { then(d) }
			g := d.put(t.Context(), d.main, "c", approval.Alone)
			synctest.Wait()
			if answered := g.err == nil && g.ans.Choice == permission.Once && g.ans.Settled != ""; answered != (what == "a rule") {
				t.Errorf("%s: %+v, %v", what, g.ans, g.err)
			}
			d.settle(0, "the test ends")
		})
	}
}

// TestPut_stopped: a call that is stopped asks no more, though its question stays in the database; at the program's
// end its turn is parked there, unless other calls run concurrently.
func TestPut_stopped(t *testing.T) {
	stopped := errors.New("stopped")
	for _, c := range []struct {
		cause error
		by    approval.Company
		want  error
	}{
		{stopped, approval.Alone, stopped}, {event.ErrClosing, approval.Alone, approval.ErrParked}, {event.ErrClosing, approval.Beside, event.ErrClosing},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			g := d.put(ctx, d.sub, "c", c.by)
			cancel(c.cause)
			if synctest.Wait(); g.err != c.want || d.pending() != 1 || !d.row(d.sub, "c").Answered.IsZero() {
				t.Errorf("%v, want %v; %d messages wait", g.err, c.want, d.pending())
			}
			said(t, d.sub, "ask the human", "asks c", "unanswered")
			if err := d.answer(d.row(d.sub, "c").ID, event.Answer{Choice: permission.Once}); err != nil {
				t.Errorf("it can't be answered: %v", err)
			}
		})
	}
}

// TestPut_fails: a question that can't be recorded is not asked, and an agent without a slot does not act.
func TestPut_fails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.sub.full = errors.New("no disk")
		if g := d.put(t.Context(), d.sub, "c", approval.Alone); g.err != d.sub.full {
			t.Errorf("without a disk: %v", g.err)
		}
		said(t, d.sub, "ask the human")
		d.sub.full, d.sub.slot = nil, errors.New("no slot")
		g := d.put(t.Context(), d.sub, "c", approval.Alone)
		if err := d.answer(d.row(d.sub, "c").ID, event.Answer{Choice: permission.Once}); err != nil {
			t.Error(err)
		}
		if g.err != d.sub.slot || !d.row(d.sub, "c").Acted.IsZero() {
			t.Errorf("without a slot: %v, %+v", g.err, d.row(d.sub, "c"))
		}
		said(t, d.sub, "ask the human", "asks c", "heard yes", "regains")
	})
}

// TestPut_beside: concurrent calls ask one after the other; one that is stopped while it waits for another never asks.
// Other agents ask meanwhile.
func TestPut_beside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		first, second := d.put(t.Context(), d.sub, "a", approval.Beside), d.put(t.Context(), d.sub, "b", approval.Beside)
		third := d.put(ctx, d.sub, "c", approval.Beside)
		other := d.put(t.Context(), d.main, "m", approval.Beside)
		said(t, d.sub, "ask the human", "asks a")
		said(t, d.main, "ask the human", "asks m")
		stopped := errors.New("stopped")
		cancel(stopped)
		if synctest.Wait(); third.err != stopped {
			t.Errorf("the third ends with %v", third.err)
		}
		if err := d.answer(d.row(d.sub, "a").ID, event.Answer{Choice: permission.No}); err != nil || first.err != nil || second.err != errOpen {
			t.Errorf("%v, %v, %v", err, first.err, second.err)
		}
		said(t, d.sub, "heard no", "regains", "ask the human", "asks b")
		d.settle(0, "the test ends")
		late := d.put(ctx, d.sub, "late", approval.Beside)
		if !errors.Is(second.err, event.ErrSettled) || !errors.Is(other.err, event.ErrSettled) || late.err != stopped || d.row(d.sub, "c").ID != 0 || d.row(d.sub, "late").ID != 0 {
			t.Errorf("%v, %v; who is stopped before it asks: %v", second.err, other.err, late.err)
		}
	})
}

// TestPut_takenUp: a turn that was parked at a question asks it again, with its row and a pending message, also if an
// earlier host wrote an answer into the row. Another call asks a new question.
func TestPut_takenUp(t *testing.T) {
	for _, c := range []struct {
		answered bool
		call     string
		rows     int
		said     []string
	}{
		{false, "c", 1, []string{"ask the human", "asks c", "heard yes", "regains", "act on an answer"}},
		{true, "c", 1, []string{"ask the human", "asks c", "heard yes", "regains", "act on an answer"}},
		{false, "d", 2, []string{"ask the human", "asks d", "heard yes", "regains", "act on an answer"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			d.put(ctx, d.sub, "c", approval.Alone)
			cancel(event.ErrClosing)
			synctest.Wait()
			d.sub.said = nil
			yes := event.Answer{Choice: permission.Once}
			if c.answered {
				if err := d.answer(d.row(d.sub, "c").ID, yes); err != nil {
					t.Fatal(err)
				}
			}
			d.Questions = approval.NewQuestions(d.db, d.box, d.gate, tasks.NewSealKey(), tasks.LoadLastingSeal(t.TempDir()), nil, time.Now)
			d.Park(d.row(d.sub, "c"))
			g := d.put(t.Context(), d.sub, c.call, approval.Alone)
			if g.err != errOpen || c.call == "c" && d.pending() != 1 {
				t.Errorf("call %s: %+v, %v; %d messages wait", c.call, g.ans, g.err, d.pending())
			}
			if err := d.answer(d.row(d.sub, c.call).ID, yes); err != nil {
				t.Error(err)
			}
			if g.err != nil || g.ans != yes || d.row(d.sub, c.call).Acted.IsZero() {
				t.Errorf("call %s: %+v, %v", c.call, g.ans, g.err)
			}
			said(t, d.sub, c.said...)
			if err := d.db.Read(t.Context(), func(rx *store.Rx) error {
				rows, err := rx.Approvals(d.sub.turn)
				if len(rows) != c.rows {
					t.Errorf("call %s: %d questions", c.call, len(rows))
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPut_takenUpLate: an answer that came after the turn was read as parked, and before its question was open again,
// counts.
func TestPut_takenUpLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		d.put(ctx, d.sub, "c", approval.Alone)
		cancel(event.ErrClosing)
		synctest.Wait()
		d.Park(d.row(d.sub, "c"))
		if err := d.answer(d.row(d.sub, "c").ID, event.Answer{Choice: permission.No}); err != nil {
			t.Fatal(err)
		}
		if g := d.put(t.Context(), d.sub, "c", approval.Alone); g.err != nil || g.ans.Choice != permission.No {
			t.Errorf("%+v, %v", g.ans, g.err)
		}
	})
}
