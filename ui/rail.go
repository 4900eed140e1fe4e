package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/intent"
	"fantail/ui/panel"
	"fantail/ui/tabs"
)

// rail is the column beside the conversation with the other agents and what waits.
type rail struct {
	hidden bool // the human hid it
	came   bool // it has had something to show; from then on it stays, so that the conversation keeps its width
	turns  time.Duration

	news  int // counts events that may change it
	of    railOf
	lines []string // drawn for of
	holds time.Duration
}

// railOf is what the lines of a rail depend on. Their clocks show seconds.
type railOf struct {
	second     int64
	w, h       int
	news, read int
	focus      *tabs.Tab
	theme      *themes.Theme
}

// The width of the screen from which there is a rail, and that of the rail.
const (
	railFrom  = 140
	railWidth = 40
)

// railCols returns the width of the rail with its border; 0: there is none.
func (a *App) railCols() int {
	if a.w < railFrom || a.rail.hidden {
		return 0
	}
	a.rail.came = a.rail.came || len(a.tabs.All) > 1 || a.tabs.Pending > 0 || a.tally.Queued > 0 || a.tally.Scheduled > 0
	if !a.rail.came {
		return 0
	}
	return railWidth
}

// railed returns the lines of the conversation, of w cells, with the rail of cols cells beside them.
func (a *App) railed(lines []string, w, cols int) []string {
	if cols == 0 {
		return lines
	}
	r := &a.rail
	of := railOf{a.now().Unix(), cols, len(lines), r.news, a.boards.waiting.Reads(), a.tabs.Focus, a.tabs.Theme}
	if r.of != of {
		r.of = of
		r.lines, r.holds = panel.Rail(a.boards.Options, &a.boards.waiting, cols-3, len(lines))
		bar := a.tabs.Theme.Paint(themes.Rule, " │ ")
		for i, l := range r.lines {
			r.lines[i] = bar + cells.Fit(l, cols-3)
		}
	}
	r.turns = r.holds
	for i, l := range lines {
		lines[i] = cells.Fit(l, w) + r.lines[i]
	}
	return lines
}

// keyRail hides the rail or shows it again, and remembers that.
func (a *App) keyRail() tea.Cmd {
	a.rail.hidden = !a.rail.hidden
	said, choice := "Press Alt+R to show the agents here again", ""
	if a.rail.hidden {
		choice = agents.Hidden
	} else if said = "Press Alt+R to hide the agents"; a.w < railFrom {
		said = "the agents show beside the conversation from " + format.Count(railFrom, "column")
	}
	a.flash.Say(said)
	if a.o.Remember == nil || a.o.ReadOnly != nil {
		return nil
	}
	return a.act(intent.Run{F: func(ctx context.Context) intent.Intent {
		if err := a.o.Remember(ctx, agents.Rail, choice); err != nil {
			return intent.Say{Text: format.Sentence(err)}
		}
		return nil
	}})
}
