package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/ui/shell"
)

func runCheck(e *Errand, c *caller) (int, error) {
	q := inbox.Query{LIFO: e.o.lifo}
	for _, w := range e.words {
		from, is := strings.CutPrefix(w, "from=")
		if !is || from == "" || q.From != "" {
			return shell.ExitUsage, shell.Misused("check: %q is not understood; it is fantail check [from=NAME]", w)
		}
		q.From = from
	}
	if e.o.peek && e.o.take {
		return shell.ExitUsage, shell.Misused("--peek and --take contradict each other: give one")
	}
	if e.o.peek || !c.out.tty && !e.o.take {
		return c.peek(e, q)
	}
	if e.o.all {
		return shell.ExitUsage, shell.Misused("--all goes with --peek: at most 200 messages are taken at once")
	}
	if c.hands != nil {
		if _, err := c.waiting(e.o.agent, q); err != nil {
			return shell.ExitFailed, err
		}
	}
	err := c.pledge(Handback{Lost: "the host ended while it took messages: what was taken and not printed here is named in the transcript of " + e.o.agent + ", and fantail show N prints one"})
	if err != nil {
		return shell.ExitFailed, err
	}
	ms, left, err := c.door.Check(c.ctx, e.o.agent, q)
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case len(ms) == 0:
		return c.nothing(e)
	}
	unread := Unread{
		Code: shell.ExitFailed,
		Says: fmt.Sprintf("messages #%d to #%d were taken and could not all be printed; fantail show N prints one", ms[0].ID, ms[len(ms)-1].ID),
	}
	code, err := c.says(shell.ExitOK, unread, func() error { return c.letters(ms, e.o.agent) })
	if err == nil && left > 0 {
		shell.Warn(c.errs, "%s more: fantail check again", inbox.Left(left))
	}
	return code, err
}

// peek prints what check would take, and takes nothing.
func (c *caller) peek(e *Errand, q inbox.Query) (int, error) {
	w, err := c.read(e, q)
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case len(w.first) == 0:
		return c.nothing(e)
	}
	code, err := c.says(shell.ExitOK, Unread{Code: shell.ExitFailed}, func() error {
		begun := false
		return w.each(func(ms []inbox.Message) error {
			if begun && !c.out.json {
				if err := c.out.text(""); err != nil {
					return err
				}
			}
			begun = true
			return c.letters(ms, e.o.agent)
		})
	})
	if err == nil && w.left > 0 {
		shell.Warn(c.errs, "%s more: --all", inbox.Left(w.left))
	}
	return code, err
}

// nothing says that no message is ready.
func (c *caller) nothing(e *Errand) (int, error) {
	if e.o.json {
		return shell.ExitNothing, nil
	}
	return c.says(shell.ExitNothing, Unread{Code: shell.ExitNothing}, func() error { return c.out.text("No messages ready.") })
}

// The limits of what a host prints from an inbox. Beyond them the process does it itself, which prints
// while it reads.
const (
	maxHere  = 1000    // messages
	roomHere = 4 << 20 // bytes
	atOnce   = 32      // messages read at once
)

// firstPage is how many messages a text shows unless --all is given.
const firstPage = 100

// messages are the messages of an inbox that are printed: the first ones, and the rest while it is printed.
type messages struct {
	first []inbox.Message
	more  func() ([]inbox.Message, error) // the next ones; nil: there are none
	left  int                             // how many more match and are not printed
}

// each calls print with all of them, some at a time.
func (w messages) each(print func(ms []inbox.Message) error) error {
	for ms := w.first; len(ms) > 0; {
		err := print(ms)
		if err != nil || w.more == nil {
			return err
		}
		if ms, err = w.more(); err != nil {
			return err
		}
	}
	return nil
}

// read returns the messages that match q: a page for a text, otherwise all.
func (c *caller) read(e *Errand, q inbox.Query) (w messages, err error) {
	switch {
	case !e.o.json && !e.o.all && !e.o.follow:
		q.Limit = firstPage
		if w.first, err = c.door.Inbox(c.ctx, e.o.agent, q); err != nil || len(w.first) < firstPage {
			return w, err
		}
		shown := firstPage
		if q.From != "" { // counting them all takes time
			q, shown = beyond(q, w.first), 0
		}
		all, err := c.door.Matching(c.ctx, e.o.agent, q)
		w.left = max(0, all-shown)
		return w, err
	case c.hands != nil:
		w.first, err = c.waiting(e.o.agent, q)
		return w, err
	}
	if q.Before == 0 { // what comes meanwhile is left out
		newest, err := c.door.Newest(c.ctx)
		if err != nil {
			return w, err
		}
		q.Before = newest + 1
	}
	pages := c.pages(e.o.agent, q)
	w.first, err = pages()
	w.more = pages
	return w, err
}

// pages returns a function that returns the next messages of the named agent that match q.
func (c *caller) pages(agent string, q inbox.Query) func() ([]inbox.Message, error) {
	over := false
	q.Limit = atOnce
	return func() ([]inbox.Message, error) {
		if over {
			return nil, nil
		}
		ms, err := c.door.Inbox(c.ctx, agent, q)
		if over = len(ms) < atOnce; over || err != nil {
			return ms, err
		}
		q = beyond(q, ms)
		return ms, nil
	}
}

// beyond returns q for what follows the messages that it found.
func beyond(q inbox.Query, ms []inbox.Message) inbox.Query {
	if q.LIFO {
		q.Before = ms[len(ms)-1].ID
	} else {
		q.After = ms[len(ms)-1].ID
	}
	return q
}

// waiting returns the messages of the named agent that match q. A host that finds too many returns
// ErrElsewhere and stops reading.
func (c *caller) waiting(agent string, q inbox.Query) (ms []inbox.Message, err error) {
	size, pages := 0, c.pages(agent, q)
	for {
		some, err := pages()
		if err != nil || len(some) == 0 {
			return ms, err
		}
		for _, m := range some {
			size += m.Size
		}
		if ms = append(ms, some...); len(ms) > maxHere || size > roomHere {
			return nil, ErrElsewhere
		}
	}
}

// letters prints messages in full, or each as a line of JSON.
func (c *caller) letters(ms []inbox.Message, to string) error {
	if c.out.json {
		return c.lines(ms, to)
	}
	for i, m := range ms {
		s := m.Headed(time.Now())
		if i > 0 {
			s = "\n" + s
		}
		if err := c.out.text(s); err != nil {
			return err
		}
	}
	return nil
}

// lines prints a line for each message.
func (c *caller) lines(ms []inbox.Message, to string) error {
	for _, m := range ms {
		var err error
		if c.out.json {
			err = c.out.line(letterJSON(m, to))
		} else {
			err = c.out.text(m.Listed(time.Now()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func runInbox(e *Errand, c *caller) (int, error) {
	if len(e.words) > 0 {
		return shell.ExitUsage, shell.Misused("inbox: %q is not understood; --agent NAME is whose", e.words[0])
	}
	newest, err := c.door.Newest(c.ctx)
	if err != nil {
		return shell.ExitFailed, err
	}
	q := inbox.Query{Asks: true}
	if e.o.follow {
		q.Before = newest + 1 // follow prints the later ones
	}
	w, err := c.read(e, q)
	if err != nil {
		return shell.ExitFailed, err
	}
	code := shell.ExitOK
	if len(w.first) == 0 {
		code = shell.ExitNothing
	}
	code, err = c.says(code, Unread{Code: shell.ExitFailed}, func() error { return c.inbox(e, w) })
	if err != nil || !e.o.follow {
		return code, err
	}
	if err = c.follow(e.o.agent, newest); c.ctx.Err() != nil {
		err = nil // an interrupt is the normal end
	}
	return shell.ExitCode(err), err
}

// inbox prints a list of messages.
func (c *caller) inbox(e *Errand, w messages) error {
	if e.o.json || e.o.follow {
		return w.each(func(ms []inbox.Message) error { return c.lines(ms, e.o.agent) })
	}
	title := inbox.Listing(nil, time.Now())
	if len(w.first) > 0 {
		title = inbox.ListingTitle
	}
	if err := c.out.text(title); err != nil {
		return err
	}
	err := w.each(func(ms []inbox.Message) error { return c.out.text(inbox.ListingLines(ms, time.Now())) })
	if err == nil && w.left > 0 {
		err = c.out.text("  " + inbox.Left(w.left) + " more: --all")
	}
	return err
}

// glance is how often a follower asks whether anything was committed. Its process has nothing else
// to do, and the question takes microseconds.
const glance = 200 * time.Millisecond

// follow prints messages after the one with the id `after` as they arrive, until the context ends.
func (c *caller) follow(agent string, after int64) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		changed, err := c.door.DB.Changed(c.ctx)
		if err != nil {
			return err
		}
		if changed {
			ms, err := c.door.Since(c.ctx, agent, after)
			if err != nil {
				return err
			}
			if n := len(ms); n > 0 {
				after = ms[n-1].ID
			}
			if err := c.lines(ms, agent); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return nil
		}
	}
}

func runQueue(e *Errand, c *caller) (int, error) {
	if len(e.words) > 0 {
		return shell.ExitUsage, shell.Misused("queue: %q is not understood; --agent NAME is whose", e.words[0])
	}
	q, err := c.door.Queue(c.ctx, e.o.agent)
	if err != nil {
		return shell.ExitFailed, err
	}
	code := shell.ExitOK
	if len(q.Tasks) == 0 {
		code = shell.ExitNothing
	}
	limit := finished
	if e.o.all {
		limit = 0
	}
	return printEach(c.out, code, lastFinished(q.Tasks, limit), func(t tasks.Task) any { return taskJSON(t) }, func() string { return tasks.QueueText(q, time.Now(), limit) })
}

// lastFinished returns tasks with only the last `limit` finished ones; 0: with all of them.
func lastFinished(all []tasks.Task, limit int) []tasks.Task {
	over := -limit
	for _, t := range all {
		if t.State == tasks.TaskFinished {
			over++
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t tasks.Task) bool {
		if limit == 0 || t.State != tasks.TaskFinished {
			return false
		}
		over--
		return over >= 0
	})
}

func runShow(e *Errand, c *caller) (int, error) {
	if len(e.words) != 1 {
		return shell.ExitUsage, shell.Misused("show which message? fantail show N; fantail inbox lists those that wait")
	}
	id, err := strconv.ParseInt(strings.TrimPrefix(e.words[0], "#"), 10, 64)
	if err != nil || id < 1 {
		return shell.ExitUsage, shell.Misused("%q is not a message number", e.words[0])
	}
	m, to, found, err := c.door.Message(c.ctx, id)
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case !found:
		return shell.ExitFailed, fmt.Errorf("there is no message #%d here; fantail inbox lists those that wait", id)
	}
	return shell.ExitOK, c.letters([]inbox.Message{m}, to)
}
