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

// feedRest is how long the text of a reply waits for more after a delivery, so text alone wakes the
// loop at most fifteen times a second. A frame costs most of a millisecond, and text in steps this
// small reads as a flow. Other news is delivered after [term.Rest], which is too short to notice,
// and takes waiting text along.
const feedRest = 66 * time.Millisecond

// feed brings what happens outside the loop into it, in one order: the pool's news and the results
// of actions.
type feed struct {
	ctx    context.Context // of the screen
	send   func(tea.Msg)   // to the loop
	came   chan tea.Msg    // results of actions
	source *event.Feed     // nil until there is a pool
	was    []event.Event   // the state from which source goes on
	began  time.Time       // when the state was read
}

// follow passes news to the loop until the screen ends. Its goroutine is the only one of the
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

// rest waits until the next news may be delivered.
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

// deliver sends the pending news.
func (f *feed) deliver() {
	if es := f.source.Take(); len(es) > 0 {
		f.send(news{es})
	}
}

// after sends a message to the loop after everything committed so far, so that the result of an
// action is shown below the messages it is about. It returns nil, like a command without a result.
func (f *feed) after(m tea.Msg) tea.Msg {
	select {
	case f.came <- m:
	case <-f.ctx.Done():
	}
	return nil
}

// actions runs the human's actions on the pool, off the loop. They start in the order in which they
// were requested.
type actions struct {
	feed  *feed
	start func(name string, f func()) // starts a goroutine
	asked []func()                    // requested by the message that the loop handles
	last  chan struct{}               // closed at the end of the last one; nil: there was none
}

// do requests an action and returns the command that brings its result. An action waits for the
// earlier ones, except those that may take long. It is carried out even if the screen ends
// meanwhile, unless it may take long: the human has seen the text leave the box.
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
			<-before // has ended, or may take long and has started
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

// begin starts the requested actions.
func (s *actions) begin() {
	for _, f := range s.asked {
		s.start("act", f)
	}
	s.asked = nil
}

// tell returns a function that brings the loop a message after what was committed before it.
func (s *actions) tell() func(tea.Msg) tea.Msg {
	if s.feed.source == nil { // nothing has been committed yet
		return func(m tea.Msg) tea.Msg { return m }
	}
	return s.feed.after
}

// then returns a command that brings i once the requested actions have ended and are shown, or
// after within.
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

// settle waits for the requested actions, at most for within.
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

// outcome runs an action and returns the message for the loop.
func outcome(ctx context.Context, d intent.Do) tea.Msg {
	i, err := d.F(ctx)
	if errors.Is(err, event.ErrReadOnly) { // the typed text is not at fault, so give it back
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
