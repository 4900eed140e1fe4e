package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
)

// Fan is the board with a cell for each agent, which shows its last lines. It acts on agents as the
// overview does.
type Fan struct {
	Fleet
	wall    *dialog.Fan
	waiting *Waiting
	ended   map[int64]bool // agents that had ended when the board was opened: they come last
	asks    map[int64]asking
	takes   map[int64]string // by agent: the keys that answer its question in its cell
}

// NewFan opens the Fan with the focused agent selected. over is as for [Overview].
func NewFan(e Options, waiting *Waiting, over func(*tabs.Tab) bool) *Fan {
	f := &Fan{Fleet: Fleet{Options: e, seen: -1, over: over}, waiting: waiting, ended: map[int64]bool{}, asks: map[int64]asking{}, takes: map[int64]string{}}
	at := int64(0)
	if t := e.Tabs.Focus; t != nil {
		at = t.Info.ID
	}
	for _, t := range e.Tabs.All {
		f.ended[t.Info.ID] = t.Info.State.Terminal() && t.Info.ID != at
	}
	f.wall = dialog.NewFan(e.Theme, at, dialog.FanSource{Cell: f.cell, Tail: e.Tabs.LastLines, Head: f.head, Below: f.below})
	return f
}

// Box returns the wall itself.
func (f *Fan) Box() dialog.Box { return f.wall }

// SetTheme changes the colours.
func (f *Fan) SetTheme(t *themes.Theme) {
	f.Theme = t
	f.wall.SetTheme(t)
}

// Tails returns the agents whose last lines are shown.
func (f *Fan) Tails() []int64 { return f.wall.Shown() }

// Moves reports whether a cell changes without an event.
func (f *Fan) Moves() bool { return f.wall.Moves() }

// Muster updates the cells if the agents have changed.
func (f *Fan) Muster() {
	if f.seen == f.Tabs.Version {
		return
	}
	f.seen = f.Tabs.Version
	ms := make([]dialog.Member, 0, len(f.Tabs.All))
	for _, last := range []bool{false, true} {
		for _, t := range f.Tabs.All {
			if f.ended[t.Info.ID] == last {
				ms = append(ms, dialog.Member{ID: t.Info.ID, Name: t.Info.Name, State: string(t.Info.State)})
			}
		}
	}
	f.wall.Members(ms)
}

// Do goes to the chosen agent, or carries out an action.
func (f *Fan) Do(d dialog.Decision) intent.Intent {
	w, ok := d.(dialog.Wanted)
	if !ok {
		return f.Fleet.Do(d)
	}
	acting := f.Tabs.Acting().Info
	switch w.Verb {
	case "table":
		return intent.Overview{}
	case "timeline":
		return intent.Timeline{}
	case "keys":
		return intent.Open{Box: dialog.NewKeys(f.Theme, "Keys", fanKeys)}
	case "inbox", "queue", "schedules":
		return opens(w.Verb, acting.ID, acting.Name)
	case "check", "undo":
		return f.collect(acting, w.Verb)
	}
	t := f.Tabs.ByID(w.Agent)
	switch {
	case t == nil:
		return nil
	case w.Verb == "peek" && t.Info.Question != nil:
		return intent.Question{Agent: t.Info.ID}
	case w.Verb == "peek":
		f.wall.Zoom()
		return nil
	}
	return f.wanted(t, w.Verb)
}

// fanKeys are the keys of the Fan.
var fanKeys = []dialog.Row{
	{Left: "arrows", Right: "select an agent"},
	{Left: "tab", Right: "next that asks"},
	{Left: "pgup/pgdn", Right: "page"},
	{Left: "enter", Right: "open its tab"},
	{Left: "space", Right: "see the whole of it"},
	{Left: "y, n", Right: "yes once, no"},
	{Left: "s, p", Right: "until quit, always"},
	{Left: "m", Right: "message the agent"},
	{Left: "w", Right: "ask it to wrap up"},
	{Left: "x", Right: "end it, or close its tab"},
	{Left: "r", Right: "run its task again"},
	{Left: "c", Right: "collect the mail"},
	{Left: "u", Right: "put the mail back"},
	{Left: "l", Right: "list"},
	{Left: "t", Right: "timeline"},
	{Left: "/", Right: "find an agent"},
	{Left: "f3", Right: "inbox"},
	{Left: "f4", Right: "queue"},
	{Left: "f6", Right: "schedules"},
	{Left: "alt+a", Right: "answer a question"},
	{Left: "esc", Right: "back"},
}

// collect takes an agent's mail, as /check does, or puts back what was taken last.
func (f *Fan) collect(acting event.Info, verb string) intent.Intent {
	if f.Pool == nil {
		return intent.Say{Text: format.Sentence(ErrOpening)}
	}
	pool := f.Pool
	return intent.Quick(func(ctx context.Context) (string, error) {
		if verb == "undo" {
			n, err := pool.Letters.Undo(ctx, acting.ID)
			return "Put " + format.Count(n, "message") + " back", err
		}
		ms, left, err := pool.Pickup.Check(ctx, acting.ID, inbox.Query{})
		text := "Collected " + format.Count(len(ms), "message") + " · u undo"
		if left > 0 {
			text += fmt.Sprintf(" · %s more: press c again", inbox.Left(left))
		}
		return text, err
	})
}

// head returns the counts of agents by state, and what they cost.
func (f *Fan) head() (left, right string) {
	count, cost, priced, tokens := map[event.State]int{}, int64(0), false, 0
	for _, t := range f.Tabs.All {
		i := t.Info
		count[i.State]++
		cost, priced = cost+i.Cost, priced || i.Priced
		tokens += i.Usage.Input + i.Usage.Output
	}
	paint := f.Theme.Paint
	left = paint(themes.Heading, "Fan") + paint(themes.Dim, "  "+format.Count(len(f.Tabs.All), "agent"))
	failed := count[event.Failed] + count[event.Killed] + count[event.Crashed]
	for _, x := range []struct {
		n    int
		word string
		role themes.Role
	}{
		{count[event.Asking], "asking", themes.Warn},
		{count[event.Running] + count[event.Waiting], "running", themes.Accent},
		{count[event.Idle], "idle", themes.Dim},
		{count[event.Done], "done", themes.Good},
		{failed, "failed", themes.Bad},
	} {
		if x.n > 0 {
			left += paint(themes.Dim, " · ") + paint(x.role, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	if tokens == 0 {
		return left, ""
	}
	right = format.Amount(tokens) + " tokens"
	if priced {
		right = fmt.Sprintf("$%.2f · %s", float64(cost)/1e6, right)
	}
	return left, paint(themes.Dim, right)
}

// below returns the lines below the cells.
func (f *Fan) below(w, h int) []string {
	return f.waiting.Lines(f.Theme, f.Now(), f.Tabs.Acting().Info.Pending, w, h)
}

// cell returns what an agent's cell shows around its last lines.
func (f *Fan) cell(id int64, w, h int) dialog.Cell {
	t := f.Tabs.ByID(id)
	if t == nil {
		return dialog.Cell{}
	}
	i, now := t.Info, f.Now()
	c := dialog.Cell{
		Name: cells.CleanLine(i.Name), Word: stateText(t, now), Pulse: t.Pulse(), Mail: t.WithAsks(tabs.MailMark(t, t.News)),
		Moves: format.Working(i.State) || format.Turns(i, t.Active, now) > 0, Keys: fanCellKeys(i),
	}
	c.Sign, c.Role = format.Glyph(i)
	if _, stalled := i.Stalled(t.Active, now); stalled {
		c.Sign, c.Role = "◌", themes.Warn
	}
	delete(f.takes, id)
	if q := i.Question; q != nil {
		c.Asks = true
		c.Foot, f.takes[id] = f.asked(q, w, h)
	} else {
		delete(f.asks, id)
	}
	return c
}

// asking is a question laid out for a cell.
type asking struct {
	id    int64
	w     int
	theme *themes.Theme
	rows  []string
}

// asked returns the lines of a question, and the keys that answer it in its cell. Only the selected
// cell has keys.
func (f *Fan) asked(q *event.Question, w, h int) (out []string, keys string) {
	rows := f.questionRows(q, w)
	foot, keys := f.answers(q, w)
	if len(rows)+len(foot) > h || mustOpen(q) {
		foot, keys = f.opens(q, len(rows))
	}
	if f.wall.At() != q.Agent {
		foot, keys = nil, ""
	}
	return append(slices.Clone(rows[:min(len(rows), max(0, h-len(foot)))]), foot...), keys
}

// questionRows returns all of a question in lines of w cells. They are made once for each width.
func (f *Fan) questionRows(q *event.Question, w int) []string {
	at := f.asks[q.Agent]
	if at.id != q.ID || at.w != w || at.theme != f.Theme {
		at = asking{id: q.ID, w: w, theme: f.Theme}
		if q.Asks == nil {
			at.rows = dialog.QuestionRows(f.Theme, q.Question, w)
		} else {
			for _, l := range cells.Wrap(cells.CleanLine(cells.Reveal(q.Gist())), w) {
				at.rows = append(at.rows, f.Theme.Paint(themes.Warn, l))
			}
		}
		f.asks[q.Agent] = at
	}
	return at.rows
}

// mustOpen reports whether a call must be opened before it can be allowed: it leaves the sandbox or
// the workspace, touches a secret, or is no ordinary call.
func mustOpen(q *event.Question) bool {
	a := q.Action
	ordinary := a.Kind == permission.Command || a.Kind == permission.Write || a.Kind == permission.Read
	return q.Asks != nil || !ordinary || q.Outside || q.Again != "" || a.Outside || a.Guarded || a.Strict || a.Sensitive != ""
}

// answers returns the lines with the answers to a call that is shown whole, and their keys. A rule
// that has no room is not offered.
func (f *Fan) answers(q *event.Question, w int) (foot []string, keys string) {
	foot = []string{f.pair("y", "yes, once") + f.Theme.Paint(themes.Dim, " · ") + f.pair("n", "no")}
	if q.Rule == "" {
		return foot, "yn"
	}
	rule := cells.CleanLine(cells.Reveal(string(q.Rule)))
	line := f.pair("s", "until you quit · ") + f.pair("p", "always: ") + f.Theme.Paint(themes.Text, rule)
	if cells.Width(line) > w {
		return foot, "yn"
	}
	return append(foot, line), "yspn"
}

// opens returns the line below a question that must be opened, and the keys that answer it here.
func (f *Fan) opens(q *event.Question, rows int) (foot []string, keys string) {
	switch {
	case q.Asks != nil:
		return []string{f.pair("space", "answer")}, ""
	case q.Action.Kind == permission.Tamper: // no puts files back
		return []string{f.pair("space", "decide")}, ""
	}
	return []string{f.pair("space", "show all "+format.Count(rows, "line")) + f.Theme.Paint(themes.Dim, " · ") + f.pair("n", "no")}, "n"
}

func (f *Fan) pair(key, does string) string {
	return f.Theme.Paint(themes.Accent, key) + f.Theme.Paint(themes.Dim, " "+does)
}

// Takes returns the agent in the selected cell and the keys that answer its question there, as last
// drawn.
func (f *Fan) Takes() (agent int64, keys string) {
	if f.wall.Typing() {
		return 0, ""
	}
	at := f.wall.At()
	return at, f.takes[at]
}

// stateText returns an agent's state and its duration, such as "asks · 0:12".
func stateText(t *tabs.Tab, now time.Time) string {
	i := t.Info
	switch {
	case i.Question != nil:
		return "asks · " + format.Ran(now.Sub(i.Question.Since))
	case format.Awaits(i):
		return format.IdleShort(i, now)
	case format.Working(i.State) && !i.Started.IsZero():
		return format.Ran(now.Sub(i.Started))
	case i.State.Terminal() && !i.Started.IsZero() && !i.Ended.IsZero():
		return strings.TrimSpace(format.Clock(i.Ended.Sub(i.Started)))
	}
	return string(i.State)
}

// fanCellKeys returns the keys that act on an agent, except those for all.
func fanCellKeys(i event.Info) (ks []string) {
	switch talks := i.Kind.HasPrompt(); {
	case i.State.Terminal() && i.Kind.Fleeting():
		ks = []string{"x close"}
	case i.State.Terminal():
		ks = []string{"m continue", "r run again", "x close"}
	case !talks:
		if !i.Kind.Fleeting() && !strings.HasPrefix(i.Prompt, "!") {
			ks = append(ks, "m message")
		}
		ks = append(ks, "x end")
	}
	return slices.Clip(ks)
}
