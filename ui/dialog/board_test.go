package dialog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"fantail/themes"
	"fantail/ui/cells"
)

// sheet is a preview of numbered lines.
type sheet struct {
	name string
	top  int
}

func (s *sheet) Lines(w, h int) []string {
	var out []string
	for i := range h {
		out = append(out, cells.Cut(fmt.Sprintf("%s, line %d", s.name, s.top+i), w))
	}
	return out
}

func (s *sheet) Scroll(lines int) { s.top = max(0, s.top+lines) }

var noon = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

var boardVerbs = []Verb{
	{Key: "enter", Name: "take", Hint: "takes"},
	{Key: "r", Name: "reply", Hint: "reply", Ask: "reply to %s› "},
	{Key: "a", Name: "archive", Hint: "archives"},
	{Key: "u", Name: "undo", Hint: "undo", Bare: true},
}

// mailRow is row n of an inbox, the newest first.
func mailRow(n int64) Line {
	l := Line{ID: n, Sign: "✓", Role: themes.Good, Number: fmt.Sprintf("#%d", n), Who: "auth", Text: fmt.Sprintf("what was found, part %d", n), At: noon.Add(-time.Duration(n) * time.Minute), Cost: int(n) * 10}
	switch n % 5 {
	case 1:
		l.Sign, l.Role, l.Who, l.Fresh = "✉", themes.Message, "日本語の名前", true
	case 2:
		l.Fold, l.Text = 3, strings.Repeat("long ", 40)
	case 3:
		l.Sign, l.Role, l.Flags, l.Mark = "✗", themes.Bad, "urgent [ci] [blocker]", "^"
	case 4:
		l.Faint = true
	}
	return l
}

func mailRows(from, to int64) []Line {
	var ls []Line
	for n := from; n <= to; n++ {
		ls = append(ls, mailRow(n))
	}
	return ls
}

func mailBoard(tb testing.TB, ls []Line) *Board {
	b := NewBoard(theme(tb), func() time.Time { return noon }, "Inbox · main", "Nothing waits. /push PROMPT and /run: results land here.", boardVerbs, true)
	b.Lanes([]Lane{{"Needs you", "Need", 2, themes.Warn}, {"Failed", "Fail", 1, themes.Bad}, {"Done", "Done", 14, themes.Good}, {"FYI", "FYI", 0, themes.Text}})
	b.Show(ls, false, false)
	return b
}

// see makes the preview of the row under the bar.
func see(b *Board) *sheet {
	s := &sheet{name: fmt.Sprintf("message %d", b.At())}
	b.Preview(b.At(), s)
	return s
}

// TestBoardFrames: every size, alone, with a thread unfolded and rows picked, with
// the preview alone, and with a line open at the foot.
//
// Spec: M-35.
func TestBoardFrames(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			var out strings.Builder
			draw := func(name string, b *Board) {
				fmt.Fprintf(&out, "== %s\n%s┊\n", name, strings.ReplaceAll(text(b, size[0], size[1]-2), "\n", "┊\n"))
				if x, y, ok := b.Cursor(); ok {
					fmt.Fprintf(&out, "cursor %d,%d\n", x, y)
				}
			}
			b := mailBoard(t, mailRows(1, 60))
			keys(b, "down down")
			see(b)
			draw("list", b)
			keys(b, "space 1")
			ls := mailRows(1, 60)
			ls[1].Open = true
			u := mailRow(90)
			u.Under, u.Faint = true, true
			b.Show(slices.Insert(ls, 2, u), false, false)
			draw("lane, picked, unfolded", b)
			keys(b, "0 g j")
			see(b)
			keys(b, "p")
			draw("peek", b)
			keys(b, "esc r 'I would rather'")
			draw("reply", b)
			keys(b, "esc / 'find' enter")
			b.Show(nil, false, false)
			draw("nothing found", b)
			e := mailBoard(t, nil)
			e.Fail("Archive: the message #3 was already taken")
			draw("empty, an error", e)
			golden.RequireEqual(t, out.String())
		})
	}
}

// TestBoardKeepsItsWidth: whatever the size, each line has the width of the board
// and there are as many as fit.
func TestBoardKeepsItsWidth(t *testing.T) {
	b := mailBoard(t, mailRows(1, 300))
	for w := 1; w < 210; w += 1 + w/7 {
		for h := 1; h < 60; h += 1 + h/5 {
			for _, script := range []string{"", "p", "r 'text'", "esc", "p"} {
				keys(b, script)
				see(b)
				lines := b.Lines(w, h)
				if len(lines) > h || fits(w, h) && len(lines) == 0 {
					t.Fatalf("%dx%d has %d lines", w, h, len(lines))
				}
				for _, l := range lines {
					if n := cells.Width(l); n != w {
						t.Fatalf("at %dx%d a line has %d cells: %q", w, h, n, ansi.Strip(l))
					}
				}
				if x, y, ok := b.Cursor(); ok && (x >= w || y >= h) {
					t.Fatalf("at %dx%d the cursor is at %d,%d", w, h, x, y)
				}
			}
		}
	}
}

// TestBoardStaysOnItsRow: what arrives, leaves or is read does not move the bar
// from its row; where that is gone it stays in its place.
func TestBoardStaysOnItsRow(t *testing.T) {
	b := mailBoard(t, mailRows(10, 200))
	keys(b, "down down down down")
	b.Lines(120, 36)
	b.Show(mailRows(7, 200), false, false)
	if b.At() != 14 {
		t.Errorf("after arrivals the bar is on %d", b.At())
	}
	if got := text(b, 120, 36); !strings.Contains(got, "#7 ") {
		t.Errorf("what arrived does not show on top:\n%s", got)
	}
	b.Show(append(mailRows(7, 13), mailRows(15, 200)...), false, false)
	if b.At() != 15 {
		t.Errorf("when its row is gone the bar is on %d, not on the one behind it", b.At())
	}
	b.Show(mailRows(7, 9), false, false)
	if b.At() != 9 {
		t.Errorf("the bar is on %d, not on the last", b.At())
	}
	b.Show(nil, false, false)
	if b.At() != 0 || b.Key(press("a")) != nil {
		t.Error("there is something under the bar of an empty list")
	}
	b.Show(mailRows(3, 4), false, false)
	if b.At() != 3 {
		t.Errorf("the bar is on %d of a list that was empty", b.At())
	}
}

// TestBoardWantsMore: near an end of the window that is not the end of all, more is
// wanted; g and G go to the finish themselves.
func TestBoardWantsMore(t *testing.T) {
	b := mailBoard(t, nil)
	b.Show(mailRows(1, 200), false, true)
	if above, below := b.Wants(); above || below {
		t.Error("at the beginning more is wanted")
	}
	for range 150 {
		b.Key(press("j"))
	}
	if above, below := b.Wants(); above || !below {
		t.Errorf("near the end: %v, %v", above, below)
	}
	b.Show(mailRows(101, 400), true, true)
	if above, below := b.Wants(); b.At() != 151 || !above || below {
		t.Errorf("the bar is on %d: %v, %v", b.At(), above, below)
	}
	b.Key(press("G"))
	if b.Leaps() != 1 {
		t.Fatal("G does not want the end")
	}
	b.Show(mailRows(900, 1000), true, false)
	b.Landed()
	if b.At() != 1000 || b.Leaps() != 0 {
		t.Errorf("G went to %d", b.At())
	}
	b.Key(press("g"))
	b.Show(mailRows(1, 200), false, true)
	if b.Landed(); b.At() != 1 {
		t.Errorf("g went to %d", b.At())
	}
}

// TestBoardWishes: a verb is about the row under the bar, or about those that are
// picked; what asks for a text has it; Esc takes back one thing after another.
func TestBoardWishes(t *testing.T) {
	b := mailBoard(t, mailRows(1, 20))
	b.Lines(120, 36)
	want := func(d Decision, verb string, text string, id int64, ids ...int64) {
		t.Helper()
		w, ok := d.(BoardAction)
		if !ok || w.Verb != verb || w.Text != text || w.ID != id || !slices.Equal(w.IDs, ids) {
			t.Errorf("the wish is %+v", d)
		}
	}
	want(keys(b, "j a"), "archive", "", 2, 2)
	want(keys(b, "space space a"), "archive", "", 4, 2, 3)
	want(keys(b, "enter"), "take", "", 4, 2, 3)
	want(keys(b, "r 'do a' enter"), "reply", "do a", 4, 4)
	if !strings.Contains(text(b, 120, 36), "2 messages, ~50 tokens") {
		t.Errorf("the price is not in\n%s", text(b, 120, 36))
	}
	if keys(b, "esc") != nil || len(b.Picked()) != 0 {
		t.Error("Esc did not let go of what was picked")
	}
	if keys(b, "/ 'a u r' enter esc") != nil || b.Search() != "" {
		t.Error("letters that were searched for did something, or Esc did not clear them")
	}
	if _, ok := keys(b, "esc").(Cancelled); !ok {
		t.Error("Esc does not close the board")
	}
	b.Resume(BoardAction{Verb: "reply", ID: 3, Text: "again"})
	if got := text(b, 120, 36); !strings.Contains(got, "reply to auth #3› again") && !strings.Contains(got, "#3› again") {
		t.Errorf("what was typed is not back:\n%s", got)
	}
}

// TestBoardSaysAllOfAnError: a sentence that is longer than the board is wide stands
// in several rows, above the line that is open, which stays.
func TestBoardSaysAllOfAnError(t *testing.T) {
	b := mailBoard(t, mailRows(1, 20))
	keys(b, "r 'text'")
	b.Fail("Reply to #10: the agent bad has ended (failed) and reads no mail; /resume bad PROMPT to continue it")
	got := text(b, 60, 24)
	for _, want := range []string{"Reply to #10: the agent bad has ended", "/resume bad PROMPT to continue it", "› text", "enter confirm · esc back"} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(got, "│", "")), " "), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if lines := strings.Split(got, "\n"); len(lines) != 24 {
		t.Errorf("%d lines", len(lines))
	}
}

// TestBoardPicksNoQuestion: what Enter does something else with is not picked, and
// costs nothing.
func TestBoardPicksNoQuestion(t *testing.T) {
	ls := mailRows(1, 3)
	ls[0].Does = "answer"
	b := mailBoard(t, ls)
	keys(b, "space")
	got := text(b, 120, 36)
	if len(b.Picked()) != 0 || b.At() != 1 || !strings.Contains(got, "enter answer · ") || !strings.Contains(got, "Press enter to answer it") {
		t.Errorf("picked %v:\n%s", b.Picked(), got)
	}
	keys(b, "g")
	if got := text(b, 120, 36); strings.Contains(got, "tokens") {
		t.Errorf("a question has a price:\n%s", got)
	}
}

// TestBoardByMouse: a click selects a row or a lane, the wheel scrolls what the
// pointer is over.
func TestBoardByMouse(t *testing.T) {
	b := mailBoard(t, mailRows(1, 60))
	s := see(b)
	lines := strings.Split(text(b, 120, 36), "\n")
	y := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "#7 ") })
	b.Click(10, y)
	if b.At() != 7 {
		t.Errorf("the click in row %d went to %d", y, b.At())
	}
	b.Wheel(10, y, 3)
	if b.At() != 10 {
		t.Errorf("the wheel went to %d", b.At())
	}
	b.Wheel(100, y, 3)
	if s.top != 3 || b.At() != 10 {
		t.Errorf("over the preview the wheel moved it to %d, the bar to %d", s.top, b.At())
	}
	b.Click(strings.Index(ansi.Strip(lines[1]), "Failed"), 1)
	if b.Lane() != 1 {
		t.Errorf("the click went to lane %d", b.Lane())
	}
}

// BenchmarkBoardFrame is a frame while any number of messages wait: the window is
// all of them that the board knows.
func BenchmarkBoardFrame(b *testing.B) {
	board := mailBoard(b, nil)
	board.Show(mailRows(1, 600), true, true)
	board.Lanes([]Lane{{"Needs you", "Need", 2, themes.Warn}, {"Failed", "Fail", 1, themes.Bad}, {"Done", "Done", 99_997, themes.Good}, {"FYI", "FYI", 0, themes.Text}})
	see(board)
	for i := 0; b.Loop(); i++ {
		board.Key(press([]string{"j", "j", "k"}[i%3]))
		board.Lines(200, 50)
	}
}

// A row tells how old it is or, of what is due, how long until then; only minutes are counted down.
func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at    time.Duration
		ahead bool
		want  string
	}{
		{-90 * time.Second, false, "1m"},
		{time.Hour, false, "0s"},
		{25 * time.Hour, true, "in 1d"},
		{2*time.Hour - 300*time.Millisecond, true, "in 2h"},
		{time.Minute, true, "in 1m"},
		{59 * time.Second, true, "soon"},
		{0, true, "now"},
		{-59 * time.Second, true, "now"},
		{-time.Minute, true, "late"},
	} {
		if got := age(Line{At: now.Add(c.at), Ahead: c.ahead}, now); got != c.want {
			t.Errorf("%s ahead: %q, not %q", c.at, got, c.want)
		}
	}
	if got := age(Line{Ahead: true}, now); got != "" {
		t.Errorf("without a time: %q", got)
	}
}
