package tabs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/tools"
	"fantail/ui/cells"
	"fantail/ui/format"
	"fantail/ui/transcript"
)

// Pane is one of the four views of a tab.
type Pane int

const (
	Transcript Pane = iota
	Prompt
	Output
	Info
)

// Order is the views from left to right.
var Order = [...]Pane{Prompt, Transcript, Output, Info}

func (p Pane) String() string {
	return [...]string{Transcript: "Transcript", Prompt: "Prompt", Output: "Output", Info: "Info"}[p]
}

// panes are the views of a tab besides its transcript, and their content. They are made when first viewed.
type panes struct {
	At     Pane
	prompt *transcript.View
	output *transcript.View
	info   *transcript.View

	facts *agents.Facts
	calls map[string]int // calls by tool, since the facts were read
	stale bool           // a turn ended since
	asked bool           // the facts are being read
	asOf  int64          // the latest entry shown when the reading began
	begun bool           // output shows the texts of the current run
	tried string         // the attempts in the prompt view, by their heads
}

// At returns the view the tab shows.
func (t *Tab) At() *transcript.View {
	switch t.Panes.At {
	case Prompt:
		return t.Panes.prompt
	case Output:
		return t.Panes.output
	case Info:
		return t.Panes.info
	}
	return t.View
}

// TurnTo turns the tab to one of its views.
func (t *Tab) TurnTo(p Pane) {
	t.View.Deselect()
	for _, v := range []**transcript.View{&t.Panes.prompt, &t.Panes.output, &t.Panes.info} {
		if *v == nil {
			*v = t.of.view()
		}
	}
	t.Panes.At = p
	t.Panes.stale = true
	if p == Prompt && t.Info.Prompt != "" {
		t.Panes.prompt.Marked(promptMark(t.Info), t.Info.Prompt)
		t.Panes.tried = ""
		t.showAttempts()
	}
}

// showAttempts shows, in the prompt view, all prompts of an agent that was resumed after its end.
func (t *Tab) showAttempts() {
	p := &t.Panes
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
		head += " · " + began.In(t.of.Now().Location()).Format("15:04:05") + " · " + cmp.Or(x.Outcome, x.State)
		parts = append(parts, transcript.Part{Head: head, Text: x.Prompt})
		heads += head + "\n"
	}
	if heads != p.tried {
		p.tried = heads
		p.prompt.Series(parts)
	}
}

// promptMark returns the line above a prompt that the human did not type.
func promptMark(i event.Info) string {
	switch {
	case i.Handles != 0:
		return fmt.Sprintf("message #%d from %s: what it says is data", i.Handles, cells.CleanLine(i.Sender))
	case i.Outside:
		return "from outside: asks before all but reading"
	}
	return ""
}

// WantsFacts reports whether a view of the tab shows outdated facts. The caller then reads them and
// hands them to TakeFacts.
func (t *Tab) WantsFacts() bool {
	p := &t.Panes
	if p.At == Transcript || p.asked || !p.stale || !t.Loaded {
		return false
	}
	p.asked, p.stale, p.asOf = true, false, t.latest
	return true
}

// TakeFacts shows facts that were read. If an entry was appended meanwhile, they may or may not
// include it: they count as outdated.
func (t *Tab) TakeFacts(f agents.Facts, err error) {
	p := &t.Panes
	p.asked = false
	switch {
	case err != nil:
		return
	case p.asOf < t.latest:
		p.stale = true
		return
	}
	first := p.facts == nil
	p.facts, p.calls = &f, map[string]int{}
	if p.At == Prompt {
		t.showAttempts()
	}
	if p.At == Prompt && t.Info.Prompt == "" && (first || p.prompt.Empty()) {
		if p.prompt.Text(f.Prompt); f.Prompt == "" {
			p.prompt.Text("No prompt yet.")
		}
	}
	if first {
		reply := t.View.Reply()
		switch {
		case len(reply) > 0:
		case f.Answer == "":
			p.output.Text("No answer yet.")
		case format.Working(t.Info.State):
			p.output.Written(f.Answer)
		default:
			p.output.Answer(f.Answer)
		}
		for _, d := range reply {
			t.Panes.stream(d)
		}
	}
}

// stream shows a piece of the reply in the output view.
func (p *panes) stream(d event.Delta) {
	if p.facts == nil || d.Thinking {
		return
	}
	if !p.begun {
		p.begun = true
		p.output.Written("")
	}
	p.output.Delta(d)
}

// void removes what was streamed.
func (p *panes) void() {
	if p.facts != nil {
		p.output.Void()
	}
}

// extend updates the views for appended entries.
func (p *panes) extend(es []history.Entry) {
	if texts := p.note(es); len(texts) > 0 {
		p.output.Append(texts)
	}
}

// record is extend for the record of what was streamed.
func (p *panes) record(es []history.Entry) {
	texts := p.note(es)
	if p.facts != nil {
		p.output.Record(texts)
	}
}

// note records what entries change in the agent's facts, and returns the entries that are output.
func (p *panes) note(es []history.Entry) (texts []history.Entry) {
	if p.facts == nil {
		return nil
	}
	for _, e := range es {
		switch e.Kind {
		case history.EntryText:
			texts = append(texts, e)
		case history.EntryCall:
			if e.Call != nil && e.Seq > p.facts.UpTo {
				p.calls[e.Call.Name]++
			}
		case history.EntryPrompt:
			p.facts.Prompt = e.Text
			p.stale, p.begun = true, false
		case history.EntryMessage, history.EntryResult, history.EntryBriefed, history.EntryHost:
			p.begun = false
		case history.EntryEnded:
			p.stale = true
		}
	}
	if len(texts) > 0 && !p.begun {
		p.output.Written("")
		p.begun = true
	}
	return texts
}

// infoRows returns the facts of the tab's agent; over reports that its question shows over them.
func (t *Tab) infoRows(over bool) []transcript.Row {
	i, now := t.Info, t.of.Now()
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
	if t.Panes.facts != nil {
		f = *t.Panes.facts
	}
	add("agent", i.Name+kindWords(i.Kind))
	add("state", t.StateText(over))
	if i.Handles != 0 {
		add("handles", fmt.Sprintf("message #%d from %s", i.Handles, i.Sender))
		add("lifetime", "temporary: it closes itself")
	}
	if i.Outcome != "" {
		add("outcome", string(i.Outcome))
	}
	if i.State.Terminal() || i.State == event.Idle {
		add("why", i.Why)
	}
	if w := i.Await; w != nil && !i.State.Terminal() {
		add("awaits", "input "+format.Stay(w.For)+" after each turn")
	}
	gap()
	add("model", i.Model)
	if i.Role != nil {
		add("role", i.Role.Name+", as "+i.Role.Source+" described it")
	}
	u := i.Usage
	add("tokens", fmt.Sprintf("%s in · %s out · cache %s read, %s written",
		format.Amount(u.Input), format.Amount(u.Output), format.Amount(u.CacheRead), format.Amount(u.CacheWrite)))
	switch {
	case i.Window > 0:
		add("context", fmt.Sprintf("%s of %s tokens, %d%%",
			format.Amount(i.Context), format.Amount(i.Window), min(100, i.Context*100/i.Window)))
	case i.Context > 0:
		add("context", format.Amount(i.Context)+" tokens")
	}
	vendor, abroad := tools.VendorOf(i.Model)
	switch {
	case i.Priced || i.Cost > 0:
		add("cost", fmt.Sprintf("$%.4f", float64(i.Cost)/1e6))
	case i.Model == PlainEngine: // it uses no model
	case abroad:
		add("cost", "unknown: "+vendor+" tells none")
	default:
		add("cost", "unknown: the model has no price")
	}
	if i.Budget != nil {
		add("budget", i.Budget.String()+", with all it dispatched")
	}
	add("steps", strconv.Itoa(i.Steps))
	if f.Turns > 1 {
		add("turns", strconv.Itoa(f.Turns))
	}
	add("tools", t.Panes.tools())
	if abroad {
		gap()
		add("vendor", vendor+" carries out the turns, with its own tools and rules, over ACP")
		holds, not := "kill, time-out, queue and inbox; what it asks by itself comes to you", "this program's rules, modes and memory: they don't judge or reach its tools"
		switch i.Held {
		case event.InSandbox:
			holds = "its sandbox, " + holds
		case event.AsUser:
			not = "a sandbox: it runs as you; " + not
		}
		add("holds", holds)
		add("holds not", not)
		add("words", "enter when a call of its has ended, if it can be steered, else at its turn's end; after a crash twice at most, marked")
	}
	gap()
	t.timings(f, now, add)
	gap()
	if f.Task.ID != 0 {
		add("result", resultWords(f.Task.Deliver))
		if f.Task.Timeout > 0 {
			add("timeout", f.Task.Timeout.String())
		}
		add("after", strings.Join(f.Needs, ", "))
	}
	add("mail", f.Mail)
	if i.Outside {
		add("trust", "begun from outside: asks before all but reading, in every mode")
	}
	if i.Unattended {
		add("asks", "no one: calls that would ask are denied, in its own mode "+string(i.Mode))
	}
	if i.Parent != 0 {
		parent := "an agent that was closed"
		if p := t.of.ByID(i.Parent); p != nil {
			parent = p.Info.Name
		}
		add("parent", parent)
	}
	add("children", t.children(f))
	return rows
}

// kindWords says what an agent is, after its name.
func kindWords(k event.Kind) string {
	switch k {
	case event.Main:
		return ""
	case event.Sub:
		return " · background agent"
	case event.Headless:
		return " · observer"
	}
	return " · " + string(k)
}

// resultWords says what becomes of a task's result, by its deliver.
func resultWords(deliver string) string {
	switch deliver {
	case "hold":
		return "waits in the inbox"
	case "next":
		return "joins the next prompt"
	case "wake":
		return "starts a turn"
	}
	return deliver
}

// timings adds when the agent's work was queued, began and ended.
func (t *Tab) timings(f agents.Facts, now time.Time, add func(label, text string)) {
	i := t.Info
	at := func(x time.Time) string { return x.In(now.Location()).Format("15:04:05") }
	if f.Task.ID != 0 {
		began := f.Task.Started
		if began.IsZero() {
			began = i.Created
		}
		add("queued", at(f.Task.Created)+", for "+format.Lasted(began.Sub(f.Task.Created)))
	}
	if i.Started.IsZero() {
		return
	}
	add("started", at(i.Started))
	switch {
	case !i.Ended.IsZero():
		add("ended", at(i.Ended)+", took "+format.Lasted(i.Ended.Sub(i.Started)))
	case i.State != event.Idle && !i.State.Terminal():
		add("runs for", format.Lasted(now.Sub(i.Started)))
	}
	if !i.State.Terminal() && i.State != event.Idle && !t.Active.IsZero() {
		add("last seen", format.Lasted(now.Sub(t.Active))+" ago")
	}
}

// tools returns the tools called, and how often.
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
		parts = append(parts, fmt.Sprintf("%s %d", cells.CleanLine(c.Name), c.Times+left[c.Name]))
		delete(left, c.Name)
	}
	for _, k := range slices.Sorted(maps.Keys(left)) {
		parts = append(parts, fmt.Sprintf("%s %d", cells.CleanLine(k), left[k]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " · ")
}

// maxNamed is how many children are named.
const maxNamed = 40

// children lists the agents that this one dispatched, with their states: current for those with a tab, final for the
// others.
func (t *Tab) children(f agents.Facts) string {
	var parts []string
	seen, more := map[int64]bool{}, 0
	add := func(id int64, name string, s event.State) {
		if seen[id] {
			return
		}
		seen[id] = true
		if len(parts) == maxNamed {
			more++
			return
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", cells.CleanLine(name), s))
	}
	for _, c := range f.Children {
		state := c.State
		if x := t.of.ByID(c.ID); x != nil {
			state = x.Info.State
		}
		add(c.ID, c.Name, state)
	}
	for _, x := range t.of.childrenOf(t.Info.ID) {
		add(x.Info.ID, x.Info.Name, x.Info.State)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// Refresh redraws the info view, where some facts change with the clock; over as in infoRows.
func (t *Tab) Refresh(over bool) {
	if t.Panes.At == Info {
		t.Panes.info.Table(t.infoRows(over))
	}
}

// Copied returns what /copy, and y without a selection, copy from a tab: the content of its view.
func (t *Tab) Copied() string {
	switch t.Panes.At {
	case Transcript, Output:
		return t.View.LastAnswer()
	}
	return t.At().Source()
}

// PaneOf returns the view of that name or number.
func PaneOf(word string) (Pane, bool) {
	for i, p := range Order {
		if strings.EqualFold(word, p.String()) || word == strconv.Itoa(i+1) {
			return p, true
		}
	}
	return 0, false
}
