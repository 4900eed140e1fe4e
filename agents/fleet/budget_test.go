package fleet

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/llm"
	"fantail/inbox"
	"fantail/store"
	"fantail/store/storetest"
	"fantail/tools"
	"fantail/tools/permission"
)

// site has Budgets, the agent main and one that works for it on a task.
type site struct {
	*testing.T
	*Budgets
	main, sub int64
	task      store.Task
}

// priced is a model whose tokens cost a millionth of a dollar each, free one whose price is unknown.
var (
	priced = llm.Model{Name: "priced", Price: func(u llm.Usage) int64 { return int64(u.Context()) }}
	free   = llm.Model{Name: "free"}
)

func newSite(t *testing.T) *site {
	db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	f := New(context.WithoutCancel(t.Context()), Options{Now: time.Now})
	s := &site{T: t, Budgets: &Budgets{DB: db, Inbox: inbox.New(db, func(inbox.Change) {}), Fleet: f}}
	s.write(func(tx *store.Tx) (err error) {
		if s.main, err = tx.AddAgent(store.Agent{Name: "main", Kind: "main", State: "idle"}); err != nil {
			return err
		}
		s.task = store.Task{Queue: s.main, Name: "lint", Prompt: "p", Model: "m", Deliver: "next"}
		if s.task.ID, err = tx.AddTask(s.task); err != nil {
			return err
		}
		s.sub, err = tx.AddAgent(store.Agent{Name: "lint", Kind: "sub", Parent: s.main, Task: s.task.ID, State: "running"})
		return err
	})
	return s
}

func (s *site) write(f func(tx *store.Tx) error) {
	s.Helper()
	if err := s.DB.Write(s.Context(), "test", f); err != nil {
		s.Fatal(err)
	}
}

// gives gives an agent a budget, of which that much is used.
func (s *site) gives(agent int64, amount string, used int64) {
	s.Helper()
	of, err := tools.ParseAmount(amount)
	if err != nil {
		s.Fatal(err)
	}
	s.write(func(tx *store.Tx) error {
		return store.PutBudget(tx, store.Budget{Owner: agent, Money: of.Money, Amount: of.N, Used: used})
	})
}

// asks counts a request of that many tokens, and what it used; 0 used: it is under way.
func (s *site) asks(agent int64, m llm.Model, tokens, used int) (a Ahead) {
	s.Helper()
	s.write(func(tx *store.Tx) (err error) {
		a, err = s.Ahead(tx, agent, m, tokens)
		return err
	})
	if used > 0 {
		s.write(func(tx *store.Tx) error { return s.Settle(tx, a.Charge, m, llm.Usage{Input: used}, 0) })
	}
	return a
}

// notices returns how often the dispatcher of the sub, and the human in main's tab, got a notice.
func (s *site) notices() (mail, shown int) {
	s.Helper()
	ms, err := s.Inbox.Since(s.Context(), s.main, 0)
	if err != nil {
		s.Fatal(err)
	}
	var es []store.Entry
	if err := s.DB.Read(s.Context(), func(rx *store.Rx) (err error) {
		es, err = rx.EntriesAfter(s.main, 0, 99)
		return err
	}); err != nil {
		s.Fatal(err)
	}
	return len(ms), len(es)
}

// used returns what is used of an agent's own budget.
func (s *site) used(agent int64) (n int64) {
	s.Helper()
	if err := s.DB.Read(s.Context(), func(rx *store.Rx) error {
		b, err := BudgetOf(&rx.View, agent)
		if b != nil {
			n = b.Used
		}
		return err
	}); err != nil {
		s.Fatal(err)
	}
	return n
}

// TestSettle_warnsOnce: there is one notice at 80 %, not one for each request after it, and none once all is used up.
func TestSettle_warnsOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		uses    []int
		notices []int // after each
	}{
		{"each request after it", []int{79, 1, 1, 1, 5}, []int{0, 1, 1, 1, 1}},
		{"at once far above", []int{99, 1}, []int{1, 1}},
		{"used up at once", []int{100}, []int{0}},
		{"more than it had", []int{150}, []int{0}},
	} {
		for _, who := range []string{"main", "sub"} {
			t.Run(c.name+" of "+who, func(t *testing.T) {
				s := newSite(t)
				agent := s.main
				if who == "sub" {
					agent = s.sub
				}
				s.gives(agent, "100", 0)
				for i, use := range c.uses {
					s.asks(agent, free, use, use)
					mail, shown := s.notices()
					if who == "main" {
						mail, shown = shown, mail
					}
					if mail != c.notices[i] || shown != 0 {
						t.Errorf("after %v: %d notices, want %d, and %d elsewhere", c.uses[:i+1], mail, c.notices[i], shown)
					}
				}
			})
		}
	}
}

// A budget that is set again warns again.
func TestSettle_warnsAnew(t *testing.T) {
	s := newSite(t)
	s.gives(s.sub, "100", 0)
	s.asks(s.sub, free, 85, 85)
	if err := s.More(t.Context(), s.sub, tools.Amount{N: 115}); err != nil {
		t.Fatal(err)
	}
	if s.asks(s.sub, free, 10, 10); s.used(s.sub) != 95 {
		t.Fatalf("%d used", s.used(s.sub))
	}
	s.asks(s.sub, free, 70, 70)
	if mail, _ := s.notices(); mail != 2 {
		t.Errorf("%d notices, want 2", mail)
	}
}

// TestSettle_replaces: the count made in advance is replaced by what a request used; if the model does not report
// that, by the advance count and the size of the reply.
func TestSettle_replaces(t *testing.T) {
	for _, c := range []struct {
		name         string
		m            llm.Model
		amount       string
		usage        llm.Usage
		said         int
		ahead, after int64
	}{
		{"more", free, "1000", llm.Usage{Input: 50, Output: 20}, 20, 30, 70},
		{"less", free, "1000", llm.Usage{Input: 5}, 1, 30, 5},
		{"nothing came", free, "1000", llm.Usage{}, 0, 30, 0},
		{"not told", free, "1000", llm.Usage{}, 12, 30, 42},
		{"in dollars", priced, "$1", llm.Usage{Input: 50, Output: 20}, 20, 30, 70},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.gives(s.sub, c.amount, 0)
			a := s.asks(s.sub, c.m, 30, 0)
			if n := s.used(s.sub); n != c.ahead || !a.Counts() {
				t.Errorf("%d ahead, want %d", n, c.ahead)
			}
			s.write(func(tx *store.Tx) error { return s.Settle(tx, a.Charge, c.m, c.usage, c.said) })
			if n := s.used(s.sub); n != c.after {
				t.Errorf("%d used, want %d", n, c.after)
			}
		})
	}
}

// A request is refused exactly when a budget is used up, also if it belongs to an agent above; from 95 % on its agent
// is told once to finish, and calls no more tools.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name             string
		m                llm.Model
		own, main        string
		used, mains      int64
		tokens           int
		refused          string
		wrap, last, free bool
	}{
		{name: "no budget", m: free, tokens: 1000, free: true},
		{name: "far from it", m: free, own: "100", tokens: 10},
		{name: "just below", m: free, own: "100", used: 50, tokens: 44},
		{name: "at 95 %", m: free, own: "100", used: 50, tokens: 45, wrap: true, last: true},
		{name: "one token left", m: free, own: "100", used: 99, tokens: 1, wrap: true, last: true},
		{name: "used up", m: free, own: "100", used: 100, tokens: 1, refused: "its budget is used up"},
		{name: "more than used up", m: free, own: "100", used: 120, tokens: 1, refused: "its budget is used up"},
		{name: "main's at 95 %", m: free, own: "1000", main: "100", mains: 90, tokens: 5, wrap: true, last: true},
		{name: "main's used up", m: free, own: "1000", main: "100", mains: 100, tokens: 5, refused: "main, which it works for"},
		{name: "main's used up, and it has none", m: free, main: "100", mains: 100, tokens: 5, refused: "main, which it works for"},
		{name: "own at 95 %, main's used up", m: free, own: "100", used: 95, main: "100", mains: 100, tokens: 5, refused: "main, which it works for"},
		{name: "dollars", m: priced, own: "$1", used: 900_000, tokens: 40_000},
		{name: "dollars used up", m: priced, own: "$1", used: 1_000_000, tokens: 1, refused: "its budget is used up"},
		{name: "dollars without a price", m: free, own: "$1", tokens: 1, refused: "the price of free is unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			if c.main != "" {
				s.gives(s.main, c.main, c.mains)
			}
			if c.own != "" {
				s.gives(s.sub, c.own, c.used)
			}
			a := s.asks(s.sub, c.m, c.tokens, 0)
			if (a.Refused == nil) != (c.refused == "") || a.Refused != nil && !strings.Contains(a.Refused.Error(), c.refused) {
				t.Fatalf("refused: %v, want %q", a.Refused, c.refused)
			}
			if (a.Wrap != "") != c.wrap || a.Refused == nil && (a.Last != nil) != c.last || a.Counts() == c.free {
				t.Errorf("%+v", a)
			}
			if c.refused != "" && (s.used(s.sub) != c.used || s.used(s.main) != c.mains) {
				t.Error("a request that is refused was counted")
			}
			if c.wrap { // it was told once; tools stay closed
				if a := s.asks(s.sub, c.m, 0, 0); a.Refused == nil && (a.Wrap != "" || a.Last == nil) {
					t.Errorf("once more: %+v", a)
				}
			}
		})
	}
}

// Only an amount in the budget's own unit gives more; any other answer ends the turn.
func TestGiven(t *testing.T) {
	tokens := &OverBudget{Name: "lint", Amount: tools.Amount{N: 50_000}}
	money := &OverBudget{Name: "lint", Amount: tools.Amount{N: 2_000_000, Money: true}}
	for _, c := range []struct {
		of     *OverBudget
		answer string
		want   tools.Amount
	}{
		{tokens, tokens.Question().Options[0].Label, tokens.Amount},
		{tokens, tokens.Question().Options[1].Label, tools.Amount{}},
		{tokens, " 20k ", tools.Amount{N: 20_000}},
		{tokens, "$1", tools.Amount{}},
		{tokens, money.more(), tools.Amount{}},
		{tokens, "", tools.Amount{}},
		{tokens, "go on", tools.Amount{}},
		{money, money.Question().Options[0].Label, money.Amount},
		{money, money.Question().Options[1].Label, tools.Amount{}},
		{money, "$1", tools.Amount{N: 1_000_000, Money: true}},
		{money, "20k", tools.Amount{}},
		{money, "1", tools.Amount{}},
	} {
		if got := c.of.Given(c.answer); got != c.want {
			t.Errorf("%q to a budget of %s gives %+v, want %+v", c.answer, c.of.Amount, got, c.want)
		}
	}
}

// More grants that much more than was used, in the same unit.
func TestMore(t *testing.T) {
	s := newSite(t)
	s.gives(s.sub, "100", 130)
	if err := s.More(t.Context(), s.sub, tools.Amount{N: 1, Money: true}); err == nil || !strings.Contains(err.Error(), "same unit") {
		t.Errorf("dollars to tokens: %v", err)
	}
	if err := s.More(t.Context(), s.sub, tools.Amount{N: 50}); err != nil {
		t.Fatal(err)
	}
	if a := s.asks(s.sub, free, 40, 40); a.Refused != nil || s.used(s.sub) != 170 {
		t.Errorf("%v, %d used", a.Refused, s.used(s.sub))
	}
	if err := s.More(t.Context(), s.main, tools.Amount{N: 50}); err != nil {
		t.Errorf("one that was taken away: %v", err)
	}
}

// Only the human gives a task more than the usual budget.
func TestBegin(t *testing.T) {
	for _, c := range []struct{ usual, asks, origin, want string }{
		{"", "", "agent", ""},
		{"", "50k", "agent", "50k"},
		{"100k", "", "agent", "100k"},
		{"100k", "50k", "agent", "50k"},
		{"100k", "100k", "agent", "100k"},
		{"100k", "101k", "agent", "100k"},
		{"100k", "$1", "agent", "100k"},
		{"$1", "50k", "mcp", "$1"},
		{"100k", "101k", "human", "101k"},
		{"100k", "$1", "human", "$1"},
	} {
		s := newSite(t)
		if c.usual != "" {
			s.Usual, _ = tools.ParseAmount(c.usual)
		}
		task := s.task
		task.Budget, task.Origin = c.asks, c.origin
		got := ""
		s.write(func(tx *store.Tx) error {
			b, err := s.Begin(tx, s.sub, task)
			if b != nil {
				got = b.Amount.String()
			}
			return err
		})
		if got != c.want {
			t.Errorf("usually %q, %s asks for %q: %q, want %q", c.usual, c.origin, c.asks, got, c.want)
		}
	}
}

// started adds a task that an agent works on.
func started(tx *store.Tx, t *store.Task, agent int64) (err error) {
	if t.ID, err = tx.AddTask(*t); err == nil {
		_, err = tx.StartTask(t.ID, agent)
	}
	return err
}

// An agent that continues with a task that asks for the budget it had keeps that, with all it has used; with another
// one, or a new start, it gets what the task asks for.
func TestBegin_goesOn(t *testing.T) {
	for _, c := range []struct {
		name, first, asks string
		resumes           bool
		want              int64 // used of it
		amount            string
	}{
		{"goes on", "100", "100", true, 30, "150"}, // it was given more meanwhile
		{"goes on with another", "100", "200", true, 0, "200"},
		{"goes on, and none is named", "", "", true, 30, "150"},
		{"begins anew", "100", "100", false, 0, "100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.gives(s.sub, "150", 30)
			s.write(func(tx *store.Tx) error {
				first := s.task
				first.Name, first.Budget = "first", c.first
				if err := started(tx, &first, s.sub); err != nil {
					return err
				}
				next := store.Task{Queue: s.main, Name: "next", Prompt: "p", Model: "m", Deliver: "next", Budget: c.asks, Origin: "human"}
				if c.resumes {
					next.Resumes = s.sub
				}
				if err := started(tx, &next, s.sub); err != nil {
					return err
				}
				b, err := s.Begin(tx, s.sub, next)
				if err == nil && (b == nil || b.Used != c.want || b.Amount.String() != c.amount) {
					t.Errorf("%+v", b)
				}
				return err
			})
		})
	}
}

// TestSet: a budget that the human sets counts what was used in the same unit, and starts at 0 in another; dollars
// need a price.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		was, to string // "": none
		model   llm.Model
		used    int64
		wrong   string
	}{
		{"100", "200", free, 30, ""},
		{"$100", "$200", priced, 30, ""},
		{"100", "$1", priced, 0, ""},
		{"$100", "200", free, 0, ""},
		{"", "200", free, 0, ""},
		{"100", "", free, 0, ""},
		{"", "", free, 0, ""},
		{"100", "$1", free, 30, "the price of free is unknown"},
	} {
		s := newSite(t)
		s.Fleet = New(context.WithoutCancel(t.Context()), Options{
			Now: time.Now, Resolve: func(string) (llm.Model, error) { return c.model, nil },
			Modes: func() (permission.Mode, permission.Mode) { return permission.Ask, "" }, Wall: func() permission.Sandbox { return permission.NoSandbox },
		})
		s.Fleet.Lock()
		a := s.Fleet.NewAgent(event.Info{ID: s.sub, Name: "lint", Kind: event.Sub, State: event.Running, Model: "m"}, 0)
		s.Fleet.Open(a)
		s.Fleet.Unlock()
		if c.was != "" {
			s.gives(s.sub, c.was, 30)
		}
		var to tools.Amount
		if c.to != "" {
			to, _ = tools.ParseAmount(c.to)
		}
		now, err := s.Set(t.Context(), s.sub, to)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q to %q: %v", c.was, c.to, err)
		}
		var own *event.Budget
		s.write(func(tx *store.Tx) (err error) {
			own, err = BudgetOf(&tx.View, s.sub)
			return err
		})
		switch shown := a.Known().Budget; {
		case err != nil:
			if own == nil || own.Amount.String() != c.was || own.Used != c.used {
				t.Errorf("%q became %v", c.was, own)
			}
		case c.to == "":
			if own != nil || now != nil || shown != nil {
				t.Errorf("%q to none: %v, %v", c.was, own, shown)
			}
		case own == nil || shown == nil || now == nil || *own != *now || *own != *shown || own.Amount != to || own.Used != c.used:
			t.Errorf("%q to %q: %v, shown %v", c.was, c.to, own, shown)
		}
	}
}

// A budget in dollars fits a model whose price is known.
func TestFits(t *testing.T) {
	s := newSite(t)
	s.Resolve = func(model string) (llm.Model, error) {
		return map[string]llm.Model{"priced": priced, "free": free}[model], nil
	}
	for _, c := range []struct {
		model, budget string
		fits          bool
	}{{"priced", "$1", true}, {"priced", "50k", true}, {"free", "50k", true}, {"free", "$1", false}, {"priced", "much", false}} {
		if err := s.Fits(c.model, c.budget); (err == nil) != c.fits {
			t.Errorf("%s for %s: %v", c.budget, c.model, err)
		}
	}
}
