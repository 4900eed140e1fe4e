package notify

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Reaches reports whether a way to ring, as the configuration names it, reaches a human who has no screen.
func Reaches(how string) bool { return how == notifyDesktop }

// Desktop calls a human who has no screen, through the desktop of the last one they had, to what that screen would call
// them to while they look elsewhere.
type Desktop struct {
	Pool    *agents.Pool
	Root    string
	Environ []string // of that screen
	Go      func(name string, f func())
}

// Watch does it until ctx ends. What a machine without a desktop says to it is not for anybody.
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
			news, rested = nil, time.After(gather) // a reply that streams has news all the time
		case <-rested:
			news, rested = feed.Wait(), nil
		case i := <-w.came:
			w.do(i)
		case <-ctx.Done():
			return
		}
	}
}

// watch has what a Notice needs where there is no screen: tabs that nobody sees, and somebody to do what it wants.
type watch struct {
	ctx    context.Context
	start  func(name string, f func())
	notice *Notifier
	tabs   tabs.Tabs
	came   chan intent.Intent // what is wanted after a Run
}

// note has the notice take in an event.
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

// do does what is wanted that needs no screen.
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
