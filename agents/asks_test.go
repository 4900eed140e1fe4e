package agents_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fantail/agents"
	"fantail/agents/agentstest"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/tools"
	"fantail/tools/permission"
)

// asking is a model whose prompts say what it asks for: `run FILE` appends a line to
// a file, `ask QUESTION` asks the human, `steps` makes three calls in one reply,
// `hold` ends when it is stopped. Then it says what came of it.
func asking(ctx context.Context, req *llm.Request) ([]llm.Part, error) {
	verb, rest, _ := strings.Cut(asked(req), " ")
	rs := results(req)
	line := func(id, file string) []llm.Part {
		file, more, _ := strings.Cut(file, "; ")
		return call(id, "bash", fmt.Sprintf(`{"command":"echo ran | tee -a %s > /dev/null; echo begun; %s"}`, file, cmp.Or(more, "true")))
	}
	switch {
	case verb == "hold":
		<-ctx.Done()
		return nil, nil
	case len(rs) > 0:
		var said []string
		for _, r := range rs {
			said = append(said, strings.TrimSpace(r.Text))
		}
		return text(strings.Join(said, "; ")), nil
	case verb == "run":
		return line("a", rest), nil
	case verb == "ask":
		q, err := json.Marshal(rest)
		return call("a", "ask_user", `{"question":`+string(q)+`,"options":["postgres",{"label":"sqlite","why":"one file"}]}`), err
	case verb == "steps":
		return append(append(call("a", "write_file", `{"path":"one","content":"1"}`), line("b", "two")...), line("c", "three")...), nil
	}
	return text("hi"), nil
}

// row reads the row of a question, and the message that stands for it.
func (w *world) row(id int64) (a store.Approval, m inbox.Message) {
	w.T.Helper()
	check(w.T, w.DB.Read(w.T.Context(), func(rx *store.Rx) (err error) {
		if a, _, err = rx.Approval(id); err == nil && a.Message != 0 {
			m, _, err = inbox.Find(&rx.View, a.Message)
		}
		return err
	}))
	return a, m
}

// asks waits until the agent asks, and returns the question.
func (w *world) asks(name string) *event.Question {
	w.T.Helper()
	w.Until(name+" asks", func() bool { i := w.Info(name); return i.State == event.Asking && i.Question != nil })
	return w.Info(name).Question
}

// within is the path of a file that is named from a directory.
func within(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// ran is how often a command that the model asked for was run.
func (w *world) ran(file string) int {
	b, err := os.ReadFile(within(w.Dir, file))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.T.Error(err)
	}
	return strings.Count(string(b), "ran")
}

func (w *world) waiting() int {
	w.T.Helper()
	n, err := inbox.New(w.DB, nil).Count(w.T.Context(), w.Main())
	check(w.T, err)
	return n.Pending + n.Asks
}

// A question is a row and a message before its agent stands as asking, whole; no
// taker gets the message, the first answer wins, and both rows say so.
//
// Spec: R-49, E-17, R-55.
func TestAsks_rowMessageAndFirstAnswer(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	w.Push("job", "run made")
	w.Push("db", "ask Which\ndatabase \x1b[2J\u202ehere?")
	w.Run(0)
	q, d := w.asks("job"), w.asks("db")
	a, m := w.row(q.ID)
	if a.Kind != "approval" || a.Call != "a" || !a.Answered.IsZero() || !strings.Contains(a.Data, "echo ran") || m.ID != q.Message {
		t.Errorf("row %+v of %+v", a, q)
	}
	if m.Recipient != w.Main() || m.Kind != inbox.Approval || m.From != "job" || m.Priority != inbox.High || m.Subject != "bash echo ran | tee -a made > /dev/null; echo begun; true" ||
		!strings.HasPrefix(m.Body, "echo ran | tee -a made > /dev/null; echo begun; true\n\nin ") || !m.Asks() {
		t.Errorf("message %+v", m)
	}
	if _, m := w.row(d.ID); m.Kind != inbox.Question || m.Subject != "Which database [2J here?" || !strings.HasSuffix(m.Body, "\n\n1. postgres\n2. sqlite · one file") {
		t.Errorf("message %+v", m)
	}
	if d.Gist() != "Which database [2J here?" || d.Asks.Options[1].Why != "one file" {
		t.Errorf("question %q, %+v", d.Gist(), d.Asks)
	}
	if w.waiting() != 2 {
		t.Errorf("%d are pending", w.waiting())
	}
	for what, take := range map[string]func() (int, error){
		"check": func() (int, error) {
			ms, left, err := w.Pool.Pickup.Check(t.Context(), w.Main(), inbox.Query{})
			return len(ms) + left, err
		},
		"fire": func() (int, error) { n, left, _ := w.Pool.Pickup.Fire(t.Context(), w.Main(), ""); return n + left, nil },
		"next": func() (int, error) {
			_, ok, _ := w.Pool.Pickup.Next(t.Context(), w.Main(), q.Message)
			return map[bool]int{true: 1}[ok], nil
		},
	} {
		if n, err := take(); n != 0 || err != nil {
			t.Errorf("%s takes %d questions, %v", what, n, err)
		}
	}

	const racers = 8
	var mu sync.Mutex
	var all sync.WaitGroup
	won := map[permission.Choice]int{}
	for n := range racers {
		all.Add(1)
		go func() {
			defer all.Done()
			ans := event.Answer{Choice: permission.Once}
			if n%2 == 0 {
				ans = event.Answer{Choice: permission.No, Reason: "not on Fridays"}
			}
			err := w.Pool.Asks.Answer(t.Context(), q.ID, ans)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won[ans.Choice]++
			} else if !errors.Is(err, event.ErrAnswered) || !strings.HasPrefix(err.Error(), "it was answered already: ") || !strings.HasSuffix(err.Error(), "s ago") {
				t.Errorf("a later answer: %v", err)
			}
		}()
	}
	all.Wait()
	if len(won) != 1 || won[permission.Once]+won[permission.No] != 1 {
		t.Errorf("answers that won: %v", won)
	}
	a, m = w.row(q.ID)
	if a.Answered.IsZero() || m.TakenBy != inbox.ByAnswer || m.Fate() != "answered by you" {
		t.Errorf("row %+v, message %+v", a, m)
	}
	if _, err := w.Pool.Asks.Asked(t.Context(), q.Message); !errors.Is(err, event.ErrAnswered) {
		t.Errorf("asked: %v", err)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), d.ID, event.Answer{Text: "sqlite"}))
	w.Settle()
	if ran := w.ran("made"); ran != won[permission.Once] {
		t.Errorf("it ran %d times, %v", ran, won)
	}
	if got := w.mail()["db"].Body; got != "The user answered: sqlite" {
		t.Errorf("db said %q", got)
	}
}

// A question does not end the wait for a message.
func TestAsks_endNoReceive(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	w.Push("job", "run made")
	w.Run(0)
	got := make(chan inbox.Message, 1)
	go func() {
		m, err := w.Pool.Pickup.Receive(context.Background(), 1, inbox.Query{})
		if err != nil {
			t.Error(err)
		}
		got <- m
	}()
	q := w.asks("job")
	w.State("main", event.Waiting)
	w.Answer(q.ID, permission.No)
	if m := <-got; m.Kind != inbox.Result || m.From != "job" {
		t.Errorf("received %+v", m)
	}
}

// What does not suit a question answers nothing, and says what would.
func TestAsks_wrongAnswers(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	w.Push("job", "run made; true $(x)")
	w.Push("db", "ask Which?")
	w.Run(0)
	q, d := w.asks("job"), w.asks("db")
	for _, c := range []struct {
		id   int64
		ans  event.Answer
		want string
	}{
		{q.ID, event.Answer{Text: "yes"}, "a call waits for yes, session, project or no"},
		{q.ID, event.Answer{Choice: "allow"}, "a call waits for yes, session, project or no"},
		{q.ID, event.Answer{Choice: permission.Session}, "no rule can cover this call for the session"},
		{d.ID, event.Answer{Choice: permission.Once}, "the answer is missing"},
		{999, event.Answer{Choice: permission.Once}, "question 999 does not exist"},
	} {
		refuses(t, w.Pool.Asks.Answer(t.Context(), c.id, c.ans), c.want)
	}
	if _, err := w.Pool.Asks.Asked(t.Context(), 999); err == nil || !strings.Contains(err.Error(), "#999 is no question") {
		t.Errorf("asked: %v", err)
	}
	w.State("job", event.Asking)
	w.State("db", event.Asking)
}

// Questions of agents that end are settled with their messages.
//
// Spec: R-49, E-17.
func TestAsks_settled(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world)
		want string
	}{
		"killed":  {func(w *world) { check(w.T, w.Pool.Kill(w.T.Context(), "job", false)) }, "the turn ended"},
		"stopped": {func(w *world) { w.Pool.Stop(w.Info("job").ID) }, "the turn ended"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
			w.Push("job", "run made")
			w.Run(0)
			q := w.asks("job")
			c.end(w)
			w.Settle()
			_, m := w.row(q.ID)
			if m.TakenBy != inbox.BySettle || m.Fate() != "settled without your answer" || w.waiting() != 1 {
				t.Errorf("message %+v, %d pending", m, w.waiting())
			}
			err := w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Choice: permission.Once})
			refuses(t, err, "it is not open any more: "+c.want+", 0s ago")
			w.Until("nothing asks", func() bool { return w.Tally.Asking == 0 })
			if ran := w.ran("made"); ran != 0 {
				t.Errorf("it ran %d times", ran)
			}
		})
	}
}

// Where nobody can answer, an agent is told so.
func TestAsks_nobodyThere(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{})
	c := w.Unattended(t.Context(), agents.Unattended{})
	check(t, c.Prompt(t.Context(), "ask Which?"))
	w.Settle()
	es := w.Entries(c.Info.Name)
	if r := es[len(es)-2]; r.Text != "nobody can answer here: decide yourself and say what you chose" {
		t.Errorf("answer %q", r.Text)
	}
}

// A turn that only awaits an answer goes on after an orderly end: of a sub-agent,
// of a helper and of main. What was done is not done again, what was asked is
// asked once, and the rest of the reply follows.
//
// Spec: R-49, E-17, N-19.
func TestAsks_goOnAfterTheProgramEnded(t *testing.T) {
	t.Parallel()
	s := setting{Dir: t.TempDir(), Mode: permission.AcceptEdits, Cap: 1}
	w := open(t, &model{Reply: asking}, s)
	w.Push("job", "steps")
	w.Push("db", "ask Which?")
	w.Run(0)
	h, err := w.Pool.NewHelper(t.Context(), "aide", "")
	check(t, err)
	check(t, w.Pool.Prompt(t.Context(), h.ID, "run aided"))
	w.Prompt("run mained")
	var ids []int64
	for _, name := range []string{"job", "db", "aide", "main"} {
		ids = append(ids, w.asks(name).ID)
	}
	check(t, os.WriteFile(filepath.Join(w.Dir, "one"), []byte("changed since"), 0o600))
	w.Close()

	m := &model{Reply: asking}
	w = open(t, m, s)
	if n := len(m.Seen()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	for n, name := range []string{"job", "db", "aide", "main"} {
		if q := w.asks(name); q.ID != ids[n] {
			t.Errorf("%s asks %d anew, it was %d", name, q.ID, ids[n])
		}
	}
	w.Until("the tally is told", func() bool { return w.Tally.Asking == 4 })
	if w.waiting() != 2 || w.listed() != "job running, db running" {
		t.Errorf("%d pending, queue %s", w.waiting(), w.listed())
	}
	w.Answer(ids[0], permission.Once)
	w.Until("job asks the next", func() bool { q := w.Info("job").Question; return q != nil && q.ID != ids[0] })
	w.Answer(w.Info("job").Question.ID, permission.No, "enough")
	check(t, w.Pool.Asks.Answer(t.Context(), ids[1], event.Answer{Text: "none of them"}))
	w.Answer(ids[2], permission.Once)
	w.Answer(ids[3], permission.Once)
	w.Settle()
	if w.ran("two") != 1 || w.ran("three") != 0 || w.ran("aided") != 1 || w.ran("mained") != 1 {
		t.Errorf("two ran %d times, three %d, aided %d, mained %d", w.ran("two"), w.ran("three"), w.ran("aided"), w.ran("mained"))
	}
	if b, _ := os.ReadFile(filepath.Join(w.Dir, "one")); string(b) != "changed since" {
		t.Errorf("the first call was made again: %s", b)
	}
	if mail := w.mail(); !strings.HasSuffix(mail["job"].Body, "The user said no: enough") || mail["db"].Body != "The user answered: none of them" {
		t.Errorf("mail %+v", mail)
	}
	if got := kinds(w.Entries("job")); strings.Count(got, "prompt") != 1 || strings.Count(got, "ended") != 1 || strings.Count(got, "result") != 3 {
		t.Errorf("transcript %s", got)
	}
	for _, r := range m.Seen() {
		check(t, valid(r.Messages))
	}
}

// The human sees what was asked, and that alone runs: where the same call would do
// something else now it is asked anew, whatever was answered.
//
// Spec: R-49, E-17.
func TestAsks_judgedAnew(t *testing.T) {
	edit := func(_ context.Context, req *llm.Request) ([]llm.Part, error) {
		if rs := results(req); len(rs) > 0 {
			return text("done"), nil
		}
		return call("a", "write_file", `{"path":"new","content":"mine"}`), nil
	}
	for _, early := range []bool{false, true} {
		t.Run(fmt.Sprint("answered before ", early), func(t *testing.T) {
			s := setting{Dir: t.TempDir(), Mode: permission.Ask}
			w := open(t, &model{Reply: edit}, s)
			w.Push("job", "x")
			w.Run(0)
			old := w.asks("job").ID
			w.Close()
			if early {
				w.forge("yes")
			}
			check(t, os.WriteFile(filepath.Join(s.Dir, "new"), []byte("theirs"), 0o600))
			w = open(t, &model{Reply: edit}, s)
			w.Until("it asks anew", func() bool {
				q := w.Info("job").Question
				return q != nil && q.ID != old || w.Info("job").State == event.Done // the tool refuses to overwrite what was not read
			})
			if b, _ := os.ReadFile(filepath.Join(s.Dir, "new")); string(b) != "theirs" {
				t.Errorf("the file holds %q", b)
			}
			if a, m := w.row(old); a.Answered.IsZero() || m.Taken.IsZero() {
				t.Errorf("the old question is open: %+v", a)
			}
		})
	}
}

// A question stays open over every change of the mode: by a key, by name, and by a start in another one. The human's
// answer to it counts in each, and in none is it given for them.
//
// Spec: R-49, E-17.
func TestAsks_modeChanged(t *testing.T) {
	ways := map[string]func(w *world, s *setting, m permission.Mode) *world{
		"by name": func(w *world, _ *setting, m permission.Mode) *world {
			check(w.T, w.Pool.SetMode(w.T.Context(), m))
			return w
		},
		"by a key": func(w *world, _ *setting, m permission.Mode) *world {
			check(w.T, w.Pool.StepMode(w.T.Context(), m))
			w.Until("it holds", func() bool { return w.Tally.Mode == m && w.Tally.Coming == "" })
			return w
		},
		"by a start": func(w *world, s *setting, m permission.Mode) *world {
			w.Close()
			s.Mode = m
			return open(w.T, &model{Reply: asking}, *s)
		},
	}
	for way, change := range ways {
		for _, m := range []permission.Mode{permission.Plan, permission.AcceptEdits, permission.Yolo} {
			for _, does := range []string{"run made", "ask Which?"} {
				t.Run(fmt.Sprint(way, " ", m, " ", does), func(t *testing.T) {
					t.Parallel()
					s := setting{Dir: t.TempDir(), Mode: permission.Ask, Cap: 1}
					w := open(t, &model{Reply: asking}, s)
					w.Push("job", does)
					w.Run(0)
					id := w.asks("job").ID
					w = change(w, &s, m)
					check(t, w.Pool.Asks.Review(t.Context())) // as when a rule comes
					w.Until("it asks", func() bool { q := w.Info("job").Question; return q != nil && q.ID == id })
					if a, _ := w.row(id); w.ran("made") != 0 || !a.Answered.IsZero() {
						t.Fatalf("it ran %d times; answered %q", w.ran("made"), a.Answer)
					}
					if does == "run made" {
						w.Answer(id, permission.Once)
						w.State("job", event.Done)
						if w.ran("made") != 1 {
							t.Errorf("after a yes it ran %d times", w.ran("made"))
						}
					}
				})
			}
		}
	}
}

// An answer that was written into the row while no host ran is not obeyed: the question is asked again, and the human's
// own answer counts.
//
// Spec: X-4.
func TestAsks_answeredWhileNobodyRan(t *testing.T) {
	s := setting{Dir: t.TempDir(), Mode: permission.Ask, Cap: 1}
	w := open(t, &model{Reply: asking}, s)
	w.Push("job", "run made")
	w.Run(0)
	id := w.asks("job").ID
	w.Close()
	w.forge("yes")
	w = open(t, &model{Reply: asking}, s)
	w.Until("it asks again", func() bool { q := w.Info("job").Question; return q != nil && q.ID == id })
	if a, m := w.row(id); !a.Answered.IsZero() || !m.Taken.IsZero() || w.waiting() != 1 {
		t.Errorf("the question %+v, its message %+v", a, m)
	}
	if w.ran("made") != 0 {
		t.Error("it ran without the human's word")
	}
	if !w.Answer(id, permission.Once) {
		t.Error("it can't be answered")
	}
	w.State("job", event.Done)
	if w.ran("made") != 1 {
		t.Errorf("it ran %d times", w.ran("made"))
	}
}

// asksThenDies is a life that ends by kill -9: at a question, or behind its answer
// while the agent waits for a slot, or while what was answered runs.
func asksThenDies(t *testing.T, dir, when string) {
	w := open(t, &model{Reply: asking}, setting{Dir: dir, Mode: permission.Ask, Cap: 1})
	file := "made"
	if when == "it runs" {
		file = "made; sleep 600"
	}
	w.Push("job", "run "+file)
	w.Run(0)
	q := w.asks("job")
	w.Prompt("run mained")
	w.asks("main")
	switch when {
	case "it waits for a slot":
		w.Push("other", "hold")
		w.Run(0)
		w.Until("the slot is taken", func() bool { return w.Info("other").Doing == "streaming" })
		w.Answer(q.ID, permission.Once)
		w.why("job", "waiting for a slot")
	case "it runs":
		w.Answer(q.ID, permission.Once)
		w.Output("job", "begun")
	}
	fmt.Println("READY")
	<-make(chan struct{})
}

// Spec: R-49, E-17, N-19, Q-45.
func TestAsks_killed(t *testing.T) {
	for _, when := range []string{"it asks", "it waits for a slot", "it runs"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if !agentstest.Lived(t, "asks", dir, when, func(line string) bool { return line == "READY" }) {
				t.Fatal("the first life ended by itself")
			}
			w := open(t, &model{Reply: asking}, setting{Dir: dir, Mode: permission.Ask, Cap: 1})
			main := w.asks("main")
			switch when {
			case "it asks", "it waits for a slot": // what was answered and not acted upon is asked again
				w.Answer(w.asks("job").ID, permission.Once)
				w.State("job", event.Done)
			case "it runs":
				w.State("job", event.Crashed)
			}
			if n := w.ran("made"); n != 1 {
				t.Errorf("it ran %d times", n)
			}
			if m := w.mail()["job"]; (m.Outcome == "completed") != (when != "it runs") {
				t.Errorf("message %+v", m)
			}
			w.Answer(main.ID, permission.Once)
			w.Settle()
			if n := w.ran("mained"); n != 1 {
				t.Errorf("main's ran %d times", n)
			}
		})
	}
}

// Work asked for outside asks too, and says where it comes from.
//
// Spec.
func TestAsks_fromOutside(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{})
	if e := w.outside("push", "job", "ask Which?"); e != "" {
		t.Fatal(e)
	}
	w.Consent(0)
	q := w.asks("job")
	if _, m := w.row(q.ID); !q.Outside || len(m.Tags) != 1 || m.Tags[0] != "outside" {
		t.Errorf("question %+v, message %+v", q, m)
	}
}

// The open questions of a helper's agents pass to main with the rest when it is
// closed.
func TestAsks_passToTheHeir(t *testing.T) {
	w := open(t, &model{Reply: asking}, setting{Mode: permission.Ask})
	h, err := w.Pool.NewHelper(t.Context(), "aide", "")
	check(t, err)
	_, err = w.Pool.Tasks.Push(t.Context(), h.ID, tools.Task{Name: "job", Prompt: "ask Which?", Start: true})
	check(t, err)
	q := w.asks("job")
	if _, m := w.row(q.ID); m.Recipient != h.ID {
		t.Errorf("message %+v", m)
	}
	check(t, w.Pool.CloseHelper(t.Context(), "aide", true))
	if _, m := w.row(q.ID); m.Recipient != w.Main() || !m.Taken.IsZero() {
		t.Errorf("message %+v", m)
	}
	check(t, w.Pool.Asks.Answer(t.Context(), q.ID, event.Answer{Text: "sqlite"}))
	w.Settle()
	if m := w.mail()["job"]; m.Body != "The user answered: sqlite" {
		t.Errorf("message %+v", m)
	}
}

// A turn goes on only where nothing can have been done that its transcript does
// not show.
//
// Spec: N-19, R-49.
func TestAsks_parked(t *testing.T) {
	called := func(ids ...string) (es []history.Entry) {
		for _, id := range ids {
			es = append(es, history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: id}})
		}
		return es
	}
	result := func(id string) history.Entry {
		return history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: id}}
	}
	begun := func(k history.EntryKind, id string) history.Entry {
		return history.Entry{Kind: k, Call: &history.Call{ID: id}}
	}
	row := func(call string, beside bool) store.Approval {
		return store.Approval{Call: call, Data: fmt.Sprintf(`{"beside":%v}`, beside)}
	}
	acted := row("a", false)
	acted.Acted = time.Unix(1, 0)
	for name, c := range map[string]struct {
		es   []history.Entry
		rows []store.Approval
		want bool
	}{
		"it asks":                    {called("a"), []store.Approval{row("a", false)}, true},
		"calls before it have ended": {append(called("x", "a", "b"), result("x")), []store.Approval{row("a", false)}, true},
		"asked twice":                {called("a"), []store.Approval{acted, row("a", false)}, true},
		"no call is open":            {append(called("a"), result("a")), []store.Approval{row("a", false)}, false},
		"a call before it is open":   {called("x", "a"), []store.Approval{row("a", false)}, false},
		"nothing was asked":          {called("a"), nil, false},
		"the call was let run":       {called("a"), []store.Approval{acted}, false},
		"another ran":                {append(called("a", "b"), begun(history.EntryStarted, "b")), []store.Approval{row("a", false)}, false},
		"another delegated":          {append(called("a", "b"), begun(history.EntryDelegated, "b")), []store.Approval{row("a", false)}, false},
		"another may have run":       {called("a", "b"), []store.Approval{row("a", true)}, false},
		"those beside it have ended": {append(called("b", "a"), result("b")), []store.Approval{row("a", true)}, true},
		"its row can't be read":      {called("a"), []store.Approval{{Call: "a", Data: "?"}}, false},
	} {
		if got := agents.Parked(c.es, c.rows); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
