package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/slash/timetable"
)

// dueStock is the schedules of the workspace as a panel lists them: all that have not ended, which
// are few, and below them a window of those that have.
type dueStock struct {
	Env
	agent int64 // whose inbox and queue the keys open
	name  string

	live  []schedule.Schedule
	ended window[schedule.Schedule]
	shown dueQuery
	any   bool // they were read
}

// dueQuery is which schedules the board shows.
type dueQuery struct {
	lane   int
	search string
}

// The lanes of the schedules.
const (
	laneActive = iota
	lanePaused
	laneEnded
)

var dueVerbs = []dialog.Verb{
	{Key: "enter", Name: "report", Hint: "report", Help: "what it reported last; again: the schedule"},
	{Key: "p", Name: "pause", Hint: "pauses", Help: "pause it, or let a paused one go on"},
	{Key: "R", Name: "fire", Hint: "runs now", Help: "run it now, besides the times it is due"},
	{Key: "x delete", Name: "remove", Hint: "removes", Help: "remove it; asks"},
	{Key: "f3 i", Name: "inbox", Hint: "inbox", Help: "the inbox", Bare: true},
	{Key: "f4 Q", Name: "queue", Hint: "queue", Help: "the queue", Bare: true},
	{Key: "f6", Name: "close", Help: "close", Bare: true},
	{Key: "f2", Name: "agents", Help: "the overview of all agents", Bare: true},
	{Key: "alt+a f5", Name: "question", Help: "answer the oldest open question", Bare: true},
	{Key: "?", Name: "keys", Help: "this list", Bare: true},
}

// Schedules opens the panel of what is due when.
func Schedules(e Env, agent int64, name string) *Panel {
	box := dialog.NewBoard(e.Theme, e.Now, "Schedules", timetable.Empty+".", dueVerbs, false)
	s := &dueStock{Env: e, agent: agent, name: name}
	_, lanes := s.lines(nil, nil, dueQuery{})
	box.Lanes(lanes)
	return open(e, box, s)
}

func (s *dueStock) recolour(t *themes.Theme) { s.Theme = t }

func (s *dueStock) touched(e event.Event) bool {
	_, tally := e.(event.Tally) // follows each change of the schedules and each end of what they began
	return tally
}

func (s *dueStock) next(b *dialog.Board, stale staleness) read {
	want := dueQuery{b.Lane(), b.Search()}
	turn := s.list(want).next(b, !s.any || want != s.shown, bool(stale))
	if turn == nil {
		return nil
	}
	have, pool, leaps, owners := s.ended, s.Pool.Due, b.Leaps(), s.owners()
	return func(ctx context.Context) (func(b *dialog.Board), error) {
		live, err := pool.All(ctx, 0)
		if err != nil {
			return nil, err
		}
		ended, err := turn(ctx, have)
		if err != nil {
			return nil, err
		}
		all := slices.Concat(live, ended.rows)
		if ended.over != 0 {
			all = ended.rows // the others are above the window, and so is the heading
		}
		lines, _ := s.lines(all, owners, want)
		if ended.over != 0 && want.lane < 0 {
			lines = lines[min(1, len(lines)):]
		}
		_, lanes := s.lines(live, nil, dueQuery{})
		return func(b *dialog.Board) {
			s.live, s.ended, s.shown, s.any = live, ended, want, true
			b.Lanes(lanes)
			b.Show(lines, ended.over != 0, ended.more)
			if leaps != 0 {
				b.Landed()
			}
		}, nil
	}
}

// turns is how long until a row says something else of when a schedule is due; 0: it does not.
func (s *dueStock) turns(now time.Time) (soonest time.Duration) {
	for _, x := range s.live {
		left := x.Due.Sub(now)
		switch {
		case x.State != schedule.Active || left <= -time.Minute:
			continue
		case left < 0:
			left += time.Minute
		case left >= 24*time.Hour:
			left %= 24 * time.Hour
		case left >= time.Hour:
			left %= time.Hour
		case left >= time.Minute:
			left %= time.Minute
		}
		if left += time.Second; soonest == 0 || left < soonest { // a row rounds to seconds
			soonest = left
		}
	}
	return soonest
}

// list is what a query finds among the schedules that ended.
func (s *dueStock) list(q dueQuery) long[schedule.Schedule] {
	pool := s.Pool.Due
	return long[schedule.Schedule]{
		read: func(ctx context.Context, before int64, back bool, n int) ([]schedule.Schedule, error) {
			if q.lane >= 0 && q.lane != laneEnded {
				return nil, nil
			}
			return pool.Past(ctx, schedule.Past{Search: q.search, Before: before, Back: back, Limit: n})
		},
		id: func(x schedule.Schedule) int64 { return x.ID },
	}
}

// owners are the names of the agents that own schedules and are not main.
func (s *dueStock) owners() map[int64]string {
	names := map[int64]string{}
	for _, t := range s.Tabs.All {
		if t.Info.Kind != event.Main {
			names[t.Info.ID] = t.Info.Name
		}
	}
	return names
}

// lines are the rows of schedules, grouped if all show, and the counts; how many have ended is not
// known.
func (*dueStock) lines(all []schedule.Schedule, owners map[int64]string, want dueQuery) ([]dialog.Line, []dialog.Lane) {
	lanes := []dialog.Lane{
		{Name: "Active", Short: "Active", Role: themes.Accent},
		{Name: "Paused", Short: "Paused", Role: themes.Text},
		{Name: "Ended", Short: "Ended", Role: themes.Text, Count: -1},
	}
	var lines []dialog.Line
	word, group := strings.ToLower(want.search), -1
	for _, x := range all {
		l := dueLine(x, owners[x.Owner])
		if l.Lane != laneEnded {
			lanes[l.Lane].Count++
			if !strings.Contains(strings.ToLower(x.Name+" "+x.Text), word) {
				continue
			}
		}
		switch {
		case want.lane >= 0 && want.lane != l.Lane:
			continue
		case want.lane < 0 && group != l.Lane:
			group = l.Lane
			lines = append(lines, dialog.Line{Text: lanes[group].Name})
		}
		lines = append(lines, l)
	}
	return lines, lanes
}

// mostSays is how much of what a schedule does its row says where what it found follows.
const mostSays = 14

// dueLine is a schedule's row; owner is who gets its mail, if that is not main.
func dueLine(x schedule.Schedule, owner string) dialog.Line {
	l := dialog.Line{ID: x.ID, Who: x.Name, Text: timetable.Says(x), Role: themes.Accent}
	switch x.Kind {
	case schedule.Reminder:
		l.Sign = "✉"
	case schedule.Command:
		l.Sign = "!"
	default:
		l.Sign = "◎"
	}
	if owner != "" {
		l.Flags = "for " + owner
	}
	ran := x.Last.ID != 0
	if found := timetable.Finding(x.Last); found != "" {
		if rs := []rune(l.Text); len(rs) > mostSays {
			l.Text = string(rs[:mostSays-1]) + "…"
		}
		l.Text += " → "
		if x.Last.Outcome != "completed" {
			l.Text += "✗ "
		}
		l.Text += found
	}
	switch x.State {
	case schedule.Paused:
		l.Lane = lanePaused
	case schedule.Ended:
		if l.Lane, l.At = laneEnded, x.Created; ran {
			l.At = x.Last.Fired
		}
	default:
		l.At, l.Ahead = x.Due, true
	}
	if l.Faint = x.State != schedule.Active; l.Faint {
		l.Role = themes.Dim
	}
	if x.When.Repeats() && x.State != schedule.Ended {
		l.Number = fmt.Sprintf("%d/%d", x.Left(), schedule.MostRuns)
	}
	if ran && x.Last.Ended.IsZero() {
		l.Flags, l.At, l.Ahead = strings.TrimSpace("running "+l.Flags), x.Last.Fired, false
	}
	return l
}

func (s *dueStock) schedule(id int64) (schedule.Schedule, bool) {
	for _, xs := range [][]schedule.Schedule{s.live, s.ended.rows} {
		if i := slices.IndexFunc(xs, func(x schedule.Schedule) bool { return x.ID == id }); i >= 0 {
			return xs[i], true
		}
	}
	return schedule.Schedule{}, false
}

func (s *dueStock) preview(id int64) func(ctx context.Context) (*preview, error) {
	pool, theme, now, owners := s.Pool.Due, s.Theme, s.Now, s.owners()
	return func(ctx context.Context) (*preview, error) {
		x, runs, err := pool.Look(ctx, id)
		if err != nil {
			return nil, err
		}
		p := newPreview(theme, now)
		p.facts = append(p.facts, fact{text: fmt.Sprintf("%s, a %s", x.Name, x.Kind), role: themes.Accent})
		for _, f := range timetable.Facts(x, now()) {
			most := 1
			if f.Label == "says" {
				most = 4
			}
			p.facts = append(p.facts, fact{label: f.Label, text: f.Text, role: themes.Text, most: most})
		}
		if owner := owners[x.Owner]; owner != "" {
			p.add("for", owner)
		}
		lines := make([]string, len(runs))
		for i, r := range runs {
			lines[i] = timetable.Result(r, now())
		}
		if len(runs) == 0 {
			lines = []string{"It did not run yet."}
		}
		p.plain(strings.Join(lines, "\n"))
		return p, nil
	}
}

func (s *dueStock) do(p *Panel, w dialog.Wish) intent.Intent {
	switch w.Verb {
	case "inbox":
		return intent.Inbox{Agent: s.agent, Name: s.name}
	case "queue":
		return intent.Queue{Agent: s.agent, Name: s.name}
	case "close":
		return intent.Close{}
	}
	x, ok := s.schedule(w.ID)
	switch {
	case !ok:
		return nil
	case w.Verb == "report":
		return s.report(p, x)
	case x.State == schedule.Ended:
		p.box.Fail(x.Name + " has ended: " + x.Why)
		return nil
	}
	d := timetable.Desk{Pool: s.Pool.Due, Now: s.Now}
	act := func(f func(ctx context.Context, name string) (string, error)) intent.Intent {
		return p.wish(w, func(ctx context.Context) (string, error) { return f(ctx, x.Name) }, nil)
	}
	switch {
	case w.Verb == "pause" && x.State == schedule.Paused:
		return act(d.Resume)
	case w.Verb == "pause":
		return act(d.Pause)
	case w.Verb == "fire":
		return act(d.Run)
	case w.Verb == "remove":
		return intent.Open{
			Box: dialog.NewConfirm(s.Theme, "Remove "+x.Name+"?", "It is not due again; what it reported stays.", []dialog.Option{
				{Key: "r", Label: "remove it"}, {Key: "c", Label: "keep it"},
			}),
			Decide: func(c dialog.Decision) intent.Intent {
				if c, _ := c.(dialog.Confirmed); c.Choice != "r" {
					return nil
				}
				return act(d.Remove)
			},
		}
	}
	return nil
}

// report shows the newest message that a schedule sent, in its place.
func (s *dueStock) report(p *Panel, x schedule.Schedule) intent.Intent {
	pool, theme, now := s.Pool, s.Theme, s.Now
	return p.instead(x.ID, "report", func(ctx context.Context) (*preview, error) {
		_, runs, err := pool.Due.Look(ctx, x.ID)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(runs, func(r schedule.Run) bool { return r.Message != 0 })
		if i < 0 {
			return nil, fmt.Errorf("no run of %s has reported yet", x.Name)
		}
		m, ok, err := pool.Letters.Message(ctx, runs[i].Message)
		if err == nil && !ok {
			err = fmt.Errorf("there is no message #%d", runs[i].Message)
		}
		if err != nil {
			return nil, err
		}
		v := newPreview(theme, now)
		_, role := mailSign(m)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("#%d of %s · enter shows the schedule again · ", m.ID, inbox.Label(x.Name)), at: m.Created, role: role})
		v.of = fmt.Sprintf("#%d", m.ID)
		v.view.Letter(m)
		return v, nil
	})
}
