// Package panel has the boards that fill the screen: an agent's inbox, its queue, what is due when,
// the rules under which calls run, and the overview of all agents. It also shows a single message in full.
//
// Does: read what its board lacks, one thing at a time, and nothing once it is closed; preview a
// row; say what the human wants done with a row. What a board lists is a stock, one file each; a
// verb is a row of its table and a case of its do.
//
// Does not: draw rows (that is dialog.Board), carry anything out: it returns intents. What comes
// back to a closed panel changes nothing.
//
// Imports: agents, agents/event, agents/fleet, agents/history, agents/ledger, agents/mail, agents/permissions,
// agents/roster, agents/schedule, agents/servers, inbox, themes, tools, tools/mcp, tools/permit, tools/permit/toolrule,
// ui/dialog, ui/frame, ui/intent, ui/slash/permissions, ui/slash/serving, ui/slash/signing, ui/slash/timetable,
// ui/slash/trusting, ui/tabs, ui/transcript, ui/words.
package panel

import (
	"context"
	"slices"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/dialog"
	"fantail/ui/frame"
	"fantail/ui/intent"
	"fantail/ui/tabs"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// Env is what a panel looks at and asks.
type Env struct {
	Pool   Pool
	Tabs   *tabs.Tabs
	Theme  *themes.Theme
	Now    func() time.Time
	Doubt  words.Doubt
	Looked map[int64]bool // the messages that a panel has shown in full

	Environ []string // of the screen, for the human's own programs
}

// Panel is an open board.
type Panel struct {
	Env

	box        *dialog.Board
	of         stock
	closed     bool
	reading    bool
	previewing bool
	after      func() intent.Intent // what a key asked for meanwhile; nil: nothing
	stale      staleness            // what it lists has changed
	worn       bool                 // so has what the preview shows
	preview    *preview
	typed      string // the search text as last seen
	pause      time.Time
}

// staleness is whether what is listed may be out of date.
type staleness bool

// stock is what a panel lists. Its methods are called on the interface's goroutine; the functions
// they return run off it.
type stock interface {
	// next reads what the board lacks; nil: nothing. stale: what it has may be out of date.
	next(b *dialog.Board, stale staleness) read
	// preview makes the preview of a row.
	preview(id int64) func(ctx context.Context) (*preview, error)
	// do returns what follows from a wish.
	do(p *Panel, w dialog.Wish) intent.Intent
	// recolour sets the colours of what it makes from now on.
	recolour(t *themes.Theme)
	// touched reports whether an event changes the list, or the preview of a row.
	touched(e event.Event) bool
}

// read reads off the interface's goroutine; what it returns is applied on it.
type read func(ctx context.Context) (apply func(b *dialog.Board), err error)

// searchPause is how long the search text must stay unchanged before the search begins.
const searchPause = 120 * time.Millisecond

func open(e Env, box *dialog.Board, of stock) *Panel {
	return &Panel{Env: e, box: box, of: of, stale: true}
}

// Box is what shows.
func (p *Panel) Box() dialog.Box { return p.box }

// Board is the board itself.
func (p *Panel) Board() *dialog.Board { return p.box }

// Close tells the panel that it no longer shows.
func (p *Panel) Close() { p.closed = true }

// Reads reports whether the panel is that agent's inbox.
func (p *Panel) Reads(agent int64) bool {
	s, is := p.of.(*mailStock)
	return is && s.agent == agent
}

// Cover tells an inbox the message whose question shows over it; 0: none.
func (p *Panel) Cover(message int64) {
	if _, mail := p.of.(*mailStock); !mail {
		message = 0
	}
	p.box.Cover(message)
}

// Previewed is the view of the row's text, nil if none shows.
func (p *Panel) Previewed() *transcript.View {
	if p.preview == nil {
		return nil
	}
	return p.preview.view
}

// Tail is the agent whose last lines show; 0: none.
func (p *Panel) Tail() int64 {
	if p.preview == nil {
		return 0
	}
	return p.preview.tail
}

// Turns is how long until something that the panel tells of the future changes without an event; 0:
// nothing does. How old something is changes with the next event.
func (p *Panel) Turns() time.Duration {
	if s, is := p.of.(*dueStock); is {
		return s.turns(p.Now())
	}
	return 0
}

// SetTheme changes the colours.
func (p *Panel) SetTheme(t *themes.Theme) {
	p.Theme = t
	p.of.recolour(t)
	p.box.SetTheme(t)
	p.worn = true
}

// Note takes in an event.
func (p *Panel) Note(e event.Event) {
	if p.of.touched(e) {
		p.stale, p.worn = true, true
	}
}

// Wants asks for what the panel lacks.
func (p *Panel) Wants() intent.Intent {
	var all intent.All
	if pause, wait := p.searching(); wait {
		all = append(all, pause)
	} else if !p.reading {
		if f := p.of.next(p.box, p.stale); f != nil {
			p.reading, p.stale = true, false
			lane := p.box.Lane()
			all = append(all, intent.Run{F: func(ctx context.Context) intent.Intent {
				apply, err := f(ctx)
				return intent.Call(func() intent.Intent {
					p.take(lane, apply, err)
					return nil
				})
			}})
		}
	}
	at := p.box.At()
	if at != 0 && !p.previewing && p.box.Peeks() && (at != p.box.Previews() || p.worn && !p.reading && !p.other()) {
		p.previewing, p.worn = true, false
		f := p.of.preview(at)
		all = append(all, intent.Run{F: func(ctx context.Context) intent.Intent {
			v, err := f(ctx)
			return p.previewed(at, v, err)
		}})
	}
	if all == nil {
		return nil
	}
	return all
}

// searching reports whether a search text is still being typed; it then looks again after a pause.
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

// other reports whether something else shows in place of the row.
func (p *Panel) other() bool { return p.preview != nil && p.preview.what != "" }

// take shows the rows that were read of that lane. Where another one shows by now, a key would act on what is not in it.
func (p *Panel) take(lane int, apply func(b *dialog.Board), err error) {
	p.reading = false
	switch {
	case p.closed:
	case p.box.Lane() != lane:
		p.stale = true
	case err != nil:
		p.box.Fail(words.Sentence(err))
	default:
		apply(p.box)
	}
}

// previewed shows a row's preview.
func (p *Panel) previewed(id int64, v *preview, err error) intent.Intent {
	return intent.Call(func() intent.Intent {
		if p.closed {
			return nil
		}
		p.previewing = false
		if err != nil {
			p.box.Fail(words.Sentence(err))
			v = newPreview(p.Theme, p.Now)
		}
		if p.preview != nil && p.box.Previews() == id && v.keeps(p.preview) {
			v.view = p.preview.view // keep its scroll position
		}
		p.preview = v
		p.box.Preview(id, v)
		return p.asked()
	})
}

// asked does what was asked for while a preview was made.
func (p *Panel) asked() intent.Intent {
	next := p.after
	if p.after = nil; next == nil {
		return nil
	}
	return next()
}

// wish runs f off the interface's goroutine. If f succeeds, then follows; its text shows in the
// panel, or in the status line once the panel is closed. If f fails, what was typed for it is given
// back.
func (p *Panel) wish(w dialog.Wish, f func(ctx context.Context) (string, error), then func()) intent.Intent {
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
func (p *Panel) wished(w dialog.Wish, text string, err error) intent.Intent {
	failed := err != nil
	if failed {
		text = words.Sentence(err)
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

// Do says what follows from what the human wants done.
func (p *Panel) Do(d dialog.Decision) intent.Intent {
	w, ok := d.(dialog.Wish)
	if !ok {
		return nil
	}
	switch w.Verb {
	case "keys":
		return intent.Open{Box: dialog.NewTable(p.Theme, "Keys", p.box.Keys())}
	case "agents":
		return intent.All{intent.Close{}, intent.Overview{}}
	case "question":
		if !slices.ContainsFunc(p.Tabs.All, func(t *tabs.Tab) bool { return t.Info.Question != nil }) {
			p.box.Say("nobody asks you anything")
			return nil
		}
		return intent.Question{}
	}
	return p.of.do(p, w)
}

// instead shows something in place of a row, or the row again if that already shows. While a preview is being made it
// waits for that.
func (p *Panel) instead(id int64, what string, f func(ctx context.Context) (*preview, error)) intent.Intent {
	if p.previewing {
		p.after = func() intent.Intent {
			if p.box.At() != id { // the bar went on
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
	return intent.Run{F: func(ctx context.Context) intent.Intent {
		v, err := f(ctx)
		if err != nil { // what shows stays
			return intent.Call(func() intent.Intent {
				p.previewing = false
				p.box.Fail(words.Sentence(err))
				return p.asked()
			})
		}
		v.what = what
		return p.previewed(id, v, nil)
	}}
}

// preview is the preview of a row: some facts, and a text below them.
type preview struct {
	theme *themes.Theme
	now   func() time.Time
	facts []fact
	view  *transcript.View
	what  string // what shows in place of the row; "": the row itself
	of    string // what view shows
	tail  int64  // the agent whose last lines show in view's place; 0: none
	last  func(id int64, w, h int) []string
}

// fact is a line above the text; it may have no label.
type fact struct {
	label, text string
	at          time.Time // its age follows the text, if there is one,
	rest        string    // and this follows the age
	role        themes.Role
	most        int // lines; 0: one
}

func newPreview(t *themes.Theme, now func() time.Time) *preview {
	return &preview{theme: t, now: now, view: transcript.New(t, now)}
}

// answer shows markdown below the facts; plain shows text as it is.
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

func (p *preview) add(label, text string) {
	p.facts = append(p.facts, fact{label: label, text: text, role: themes.Text})
}

// factCols is the width of the labels.
const factCols = 8

func (p *preview) Lines(w, h int) []string {
	var out []string
	for _, f := range p.facts {
		label, room := "", w
		if f.label != "" {
			label, room = frame.Fit(f.label, factCols), w-factCols
		}
		text := f.text
		if !f.at.IsZero() {
			text += inbox.Age(p.now().Sub(f.at)) + " ago" + f.rest
		}
		rows := frame.Wrap(frame.CleanLine(text), max(8, room))
		if most := max(1, f.most); len(rows) > most {
			rows = rows[:most]
			rows[most-1] = frame.Cut(rows[most-1]+"…", room)
		}
		for i, l := range rows {
			if i > 0 && label != "" {
				label = frame.Spaces(factCols)
			}
			out = append(out, p.theme.Paint(themes.Dim, label)+p.theme.Paint(f.role, frame.Cut(l, room)))
		}
	}
	if most := max(1, h*2/5); len(out) > most {
		out = out[:most]
	}
	if len(out) > 0 && len(out) < h-1 {
		out = append(out, p.theme.Paint(themes.Rule, "────"))
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
