package agents

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools/permission"
)

// site is a ward with two agents that have a queue.
type quarantineSite struct {
	*testing.T
	*Quarantine
	main, other int64
}

func quarantineNewSite(t *testing.T) *quarantineSite {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f := fleet.New(context.WithoutCancel(t.Context()), fleet.Options{
		Now: time.Now, Cap: 4, Modes: func() (holds, coming permission.Mode) { return permission.Ask, "" }, Wall: func() permission.Sandbox { return permission.NoSandbox },
	})
	s := &quarantineSite{T: t, Quarantine: NewQuarantine(db, f, tasks.NewSealKey())}
	for name, id := range map[string]*int64{"main": &s.main, "other": &s.other} {
		s.write(func(tx *store.Tx) (err error) {
			*id, err = tx.AddAgent(store.Agent{Name: name, Kind: "main", State: "idle"})
			return err
		})
	}
	return s
}

func (s *quarantineSite) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.db.Write(s.Context(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// task puts a task into a queue.
func (s *quarantineSite) task(owner int64, name, origin string, sealed bool, held tasks.Hold) (id int64) {
	s.Helper()
	return s.taskOf(0, owner, name, origin, sealed, held)
}

// taskOf puts a task into a queue that a turn spawned.
func (s *quarantineSite) taskOf(turn, owner int64, name, origin string, sealed bool, held tasks.Hold) (id int64) {
	s.Helper()
	s.write(func(tx *store.Tx) (err error) {
		t := store.Task{SpawnedBy: turn, Queue: owner, Name: name, Prompt: "do " + name, Kind: tasks.KindPrompt, Origin: origin, Model: "m", Deliver: "next"}
		if id, err = tx.AddTask(t); err == nil && sealed {
			_, err = tasks.SealTask(tx, s.seals, id)
		}
		return err
	})
	s.fleet.Lock()
	defer s.fleet.Unlock()
	s.fleet.Queue.Add(&tasks.QueuedWork{ID: id, Name: name, Place: id, Slot: tasks.Slot{Owner: owner}, Held: held})
	return id
}

// hand changes the database, as another hand could.
func (s *quarantineSite) hand(f func(tx *store.Tx) (bool, error)) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		done, err := f(tx)
		if err == nil && !done {
			s.Error("nothing was changed")
		}
		return err
	})
}

// says is what the human's word did to the tasks of main.
func (s *quarantineSite) says() string {
	s.Helper()
	r, err := s.LetIn(s.Context(), s.main)
	if err != nil {
		s.Fatal(err)
	}
	var parts []string
	for _, e := range r.Outside {
		parts = append(parts, "in "+e.Name)
	}
	for _, e := range r.Asked {
		parts = append(parts, "asks "+e.Name)
	}
	return strings.Join(parts, " ")
}

// starts are the tasks that nothing holds any more and whose row may start.
func (s *quarantineSite) starts() (names []string) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		s.fleet.Lock()
		defer s.fleet.Unlock()
		for q := range s.fleet.Queue.All() {
			t, _, err := tx.Task(q.ID)
			if err != nil {
				return err
			}
			if may, err := tasks.MayStart(&tx.View, s.seals, t); err != nil {
				return err
			} else if may && q.Held == tasks.Free {
				names = append(names, q.Name)
			}
		}
		return nil
	})
	return names
}

// What the human's word lets in: what came from outside and is as it came; what another hand wrote or changed, and what
// began before, only once it was shown as it is. All else goes on without a word.
func TestLetIn(t *testing.T) {
	change := func(s *quarantineSite, id int64) {
		s.hand(func(tx *store.Tx) (bool, error) { return tx.EditTask(id, "do job and more") })
	}
	for _, c := range []struct {
		name, origin string
		sealed       bool
		held         tasks.Hold
		before       func(s *quarantineSite, id int64)
		between      func(s *quarantineSite, id int64) // the first word and the second
		says         []string
		starts       []bool // after each word
	}{
		{"its own", "human", true, tasks.Free, nil, nil, []string{"", ""}, []bool{true, true}},
		{"an agent's", "agent", true, tasks.Free, nil, nil, []string{"", ""}, []bool{true, true}},
		{"from outside", tasks.OriginCLI, true, tasks.Outside, nil, nil, []string{"in job", ""}, []bool{true, true}},
		{"from a server", tasks.OriginMCP, true, tasks.Outside, nil, nil, []string{"in job", ""}, []bool{true, true}},
		{"from outside, by another hand", tasks.OriginCLI, false, tasks.Outside, nil, nil, []string{"asks job", "in job", ""}, []bool{false, true, true}},
		{"by another hand", "human", false, tasks.Free, nil, nil, []string{"asks job", "", ""}, []bool{false, true, true}},
		{"held before", "human", false, tasks.Unsealed, nil, nil, []string{"asks job", ""}, []bool{false, true}},
		{"held, and its own after all", "human", true, tasks.Unsealed, nil, nil, []string{"", ""}, []bool{true, true}},
		{"changed", "human", true, tasks.Free, change, nil, []string{"asks job", ""}, []bool{false, true}},
		{"changed once it was shown", "human", false, tasks.Free, nil, change, []string{"asks job", "asks job", ""}, []bool{false, false, true}},
		{"changed once it was in", "human", false, tasks.Free, nil, func(s *quarantineSite, id int64) {
			s.says()
			change(s, id)
		}, []string{"asks job", "asks job", ""}, []bool{false, false, true}},
		{"begun before", "human", true, tasks.Free, func(s *quarantineSite, id int64) { s.seals.Spend(id) }, nil, []string{"asks job", ""}, []bool{false, true}},
		{"of an earlier host", "human", true, tasks.Free, func(s *quarantineSite, _ int64) { s.seals = tasks.NewSealKey() }, nil, []string{"asks job", ""}, []bool{false, true}},
		{"ended", "human", false, tasks.Free, func(s *quarantineSite, id int64) {
			s.hand(func(tx *store.Tx) (bool, error) { return tx.RemoveTask(id) })
		}, nil, []string{"", ""}, []bool{false, false}},
	} {
		for _, beside := range []bool{false, true} { // another task that nothing keeps from starting
			s := quarantineNewSite(t)
			id := s.task(s.main, "job", c.origin, c.sealed, c.held)
			s.task(s.other, "theirs", "human", false, tasks.Free) // its owner's word is another
			if c.before != nil {
				c.before(s, id)
			}
			if beside {
				s.task(s.main, "plain", "human", true, tasks.Free)
			}
			for n, want := range c.says {
				if n == 1 && c.between != nil {
					c.between(s, id)
				}
				if got := s.says(); got != want {
					t.Errorf("%s: word %d: %q, want %q", c.name, n+1, got, want)
				}
				if strings.HasPrefix(want, "asks") && s.fleet.Queue.Task(id).Held != tasks.Unsealed {
					t.Errorf("%s: after word %d nothing shows that it waits for another", c.name, n+1)
				}
				starts := s.starts()
				if n < len(c.starts) && slices.Contains(starts, "job") != c.starts[n] || slices.Contains(starts, "theirs") {
					t.Errorf("%s: after word %d these start: %q", c.name, n+1, starts)
				}
			}
		}
	}
}

// Who is asked about what an agent's command pushed is told whose it was.
func TestLetIn_pushed(t *testing.T) {
	for _, c := range []struct {
		name, origin string
		pushed       bool
		want         string
	}{
		{"by a command", tasks.OriginCLI, true, "job (pushed by other's command)"},
		{"by the human", tasks.OriginCLI, false, "job"},
		{"by the agent itself", "agent", true, "job"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := quarantineNewSite(t)
			turn := int64(0)
			if c.pushed {
				s.write(func(tx *store.Tx) (err error) {
					turn, err = tx.BeginTurn(store.Turn{Agent: s.other, Kind: "prompt"})
					return err
				})
			}
			s.taskOf(turn, s.main, "job", c.origin, false, tasks.Free)
			if got := s.says(); got != "asks "+c.want {
				t.Error(got)
			}
		})
	}
}

// One word asks about so many tasks at most: what it did not show it does not let in.
func TestLetIn_many(t *testing.T) {
	s := quarantineNewSite(t)
	for n := range maxAsked + 1 {
		s.task(s.main, fmt.Sprint("job", n), "human", false, tasks.Free)
	}
	for _, want := range []int{0, maxAsked, maxAsked + 1} {
		if _, err := s.LetIn(t.Context(), s.main); err != nil {
			t.Fatal(err)
		}
		if n := len(s.starts()); n != want {
			t.Errorf("%d start, not %d", n, want)
		}
	}
}

// A task that another hand wrote is held as it is about to start, with all like it of its queue and no other. The slot it was
// to have is free again, and its owner's tab says so once.
func TestMistrust(t *testing.T) {
	for _, c := range []struct {
		name   string
		odd    []string
		notice string
	}{
		{"one", []string{"a"}, "1 task is in the queue that this host did not write, or not as now: a (do a)."},
		{"two", []string{"a", "b"}, "2 tasks are in the queue that this host did not write, or not as now: a (do a), b (do b)."},
		{"five", []string{"a", "b", "c", "d", "e"}, "d (do d), e (do e). Nothing starts"},
		{"many", []string{"a", "b", "c", "d", "e", "f", "g"}, "e (do e) and 2 more."},
		{"none after all", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := quarantineNewSite(t)
			first := int64(0)
			for _, name := range c.odd {
				if id := s.task(s.main, name, "human", false, tasks.Free); first == 0 {
					first = id
				}
			}
			plain := s.task(s.main, "plain", "human", true, tasks.Free)
			theirs := s.task(s.other, "theirs", "human", false, tasks.Free)
			if first == 0 {
				first = plain
			}
			s.fleet.Lock()
			s.fleet.Queue.Take(-first, tasks.Slot{Owner: s.main})
			s.fleet.Unlock()
			for range 2 {
				if err := s.Mistrust(first); err != nil {
					t.Fatal(err)
				}
				if len(c.odd) == 0 {
					break
				}
			}
			s.fleet.Lock()
			defer s.fleet.Unlock()
			if n := s.fleet.Queue.Running(); n != 0 {
				t.Errorf("%d slots are taken", n)
			}
			for q := range s.fleet.Queue.All() {
				if want := slices.Contains(c.odd, q.Name); (q.Held == tasks.Unsealed) != want {
					t.Errorf("%s is held: %v", q.Name, q.Held)
				}
			}
			if q := s.fleet.Queue.Task(theirs); q.Held != tasks.Free {
				t.Error("another's queue is held")
			}
			notices := s.notices(s.main)
			if c.notice == "" && len(notices) > 0 || c.notice != "" && (len(notices) == 0 || !strings.Contains(notices[0], c.notice)) {
				t.Errorf("%q", notices)
			}
		})
	}
}

// notices are those in an agent's tab.
func (s *quarantineSite) notices(agent int64) (all []string) {
	s.Helper()
	s.write(func(tx *store.Tx) error {
		rows, err := tx.EntriesAfter(agent, 0, 100)
		for _, e := range history.DecodeAll(rows) {
			all = append(all, e.Text)
		}
		return err
	})
	return all
}

// Of what came into the queues, what this host did not write is marked, once, and told of in its owner's tab unless it says
// itself that it is from outside.
func TestUnknown(t *testing.T) {
	s := quarantineNewSite(t)
	s.task(s.main, "own", "human", true, tasks.Free)
	s.task(s.main, "outside", tasks.OriginCLI, false, tasks.Outside)
	s.task(s.main, "odd", "agent", false, tasks.Free)
	s.task(s.other, "theirs", "human", false, tasks.Free)
	marked := map[string]bool{}
	s.write(func(tx *store.Tx) error {
		qs, err := tasks.QueuedTasks(&tx.View)
		if err != nil {
			return err
		}
		odd, err := s.Unknown(&tx.View, qs)
		for _, q := range qs {
			marked[q.Task.Name] = q.Unsealed
		}
		if err != nil {
			return err
		}
		return s.TellUnknown(tx, odd)
	})
	for name, want := range map[string]bool{"own": false, "outside": true, "odd": true, "theirs": true} {
		if marked[name] != want {
			t.Errorf("%s is marked: %v", name, marked[name])
		}
	}
	for agent, want := range map[int64]string{s.main: "odd (do odd).", s.other: "theirs (do theirs)."} {
		if got := s.notices(agent); len(got) != 1 || !strings.Contains(got[0], "1 task is ") || !strings.Contains(got[0], want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is asked about is listed whole: nothing that is not shown is let in. What came in is listed in part.
func TestSeen(t *testing.T) {
	var es []QuarantineEntered
	for n := range 30 {
		es = append(es, QuarantineEntered{fmt.Sprint("job", n), "x"})
	}
	for _, c := range []struct {
		seen  QuarantineSeen
		lists int
		says  string
	}{
		{QuarantineSeen{}, 0, ""},
		{QuarantineSeen{Asked: es}, 30, "Not started: "},
		{QuarantineSeen{Outside: es[:12]}, 12, "From outside, "},
		{QuarantineSeen{Outside: es}, 12, "and 18 more"},
	} {
		text := c.seen.String()
		if n := strings.Count(text, "- job"); n != c.lists || !strings.Contains(text, c.says) || (text == "") != (c.says == "") {
			t.Errorf("%d listed: %s", n, text)
		}
	}
}
