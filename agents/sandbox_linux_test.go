package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/store"
	"fantail/tools/permit"
	"fantail/tools/sandbox"
)

// walled is a workspace whose commands run in a sandbox, and a directory beside it.
func walled(t *testing.T, mode permit.Mode, wall permit.Wall) (s setting, beside string) {
	t.Helper()
	w := sandbox.Find(t.Context(), sandbox.Landlock)
	if w.Level() == sandbox.None {
		t.Skip(w.Why())
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	beside = filepath.Join(base, "beside")
	g := sandbox.Ground{Root: filepath.Join(base, "work"), Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch")}
	for _, d := range []string{g.Root, g.Home, g.Scratch, beside} {
		check(t, os.Mkdir(d, 0o700))
	}
	box := func(p sandbox.Profile, leave sandbox.Leave, environ []string) (*sandbox.Box, error) {
		return w.Box(g, p, leave, g.Root)
	}
	return setting{dir: g.Root, mode: mode, wall: wall, box: box, env: []string{"PATH=" + os.Getenv("PATH")}}, beside
}

// In mode auto a command runs unasked. What its sandbox keeps it from is one question, which names it; with a yes it
// runs again, and an answer for longer is one for longer.
func TestSandbox_auto(t *testing.T) {
	s, beside := walled(t, permit.Auto, permit.Prevents)
	w := open(t, &model{reply: asking}, s)
	w.prompt("run inside")
	w.settle()
	if w.ran("inside") != 1 {
		t.Fatal("it did not run")
	}
	out, want := filepath.Join(beside, "x"), permit.WriteRule(beside)
	refused := func(c permit.Choice, ran int, reason ...string) {
		t.Helper()
		out += "x" // to make a file takes the right to change its directory
		w.prompt("run " + out + "; false")
		q := w.asks("main")
		if q.Action.Kind != permit.Widen || q.Rule != want || !strings.Contains(q.Again, beside) || q.Auto {
			t.Fatalf("it asks %+v", q)
		}
		w.answer(q.ID, c, reason...)
		w.settle()
		if n := w.ran(out); n != ran {
			t.Errorf("after %s it ran %d times, want %d", c, n, ran)
		}
	}
	refused(permit.No, 0, "not there")
	if said := lastResult(w.entries("main")); !strings.Contains(said, "[its sandbox keeps it from changing "+beside+"]") || !strings.Contains(said, "not there") {
		t.Errorf("the model was told %q", said)
	}
	refused(permit.Once, 1)
	refused(permit.Session, 1)
	w.prompt("run " + out + "; false")
	w.settle()
	if n := w.ran(out); n != 2 {
		t.Errorf("with the session's rule it ran %d times, want 2", n)
	}
	check(t, w.pool.Clear(t.Context(), w.main())) // and takes the rule back
	refused(permit.Project, 1)
	check(t, w.pool.Clear(t.Context(), w.main()))
	w.close()
	w = open(t, &model{reply: asking}, s)
	w.prompt("run " + out + "; false")
	w.settle()
	if n := w.ran(out); n != 2 {
		t.Errorf("with the project's rule it ran %d times after a restart, want 2", n)
	}
	check(t, w.db.Read(t.Context(), func(rx *store.Rx) error {
		gs, err := store.Grants(&rx.View)
		if len(gs) != 1 || gs[0].Rule != string(want) {
			t.Errorf("the rows are %+v", gs)
		}
		return err
	}))
}

// lastResult is the text of the last result.
func lastResult(es []history.Entry) (text string) {
	for _, e := range es {
		if e.Result != nil {
			text = e.Result.Text
		}
	}
	return text
}

// Where commands ask, one that may run runs in its sandbox all the same, and a yes to it is none to what the sandbox
// keeps it from. A program that ends at the second question asks both again.
func TestSandbox_asks(t *testing.T) {
	s, beside := walled(t, permit.Ask, permit.Prevents)
	w := open(t, &model{reply: asking}, s)
	asks := func(k permit.Kind) (q *event.Question) {
		t.Helper()
		w.until("it asks, as "+string(k), func() bool {
			i := w.info("main")
			q = i.Question
			return i.State == event.Asking && q != nil && q.Action.Kind == k
		})
		return q
	}
	out := filepath.Join(beside, "x")
	w.prompt("run " + out + "; false")
	q := asks(permit.Command)
	if !q.Auto {
		t.Errorf("auto is not offered: %+v", q)
	}
	w.answer(q.ID, permit.Once)
	asks(permit.Widen)
	w.close()
	w = open(t, &model{reply: asking}, s)
	w.answer(asks(permit.Command).ID, permit.Once)
	w.answer(asks(permit.Widen).ID, permit.Once)
	w.settle()
	if n := w.ran(out); n != 1 {
		t.Errorf("it ran %d times, want once", n)
	}
}

// The key for mode auto answers the question it stands at, and is remembered for the workspace; leaving the mode is too.
func TestSandbox_freely(t *testing.T) {
	s, _ := walled(t, permit.Ask, permit.Prevents)
	w := open(t, &model{reply: asking}, s)
	remembered := func(want permit.Mode) {
		t.Helper()
		if c, err := agents.Remembered(t.Context(), w.db); err != nil || c.Mode != want {
			t.Errorf("remembered is %q, %v; want %q", c.Mode, err, want)
		}
	}
	w.prompt("run inside")
	if q := w.asks("main"); !q.Auto {
		t.Fatalf("auto is not offered: %+v", q)
	}
	check(t, w.pool.SetMode(permit.Auto))
	w.settle()
	if w.ran("inside") != 1 {
		t.Error("it did not run")
	}
	remembered(permit.Auto)
	check(t, w.pool.SetMode(permit.Plan))
	remembered("")
	check(t, w.pool.SetMode(permit.Ask))
	w.prompt("run inside; cat .env")
	if q := w.asks("main"); q.Auto {
		t.Error("auto is offered where it would ask too")
	} else {
		w.answer(q.ID, permit.No)
	}
	w.settle()
}

// Where the sandbox only detects, auto is not offered; where there is none, it can't be.
func TestSandbox_offered(t *testing.T) {
	for _, wall := range []permit.Wall{permit.NoWall, permit.Detects} {
		s, _ := walled(t, permit.Ask, wall)
		if wall == permit.NoWall {
			s.box = nil
		}
		w := open(t, &model{reply: asking}, s)
		w.prompt("run inside")
		q := w.asks("main")
		if q.Auto {
			t.Errorf("auto is offered behind %v", wall)
		}
		if err := w.pool.SetMode(permit.Auto); (err == nil) != (wall == permit.Detects) {
			t.Errorf("behind %v: %v", wall, err)
		}
		if wall == permit.NoWall {
			w.answer(q.ID, permit.No)
		}
		w.settle()
	}
}

// In mode yolo a command runs as the user.
func TestSandbox_yolo(t *testing.T) {
	s, beside := walled(t, permit.Yolo, permit.Prevents)
	w := open(t, &model{reply: asking}, s)
	out := filepath.Join(beside, "x")
	w.prompt("run " + out + "; false")
	w.settle()
	if n := w.ran(out); n != 1 {
		t.Errorf("it ran %d times, want once", n)
	}
}
