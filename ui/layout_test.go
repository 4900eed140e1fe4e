package ui

import "testing"

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		f    facts
		want rects
	}{
		{"usual", 80, 24, facts{box: 1}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 19}, card: rect{0, 21, 80, 0}, lower: rect{0, 21, 80, 1}, box: rect{0, 22, 80, 1}, status: rect{0, 23, 80, 1},
		}},
		{"a tab without a box", 80, 24, facts{}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 20}, card: rect{0, 22, 80, 0}, lower: rect{0, 22, 80, 1}, box: rect{0, 23, 80, 0}, status: rect{0, 23, 80, 1},
		}},
		{"a long draft gets half", 80, 24, facts{box: 50}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 10}, card: rect{0, 12, 80, 0}, lower: rect{0, 12, 80, 1}, box: rect{0, 13, 80, 10}, status: rect{0, 23, 80, 1},
		}},
		{"a question gets three quarters", 80, 24, facts{box: 1, below: 50}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 6}, card: rect{0, 8, 80, 0}, lower: rect{0, 8, 80, 0}, box: rect{0, 8, 80, 15}, status: rect{0, 23, 80, 1},
		}},
		{"a card takes from the transcript", 80, 24, facts{box: 1, card: 2}, rects{
			tabs: rect{0, 0, 80, 1}, upper: rect{0, 1, 80, 1}, body: rect{0, 2, 80, 17}, card: rect{0, 19, 80, 2}, lower: rect{0, 21, 80, 1}, box: rect{0, 22, 80, 1}, status: rect{0, 23, 80, 1},
		}},
		{"low screens have no rules", 40, 8, facts{box: 1}, rects{
			tabs: rect{0, 0, 40, 1}, upper: rect{0, 1, 40, 0}, body: rect{0, 1, 40, 5}, card: rect{0, 6, 40, 0}, lower: rect{0, 6, 40, 0}, box: rect{0, 6, 40, 1}, status: rect{0, 7, 40, 1},
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
				r := layout(80, h, facts{box: box, below: below, card: box % 3})
				y := 0
				for _, x := range []rect{r.tabs, r.upper, r.body, r.card, r.lower, r.box, r.status} {
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
