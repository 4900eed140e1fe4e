package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// wheelGap is how long turns of the wheel are gathered, and how far apart motions
// of the mouse are let through.
const wheelGap = 16 * time.Millisecond

// wheel gathers turns of the mouse's wheel.
type wheel struct {
	on      bool // the mouse is the screen's, not the terminal's
	turning bool // a rolled is on its way
	lines   int  // gathered since; negative: up
	x, y    int  // where the pointer was
}

// turn gathers a turn and reports whether it is to move something at once: the first does,
// those that follow closely wait for the rolled that is on its way. So a flood of them costs
// a frame now and then.
func (w *wheel) turn(m tea.MouseWheelMsg) bool {
	w.x, w.y = m.X, m.Y
	switch m.Button {
	case tea.MouseWheelUp:
		w.lines -= 3
	case tea.MouseWheelDown:
		w.lines += 3
	}
	return !w.turning
}

// gathered is by how many lines it was turned since it was last asked; negative: up.
func (w *wheel) gathered() int {
	lines := w.lines
	w.turning, w.lines = false, 0
	return lines
}

// calm drops floods of mouse motion before they reach the loop.
func calm(now func() time.Time) func(tea.Model, tea.Msg) tea.Msg {
	var last time.Time
	return func(_ tea.Model, m tea.Msg) tea.Msg {
		if _, ok := m.(tea.MouseMotionMsg); ok {
			t := now()
			if t.Sub(last) < wheelGap {
				return nil
			}
			last = t
		}
		return m
	}
}
