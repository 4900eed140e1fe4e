package tabs

import (
	"fmt"
	"strings"

	"fantail/agents/event"
	"fantail/themes"
	"fantail/tools/permission"
	"fantail/ui/cells"
	"fantail/ui/format"
)

// Status is what the status line shows besides what the tabs know.
type Status struct {
	Tally  event.Tally
	Branch string
	Flash  string          // the line of the moment
	Usual  permission.Mode // the workspace's usual mode, which the line may leave out; "": there is none

	ReadOnly bool // nothing can be written here
}

// slot is a place in the status line, from left to right. Slots before firstRight follow the agent, the others are
// aligned to the right edge.
type slot int

const (
	slotBranch slot = iota
	slotFlash
	slotAsking
	slotWork
	slotDue
	slotIdle
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

// want is a text for a slot. A later one for the same slot replaces it.
type want struct {
	at     slot
	text   string
	role   themes.Role
	before string // around the text, never cut
	after  string
	cut    bool // without room the text is cut instead of left out
}

func (w want) width() int { return cells.Width(w.before + w.text + w.after) }

// BranchLeast is how many cells a shortened branch takes.
const BranchLeast = 8

// Status returns `[Agent: NAME | N pending] [Branch: B]` on the left and, on the right, what asks and runs, how the
// agent awaits input, the model, the share of its context, the cost, the mode and quiet. It grants the wants in order
// and stops at the first that does not fit, so a wider line shows everything that a narrower one does.
func (t *Tabs) Status(w int, st Status) string {
	must, wants := t.statusWants(st)
	var line [slots]want
	least := 0
	if must.text != "" {
		line[slotMode], least = must, must.width()+2
	}
	left, whole := t.statusLeft(w - least)
	if !whole {
		wants = nil // the words for the mail come first
	}
	for _, x := range wants {
		was := line[x.at]
		line[x.at] = x
		over := cells.Width(left) + cellsOf(line) - w
		if over <= 0 {
			continue
		}
		if keep := cells.Width(x.text) - over; x.cut && keep > cells.Width(was.text) {
			line[x.at].text = cells.Cut(x.text, keep)
		} else {
			line[x.at] = was
		}
		break
	}
	right, sep := "", ""
	for _, x := range line[firstRight:] {
		if x.text != "" {
			right += t.Theme.Paint(themes.Dim, sep) + t.Theme.Paint(x.role, x.text)
			sep = " · "
			if x.at == slotAsking || x.at == slotWork || x.at == slotDue || x.at == slotIdle {
				sep = "   "
			}
		}
	}
	for _, x := range line[:firstRight] {
		if x.text != "" {
			left += t.Theme.Paint(x.role, x.before+x.text+x.after)
		}
	}
	if right == "" {
		return cells.Fit(left, w)
	}
	right += " "
	return cells.Fit(left, w-cells.Width(right)) + right
}

// cellsOf returns how many cells the line takes, with separators of three cells between the slots on the right, a
// blank before them and one at the end.
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

// statusWants returns the wants for the rest of the line. must is granted at every width: a mode other than the usual
// one, always yolo and plan, after it the mode that follows soon, and that the workspace is read-only. The others are
// in the order in which they are granted: the notice, what asks and runs, facts of this tab only, a short branch, that
// yolo runs outside the sandbox, the rest, and last the whole branch.
func (t *Tabs) statusWants(st Status) (must want, ws []want) {
	add := func(at slot, role themes.Role, text string) {
		if text != "" {
			ws = append(ws, want{at: at, role: role, text: text})
		}
	}
	info := event.Info{}
	if t.Focus != nil {
		info = t.Focus.Info
	}
	mode, coming := st.Tally.Mode, st.Tally.Coming
	if info.Mode != "" {
		mode, coming = info.Mode, ""
	}
	if info.Outside {
		mode, coming = mode.Tightest(), ""
	}
	usual := mode == st.Usual && mode != permission.Yolo && mode != permission.Plan && coming == ""
	stands := want{at: slotMode, text: string(mode), role: themes.Strong}
	if coming != "" {
		stands.text += " → " + string(coming)
	}
	switch {
	case mode == permission.Yolo:
		stands.role = themes.Danger
	case mode == permission.Ask && coming == "":
		stands.role = themes.Dim
	}
	if !usual {
		must = stands
	}
	if st.ReadOnly {
		must = want{at: slotMode, text: strings.TrimPrefix(must.text+" · read-only", " · "), role: themes.Strong}
	}
	if st.Flash != "" {
		ws = append(ws, want{at: slotFlash, before: "  ", text: cells.CleanLine(st.Flash), role: themes.Text, cut: true})
	}
	if n := st.Tally.Asking; n > 0 {
		add(slotAsking, themes.Warn, format.Asking(n))
		add(slotAsking, themes.Warn, format.Asking(n)+" · alt+a")
	}
	st.work(add)
	if n := st.Tally.Scheduled; n > 0 {
		add(slotDue, themes.Dim, fmt.Sprintf("⏲ %d", n))
	}
	if format.Awaits(info) {
		add(slotIdle, themes.Dim, format.IdleShort(info, t.Now()))
		add(slotIdle, themes.Dim, format.IdleHere(info, t.Now()))
	}
	add(slotQuiet, themes.Message, quietMark(st.Tally.Quiet, t.Now()))
	if info.Outside {
		add(slotOutside, themes.Strong, "from outside")
	}
	if info.Unattended {
		add(slotOutside, themes.Strong, "never asks")
	}
	if info.Kind.Fleeting() {
		add(slotFork, themes.Dim, info.Kind.Nature().Word)
	}
	branch := want{at: slotBranch, before: " [Branch: ", text: cells.CleanLine(st.Branch), after: "]", role: themes.Status}
	short := branch
	short.text, branch.cut = cells.Cut(branch.text, BranchLeast), true
	if branch.text != "" {
		ws = append(ws, short)
	}
	if mode == permission.Yolo {
		add(slotMode, themes.Danger, strings.Replace(must.text, string(mode), string(mode)+" · outside the sandbox", 1))
	}
	if usual && !st.ReadOnly {
		ws = append(ws, stands)
	}
	statusModel(info, add)
	if branch.text != short.text {
		ws = append(ws, branch)
	}
	return must, ws
}

// work is what runs and is queued.
func (st Status) work(add func(at slot, role themes.Role, text string)) {
	running, queued := "", ""
	if n := st.Tally.Running; n > 0 {
		running = fmt.Sprintf("%d running", n)
		add(slotWork, themes.Accent, running)
	}
	if n := st.Tally.Queued; n > 0 {
		queued = fmt.Sprintf("%d queued", n)
		add(slotWork, themes.Accent, strings.TrimPrefix(running+" · "+queued, " · "))
	}
}

// statusModel adds the focused agent's model, how full its window is and what it cost.
func statusModel(i event.Info, add func(at slot, role themes.Role, text string)) {
	model := i.Model
	if _, short, ok := strings.Cut(model, "/"); ok && short != "" {
		model = short
	}
	role := themes.Dim
	if model == PlainEngine {
		role = themes.Strong
	}
	add(slotModel, role, cells.Cut(cells.CleanLine(model), 28))
	if i.Window > 0 && i.Context > 0 {
		add(slotShare, themes.Dim, fmt.Sprintf("%d%%", min(100, i.Context*100/i.Window)))
	}
	if i.Priced && i.Cost > 0 {
		add(slotCost, themes.Dim, fmt.Sprintf("$%.2f", float64(i.Cost)/1e6))
	}
	if i.Window <= 0 && i.Context > 0 {
		add(slotTokens, themes.Dim, format.Amount(i.Context)+" tokens")
	}
}

// PlainEngine is the name of the engine without a model: it carries out plain instructions.
const PlainEngine = "builtin"
