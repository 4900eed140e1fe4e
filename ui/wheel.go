package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// wheelGap is how long turns of the wheel are gathered, and the shortest time between two mouse
// motions that are passed on.
const wheelGap = 16 * time.Millisecond

// wheel gathers turns of the mouse wheel.
type wheel struct {
	on      bool // the screen has the mouse, not the terminal
	turning bool // a rolled message is on its way
	lines   int  // gathered since then; negative: up
	x, y    int  // position of the pointer
}

// turn gathers a turn of the wheel and reports whether to scroll at once. Only the first one does;
// those that follow closely wait for the rolled message, so that a flood of them costs few frames.
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

// gathered returns and resets the number of lines to scroll; negative: up.
func (w *wheel) gathered() int {
	lines := w.lines
	w.turning, w.lines = false, 0
	return lines
}

// calm drops a flood of mouse motions before it reaches the loop. After the human has left it also
// drops all input: they no longer see what they would answer.
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
