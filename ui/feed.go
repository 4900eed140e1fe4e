package ui

import (
	"cmp"
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents/event"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/term"
	"fantail/ui/transcript"
)

// feedRest is how long the words of a reply wait after a delivery for more: at most fifteen times a second they reach the
// loop by themselves. A frame costs most of a millisecond, and text in steps this small reads as a flow. All other news
// takes them along and waits [term.Rest], less than an eye can tell.
const feedRest = 66 * time.Millisecond

// feed brings what happens outside the loop into it, in one order: the pool's news, and the results
// of actions.
type feed struct {
	ctx    context.Context // of the screen
	send   func(tea.Msg)   // to the loop
	came   chan tea.Msg    // results of actions
	source *event.Feed     // nil until there is a pool
	was    []event.Event   // the state from which that goes on
	began  time.Time       // when they came
}

// follow carries the news to the program until the screen ends. It is the only goroutine of the
// interface.
func (f *feed) follow() {
	defer f.source.Close()
	if len(f.was) > 0 {
		f.send(news{f.was})
		f.was = nil
	}
	for {
		select {
		case <-f.source.Wait():
			f.deliver()
			f.rest()
		case m := <-f.came:
			f.deliver()
			f.send(m)
		case <-f.ctx.Done():
			return
		}
	}
}

// rest returns when the next news may be delivered.
func (f *feed) rest() {
	least, most := time.NewTimer(term.Rest), time.NewTimer(feedRest)
	defer least.Stop()
	defer most.Stop()
	var soon <-chan struct{}
	for {
		select {
		case <-least.C:
			soon = f.source.Soon()
		case <-soon:
			return
		case <-most.C:
			return
		case m := <-f.came:
			f.deliver()
			f.send(m)
		case <-f.ctx.Done():
			return
		}
	}
}

// deliver sends the news there is.
func (f *feed) deliver() {
	if es := f.source.Take(); len(es) > 0 {
		f.send(news{es})
	}
}

// after hands a message to the loop after everything committed so far: the result of an action
// shows below the messages it speaks of. It returns nil, like a command with nothing to tell.
func (f *feed) after(m tea.Msg) tea.Msg {
	select {
	case f.came <- m:
	case <-f.ctx.Done():
	}
	return nil
}

// actions is what the human has had done on the pool, off the loop. Actions begin in the order in
// which they were asked for.
type actions struct {
	feed  *feed
	start func(name string, f func()) // starts a goroutine
	asked []func()                    // by the message that the loop is at
	last  chan struct{}               // closed when the last one is over; nil: there was none
}

// do asks for an action, and is the command that brings its result. It waits for the actions before it, except those that
// may take long. What was asked for is carried out though the screen ends meanwhile, unless it may take long: the human
// saw the text leave the box.
func (s *actions) do(d intent.Do) tea.Cmd {
	before, over := s.last, make(chan struct{})
	s.last = over
	ctx := s.feed.ctx
	if !d.Long {
		ctx = context.WithoutCancel(ctx)
	}
	tell := s.tell()
	result := make(chan tea.Msg, 1)
	s.asked = append(s.asked, func() {
		if before != nil {
			<-before // which ends, or may take long and has begun
		}
		if d.Long {
			close(over)
		}
		m := outcome(ctx, d)
		if !d.Long {
			close(over)
		}
		result <- tell(m)
	})
	return func() tea.Msg {
		select {
		case m := <-result:
			return m
		case <-s.feed.ctx.Done():
			return nil
		}
	}
}

// begin starts what was asked for.
func (s *actions) begin() {
	for _, f := range s.asked {
		s.start("act", f)
	}
	s.asked = nil
}

// tell is what brings the loop a message after what was committed before it.
func (s *actions) tell() func(tea.Msg) tea.Msg {
	if s.feed.source == nil { // nothing has been committed yet
		return func(m tea.Msg) tea.Msg { return m }
	}
	return s.feed.after
}

// then is the command that brings i once what was asked for is over and shows, or after that long.
func (s *actions) then(i intent.Intent, within time.Duration) tea.Cmd {
	last, tell := s.last, s.tell()
	return func() tea.Msg {
		late := time.NewTimer(within)
		defer late.Stop()
		select {
		case <-last:
		case <-late.C:
		case <-s.feed.ctx.Done():
		}
		return tell(wanted{i})
	}
}

// settle waits for what was asked for, at most that long.
func (s *actions) settle(within time.Duration) {
	if s.last == nil {
		return
	}
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-s.last:
	case <-late.C:
	}
}

// outcome runs an action and returns what to tell the loop.
func outcome(ctx context.Context, d intent.Do) tea.Msg {
	i, err := d.F(ctx)
	if errors.Is(err, event.ErrReadOnly) { // nothing is wrong with what was typed
		d.Back = cmp.Or(d.Back, d.Command)
	}
	if err != nil {
		return done{agent: d.Agent, text: format.Sentence(err), tone: transcript.Bad, command: d.Command, back: d.Back}
	}
	if said, ok := i.(intent.Said); ok || i == nil {
		return done{agent: d.Agent, text: said.Text, tone: said.Tone, command: d.Command}
	}
	return wanted{i}
}
