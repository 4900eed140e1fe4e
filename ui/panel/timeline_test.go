package panel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/tabs"
)

// timelineAt is a timeline of main and n agents below it, at a time of its own. Each agent asked in the middle of the
// last ten minutes.
func timelineAt(t *testing.T, now time.Time, n int) *Timeline {
	t.Helper()
	theme, err := themes.Load(themes.Default(true), true)
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now }
	ts := &tabs.Tabs{Look: tabs.Look{Theme: theme, Now: clock}}
	ts.Add(ts.Make(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle}))
	read := agents.Timeline{From: now.Add(-10 * time.Minute), Stretch: time.Minute, Rows: map[int64]*agents.TimelineRow{}}
	read.Oldest, read.First = now.Add(-time.Hour), now.Add(-8*time.Minute)
	read.Waited, read.Busy = 2*time.Minute, 7*time.Minute
	for i := range n {
		id := int64(i + 2)
		ts.Add(ts.Make(event.Info{ID: id, Parent: 1, Name: fmt.Sprintf("日本%d", i), Kind: event.Sub, State: event.Running, Doing: "streaming"}))
		r := &agents.TimelineRow{Acts: make([]agents.Act, 10), Mail: make([]bool, 10)}
		copy(r.Acts[2:], []agents.Act{agents.Stood, agents.Thought, agents.ForHuman, agents.ForHuman, agents.Called, agents.Rested})
		r.Mail[8] = true
		read.Rows[id] = r
	}
	x := NewTimeline(Options{Tabs: ts, Theme: theme, Now: clock}, &Waiting{})
	x.Muster()
	x.took(read, nil)
	return x
}

func pressed(x *Timeline, codes ...rune) (d dialog.Decision) {
	for _, c := range codes {
		k := tea.KeyPressMsg{Code: c}
		if c < 128 && c > ' ' {
			k.Text = string(c)
		}
		d = x.Key(k)
	}
	return d
}

// TestTimeline_bar: what was read shows at its time, also while another span is shown than was read.
func TestTimeline_bar(t *testing.T) {
	now := time.Date(2026, 3, 4, 15, 30, 0, 0, time.UTC)
	x := timelineAt(t, now, 1)
	x.zoom = 1 // 15 minutes
	row := ""
	for _, l := range x.Lines(100, 24) {
		if strings.Contains(l, "日本0") {
			row = ansi.Strip(l)
		}
	}
	runs := ""
	for _, r := range row {
		if strings.ContainsRune("┄━▒╍·✉", r) && !strings.HasSuffix(runs, string(r)) {
			runs += string(r)
		}
	}
	if runs != "┄━▒╍·✉" {
		t.Errorf("the row shows %q: %s", runs, row)
	}
	if got := strings.Count(row, "▒"); got < 8 || got > 10 {
		t.Errorf("two of 15 minutes have %d columns: %s", got, row)
	}
	for _, w := range []int{80, 100} {
		got := ansi.Strip(strings.Join(x.Lines(w, 24), "\n"))
		for _, want := range []string{"Waited for you: 2:00 of 7:00", "━ model  ╍ tool  ▒ waiting for you"} {
			if !strings.Contains(got, want) {
				t.Errorf("at %d columns %q is missing in\n%s", w, want, got)
			}
		}
	}
}

// TestTimeline_fits: whatever the size and the number of agents, each line is as wide as the board, and the selected row
// shows.
func TestTimeline_fits(t *testing.T) {
	now := time.Date(2026, 3, 4, 15, 30, 0, 0, time.UTC)
	for _, n := range []int{0, 1, 5, 60} {
		x := timelineAt(t, now, n)
		for _, size := range [][2]int{{24, 4}, {40, 10}, {80, 22}, {120, 34}, {200, 48}} {
			for _, at := range []time.Time{{}, now.Add(-4 * time.Minute)} {
				x.at, x.until = at, now
				for range n {
					pressed(x, tea.KeyDown)
				}
				lines := x.Lines(size[0], size[1])
				if len(lines) != size[1] {
					t.Errorf("%d agents at %v: %d lines", n, size, len(lines))
				}
				seen := n == 0
				for i, l := range lines {
					if got := cells.Width(l); got != size[0] {
						t.Errorf("%d agents at %v: line %d is %d wide: %q", n, size, i, got, l)
					}
					seen = seen || strings.Contains(l, fmt.Sprintf("本%d", n-1))
				}
				if !seen {
					t.Errorf("%d agents at %v: the selected row does not show in\n%s", n, size, ansi.Strip(strings.Join(lines, "\n")))
				}
			}
		}
	}
}

// TestTimeline_moments: the moment goes by columns, not before the first turn and not after now, and stays visible.
func TestTimeline_moments(t *testing.T) {
	now := time.Date(2026, 3, 4, 15, 30, 7, 0, time.UTC)
	x := timelineAt(t, now, 2)
	x.Lines(100, 24)
	s := x.stretch()
	for _, c := range []struct {
		keys []rune
		want time.Duration // before now; 0: it is now
	}{
		{[]rune{tea.KeyRight}, 0},
		{[]rune{tea.KeyLeft}, s},
		{[]rune{tea.KeyLeft, tea.KeyLeft}, 3 * s},
		{[]rune{tea.KeyRight}, 2 * s},
		{[]rune{tea.KeyPgUp}, 12 * s},
		{[]rune{tea.KeyPgDown, tea.KeyPgDown}, 0},
		{[]rune{tea.KeyHome}, time.Hour},
		{[]rune{tea.KeyLeft, tea.KeyPgUp}, time.Hour},
		{[]rune{'-', '-', '+'}, time.Hour},
		{[]rune{tea.KeyEnd}, 0},
	} {
		pressed(x, c.keys...)
		x.Lines(100, 24)
		got := time.Duration(0)
		if !x.at.IsZero() {
			got = now.Sub(x.at)
			if col := x.column(x.visible()); col < 0 || col >= x.cols {
				t.Errorf("%q: the moment is in column %d of %d", c.keys, col, x.cols)
			}
		}
		if d := (got - c.want).Abs(); d > x.stretch() {
			t.Errorf("%q: the moment is %s ago, want %s", c.keys, got, c.want)
		}
	}
	if d, ok := pressed(x, tea.KeyDown, tea.KeyEnter).(dialog.Opened); !ok || d.Agent != 2 {
		t.Errorf("Enter decides %v", d)
	}
	if _, closes := pressed(x, tea.KeyEscape).(dialog.Cancelled); !closes {
		t.Error("Esc does not close the board")
	}
}
