package mail

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
)

// site is a Client of a workspace with the agents main and research, which are alive, and old, which has ended.
type site struct {
	*testing.T
	*Client
	rang int
}

func newSite(t *testing.T, names ...string) *site {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &site{T: t}
	s.Client = &Client{DB: db, Origin: tasks.OriginCLI, Model: "test/one", Ring: func() { s.rang++ }}
	for _, name := range names {
		kind, state := "sub", "running"
		switch name {
		case "main":
			kind, state = "main", "idle"
		case "old":
			state = "done"
		}
		s.write(func(tx *store.Tx) error {
			_, err := tx.AddAgent(store.Agent{Name: name, Kind: kind, State: state})
			return err
		})
	}
	return s
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.DB.Write(s.Context(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// id returns an agent's id; 0: there is none.
func (s *site) id(name string) (id int64) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		a, _, err := tx.AgentByName(name)
		id = a.ID
		return err
	})
	return id
}

// all returns the messages of an agent.
func (s *site) all(name string) []inbox.Message {
	s.Helper()
	ms, err := s.Since(s.Context(), name, 0)
	if err != nil {
		s.Fatal(err)
	}
	return ms
}

// TestMail: mail through the Client is marked as from outside and held; each addressee gets it once, or none does, and
// the agents' owner is woken once it is there.
//
// Spec: Q-41.
func TestMail(t *testing.T) {
	for _, c := range []struct {
		name, origin string
		command      *OutsideCommand
		to           []string
		body         string
		sent         string
		from, wrong  string
	}{
		{"one", tasks.OriginCLI, nil, []string{"main"}, "x", "main", tasks.OutsideName, ""},
		{"from a server", tasks.OriginMCP, nil, []string{"main"}, "x", "main", tasks.OutsideMCP, ""},
		{"from an agent's command", tasks.OriginCLI, &OutsideCommand{Agent: "research"}, []string{"main"}, "x", "main", "research", ""},
		{"two", tasks.OriginCLI, nil, []string{"main", "research"}, "x", "main research", tasks.OutsideName, ""},
		{"one twice", tasks.OriginCLI, nil, []string{"research", "main", "research"}, "x", "research main", tasks.OutsideName, ""},
		{"nobody", tasks.OriginCLI, nil, []string{"main", "who"}, "x", "", "", `send to main, who: "who": no such agent`},
		{"one that has ended", tasks.OriginCLI, nil, []string{"main", "old"}, "x", "", "", "has ended (done) and reads no mail"},
		{"nothing", tasks.OriginCLI, nil, []string{"main"}, "", "", "", "the message is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, "main", "research", "old")
			s.Origin, s.Command = c.origin, c.command
			sent, err := s.Mail(t.Context(), OutsideDeposit{To: c.to, Body: c.body, Priority: inbox.Urgent, Tags: []string{"ci"}})
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Fatal(err)
			}
			var to []string
			for _, r := range sent {
				to = append(to, r.To)
			}
			if strings.Join(to, " ") != c.sent || s.rang != min(len(sent), 1) {
				t.Errorf("sent to %q, rang %d times", to, s.rang)
			}
			got := append(s.all("main"), s.all("research")...)
			if len(got) != len(sent) {
				t.Errorf("%d messages of %d", len(got), len(sent))
			}
			for _, m := range got {
				if !m.Outside() || m.From != c.from || m.Sender != 0 || m.Kind != inbox.Mail || m.Deliver != inbox.Hold ||
					m.Priority != inbox.Urgent || strings.Join(m.Tags, " ") != "ci" || m.Body != c.body {
					t.Errorf("%+v", m)
				}
			}
		})
	}
}

// A retry with the same key is the same message.
func TestMail_again(t *testing.T) {
	s := newSite(t, "main")
	ids := map[string]int64{}
	for _, key := range []string{"a", "b", "a", "", ""} {
		sent, err := s.Mail(t.Context(), OutsideDeposit{To: []string{"main"}, Body: "x", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if was, is := ids[key]; is && (was == sent[0].ID) != (key != "") {
			t.Errorf("the key %q: message %d, then %d", key, was, sent[0].ID)
		}
		ids[key] = sent[0].ID
	}
	if n := len(s.all("main")); n != 4 {
		t.Errorf("%d messages", n)
	}
}

// TestPush: a task through the Client waits for the human to start it: in main's queue, as a prompt from outside,
// never a command, and sealed only if the host itself adds it.
//
// Spec.
func TestPush(t *testing.T) {
	for _, c := range []struct {
		name, origin string
		order        OutsideOrder
		seals        *tasks.SealKey
		wrong        string
	}{
		{"a task", tasks.OriginCLI, OutsideOrder{Name: "job", Prompt: " x \n"}, nil, ""},
		{"from a server", tasks.OriginMCP, OutsideOrder{Name: "job", Prompt: "x"}, nil, ""},
		{"sealed", tasks.OriginCLI, OutsideOrder{Name: "job", Prompt: "x"}, tasks.NewSealKey(), ""},
		{"after another", tasks.OriginCLI, OutsideOrder{Name: "job", Prompt: "x", After: []string{"first"}}, nil, ""},
		{"a model", tasks.OriginCLI, OutsideOrder{Name: "job", Prompt: "x", Model: "one"}, nil, ""},
		{"no prompt", tasks.OriginCLI, OutsideOrder{Prompt: " \n"}, nil, "a task needs a prompt"},
		{"a command", tasks.OriginCLI, OutsideOrder{Prompt: "!x"}, nil, "only the human can queue a command"},
		{"a command behind blanks", tasks.OriginCLI, OutsideOrder{Prompt: "\n !x"}, nil, "only the human can queue a command"},
		{"a name that does not do", tasks.OriginCLI, OutsideOrder{Name: "a b", Prompt: "x"}, nil, "does not do"},
		{"a name that is taken", tasks.OriginCLI, OutsideOrder{Name: "first", Prompt: "x"}, nil, "first"},
		{"after no task", tasks.OriginCLI, OutsideOrder{Prompt: "x", After: []string{"who"}}, nil, "who"},
		{"no model", tasks.OriginCLI, OutsideOrder{Prompt: "x", Model: "none"}, nil, "no such model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, "main")
			if _, err := s.Push(t.Context(), OutsideOrder{Name: "first", Prompt: "y"}); err != nil {
				t.Fatal(err)
			}
			s.rang, s.Origin, s.Seals = 0, c.origin, c.seals
			s.Resolve = func(name string) (string, error) {
				if name == "none" {
					return "", errors.New("no such model")
				}
				return "test/" + name, nil
			}
			row, err := s.Push(t.Context(), c.order)
			q, e := s.Queue(t.Context(), "main")
			if e != nil {
				t.Fatal(e)
			}
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || s.rang > 0 || len(q.Tasks) != 1 {
					t.Errorf("%v; rang %d times, %d tasks", err, s.rang, len(q.Tasks))
				}
				return
			}
			if err != nil || s.rang != 1 || len(q.Tasks) != 2 {
				t.Fatalf("%v; rang %d times, %d tasks", err, s.rang, len(q.Tasks))
			}
			got, err := s.Task(t.Context(), row.ID)
			if err != nil || got.Queue != s.id("main") || got.Name != "job" || got.Prompt != "x" || got.Kind != tasks.KindPrompt || got.Origin != c.origin ||
				got.State != tasks.TaskQueued || got.Deliver != string(inbox.Hold) || got.Model != map[string]string{"one": "test/one"}[c.order.Model] ||
				strings.Join(got.After, " ") != strings.Join(c.order.After, " ") {
				t.Errorf("%v %+v", err, got)
			}
			s.write(func(tx *store.Tx) error {
				k := c.seals
				if k == nil {
					k = tasks.NewSealKey()
				}
				sealed, err := tasks.Sealed(&tx.View, k, got)
				if sealed != (c.seals != nil) || (got.Seal == "") != (c.seals == nil) {
					t.Errorf("sealed: %q", got.Seal)
				}
				return err
			})
		})
	}
}

// A task that an agent's command pushes counts as that agent's: it is recorded, and counts to the agent's hourly
// limit.
func TestPush_command(t *testing.T) {
	s := newSite(t, "main", "research")
	s.Command = &OutsideCommand{Agent: "research"}
	s.write(func(tx *store.Tx) error {
		a, _, err := tx.AgentByName("research")
		if err == nil {
			s.Command.Turn, err = tx.BeginTurn(store.Turn{Agent: a.ID, Kind: "prompt"})
		}
		return err
	})
	var err error
	n := 0
	for ; err == nil && n < 200; n++ {
		var row tasks.Task
		if row, err = s.Push(t.Context(), OutsideOrder{Prompt: "x"}); err == nil && row.SpawnedBy != s.Command.Turn {
			t.Fatalf("pushed by %d", row.SpawnedBy)
		}
	}
	if n != 101 || !strings.Contains(err.Error(), "pushed 100 tasks within an hour") {
		t.Errorf("push %d: %v", n, err)
	}
	s.Command = nil
	if _, err := s.Push(t.Context(), OutsideOrder{Prompt: "x"}); err != nil {
		t.Errorf("the human's own: %v", err)
	}
}

// TestCheck: messages taken through the Client enter no conversation: the agent's transcript only says what was taken
// and by whom, once. At most 200 are taken at once.
//
// Spec: Q-42.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name       string
		messages   int
		from       string // only those
		origin     string
		took, left int
		notice     string
	}{
		{"none", 0, "", tasks.OriginCLI, 0, 0, ""},
		{"one", 1, "", tasks.OriginCLI, 1, 0, "1 message taken by outside, not into this conversation: #1 from outside"},
		{"by a server", 1, "", tasks.OriginMCP, 1, 0, "1 message taken by outside-mcp, not into this conversation: #1 from outside"},
		{"many", 12, "", tasks.OriginCLI, 12, 0, "#10 from outside, and 2 more"},
		{"more than one take takes", 201, "", tasks.OriginCLI, 200, 1, "200 messages taken by outside"},
		{"of one sender", 2, "research", tasks.OriginCLI, 1, 0, "1 message taken by outside, not into this conversation: #3 from research"},
		{"of one sender, in short", 2, "rese", tasks.OriginCLI, 1, 0, "#3 from research"},
		{"of nobody", 2, "who", tasks.OriginCLI, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, "main", "research")
			for range c.messages {
				if _, err := s.Mail(t.Context(), OutsideDeposit{To: []string{"main"}, Body: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			if c.from != "" {
				m := inbox.Message{Recipient: s.id("main"), Sender: s.id("research"), Kind: inbox.Mail, Deliver: inbox.Hold, Body: "y"}
				s.write(func(tx *store.Tx) error {
					_, err := inbox.New(s.DB, nil).Add(tx, m)
					return err
				})
			}
			s.Origin, s.rang = c.origin, 0
			before := len(s.entries("main"))
			ms, left, err := s.Check(t.Context(), "main", inbox.Query{From: c.from})
			if c.from == "who" {
				if len(ms) > 0 || len(s.entries("main")) > before {
					t.Errorf("took %d, %v", len(ms), err)
				}
				return
			}
			if err != nil || len(ms) != c.took || left != c.left || s.rang != 1 {
				t.Errorf("took %d, %d left, rang %d times: %v", len(ms), left, s.rang, err)
			}
			es := s.entries("main")[before:]
			if c.notice == "" {
				if len(es) > 0 {
					t.Errorf("%+v", es)
				}
				return
			}
			if len(es) != 1 || es[0].Kind != history.EntryNotice || es[0].By != c.origin || !strings.Contains(es[0].Text, c.notice) {
				t.Fatalf("%+v", es)
			}
			m, of, _, err := s.Message(t.Context(), ms[0].ID)
			if err != nil || of != "main" || m.TakenBy != c.origin || m.Entry != es[0].Seq {
				t.Errorf("%+v of %s, %v", m, of, err)
			}
		})
	}
}

// entries returns an agent's transcript.
func (s *site) entries(name string) []history.Entry {
	s.Helper()
	_, es, err := s.Transcript(s.Context(), name, 0, 1000)
	if err != nil {
		s.Fatal(err)
	}
	return es
}

// TestLook: reading changes nothing and wakes no host, even in an empty workspace.
func TestLook(t *testing.T) {
	for _, names := range [][]string{nil, {"main", "research"}} {
		s := newSite(t, names...)
		ctx := t.Context()
		for what, look := range map[string]func(name string) error{
			"inbox": func(name string) error { _, err := s.Inbox(ctx, name, inbox.Query{}); return err },
			"since": func(name string) error { _, err := s.Since(ctx, name, 0); return err },
			"queue": func(name string) error { _, err := s.Queue(ctx, name); return err },
		} {
			if err := look("main"); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if err := look("who"); !errors.Is(err, tasks.ErrNoAgent) {
				t.Errorf("%s of nobody: %v", what, err)
			}
		}
		is, err := s.Agents(ctx)
		if err != nil || len(is) != len(names) {
			t.Errorf("%d agents, %v", len(is), err)
		}
		for _, i := range is {
			if i.Name == "research" && i.State != event.Running {
				t.Errorf("%+v", i)
			}
		}
		if _, err := s.Task(ctx, 7); err == nil || !strings.Contains(err.Error(), "task 7") {
			t.Error(err)
		}
		if _, _, ok, err := s.Message(ctx, 7); ok || err != nil {
			t.Error(ok, err)
		}
		if _, _, err := s.Transcript(ctx, "who", 0, 10); !errors.Is(err, tasks.ErrNoAgent) {
			t.Error(err)
		}
		if s.rang > 0 || (s.id("main") != 0) != (len(names) > 0) {
			t.Errorf("rang %d times; main is %d", s.rang, s.id("main"))
		}
	}
	s := newSite(t)
	if _, err := s.Mail(t.Context(), OutsideDeposit{To: []string{"main"}, Body: "x"}); err != nil || s.id("main") == 0 {
		t.Error(fmt.Sprint("the first mail makes no main: ", err))
	}
}
