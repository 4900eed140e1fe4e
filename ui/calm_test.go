package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestCalm_gone: what was typed on a screen that is gone answers nothing and goes into no prompt; all else goes on.
func TestCalm_gone(t *testing.T) {
	gone := make(chan struct{})
	filter := calm(time.Now, gone)
	typed := []tea.Msg{
		tea.KeyPressMsg{Code: 'y', Text: "y"},
		tea.KeyPressMsg{Code: tea.KeyEnter},
		tea.KeyReleaseMsg{Code: 'y'},
		tea.PasteMsg{Content: "yes"},
		tea.MouseClickMsg{},
		tea.MouseReleaseMsg{},
		tea.MouseWheelMsg{},
	}
	for _, m := range typed {
		if filter(nil, m) == nil {
			t.Errorf("%T is dropped while somebody sits there", m)
		}
	}
	close(gone)
	for _, m := range append(typed, tea.MouseMotionMsg{}) {
		if got := filter(nil, m); got != nil {
			t.Errorf("%T is taken although the screen is gone", m)
		}
	}
	for _, m := range []tea.Msg{tea.QuitMsg{}, tea.WindowSizeMsg{}, "an event"} {
		if filter(nil, m) == nil {
			t.Errorf("%T is dropped", m)
		}
	}
}
