package tasks_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
)

// rosterRows is a database without agents in memory.
type rosterRows struct {
	t    *testing.T
	db   *store.DB
	ends *tasks.Ends
	said []string // what was reported after a commit
}

func newRows(t *testing.T) *rosterRows {
	t.Helper()
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rosterRows{t: t, db: db}
	r.ends = &tasks.Ends{
		Inbox: inbox.New(db, func(inbox.Change) {}), Seals: tasks.NewSealKey(),
		Unread: func(_ *store.Tx, from, to int64, s event.State) error {
			r.said = append(r.said, fmt.Sprintf("unread %d to %d, %s", from, to, s))
			return nil
		},
		Ended:  func(task int64) { r.said = append(r.said, fmt.Sprintf("ended %d", task)) },
		Passed: func(from, to int64) { r.said = append(r.said, fmt.Sprintf("passed %d to %d", from, to)) },
	}
	return r
}

// write runs f in a transaction, which must succeed.
func (r *rosterRows) write(f func(tx *store.Tx) error) {
	r.t.Helper()
	if err := r.db.Write(r.t.Context(), "test", f); err != nil {
		r.t.Fatal(err)
	}
}

// agent adds an agent; its kind is sub and it runs unless a says otherwise.
func (r *rosterRows) agent(a store.Agent) (id int64) {
	r.t.Helper()
	if a.Kind == "" {
		a.Kind = string(event.Sub)
	}
	if a.State == "" {
		a.State = string(event.Running)
	}
	r.write(func(tx *store.Tx) (err error) {
		if event.State(a.State).Terminal() {
			a.Ended = tx.Now()
		}
		id, err = tx.AddAgent(a)
		return err
	})
	return id
}

// task queues a task that waits for others.
func (r *rosterRows) task(t store.Task, needs ...int64) (id int64) {
	r.t.Helper()
	if t.Deliver == "" {
		t.Deliver = string(inbox.Hold)
	}
	r.write(func(tx *store.Tx) (err error) {
		id, err = tx.AddTask(t, needs...)
		return err
	})
	return id
}

// of returns the task with that id.
func (r *rosterRows) of(task int64) (t store.Task) {
	r.t.Helper()
	r.write(func(tx *store.Tx) (err error) {
		t, _, err = tx.Task(task)
		return err
	})
	return t
}

// mail returns the pending messages of an agent: `kind from: subject, error`.
func (r *rosterRows) mail(agent int64) (ms []string) {
	r.t.Helper()
	all, err := r.ends.Inbox.List(r.t.Context(), inbox.Query{Recipient: agent})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range all {
		ms = append(ms, fmt.Sprintf("%s %s: %s, %s", m.Kind, m.From, m.Body, m.Error))
	}
	slices.Sort(ms)
	return ms
}

func (r *rosterRows) told(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.said, want) {
		r.t.Errorf("told %q, want %q", r.said, want)
	}
	r.said = nil
}

// refusedName reports whether err says want; "": it is nil.
func refusedName(err error, want string) bool {
	return want == "" && err == nil || want != "" && err != nil && strings.Contains(err.Error(), want)
}

// TestMeant: a whole name means its agent, alive or not; a beginning means the only living one or, if there is none,
// the only one that has ended.
func TestMeant(t *testing.T) {
	all := []tasks.Called{
		{Id: 1, Name: "main", State: event.Idle},
		{Id: 2, Name: "finch", State: event.Running},
		{Id: 3, Name: "finch2", State: event.Asking},
		{Id: 4, Name: "fin", State: event.Done},
		{Id: 5, Name: "kea", State: event.Failed},
		{Id: 6, Name: "kea·1", State: event.Killed},
		{Id: 7, Name: "kiwi", State: event.Crashed},
		{Id: 8, Name: "mainly", State: event.Done},
	}
	for word, c := range map[string]struct {
		id  int64
		err string
	}{
		"main": {1, ""}, "mai": {1, ""}, "finch": {2, ""}, "finch2": {3, ""}, "fin": {4, ""}, "kea": {5, ""}, "ki": {7, ""}, "mainl": {8, ""},
		"f":    {0, "several names: finch, finch2"},
		"k":    {0, "several names: kea, kea·1, kiwi"},
		"":     {0, `"": no such agent; agents that read mail: finch, finch2, main`},
		"owl":  {0, `"owl": no such agent; agents that read mail: finch, finch2, main`},
		"Main": {0, "no such agent"},
	} {
		id, err := tasks.Meant(word, all)
		if id != c.id || !refusedName(err, c.err) || errors.Is(err, tasks.ErrNoAgent) != strings.Contains(c.err, "no such") {
			t.Errorf("%q means %d, %v; want %d, %s", word, id, err, c.id, c.err)
		}
	}
}

// TestMeant_anyNames: the agent meant has that name or one that begins so, and no ended agent is meant where a living
// one could be.
func TestMeant_anyNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`[ab]{1,3}`), rapid.ID[string]).Draw(t, "names")
		word := rapid.StringMatching(`[ab]{0,3}`).Draw(t, "word")
		var all []tasks.Called
		whole, alive, ended := int64(-1), []int64{}, []int64{}
		for i, n := range names {
			c := tasks.Called{Id: int64(i), Name: n, State: rapid.SampledFrom([]event.State{event.Idle, event.Done}).Draw(t, "state")}
			all = append(all, c)
			switch {
			case n == word:
				whole = c.Id
			case word != "" && strings.HasPrefix(n, word) && c.State == event.Done:
				ended = append(ended, c.Id)
			case word != "" && strings.HasPrefix(n, word):
				alive = append(alive, c.Id)
			}
		}
		want := int64(-1)
		switch {
		case whole >= 0:
			want = whole
		case len(alive) == 1:
			want = alive[0]
		case len(alive) == 0 && len(ended) == 1:
			want = ended[0]
		}
		id, err := tasks.Meant(word, all)
		if err != nil {
			id = -1
		}
		if id != want {
			t.Fatalf("%q of %v means %d, %v; want %d", word, all, id, err, want)
		}
	})
}

// TestSenderMeant: a word that has been a name means just that; only another word may be the beginning of an open
// agent's name.
func TestSenderMeant(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	r.agent(store.Agent{Name: "finch"})
	r.agent(store.Agent{Name: "owlet"})
	r.agent(store.Agent{Name: "owlets"})
	closed := r.agent(store.Agent{Name: "fin", State: string(event.Done)})
	r.task(store.Task{Queue: main, Name: "finc", Prompt: "x"})
	r.write(func(tx *store.Tx) error {
		_, err := r.ends.Inbox.Add(tx, inbox.Message{Recipient: main, From: "fi", Kind: inbox.Mail, Deliver: inbox.Hold, Body: "x"})
		return errors.Join(err, tx.CloseAgent(closed))
	})
	for word, c := range map[string]struct{ want, err string }{
		"finch": {"finch", ""}, "fin": {"fin", ""}, "finc": {"finc", ""}, "fi": {"fi", ""}, "f": {"finch", ""}, "m": {"main", ""},
		"nobody": {"nobody", ""}, "owl": {"", `from="owl": that is the beginning of several names: owlet, owlets`},
	} {
		r.write(func(tx *store.Tx) error {
			if got, err := tasks.SenderMeant(&tx.View, main, word); got != c.want || !refusedName(err, c.err) {
				t.Errorf("%q means %q, %v; want %q %s", word, got, err, c.want, c.err)
			}
			return nil
		})
	}
}

// TestAddressee: mail goes to an agent that reads it; the error for any other says what to do.
func TestAddressee(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	r.agent(store.Agent{Name: "runs"})
	r.agent(store.Agent{Name: "ended", State: string(event.Failed)})
	closed := []int64{r.agent(store.Agent{Name: "gone", State: string(event.Done)}), r.agent(store.Agent{Name: "hand", Kind: string(event.Helper), State: string(event.Done)})}
	r.write(func(tx *store.Tx) error { return errors.Join(tx.CloseAgent(closed[0]), tx.CloseAgent(closed[1])) })
	r.task(store.Task{Queue: main, Name: "later", Prompt: "x"})
	for word, want := range map[string]string{
		"main": "", "ru": "",
		"ended": "the agent ended has ended (failed) and reads no mail; its transcript is in its tab, and /resume ended PROMPT",
		"gone":  "the agent gone has ended (done) and its tab is closed; /resume gone opens it again",
		"hand":  "the helper hand was closed; /resume hand opens it again",
		"later": `"later": that task is queued and has not started, so nobody reads its mail; /run starts it`,
		"owl":   `"owl": no such agent; agents that read mail: main, runs`,
	} {
		r.write(func(tx *store.Tx) error {
			if a, err := tasks.Addressee(&tx.View, word); !refusedName(err, want) || err == nil && !strings.HasPrefix(a.Name, word) {
				t.Errorf("%q is %q, %v; want %s", word, a.Name, err, want)
			}
			return nil
		})
	}
}

// TestNameFor: a new name differs from that of every agent that can be named. An agent that ended under it keeps its
// tab and mail under another.
func TestNameFor(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	r.agent(store.Agent{Name: "alive"})
	r.task(store.Task{Queue: main, Name: "later", Prompt: "x"})
	name := func(want string) (got string, err error) {
		err = r.db.Write(t.Context(), "name", func(tx *store.Tx) error {
			got, err = tasks.NameFor(tx, want, func(agent int64, name string) { r.said = append(r.said, fmt.Sprintf("%d is %s", agent, name)) })
			return err
		})
		return got, err
	}
	for _, c := range []struct{ want, err string }{
		{"a-b.c_9", ""},
		{strings.Repeat("a", 40), ""},
		{strings.Repeat("a", 41), "does not do"},
		{"9a", "does not do"},
		{"a b", "does not do"},
		{"kéa", "does not do"},
		{"a·1", "does not do"},
		{"Main", `the name "Main" is reserved`},
		{"outside-mcp", "reserved"},
		{"USER", "reserved"},
		{"alive", "the agent alive is there already; /send alive TEXT (tool send) reaches it"},
		{"later", `a task "later" is queued or runs already; /send later TEXT (tool send) reaches it once it runs, /kill later removes it`},
	} {
		if got, err := name(c.want); !refusedName(err, c.err) || err == nil && got != c.want {
			t.Errorf("%q: %q, %v; want %s", c.want, got, err, c.err)
		}
	}
	r.told()
	for n := range 3 {
		id := r.agent(store.Agent{Name: "kid", State: string(event.Done)})
		if got, err := name("kid"); got != "kid" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		r.told(fmt.Sprintf("%d is kid·%d", id, n+1))
	}
	failed := errors.New("failed")
	r.agent(store.Agent{Name: "kid", State: string(event.Done)})
	if err := r.db.Write(t.Context(), "name", func(tx *store.Tx) error {
		_, err := tasks.NameFor(tx, "kid", func(int64, string) { t.Error("told of what was not committed") })
		return errors.Join(err, failed)
	}); !errors.Is(err, failed) {
		t.Error(err)
	}
}

// TestNameFor_birds: without a wish each gets a name of its own, beyond the number of birds.
func TestNameFor_birds(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	seen := map[string]bool{}
	r.write(func(tx *store.Tx) error {
		for n := range 90 {
			name, err := tasks.NameFor(tx, "", nil)
			if err != nil || seen[name] || !tasks.NameForm.MatchString(name) {
				t.Fatalf("the name %d is %q, %v", n, name, err)
			}
			seen[name] = true
			if n%2 == 0 {
				_, err = tx.AddTask(store.Task{Queue: main, Name: name, Prompt: "x", Deliver: string(inbox.Hold)})
			} else {
				_, err = tx.AddAgent(store.Agent{Name: name, Kind: string(event.Sub), State: string(event.Running)})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if !seen["wren"] || !seen["wren2"] || !seen["wren3"] {
		t.Errorf("names: %v", seen)
	}
}

// TestForkName: no number is used twice, even if the tab is closed.
func TestForkName(t *testing.T) {
	r := newRows(t)
	for n := range 5 {
		want := fmt.Sprintf("main-fork-%d", n+1)
		r.write(func(tx *store.Tx) error {
			if got, err := tasks.ForkName(&tx.View, "main"); got != want || err != nil {
				t.Errorf("the next fork is %s, %v; want %s", got, err, want)
			}
			return nil
		})
		id := r.agent(store.Agent{Name: want, Kind: string(event.Fork), State: string(event.Done)})
		r.write(func(tx *store.Tx) error { return tx.CloseAgent(id) })
	}
}

// TestFirstFree: the first free number is found, whichever it is.
func TestFirstFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		taken, asked := rapid.IntRange(0, 1<<20).Draw(t, "taken"), 0
		n, err := tasks.FirstFree(func(n int) (bool, error) {
			asked++
			return n <= taken, nil
		})
		if n != taken+1 || err != nil || asked > 45 {
			t.Fatalf("%d, %v, asked %d times", n, err, asked)
		}
	})
}

// TestAbove_heirs: an heir is alive, the agent that the human talks to has a prompt box, and the mail of an ended fork
// goes to the agent it was a fork of.
func TestAbove_heirs(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	dead := r.agent(store.Agent{Name: "dead", Parent: main, State: string(event.Done)})
	sub := r.agent(store.Agent{Name: "sub", Parent: dead})
	fork := r.agent(store.Agent{Name: "sub-fork-1", Kind: string(event.Fork), Parent: sub})
	past := r.agent(store.Agent{Name: "dead-fork-1", Kind: string(event.Fork), Parent: dead, State: string(event.Done)})
	for _, c := range []struct{ id, heir, above, reader int64 }{
		{main, main, main, main}, {dead, main, main, dead}, {sub, sub, main, sub}, {fork, fork, main, fork}, {past, main, main, dead},
	} {
		r.write(func(tx *store.Tx) error {
			heir, err := tasks.Heir(tx, c.id)
			above, err2 := tasks.Above(tx, c.id)
			reader, err3 := tasks.Reader(&tx.View, c.id)
			if heir != c.heir || above != c.above || reader.ID != c.reader || errors.Join(err, err2, err3) != nil {
				t.Errorf("of %d: heir %d, above %d, reader %d; %v", c.id, heir, above, reader.ID, errors.Join(err, err2, err3))
			}
			return nil
		})
	}
	for _, look := range []func(tx *store.Tx) error{
		func(tx *store.Tx) error { _, err := tasks.Heir(tx, 99); return err },
		func(tx *store.Tx) error { _, err := tasks.Above(tx, 99); return err },
		func(tx *store.Tx) error { _, err := tasks.Reader(&tx.View, 99); return err },
	} {
		r.write(func(tx *store.Tx) error {
			if err := look(tx); !refusedName(err, "agent 99") {
				t.Errorf("of nobody: %v", err)
			}
			return nil
		})
	}
}

// TestFinish: a task ends once, with one message; after anything but a success those that
// wait for it end too, each with its own.
func TestFinish(t *testing.T) {
	for _, c := range []struct {
		outcome history.Outcome
		mail    []string
		ended   string // of the tasks, by name
	}{
		{history.Completed, []string{"result a: said, "}, "a"},
		{history.OutFailed, []string{"failure a: , no disk", "failure b: , not started: a failed: no disk", "failure c: , not started: b failed: not started: a failed: no disk"}, "a b c"},
		{history.Interrupted, []string{"failure b: , not started: a interrupted: no disk", "failure c: , not started: b failed: not started: a interrupted: no disk", "result a: said, no disk"}, "a b c"},
	} {
		r := newRows(t)
		main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
		a := r.task(store.Task{Queue: main, Name: "a", Prompt: "x"})
		b := r.task(store.Task{Queue: main, Name: "b", Prompt: "x"}, a)
		last := r.task(store.Task{Queue: main, Name: "c", Prompt: "x"}, b)
		for _, first := range []bool{true, false} {
			r.write(func(tx *store.Tx) error {
				task, _, err := tx.Task(a)
				if ended, err2 := r.ends.Finish(tx, task, tasks.End{Outcome: c.outcome, Cause: "no disk", Text: "said"}); ended != first || err2 != nil {
					t.Errorf("%s: ended %t, %v", c.outcome, ended, err2)
				}
				return err
			})
		}
		if got := r.mail(main); !slices.Equal(got, c.mail) {
			t.Errorf("%s: %q\nwant %q", c.outcome, got, c.mail)
		}
		var ended []string
		var told []string
		for _, id := range []int64{a, b, last} {
			if task := r.of(id); task.State == tasks.TaskFinished {
				ended, told = append(ended, task.Name), append(told, fmt.Sprintf("ended %d", id))
			}
		}
		slices.Sort(r.said)
		r.told(told...)
		if got := strings.Join(ended, " "); got != c.ended {
			t.Errorf("%s: %s ended", c.outcome, got)
		}
	}
}

// TestRemove_rows: a task that is removed before it starts leaves no message, except to those that wait for it; a
// started one stays.
func TestRemove_rows(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	runs, a := r.task(store.Task{Queue: main, Name: "runs", Prompt: "x"}), r.task(store.Task{Queue: main, Name: "a", Prompt: "x"})
	b := r.task(store.Task{Queue: main, Name: "b", Prompt: "x"}, a)
	r.write(func(tx *store.Tx) error {
		_, err := tx.StartTask(runs, main)
		return err
	})
	for _, c := range []struct {
		task int64
		want bool
	}{{runs, false}, {a, true}, {a, false}} {
		task := r.of(c.task)
		r.write(func(tx *store.Tx) error {
			if removed, err := r.ends.Remove(tx, task); removed != c.want || err != nil {
				t.Errorf("%s: removed %t, %v", task.Name, removed, err)
			}
			return nil
		})
	}
	r.told(fmt.Sprintf("ended %d", a), fmt.Sprintf("ended %d", b))
	if got, want := r.mail(main), []string{"failure b: , not started: a removed"}; !slices.Equal(got, want) || r.of(runs).State != tasks.TaskRunning {
		t.Errorf("%q, want %q; the other %s", got, want, r.of(runs).State)
	}
}

// TestDrop: an agent that ends together with all below it takes its queued tasks with it, and no others.
func TestDrop(t *testing.T) {
	r := newRows(t)
	boss, other := r.agent(store.Agent{Name: "boss"}), r.agent(store.Agent{Name: "other"})
	runs, waits := r.task(store.Task{Queue: boss, Name: "runs", Prompt: "x"}), r.task(store.Task{Queue: boss, Name: "waits", Prompt: "x"})
	others := r.task(store.Task{Queue: other, Name: "others", Prompt: "x"})
	r.write(func(tx *store.Tx) error {
		_, err := tx.StartTask(runs, other)
		return errors.Join(err, r.ends.Drop(tx, boss))
	})
	for id, want := range map[int64]string{runs: tasks.TaskRunning, waits: tasks.TaskRemoved, others: tasks.TaskQueued} {
		if got := r.of(id); got.State != want {
			t.Errorf("%s is %s", got.Name, got.State)
		}
	}
	r.told(fmt.Sprintf("ended %d", waits))
}

// TestTrust_pass: what an ending agent leaves goes to the nearest living one above: open tasks, agents below it,
// results. Mail stays its own, but a fork's is for its parent.
func TestTrust_pass(t *testing.T) {
	for _, c := range []struct {
		kind event.Kind
		mail []string
	}{
		{event.Sub, []string{"result x: done, "}},
		{event.Fork, []string{"mail ci: hello, ", "result x: done, "}},
	} {
		r := newRows(t)
		main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
		lead := r.agent(store.Agent{Name: "lead", Parent: main, State: string(event.Done)})
		boss := r.agent(store.Agent{Name: "boss", Kind: string(c.kind), Parent: lead, State: string(event.Killed)})
		kid, past := r.agent(store.Agent{Name: "kid", Parent: boss}), r.agent(store.Agent{Name: "past", Parent: boss, State: string(event.Done)})
		open, over := r.task(store.Task{Queue: boss, Name: "open", Prompt: "x"}), r.task(store.Task{Queue: boss, Name: "over", Prompt: "x"})
		r.write(func(tx *store.Tx) error {
			_, err := tx.FinishTask(over, string(history.Completed), "")
			_, err2 := r.ends.Inbox.Add(tx, inbox.Message{Recipient: boss, From: "x", Kind: inbox.Result, Deliver: inbox.Hold, Body: "done"})
			_, err3 := r.ends.Inbox.Add(tx, inbox.Message{Recipient: boss, From: "ci", Kind: inbox.Mail, Deliver: inbox.Hold, Body: "hello"})
			return errors.Join(err, err2, err3, r.ends.Pass(tx, boss, event.Killed))
		})
		r.told(fmt.Sprintf("unread %d to %d, killed", boss, main), fmt.Sprintf("passed %d to %d", boss, main))
		if r.of(open).Queue != main || r.of(over).Queue != boss {
			t.Errorf("%s: the open task is %d's, the ended one %d's", c.kind, r.of(open).Queue, r.of(over).Queue)
		}
		if got := r.mail(main); !slices.Equal(got, c.mail) {
			t.Errorf("%s: main has %q, want %q", c.kind, got, c.mail)
		}
		r.write(func(tx *store.Tx) error {
			a, _, err := tx.Agent(kid)
			b, _, err2 := tx.Agent(past)
			if a.Parent != main || b.Parent != boss {
				t.Errorf("%s: who lives is below %d, who ended below %d", c.kind, a.Parent, b.Parent)
			}
			return errors.Join(err, err2)
		})
	}
}

// TestTrustOf: the tightest of the task's origin, its queue's owner and the agent it continues decides.
func TestTrustOf(t *testing.T) {
	r := newRows(t)
	free, strict := r.agent(store.Agent{Name: "free"}), r.agent(store.Agent{Name: "strict", Trust: "outside"})
	alone, both := r.agent(store.Agent{Name: "alone", Trust: "unattended"}), r.agent(store.Agent{Name: "both", Trust: "outside unattended"})
	for _, c := range []struct {
		task store.Task
		want string
	}{
		{store.Task{Queue: free}, "attended"},
		{store.Task{Queue: free, Origin: tasks.OriginAgent}, "attended"},
		{store.Task{Queue: free, Resumes: free}, "attended"},
		{store.Task{Queue: strict}, "outside"},
		{store.Task{Queue: free, Resumes: strict}, "outside"},
		{store.Task{Queue: free, Origin: tasks.OriginCLI}, "outside"},
		{store.Task{Queue: free, Origin: tasks.OriginMCP}, "outside"},
		{store.Task{Queue: alone}, "unattended"},
		{store.Task{Queue: alone, Resumes: strict}, "outside unattended"},
		{store.Task{Queue: both}, "outside unattended"},
		{store.Task{Queue: free, Resumes: alone}, "attended"}, // a human continues it
		{store.Task{Queue: free, Resumes: both}, "outside"},
		{store.Task{Queue: r.agent(store.Agent{Name: "new", Trust: "of-a-later-version"})}, "outside"},
	} {
		r.write(func(tx *store.Tx) error {
			if got, err := tasks.TrustOf(&tx.View, c.task); got.String() != c.want || err != nil {
				t.Errorf("%+v: %s, %v", c.task, got, err)
			}
			return nil
		})
	}
	var turn int64
	r.write(func(tx *store.Tx) (err error) {
		turn, err = tx.BeginTurn(store.Turn{Agent: strict, Kind: "agent"})
		return err
	})
	pushed := r.of(r.task(store.Task{Queue: free, Name: "p", Prompt: "x", SpawnedBy: turn}))
	r.write(func(tx *store.Tx) error {
		if got, err := tasks.TrustOf(&tx.View, pushed); got.String() != "outside" || err != nil {
			t.Errorf("what somebody strict pushed: %s, %v", got, err)
		}
		return nil
	})
}

// TestResumable: only a sub-agent that has ended can continue.
func TestResumable(t *testing.T) {
	r := newRows(t)
	main := r.agent(store.Agent{Name: "main", Kind: string(event.Main), State: string(event.Idle)})
	r.agent(store.Agent{Name: "runs"})
	r.agent(store.Agent{Name: "ended", State: string(event.Done)})
	r.agent(store.Agent{Name: "ended-fork-1", Kind: string(event.Fork), State: string(event.Done)})
	helper := r.agent(store.Agent{Name: "hand", Kind: string(event.Helper), State: string(event.Done)})
	r.write(func(tx *store.Tx) error { return tx.CloseAgent(helper) })
	r.task(store.Task{Queue: main, Name: "later", Prompt: "x"})
	for name, want := range map[string]string{
		"ended": "", "runs": "runs still lives (running)", "main": "main does not end, so it can't be resumed; /send main", "later": "later is queued or runs",
		"hand": "/resume hand opens it again", "ended-fork-1": "ended-fork-1 is a fork", "nobody": "there is no agent nobody to resume",
	} {
		r.write(func(tx *store.Tx) error {
			if a, err := tasks.Resumable(tx, name); !refusedName(err, want) || err == nil && a.Name != name {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
			return nil
		})
	}
}
