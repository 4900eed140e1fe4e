package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// wheelGap is for how long turns of the wheel are gathered, and the least time between two motions
// of the mouse that are let through.
const wheelGap = 16 * time.Millisecond

// wheel gathers turns of the mouse wheel.
type wheel struct {
	on      bool // the mouse is the screen's, not the terminal's
	turning bool // a rolled message is on its way
	lines   int  // gathered since; negative: up
	x, y    int  // where the pointer was
}

// turn gathers a turn and reports whether to scroll at once: the first turn does, those that follow
// closely wait for the rolled message on its way. So a flood of them costs few frames.
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

// gathered returns and forgets by how many lines the wheel was turned; negative: up.
func (w *wheel) gathered() int {
	lines := w.lines
	w.turning, w.lines = false, 0
	return lines
}

// calm drops a flood of mouse motions before it reaches the loop, and all that was typed on a screen that is gone: who typed
// it no longer sees what it would answer.
func calm(now func() time.Time, gone <-chan struct{}) func(tea.Model, tea.Msg) tea.Msg {
	var last time.Time
	return func(_ tea.Model, m tea.Msg) tea.Msg {
		switch m.(type) {
		case tea.KeyMsg, tea.PasteMsg, tea.MouseMsg:
			select {
			case <-gone:
				return nil
			default:
			}
		}
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
