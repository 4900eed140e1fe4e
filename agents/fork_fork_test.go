package agents

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/mail"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/store"
	"fantail/store/storetest"
)

// site has forks in a workspace with agents of all kinds.
type site struct {
	*testing.T
	*Forks
	ids map[string]int64
}

func newSite(t *testing.T, as ...store.Agent) *site {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &site{T: t, Forks: NewForks(), ids: map[string]int64{}}
	s.Begin(ForkOptions{DB: db, Fleet: fleet.New(context.WithoutCancel(t.Context()), fleet.Options{Now: time.Now})})
	for _, a := range as {
		s.write(func(tx *store.Tx) (err error) {
			s.ids[a.Name], err = tx.AddAgent(a)
			return err
		})
	}
	return s
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.o.DB.Write(s.Context(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// A fork waits for messages for a bounded time, once it has waited that long in vain no more; others wait as long as they ask.
func TestMayWait(t *testing.T) {
	const fork, other = 7, 8
	for _, c := range []struct {
		agent  int64
		waited time.Duration // in vain, before
		asked  time.Duration
		want   time.Duration
		fails  bool
	}{
		{other, 0, 0, 0, false},
		{other, time.Hour, time.Hour, time.Hour, false},
		{fork, 0, 0, forkIdle, false},
		{fork, 0, time.Hour, forkIdle, false},
		{fork, 0, forkIdle + 1, forkIdle, false},
		{fork, 0, forkIdle, forkIdle, false},
		{fork, 0, time.Minute, time.Minute, false},
		{fork, time.Minute, time.Minute, time.Minute, false},
		{fork, forkIdle - 1, 0, forkIdle, false},
		{fork, forkIdle, time.Second, 0, true},
		{fork, time.Hour, 0, 0, true},
	} {
		s := newSite(t)
		s.handles[fork] = &handling{}
		s.WaitedFor(c.agent, c.waited)
		if got, err := s.MayWait(c.agent, c.asked); got != c.want || (err != nil) != c.fails {
			t.Errorf("%d asks for %v after %v: %v, %v", c.agent, c.asked, c.waited, got, err)
		}
	}
}

// A message concerns its recipient, and the fork that handles it as long as that lives.
func TestConcerns(t *testing.T) {
	s := newSite(t)
	s.handles[7] = &handling{message: inbox.Message{ID: 3}}
	for _, c := range []struct {
		agent, recipient, message int64
		want                      bool
	}{{1, 1, 3, true}, {1, 2, 3, false}, {7, 7, 9, true}, {7, 1, 3, true}, {7, 1, 4, false}, {8, 1, 3, false}} {
		if got := s.Concerns(c.agent, c.recipient, c.message); got != c.want {
			t.Errorf("message %d to %d concerns %d: %v", c.message, c.recipient, c.agent, got)
		}
	}
	s.Ended(event.Info{ID: 7})
	if s.Concerns(7, 1, 3) {
		t.Error("it concerns a fork that has ended")
	}
}

// A fork is told who gets its final message, or that nobody reads it.
func TestFate(t *testing.T) {
	const memory, parent, escalate, nobody = "the memory document notes", "is sent to main", "goes to boss", "Nobody reads your final message"
	for _, c := range []struct {
		o    policy.Outcomes
		want []string
	}{
		{policy.Outcomes{}, []string{nobody}},
		{policy.Outcomes{Memory: "notes"}, []string{memory}},
		{policy.Outcomes{ToParent: "Handled"}, []string{parent}},
		{policy.Outcomes{Escalate: "boss"}, []string{escalate}},
		{policy.Outcomes{Memory: "notes", ToParent: "Handled", Escalate: "boss"}, []string{memory, parent, escalate}},
	} {
		got := (&handling{outcomes: c.o}).fate("main")
		for _, part := range []string{memory, parent, escalate, nobody} {
			if want := strings.Contains(strings.Join(c.want, "|"), part); strings.Contains(got, part) != want {
				t.Errorf("%+v: %s", c.o, got)
			}
		}
	}
}

// A fork is told who wrote the message, and whether anybody there reads an answer.
func TestSender(t *testing.T) {
	s := newSite(
		t, store.Agent{Name: "alive", Kind: "sub", State: "running"}, store.Agent{Name: "old", Kind: "sub", State: "done"},
		store.Agent{Name: "old-fork-1", Kind: "fork", State: "done"}, // whose parent reads it
	)
	for name, want := range map[string]string{
		"": "It came from outside (outside): nobody there reads an answer.", "alive": "alive, who wrote it, is a sub agent (running); reply_to_message 5 answers it.",
		"old": "old, who wrote it, has ended (done) and reads no mail.", "old-fork-1": "old-fork-1, who wrote it, is a fork agent (done); reply_to_message 5 answers it.",
	} {
		m := inbox.Message{ID: 5, Sender: s.ids[name], From: name}
		if name == "" {
			m.From = "outside"
		}
		s.write(func(tx *store.Tx) error {
			if got, err := sender(&tx.View, m); got != want || err != nil {
				t.Errorf("%s: %s %v", name, got, err)
			}
			return nil
		})
	}
}

// The tab of a fork, or of an observer, that is closed is opened to be read, and only so.
func TestReopen(t *testing.T) {
	for _, c := range []struct {
		name, prompt string
		found        bool
		wrong        string
	}{
		{"closed", "", true, ""},
		{"watch", "", true, ""},
		{"closed", "go on", true, "closed is a fork"},
		{"watch", "go on", true, "watch is an observer"},
		{"open", "", true, "the tab of open is open"},
		{"sub", "", false, ""},
		{"sub", "go on", false, ""},
		{"who", "", false, ""},
	} {
		s := newSite(
			t, store.Agent{Name: "closed", Kind: "fork", State: "done"}, store.Agent{Name: "open", Kind: "fork", State: "done"},
			store.Agent{Name: "watch", Kind: "headless", State: "done"}, store.Agent{Name: "sub", Kind: "sub", State: "done"},
		)
		for _, name := range []string{"closed", "watch", "sub"} {
			s.write(func(tx *store.Tx) error { return tx.CloseAgent(s.ids[name]) })
		}
		row, found, err := s.Reopen(t.Context(), c.name, c.prompt)
		if found != c.found || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s %s: %v %v", c.name, c.prompt, found, err)
		}
		s.write(func(tx *store.Tx) error {
			a, ok, err := tx.AgentByName(c.name)
			if opens := c.found && c.wrong == ""; ok && a.Closed.IsZero() != (opens || c.name == "open") || opens && (row.ID != a.ID || !row.Closed.IsZero()) {
				t.Errorf("%s %s: closed %v, returned %+v", c.name, c.prompt, a.Closed, row)
			}
			return err
		})
	}
}

// A fork is shown the end of its parent's conversation: what was said, called and came, the newest that fits, nothing that was
// withdrawn or cleared.
func TestSnapshot(t *testing.T) {
	prompt := func(text string) history.Entry {
		return history.Entry{Kind: history.EntryPrompt, By: "user", Text: text}
	}
	says := func(text string) history.Entry { return history.Entry{Kind: history.EntryText, Text: text} }
	long := strings.Repeat("x", history.BytesOf(snapshotTokens)/2)
	var many []history.Entry
	for n := range snapshotEntries + 3 {
		many = append(many, says(fmt.Sprint("n", n)))
	}
	for _, c := range []struct {
		name      string
		kind      event.Kind
		es        []history.Entry
		has, lack []string
	}{
		{"nothing", event.Main, nil, []string{"(nothing was said yet)"}, nil},
		{"a talk", event.Main, []history.Entry{prompt("one"), says("two")}, []string{"[user] one\n[main] two"}, []string{"left out"}},
		{"what else there is", event.Main, []history.Entry{
			{Kind: history.EntryCall, Call: &history.Call{ID: "c", Name: "f", Title: "go test", Args: []byte(`{}`)}},
			{Kind: history.EntryResult, Result: &history.Result{Text: "hidden"}},
			{Kind: history.EntryShell, Shell: &history.Shell{Command: "ls", Output: "hidden"}},
			{Kind: history.EntryThinking, Text: "hidden"},
			{Kind: history.EntryNotice, Text: "hidden"},
			{Kind: history.EntryMessage, By: "next", Text: "hidden", Messages: []inbox.Message{{ID: 4, From: "ci"}}},
		}, []string{"[tool] go test\n[user ran] ls\n[mail] #4 from ci"}, []string{"hidden", "left out"}},
		{"a task", event.Sub, []history.Entry{{Kind: history.EntryPrompt, By: "agent", Text: "lint"}, prompt("hurry")}, []string{"[task] lint\n[user] hurry"}, nil},
		{"a prompt that is no task", event.Main, []history.Entry{{Kind: history.EntryPrompt, By: "agent", Text: "lint"}}, []string{"[user] lint"}, []string{"task"}},
		{"withdrawn", event.Main, []history.Entry{prompt("one"), prompt("two"), {Kind: history.EntryWithdrawn, Withdraws: 2}}, []string{"[user] one"}, []string{"two"}},
		{"cleared", event.Main, []history.Entry{prompt("one"), {Kind: history.EntryCleared}, prompt("two")}, []string{"[user] two"}, []string{"one"}},
		{"what fits", event.Main, []history.Entry{prompt("one"), says(long), says(long), says("end")}, []string{"(what was said before is left out)\n[main] x", "[main] end"}, []string{"one"}},
		{"the newest, in part", event.Main, []history.Entry{prompt("one"), says(long + long + long)}, []string{"(what was said before is left out)\n[main] x"}, []string{"one"}},
		{"so many", event.Main, many, []string{"[main] n402", "[main] n3\n"}, []string{"n2\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, store.Agent{Name: "main", Kind: string(c.kind), State: "idle"})
			s.write(func(tx *store.Tx) error {
				b := history.Writer{Agent: s.ids["main"]}.Batch(tx)
				for _, e := range c.es {
					if _, err := b.Add(0, e); err != nil {
						return err
					}
				}
				return nil
			})
			got, err := s.snapshot(t.Context(), event.Info{ID: s.ids["main"], Name: "main", Kind: c.kind})
			if err != nil || history.Tokens(got) > snapshotTokens+100 {
				t.Fatalf("%d tokens, %v", history.Tokens(got), err)
			}
			for _, text := range c.has {
				if !strings.Contains(got, text) {
					t.Errorf("no %q: %.300s", text, got)
				}
			}
			for _, text := range c.lack {
				if strings.Contains(got, text) {
					t.Errorf("%q: %.300s", text, got)
				}
			}
		})
	}
}

// A fork writes to the sender of its message, to its parent and to the agent that its outcomes name; others write to anybody.
func TestMayWrite(t *testing.T) {
	for _, c := range []struct {
		sender, escalate string
		to               []string
		wrong            string
	}{
		{"ci", "", []string{"ci"}, ""},
		{"ci", "", []string{"main"}, ""},
		{"ci", "", []string{"main", "ci"}, ""},
		{"ci", "", []string{"boss"}, "send to boss: a fork writes only to ci, main; nothing was sent"},
		{"ci", "", []string{"main", "boss"}, "send to boss"},
		{"ci", "boss", []string{"boss"}, ""},
		{"ci", "boss", []string{"main", "boss", "ci"}, ""},
		{"ci", "nobody", []string{"main"}, ""},
		{"ci", "nobody", []string{"other"}, "only to ci, main;"},
		{"", "", []string{"main"}, ""},
		{"", "", []string{"ci"}, "only to main;"},
		{"main", "main", []string{"ci"}, "only to main;"},
	} {
		s := newSite(t)
		for _, name := range []string{"main", "ci", "boss", "other", "fork"} {
			s.write(func(tx *store.Tx) (err error) {
				s.ids[name], err = tx.AddAgent(store.Agent{Name: name, Kind: "sub", State: "running"})
				return err
			})
		}
		s.o.Letters = mail.NewLetters(s.o.DB, nil, time.Now, s.o.Fleet, func(_ context.Context, name string) (event.Info, error) {
			return event.Info{ID: s.ids[name], Name: name}, nil
		}, nil)
		s.handles[s.ids["fork"]] = &handling{message: inbox.Message{Sender: s.ids[c.sender]}, outcomes: policy.Outcomes{Escalate: c.escalate}}
		by := func(name string) *fleet.Agent {
			return s.o.Fleet.NewAgent(event.Info{ID: s.ids[name], Name: name, Parent: s.ids["main"]}, 0)
		}
		err := s.MayWrite(t.Context(), by("fork"), c.to)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("from %q, escalates to %q, writes to %q: %v", c.sender, c.escalate, c.to, err)
		}
		if err := s.MayWrite(t.Context(), by("other"), c.to); err != nil {
			t.Errorf("another agent writes to %q: %v", c.to, err)
		}
	}
}
