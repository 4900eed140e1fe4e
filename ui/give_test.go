package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/tools/permission"
	"fantail/ui/dialog"
	"fantail/ui/intent"
	"fantail/ui/panel"
)

// ground is a screen on which something is typed.
type ground struct {
	*App
	at time.Time
}

// replies has a panel write a reply, which fails.
func (g *ground) replies(p *panel.Panel) {
	do := p.Do(dialog.BoardAction{Verb: "reply", Text: "thanks"})
	g.Update(wanted{do.(intent.Run).F(g.ctx)})
}

// newGround is a screen of that pool with main, a sub-agent at work and a helper.
func newGround(t *testing.T, p *agents.Pool) *ground {
	g := &ground{App: screen(t, 120, 30).acting(), at: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	g.o.Now = func() time.Time { return g.at }
	g.with(event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		event.Info{ID: 2, Name: "kid", Kind: event.Sub, State: event.Running}, event.Info{ID: 3, Name: "aide", Kind: event.Helper, State: event.Idle})
	g.use(p)
	for _, x := range g.tabs.All {
		x.Asked, x.Loaded = true, true
	}
	g.Update(nil)
	return g
}

// edited is the editor's end.
func (g *ground) edited(agent int64, text string) {
	g.Update(wanted{intent.Call(func() intent.Intent { return g.sender.edited(agent, text, nil) })})
}

// types types a text, five seconds after what was typed before.
func (g *ground) types(text string) {
	g.at = g.at.Add(5 * time.Second)
	for _, r := range text {
		g.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (g *ground) press(code rune, mod tea.KeyMod) tea.Cmd {
	g.at = g.at.Add(5 * time.Second)
	_, cmd := g.Update(tea.KeyPressMsg{Code: code, Mod: mod})
	return cmd
}

// news changes an agent.
func (g *ground) news(id int64, change func(i *event.Info)) {
	i := g.tabs.ByID(id).Info
	change(&i)
	g.Update(news{[]event.Event{event.Changed{Info: i}}})
}

func (g *ground) asks(agent, question int64, words bool) {
	g.at = g.at.Add(5 * time.Second)
	g.news(agent, func(i *event.Info) {
		q := &event.Question{Question: permission.Question{ID: question, Agent: agent, Name: i.Name, Action: permission.Action{Tool: "bash", Command: "rm x"}}}
		if words {
			q.Asks = &tools.Question{Text: "How?", Options: []tools.Option{{Label: "slowly"}}}
		}
		i.State, i.Question = event.Asking, q
	})
}

func (g *ground) answeredElsewhere(agent int64) {
	g.news(agent, func(i *event.Info) { i.State, i.Question = event.Running, nil })
}

func (g *ground) ends(agent int64) {
	g.news(agent, func(i *event.Info) { i.State, i.Question, i.Outcome = event.Killed, nil, history.Outcome("killed") })
}

func (g *ground) closes(agent int64) {
	g.Update(news{[]event.Event{event.Closed{Agent: agent}}})
}

func (g *ground) to(agent int64) { g.tabs.To(g.tabs.ByID(agent)); g.Update(nil) }

// runs runs what a key asked for, and takes what comes of it.
func (g *ground) runs(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	over := make(chan tea.Msg, 1)
	go func() { over <- cmd() }()
	for {
		select {
		case m := <-g.feed.came: // what an action came to stands behind what others committed
			g.Update(m)
		case m := <-over:
			if batch, ok := m.(tea.BatchMsg); ok {
				for _, c := range batch {
					g.runs(c)
				}
			} else if m != nil {
				g.Update(m)
			}
			return
		}
	}
}

// deafPool is a pool that has ended: it takes nothing.
func deafPool(t *testing.T) *agents.Pool {
	w := silent(t)
	w.Close()
	return w.Pool
}

// TestTypedIsGivenBack: whatever takes its ground from what was typed, it stands in a box,
// before a draft, and whoever was typing it types on behind it.
func TestTypedIsGivenBack(t *testing.T) {
	const main, kid, aide = 1, 2, 3
	deaf := deafPool(t)
	alt := func(g *ground) { g.press('a', tea.ModAlt); g.at = g.at.Add(5 * time.Second) }
	for _, c := range []struct {
		name  string
		given func(g *ground) // the words are typed
		gone  func(g *ground) // their ground goes
		in    int64           // whose box holds them then
		want  string
		on    string // what it holds when x is typed on; "": it is not in sight
	}{
		{"an answer", func(g *ground) { g.asks(main, 7, true); g.types("by hand") }, func(g *ground) { g.answeredElsewhere(main) }, main, "by hand", "by handx"},
		{
			"an answer beside a draft", func(g *ground) { g.types("draft"); g.asks(main, 7, true); alt(g); g.types("by hand") },
			func(g *ground) { g.answeredElsewhere(main) }, main, "by hand\ndraft", "by handx\ndraft",
		},
		{"an answer that was put off", func(g *ground) {
			g.asks(main, 7, true)
			g.types("by hand")
			g.to(aide)
			g.types("draft")
		}, func(g *ground) { g.answeredElsewhere(main) }, main, "by hand", ""},
		{"an answer, and the next question at once", func(g *ground) { g.asks(main, 7, true); g.types("by hand") }, func(g *ground) { g.asks(main, 8, true) }, main, "by hand", "by handx"},
		{"a reason", func(g *ground) { g.asks(main, 7, false); g.types("nit is wrong") }, func(g *ground) { g.answeredElsewhere(main) }, main, "it is wrong", "it is wrongx"},
		{"a reason, and the next question at once", func(g *ground) { g.asks(main, 7, false); g.types("nit is wrong") }, func(g *ground) { g.asks(main, 8, false) }, main, "it is wrong", "it is wrongx"},
		{"a reason for a helper that was closed", func(g *ground) { g.to(aide); g.asks(aide, 7, false); g.types("nwrong") }, func(g *ground) { g.closes(aide) }, main, "wrong", "wrongx"},
		{"an answer over another tab", func(g *ground) { g.asks(kid, 7, true); alt(g); g.types("by hand") }, func(g *ground) { g.answeredElsewhere(kid) }, kid, "by hand", ""},
		{"an answer in its own tab", func(g *ground) { g.to(kid); g.asks(kid, 7, true); g.types("by hand") }, func(g *ground) { g.answeredElsewhere(kid) }, kid, "by hand", "by handx"},
		{"an answer to one that is ended", func(g *ground) { g.to(kid); g.asks(kid, 7, true); g.types("by hand") }, func(g *ground) { g.ends(kid) }, kid, "by hand", "by handx"},
		{
			"an answer that finds another", func(g *ground) {
				g.App.asks.Answer = func(context.Context, int64, event.Answer) error { return event.ErrAnswered }
				g.asks(main, 7, true)
				g.types("by hand")
			},
			func(g *ground) { g.runs(g.press(tea.KeyEnter, 0)) }, main, "by hand", "",
		},
		{"an answer that can't be written", func(g *ground) { g.asks(main, 7, true); g.types("by hand") }, func(g *ground) { g.runs(g.press(tea.KeyEnter, 0)) }, main, "by hand", ""},
		{"a reason that can't be written", func(g *ground) { g.asks(main, 7, false); g.types("nwrong") }, func(g *ground) { g.runs(g.press(tea.KeyEnter, 0)) }, main, "wrong", ""},
		{"an option that can't be written", func(g *ground) { g.types("draft"); g.asks(main, 7, true); alt(g) }, func(g *ground) {
			_, cmd := g.Update(tea.KeyPressMsg{Code: '1', Text: "1"})
			g.runs(cmd)
		}, main, "draft", ""},
		{"a line to an agent that ended", func(g *ground) { g.to(kid); g.types("mmore") }, func(g *ground) { g.ends(kid); g.runs(g.press(tea.KeyEnter, 0)) }, kid, "more", "morex"},
		{"a line to an agent that ended, which stays", func(g *ground) { g.to(kid); g.types("mmore") }, func(g *ground) { g.ends(kid) }, kid, "more", "morex"},
		{"a line to an agent whose tab was closed", func(g *ground) { g.types("draft"); g.to(kid); g.types("mmore") }, func(g *ground) { g.closes(kid) }, main, "more\ndraft", ""},
		{"a command in such a tab", func(g *ground) { g.to(kid); g.types("/inb") }, func(g *ground) { g.closes(kid) }, main, "/inb", "/inbx"},
		{"an empty line", func(g *ground) { g.to(kid); g.types("/") }, func(g *ground) { g.closes(kid) }, main, "", ""},
		{"the draft of a helper that was closed", func(g *ground) { g.to(aide); g.types("two\twords"); g.to(main) }, func(g *ground) { g.closes(aide) }, main, "two\twords", ""},
		{"the editor's, in a tab that was closed", func(g *ground) { g.to(aide) }, func(g *ground) { g.closes(aide); g.edited(aide, "written") }, main, "written", "writtenx"},
		{"the editor's, for a line that was closed", func(g *ground) { g.to(kid) }, func(g *ground) { g.edited(kid, "written") }, kid, "written", "writtenx"},
		{"a prompt taken back from a tab that was closed", func(*ground) {}, func(g *ground) { g.closes(aide); g.Update(done{agent: aide, back: "typed"}) }, main, "typed", "typedx"},
		{"what a panel could not do that was left", func(*ground) {}, func(g *ground) {
			p := panel.Inbox(g.boards.Options, main, "main")
			p.Close()
			g.replies(p)
		}, main, "thanks", "thanksx"},
		{"what a panel could not do, which asks for something else", func(g *ground) {
			g.layers.Show(panel.Inbox(g.boards.Options, main, "main"))
			g.types("/find")
		}, func(g *ground) {
			g.replies(g.boards.panel())
		}, main, "thanks", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGround(t, deaf)
			c.given(g)
			c.gone(g)
			got, box := "", g.tabs.ByID(c.in).Typing()
			if box != nil {
				got = box.Value()
			}
			if got != c.want {
				t.Fatalf("the box holds %q, want %q", got, c.want)
			}
			for _, other := range g.tabs.All {
				if box := other.Typing(); other.Info.ID != c.in && box != nil && box.Value() != "" && box.Value() != "draft" {
					t.Errorf("%s's box holds %q", other.Info.Name, box.Value())
				}
			}
			if c.on == "" {
				return
			}
			g.Update(tea.KeyPressMsg{Code: 'x', Text: "x"}) // at once: the hand is in the middle of a word
			if box := g.tabs.Typing(); box != g.tabs.ByID(c.in).Typing() || box.Value() != c.on {
				t.Errorf("typed on: %q, want %q", box.Value(), c.on)
			}
		})
	}
}

// TestTypedStays: what changes the screen, but takes no ground, takes nothing that is being
// typed in it.
func TestTypedStays(t *testing.T) {
	deaf := deafPool(t)
	words := func(g *ground) string { return g.tabs.Focus.Question.Typed() }
	for _, c := range []struct {
		name   string
		given  func(g *ground)
		happen func(g *ground)
		holds  func(g *ground) bool
	}{
		{"another theme, an answer", func(g *ground) { g.asks(1, 7, true); g.types("by hand") }, func(g *ground) { g.setTheme(g.tabs.Theme) }, func(g *ground) bool { return words(g) == "by hand" }},
		{"another theme, a reason", func(g *ground) { g.asks(1, 7, false); g.types("nwrong") }, func(g *ground) { g.setTheme(g.tabs.Theme) }, func(g *ground) bool { return words(g) == "wrong" }},
		{"another size", func(g *ground) { g.asks(1, 7, true); g.types("by hand") }, func(g *ground) { g.Update(tea.WindowSizeMsg{Width: 40, Height: 12}) }, func(g *ground) bool { return words(g) == "by hand" }},
		{"a dialog that comes late, a filter", func(g *ground) { g.runs(g.act(switcher(&g.tabs))); g.types("aid") }, func(g *ground) {
			g.Update(wanted{intent.Open{Box: dialog.NewPicker(g.tabs.Theme, "Branch", nil), What: "the list of turns"}})
		}, func(g *ground) bool {
			return strings.Contains(plain(strings.Join(g.layers.Top().Lines(80, 20), "\n")), "aid")
		}},
		{"a panel that comes late, an overview's filter", func(g *ground) { g.boards.overview(); g.types("/aid") }, func(g *ground) {
			g.Update(wanted{intent.Inbox{Agent: 3, Name: "aide", What: "the inbox of aide"}})
		}, func(g *ground) bool {
			return g.boards.fleet() != nil && strings.Contains(plain(strings.Join(g.layers.Top().Lines(80, 20), "\n")), "/ aid")
		}},
		{"agents that come and go, an overview's filter", func(g *ground) { g.boards.overview(); g.types("/aid") }, func(g *ground) { g.closes(2); g.closes(3) }, func(g *ground) bool {
			return strings.Contains(plain(strings.Join(g.layers.Top().Lines(80, 20), "\n")), "/ aid")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGround(t, deaf)
			if c.given(g); !c.holds(g) {
				t.Fatal("it was not typed")
			}
			if c.happen(g); !c.holds(g) {
				t.Error("what was typed is gone")
			}
		})
	}
}
