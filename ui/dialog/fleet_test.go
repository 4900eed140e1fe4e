package dialog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// drawn is the overview of these agents at that size, without styles.
func drawn(t *testing.T, ms []Member, glance func(id int64) Glance, w, h int) []string {
	b := NewFleet(theme(t), 1, glance, nil)
	b.Members(ms)
	lines := b.Lines(w, h)
	for i, l := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return lines
}

// TestFleetIsATree: lines lead from each agent to those it dispatched, numbers
// stand beside the names, and what an agent does has the rest of the line.
//
// Spec: Q-59.
func TestFleetIsATree(t *testing.T) {
	ms := []Member{
		{ID: 1, Name: "main"},
		{ID: 2, Parent: 1, Name: "tests"},
		{ID: 3, Parent: 2, Name: "race"},
		{ID: 4, Parent: 3, Name: "one"},
		{ID: 5, Parent: 2, Name: "bench"},
		{ID: 6, Parent: 1, Name: "docs"},
		{ID: 7, Parent: 6, Name: "spell"},
		{ID: 8, Name: "helper"},
	}
	cost := ""
	glance := func(id int64) Glance {
		return Glance{Sign: "●", State: "bash go test ./" + strings.Repeat("long/", 30), Age: "2m", Seen: "3s", Cost: cost, Mail: strings.Repeat("✉1", int(id%2))}
	}
	got := strings.Join(drawn(t, ms, glance, 100, 14), "\n")
	for _, want := range []string{
		"│   agent       age active   mail  now",
		"│ ● main         2m     3s     ✉1  bash go test",
		"│ ● ├ tests      2m     3s         bash",
		"│ ● │ ├ race     2m     3s     ✉1  bash",
		"│ ● │ │ └ one    2m",
		"│ ● │ └ bench    2m",
		"│ ● └ docs       2m",
		"│ ●   └ spell    2m",
		"│ ● helper       2m",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	cost = "$1.20"
	if got := strings.Join(drawn(t, ms, glance, 100, 14), "\n"); !strings.Contains(got, "cost   mail") || !strings.Contains(got, "3s    $1.20     ✉1  bash") {
		t.Errorf("the cost does not stand in\n%s", got)
	}
}

// TestFleet_opening: before the workspace is open there is only main, which has no number yet.
func TestFleet_opening(t *testing.T) {
	got := strings.Join(drawn(t, []Member{{Name: "main"}}, func(int64) Glance { return Glance{Sign: "○", State: "idle"} }, 60, 8), "\n")
	if strings.Count(got, "○ main") != 1 {
		t.Error(got)
	}
}

// TestFleetKeepsItsWidth: whatever names and depth there are, each line has the
// width of the screen and the bar's line can be seen.
func TestFleetKeepsItsWidth(t *testing.T) {
	var ms []Member
	for i := range 100 {
		ms = append(ms, Member{ID: int64(i + 1), Parent: int64(i), Name: fmt.Sprintf("日本%d", i)})
	}
	b := NewFleet(theme(t), 90, func(int64) Glance {
		return Glance{Sign: "✓", State: "done", Age: "20d", Seen: "20d", Mail: "✉12345"}
	}, nil)
	b.Members(ms)
	for _, size := range [][2]int{{40, 12}, {41, 8}, {80, 24}, {120, 36}, {200, 50}} {
		lines := b.Lines(size[0], size[1])
		for _, l := range lines {
			if n := cells.Width(l); n != size[0] {
				t.Errorf("at %v a line has %d cells: %q", size, n, ansi.Strip(l))
			}
		}
		shown := ansi.Strip(strings.Join(lines, "\n"))
		if !strings.Contains(shown, "日本89") && size[0] >= 80 {
			t.Errorf("at %v the bar's line does not show", size)
		}
		if !strings.Contains(shown, " 89 ") && size[0] >= 80 {
			t.Errorf("at %v nothing tells how deep that is:\n%s", size, shown)
		}
	}
}
