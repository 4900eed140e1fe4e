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
	var ms []inbox.Message
	var left int
	var err error
	peeks := e.o.peek || !c.out.tty && !e.o.take
	if peeks || c.hands != nil {
		ms, err = c.waiting(e.o.agent, q)
	}
	if !peeks && err == nil {
		if err = c.pledge(Handback{Lost: "the host ended while it took messages: what was taken and not printed here is named in the transcript of " + e.o.agent + ", and fantail show N prints one"}); err == nil {
			ms, left, err = c.door.Check(c.ctx, e.o.agent, q)
		}
	}
	switch {
	case err != nil:
		return shell.ExitFailed, err
	case len(ms) == 0 && e.o.json:
		return shell.ExitNothing, nil
	case len(ms) == 0:
		return c.says(shell.ExitNothing, Unread{Code: shell.ExitNothing}, func() error { return c.out.text("No messages ready.") })
	}
	unread := Unread{Code: shell.ExitFailed}
	if ms[0].TakenBy != "" {
		unread.Says = fmt.Sprintf("messages #%d to #%d were taken and could not all be printed; fantail show N prints one", ms[0].ID, ms[len(ms)-1].ID)
	}
	code, err := c.says(shell.ExitOK, unread, func() error { return c.letters(ms, e.o.agent) })
	if err == nil && left > 0 {
		shell.Warn(c.errs, "%s more: fantail check again", inbox.Left(left))
	}
	return code, err
}

// The limits of what a host prints from an inbox. Beyond them the process does it itself, which has
// room for more.
const (
	maxHere  = 1000    // messages
	roomHere = 4 << 20 // bytes
	atOnce   = 32      // messages read at once
)

// waiting returns the messages of the named agent that match q. A host that finds too many returns
// ErrElsewhere and stops reading.
func (c *caller) waiting(agent string, q inbox.Query) (ms []inbox.Message, err error) {
	if c.hands == nil {
		return c.door.Inbox(c.ctx, agent, q)
	}
	next, size := q, 0
	next.LIFO, next.Limit = true, atOnce // newest first: messages that arrive meanwhile don't shift the pages
	for more := true; more; {
		some, err := c.door.Inbox(c.ctx, agent, next)
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			size += m.Size
			next.Before = m.ID
		}
		if ms = append(ms, some...); len(ms) > maxHere || size > roomHere {
			return nil, ErrElsewhere
		}
		more = len(some) == atOnce
	}
	if !q.LIFO {
		slices.Reverse(ms)
	}
	return ms, nil
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
	ms, err := c.waiting(e.o.agent, inbox.Query{Asks: true})
	if err != nil {
		return shell.ExitFailed, err
	}
	code := shell.ExitOK
	if len(ms) == 0 {
		code = shell.ExitNothing
	}
	code, err = c.says(code, Unread{Code: shell.ExitFailed}, func() error {
		if e.o.json || e.o.follow {
			return c.lines(ms, e.o.agent)
		}
		return c.out.text(inbox.Listing(ms, time.Now()))
	})
	if err != nil || !e.o.follow {
		return code, err
	}
	if err = c.follow(e.o.agent, newest, ms); c.ctx.Err() != nil {
		err = nil // an interrupt is the normal end
	}
	return shell.ExitCode(err), err
}

// glance is how often a follower asks whether anything was committed. Its process has nothing else
// to do, and the question takes microseconds.
const glance = 200 * time.Millisecond

// follow prints messages after the one with the id `after` as they arrive, until the context ends.
// It leaves out those already printed.
func (c *caller) follow(agent string, after int64, printed []inbox.Message) error {
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
			ms = slices.DeleteFunc(ms, func(m inbox.Message) bool {
				return slices.ContainsFunc(printed, func(old inbox.Message) bool { return old.ID == m.ID })
			})
			printed = nil
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
