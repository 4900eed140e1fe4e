package panel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/words"
)

// taskStock is an agent's queue as a panel lists it.
type taskStock struct {
	Env
	agent int64
	name  string
	queue roster.Queue
	shown taskQuery
	any   bool // it was read
}

// taskQuery is which tasks the board shows.
type taskQuery struct {
	lane   int
	search string
}

// The lanes of a queue.
const (
	laneQueued = iota
	laneRunning
	laneFinished
)

var taskVerbs = []dialog.Verb{
	{Key: "enter", Name: "open", Hint: "goes there", Help: "go to its tab"},
	{Key: "x delete", Name: "remove", Hint: "removes", Help: "remove one that is queued, end one that runs; asks"},
	{Key: "K shift+up", Name: "up", Hint: "moves up", Help: "move it up in the queue"},
	{Key: "J shift+down", Name: "down", Help: "move it down"},
	{Key: "e", Name: "edit", Hint: "edits", Help: "change the prompt of one that is queued"},
	{Key: "R", Name: "run", Hint: "runs all", Help: "run the queue, as /run does", Bare: true},
	{Key: "y", Name: "retry", Hint: "again", Help: "push one that ended again"},
	{Key: "f3 i", Name: "inbox", Hint: "inbox", Help: "the inbox", Bare: true},
	{Key: "f6", Name: "schedules", Help: "what is due when", Bare: true},
	{Key: "f4", Name: "close", Help: "close", Bare: true},
	{Key: "f2", Name: "agents", Help: "the overview of all agents", Bare: true},
	{Key: "alt+a f5", Name: "question", Help: "answer the oldest open question", Bare: true},
	{Key: "?", Name: "keys", Help: "this list", Bare: true},
}

// Queue opens the panel of an agent's queue.
func Queue(e Env, agent int64, name string) *Panel {
	verbs := append(slices.Clone(taskVerbs), dialog.Verb{Name: "editing", Ask: "%s› "})
	box := dialog.NewBoard(e.Theme, e.Now, "Queue of "+name,
		"Nothing is queued. /push PROMPT adds a task, /run starts the queue; its results land in the inbox.", verbs, false)
	_, lanes := taskLines(roster.Queue{}, nil, taskQuery{})
	box.Lanes(lanes)
	return open(e, box, &taskStock{Env: e, agent: agent, name: name})
}

func (s *taskStock) recolour(t *themes.Theme) { s.Theme = t }

func (s *taskStock) touched(e event.Event) bool {
	switch e := e.(type) {
	case event.Tally:
		return true
	case event.Changed:
		return e.Parent == s.agent && e.Task != 0
	}
	return false
}

func (s *taskStock) next(b *dialog.Board, stale staleness) read {
	want := taskQuery{b.Lane(), b.Search()}
	if !bool(stale) && s.any && want == s.shown {
		return nil
	}
	id, pool := s.agent, s.Pool.Agents
	have, known := s.queue, s.any && !bool(stale)
	by := map[int64]event.Info{}
	for _, t := range s.Tabs.All {
		if t.Info.Task != 0 && t.Info.Parent == id {
			by[t.Info.Task] = t.Info
		}
	}
	return func(ctx context.Context) (func(b *dialog.Board), error) {
		q := have
		if !known {
			var err error
			if q, err = pool.Queue(ctx, id); err != nil {
				return nil, err
			}
		}
		lines, lanes := taskLines(q, by, want)
		return func(b *dialog.Board) {
			s.queue, s.shown, s.any = q, want, true
			b.Lanes(lanes)
			b.Show(lines, false, false)
		}, nil
	}
}

// taskLines are the rows of a queue, grouped if all show, and the counts. agents are those with an
// open tab, by task.
func taskLines(q roster.Queue, by map[int64]event.Info, want taskQuery) ([]dialog.Line, []dialog.Lane) {
	lanes := []dialog.Lane{
		{Name: "Queued", Short: "Queued", Role: themes.Text}, {Name: "Running", Short: "Run", Role: themes.Accent}, {Name: "Finished", Short: "Done", Role: themes.Good},
	}
	var groups [3][]dialog.Line
	word := strings.ToLower(want.search)
	for _, t := range q.Tasks {
		l, ok := taskLine(q, t, by[t.ID])
		if !ok {
			continue
		}
		lanes[l.Lane].Count++
		if word == "" || strings.Contains(strings.ToLower(t.Name+" "+t.Outcome+" "+t.Prompt), word) {
			groups[l.Lane] = append(groups[l.Lane], l)
		}
	}
	slices.SortStableFunc(groups[laneFinished], func(x, y dialog.Line) int { return y.At.Compare(x.At) })
	var lines []dialog.Line
	for i, g := range groups {
		if len(g) == 0 || want.lane >= 0 && want.lane != i {
			continue
		}
		if want.lane < 0 {
			lines = append(lines, dialog.Line{Text: lanes[i].Name})
		}
		lines = append(lines, g...)
	}
	return lines, lanes
}

// taskLine is the row of a task and its agent; false: it was removed.
func taskLine(q roster.Queue, t roster.Task, by event.Info) (l dialog.Line, ok bool) {
	l = dialog.Line{ID: t.ID, Who: inbox.Label(t.Name), Text: inbox.Label(taskPrompt(t))}
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
		if words.Working(by.State) || words.Awaits(by) {
			l.Sign, l.Role = words.Glyph(by)
		}
	case "finished":
		l.Lane, l.Sign, l.Role, l.At = laneFinished, "✓", themes.Good, t.Finished
		if t.Outcome != string(history.Completed) {
			l.Sign, l.Role, l.Flags = "✗", themes.Bad, inbox.Label(t.Outcome)
		}
	default:
		return l, false
	}
	return l, true
}

// taskPrompt is a task's prompt as typed.
func taskPrompt(t roster.Task) string {
	if t.Kind == "command" {
		return "!" + t.Prompt
	}
	return t.Prompt
}

func (s *taskStock) task(id int64) (roster.Task, bool) {
	i := slices.IndexFunc(s.queue.Tasks, func(t roster.Task) bool { return t.ID == id })
	if i < 0 {
		return roster.Task{}, false
	}
	return s.queue.Tasks[i], true
}

func (s *taskStock) preview(id int64) func(ctx context.Context) (*preview, error) {
	pool := s.Pool
	t, ok := s.task(id)
	theme, now := s.Theme, s.Now
	return func(ctx context.Context) (*preview, error) {
		if !ok {
			return nil, errors.New("that task is gone")
		}
		p := newPreview(theme, now)
		facts := ledger.Facts{}
		if t.Agent != 0 {
			var err error
			if facts, err = pool.Ledger.Facts(ctx, t.Agent); err != nil {
				return nil, err
			}
		}
		p.task(t)
		needs := t.After
		if len(facts.Needs) > 0 {
			needs = facts.Needs
		}
		if len(needs) > 0 {
			p.add("needs", strings.Join(needs, ", "))
		}
		if t.State == "queued" {
			if n, err := pool.Agents.Does(t.Name); err == nil && n.Queued != "" {
				p.add("waits", n.Queued)
			}
			p.plain(taskPrompt(t))
			return p, nil
		}
		p.facts = append(p.facts, fact{label: "prompt", text: taskPrompt(t), role: themes.User, most: 4})
		if t.Error != "" {
			p.facts = append(p.facts, fact{label: "error", text: t.Error, role: themes.Bad, most: 3})
		}
		if t.State == "running" {
			p.tail, p.last = t.Agent, s.Tabs.LastLines
			return p, nil
		}
		if facts.Answer == "" {
			p.plain("It left no answer.")
		} else if t.Kind == "command" {
			p.plain(facts.Answer)
		} else {
			p.answer(facts.Answer)
		}
		return p, nil
	}
}

// task returns the facts known about any task.
func (p *preview) task(t roster.Task) {
	f := fact{role: themes.Accent}
	switch t.State {
	case "queued":
		f.text, f.at = "queued ", t.Created
	case "running":
		f.text, f.at = "started ", t.Started
	default:
		if f.text, f.at = t.Outcome+" ", t.Finished; !t.Started.IsZero() {
			f.rest = " · took " + words.Lasted(t.Finished.Sub(t.Started))
		}
	}
	f.text = t.Name + " · " + f.text
	p.facts = append(p.facts, f)
	var how []string
	if t.Model != "" {
		how = append(how, t.Model)
	}
	if t.Timeout > 0 {
		how = append(how, "timeout "+words.Lasted(t.Timeout))
	}
	if t.Deliver != "" {
		how = append(how, "deliver "+t.Deliver)
	}
	if t.Interactive {
		how = append(how, "interactive, awaits input "+words.Stay(t.Idle))
	}
	if t.Origin == roster.OriginCLI || t.Origin == roster.OriginMCP {
		how = append(how, "from outside ("+t.Origin+")")
	}
	if len(how) > 0 {
		p.add("how", strings.Join(how, " · "))
	}
}

func (s *taskStock) do(p *Panel, w dialog.Wish) intent.Intent {
	switch w.Verb {
	case "inbox":
		return intent.Inbox{Agent: s.agent, Name: s.name}
	case "schedules":
		return intent.Schedules{Agent: s.agent, Name: s.name}
	case "close":
		return intent.Close{}
	case "run":
		return p.wish(w, func(ctx context.Context) (string, error) {
			q, _ := s.Pool.Agents.Queue(ctx, s.agent) // if it can't be read there is no warning: the run was asked for
			r, err := s.Pool.Agents.Run(ctx, s.agent, tools.Start{})
			return words.Warned(r.String(), s.Doubt.Queued(q)), err
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
			p.box.Fail(name + " has not started and has no tab yet; R runs the queue")
			return nil
		case x == nil:
			p.box.Fail("the tab of " + name + " is closed; /resume " + name + " opens it again")
			return nil
		}
		return intent.All{intent.Close{}, intent.Go{Agent: x.Info.ID}}
	case "remove":
		return s.remove(p, w, t)
	case "up", "down":
		return s.move(p, w, t)
	case "edit":
		return s.edit(p, w, t)
	case "editing":
		return p.wish(w, func(ctx context.Context) (string, error) {
			if err := s.Pool.Tasks.Edit(ctx, name, w.Text); err != nil {
				return "", err
			}
			q, err := s.Pool.Agents.Queue(ctx, s.agent)
			if err != nil {
				q = roster.Queue{} // it is changed; the queue only serves the warning
			}
			return s.Doubt.WhenEdited(name, q), nil
		}, nil)
	case "retry":
		return p.wish(w, func(ctx context.Context) (string, error) {
			n, _, err := s.Pool.Tasks.Retry(ctx, s.agent, name, "")
			if err != nil {
				return "", err
			}
			return s.Doubt.WhenQueued(n, " again", "R", s.Pool.Agents.Joins(n.ID)), nil
		}, nil)
	}
	return nil
}

// remove asks before a task leaves the queue, or an agent is ended.
func (s *taskStock) remove(p *Panel, w dialog.Wish, t roster.Task) intent.Intent {
	name := t.Name
	switch t.State {
	case "running":
		return intent.Kill(s.Theme, name, s.Tabs.LiveBelow(name), func(cascade bool) intent.Intent {
			return p.wish(w, func(ctx context.Context) (string, error) {
				return "Ended " + name, s.Pool.Agents.Kill(ctx, name, cascade)
			}, nil)
		})
	case "queued":
		return intent.Open{
			Box: dialog.NewConfirm(s.Theme, "Remove "+name+"?", "It has not started; nobody gets a message.", []dialog.Option{
				{Key: "r", Label: "remove it"}, {Key: "c", Label: "keep it"},
			}),
			Decide: func(d dialog.Decision) intent.Intent {
				if c, _ := d.(dialog.Confirmed); c.Choice != "r" {
					return nil
				}
				return p.wish(w, func(ctx context.Context) (string, error) {
					return "Removed " + name, s.Pool.Tasks.Remove(ctx, name)
				}, nil)
			},
		}
	default:
		p.box.Fail(name + " has ended; /close " + name + " closes its tab")
	}
	return nil
}

func (s *taskStock) move(p *Panel, w dialog.Wish, t roster.Task) intent.Intent {
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
		p.box.Fail(t.Name + " does not wait in the queue")
		return nil
	case to < 1 || to > n:
		return nil
	}
	return p.wish(w, func(ctx context.Context) (string, error) {
		now, err := s.Pool.Tasks.Move(ctx, t.Name, to)
		return fmt.Sprintf("%s is number %d of the queue now", t.Name, now), err
	}, nil)
}

// edit puts the prompt of a queued task at the foot of the panel; one of several lines needs the
// box, which must be empty.
func (s *taskStock) edit(p *Panel, w dialog.Wish, t roster.Task) intent.Intent {
	if t.State != "queued" {
		p.box.Fail(t.Name + " has started; y pushes one that ended again")
		return nil
	}
	text := taskPrompt(t)
	if !strings.Contains(text, "\n") {
		p.box.Resume(dialog.Wish{Verb: "editing", ID: w.ID, Text: text})
		return nil
	}
	box := s.Tabs.Typing()
	if box == nil || !box.Empty() {
		p.box.Fail("its prompt has several lines and the box holds a draft; /queue edit " + t.Name + " brings it there")
		return nil
	}
	return intent.All{intent.Close{}, intent.Call(func() intent.Intent {
		box.Set("/queue edit " + t.Name + " " + text)
		return nil
	})}
}
