package tabs

import (
	"fmt"
	"strconv"
	"strings"

	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/format"
)

// Upper returns the rule above the focused view.
func (t *Tabs) Upper(w int) string {
	if t.Focus == nil {
		return t.rule(w)
	}
	return t.Focus.strip(t.rule(w), w)
}

// Lower returns the rule below the transcript, with a mark for what goes on below a view that is scrolled up and, if
// there is no box, the keys that write to the agent.
func (t *Tabs) Lower(w int) string {
	if t.Focus == nil {
		return t.rule(w)
	}
	return t.Focus.lower(t.rule(w), w)
}

func (t *Tabs) rule(w int) string { return t.Theme.Paint(themes.Rule, strings.Repeat("─", w)) }

// strip names the views on the upper rule, with the current one in brackets, and at its other end what a fork's
// message is about. The tab of an agent without a prompt box always has it.
func (t *Tab) strip(rule string, w int) string {
	if t.Box != nil && t.Panes.At == Transcript {
		return rule
	}
	text, plain := "", 0
	for i, p := range Order {
		name := p.String()
		if w >= 60 && t.Box == nil {
			name = strconv.Itoa(i+1) + " " + name
		}
		if p == t.Panes.At {
			text += t.of.Theme.Paint(themes.Accent, "["+name+"]")
		} else {
			text += t.of.Theme.Paint(themes.Dim, " "+name+" ")
		}
		plain += cells.Width(name) + 2
	}
	rule = cells.Overlay([]string{rule}, []string{text}, 1, 0)[0]
	if mark := t.stallMark(); mark != "" {
		mark = " ◌ " + mark + " "
		if room := w - plain - 4; room < 16 {
			return rule
		} else if room < cells.Width(mark) {
			mark = cells.Cut(mark, room-1) + " "
		}
		rule = cells.Overlay([]string{rule}, []string{t.of.Theme.Paint(themes.Strong, mark)}, w-cells.Width(mark)-1, 0)[0]
	} else if room := w - plain - 4; t.Info.Handles != 0 && room >= 16 {
		about := cells.CleanLine(t.Info.Sender) + ": " + cells.CleanLine(inbox.Label(t.Info.Prompt))
		about = " " + cells.Cut(about, room-2) + " "
		rule = cells.Overlay([]string{rule}, []string{t.of.Theme.Paint(themes.Dim, about)}, w-cells.Width(about)-1, 0)[0]
	} else if p := t.Pulse(); p != "" && room >= 16 {
		rule = cells.Overlay([]string{rule}, []string{t.of.Theme.Paint(themes.Faint, " "+p+" ")}, w-pulseCells-3, 0)[0]
	}
	return rule
}

func (t *Tab) lower(rule string, w int) string {
	put := func(text string, role themes.Role, x int) {
		rule = cells.Overlay([]string{rule}, []string{t.of.Theme.Paint(role, cells.Cut(text, max(0, w-x)))}, x, 0)[0]
	}
	if t.Typing() == nil {
		put(t.hint(), themes.Dim, 2)
	}
	if mark := t.belowMark(w - 6); mark != "" {
		put(mark, themes.Accent, max(0, w-cells.Width(mark)-3))
	}
	return rule
}

// belowMark says in at most w cells what goes on below a view that is scrolled up: what the agent
// does, and how many blocks are new.
func (t *Tab) belowMark(w int) string {
	fresh, unseen := "", t.At().Unseen()
	if n := t.At().NewBelow(); n > 0 {
		fresh = fmt.Sprintf("%d new", n)
	}
	switch {
	case unseen == "" && fresh == "":
		return ""
	case unseen == "":
		return " " + fresh + " ↓ "
	case fresh != "":
		fresh = " · " + fresh
	}
	for _, mark := range []string{" " + unseen + fresh + " · end ↓ ", " " + unseen + " · end ↓ "} {
		if cells.Width(mark) <= w {
			return mark
		}
	}
	return " end ↓ "
}

// hint says what can be typed in a tab without a box.
func (t *Tab) hint() string {
	i, ended := t.Info, t.Info.State.Terminal()
	switch fork := i.Kind.Handles(); {
	case i.Kind.Observes() && ended:
		return " Observed for a schedule · /close "
	case i.Kind.Observes():
		return " Observes for a schedule · closes itself · / command "
	case fork && ended:
		return " " + format.Handles(i) + " · /close "
	case fork:
		return " " + format.Handles(i) + " · / command "
	case ended:
		return " m continue · / command · /close "
	case format.Awaits(i):
		name := cells.Cut(cells.CleanLine(i.Name), 24)
		return " m message · / command · /end " + name + " "
	}
	return " m message · / command · w w wrap up "
}
