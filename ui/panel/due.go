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
	"fantail/ui/format"
	"fantail/ui/intent"
)

// scheduleList lists the workspace's schedules: all that have not ended, which are few, and below
// them a window of the ended ones.
type scheduleList struct {
	*Panel
	live  []schedule.Schedule
	ended window[schedule.Schedule]
}

// The lanes of the board of schedules.
const (
	laneActive = iota
	lanePaused
	laneEnded
)

var scheduleLanes = []dialog.Lane{
	{Name: "Active", Short: "Active", Role: themes.Accent},
	{Name: "Paused", Short: "Paused", Role: themes.Text},
	{Name: "Ended", Short: "Ended", Role: themes.Text, Count: -1}, // their number is unknown
}

var scheduleVerbs = []dialog.Verb{
	{Key: "enter", Name: "report", Hint: "report", Help: "last report"},
	{Key: "p", Name: "pause", Hint: "pause", Help: "pause or resume"},
	{Key: "R", Name: "fire", Hint: "run now", Help: "run it now too"},
	{Key: "x delete", Name: "remove", Hint: "remove", Help: "remove"},
}

// Schedules opens the panel of schedules.
func Schedules(e Options, agent int64, name string) *Panel {
	verbs := slices.Concat(scheduleVerbs, boardVerbs("f6"))
	p := open(e, agent, name, dialog.NewBoard(e.Theme, e.Now, "Schedules", format.NoSchedules+".", verbs, false), scheduleLanes)
	p.list = &scheduleList{Panel: p}
	return p
}

func (s *scheduleList) read(want query, stale staleness) reading {
	turn := s.past(want).next(s.box, !s.any || want != s.shown, bool(stale))
	if turn == nil {
		return nil
	}
	have, pool, owners := s.ended, s.Pool.Schedule, s.owners()
	return func(ctx context.Context) (r rows, err error) {
		live, err := pool.All(ctx, 0)
		if err != nil {
			return r, err
		}
		ended, err := turn(ctx, have)
		if err != nil {
			return r, err
		}
		r = showSchedules(live, ended, owners, want)
		r.take = func() { s.live, s.ended = live, ended }
		return r, nil
	}
}

// showSchedules lists the schedules that have not ended, then the ended ones. owners is as for
// [scheduleLine].
func showSchedules(live []schedule.Schedule, ended window[schedule.Schedule], owners map[int64]string, want query) rows {
	r := grouped(scheduleLanes, live, want, func(x schedule.Schedule) (dialog.Line, string) {
		return scheduleLine(x, owners[x.Owner]), x.Name + " " + x.Text
	})
	var lines []dialog.Line
	for _, x := range ended.rows { // they were selected by the query
		lines = append(lines, scheduleLine(x, owners[x.Owner]))
	}
	if r.above, r.below = ended.over != 0, ended.more; r.above { // the live ones and the heading are above the window
		r.lines = lines
	} else {
		r.add(want, scheduleLanes[laneEnded].Name, lines)
	}
	return r
}

// turns returns how long until the text about a due time changes; 0: it does not.
func (s *scheduleList) turns(now time.Time) (soonest time.Duration) {
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

// past reads the ended schedules that a query selects.
func (s *scheduleList) past(q query) long[schedule.Schedule] {
	pool := s.Pool.Schedule
	return long[schedule.Schedule]{
		read: func(ctx context.Context, before int64, back bool, n int) ([]schedule.Schedule, error) {
			if q.lane >= 0 && q.lane != laneEnded {
				return nil, nil
			}
			return pool.Past(ctx, schedule.Past{Search: q.search, Before: before, Back: back, Limit: n})
		},
		id: scheduleID,
	}
}

func scheduleID(x schedule.Schedule) int64 { return x.ID }

// owners returns the names of the agents that own schedules, without main.
func (s *scheduleList) owners() map[int64]string {
	names := map[int64]string{}
	for _, t := range s.Tabs.All {
		if t.Info.Kind != event.Main {
			names[t.Info.ID] = t.Info.Name
		}
	}
	return names
}

// maxSays limits the text about a schedule's work, in runes, if its finding follows.
const maxSays = 14

// scheduleLine returns a schedule's row. owner is the agent that gets its mail, "" for main.
func scheduleLine(x schedule.Schedule, owner string) dialog.Line {
	l := dialog.Line{ID: x.ID, Who: x.Name, Text: format.ScheduleSays(x), Role: themes.Accent}
	switch x.Kind {
	case schedule.Reminder:
		l.Sign = "⏲"
	case schedule.Command:
		l.Sign = "!"
	default:
		l.Sign = "◎"
	}
	if owner != "" {
		l.Flags = "for " + owner
	}
	ran := x.Last.ID != 0
	if found := format.RunFinding(x.Last); found != "" {
		if rs := []rune(l.Text); len(rs) > maxSays {
			l.Text = string(rs[:maxSays-1]) + "…"
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
	case schedule.Held:
		l.Lane, l.Flags = lanePaused, strings.TrimSpace("held "+l.Flags)
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
	if ran && x.Last.Ended.IsZero() {
		l.Flags, l.At, l.Ahead = strings.TrimSpace("running "+l.Flags), x.Last.Fired, false
	}
	return l
}

func (s *scheduleList) schedule(id int64) (schedule.Schedule, bool) {
	return find(slices.Concat(s.live, s.ended.rows), id, scheduleID)
}

func (s *scheduleList) about(id int64) func(ctx context.Context, p *preview) error {
	pool, now, owners := s.Pool.Schedule, s.Now, s.owners()
	return func(ctx context.Context, p *preview) error {
		x, runs, err := pool.Look(ctx, id)
		if err != nil {
			return err
		}
		p.head(fmt.Sprintf("%s, a %s", x.Name, x.Kind))
		p.fields(format.ScheduleFields(x, now()))
		if owner := owners[x.Owner]; owner != "" {
			p.add("for", owner)
		}
		lines := make([]string, len(runs))
		for i, r := range runs {
			lines[i] = format.RunResult(r, now())
		}
		if len(runs) == 0 {
			lines = []string{"Has not run yet"}
		}
		p.plain(strings.Join(lines, "\n"))
		return nil
	}
}

func (s *scheduleList) do(w dialog.BoardAction) intent.Intent {
	x, ok := s.schedule(w.ID)
	switch {
	case !ok:
		return nil
	case w.Verb == "report":
		return s.report(x)
	case x.State == schedule.Ended:
		s.box.Fail(x.Name + " has ended: " + x.Why)
		return nil
	}
	d := format.ScheduleCommands{Pool: s.Pool.Schedule, Now: s.Now}
	act := func(f func(ctx context.Context, name string) (string, error)) intent.Intent {
		return s.wish(w, func(ctx context.Context) (string, error) { return f(ctx, x.Name) }, nil)
	}
	switch {
	case w.Verb == "pause" && x.State == schedule.Paused:
		return act(d.Resume)
	case w.Verb == "pause":
		return act(d.Pause)
	case w.Verb == "fire":
		return act(d.Run)
	case w.Verb == "remove":
		return s.removes(x.Name, "It will not run again. Its reports stay.", func() intent.Intent { return act(d.Remove) })
	}
	return nil
}

// report shows the newest message that a schedule sent, in place of the schedule.
func (s *scheduleList) report(x schedule.Schedule) intent.Intent {
	pool, messages := s.Pool, s.Inbox
	return s.instead(x.ID, "report", func(ctx context.Context, v *preview) error {
		_, runs, err := pool.Schedule.Look(ctx, x.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(runs, func(r schedule.Run) bool { return r.Message != 0 })
		if i < 0 {
			return fmt.Errorf("no run of %s has reported yet", x.Name)
		}
		m, err := letter(ctx, messages, runs[i].Message)
		if err != nil {
			return err
		}
		_, role := format.MailSign(m)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("#%d of %s · enter show the schedule · ", m.ID, inbox.Label(x.Name)), at: m.Created, role: role})
		v.of = fmt.Sprintf("#%d", m.ID)
		v.view.Letter(m)
		return nil
	})
}
