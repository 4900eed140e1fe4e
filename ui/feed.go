package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
)

// feedRest is how long the feed rests after each delivery: at most thirty a
// second reach the loop.
const feedRest = 33 * time.Millisecond

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
	return nil
}
