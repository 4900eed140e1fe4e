package transcript

import (
	"fmt"
	"strings"
	"time"

	"fantail/agents/history"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/markdown"
)

// kind is what a block shows.
type kind int

const (
	prompt kind = iota
	answer      // a part of one
	thinking
	call
	message
	shell
	notice
	host
	local
	ended
	cleared
	summary
	snapshot
	memory // a document that a prompt or a message named
	queued // a prompt that has not entered
	doing  // what the agent does right now
	waits  // a retry's countdown, a question
	piece  // of a text
	warned // above a text
	row    // of a table
)

// group holds the blocks that are selected, copied and unfolded together: one entry, or one of its messages.
type group struct {
	text string
	open bool       // it is unfolded
	live *liveBlock // it is being streamed
}

// source returns the group's unwrapped text.
func (g *group) source() string {
	if g.live != nil {
		return g.live.source()
	}
	return g.text
}

// block is one piece of the transcript, small enough to be drawn when it becomes visible. Only its result and its
// drawing change. A long answer is a thousand of them, so rarely used fields are behind a pointer.
type block struct {
	kind   kind
	group  *group
	first  bool // of its group
	hidden bool // shown elsewhere: a result whose call arrived later
	held   bool // of a queued prompt
	then   bool // of a queued prompt: it is a command for the end of the turn
	brief  bool // md is the beginning of a message's body; text says how much is left out
	text   string
	label  string // of a row
	at     time.Time
	tone   Tone
	typed  string // of a local line: the command it answers; "": none
	times  int    // of a local line: how often it was said in a row
	bars   *[]Bar // of a local text: below it; nil: none
	by     string // of a prompt: user, or the name of what asked for a task from outside; "": as its position implies. Of a message: who took it

	*toolCall // of a call; of another block nil

	mail  *inbox.Message
	plain string  // its body, or the beginning, if that is shown as it is
	cost  string  // of the entry's messages, on the first
	list  *digest // of a message that shows as a line of it until it is unfolded
	seq   int64   // the entry that it is of
	entry int64   // the entry that brought the message, or that a document belongs to
	doc   *history.Recall
	shell *history.Shell
	end   *history.End
	sum   *history.Summary

	md    []markdown.Block // the markdown to be rendered
	drawn *drawing         // nil: nothing is; see [View.warmed]
}

// answered returns the block of a part of an answer, which is the only one in part.
func answered(part []markdown.Block) *block { return &block{kind: answer, md: part} }

// toolCall is the state of a tool's call.
type toolCall struct {
	call    *history.Call
	result  *history.Result
	took    int       // messages it took, shown below it
	started time.Time // zero: it is not running
	output  string    // its latest tail, while it runs
	task    int64     // the task whose end it waits for; 0: none
	batch   *batch    // of a call that only reads
	over    bool      // the turn ended; without a result this has none
}

// drawing is a block's drawing: all of it can be made again.
type drawing struct {
	lines []string // for look
	look  look
	seen  uint64 // the frame that showed it last

	rendering
	before rendering // for another shape: a window often returns to an earlier size
	asked  shape     // a job renders the block for it
}

// rendering is a block's markdown as rendered for a shape.
type rendering struct {
	fancy    [][]string
	shape    shape
	rendered string // the source of the first part that fancy shows
	draft    bool   // fancy shows it as it was while it came, with its marks closed
}

// fit uses the earlier rendering again if it was made for that shape.
func (d *drawing) fit(want shape) {
	if d.shape != want && d.before.shape == want {
		d.rendering, d.before = d.before, d.rendering
	}
}

// put stores a rendering.
func (d *drawing) put(r rendering) {
	if d.fancy != nil && d.shape != r.shape {
		d.before = d.rendering
	}
	d.rendering = r
}

// shape is what rendered markdown depends on.
type shape struct {
	width int
	theme *themes.Theme
	parts int
}

// source returns the text of which the block's first part was made. An answer that still comes has more of it than that
// part, which has its marks closed.
func (b *block) source() string {
	if b.kind == answer && b.text != "" {
		return b.text
	}
	return b.md[0].Source
}

// inherit takes over what was rendered of the block while it came.
func (v *View) inherit(b, from *block) {
	d, p := from.drawn, b.md[0]
	if d == nil || d.fancy == nil || d.shape.parts != 1 || d.rendered == "" {
		return
	}
	r := d.rendering
	if rest, ok := strings.CutPrefix(r.rendered, p.Source); ok && strings.Trim(rest, marks+"0123456789.):[!\\") == "" {
		r.rendered = p.Source // the marks that begin the next line did not show
	}
	if strings.HasPrefix(p.Source, r.rendered) {
		v.warmed(b).rendering = r
	}
}

// wants returns the shape that a block's markdown must be rendered for in a view.
func (b *block) wants(v *View) shape { return shape{v.inner(b), v.theme, len(b.md)} }

// look is what a block's lines depend on besides its content.
type look struct {
	width    int
	theme    *themes.Theme
	folded   bool
	selected bool
	age      string // that it shows
	letters  int    // how many messages are known, for a block that may name one
	hint     string // the keys that act on its messages
}

// touch forgets the block's lines.
func (b *block) touch() {
	if b.drawn != nil {
		b.drawn.lines = nil
	}
}

// forget drops all that was rendered.
func (b *block) forget() {
	if d := b.drawn; d != nil {
		d.rendering, d.before, d.asked = rendering{}, rendering{}, shape{}
	}
}

// cool drops everything that can be made again.
func (b *block) cool() {
	b.drawn = nil
	if b.kind == message || b.kind == memory {
		b.md = nil
	}
}

// moving reports whether the block changes with time.
func (b *block) moving() bool { return b.kind == waits || b.spins() }

// spins reports whether the block shows a spinner.
func (b *block) spins() bool {
	switch b.kind {
	case call:
		return b.result == nil && !b.over && !b.started.IsZero()
	case doing:
		return true
	}
	return false
}

// side is where entries belong: below the known ones or, for an older page, above them.
type side int

const (
	below side = iota
	above
)

// read makes blocks of entries and joins calls with their results. It also counts what a human sees as one new item.
// old are streamed blocks whose lines may be used again.
func (v *View) read(es []history.Entry, old []*block, at side) (fresh []*block, count int) {
	for i := range es {
		e := &es[i]
		if e.Seq > 0 && (v.oldest == 0 || e.Seq < v.oldest) {
			v.oldest = e.Seq
		}
		n := len(fresh)
		switch e.Kind {
		case history.EntryText:
			fresh = append(fresh, v.readAnswer(e, old, at)...)
		case history.EntryCall:
			fresh = v.readCall(fresh, e, at)
		case history.EntryStarted:
			if e.Call != nil {
				v.start(e.Call.ID, e.At)
			}
		case history.EntryDelegated:
			if e.Call != nil {
				v.start(e.Call.ID, e.At)
				if b := v.calls[e.Call.ID]; b != nil {
					b.task = e.Task
				}
			}
		case history.EntryResult:
			fresh = v.readResult(fresh, e)
			fresh = append(fresh, v.mails(e)...)
		case history.EntryMessage:
			if !v.withdrawn[e.Seq] {
				fresh = append(fresh, v.mails(e)...)
			}
		case history.EntryMemory:
			if b := mention(e); b != nil && !v.withdrawn[e.Behind] {
				fresh = append(fresh, b)
			}
		case history.EntryHost:
			if b := mention(e); e.Behind == 0 || !v.withdrawn[e.Behind] {
				fresh = append(fresh, b)
			}
		case history.EntryWithdrawn:
			v.withdraw(fresh, e.Withdraws)
			fresh = append(fresh, one(e))
		case history.EntryEnded:
			if !stop(fresh) && at == below {
				stop(v.blocks)
			}
			if b := one(e); b != nil {
				fresh = append(fresh, b)
			}
		default:
			if b := one(e); b != nil {
				fresh = append(fresh, b)
			}
		}
		for _, b := range fresh[n:] {
			b.seq = e.Seq
		}
		if len(fresh) > n {
			fresh[n].first = true
			count++
		}
	}
	return fresh, count
}

// one makes the block of an entry that is one.
func one(e *history.Entry) *block {
	b := &block{text: e.Text, at: e.At, group: &group{text: e.Text}}
	switch e.Kind {
	case history.EntryPrompt:
		b.kind, b.by = prompt, e.By
	case history.EntryThinking:
		if strings.TrimSpace(e.Text) == "" {
			return nil // only the provider's own token
		}
		b.kind = thinking
	case history.EntryShell:
		if e.Shell == nil {
			return nil
		}
		b.kind, b.shell = shell, e.Shell
		b.group.text = e.Shell.Output
	case history.EntrySnapshot:
		b.kind = snapshot
	case history.EntryNotice, history.EntryWithdrawn:
		b.kind = notice
	case history.EntryBriefed:
		b.kind, b.text = notice, briefed(e.Briefs)
	case history.EntryEnded:
		if e.End == nil {
			return nil
		}
		b.kind, b.end = ended, e.End
		b.group.text = e.End.Error
	case history.EntryCleared:
		b.kind = cleared
	case history.EntrySummary:
		if e.Summary == nil {
			return nil
		}
		b.kind, b.sum = summary, e.Summary
	default:
		return nil
	}
	return b
}

func (v *View) readAnswer(e *history.Entry, old []*block, at side) []*block {
	g := &group{text: e.Text}
	if strings.TrimSpace(e.Text) == "" {
		return nil
	}
	if v.answer == nil || at == below {
		v.answer = g
	}
	parts := markdown.Split(e.Text)
	out := make([]*block, 0, len(parts))
	j := 0
	for i, p := range parts {
		b := answered(parts[i : i+1 : i+1])
		for k := j; k < len(old) && k < j+2; k++ {
			if o := old[k]; o.kind == answer && len(o.md) == 1 && o.md[0] == p {
				b, j = o, k+1
				if b.text != "" { // the line that was coming is a part of its own by now
					b.text = ""
					b.touch()
				}
				break
			}
		}
		if n := len(old); n > 0 && i == len(parts)-1 && b.drawn == nil && old[n-1].kind == answer {
			v.inherit(b, old[n-1])
		}
		b.group, b.first = g, false
		out = append(out, b)
	}
	return out
}

func (v *View) readCall(fresh []*block, e *history.Entry, at side) []*block {
	if e.Call == nil {
		return fresh
	}
	b := &block{kind: call, toolCall: &toolCall{call: e.Call}, at: e.At, group: &group{text: string(e.Call.Args)}}
	if o := v.orphans[e.Call.ID]; o != nil {
		delete(v.orphans, e.Call.ID)
		o.hidden = true
		o.touch()
		b.result, b.group.text, b.took = o.result, o.group.text, o.took
	}
	v.calls[e.Call.ID] = b
	switch n := v.liveStart(); {
	case len(fresh) > 0:
		b.join(fresh[len(fresh)-1])
	case at == below && n > 0:
		b.join(v.blocks[n-1])
	default:
		b.join(nil)
	}
	return append(fresh, b)
}

// start records that a call runs.
func (v *View) start(id string, at time.Time) {
	if b := v.calls[id]; b != nil && b.result == nil && b.started.IsZero() {
		b.started = at
		b.touch()
	}
}

// readResult joins a result with its call; without one it shows by itself.
func (v *View) readResult(fresh []*block, e *history.Entry) []*block {
	r := e.Result
	if r == nil {
		return fresh
	}
	text := r.Text
	if r.Diff != "" {
		text = r.Diff
	}
	if b := v.calls[r.ID]; b != nil && b.result == nil {
		b.result, b.output, b.group.text, b.took = r, "", text, len(e.Messages)
		b.touch()
		if b.batch != nil {
			for _, m := range b.batch.calls {
				m.touch()
			}
		}
		return fresh
	}
	b := &block{
		kind: call, at: e.At, group: &group{text: text},
		toolCall: &toolCall{call: &history.Call{ID: r.ID, Name: r.Name, Title: r.Name}, result: r, took: len(e.Messages)},
	}
	v.orphans[r.ID] = b
	return append(fresh, b)
}

// stop tells the calls of a turn that it ended, back to the end of the turn before. It reports whether it got that far.
func stop(list []*block) bool {
	for i := len(list) - 1; i >= 0; i-- {
		b := list[i]
		if b.kind == ended {
			return true
		}
		if b.kind == call && !b.over {
			b.over = true
			b.touch()
		}
	}
	return false
}

// mails makes a block of each message that an entry took. The first shows how much context they use.
func (v *View) mails(e *history.Entry) []*block {
	var out []*block
	for i := range e.Messages {
		m := &e.Messages[i]
		v.letters[m.ID] = true
		out = append(out, &block{kind: message, mail: m, at: e.At, entry: e.Seq, by: e.By, group: &group{text: body(m)}})
	}
	if e.Kind == history.EntryMessage && len(out) > 1 && byHand(e.By) {
		digested(e, out)
		return out
	}
	if len(out) > 0 && e.Tokens > 0 {
		out[0].cost = thousands(e.Tokens) + " tokens"
		if len(out) > 1 {
			out[0].cost += fmt.Sprintf(" (%d messages)", len(out))
		}
	}
	if e.By == "show" {
		for _, b := range out {
			b.cost = "shown to you alone"
		}
	}
	return out
}

// withdraw hides the messages of an entry that were put back into the inbox and what came along with them, also on
// pages that are read later.
func (v *View) withdraw(fresh []*block, entry int64) {
	v.withdrawn[entry] = true
	for _, list := range [][]*block{fresh, v.blocks} {
		for _, b := range list {
			if b.entry == entry {
				b.hidden = true
				b.touch()
			}
		}
	}
}

// body returns a message's text; a failure's consists of the error and the partial result.
func body(m *inbox.Message) string {
	text := m.Body
	for _, more := range []string{m.Error, m.Partial} {
		if more != "" && more != text {
			if text != "" {
				text += "\n\n"
			}
			text += more
		}
	}
	return text
}
