// Package transcript is the region that shows an agent's transcript.
//
// Does: hold blocks (immutable once done, one reply live), render the visible ones, scroll by an anchor, fold and
// unfold.
//
// Does not: read the database, know a pool, run commands by itself.
package transcript

import (
	"cmp"
	"slices"
	"time"

	"fantail/agents"
	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/markdown"
)

// View is the transcript of one agent. Only the interface's goroutine uses it. No method does I/O or renders markdown;
// Lines costs as much as what is visible, whatever the transcript's length.
type View struct {
	theme *themes.Theme
	now   func() time.Time
	md    *markdown.Renderer

	blocks   []*block // of entries and local lines, then those of the reply being streamed
	live     stream
	end      []*block // queued prompts and what the agent does right now
	calls    map[string]*block
	orphans  map[string]*block // results whose call is on an older page
	children map[int64]*child  // by task: agents this one dispatched that live
	told     int64             // the task of the agent whose question shows over all this
	info     event.Info
	answer   *group // the last one

	withdrawn map[int64]bool // entries whose messages were put back into the inbox
	letters   map[int64]bool // messages that entered, by number

	known

	extent
	follow   bool
	calm     bool   // no spinner turns
	aside    bool   // its last lines are drawn elsewhere, where Esc does not stop the agent
	still    bool   // it does not follow its end, even when all of it is visible
	top      anchor // of a view that does not follow
	below    int    // blocks appended below it
	seeks    int64  // the entry that Reach wants to show, once it was read; 0: none
	selected int    // index of a block of the selected group; -1: none

	hint     string        // the keys that act on the messages that were taken last
	hinted   *block        // the first of these; nil: no key does
	shown    span          // the blocks the last Lines showed
	places   []anchor      // what each line of it shows
	moves    bool          // one of them changes with time
	ages     time.Duration // how long the ages they show stay true; 0: none shows
	frame    uint64
	warm     []*block // those that hold lines
	tailDone time.Time
}

// extent is how large a view is.
type extent struct {
	w, h  int
	sized time.Time // when another width followed the first; zero: none has
}

// settles is how long a width must last before anything is rendered for it: rendering costs many times as much as
// wrapping, and a window that is dragged has another width every few milliseconds.
const settles = 30 * time.Millisecond

// Settling returns how long until the width has lasted long enough; 0: it has.
func (e *extent) Settling(now time.Time) time.Duration {
	if e.sized.IsZero() {
		return 0
	}
	return max(settles-now.Sub(e.sized), 0)
}

// known is how far back a transcript was read.
type known struct {
	oldest int64 // Seq of the first entry
	more   bool  // there may be older ones
	asked  bool  // Older has asked for them
}

// Tone colours a local line.
type Tone int

const (
	Plain Tone = iota
	Good
	Bad
)

// New makes an empty view. It follows the end until it is scrolled up.
func New(t *themes.Theme, now func() time.Time) *View {
	return &View{
		theme: t, now: now, md: markdown.NewRenderer(),
		calls: map[string]*block{}, orphans: map[string]*block{}, children: map[int64]*child{},
		withdrawn: map[int64]bool{}, letters: map[int64]bool{},
		known: known{more: true}, follow: true, selected: -1,
	}
}

// Calm makes spinners stand still.
func (v *View) Calm() { v.calm = true }

// SetTheme changes the colours; everything visible is drawn again.
func (v *View) SetTheme(t *themes.Theme) { v.theme = t }

// Append shows entries that are in the database, above what is being streamed.
func (v *View) Append(es []history.Entry) {
	fresh, count := v.read(es, nil, below)
	if !v.follow {
		v.below += count
	}
	v.insert(v.liveStart(), fresh)
	v.live.start += len(fresh)
}

// Record shows entries in the place of the streamed reply that they record.
func (v *View) Record(es []history.Entry) {
	fresh, count := v.read(es, v.closeLive(), below)
	if !v.follow {
		v.below += max(count-v.live.counted, 0)
	}
	v.live = stream{}
	v.blocks = append(v.blocks, fresh...)
	v.clamp()
}

// Prepend shows an older page above; more reports whether there are still older ones. The visible lines stay where
// they are.
func (v *View) Prepend(es []history.Entry, more bool) {
	fresh, _ := v.read(es, nil, above)
	if slices.ContainsFunc(v.blocks, func(b *block) bool { return b.kind == ended }) {
		stop(fresh)
	}
	v.insert(0, fresh)
	v.live.start += len(fresh)
	v.more, v.asked = more, false
}

// insert inserts blocks before the one at index at; the anchor and the selection stay on their blocks.
func (v *View) insert(at int, fresh []*block) {
	if len(fresh) == 0 {
		return
	}
	v.blocks = slices.Insert(v.blocks, at, fresh...)
	if v.top.i >= at {
		v.top.i += len(fresh)
	}
	if v.selected >= at {
		v.selected += len(fresh)
	}
}

// Older returns the Seq before which the next older page ends. ok is true once per page: when the view is near its top
// and there may be older entries.
func (v *View) Older() (before int64, ok bool) {
	const near = 20 // blocks
	if !v.more || v.asked || v.oldest == 0 || v.shown.from > near && !v.missing() {
		return 0, false
	}
	v.asked = true
	return v.oldest, true
}

// SetInfo shows at the end what the agent does right now and the prompts that have not entered.
func (v *View) SetInfo(i event.Info) {
	v.info = i
	v.end = v.ending()
}

// Local shows a text of the program's own for the human. It is not in the database.
func (v *View) Local(text string, tone Tone) { v.Said("", text, tone) }

// Said is Local for the result of a command, which shows above it, or alone if text is "". If an error repeats at
// once, it is counted instead.
func (v *View) Said(command, text string, tone Tone) {
	if at := v.liveStart() - 1; tone == Bad && at >= 0 {
		if b := v.blocks[at]; b.kind == local && b.tone == Bad && b.text == text && b.typed == command {
			b.times++
			b.touch()
			return
		}
	}
	v.local(&block{kind: local, text: text, tone: tone, typed: command, times: 1, group: &group{text: cmp.Or(text, command)}})
}

// Bar is what an agent did in equal stretches of time, for a line below a text.
type Bar struct {
	Name string
	Acts []agents.Act
	Text string
}

// Bars is Local for a text with bars below it. Their names are in the column of labels of 11 cells that the text has.
func (v *View) Bars(text string, bars []Bar) {
	v.local(&block{kind: local, text: text, times: 1, bars: &bars, group: &group{text: text}})
}

// local adds a block that is not in the database.
func (v *View) local(b *block) {
	if !v.follow {
		v.below++
	}
	at := v.liveStart()
	v.insert(at, []*block{b})
	v.live.start++
}

// LastAnswer returns the unwrapped source of the last answer.
func (v *View) LastAnswer() string {
	if s := v.live.answer(); s != "" {
		return s
	}
	if v.answer == nil {
		return ""
	}
	return v.answer.source()
}

// NewBelow returns how many blocks were appended below a view that is scrolled up.
func (v *View) NewBelow() int { return v.below }

// Unseen returns what the agent does while the line that says so is below a view that is scrolled up:
// `⠸ writing · 12s`. It is "" if that line shows, or the agent does nothing.
func (v *View) Unseen() string {
	i := v.info
	if v.follow || v.still || i.State != event.Running || i.Retry != nil || v.shown.to >= v.count() {
		return ""
	}
	text := canvas{now: v.now(), calm: v.calm}.spin() + " " + cells.CleanLine(does(i, v.live.on))
	if !i.Started.IsZero() {
		text += " · " + lasted(v.now().Sub(i.Started).Truncate(time.Second))
	}
	return text
}

// Animating reports whether a spinner is visible. Ages covers other changes with time.
func (v *View) Animating() bool { return v.moves }

// liveStart returns the index of the first streamed block.
func (v *View) liveStart() int {
	if v.live.on {
		return v.live.start
	}
	return len(v.blocks)
}

// clamp moves the anchor and the selection inside the blocks after these were replaced.
func (v *View) clamp() {
	if n := v.count(); v.top.i >= n {
		v.top = anchor{i: max(n-1, 0)}
	}
	if v.selected >= len(v.blocks) {
		v.selected = -1
	}
}
