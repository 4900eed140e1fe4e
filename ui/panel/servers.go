package panel

import (
	"context"
	"slices"

	"fantail/agents/mcpconfig"
	"fantail/themes"
	"fantail/tools/mcp"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// serverList lists the workspace's MCP servers, which are few.
type serverList struct {
	*Panel
	all servers
}

// servers are the servers, and the faults in the files that configure them.
type servers struct {
	rows   []format.ServerRow
	faults []mcpconfig.Fault
}

// The lanes of the board of servers.
const (
	laneUsed = iota
	laneUntrusted
	laneUnused
)

var serverLanes = []dialog.Lane{
	{Name: "In use", Short: "In use", Role: themes.Accent},
	{Name: "Not trusted", Short: "Untrusted", Role: themes.Warn},
	{Name: "Not used", Short: "Unused", Role: themes.Text},
}

var serverVerbs = []dialog.Verb{
	{Key: "enter", Name: "tools", Hint: "tools", Help: "its tools"},
	{Key: "l", Name: "log", Hint: "log", Help: "its log"},
	{Key: "r", Name: "reconnect", Hint: "reconnect", Help: "restart it"},
	{Key: "a", Name: "login", Hint: "log in", Help: "log in"},
	{Key: "t", Name: "trust", Hint: "trust", Help: "review trust", Bare: true},
}

// Servers opens the panel of the MCP servers.
func Servers(e Options, agent int64, name string) *Panel {
	verbs := slices.Concat(serverVerbs, boardVerbs(""))
	p := open(e, agent, name, dialog.NewBoard(e.Theme, e.Now, "MCP servers", format.NoServers+".", verbs, false).Shrinks(), serverLanes)
	p.list = &serverList{Panel: p}
	return p
}

func (s *serverList) read(want query, stale staleness) reading {
	from := format.ServersOf(s.Pool.Brought().Served)
	return whole(s.Panel, want, stale, &s.all, func(context.Context) (all servers, err error) {
		all.rows, all.faults = from.Rows()
		return all, nil
	}, showServers)
}

// showServers lists the servers, and after them the faults in the files.
func showServers(all servers, want query) rows {
	r := grouped(serverLanes, all.rows, want, func(r format.ServerRow) (dialog.Line, string) {
		return serverLine(r), r.Name + " " + r.Entry.Line()
	})
	if want.lane < 0 && want.search == "" {
		var lines []dialog.Line
		for _, f := range all.faults {
			lines = append(lines, dialog.Line{Text: f.String()})
		}
		r.add(want, "Problems", lines)
	}
	return r
}

// serverLine returns a server's row.
func serverLine(r format.ServerRow) dialog.Line {
	l := dialog.Line{ID: r.ID(), Who: r.Name, Sign: "○", Role: themes.Text, Text: r.Status(" · ")}
	switch {
	case !r.Used():
		l.Lane, l.Sign, l.Faint, l.Role = laneUnused, "–", true, themes.Dim
	case !r.Trusted():
		l.Lane, l.Sign, l.Role = laneUntrusted, "?", themes.Warn
	case r.State.Phase == mcp.Ready:
		l.Sign, l.Role = "●", themes.Accent
	case r.State.Phase == mcp.Starting:
		l.Sign, l.Role = "◌", themes.Accent
	case r.State.Phase == mcp.NeedsLogin:
		l.Sign, l.Role = "?", themes.Warn
	case r.State.Phase == mcp.Failed:
		l.Sign, l.Role = "✗", themes.Bad
	}
	return l
}

func (s *serverList) row(id int64) (format.ServerRow, bool) {
	return find(s.all.rows, id, format.ServerRow.ID)
}

// about shows all that is known of a server, and its tools.
func (s *serverList) about(id int64) func(ctx context.Context, v *preview) error {
	r, ok := s.row(id)
	servers, now := format.ServersOf(s.Pool.Brought().Served), s.Now
	return func(_ context.Context, v *preview) error {
		if !ok {
			return nil
		}
		v.head(r.Name)
		v.fields(format.ServerFields(r, now()))
		v.plain(servers.Brief(r))
		return nil
	}
}

func (s *serverList) do(w dialog.BoardAction) intent.Intent {
	if w.Verb == "trust" {
		return s.trust()
	}
	r, ok := s.row(w.ID)
	if !ok {
		return nil
	}
	servers := format.ServersOf(s.Pool.Brought().Served)
	switch w.Verb {
	case "tools":
		return s.tells(r, "tools", servers.Tools)
	case "log":
		return s.tells(r, "log", servers.Log)
	case "login", "reconnect":
		if err := r.Starts(); err != nil {
			s.box.Fail(format.Sentence(err))
			return nil
		}
		if w.Verb == "login" {
			s.box.Say("asking " + r.Name + " where to log in")
			return ServerLogin{Servers: servers, Theme: s.Theme, Environ: s.Environ}.Login(r.Name, func(text string, err error) intent.Intent {
				return s.wished(w, text, err)
			})
		}
		s.box.Say(r.Name + " starts")
		return s.wish(w, func(ctx context.Context) (string, error) { return servers.Reconnect(ctx, r.Name) }, nil)
	}
	return nil
}

// trust asks over the board whether what the repository brings may run, and rereads the board after
// an answer.
func (s *serverList) trust() intent.Intent {
	ask, _ := Trust{Store: s.Pool.Brought().Trust, Theme: s.Theme}.Trust("")
	return intent.Do{Agent: s.agent, F: func(ctx context.Context) (intent.Intent, error) {
		asks, err := ask(ctx)
		box, opens := asks.(intent.Open)
		if !opens {
			return intent.Call(func() intent.Intent {
				s.box.Say("nothing to review")
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
					s.stale, s.worn = true, true
					return nil
				})}
			}}
		}
		return box, err
	}}
}

// tells shows a text about a server in place of its row.
func (s *serverList) tells(r format.ServerRow, what string, text func(r format.ServerRow) string) intent.Intent {
	return s.instead(r.ID(), what, func(_ context.Context, v *preview) error {
		v.head(r.Name + ": " + what)
		v.plain(text(r))
		return nil
	})
}
