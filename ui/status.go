package ui

import (
	"fmt"
	"strings"

	"fantail/agents"
	"fantail/themes"
	"fantail/tools/permit"
	"fantail/ui/frame"
	"fantail/ui/words"
)

// slot is a place in the status line, from left to right. What stands before rightmost
// follows the agent, the rest is set against the right edge.
type slot int

const (
	slotBranch slot = iota
	slotFlash
	slotAsking
	slotWork
	slotModel
	slotShare
	slotTokens
	slotCost
	slotFork
	slotOutside
	slotMode
	slotQuiet
	slots

	firstRight = slotAsking
)

// want is a text for a slot. A later one for the same slot takes its place.
type want struct {
	at     slot
	text   string
	role   themes.Role
	before string // stands around the text and is never cut
	after  string
	cut    bool // where the text has no room it is cut, not left out
}

func (w want) width() int { return frame.Width(w.before + w.text + w.after) }

// branchLeast is how many cells a shortened branch has.
const branchLeast = 8

// statusLine is `[Agent: NAME | N pending] [Branch: B]` on its left, and on its
// right what asks and runs, the model, the context's share, the cost, the mode and
// quiet. It grants wishes in their order as long as there is room and stops at the
// first that has none: a wider line shows all that a narrower one does.
func (a *App) statusLine(w int) string {
	must, wants := a.statusWants()
	var line [slots]want
	least := 0
	if must.text != "" {
		line[slotMode], least = must, must.width()+2
	}
	left, whole := a.statusLeft(w - least)
	if !whole {
		wants = nil // the words for the mail come first
	}
	for _, x := range wants {
		was := line[x.at]
		line[x.at] = x
		over := frame.Width(left) + cellsOf(line) - w
		if over <= 0 {
			continue
		}
		if keep := frame.Width(x.text) - over; x.cut && keep > frame.Width(was.text) {
			line[x.at].text = frame.Cut(x.text, keep)
		} else {
			line[x.at] = was
		}
		break
	}
	right, sep := "", ""
	for _, x := range line[firstRight:] {
		if x.text != "" {
			right += a.theme.Paint(themes.Dim, sep) + a.theme.Paint(x.role, x.text)
			sep = " · "
			if x.at == slotAsking || x.at == slotWork {
				sep = "   "
			}
		}
	}
	for _, x := range line[:firstRight] {
		if x.text != "" {
			left += a.theme.Paint(x.role, x.before+x.text+x.after)
		}
	}
	if right == "" {
		return frame.Fit(left, w)
	}
	right += " "
	return frame.Fit(left, w-frame.Width(right)) + right
}

// cellsOf is how many cells that much of the line takes, with a separator of three
// cells between what stands on the right, a blank before it and one at the end.
func cellsOf(line [slots]want) int {
	n, right := 0, 0
	for i, x := range line {
		switch {
		case x.text == "":
		case slot(i) < firstRight:
			n += x.width()
		default:
			n += x.width()
			right++
		}
	}
	if right > 0 {
		n += 3*(right-1) + 2
	}
	return n
}

// statusWants are the wishes for the line behind the agent. must is granted at every
// width: a mode that is not the usual one, and yolo and plan whatever the usual one
// is. The others follow in the order in which they are granted: what is said just
// now, what asks and runs, what holds for this tab alone, a short branch, the rest,
// and at last the whole branch.
func (a *App) statusWants() (must want, ws []want) {
	add := func(at slot, role themes.Role, text string) {
		if text != "" {
			ws = append(ws, want{at: at, role: role, text: text})
		}
	}
	info := agents.Info{}
	if t := a.tabs.focus; t != nil {
		info = t.info
	}
	mode := a.tally.Mode
	if info.Outside {
		mode = mode.Tightest()
	}
	usual := mode == a.o.Usual && mode != permit.Yolo && mode != permit.Plan
	stands := want{at: slotMode, text: string(mode), role: themes.Warn}
	if mode == permit.Ask {
		stands.role = themes.Dim
	}
	if !usual {
		must = stands
	}
	if a.flash.text != "" {
		ws = append(ws, want{at: slotFlash, before: "  ", text: frame.CleanLine(a.flash.text), role: themes.Warn, cut: true})
	}
	if n := a.tally.Asking; n > 0 {
		add(slotAsking, themes.Warn, fmt.Sprintf("⚠ %d asking", n))
		add(slotAsking, themes.Warn, fmt.Sprintf("⚠ %d asking · alt+a", n))
	}
	a.statusWork(add)
	add(slotQuiet, themes.Message, a.quietMark())
	if info.Outside {
		add(slotOutside, themes.Warn, "from outside")
	}
	if info.Kind == agents.Fork {
		add(slotFork, themes.Message, "fork")
	}
	branch := want{at: slotBranch, before: " [Branch: ", text: frame.CleanLine(a.branch), after: "]", role: themes.Status}
	short := branch
	short.text, branch.cut = frame.Cut(branch.text, branchLeast), true
	if branch.text != "" {
		ws = append(ws, short)
	}
	if usual {
		ws = append(ws, stands)
	}
	a.statusModel(info, add)
	if branch.text != short.text {
		ws = append(ws, branch)
	}
	return must, ws
}

// statusWork is what runs and is queued.
func (a *App) statusWork(add func(at slot, role themes.Role, text string)) {
	running, queued := "", ""
	if n := a.tally.Running; n > 0 {
		running = fmt.Sprintf("▶ %d running", n)
		add(slotWork, themes.Accent, running)
	}
	if n := a.tally.Queued; n > 0 {
		queued = fmt.Sprintf("%d queued", n)
		add(slotWork, themes.Accent, strings.TrimPrefix(running+" · "+queued, " · "))
	}
}

// statusModel is the focused agent's model, how full its window is and what it cost.
func (a *App) statusModel(i agents.Info, add func(at slot, role themes.Role, text string)) {
	model := i.Model
	if _, short, ok := strings.Cut(model, "/"); ok && short != "" {
		model = short
	}
	role := themes.Dim
	if model == plainEngine {
		role = themes.Warn
	}
	add(slotModel, role, frame.Cut(frame.CleanLine(model), 28))
	if i.Window > 0 && i.Context > 0 {
		add(slotShare, themes.Dim, fmt.Sprintf("%d%%", min(100, i.Context*100/i.Window)))
	}
	if i.Priced && i.Cost > 0 {
		add(slotCost, themes.Dim, fmt.Sprintf("$%.2f", float64(i.Cost)/1e6))
	}
	if i.Window <= 0 && i.Context > 0 {
		add(slotTokens, themes.Dim, words.Amount(i.Context)+" tokens")
	}
}
