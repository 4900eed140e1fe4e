package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/ui/dialog"
)

// walled is a screen that shows the Fan of main and these agents. Their transcripts are read.
func walled(t testing.TB, w, h int, infos ...event.Info) *App {
	t.Helper()
	a := screen(t, w, h).with(slices.Concat([]event.Info{{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}}, infos)...)
	for _, x := range a.tabs.All {
		x.ShowPage([]history.Entry{{Seq: 1, Agent: x.Info.ID, Kind: history.EntryText, Text: "Work of " + x.Info.Name + "."}})
	}
	a.boards.wall()
	a.draw()
	a.asks.Drawn()
	return a
}

// wallKey has the Fan take a key.
func (a *App) wallKey(k tea.KeyPressMsg) { a.Update(k) }

// selected returns the agent whose cell has the thick border.
func (a *App) selected() int64 { return a.layers.Base().(*dialog.Fan).At() }

func sub(id int64, name string, s event.State) event.Info {
	return event.Info{ID: id, Name: name, Kind: event.Sub, State: s}
}

// TestFanStays: agents that ended before the Fan was opened come last. After that no cell moves. The selected agent stays
// selected when another agent asks, ends or starts.
func TestFanStays(t *testing.T) {
	a := walled(t, 120, 36, sub(2, "old", event.Done), sub(3, "docs", event.Running), sub(4, "vet", event.Running))
	order := func() string {
		a.draw()
		var names []string
		for _, id := range a.boards.fan().Tails() {
			names = append(names, a.tabs.ByID(id).Info.Name)
		}
		return strings.Join(names, " ")
	}
	if got := order(); got != "main docs vet old" || a.selected() != 1 {
		t.Errorf("the order is %s, and %d is selected", got, a.selected())
	}
	a.wallKey(tea.KeyPressMsg{Code: tea.KeyRight})
	asking := sub(4, "vet", event.Asking)
	asking.Question = &event.Question{Question: permission.Question{ID: 9, Agent: 4, Name: "vet", Action: permission.Action{Tool: "bash", Kind: permission.Command, Command: "make", Title: "bash make"}}}
	a.with(asking, sub(3, "docs", event.Done), sub(5, "new", event.Running))
	if got := order(); got != "main docs vet new old" || a.selected() != 3 {
		t.Errorf("then the order is %s, and %d is selected", got, a.selected())
	}
	for _, want := range []string{"Work of docs.", "vet asks", "1 asking"} {
		if got := plain(a.drawn.view.Content); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if a.wallKey(tea.KeyPressMsg{Code: tea.KeyTab}); a.selected() != 4 {
		t.Errorf("tab selects %d, not the one that asks", a.selected())
	}
	a.apply(event.Closed{Agent: 4})
	if got := order(); got != "main docs new old" || a.selected() != 5 {
		t.Errorf("after vet was closed the order is %s, and %d is selected", got, a.selected())
	}
}

// TestFanKeys: arrows go by the rows of the wall, a page has as many cells as fit, a filter leaves the agents it matches,
// and Enter goes to the tab.
func TestFanKeys(t *testing.T) {
	var infos []event.Info
	for i := range 19 {
		infos = append(infos, sub(int64(i+2), fmt.Sprintf("agent%02d", i+2), event.Running))
	}
	a := walled(t, 120, 40, infos...)
	for _, c := range []struct {
		key  rune
		want int64
	}{
		{tea.KeyDown, 4},
		{tea.KeyRight, 5},
		{tea.KeyUp, 2},
		{tea.KeyUp, 2},
		{tea.KeyPgDown, 11},
		{tea.KeyEnd, 20},
		{tea.KeyDown, 20},
		{tea.KeyUp, 17},
		{tea.KeyHome, 1},
	} {
		a.wallKey(tea.KeyPressMsg{Code: c.key})
		if got := a.selected(); got != c.want {
			t.Errorf("%s selects %d, want %d", tea.KeyPressMsg{Code: c.key}, got, c.want)
		}
		if shown := a.boards.fan().Tails(); !slices.Contains(shown, a.selected()) || len(shown) > 9 {
			t.Errorf("%d is selected, and %v are shown", a.selected(), shown)
		}
	}
	for _, k := range "/t07" {
		a.wallKey(tea.KeyPressMsg{Code: k, Text: string(k)})
	}
	if shown := a.boards.fan().Tails(); len(shown) != 1 || a.selected() != 7 {
		t.Errorf("with a filter %v are shown", shown)
	}
	if a.wallKey(tea.KeyPressMsg{Code: tea.KeyEnter}); a.tabs.Focus.Info.ID != 7 || a.layers.Top() != nil {
		t.Errorf("Enter goes to %s", a.tabs.Focus.Info.Name)
	}
	a.wallKey(tea.KeyPressMsg{Code: tea.KeyF2})
	if a.boards.fan() == nil || a.selected() != 7 {
		t.Fatal("F2 does not open the Fan on the agent that has the focus")
	}
	if a.wallKey(tea.KeyPressMsg{Code: 'l', Text: "l"}); a.boards.fleet() == nil {
		t.Fatal("l does not open the list")
	}
	if a.wallKey(tea.KeyPressMsg{Code: 'l', Text: "l"}); a.boards.fan() == nil {
		t.Fatal("l does not go back to the Fan")
	}
	if a.wallKey(tea.KeyPressMsg{Code: tea.KeyEscape}); a.layers.Top() != nil {
		t.Error("Esc does not close it")
	}
}

// TestFanFits: whatever the size of the screen and the number of agents, each line is as wide as the screen.
func TestFanFits(t *testing.T) {
	for _, n := range []int{0, 1, 3, 5, 12} {
		var infos []event.Info
		for i := range n {
			infos = append(infos, sub(int64(i+2), fmt.Sprintf("日本語の名前%d", i), event.Running))
		}
		a := walled(t, 120, 36, infos...)
		for _, size := range [][2]int{{24, 6}, {30, 9}, {40, 12}, {79, 23}, {119, 31}, {200, 50}} {
			a.w, a.h = size[0], size[1]
			a.draw()
			lines := strings.Split(plain(a.drawn.view.Content), "\n")
			if len(lines) != a.h {
				t.Errorf("%d agents at %v: %d lines", n, size, len(lines))
			}
			for i, l := range lines {
				if w := len([]rune(l)) + strings.Count(l, "日") + strings.Count(l, "本") + strings.Count(l, "語") + strings.Count(l, "の") + strings.Count(l, "名") + strings.Count(l, "前"); w != a.w {
					t.Errorf("%d agents at %v: line %d is %d wide: %q", n, size, i, w, l)
				}
			}
		}
	}
}

// TestFanAnswers: the keys answer the question in the selected cell alone, once it has been there for half a second, and
// only what the cell shows whole and what is an ordinary call can be allowed there.
func TestFanAnswers(t *testing.T) {
	key := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }
	right := tea.KeyPressMsg{Code: tea.KeyRight}
	command := func(line string) permission.Question {
		return permission.Question{ID: 9, Agent: 2, Name: "vet", Rule: "bash(make *)", Action: permission.Action{Tool: "bash", Kind: permission.Command, Command: line}}
	}
	with := func(change func(q *event.Question)) event.Question {
		q := event.Question{Question: command("make")}
		change(&q)
		return q
	}
	plain, long := with(func(*event.Question) {}), with(func(q *event.Question) { q.Action.Command = strings.Repeat("make all\n", 60) })
	type press struct {
		after time.Duration
		k     tea.KeyPressMsg
	}
	const late = time.Second
	enter, escape := tea.KeyPressMsg{Code: tea.KeyEnter}, tea.KeyPressMsg{Code: tea.KeyEscape}
	for name, c := range map[string]struct {
		q    event.Question
		keys []press
		want permission.Choice
	}{
		"yes":                      {plain, []press{{0, right}, {late, key('y')}}, permission.Once},
		"session":                  {plain, []press{{0, right}, {late, key('s')}}, permission.Session},
		"project":                  {plain, []press{{0, right}, {late, key('p')}}, permission.Project},
		"no":                       {plain, []press{{0, right}, {late, key('n')}, {late, enter}}, permission.No},
		"no, but back":             {plain, []press{{0, right}, {late, key('n')}, {late, escape}}, ""},
		"another key":              {plain, []press{{0, right}, {late, key('a')}, {0, key('1')}}, ""},
		"not selected":             {plain, []press{{late, key('y')}}, ""},
		"just selected":            {plain, []press{{late, right}, {400 * time.Millisecond, key('y')}}, ""},
		"held down":                {plain, []press{{late, right}, {400 * time.Millisecond, key('y')}, {400 * time.Millisecond, key('y')}}, ""},
		"in a filter":              {plain, []press{{0, right}, {late, key('/')}, {late, key('y')}}, ""},
		"no rule":                  {with(func(q *event.Question) { q.Rule = "" }), []press{{0, right}, {late, key('s')}, {0, key('p')}}, ""},
		"no room":                  {long, []press{{0, right}, {late, key('y')}, {0, key('s')}}, ""},
		"no room, but no":          {long, []press{{0, right}, {late, key('n')}, {late, enter}}, permission.No},
		"outside the workspace":    {with(func(q *event.Question) { q.Action.Outside = true }), []press{{0, right}, {late, key('y')}}, ""},
		"a secret":                 {with(func(q *event.Question) { q.Action.Sensitive = "a key" }), []press{{0, right}, {late, key('y')}}, ""},
		"beyond its sandbox":       {with(func(q *event.Question) { q.Action.Kind = permission.Widen }), []press{{0, right}, {late, key('y')}}, ""},
		"from outside the program": {with(func(q *event.Question) { q.Outside = true }), []press{{0, right}, {late, key('y')}}, ""},
		"changed files":            {with(func(q *event.Question) { q.Action.Kind = permission.Tamper }), []press{{0, right}, {late, key('n')}}, ""},
		"ask_user":                 {with(func(q *event.Question) { q.Asks = &tools.Question{Text: "Which?"} }), []press{{0, right}, {late, key('y')}, {0, key('n')}}, ""},
	} {
		asking := sub(2, "vet", event.Asking)
		asking.Question = &c.q
		a := walled(t, 120, 36, asking)
		at := a.o.Now()
		a.o.Now = func() time.Time { return at }
		var got permission.Choice
		a.asks.Answer = func(_ context.Context, id int64, ans event.Answer) error {
			if id == 9 {
				got = ans.Choice
			}
			return nil
		}
		a.actions.start = func(_ string, f func()) { f() }
		for _, p := range c.keys {
			at = at.Add(p.after)
			a.wallKey(p.k)
		}
		if got != c.want {
			t.Errorf("%s: the answer is %q, want %q", name, got, c.want)
		}
		if left := a.asks.Openly(a.tabs.ByID(2)); left != (c.want == "") {
			t.Errorf("%s: the question is open: %v", name, left)
		}
	}
}

// TestFanAnswers_another: a question that comes in place of one that was answered takes no key at first.
func TestFanAnswers_another(t *testing.T) {
	asking := func(id int64) event.Info {
		i := sub(2, "vet", event.Asking)
		i.Question = &event.Question{Question: permission.Question{ID: id, Agent: 2, Name: "vet", Action: permission.Action{Tool: "bash", Kind: permission.Command, Command: fmt.Sprint("make ", id)}}}
		return i
	}
	a := walled(t, 120, 36, asking(8))
	at := a.o.Now()
	a.o.Now = func() time.Time { return at }
	a.wallKey(tea.KeyPressMsg{Code: tea.KeyRight})
	at = at.Add(time.Second)
	a.Update(news{[]event.Event{event.Changed{Info: asking(9)}}})
	y := tea.KeyPressMsg{Code: 'y', Text: "y"}
	if a.wallKey(y); !a.asks.Openly(a.tabs.ByID(2)) {
		t.Fatal("a key that was meant for the question before answers the next one")
	}
	at = at.Add(time.Second)
	if a.wallKey(y); a.asks.Openly(a.tabs.ByID(2)) {
		t.Error("a second later it still takes no answer")
	}
}

// BenchmarkFan is a frame of the Fan for each piece of text of one of many agents that stream.
func BenchmarkFan(b *testing.B) {
	for _, n := range []int{9, 50} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			var infos []event.Info
			for i := range n {
				infos = append(infos, sub(int64(i+2), fmt.Sprintf("agent%02d", i), event.Running))
			}
			a := walled(b, 200, 50, infos...)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				for id := range n {
					a.apply(event.Delta{Agent: int64(id + 2), Block: i / 2000, Text: "some words "})
				}
				a.draw()
			}
		})
	}
}

// TestFanPulse: a cell and a row of the rail show how much an agent at work wrote lately. Nothing shows of an agent at rest,
// nor with reduced motion.
func TestFanPulse(t *testing.T) {
	for _, still := range []bool{false, true} {
		a := walled(t, 160, 36, sub(2, "docs", event.Running), sub(3, "todo", event.Idle))
		a.tabs.Still = still
		for _, id := range []int64{2, 3} {
			a.tabs.ByID(id).Heard(100)
		}
		a.draw()
		fan := plain(a.drawn.view.Content)
		a.wallKey(tea.KeyPressMsg{Code: tea.KeyEscape})
		a.draw()
		for _, frame := range []string{fan, plain(a.drawn.view.Content)} {
			if n := strings.Count(frame, "▁▁▁▁▁▄"); n != map[bool]int{false: 1, true: 0}[still] {
				t.Errorf("still %t: %d pulses in\n%s", still, n, frame)
			}
		}
	}
}

// TestFanLeft: Left in an empty box opens the Fan; in a text it moves the cursor.
func TestFanLeft(t *testing.T) {
	a := screen(t, 120, 36).with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}, sub(2, "docs", event.Running))
	press := func(keys ...tea.KeyPressMsg) {
		for _, k := range keys {
			a.Update(k)
		}
	}
	left := tea.KeyPressMsg{Code: tea.KeyLeft}
	press(tea.KeyPressMsg{Code: 'b', Text: "b"}, left, tea.KeyPressMsg{Code: 'a', Text: "a"})
	if a.boards.fan() != nil || a.tabs.Typing().Value() != "ab" {
		t.Errorf("in a text it opens the Fan, or the text is %q", a.tabs.Typing().Value())
	}
	press(tea.KeyPressMsg{Code: tea.KeyBackspace}, tea.KeyPressMsg{Code: tea.KeyDelete}, left)
	if a.boards.fan() == nil {
		t.Error("in an empty box it does not open the Fan")
	}
}
