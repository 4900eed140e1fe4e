package transcript

import (
	"strconv"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/themes"
	"fantail/ui/cells"
)

// child is an agent that carries out a task a call waits for.
type child struct {
	info  event.Info
	tail  string // of what it says or of its command's output
	reply bool   // tail is of the reply being streamed
}

// tailKept is how many bytes of a child's text are stored to show their end.
const tailKept = 2 << 10

// SetChild shows the activity of an agent that this one dispatched, in the call that waits for it.
func (v *View) SetChild(i event.Info) {
	if i.State.Terminal() { // its result says the rest
		delete(v.children, i.Task)
		return
	}
	c := v.children[i.Task]
	if c == nil {
		c = &child{}
		v.children[i.Task] = c
	}
	c.info = i
}

// ChildAsks sets the task of the agent whose question shows over the transcript, and is not shown twice; 0: none.
func (v *View) ChildAsks(task int64) { v.told = task }

// ChildSays shows the end of such an agent's text.
func (v *View) ChildSays(task int64, e event.Event) {
	c := v.children[task]
	if c == nil {
		return
	}
	switch e := e.(type) {
	case event.Delta:
		if e.Thinking {
			return
		}
		if !c.reply {
			c.tail, c.reply = "", true
		}
		c.keep(c.tail + e.Text)
	case event.Output:
		c.reply = false
		c.keep(e.Tail)
	case event.Void:
		c.tail, c.reply = "", false
	case event.Appended:
		for _, x := range e.Entries {
			if x.Kind == history.EntryText {
				c.keep(x.Text)
			}
		}
		c.reply = c.reply && !e.Live
	}
}

func (c *child) keep(s string) {
	if n := len(s) - tailKept; n > 0 {
		s = s[n:]
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[i+1:]
		}
		s = strings.ToValidUTF8(s, "")
	}
	c.tail = strings.Clone(s) // the rest is not stored
}

// delegated renders a call that waits for an agent: what that does, the end of its text, and the key that ends the
// wait.
func (c canvas) delegated(k *child) []string {
	what, tail := "queued", ""
	if k != nil {
		what, tail = does(k.info, k.reply), strings.TrimRight(k.tail, "\n")
		if c.told == k.info.Task && k.info.Question != nil {
			what = "asks you"
		}
		if k.info.Steps > 0 {
			what += " · " + plural(k.info.Steps, "step")
		}
		if k.info.Attempt > 1 {
			what += " · attempt " + strconv.Itoa(k.info.Attempt)
		}
	}
	width := max(c.width-gutter-2, 1)
	line := func(r themes.Role, s string) string {
		return c.bar() + c.theme.Paint(r, cells.Cut(cells.CleanLine(s), width))
	}
	out := []string{line(themes.Text, what)}
	if tail != "" {
		const most = 4
		for _, l := range lastLines(tail, most) {
			out = append(out, line(themes.Dim, clip(l)))
		}
	}
	return append(out, line(themes.Dim, "ctrl+b run it in the background"))
}

// does returns what an agent does. begun reports whether its reply has begun to come.
func does(i event.Info, begun bool) string {
	what := i.Doing
	switch {
	case i.State == event.Asking && i.Question != nil:
		return "asks: " + i.Question.Gist()
	case i.Retry != nil:
		return "tries again: " + i.Retry.Reason
	case i.State == event.Waiting && i.Why != "":
		return i.Why
	case what == "streaming" && !begun:
		return "thinking"
	case what == "streaming":
		return "writing"
	case what == "":
		return "working"
	case strings.HasPrefix(what, "tool "):
		return "running " + strings.TrimPrefix(what, "tool ")
	}
	return what
}
