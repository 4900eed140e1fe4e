package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/tabs"
)

// screen is an App that nothing runs: its state is what a test sets.
func screen(t testing.TB, w, h int, environ ...string) *App {
	t.Helper()
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	a := New(Options{
		In: strings.NewReader(""), Out: &strings.Builder{}, Theme: "dark", Size: [2]int{w, h}, Root: "shop", Environ: environ,
		Now: func() time.Time { return at },
	})
	a.actions.start = func(string, func()) {} // there is no pool to act on
	t.Cleanup(a.cancel)
	return a
}

// acting has what is asked for carried out.
func (a *App) acting() *App {
	a.actions.start = func(_ string, f func()) { go f() }
	return a
}

// with opens tabs of those agents; main is there already.
func (a *App) with(infos ...event.Info) *App {
	for _, i := range infos {
		a.change(i)
	}
	return a
}

// What is given back goes to the box it came from, before a draft; to main's if that is
// gone.
func TestGivenBack(t *testing.T) {
	a := screen(t, 80, 24).with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}, event.Info{ID: 2, Name: "api", Kind: event.Helper, State: event.Idle})
	a.report(done{agent: 3, text: "It failed.", back: "/compact"}) // of a tab that is closed
	a.tabs.ByID(2).Typing().Set("and tests")
	a.report(done{agent: 2, text: "It failed.", back: "write it\nwith care"})
	if mine, other := a.tabs.ByID(1).Typing().Value(), a.tabs.ByID(2).Typing().Value(); mine != "/compact" || other != "write it\nwith care\nand tests" {
		t.Errorf("main's box holds %q, the other %q", mine, other)
	}
}

// plain is a line without its styles.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			for i < len(s) && s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func TestTabRowShowsTheFocused(t *testing.T) {
	var infos []event.Info
	for i := range 20 {
		infos = append(infos, event.Info{ID: int64(i + 1), Name: fmt.Sprintf("agent%02d", i), Kind: event.Sub, State: event.Queued})
	}
	infos[0].Kind, infos[0].State = event.Main, event.Idle
	for _, w := range []int{24, 40, 80, 120, 400} {
		a := screen(t, w, 24).with(infos...)
		for n := 1; n <= 20; n++ {
			a.tabs.Nth(n)
			line, spans := a.tabs.Row(w)
			row := plain(line)
			if got := cells.Width(line); got != w {
				t.Fatalf("the row at %d is %d wide: %q", w, got, row)
			}
			if !strings.Contains(row, a.tabs.Focus.Info.Name) {
				t.Fatalf("at %d the row does not show %s: %q", w, a.tabs.Focus.Info.Name, row)
			}
			all := len(spans) == 20
			if first := len(spans) > 0 && spans[0].ID == 1; strings.HasPrefix(row, "‹") == first {
				t.Errorf("at %d, tab %d: the left mark is wrong: %q", w, n, row)
			}
			if last := len(spans) > 0 && spans[len(spans)-1].ID == 20; strings.Contains(row, "›") == last {
				t.Errorf("at %d, tab %d: the right mark is wrong: %q", w, n, row)
			}
			if w == 400 && !all {
				t.Errorf("at 400 there is room for all: %q", row)
			}
			for _, s := range spans {
				cell := string([]rune(row)[s.From:s.To])
				if name := a.tabs.ByID(s.ID).Info.Name; !strings.Contains(cell, name) {
					t.Errorf("a click on %q goes to %s", cell, name)
				}
			}
		}
	}
}

func TestGlyphs(t *testing.T) {
	for _, c := range []struct{ environ, row string }{
		{"LANG=C.UTF-8", "2 ›r ● │ 3 ›w ◌ │ 4 ›q ┄ │ 5 ›a ● asks │ 6 ›i ○ │ 7 ›d ✓ │ 8 ›f ✗ │ 9 ›k ✗ │ ›c ✗"},
		{"LANG=C", "2 >r + | 3 >w o | 4 >q - | 5 >a + asks | 6 >i o | 7 >d v | 8 >f x | 9 >k x | >c x"},
	} {
		a := screen(t, 200, 24, c.environ)
		for i, s := range []event.State{event.Running, event.Waiting, event.Queued, event.Asking, event.Idle, event.Done, event.Failed, event.Killed, event.Crashed} {
			a.with(event.Info{ID: int64(i + 2), Name: string(s[:1]), Kind: event.Helper, State: s})
		}
		line, _ := a.tabs.Row(200)
		if a.look.ascii {
			line = cells.ASCII(line)
		}
		if !strings.Contains(plain(line), c.row) {
			t.Errorf("with %s the row is %q, want %q in it", c.environ, plain(line), c.row)
		}
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{-1: "0:00", 0: "0:00", 42 * time.Second: "0:42", 725 * time.Second: "12:05", 3723 * time.Second: "1:02:03"} {
		if got := format.Clock(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}

// TestWalk is Alt+Tab over tabs 1 to 4, each used once in that order: 4 is the
// focused one.
func TestWalk(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	fresh := func() *tabs.Tabs {
		ts := &tabs.Tabs{}
		for i := range 4 {
			ts.Add(&tabs.Tab{Info: event.Info{ID: int64(i + 1)}})
		}
		for i := 1; i <= 4; i++ {
			ts.Nth(i)
		}
		return ts
	}
	for _, c := range []struct {
		name  string
		steps string // b: back, f: forth, each 0.5 s later; a space: a pause; a digit: go there
		want  string // the focus after each
	}{
		{"once", "b", "3"},
		{"a walk goes on and around", "bbbbb", "32143"},
		{"backwards", "ff", "12"},
		{"there and back", "bf", "34"},
		{"a pause begins anew, from the tab it ended on", "bb b b", "3242"},
		{"two tabs back and forth", "b b b", "3 4 3"},
		{"another way to go ends the walk", "bb1b", "3212"},
	} {
		ts, at := fresh(), now
		var got []string
		for _, k := range c.steps {
			at = at.Add(500 * time.Millisecond)
			switch k {
			case 'b':
				ts.Back(at, 1)
			case 'f':
				ts.Back(at, -1)
			case ' ':
				at = at.Add(2 * time.Second)
				continue
			default:
				ts.Nth(int(k - '0'))
			}
			got = append(got, fmt.Sprint(ts.Focus.Info.ID))
		}
		if want := strings.ReplaceAll(c.want, " ", ""); strings.Join(got, "") != want {
			t.Errorf("%s: %q goes through %s, want %s", c.name, c.steps, strings.Join(got, ""), want)
		}
	}
}

func TestWalkOverFewTabs(t *testing.T) {
	ts := &tabs.Tabs{}
	ts.Back(time.Now(), 1)
	ts.Add(&tabs.Tab{Info: event.Info{ID: 1}})
	ts.Back(time.Now(), 1)
	if ts.Focus.Info.ID != 1 {
		t.Error("the only tab lost the focus")
	}
}

// TestClosingATabDuringAWalk must leave a focus that exists.
func TestClosingATabDuringAWalk(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	ts := &tabs.Tabs{}
	for i := range 4 {
		ts.Add(&tabs.Tab{Info: event.Info{ID: int64(i + 1)}})
	}
	for i := 1; i <= 4; i++ {
		ts.Nth(i)
	}
	ts.Back(now, 1)
	ts.Back(now, 1)
	ts.Back(now, 1) // at 1, the fourth
	ts.Remove(1)
	ts.Remove(2)
	if ts.Focus == nil || ts.ByID(ts.Focus.Info.ID) == nil {
		t.Fatalf("the focus is %+v", ts.Focus)
	}
	ts.Back(now, 1)
	ts.Back(now, 1)
	if ts.ByID(ts.Focus.Info.ID) == nil {
		t.Fatalf("the focus is on a closed tab")
	}
}

// mixed is n agents of which all but every third have ended.
func mixed(n int) []event.Info {
	infos := []event.Info{{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}}
	for i := 2; i <= n; i++ {
		x := event.Info{ID: int64(i), Name: fmt.Sprintf("agent%02d", i), Kind: event.Sub, State: event.Done, Started: time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC)}
		switch i % 3 {
		case 0:
			x.State = event.Running
		case 1:
			x.State = event.Failed
		}
		infos = append(infos, x)
	}
	return infos
}

// TestTabRowFolds: a row without room for all folds what has ended into a group
// that counts it; main and helpers stand first.
//
// Spec: Q-59, E-33.
func TestTabRowFolds(t *testing.T) {
	a := screen(t, 100, 24).with(mixed(30)...)
	a.change(event.Info{ID: 31, Name: "helper", Kind: event.Helper, State: event.Idle})
	line, spans := a.tabs.Row(100)
	row := plain(line)
	if !strings.HasPrefix(strings.TrimSpace(row), "main ○ │ ›helper ○ │ agent03 ●") {
		t.Errorf("the row begins otherwise: %q", row)
	}
	if !strings.Contains(row, "✓ 10 ✗ 9") || strings.Contains(row, "agent02") {
		t.Errorf("what ended is not folded: %q", row)
	}
	if s := spans[len(spans)-1]; s.ID != tabs.EndedGroup {
		t.Errorf("the group can't be clicked: %+v", spans)
	}
	a.drawn.tabs = spans
	if a.click(tea.MouseClickMsg{X: spans[len(spans)-1].From + 1, Button: tea.MouseLeft}); a.boards.fleet() == nil {
		t.Error("a click on the group does not open the overview")
	}
	a.layers.Shut()
	a.tabs.To(a.tabs.ByID(2))
	if row = plain(first(a.tabs.Row(100))); !strings.Contains(row, "agent02 ✓") || !strings.Contains(row, "✓ 9 ✗ 9") || !strings.HasPrefix(row, "‹") {
		t.Errorf("the focused one is folded or counted: %q", row)
	}
	a.tabs.Next(-1)
	if a.tabs.Focus.Info.Name != "agent30" {
		t.Errorf("left of it stands %s", a.tabs.Focus.Info.Name)
	}
	a.tabs.Nth(2)
	if a.tabs.Focus.Info.Name != "helper" {
		t.Errorf("the second tab is %s", a.tabs.Focus.Info.Name)
	}
	if row = plain(first(a.tabs.Row(600))); !strings.Contains(row, "agent02 ✓") || strings.Contains(row, "✓ 10") {
		t.Errorf("with room for all some are folded: %q", row)
	}
	for _, x := range mixed(30)[1:] {
		if x.State.Terminal() {
			a.apply(event.Closed{Agent: x.ID})
		}
	}
	if a.tabs.Good != 0 || a.tabs.Bad != 0 || len(a.tabs.All) != len(a.tabs.Open) {
		t.Errorf("%d and %d ended are left of %d", a.tabs.Good, a.tabs.Bad, len(a.tabs.All))
	}
}

func first(s string, _ []tabs.Span) string { return s }

// TestTabNames_cutBeforeTabsFold: where there is no room, names lose their middle
// before a tab leaves the row, and no two come to look alike.
func TestTabNames_cutBeforeTabsFold(t *testing.T) {
	names := []string{"implement-auth-tests-1", "implement-auth-tests-2", "implement-auth-docs-1", "implement-cart-tests-1"}
	a := screen(t, 120, 24).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle})
	open := func(n int) {
		a.with(event.Info{ID: int64(n + 2), Name: names[n], Kind: event.Sub, State: event.Done})
	}
	is := func(w int, want string) {
		t.Helper()
		if got := strings.TrimRight(plain(first(a.tabs.Row(w))), " "); got != "  "+want {
			t.Errorf("at %d the row is\n%q, want\n%q", w, got, "  "+want)
		}
	}
	open(0)
	open(1)
	is(80, "1 main ○ │ 2 implement-auth-tests-1 ✓ │ 3 implement-auth-tests-2 ✓")
	is(66, "main ○ │ implement-auth-tests-1 ✓ │ implement-auth-tests-2 ✓")
	is(54, "main ○ │ impleme…-tests-1 ✓ │ impleme…-tests-2 ✓")
	is(44, "main ○ │ imple…ests-1 ✓ │ imple…ests-2 ✓")
	is(40, "1 main ○ │ ✓ 2")
	open(2)
	open(3)
	is(120, "main ○ │ implement-auth-tests-1 ✓ │ implement-auth-tests-2 ✓ │ implement-auth-docs-1 ✓ │ implement-cart-tests-1 ✓")
	is(110, "main ○ │ implement…th-tests-1 ✓ │ implement…th-tests-2 ✓ │ implement…uth-docs-1 ✓ │ implement…rt-tests-1 ✓")
	is(100, "1 main ○ │ ✓ 4")
	for w := 24; w <= 130; w++ {
		line, spans := a.tabs.Row(w)
		seen := map[string]bool{}
		for _, s := range spans {
			if name := string([]rune(plain(line))[s.From:min(s.To, w)]); seen[name] {
				t.Fatalf("at %d two tabs look alike: %q", w, plain(line))
			} else {
				seen[name] = true
			}
		}
	}
}

// TestTabRow_tellsThatAHiddenOneAsks: whatever side it is out of sight at, and not when
// it is in sight.
func TestTabRow_tellsThatAHiddenOneAsks(t *testing.T) {
	for _, c := range []struct {
		asks, focus int64
		want        string
	}{{2, 20, "‹%? "}, {19, 2, " ?%› "}, {2, 2, ""}, {20, 20, ""}} {
		a := screen(t, 60, 24).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle})
		for id := int64(2); id <= 20; id++ {
			i := event.Info{ID: id, Name: fmt.Sprintf("agent%02d", id), Kind: event.Sub, State: event.Running}
			if id == c.asks {
				i.State = event.Asking
			}
			a.with(i)
		}
		a.tabs.To(a.tabs.ByID(c.focus))
		line := plain(first(a.tabs.Row(60)))
		digits := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '%'
			}
			return r
		}, line)
		digits = strings.ReplaceAll(digits, "%%", "%")
		if hides := strings.Contains(digits, "‹%? ") || strings.Contains(digits, " ?%›"); hides != (c.want != "") || !strings.Contains(digits+" ", c.want) {
			t.Errorf("%d asks while %d shows: %q", c.asks, c.focus, line)
		}
		if got := cells.Width(line); got != 60 {
			t.Errorf("the row is %d wide: %q", got, line)
		}
	}
}

// TestStallMark: the tab of a running agent that is silent for ninety seconds
// says so, and stops to when it gives a sign of life.
func TestStallMark(t *testing.T) {
	a := screen(t, 200, 24)
	at := a.o.Now()
	a.o.Now = func() time.Time { return at }
	a.with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		event.Info{ID: 2, Name: "kid", Kind: event.Sub, State: event.Running, Doing: "tool bash", Call: "bash go test", Started: at, Active: at},
		event.Info{ID: 3, Name: "wait", Kind: event.Sub, State: event.Waiting, Started: at, Active: at},
		event.Info{ID: 4, Name: "again", Kind: event.Sub, State: event.Running, Started: at, Active: at, Retry: &event.Retry{At: at.Add(time.Hour)}},
	)
	if got := a.tabs.ByID(2).StateText(a.asks.OnScreen(a.tabs.ByID(2))); got != "bash go test" {
		t.Errorf("the overview says that it does %q", got)
	}
	for _, c := range []struct {
		after time.Duration
		sign  bool // of life
		want  bool
	}{{89 * time.Second, false, false}, {time.Second, false, true}, {5 * time.Second, false, true}, {0, true, false}, {89 * time.Second, false, false}, {time.Second, false, true}} {
		at = at.Add(c.after)
		if c.sign {
			a.apply(event.Output{Agent: 2, Call: "c", Tail: "x"})
		}
		row := plain(first(a.tabs.Row(200)))
		if got := strings.Count(row, "stalled"); (got == 1) != c.want || got > 1 {
			t.Errorf("after %s: %q", c.after, row)
		}
	}
}

// waiter is an agent that awaits input.
func waiter(id int64, name string, w event.Await) event.Info {
	return event.Info{ID: id, Name: name, Kind: event.Sub, State: event.Idle, Await: &w}
}

// TestIdleRow: an agent that awaits input shows the time it has left; the word idle goes before a name is cut.
//
// Spec: C-17.
func TestIdleRow(t *testing.T) {
	a := screen(t, 200, 24)
	at := a.o.Now()
	a.o.Now, a.tabs.Now = func() time.Time { return at }, func() time.Time { return at }
	long := "implement-auth-tests"
	a.with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		waiter(2, "auth", event.Await{For: 5 * time.Minute, Until: at.Add(4*time.Minute + 12*time.Second)}),
		waiter(3, "kept", event.Await{For: 5 * time.Minute, Attached: 1}),
		waiter(4, "ever", event.Await{}),
		event.Info{ID: 5, Name: long, Kind: event.Sub, State: event.Queued},
	)
	for w, want := range map[int]string{
		200: "  1 main ○ │ 2 auth ◐ idle 4:12 │ 3 kept ◐ idle │ 4 ever ◐ idle │ 5 implement-auth-tests ┄",
		82:  "  1 main ○ │ 2 auth ◐ 4:12 │ 3 kept ◐ │ 4 ever ◐ │ 5 implement-auth-tests ┄",
		76:  "  main ○ │ auth ◐ 4:12 │ kept ◐ │ ever ◐ │ implement-auth-tests ┄",
		67:  "  main ○ │ auth ◐ 4:12 │ kept ◐ │ ever ◐ │ implement-auth-tests ┄",
		66:  "  main ○ │ auth ◐ 4:12 │ kept ◐ │ ever ◐ │ impleme…th-tests ┄",
	} {
		line, spans := a.tabs.Row(w)
		if got := strings.TrimRight(plain(line), " "); got != strings.TrimRight(want, " ") || cells.Width(line) != w {
			t.Errorf("at %d the row is\n%q (%d), want\n%q", w, got, cells.Width(line), want)
		}
		for _, s := range spans {
			if cell, name := string([]rune(plain(line))[s.From:s.To]), a.tabs.ByID(s.ID).Info.Name; !strings.Contains(cell, name[:4]) {
				t.Errorf("at %d a click on %q goes to %s", w, cell, name)
			}
		}
	}
	for after, want := range map[time.Duration]string{0: "4:12", time.Millisecond: "4:12", time.Second: "4:11", 252*time.Second - 1: "0:01", 252 * time.Second: "0:00", time.Hour: "0:00"} {
		was := at
		at = at.Add(after)
		if row := plain(first(a.tabs.Row(200))); !strings.Contains(row, "auth ◐ idle "+want+" │") {
			t.Errorf("after %s: %q", after, row)
		}
		at = was
	}
}

// TestIdleTicks: a second passes on the screen only while some agent's time runs out, and that shows.
//
// Spec: C-16.
func TestIdleTicks(t *testing.T) {
	counts := func(at time.Time) event.Await { return event.Await{For: time.Minute, Until: at.Add(time.Minute)} }
	for _, c := range []struct {
		name string
		w    int
		open func(a *App, at time.Time)
		want bool
	}{
		{"it counts down", 120, func(a *App, at time.Time) { a.with(waiter(2, "auth", counts(at))) }, true},
		{"it is looked at", 120, func(a *App, _ time.Time) { a.with(waiter(2, "auth", event.Await{For: time.Minute})) }, false},
		{"somebody is attached", 120, func(a *App, _ time.Time) { a.with(waiter(2, "auth", event.Await{For: time.Minute, Attached: 1})) }, false},
		{"it stays for ever", 120, func(a *App, _ time.Time) { a.with(waiter(2, "auth", event.Await{})) }, false},
		{"it has ended", 120, func(a *App, at time.Time) {
			i := waiter(2, "auth", counts(at))
			i.State = event.Done
			a.with(i)
		}, false},
		{"it is out of sight", 24, func(a *App, at time.Time) {
			a.with(waiter(2, "a", event.Await{}), waiter(3, "b", event.Await{}), waiter(4, "a-longer-name", event.Await{}), waiter(5, "auth", counts(at)))
		}, false},
		{"only F2 shows it", 24, func(a *App, at time.Time) {
			a.with(waiter(2, "a", event.Await{}), waiter(3, "b", event.Await{}), waiter(4, "a-longer-name", event.Await{}), waiter(5, "auth", counts(at)))
			a.boards.overview()
		}, true},
		{"F2 over one that stays", 120, func(a *App, _ time.Time) {
			a.with(waiter(2, "auth", event.Await{For: time.Minute}))
			a.boards.overview()
		}, false},
	} {
		a := screen(t, c.w, 24).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle})
		c.open(a, a.o.Now())
		a.flash.Clear()
		a.draw()
		switch left := a.drawn.next.Sub(a.o.Now()); {
		case c.want && left != time.Second:
			t.Errorf("%s: the next tick comes in %s", c.name, left)
		case !c.want && !a.drawn.next.IsZero():
			t.Errorf("%s: a tick is on its way, %s from now", c.name, left)
		}
	}
}

// TestIdleStatus: the status line of an agent that awaits input says until when, as short as it must.
func TestIdleStatus(t *testing.T) {
	at := screen(t, 120, 24).o.Now()
	for _, c := range []struct {
		w    int
		a    event.Await
		want string
	}{
		{120, event.Await{For: time.Hour, Until: at.Add(252 * time.Second)}, " idle, closes in 4:12   "},
		{120, event.Await{For: time.Hour}, " idle, stays while you look   "},
		{120, event.Await{For: time.Hour, Attached: 2}, " idle, stays while you look · 2 attached   "},
		{120, event.Await{Attached: 1}, " idle, stays until you end it · 1 attached   "},
		{120, event.Await{For: time.Hour, Ends: true}, " idle, closes now   "},
		{40, event.Await{For: time.Hour, Until: at.Add(252 * time.Second)}, " idle, closes in 4:12 "},
		{30, event.Await{For: time.Hour, Until: at.Add(252 * time.Second)}, " idle 4:12 "},
		{30, event.Await{For: time.Hour, Attached: 1}, " idle "},
		{24, event.Await{For: time.Hour, Until: at.Add(time.Hour - time.Second)}, "[Agent: auth]           "},
	} {
		i := waiter(1, "auth", c.a)
		i.Model = "test/scripted"
		a := screen(t, c.w, 24).with(i)
		a.flash.Clear()
		a.branch, a.tabs.Focus = "", a.tabs.ByID(1)
		if got := plain(a.statusLine(c.w)); !strings.Contains(got, c.want) {
			t.Errorf("at %d, %+v: %q lacks %q", c.w, c.a, got, c.want)
		}
	}
}

// TestTalk: m in the overview goes to the tab and opens the line to its agent; a draft that stands there stays.
//
// Spec: C-29.
func TestTalk(t *testing.T) {
	a := screen(t, 120, 24).with(
		event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}, waiter(2, "auth", event.Await{For: time.Minute}),
		event.Info{ID: 3, Name: "old", Kind: event.Sub, State: event.Done})
	for id, want := range map[int64]string{2: "tell auth› ", 3: "resume old with› "} {
		a.boards.overview()
		a.act(a.layers.Board().Do(dialog.Wanted{Verb: "tell", Agent: id}))
		if l := a.tabs.Focus.Line; a.layers.Top() != nil || a.tabs.Focus.Info.ID != id || l == nil || l.Label != want {
			t.Errorf("%d: the line is %+v in the tab of %s", id, l, a.tabs.Focus.Info.Name)
		}
	}
	a.tabs.ByID(2).Line.Box.Set("half a draft")
	a.boards.overview()
	a.act(a.layers.Board().Do(dialog.Wanted{Verb: "tell", Agent: 2}))
	if got := a.tabs.Focus.Line.Box.Value(); got != "half a draft" {
		t.Errorf("the line holds %q", got)
	}
}
