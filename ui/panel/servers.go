package panel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/agents/servers"
	"fantail/themes"
	"fantail/tools/mcp"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/slash/serving"
	"fantail/ui/slash/signing"
	"fantail/ui/slash/trusting"
	"fantail/ui/words"
)

// serverStock is the MCP servers of the workspace as a panel lists them. They are few.
type serverStock struct {
	Env
	agent int64 // whose inbox and queue the keys open
	name  string

	rows   []serving.Row
	faults []servers.Fault
	shown  serverQuery
	any    bool // they were read
}

// serverQuery is which servers the board shows.
type serverQuery struct {
	lane   int
	search string
}

// The lanes of the servers.
const (
	laneUsed = iota
	laneUntrusted
	laneUnused
)

var serverVerbs = []dialog.Verb{
	{Key: "enter", Name: "tools", Hint: "tools", Help: "its tools, and what they say of themselves; again: the server"},
	{Key: "l", Name: "log", Hint: "log", Help: "what it wrote to its standard error, and what became of it; again: the server"},
	{Key: "r", Name: "reconnect", Hint: "reconnects", Help: "end it if it runs, and start it"},
	{Key: "a", Name: "login", Hint: "logs in", Help: "log in to a server that wants to know who you are: the question names the hosts"},
	{Key: "t", Name: "trust", Hint: "trust", Help: "what the repository runs by itself, to be agreed to", Bare: true},
	{Key: "f3 i", Name: "inbox", Help: "the inbox", Bare: true},
	{Key: "f4 Q", Name: "queue", Help: "the queue", Bare: true},
	{Key: "f2", Name: "agents", Help: "the overview of all agents", Bare: true},
	{Key: "alt+a f5", Name: "question", Help: "answer the oldest open question", Bare: true},
	{Key: "?", Name: "keys", Help: "this list", Bare: true},
}

// Servers opens the panel of the MCP servers.
func Servers(e Env, agent int64, name string) *Panel {
	box := dialog.NewBoard(e.Theme, e.Now, "MCP servers", serving.Empty+".", serverVerbs, false)
	s := &serverStock{Env: e, agent: agent, name: name}
	_, lanes := s.lines(nil, nil, serverQuery{lane: -1})
	box.Lanes(lanes)
	return open(e, box, s)
}

func (s *serverStock) recolour(t *themes.Theme) { s.Theme = t }

func (s *serverStock) touched(e event.Event) bool {
	_, tally := e.(event.Tally) // follows each change of a server
	return tally
}

func (s *serverStock) next(b *dialog.Board, stale staleness) read {
	want := serverQuery{b.Lane(), b.Search()}
	if s.any && !bool(stale) && want == s.shown && b.Leaps() == 0 {
		return nil
	}
	desk, have, faults, anew, leaps := s.Pool.Servers, s.rows, s.faults, bool(stale) || !s.any, b.Leaps()
	return func(context.Context) (func(b *dialog.Board), error) {
		if anew {
			have, faults = desk.Rows()
		}
		lines, lanes := s.lines(have, faults, want)
		return func(b *dialog.Board) {
			s.rows, s.faults, s.shown, s.any = have, faults, want, true
			b.Lanes(lanes)
			b.Show(lines, false, false)
			if leaps != 0 {
				b.Landed()
			}
		}, nil
	}
}

// lines are the rows, grouped if all show, and the counts. What is wrong with the files follows.
func (*serverStock) lines(rows []serving.Row, faults []servers.Fault, want serverQuery) ([]dialog.Line, []dialog.Lane) {
	lanes := []dialog.Lane{
		{Name: "In use", Short: "In use", Role: themes.Accent},
		{Name: "Not trusted", Short: "Untrusted", Role: themes.Warn},
		{Name: "Not used", Short: "Unused", Role: themes.Text},
	}
	word := strings.ToLower(want.search)
	of := make([][]dialog.Line, len(lanes))
	for _, r := range rows {
		l := serverLine(r)
		lanes[l.Lane].Count++
		if (want.lane < 0 || want.lane == l.Lane) && strings.Contains(strings.ToLower(r.Name+" "+r.Entry.Line()), word) {
			of[l.Lane] = append(of[l.Lane], l)
		}
	}
	var lines []dialog.Line
	for n, all := range of {
		if len(all) > 0 && want.lane < 0 {
			lines = append(lines, dialog.Line{Text: lanes[n].Name})
		}
		lines = append(lines, all...)
	}
	if want.lane < 0 && word == "" {
		for n, f := range faults {
			if n == 0 {
				lines = append(lines, dialog.Line{Text: "Wrong, or not heeded"})
			}
			lines = append(lines, dialog.Line{Text: f.String()})
		}
	}
	return lines, lanes
}

// serverLine is a server's row.
func serverLine(r serving.Row) dialog.Line {
	l := dialog.Line{ID: r.ID(), Who: r.Name, Sign: "○", Role: themes.Text, Text: r.Is()}
	for _, s := range []string{r.Count(), r.Says()} {
		if s != "" {
			l.Text += " · " + s
		}
	}
	switch {
	case !r.Used():
		l.Lane, l.Sign, l.Faint, l.Role = laneUnused, "–", true, themes.Dim
	case !r.Trusted():
		l.Lane, l.Sign, l.Role = laneUntrusted, "?", themes.Warn
	case r.State.Phase == mcp.Ready:
		l.Sign, l.Role = "●", themes.Accent
	case r.State.Phase == mcp.Starting:
		l.Sign, l.Role = "◐", themes.Accent
	case r.State.Phase == mcp.Locked:
		l.Sign, l.Role = "⚠", themes.Warn
	case r.State.Phase == mcp.Failed:
		l.Sign, l.Role = "✗", themes.Bad
	}
	return l
}

func (s *serverStock) row(id int64) (serving.Row, bool) {
	i := slices.IndexFunc(s.rows, func(r serving.Row) bool { return r.ID() == id })
	if i < 0 {
		return serving.Row{}, false
	}
	return s.rows[i], true
}

// preview tells all of a server, and below it its tools.
func (s *serverStock) preview(id int64) func(ctx context.Context) (*preview, error) {
	r, ok := s.row(id)
	desk, theme, now := s.Pool.Servers, s.Theme, s.Now
	return func(context.Context) (*preview, error) {
		p := newPreview(theme, now)
		if !ok {
			return p, nil
		}
		p.facts = serverFacts(r, now())
		p.plain(desk.Brief(r))
		return p, nil
	}
}

func serverFacts(r serving.Row, now time.Time) []fact {
	all := []fact{{text: r.Name, role: themes.Accent}}
	for _, f := range serving.Facts(r, now) {
		all = append(all, fact{label: f.Label, text: f.Text, role: themes.Text, most: 3})
	}
	return all
}

func (s *serverStock) do(p *Panel, w dialog.Wish) intent.Intent {
	switch w.Verb {
	case "inbox":
		return intent.Inbox{Agent: s.agent, Name: s.name}
	case "queue":
		return intent.Queue{Agent: s.agent, Name: s.name}
	case "trust":
		return s.trust(p)
	}
	r, ok := s.row(w.ID)
	if !ok {
		return nil
	}
	desk := s.Pool.Servers
	switch w.Verb {
	case "tools":
		return s.instead(p, r, "tools", func() string { return desk.Tools(r) })
	case "log":
		return s.instead(p, r, "log", func() string { return desk.Log(r) })
	case "login", "reconnect":
		if err := r.Starts(); err != nil {
			p.box.Fail(words.Sentence(err))
			return nil
		}
		if w.Verb == "login" {
			p.box.Say("asking " + r.Name + " where to log in")
			return signing.Env{Desk: desk, Theme: s.Theme, Environ: s.Environ}.Login(r.Name, func(text string, err error) intent.Intent {
				return p.wished(w, text, err)
			})
		}
		p.box.Say(r.Name + " starts")
		return p.wish(w, func(ctx context.Context) (string, error) { return desk.Reconnect(ctx, r.Name) }, nil)
	}
	return nil
}

// trust asks whether what the repository brings may run, over the board, which is read anew after an answer.
func (s *serverStock) trust(p *Panel) intent.Intent {
	ask, _ := trusting.Env{Room: s.Pool.Trust, Theme: s.Theme}.Trust("")
	return intent.Do{Agent: s.agent, F: func(ctx context.Context) (intent.Intent, error) {
		asks, err := ask(ctx)
		box, opens := asks.(intent.Open)
		if !opens {
			return intent.Call(func() intent.Intent {
				p.box.Say("nothing waits for your yes")
				return nil
			}), err
		}
		decide := box.Decide
		box.What, box.Decide = "", func(d dialog.Decision) intent.Intent {
			run, is := decide(d).(intent.Run)
			if !is {
				return nil
			}
			return intent.Run{F: func(ctx context.Context) intent.Intent {
				return intent.All{run.F(ctx), intent.Call(func() intent.Intent {
					p.stale, p.worn = true, true
					return nil
				})}
			}}
		}
		return box, err
	}}
}

// instead shows a text about a server in its place.
func (s *serverStock) instead(p *Panel, r serving.Row, what string, text func() string) intent.Intent {
	theme, now := s.Theme, s.Now
	return p.instead(r.ID(), what, func(context.Context) (*preview, error) {
		v := newPreview(theme, now)
		v.facts = append(v.facts, fact{text: fmt.Sprintf("%s: %s", r.Name, what), role: themes.Accent})
		v.plain(text())
		return v, nil
	})
}
