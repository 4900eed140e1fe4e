// Package panel is the boards that fill the screen: inbox, queue, schedules, servers, rules.
package panel

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/dialog"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
)

// Options is what panels use.
type Options struct {
	Pool   *agents.Pool // nil: not yet
	Inbox  Messages     // messages of the pool, for inboxes
	Tabs   *tabs.Tabs
	Theme  *themes.Theme
	Now    func() time.Time
	Doubt  format.Doubt
	Looked map[int64]bool // messages that a panel has shown in full

	Environ []string // of the screen, for the human's own programs
}

// ErrOpening is the error of actions that need agents before the workspace is open.
var ErrOpening = errors.New("the workspace is still being opened; try again in a moment")

// Panel is an open board.
type Panel struct {
	Options
	agent int64 // agent of the inbox and queue that the keys open
	name  string

	box        *dialog.Board
	list       list
	shown      query // query of the rows shown
	any        bool  // rows have been read
	closed     bool
	reading    bool
	previewing bool
	after      func() intent.Intent // an action to run after the preview is made; nil: none
	stale      staleness            // the list has changed
	worn       bool                 // the preview has changed
	preview    *preview
	typed      string // search text as last seen
	pause      time.Time
}

// searchPause is how long the search text must stay unchanged before the search begins.
const searchPause = 120 * time.Millisecond

// open makes a panel. The caller sets its list.
func open(e Options, agent int64, name string, box *dialog.Board, lanes []dialog.Lane) *Panel {
	box.Lanes(lanes)
	return &Panel{Options: e, agent: agent, name: name, box: box, stale: true}
}

// query and touched are the implementations for most lists.
func (p *Panel) query() query { return query{lane: p.box.Lane(), search: p.box.Search()} }

func (p *Panel) touched(e event.Event) bool {
	_, tally := e.(event.Tally) // it follows every change of schedules, servers and the mode, and every answer
	return tally
}

// Box returns the dialog to draw.
func (p *Panel) Box() dialog.Box { return p.box }

// Board returns the board itself.
func (p *Panel) Board() *dialog.Board { return p.box }

// Close tells the panel that it is no longer shown.
func (p *Panel) Close() { p.closed = true }

// Reads reports whether the panel is that agent's inbox.
func (p *Panel) Reads(agent int64) bool {
	s, is := p.list.(*mailList)
	return is && s.agent == agent
}

// Cover tells an inbox which message's question is shown over it; 0: none.
func (p *Panel) Cover(message int64) {
	if _, mail := p.list.(*mailList); !mail {
		message = 0
	}
	p.box.Cover(message)
}

// Previewed returns the view of the previewed text; nil: none is shown.
func (p *Panel) Previewed() *transcript.View {
	if p.preview == nil {
		return nil
	}
	return p.preview.view
}

// Tails returns the agent whose last lines are shown, if any.
func (p *Panel) Tails() []int64 {
	if p.preview == nil || p.preview.tail == 0 {
		return nil
	}
	return []int64{p.preview.tail}
}

// Turns returns how long until the text about a future time changes without an event; 0: it does
// not. Ages are updated with the next event.
func (p *Panel) Turns() time.Duration {
	if s, is := p.list.(*scheduleList); is {
		return s.turns(p.Now())
	}
	return 0
}

// SetTheme changes the colours.
func (p *Panel) SetTheme(t *themes.Theme) {
	p.Theme = t
	p.box.SetTheme(t)
	p.worn = true
}

// Note applies an event.
func (p *Panel) Note(e event.Event) {
	if p.list.touched(e) {
		p.stale, p.worn = true, true
	}
}

// Wants returns the reads that the panel needs.
func (p *Panel) Wants() intent.Intent {
	var all intent.All
	if pause, wait := p.searching(); wait {
		all = append(all, pause)
	} else if !p.reading {
		want, leaps := p.list.query(), p.box.Leaps()
		if f := p.list.read(want, p.stale); f != nil {
			p.reading, p.stale = true, false
			all = append(all, intent.Run{F: func(ctx context.Context) intent.Intent {
				r, err := f(ctx)
				return intent.Call(func() intent.Intent {
					if p.take(want, r, err) && leaps != 0 {
						p.box.Landed()
					}
					return nil
				})
			}})
		}
	}
	at := p.box.At()
	if at != 0 && !p.previewing && p.box.Peeks() && (at != p.box.Previews() || p.worn && !p.reading && !p.other()) {
		p.previewing, p.worn = true, false
		f, v := p.list.about(at), newPreview(p.Theme, p.Now)
		all = append(all, intent.Run{F: func(ctx context.Context) intent.Intent {
			err := f(ctx, v)
			return p.previewed(at, v, err)
		}})
	}
	if all == nil {
		return nil
	}
	return all
}

// searching reports whether a search text is being typed. pause then has the panel check again.
func (p *Panel) searching() (pause intent.Intent, wait bool) {
	now := p.Now()
	if s := p.box.Search(); s != p.typed {
		p.typed, p.pause = s, now.Add(searchPause)
		t := time.NewTimer(searchPause)
		return intent.Run{F: func(ctx context.Context) intent.Intent {
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
			}
			return intent.Call(func() intent.Intent { return nil })
		}}, true
	}
	return nil, now.Before(p.pause)
}

// other reports whether something else is shown in place of the row.
func (p *Panel) other() bool { return p.preview != nil && p.preview.what != "" }

// take shows the rows read for a query and reports whether it did. If the lane has changed
// meanwhile it does not: a key would act on a row of the wrong lane.
func (p *Panel) take(want query, r rows, err error) bool {
	p.reading = false
	switch {
	case p.closed:
	case p.box.Lane() != want.lane:
		p.stale = true
	case err != nil:
		p.box.Fail(format.Sentence(err))
	default:
		r.take()
		p.shown, p.any = want, true
		p.box.Lanes(r.lanes)
		p.box.Show(r.lines, r.above, r.below)
		return true
	}
	return false
}

// previewed shows a row's preview.
func (p *Panel) previewed(id int64, v *preview, err error) intent.Intent {
	return intent.Call(func() intent.Intent {
		if p.closed {
			return nil
		}
		p.previewing = false
		if err != nil {
			p.box.Fail(format.Sentence(err))
			v = newPreview(p.Theme, p.Now)
		}
		if p.preview != nil && p.box.Previews() == id && v.keeps(p.preview) {
			v.view = p.preview.view // keep the scroll position
		}
		p.preview = v
		p.box.Preview(id, v)
		return p.asked()
	})
}

// asked runs the action that waited for a preview.
func (p *Panel) asked() intent.Intent {
	next := p.after
	if p.after = nil; next == nil {
		return nil
	}
	return next()
}

// wish runs f off the interface's goroutine. After success it calls then and shows f's text in the
// panel, or in the status line if the panel is closed. After an error it gives back what was typed.
func (p *Panel) wish(w dialog.BoardAction, f func(ctx context.Context) (string, error), then func()) intent.Intent {
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		text, err := f(ctx)
		return intent.Call(func() intent.Intent {
			if then != nil && err == nil {
				then()
			}
			return p.wished(w, text, err)
		})
	}}
}

// wished shows the result of a wish.
func (p *Panel) wished(w dialog.BoardAction, text string, err error) intent.Intent {
	failed := err != nil
	if failed {
		text = format.Sentence(err)
	}
	var all intent.All
	switch {
	case text == "" && !failed:
	case p.closed:
		all = append(all, intent.Say{Text: text})
	case failed:
		p.box.Fail(text)
	default:
		p.box.Say(text)
	}
	if failed && (p.closed || !p.box.Resume(w)) {
		all = append(all, intent.Back{Agent: p.Tabs.Acting().Info.ID, Text: w.Text})
	}
	p.stale, p.worn = true, true
	return all
}

// opens returns the intent that opens the board of a verb for an agent.
func opens(verb string, agent int64, name string) intent.Intent {
	switch verb {
	case "inbox":
		return intent.Inbox{Agent: agent, Name: name}
	case "queue":
		return intent.Queue{Agent: agent, Name: name}
	}
	return intent.Schedules{Agent: agent, Name: name}
}

// Do returns the intent for a decision of the human.
func (p *Panel) Do(d dialog.Decision) intent.Intent {
	w, ok := d.(dialog.BoardAction)
	if !ok {
		return nil
	}
	switch w.Verb {
	case "keys":
		return intent.Open{Box: dialog.NewKeys(p.Theme, "Keys", p.box.Keys())}
	case "agents":
		return intent.All{intent.Close{}, intent.Fan{}}
	case "question":
		if !slices.ContainsFunc(p.Tabs.All, func(t *tabs.Tab) bool { return t.Info.Question != nil }) {
			p.box.Say("No open questions")
			return nil
		}
		return intent.Question{}
	case "inbox", "queue", "schedules":
		return opens(w.Verb, p.agent, p.name)
	case "close":
		return intent.Close{}
	}
	return p.list.do(w)
}

// removes asks, then removes something. text explains the consequence.
func (p *Panel) removes(name, text string, remove func() intent.Intent) intent.Intent {
	return intent.Open{
		Box: dialog.NewConfirm(p.Theme, "Remove "+name+"?", text, []dialog.Option{
			{Key: "r", Label: "remove it"}, {Key: "c", Label: "keep it"},
		}),
		Decide: func(d dialog.Decision) intent.Intent {
			if c, _ := d.(dialog.Confirmed); c.Choice != "r" {
				return nil
			}
			return remove()
		},
	}
}

// instead shows something in place of a row, or the row again if that is shown already. If a
// preview is being made, it waits for it.
func (p *Panel) instead(id int64, what string, f func(ctx context.Context, v *preview) error) intent.Intent {
	if p.previewing {
		p.after = func() intent.Intent {
			if p.box.At() != id { // the bar has moved on
				return nil
			}
			return p.instead(id, what, f)
		}
		return nil
	}
	if p.preview != nil && p.preview.what == what && p.box.Previews() == id {
		p.worn = true
		p.preview = nil
		return nil
	}
	p.previewing = true
	p.box.Peek()
	v := newPreview(p.Theme, p.Now)
	v.what = what
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		if err := f(ctx, v); err != nil { // keep what is shown
			return intent.Call(func() intent.Intent {
				p.previewing = false
				p.box.Fail(format.Sentence(err))
				return p.asked()
			})
		}
		return p.previewed(id, v, nil)
	}}
}

// preview is the preview of a row: facts, and a text below them.
type preview struct {
	theme *themes.Theme
	now   func() time.Time
	facts []fact
	view  *transcript.View
	what  string // what is shown in place of the row; "": the row itself
	of    string // text that view shows
	tail  int64  // agent whose last lines are shown instead of view; 0: none
	last  func(id int64, w, h int) []string
}

// fact is a line above the text. Its label may be empty.
type fact struct {
	label, text string
	at          time.Time // if set, its age follows the text,
	rest        string    // and then this
	role        themes.Role
	most        int // limit of lines; 0: one
}

func newPreview(t *themes.Theme, now func() time.Time) *preview {
	return &preview{theme: t, now: now, view: transcript.New(t, now)}
}

// answer shows markdown below the facts. plain shows text unchanged.
func (p *preview) answer(markdown string) {
	p.of = markdown
	p.view.Answer(markdown)
}

func (p *preview) plain(text string) {
	p.of = text
	p.view.Text(text)
}

// keeps reports whether p shows the same text as another.
func (p *preview) keeps(other *preview) bool {
	return p.of == other.of && p.what == other.what && p.theme == other.theme
}

// head adds the heading.
func (p *preview) head(text string) {
	p.facts = append(p.facts, fact{text: text, role: themes.Accent})
}

func (p *preview) add(label, text string) {
	p.facts = append(p.facts, fact{label: label, text: text, role: themes.Text})
}

// fields adds the fields of a row.
func (p *preview) fields(fs format.Fields) {
	for _, f := range fs {
		p.facts = append(p.facts, fact{label: f.Name, text: f.Text, role: themes.Text, most: f.Max})
	}
}

// factCols is the width of the labels.
const factCols = 8

func (p *preview) Lines(w, h int) []string {
	var out []string
	for _, f := range p.facts {
		label, width := "", w
		if f.label != "" {
			label, width = cells.Fit(f.label, factCols), w-factCols
		}
		text := f.text
		if !f.at.IsZero() {
			text += inbox.Age(p.now().Sub(f.at)) + " ago" + f.rest
		}
		rows := cells.Wrap(cells.CleanLine(text), max(8, width))
		if most := max(1, f.most); len(rows) > most {
			rows = rows[:most]
			rows[most-1] = cells.Cut(rows[most-1]+"…", width)
		}
		for i, l := range rows {
			if i > 0 && label != "" {
				label = cells.Spaces(factCols)
			}
			out = append(out, p.theme.Paint(themes.Dim, label)+p.theme.Paint(f.role, cells.Cut(l, width)))
		}
	}
	if most := max(1, h*2/5); len(out) > most {
		out = out[:most]
	}
	if len(out) > 0 && len(out) < h-1 {
		out = append(out, p.theme.Paint(themes.Rule, strings.Repeat("─", w)))
	}
	if rest := h - len(out); rest > 0 {
		if p.tail != 0 {
			return append(out, p.last(p.tail, w, rest)...)
		}
		out = append(out, p.view.Lines(w, rest)...)
	}
	return out
}

func (p *preview) Scroll(lines int) { p.view.Scroll(lines) }
