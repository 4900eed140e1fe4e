package panel

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Timeline is the board that shows what each agent did when, on one clock, and below it the transcript of the selected
// agent at the selected moment.
type Timeline struct {
	Options
	waiting *Waiting
	members []dialog.Branched
	seen    int   // version of the tabs that it lists
	tasks   int   // number of queued tasks that it lists
	agent   int64 // selected; a queued task's is negative
	top     int   // of the visible rows
	rows    int   // visible ones

	zoom  int       // index into spans
	at    time.Time // the selected moment; zero: now, which goes on
	until time.Time // the end of the visible time while a moment is selected
	cols  int       // stretches of the last frame
	fits  bool      // the time shown was fitted to what there is

	read    agents.Timeline
	got     visible // that was read
	reading bool
	stale   bool
	readAt  time.Time
	failed  string
	closed  bool

	past moment
}

// visible is the time that is shown.
type visible struct {
	from    time.Time
	stretch time.Duration
	n       int
}

// moment is the transcript of an agent at a time.
type moment struct {
	agent   int64
	at      time.Time
	view    *transcript.View
	last    int64 // its newest entry; 0: there is none
	reading bool
}

// spans are the lengths of time that can be shown, and their names.
var spans = [...]struct {
	length time.Duration
	name   string
}{
	{5 * time.Minute, "5 min"},
	{15 * time.Minute, "15 min"},
	{30 * time.Minute, "30 min"},
	{time.Hour, "1 h"},
	{3 * time.Hour, "3 h"},
	{12 * time.Hour, "12 h"},
	{24 * time.Hour, "1 day"},
	{3 * 24 * time.Hour, "3 days"},
	{7 * 24 * time.Hour, "7 days"},
}

// The span that is shown first, how many stretches a longer step has, and how many entries of a transcript are read.
const (
	firstSpan  = 3
	longStep   = 10
	momentPage = 40
)

// NewTimeline opens the board with the focused agent selected.
func NewTimeline(o Options, waiting *Waiting) *Timeline {
	t := &Timeline{Options: o, waiting: waiting, seen: -1, zoom: firstSpan, stale: true}
	if f := o.Tabs.Focus; f != nil {
		t.agent = f.Info.ID
	}
	return t
}

// Box returns the board itself.
func (t *Timeline) Box() dialog.Box { return t }

// Close tells the board that it is no longer shown.
func (t *Timeline) Close() { t.closed = true }

// SetTheme changes the colours.
func (t *Timeline) SetTheme(theme *themes.Theme) {
	t.Theme = theme
	if t.past.view != nil {
		t.past.view.SetTheme(theme)
	}
}

// Tails returns the agent whose last lines are shown, if any.
func (t *Timeline) Tails() []int64 {
	if t.at.IsZero() && t.agent > 0 {
		return []int64{t.agent}
	}
	return nil
}

// View returns the transcript at the selected moment; nil: none shows.
func (t *Timeline) View() *transcript.View {
	if t.at.IsZero() {
		return nil
	}
	return t.past.view
}

// Moves reports whether the board changes without an event.
func (t *Timeline) Moves() bool {
	return slices.ContainsFunc(t.Tabs.Open, func(x *tabs.Tab) bool { return format.Working(x.Info.State) })
}

// Note applies an event.
func (t *Timeline) Note(e event.Event) {
	switch e.(type) {
	case event.Delta, event.Void, event.Output, event.Trouble:
	default:
		t.stale = true
	}
}

// Muster updates the rows if the agents or the queued tasks have changed.
func (t *Timeline) Muster() {
	if t.seen == t.Tabs.Version && t.tasks == len(t.read.Queued) {
		return
	}
	t.seen, t.tasks = t.Tabs.Version, len(t.read.Queued)
	ms := make([]dialog.Member, 0, len(t.Tabs.All)+t.tasks)
	for _, x := range t.Tabs.All {
		ms = append(ms, dialog.Member{ID: x.Info.ID, Parent: x.Info.Parent, Name: x.Info.Name})
	}
	for _, q := range t.read.Queued {
		ms = append(ms, dialog.Member{ID: -q.Task, Parent: q.Queue, Name: q.Name})
	}
	was := max(t.place(), 0)
	t.members = dialog.Tree(ms, 3)
	if t.place() < 0 && len(t.members) > 0 {
		t.agent = t.members[min(was, len(t.members)-1)].ID
	}
}

// place returns the index of the selected row; -1: there is none.
func (t *Timeline) place() int {
	return slices.IndexFunc(t.members, func(m dialog.Branched) bool { return m.ID == t.agent })
}

// ceil returns the first end of a stretch at that time or later.
func ceil(at time.Time, stretch time.Duration) time.Time {
	if down := at.Truncate(stretch); down.Before(at) {
		return down.Add(stretch)
	}
	return at
}

// stretch returns the time that a column shows: whole seconds.
func (t *Timeline) stretch() time.Duration {
	return max(time.Second, ceilSecond(spans[t.zoom].length/time.Duration(max(t.cols, 1))))
}

func ceilSecond(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// visible returns the time that is shown.
func (t *Timeline) visible() visible {
	s, until := t.stretch(), t.until
	if t.at.IsZero() {
		until = ceil(t.Now(), s)
	}
	return visible{until.Add(-time.Duration(t.cols) * s), s, t.cols}
}

// Wants returns the reads that the board needs.
func (t *Timeline) Wants() intent.Intent {
	if t.Pool == nil || t.closed || t.cols == 0 {
		return nil
	}
	var all intent.All
	now, want := t.Now(), t.visible()
	soon := t.stale && (!t.Moves() || now.Sub(t.readAt) >= time.Second || now.Before(t.readAt))
	if !t.reading && (want != t.got || soon) {
		t.reading, t.stale, t.got, t.readAt = true, false, want, now
		pool := t.Pool
		all = append(all, intent.Run{F: func(ctx context.Context) intent.Intent {
			read, err := pool.Records.Timeline(ctx, want.from, want.stretch, want.n, now)
			return intent.Call(func() intent.Intent {
				t.took(read, err)
				return nil
			})
		}})
	}
	p := &t.past
	if !t.at.IsZero() && t.agent > 0 && !p.reading && (p.agent != t.agent || !p.at.Equal(t.at)) {
		p.reading = true
		pool, agent, at := t.Pool, t.agent, t.at
		all = append(all, intent.Run{F: func(ctx context.Context) intent.Intent {
			es, err := pool.Records.Until(ctx, agent, at, momentPage)
			return intent.Call(func() intent.Intent {
				t.showed(agent, at, es, err)
				return nil
			})
		}})
	}
	if all == nil {
		return nil
	}
	return all
}

// took shows what was read. The first time it shortens the visible time to what there is.
func (t *Timeline) took(read agents.Timeline, err error) {
	t.reading, t.failed = false, ""
	if err != nil {
		t.failed = format.Sentence(err)
		return
	}
	t.read = read
	if t.fits {
		return
	}
	t.fits = true
	for !read.First.IsZero() && t.zoom > 0 && t.Now().Sub(read.First) < spans[t.zoom-1].length {
		t.zoom--
	}
}

func (t *Timeline) showed(agent int64, at time.Time, es []history.Entry, err error) {
	v := transcript.New(t.Theme, t.Now)
	v.Calm()
	t.past = moment{agent: agent, at: at, view: v}
	if err != nil {
		v.Text(format.Sentence(err))
		return
	}
	v.Append(es)
	if n := len(es); n > 0 {
		t.past.last = es[n-1].Seq
	}
}

// Key moves through time and the agents.
func (t *Timeline) Key(k tea.KeyPressMsg) dialog.Decision {
	key := k.Keystroke()
	if k.Text != "" && k.Mod&^tea.ModShift == 0 {
		key = k.Text
	}
	switch key {
	case "left", "h":
		t.step(-1)
	case "right", "l":
		t.step(1)
	case "shift+left", "pgup", "H":
		t.step(-longStep)
	case "shift+right", "pgdown", "L":
		t.step(longStep)
	case "home", "ctrl+home", "g":
		t.home()
	case "end", "ctrl+end", "G":
		t.at = time.Time{}
	case "up", "k", "shift+up", "ctrl+p":
		t.choose(-1)
	case "down", "j", "shift+down", "ctrl+n":
		t.choose(1)
	case "+", "=":
		t.scale(-1)
	case "-":
		t.scale(1)
	case "enter":
		if t.agent > 0 {
			return dialog.Opened{Agent: t.agent}
		}
	case "f", "t", "?", "f3", "f4", "f6":
		return dialog.Wanted{Verb: key, Agent: t.agent}
	case "f2":
		return dialog.Wanted{Verb: "t"}
	case "esc":
		return dialog.Cancelled{}
	}
	return nil
}

// choose selects the row that many further on.
func (t *Timeline) choose(by int) {
	if n := len(t.members); n > 0 {
		t.agent = t.members[max(0, min(n-1, t.place()+by))].ID
	}
}

// step selects the moment that many columns later. Before the first turn there is none, and after now there is now.
func (t *Timeline) step(by int) {
	s, now := t.stretch(), t.Now()
	at := t.at
	if at.IsZero() {
		if by > 0 || t.read.Oldest.IsZero() {
			return
		}
		t.until = ceil(now, s)
		at = t.until
	}
	at = at.Add(time.Duration(by) * s)
	if first := ceil(t.read.Oldest, s); at.Before(first) {
		at = first
	}
	if !at.Before(now) {
		t.at = time.Time{}
		return
	}
	t.at = at
	t.follow(s)
}

// follow has the visible time contain the selected moment.
func (t *Timeline) follow(s time.Duration) {
	length := time.Duration(t.cols) * s
	if !t.at.After(t.until.Add(-length)) || t.at.After(t.until) {
		t.until = ceil(t.at.Add(length/2), s)
	}
	if now := ceil(t.Now(), s); t.until.After(now) {
		t.until = now
	}
}

// home selects the beginning of the first turn of all.
func (t *Timeline) home() {
	if !t.read.Oldest.IsZero() && t.read.Oldest.Before(t.Now()) {
		s := t.stretch()
		t.at = ceil(t.read.Oldest.Add(1), s)
		t.follow(s)
	}
}

// scale shows more time, or less, around the selected moment.
func (t *Timeline) scale(by int) {
	t.fits, t.zoom = true, max(0, min(len(spans)-1, t.zoom+by))
	if !t.at.IsZero() {
		s := t.stretch()
		t.until = ceil(t.at.Add(time.Duration(t.cols)*s/2), s)
		t.follow(s)
	}
}

// Paste and Cursor are for boards with a line to type into.
func (t *Timeline) Paste(string) {}

// Cursor shows none.
func (t *Timeline) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Do opens the agent's tab where it was, or carries out an action.
func (t *Timeline) Do(d dialog.Decision) intent.Intent {
	switch d := d.(type) {
	case dialog.Opened:
		x := t.Tabs.ByID(d.Agent)
		if x == nil {
			return nil
		}
		if p := t.past; !t.at.IsZero() && p.agent == d.Agent && p.last > 0 {
			x.View.Reach(p.last)
		}
		return intent.Go{Agent: d.Agent}
	case dialog.Wanted:
		acting := t.Tabs.Acting().Info
		switch d.Verb {
		case "t":
			return intent.Fan{}
		case "?":
			return intent.Open{Box: dialog.NewKeys(t.Theme, "Keys", timelineKeys)}
		case "f3":
			return opens("inbox", acting.ID, acting.Name)
		case "f4":
			return opens("queue", acting.ID, acting.Name)
		case "f6":
			return opens("schedules", acting.ID, acting.Name)
		case "f":
			return t.fork(d.Agent)
		}
	}
	return nil
}

// fork branches an agent's conversation after the last turn that had ended by the selected moment.
func (t *Timeline) fork(agent int64) intent.Intent {
	x := t.Tabs.ByID(agent)
	switch {
	case t.Pool == nil:
		return intent.Say{Text: format.Sentence(ErrOpening)}
	case x == nil:
		return intent.Say{Text: "This task has not started: there is nothing to fork"}
	}
	pool, name, at := t.Pool, x.Info.Name, t.at
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		number := 0
		if !at.IsZero() {
			past, err := pool.Records.Turns(ctx, agent, 0)
			if err != nil {
				return intent.Say{Text: format.Sentence(err)}
			}
			for _, p := range past {
				if !p.Ended.After(at) {
					number = p.Number
				}
			}
			if number == 0 {
				return intent.Say{Text: fmt.Sprintf("No turn of %s had ended by %s", name, at.Local().Format(time.TimeOnly))}
			}
		}
		i, err := pool.Branch(ctx, agent, number, "")
		if err != nil {
			return intent.Say{Text: format.Sentence(err)}
		}
		return intent.All{intent.Close{}, intent.Go{Agent: i.ID}}
	}}
}

// timelineKeys are the keys of the board.
var timelineKeys = []dialog.Row{
	{Left: "left, right", Right: "earlier, later"},
	{Left: "pgup/pgdn", Right: "ten columns"},
	{Left: "home, end", Right: "first turn, now"},
	{Left: "up, down", Right: "select an agent"},
	{Left: "+, -", Right: "zoom in, out"},
	{Left: "enter", Right: "open there"},
	{Left: "f", Right: "fork there"},
	{Left: "t", Right: "watch all agents"},
	{Left: "f3", Right: "inbox"},
	{Left: "f4", Right: "queue"},
	{Left: "f6", Right: "schedules"},
	{Left: "alt+a", Right: "answer a question"},
	{Left: "esc", Right: "back"},
}
