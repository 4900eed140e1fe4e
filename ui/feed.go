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
			a.program.Send(news{f.Take()})
		case m := <-a.came:
			a.program.Send(news{f.Take()})
			a.program.Send(m)
			continue
		case <-a.ctx.Done():
			return
		}
		for t := time.NewTimer(feedRest); t != nil; {
			select {
			case <-t.C:
				t = nil
			case m := <-a.came:
				a.program.Send(news{f.Take()})
				a.program.Send(m)
			case <-a.ctx.Done():
				t.Stop()
				return
			}
		}
	}
}

// afterwards hands what an action came to over to the loop behind all that it,
// or anybody before it, committed: so it stands below the messages it speaks of.
func (a *App) afterwards(m tea.Msg) tea.Msg {
	if m == nil {
		return nil
	}
	select {
	case a.came <- m:
	case <-a.ctx.Done():
	}
	return nil
}

// attach takes the pool: its feed begins with what is now.
func (a *App) attach(p *pool) tea.Cmd {
	a.asks.Pool = p.slash.Questions
	a.pool, a.began = p, a.o.Now().Truncate(time.Millisecond)
	a.notice.Begin(p, a.began)
	a.human = p.Human()
	a.human.Pressed(a.o.Now()) // whoever starts the program is there
	a.feed = p.Subscribe()
	f := a.feed
	a.o.Go("feed", func() { a.follow(f) })
	return a.act(a.drafts.Recall())
}
