package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
)

// feedRest is how long the feed rests after each delivery: at most fifteen a
// second reach the loop. A frame of a streaming reply costs the framework about
// a millisecond, most of it for comparing it with the frame before, and text
// that comes in steps this small is read as text that flows. Keys don't wait.
const feedRest = 66 * time.Millisecond

// follow carries the feed's news to the program until the screen ends. It is
// the interface's only goroutine.
func (a *App) follow(f *agents.Feed) {
	defer f.Close()
	for {
		select {
		case <-f.Wait():
		case <-a.ctx.Done():
			return
		}
		a.program.Send(news{f.Take()})
		t := time.NewTimer(feedRest)
		select {
		case <-t.C:
		case <-a.ctx.Done():
			t.Stop()
			return
		}
	}
}

// attach takes the pool: its feed begins with what is now.
func (a *App) attach(p Pool) tea.Cmd {
	a.pool = p
	a.feed = p.Subscribe()
	f := a.feed
	a.o.Go("feed", func() { a.follow(f) })
	return a.recall()
}
