package ui

// rect is a region of the screen in cells.
type rect struct{ x, y, w, h int }

// facts is what the layout depends on.
type facts struct {
	box   int // lines that the prompt box wants; 0: the tab has none
	below int // lines that a question wants in the box's place; 0: none
	card  int // lines that the urgent card wants; 0: none
	keys  int // 1: there is a line of keys
}

// rects are the regions of the screen from top to bottom.
type rects struct {
	tabs, upper, body, card, lower, box, keys, status rect
}

// The size of the smallest screen that is drawn.
const (
	minWidth  = 24
	minHeight = 6
)

// fits reports whether a screen of that size can be drawn.
func fits(w, h int) bool { return w >= minWidth && h >= minHeight }

// layout divides a screen of w by h cells. The transcript gets the remaining lines, at least one. A
// question may be higher than the prompt box. A card is cut before the transcript.
func layout(w, h int, f facts) rects {
	var r rects
	if f.below > 0 {
		f.keys = 0 // a question names its own
	}
	r.tabs = rect{0, 0, w, 1}
	r.status = rect{0, h - 1, w, 1}
	r.keys = rect{0, h - 1 - f.keys, w, f.keys}
	lower := f.box
	most := max(1, (h-4)/2)
	if f.below > 0 {
		lower, most = f.below, questionRows(h)
	}
	lower = min(lower, most)
	r.upper, r.lower = rect{0, 1, w, 1}, rect{0, 0, w, 1}
	if h < 10 {
		r.upper.h, r.lower.h = 0, 0
	}
	if f.below > 0 {
		r.lower.h = 0 // a question has a border of its own
	}
	r.body = rect{0, 1 + r.upper.h, w, h - 2 - r.upper.h - r.lower.h - lower - f.keys}
	r.card.w, r.card.h = w, min(f.card, r.body.h-1)
	r.body.h -= r.card.h
	r.card.y = r.body.y + r.body.h
	r.lower.y = r.card.y + r.card.h
	r.box = rect{0, r.lower.y + r.lower.h, w, lower}
	return r
}

// questionRows returns how many of h lines a question may have. On a low screen it leaves one line of
// the transcript, so that some of what is asked about shows beside the choices.
func questionRows(h int) int { return max(3, (h-4)*3/4, min(h-4, 8)) }
