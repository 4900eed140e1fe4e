package transcript

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fantail/agents/event"
	"fantail/ui/markdown"
)

// tailRate bounds how often the block under construction is rendered.
const tailRate = 100 * time.Millisecond

// stream is the reply being streamed: blocks[start:] of the view show it. start means nothing while it is off.
type stream struct {
	on      bool
	start   int
	blocks  []*liveBlock
	counted int // of its blocks in View.below
}

// liveBlock is a block of the reply.
type liveBlock struct {
	number int
	plain  kind            // thinking or summary, shown as they come; otherwise an answer
	text   []byte          // of those, the end of it if it is long
	md     markdown.Stream // of an answer
	group  *group
	shown  int    // of md.Done, as blocks of the view
	tail   *block // the last one of the view: the block under construction

	at   int    // its first block, counted from stream.start
	next int    // the first of md.Done that may be dropped next
	gap  *block // in place of those that were; nil: none
	gone int    // bytes of them, or before text
}

// plainKept is how many bytes of thinking or of a summary are stored while it comes; of those `whole` are shown.
const plainKept = 1 << 20

// add takes the next piece of a block that is plain.
func (l *liveBlock) add(s string) {
	if l.text = append(l.text, s...); len(l.text) <= 2*plainKept {
		return
	}
	from := len(l.text) - plainKept
	for !utf8.RuneStart(l.text[from]) {
		from++
	}
	l.gone += from
	l.text = append(l.text[:0], l.text[from:]...)
}

// end returns the end of a plain block's text, about most bytes.
func (l *liveBlock) end(most int) string {
	from := max(len(l.text)-most, 0)
	for from > 0 && from < len(l.text) && !utf8.RuneStart(l.text[from]) {
		from++
	}
	if l.gone+from == 0 || most < whole {
		return string(l.text[from:])
	}
	return leftOut(l.gone+from) + "\n" + string(l.text[from:])
}

// leftOut replaces the text that is dropped while a reply streams.
func leftOut(bytes int) string {
	return fmt.Sprintf("… %s bytes are left out here; they show when the reply is over …", thousands(bytes))
}

// rawKept is how many blocks of a text that is too long to be a page are stored while it comes, about 4 MB: a reader
// who follows sees its end, and the dropped part shows again when the reply is over.
const rawKept = 512

// source returns the unwrapped text so far.
func (l *liveBlock) source() string {
	if l.plain != answer {
		return l.end(len(l.text) + whole)
	}
	var b strings.Builder
	for i, d := range l.md.Done() {
		if l.gap != nil && i == l.next {
			b.WriteString(l.gap.text + "\n")
		}
		b.WriteString(d.Source)
	}
	t, rest := l.md.Tail()
	b.WriteString(t.Source)
	b.WriteString(rest)
	return b.String()
}

// answer returns the last answer being streamed, "" if there is none.
func (s *stream) answer() string {
	for i := len(s.blocks) - 1; i >= 0; i-- {
		if s.blocks[i].plain == answer {
			return s.blocks[i].source()
		}
	}
	return ""
}

// Delta shows the next piece of the reply.
func (v *View) Delta(d event.Delta) {
	if !v.live.on {
		v.live = stream{on: true, start: len(v.blocks)}
	}
	s := &v.live
	var l *liveBlock
	if n := len(s.blocks); n > 0 && s.blocks[n-1].number == d.Block {
		l = s.blocks[n-1]
	} else {
		l = &liveBlock{number: d.Block, plain: answer, at: len(v.blocks) - s.start}
		switch {
		case d.Thinking:
			l.plain = thinking
		case d.Summary:
			l.plain = summary
		}
		l.group = &group{live: l}
		l.tail = &block{kind: l.plain, group: l.group, first: true}
		s.blocks = append(s.blocks, l)
		v.blocks = append(v.blocks, l.tail)
		if !v.follow {
			v.below++
			s.counted++
		}
	}
	if !v.follow && v.below == 0 { // it began in the visible part and goes on below
		v.below, s.counted = 1, 1
	}
	if l.plain != answer {
		l.add(d.Text)
		l.tail.touch()
		return
	}
	l.md.Write(d.Text)
	v.grow(l)
}

// grow makes blocks of the complete parts of l, which is the view's last block.
func (v *View) grow(l *liveBlock) {
	done := l.md.Done()
	tail, rest := l.md.Tail()
	if l.shown < len(done) {
		v.blocks = v.blocks[:len(v.blocks)-1]
		for _, d := range done[l.shown:] {
			b := answered([]markdown.Block{d})
			b.group, b.first = l.group, l.shown == 0
			l.shown++
			v.inherit(b, l.tail)
			l.tail = &block{kind: answer, group: l.group}
			v.blocks = append(v.blocks, b)
		}
		v.blocks = append(v.blocks, l.tail)
		v.letGo(l)
	}
	l.tail.md, l.tail.text = []markdown.Block{l.md.Live()}, tail.Source+rest
	l.tail.touch()
}

// letGo drops the middle of a text that is too long, except what a reader who has scrolled up sees or has below.
func (v *View) letGo(l *liveBlock) {
	done := l.md.Done()
	for ; len(done)-l.next > rawKept; l.next++ {
		at := v.live.start + l.at + l.next
		if !v.follow && at >= v.top.i {
			return
		}
		if done[l.next].Kind != markdown.Raw {
			continue
		}
		b := v.blocks[at]
		l.gone += len(done[l.next].Source)
		l.md.Forget(l.next)
		b.touch()
		b.forget()
		if b.md = nil; l.gap == nil {
			l.gap = b
		} else {
			b.hidden = true
		}
	}
	if l.gap != nil {
		l.gap.text = leftOut(l.gone)
		l.gap.touch()
	}
}

// closeLive removes the streamed blocks from the view and returns them.
func (v *View) closeLive() []*block {
	if !v.live.on {
		return nil
	}
	old := slices.Clone(v.blocks[v.live.start:])
	clear(v.blocks[v.live.start:])
	v.blocks = v.blocks[:v.live.start]
	return old
}

// Void removes what was streamed.
func (v *View) Void() {
	v.closeLive()
	v.below = max(v.below-v.live.counted, 0)
	v.live = stream{}
	v.clamp()
}

// Output shows the latest tail of a running command.
func (v *View) Output(o event.Output) {
	if b := v.calls[o.Call]; b != nil && b.result == nil {
		b.output = o.Tail
		b.touch()
	}
}
