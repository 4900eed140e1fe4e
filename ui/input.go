package ui

import (
	"context"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// unread is what the framework may read: nothing. Its own reader waits half a second for a read to
// return when a program ends, then closes the descriptor under it, whose number another screen of
// the process may have by then.
func unread() tea.ProgramOption { return tea.WithInput(strings.NewReader("")) }

// read sends the program what is typed at a terminal of that kind, until in ends.
func (r Remote) read(in io.Reader, term string, start func(name string, f func())) {
	events := make(chan uv.Event)
	start("read keys", func() {
		defer close(events)
		_ = uv.NewTerminalReader(in, term).StreamEvents(context.Background(), events)
	})
	start("send keys", func() {
		for e := range events {
			r.program.Send(e)
		}
	})
}
