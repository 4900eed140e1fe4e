package notify

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Reaches reports whether a configured way to notify reaches a human without a screen.
func Reaches(how string) bool { return how == notifyDesktop }

// Desktop notifies a human without a screen, on the desktop of their last screen, of what that
// screen would call them to while they look elsewhere.
type Desktop struct {
	Pool    *agents.Pool
	Root    string
	Environ []string // of that screen
	Go      func(name string, f func())
}

// Watch runs until ctx ends. Errors on a machine without a desktop are not shown.
func (l Desktop) Watch(ctx context.Context) {
	w := &watch{ctx: ctx, start: l.Go, came: make(chan intent.Intent)}
	w.notice = New(Options{Tabs: &w.tabs, Now: time.Now, Root: l.Root, Environ: l.Environ}, notifyDesktop, nil)
	w.notice.Absent()
	began := time.Now()
	feed, was := l.Pool.Subscribe()
	defer feed.Close()
	w.notice.Attach(l.Pool, began)
	w.do(w.notice.Urgent())
	for _, e := range was {
		w.do(w.note(e, began))
	}
	news, rested := feed.Wait(), (<-chan time.Time)(nil)
	for {
		select {
		case <-news:
			for _, e := range feed.Take() {
				w.do(w.note(e, began))
			}
			news, rested = nil, time.After(gather) // a streaming reply has news all the time
		case <-rested:
			news, rested = feed.Wait(), nil
		case i := <-w.came:
			w.do(i)
		case <-ctx.Done():
			return
		}
	}
}

// watch is what a Notifier needs without a screen: tabs that are not shown, and something that
// carries out its intents.
type watch struct {
	ctx    context.Context
	start  func(name string, f func())
	notice *Notifier
	tabs   tabs.Tabs
	came   chan intent.Intent // results of Run intents
}

// note passes an event to the Notifier.
func (w *watch) note(e event.Event, began time.Time) intent.Intent {
	switch e := e.(type) {
	case event.Tally:
		return w.notice.Quiet(e.Quiet)
	case event.Mailed:
		return w.notice.Mailed(w.tabs.ByID(e.Agent))
	case event.Closed:
		w.tabs.Remove(e.Agent)
	case event.Changed:
		i := e.Info
		was, witnessed := event.Info{}, !i.Created.Before(began)
		if t := w.tabs.ByID(i.ID); t != nil {
			was, witnessed = t.Info, true
			w.tabs.Note(t, i)
		} else {
			w.tabs.Add(&tabs.Tab{Info: i})
		}
		all := intent.All{w.notice.Changed(was, i)}
		if witnessed {
			all = append(all, w.notice.CallFor(was, i))
		}
		return all
	}
	return nil
}

// do carries out the intents that need no screen.
func (w *watch) do(i intent.Intent) {
	switch i := i.(type) {
	case intent.All:
		for _, one := range i {
			w.do(one)
		}
	case intent.Call:
		w.do(i())
	case intent.Run:
		w.start("call the human", func() {
			select {
			case w.came <- i.F(w.ctx):
			case <-w.ctx.Done():
			}
		})
	}
}
