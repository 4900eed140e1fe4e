package panel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/tasks"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// taskList lists an agent's queue.
type taskList struct {
	*Panel
	queue tasks.QueueView
}

// The lanes of a queue.
const (
	laneQueued = iota
	laneRunning
	laneFinished
)

var taskLanes = []dialog.Lane{
	{Name: "Queued", Short: "Queued", Role: themes.Text},
	{Name: "Running", Short: "Run", Role: themes.Accent},
	{Name: "Finished", Short: "Done", Role: themes.Good},
}

var taskVerbs = []dialog.Verb{
	{Key: "enter", Name: "open", Hint: "open", Help: "open its tab"},
	{Key: "x delete", Name: "remove", Hint: "remove", Help: "remove or end"},
	{Key: "K shift+up", Name: "up", Hint: "move up", Help: "move up"},
	{Key: "J shift+down", Name: "down", Help: "move down"},
	{Key: "e", Name: "edit", Hint: "edit", Help: "edit the prompt"},
	{Key: "R", Name: "run", Hint: "run all", Help: "start the queue", Bare: true},
	{Key: "r", Name: "retry", Hint: "retry", Help: "queue it again"},
}

// Queue opens the panel of an agent's queue.
func Queue(e Options, agent int64, name string) *Panel {
	verbs := append(slices.Concat(taskVerbs, boardVerbs("f4")), dialog.Verb{Name: "editing", Ask: "%s› "})
	p := open(e, agent, name, dialog.NewBoard(e.Theme, e.Now, "Queue · "+name,
		"The queue is empty. /push PROMPT to add a task, /run to start the queue.", verbs, false), taskLanes)
	p.list = &taskList{Panel: p}
	return p
}

func (s *taskList) touched(e event.Event) bool {
	switch e := e.(type) {
	case event.Tally:
		return true
	case event.Changed:
		return e.Parent == s.agent && e.Task != 0
	}
	return false
}

func (s *taskList) read(want query, stale staleness) reading {
	id, pool := s.agent, s.Pool
	by := map[int64]event.Info{} // agents with an open tab, by task
	for _, t := range s.Tabs.All {
		if t.Info.Task != 0 && t.Info.Parent == id {
			by[t.Info.Task] = t.Info
		}
	}
	return whole(s.Panel, want, stale, &s.queue, func(ctx context.Context) (q tasks.QueueView, err error) {
		if q, err = pool.Queue(ctx, id); err != nil {
			return q, err
		}
		q.Tasks = slices.DeleteFunc(q.Tasks, func(t tasks.Task) bool { return t.State == tasks.TaskRemoved })
		return q, nil
	}, func(q tasks.QueueView, want query) rows {
		newest := slices.Clone(q.Tasks) // newest finished first
		slices.SortStableFunc(newest, func(x, y tasks.Task) int { return y.Finished.Compare(x.Finished) })
		return grouped(taskLanes, newest, want, func(t tasks.Task) (dialog.Line, string) {
			return taskLine(q, t, by[t.ID]), t.Name + " " + t.Outcome + " " + t.Prompt
		})
	})
}

// taskLine returns the row of a task and its agent.
func taskLine(q tasks.QueueView, t tasks.Task, by event.Info) dialog.Line {
	l := dialog.Line{ID: t.ID, Who: inbox.Label(t.Name), Text: inbox.Label(taskPrompt(t))}
	switch t.State {
	case "queued":
		l.Lane, l.Sign, l.Role, l.At = laneQueued, "○", themes.Dim, t.Created
		if why := q.Holds[t.ID]; len(t.After) > 0 {
			l.Flags = "after " + strings.Join(t.After, ", ")
		} else if why != "" {
			l.Flags = "held by " + inbox.Label(why)
		}
	case "running":
		l.Lane, l.Sign, l.Role, l.At = laneRunning, "●", themes.Accent, t.Started
		if format.Working(by.State) || format.Awaits(by) {
			l.Sign, l.Role = format.Glyph(by)
		}
	case "finished":
		l.Lane, l.Sign, l.Role, l.At = laneFinished, "✓", themes.Good, t.Finished
		if t.Outcome != string(history.Completed) {
			l.Sign, l.Role, l.Flags = "✗", themes.Bad, inbox.Label(t.Outcome)
		}
	}
	return l
}

// taskPrompt returns a task's prompt as typed.
func taskPrompt(t tasks.Task) string {
	if t.Kind == "command" {
		return "!" + t.Prompt
	}
	return t.Prompt
}

func (s *taskList) task(id int64) (tasks.Task, bool) {
	return find(s.queue.Tasks, id, func(t tasks.Task) int64 { return t.ID })
}

func (s *taskList) about(id int64) func(ctx context.Context, p *preview) error {
	pool := s.Pool
	t, ok := s.task(id)
	return func(ctx context.Context, p *preview) error {
		if !ok {
			return errors.New("this task is gone")
		}
		facts := agents.Facts{}
		if t.Agent != 0 {
			var err error
			if facts, err = pool.Records.Facts(ctx, t.Agent); err != nil {
				return err
			}
		}
		p.task(t)
		needs := t.After
		if len(facts.Needs) > 0 {
			needs = facts.Needs
		}
		after := strings.Join(needs, ", ")
		if after != "" {
			p.add("after", after)
		}
		if t.State == "queued" {
			if n, err := pool.Does(t.Name); err == nil && n.Queued != "" && n.Queued != "waits for "+after {
				p.add("waits", n.Queued)
			}
			p.plain(taskPrompt(t))
			return nil
		}
		p.facts = append(p.facts, fact{label: "prompt", text: taskPrompt(t), role: themes.User, most: 4})
		if t.Error != "" {
			p.facts = append(p.facts, fact{label: "error", text: t.Error, role: themes.Bad, most: 3})
		}
		if t.State == "running" {
			p.tail, p.last = t.Agent, s.Tabs.LastLines
			return nil
		}
		if facts.Answer == "" {
			p.plain("No answer.")
		} else if t.Kind == "command" {
			p.plain(facts.Answer)
		} else {
			p.answer(facts.Answer)
		}
		return nil
	}
}

// task adds the facts known about any task.
func (p *preview) task(t tasks.Task) {
	f := fact{role: themes.Accent}
	switch t.State {
	case "queued":
		f.text, f.at = "queued ", t.Created
	case "running":
		f.text, f.at = "started ", t.Started
	default:
		if f.text, f.at = t.Outcome+" ", t.Finished; !t.Started.IsZero() {
			f.rest = " · took " + format.Lasted(t.Finished.Sub(t.Started))
		}
	}
	f.text = t.Name + " · " + f.text
	p.facts = append(p.facts, f)
	var how []string
	if t.Model != "" {
		how = append(how, t.Model)
	}
	if t.Timeout > 0 {
		how = append(how, "timeout "+format.Lasted(t.Timeout))
	}
	if t.Deliver != "" {
		how = append(how, "deliver "+t.Deliver)
	}
	if t.Interactive {
		how = append(how, "interactive, awaits input "+format.Stay(t.Idle))
	}
	if t.Origin == tasks.OriginCLI || t.Origin == tasks.OriginMCP {
		how = append(how, "from outside ("+t.Origin+")")
	}
	if len(how) > 0 {
		p.add("how", strings.Join(how, " · "))
	}
}

func (s *taskList) do(w dialog.BoardAction) intent.Intent {
	if w.Verb == "run" {
		return s.wish(w, func(ctx context.Context) (string, error) {
			q, _ := s.Pool.Queue(ctx, s.agent) // after an error there is no warning, but the run was asked for
			r, err := s.Pool.Run(ctx, s.agent, tools.Start{})
			return format.Warned(r.String(), s.Doubt.Queued(q)), err
		}, nil)
	}
	t, ok := s.task(w.ID)
	if !ok {
		return nil
	}
	name := t.Name
	switch w.Verb {
	case "open":
		x := s.Tabs.ByID(t.Agent)
		switch {
		case t.State == "queued":
			s.box.Fail(name + " has not started and has no tab yet. R to run the queue")
			return nil
		case x == nil:
			s.box.Fail("the tab of " + name + " is closed. /resume " + name + " to reopen it")
			return nil
		}
		return intent.All{intent.Close{}, intent.Go{Agent: x.Info.ID}}
	case "remove":
		return s.remove(w, t)
	case "up", "down":
		return s.move(w, t)
	case "edit":
		return s.edit(w, t)
	case "editing":
		return s.wish(w, func(ctx context.Context) (string, error) {
			if err := s.Pool.Tasks.Edit(ctx, name, w.Text); err != nil {
				return "", err
			}
			q, err := s.Pool.Queue(ctx, s.agent)
			if err != nil {
				q = tasks.QueueView{} // the prompt is changed; the queue is needed for the warning only
			}
			return s.Doubt.WhenEdited(name, q), nil
		}, nil)
	case "retry":
		return s.wish(w, func(ctx context.Context) (string, error) {
			n, _, err := s.Pool.Tasks.Retry(ctx, s.agent, name, "")
			if err != nil {
				return "", err
			}
			return s.Doubt.WhenQueued(n, " again", "R", s.Pool.Joins(n.ID)), nil
		}, nil)
	}
	return nil
}

// remove asks, then removes a queued task or ends a running agent.
func (s *taskList) remove(w dialog.BoardAction, t tasks.Task) intent.Intent {
	name := t.Name
	switch t.State {
	case "running":
		return intent.Kill(s.Theme, name, s.Tabs.LiveBelow(name), func(cascade bool) intent.Intent {
			return s.wish(w, func(ctx context.Context) (string, error) {
				return "Ended " + name, s.Pool.Kill(ctx, name, cascade)
			}, nil)
		})
	case "queued":
		return s.removes(name, "It has not started, so there will be no message.", func() intent.Intent {
			return s.wish(w, func(ctx context.Context) (string, error) {
				return "Removed " + name, s.Pool.Tasks.Remove(ctx, name)
			}, nil)
		})
	default:
		s.box.Fail(name + " has ended. /close " + name + " to close its tab")
	}
	return nil
}

func (s *taskList) move(w dialog.BoardAction, t tasks.Task) intent.Intent {
	at, n := 0, 0
	for _, q := range s.queue.Tasks {
		if q.State == "queued" {
			n++
			if q.ID == t.ID {
				at = n
			}
		}
	}
	to := at + 1
	if w.Verb == "up" {
		to = at - 1
	}
	switch {
	case at == 0:
		s.box.Fail(t.Name + " is not in the queue")
		return nil
	case to < 1 || to > n:
		return nil
	}
	return s.wish(w, func(ctx context.Context) (string, error) {
		now, err := s.Pool.Tasks.Move(ctx, t.Name, to)
		return fmt.Sprintf("%s is now number %d in the queue", t.Name, now), err
	}, nil)
}

// edit puts the prompt of a queued task into the panel's last line. A prompt of several lines needs
// the prompt box, which must be empty.
func (s *taskList) edit(w dialog.BoardAction, t tasks.Task) intent.Intent {
	if t.State != "queued" {
		s.box.Fail(t.Name + " has started. r retry works once it has ended")
		return nil
	}
	text := taskPrompt(t)
	if !strings.Contains(text, "\n") {
		s.box.Resume(dialog.BoardAction{Verb: "editing", ID: w.ID, Text: text})
		return nil
	}
	box := s.Tabs.Typing()
	if box == nil || !box.Empty() {
		s.box.Fail("its prompt has several lines and your box has a draft. /queue edit " + t.Name + " to edit it there")
		return nil
	}
	return intent.All{intent.Close{}, intent.Call(func() intent.Intent {
		box.Set("/queue edit " + t.Name + " " + text)
		return nil
	})}
}
