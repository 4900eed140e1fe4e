package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fantail/agents"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/frame"
	"fantail/ui/transcript"
	"fantail/ui/words"
)

// pane is one of the four views of a tab.
type pane int

const (
	paneTranscript pane = iota
	panePrompt
	paneOutput
	paneInfo
)

// paneOrder is how they stand beside each other.
var paneOrder = [...]pane{panePrompt, paneTranscript, paneOutput, paneInfo}

func (p pane) String() string {
	return [...]string{paneTranscript: "Transcript", panePrompt: "Prompt", paneOutput: "Output", paneInfo: "Info"}[p]
}

// panes are the views of a tab beside its transcript, and what they show. They
// are made when they are first looked at.
type panes struct {
	at     pane
	prompt *transcript.View
	output *transcript.View
	info   *transcript.View

	facts *agents.Facts
	calls map[string]int // tools, called since the facts were read
	stale bool           // a turn ended since
	asked bool           // the facts are on their way
	asOf  int64          // the latest entry shown when they were asked for
	begun bool           // output shows the texts of the run that goes on
	tried string         // the attempts that prompt shows, by their heads
}

// looked are an agent's facts.
type looked struct {
	agent int64
	facts agents.Facts
	err   error
}

// at is the view the tab shows.
func (t *tab) at() *transcript.View {
	switch t.panes.at {
	case panePrompt:
		return t.panes.prompt
	case paneOutput:
		return t.panes.output
	case paneInfo:
		return t.panes.info
	}
	return t.view
}

// look makes a tab show one of its views.
func (a *App) turnTo(t *tab, p pane) tea.Cmd {
	a.dirty = true
	t.view.Deselect()
	for _, v := range []**transcript.View{&t.panes.prompt, &t.panes.output, &t.panes.info} {
		if *v == nil {
			*v = transcript.New(a.theme, a.o.Now)
		}
	}
	t.panes.at = p
	t.panes.stale = true
	if p == panePrompt && t.info.Prompt != "" {
		t.panes.prompt.Marked(promptMark(t.info), t.info.Prompt)
		t.panes.tried = ""
		a.showAttempts(t)
	}
	return a.readFacts(t)
}

// showAttempts shows in the prompt's view all that an agent was asked to do that went
// on after its end.
func (a *App) showAttempts(t *tab) {
	p := &t.panes
	if p.facts == nil || len(p.facts.Attempts) == 0 {
		return
	}
	var parts []transcript.Part
	heads := ""
	for i, x := range p.facts.Attempts {
		head := "the original"
		if i > 0 {
			head = fmt.Sprintf("attempt %d", i+1)
		}
		began := x.Started
		if began.IsZero() {
			began = x.Created
		}
		head += " · " + began.In(a.o.Now().Location()).Format("15:04:05") + " · " + cmp.Or(x.Outcome, x.State)
		parts = append(parts, transcript.Part{Head: head, Text: x.Prompt})
		heads += head + "\n"
	}
	if heads != p.tried {
		p.tried = heads
		p.prompt.Series(parts)
	}
}

// promptMark stands above a prompt that is no order of the human's.
func promptMark(i agents.Info) string {
	switch {
	case i.Handles != 0:
		return fmt.Sprintf("message #%d from %s: what it says is data", i.Handles, frame.CleanLine(i.Sender))
	case i.Outside:
		return "from outside: asks before all but reading"
	}
	return ""
}

// readFacts reads the facts that a view of the tab shows, if they are out of date.
func (a *App) readFacts(t *tab) tea.Cmd {
	p := &t.panes
	if p.at == paneTranscript || p.asked || !p.stale || !t.loaded || a.pool == nil {
		return nil
	}
	p.asked, p.stale, p.asOf = true, false, t.latest
	id, pool := t.info.ID, a.pool
	return func() tea.Msg {
		f, err := pool.Facts(a.ctx, id)
		return looked{id, f, err}
	}
}

// takeFacts shows facts. If something was appended since they were asked for they
// are read again: they may know of it or not.
func (a *App) takeFacts(m looked) tea.Cmd {
	t := a.tabs.byID(m.agent)
	if t == nil {
		return nil
	}
	p := &t.panes
	p.asked, a.dirty = false, true
	switch {
	case m.err != nil:
		a.say(words.Sentence(m.err))
		return nil
	case p.asOf < t.latest:
		p.stale = true
		return a.readFacts(t)
	}
	first := p.facts == nil
	p.facts, p.calls = &m.facts, map[string]int{}
	if p.at == panePrompt {
		a.showAttempts(t)
	}
	if p.at == panePrompt && t.info.Prompt == "" && (first || p.prompt.Empty()) {
		if p.prompt.Text(m.facts.Prompt); m.facts.Prompt == "" {
			p.prompt.Text("There is no prompt yet.")
		}
	}
	if first {
		reply := t.view.Reply()
		switch {
		case len(reply) > 0:
		case m.facts.Answer == "":
			p.output.Text("There is no answer yet.")
		default:
			p.output.Answer(m.facts.Answer, words.Working(t.info.State))
		}
		for _, d := range reply {
			t.panes.stream(d)
		}
	}
	return a.readFacts(t)
}

// stream shows a piece of the reply in the output.
func (p *panes) stream(d agents.Delta) {
	if p.facts == nil || d.Thinking {
		return
	}
	if !p.begun {
		p.begun = true
		p.output.Answer("", true)
	}
	p.output.Delta(d)
}

// void takes back what was streamed.
func (p *panes) void() {
	if p.facts != nil {
		p.output.Void()
	}
}

// enter brings the views up to entries that were appended.
func (p *panes) enter(es []agents.Entry, live bool) {
	if p.facts == nil {
		return
	}
	var texts []agents.Entry
	flush := func(live bool) {
		if len(texts) > 0 && !p.begun {
			p.output.Answer("", true)
			p.begun = true
		}
		if len(texts) > 0 || live {
			p.output.Append(texts, live)
		}
		texts = nil
	}
	for _, e := range es {
		switch e.Kind {
		case agents.EntryText:
			texts = append(texts, e)
		case agents.EntryCall:
			if e.Call != nil && e.Seq > p.facts.UpTo {
				p.calls[e.Call.Name]++
			}
		case agents.EntryPrompt:
			p.facts.Prompt = e.Text
			p.stale, p.begun = true, false
		case agents.EntryMessage, agents.EntryResult, agents.EntryHost:
			p.begun = false
		case agents.EntryEnded:
			p.stale = true
		}
	}
	flush(live)
}

// strip names the views on the rule above them, the one that shows in brackets, and
// at its other end what a fork's message is about.
// The tab of an agent without a prompt box always has it.
func (a *App) strip(rule string, w int) string {
	t := a.tabs.focus
	if t == nil || t.box != nil && t.panes.at == paneTranscript {
		return rule
	}
	text, plain := "", 0
	for i, p := range paneOrder {
		name := p.String()
		if w >= 60 && t.box == nil {
			name = strconv.Itoa(i+1) + " " + name
		}
		if p == t.panes.at {
			text += a.theme.Paint(themes.Accent, "["+name+"]")
		} else {
			text += a.theme.Paint(themes.Dim, " "+name+" ")
		}
		plain += frame.Width(name) + 2
	}
	rule = frame.Overlay([]string{rule}, []string{text}, 1, 0)[0]
	if mark := a.stallMark(t); mark != "" {
		mark = " ◌ " + mark + " "
		if room := w - plain - 4; room < 16 {
			return rule
		} else if room < frame.Width(mark) {
			mark = frame.Cut(mark, room-1) + " "
		}
		rule = frame.Overlay([]string{rule}, []string{a.theme.Paint(themes.Warn, mark)}, w-frame.Width(mark)-1, 0)[0]
	} else if room := w - plain - 4; t.info.Handles != 0 && room >= 16 {
		about := " " + frame.Cut(frame.CleanLine(t.info.Sender)+": "+frame.CleanLine(inbox.Label(t.info.Prompt)), room-2) + " "
		rule = frame.Overlay([]string{rule}, []string{a.theme.Paint(themes.Dim, about)}, w-frame.Width(about)-1, 0)[0]
	}
	return rule
}

// infoRows are the facts of a tab's agent.
func (a *App) infoRows(t *tab) []transcript.Row {
	i, now := t.info, a.o.Now()
	var rows []transcript.Row
	add := func(label, text string) {
		if text != "" {
			rows = append(rows, transcript.Row{Label: label, Text: text})
		}
	}
	gap := func() {
		if n := len(rows); n > 0 && rows[n-1] != (transcript.Row{}) {
			rows = append(rows, transcript.Row{})
		}
	}
	f := agents.Facts{}
	if t.panes.facts != nil {
		f = *t.panes.facts
	}
	add("agent", i.Name+" · "+string(i.Kind))
	add("state", a.stateText(t))
	if i.Handles != 0 {
		add("handles", fmt.Sprintf("message #%d from %s", i.Handles, i.Sender))
		add("lifetime", "temporary: it closes itself")
	}
	if i.Outcome != "" {
		add("outcome", string(i.Outcome))
	}
	if i.State.Terminal() || i.State == agents.Idle {
		add("why", i.Why)
	}
	gap()
	add("model", i.Model)
	add("tokens", fmt.Sprintf("%s in · %s out · cache %s read, %s written",
		words.Amount(i.Usage.Input), words.Amount(i.Usage.Output), words.Amount(i.Usage.CacheRead), words.Amount(i.Usage.CacheWrite)))
	switch {
	case i.Window > 0:
		add("context", fmt.Sprintf("%s of %s tokens, %d%%", words.Amount(i.Context), words.Amount(i.Window), min(100, i.Context*100/i.Window)))
	case i.Context > 0:
		add("context", words.Amount(i.Context)+" tokens")
	}
	if i.Priced {
		add("cost", fmt.Sprintf("$%.4f", float64(i.Cost)/1e6))
	} else {
		add("cost", "unknown: the model has no price")
	}
	add("steps", strconv.Itoa(i.Steps))
	if f.Turns > 1 {
		add("turns", strconv.Itoa(f.Turns))
	}
	add("tools", t.panes.tools())
	gap()
	a.timings(t, f, now, add)
	gap()
	if f.Task.ID != 0 {
		add("deliver", f.Task.Deliver)
		if f.Task.Timeout > 0 {
			add("timeout", f.Task.Timeout.String())
		}
		add("after", strings.Join(f.Needs, ", "))
	}
	add("mail", f.Mail)
	if i.Outside {
		add("trust", "begun from outside: asks before all but reading, in every mode")
	}
	if i.Parent != 0 {
		parent := "an agent that was closed"
		if p := a.tabs.byID(i.Parent); p != nil {
			parent = p.info.Name
		}
		add("parent", parent)
	}
	add("children", a.children(t, f))
	if f.Session != 0 {
		add("session", strconv.FormatInt(f.Session, 10))
	}
	add("id", strconv.FormatInt(i.ID, 10))
	return rows
}

// timings are when the agent's work was queued, began and ended.
func (a *App) timings(t *tab, f agents.Facts, now time.Time, add func(label, text string)) {
	i := t.info
	at := func(x time.Time) string { return x.In(now.Location()).Format("15:04:05") }
	if f.Task.ID != 0 {
		began := f.Task.Started
		if began.IsZero() {
			began = i.Created
		}
		add("queued", at(f.Task.Created)+", for "+words.Lasted(began.Sub(f.Task.Created)))
	}
	if i.Started.IsZero() {
		return
	}
	add("started", at(i.Started))
	switch {
	case !i.Ended.IsZero():
		add("ended", at(i.Ended)+", took "+words.Lasted(i.Ended.Sub(i.Started)))
	case i.State != agents.Idle:
		add("runs for", words.Lasted(now.Sub(i.Started)))
	}
	if !i.State.Terminal() && i.State != agents.Idle && !t.active.IsZero() {
		add("last seen", words.Lasted(now.Sub(t.active))+" ago")
	}
}

// tools are the tools called, with how often.
func (p *panes) tools() string {
	if p.facts == nil {
		return "…"
	}
	var parts []string
	left := map[string]int{}
	for k, n := range p.calls {
		left[k] = n
	}
	for _, c := range p.facts.Tools {
		parts = append(parts, fmt.Sprintf("%s %d", frame.CleanLine(c.Name), c.Times+left[c.Name]))
		delete(left, c.Name)
	}
	for _, k := range slices.Sorted(maps.Keys(left)) {
		parts = append(parts, fmt.Sprintf("%s %d", frame.CleanLine(k), left[k]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " · ")
}

// mostNamed is how many children are named.
const mostNamed = 40

// children are the agents whose work this one dispatched, with their states:
// those with a tab as they are now, the others as they ended.
func (a *App) children(t *tab, f agents.Facts) string {
	var parts []string
	seen, more := map[int64]bool{}, 0
	add := func(id int64, name string, s agents.State) {
		if seen[id] {
			return
		}
		seen[id] = true
		if len(parts) == mostNamed {
			more++
			return
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", frame.CleanLine(name), s))
	}
	for _, c := range f.Children {
		state := c.State
		if x := a.tabs.byID(c.ID); x != nil {
			state = x.info.State
		}
		add(c.ID, c.Name, state)
	}
	for _, x := range a.tabs.childrenOf(t.info.ID) {
		add(x.info.ID, x.info.Name, x.info.State)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// refresh draws anew what a view shows of now.
func (a *App) refresh(t *tab) {
	if t.panes.at == paneInfo {
		t.panes.info.Table(a.infoRows(t))
	}
}

// copied is what /copy and y without a selection take from a tab: what its view
// is about.
func (t *tab) copied() string {
	switch t.panes.at {
	case paneTranscript, paneOutput:
		return t.view.LastAnswer()
	}
	return t.at().Source()
}

// paneOf is the view of that name or number.
func paneOf(word string) (pane, bool) {
	for i, p := range paneOrder {
		if strings.EqualFold(word, p.String()) || word == strconv.Itoa(i+1) {
			return p, true
		}
	}
	return 0, false
}

// keyPanes go from view to view in the tab of an agent without a prompt box.
func (a *App) keyPanes(k tea.KeyPressMsg) (tea.Cmd, bool) {
	t := a.tabs.focus
	if t == nil || t.box != nil || t.line != nil {
		return nil, false
	}
	i := 0
	for paneOrder[i] != t.panes.at {
		i++
	}
	n := len(paneOrder)
	switch s := k.String(); s {
	case "left":
		return a.turnTo(t, paneOrder[(i+n-1)%n]), true
	case "right", "tab":
		return a.turnTo(t, paneOrder[(i+1)%n]), true
	case "1", "2", "3", "4":
		return a.turnTo(t, paneOrder[s[0]-'1']), true
	case "y":
		return a.copy(t.copied()), true
	case "w":
		if t.info.State.Terminal() {
			return nil, false
		}
		if a.again("w", "w again asks "+t.info.Name+" to wrap up", func() bool { return a.tabs.focus == t && !t.info.State.Terminal() }) {
			return a.wrapUp(t.info.Name), true
		}
		return nil, true
	}
	return nil, false
}
