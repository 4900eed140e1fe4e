package ui

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		f    facts
		want rects
	}{
		{"usual", 80, 24, facts{box: 1}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 19}, card: rect{0, 21, 80, 0}, lower: rect{0, 21, 80, 1}, box: rect{0, 22, 80, 1}, keys: rect{0, 23, 80, 0}, status: rect{0, 23, 80, 1},
		}},
		{"a tab without a box", 80, 24, facts{}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 20}, card: rect{0, 22, 80, 0}, lower: rect{0, 22, 80, 1}, box: rect{0, 23, 80, 0}, keys: rect{0, 23, 80, 0}, status: rect{0, 23, 80, 1},
		}},
		{"a long draft gets half", 80, 24, facts{box: 50}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 10}, card: rect{0, 12, 80, 0}, lower: rect{0, 12, 80, 1}, box: rect{0, 13, 80, 10}, keys: rect{0, 23, 80, 0}, status: rect{0, 23, 80, 1},
		}},
		{"a question gets three quarters", 80, 24, facts{box: 1, below: 50}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 6}, card: rect{0, 8, 80, 0}, lower: rect{0, 8, 80, 0}, box: rect{0, 8, 80, 15}, keys: rect{0, 23, 80, 0}, status: rect{0, 23, 80, 1},
		}},
		{"a card takes from the transcript", 80, 24, facts{box: 1, card: 2}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 17}, card: rect{0, 19, 80, 2}, lower: rect{0, 21, 80, 1}, box: rect{0, 22, 80, 1}, keys: rect{0, 23, 80, 0}, status: rect{0, 23, 80, 1},
		}},
		{"a line of keys takes from the transcript", 80, 24, facts{box: 1, keys: 1}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 18}, card: rect{0, 20, 80, 0}, lower: rect{0, 20, 80, 1}, box: rect{0, 21, 80, 1}, keys: rect{0, 22, 80, 1}, status: rect{0, 23, 80, 1},
		}},
		{"low screens have no rules", 40, 8, facts{box: 1}, rects{
			tabs: rect{0, 0, 40, 1}, upper: rect{0, 1, 40, 0}, body: rect{0, 1, 40, 5}, card: rect{0, 6, 40, 0}, lower: rect{0, 6, 40, 0}, box: rect{0, 6, 40, 1}, keys: rect{0, 7, 40, 0}, status: rect{0, 7, 40, 1},
		}},
	} {
		if got := layout(c.w, c.h, c.f); got != c.want {
			t.Errorf("%s: the regions are\n%+v, want\n%+v", c.name, got, c.want)
		}
	}
}

// TestLayoutFillsTheScreen: at every size that is drawn the regions follow each
// other without a gap, and the transcript has at least a line.
func TestLayoutFillsTheScreen(t *testing.T) {
	for h := minHeight; h < 90; h++ {
		for box := range 60 {
			for _, below := range []int{0, 1, 7, 80} {
				r := layout(80, h, facts{box: box, below: below, card: box % 3, keys: box % 2})
				y := 0
				for _, x := range []rect{r.tabs, r.upper, r.body, r.card, r.lower, r.box, r.keys, r.status} {
					if x.y != y || x.h < 0 || x.w != 80 {
						t.Fatalf("height %d, box %d, below %d: there is a gap in %+v", h, box, below, r)
					}
					y += x.h
				}
				if y != h || r.body.h < 1 {
					t.Fatalf("height %d, box %d, below %d: the regions are %+v", h, box, below, r)
				}
			}
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want bool
	}{{24, 6, true}, {23, 6, false}, {24, 5, false}, {0, 0, false}, {250, 80, true}, {-1, 9, false}} {
		if fits(c.w, c.h) != c.want {
			t.Errorf("%d by %d: want %t", c.w, c.h, c.want)
		}
	}
}

// TestResizeRenders: of a window that is dragged only the last size is rendered, 30 ms after it came, by one tick.
func TestResizeRenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := filled(t, 100)
		a.o.Now = time.Now
		came := make(chan tea.Msg, 100)
		var run func(c tea.Cmd)
		run = func(c tea.Cmd) {
			if c == nil {
				return
			}
			go func() {
				switch m := c().(type) {
				case nil:
				case tea.BatchMsg:
					for _, c := range m {
						run(c)
					}
				case rendered:
					if a.w != 159 {
						t.Errorf("it renders at %d", a.w)
					}
					came <- m
				default:
					came <- m
				}
			}()
		}
		var last time.Time
		var after time.Duration
		ticks := 0
		sizes, over := time.NewTicker(5*time.Millisecond), time.NewTimer(time.Second)
		for w, ended := 100, false; !ended; {
			select {
			case <-sizes.C:
				if w < 160 {
					_, c := a.Update(tea.WindowSizeMsg{Width: w, Height: 60})
					run(c)
					w, last = w+1, time.Now()
				}
			case m := <-came:
				switch m.(type) {
				case rendered:
					after = time.Since(last)
				case ticked:
					ticks++
				}
				_, c := a.Update(m)
				run(c)
			case <-over.C:
				ended = true
			}
		}
		a.cancel()
		time.Sleep(time.Minute) // a library's clock ends
		if after != 30*time.Millisecond {
			t.Errorf("it is rendered %v after the last size", after)
		}
		if ticks > 40 {
			t.Errorf("%d ticks", ticks)
		}
	})
}
