package transcript

import (
	"fantail/themes"
	"fantail/ui/markdown"
)

// ahead is how many blocks above and below the visible ones are rendered too.
const ahead = 8

// Job is markdown to be rendered off the interface's goroutine: Run it in a command and give its result to Rendered.
type Job struct {
	md    *markdown.Renderer
	theme *themes.Theme
	items []item
}

// item is one block's markdown.
type item struct {
	block *block
	parts []markdown.Block
	from  string // the source of the first
	width int
	lines [][]string
}

// Done is the result of a job.
type Done struct{ job Job }

// Run renders. Any goroutine may call it.
func (j Job) Run() Done {
	for i := range j.items {
		it := &j.items[i]
		for _, p := range it.parts {
			it.lines = append(it.lines, j.md.Render(p, it.width, j.theme))
		}
	}
	return Done{j}
}

// Jobs returns what must be rendered for blocks that became visible or whose live text grew; each once. There are none
// while the width changes.
func (v *View) Jobs() []Job {
	if v.w <= 0 || v.Settling(v.now()) > 0 {
		return nil
	}
	job := Job{md: v.md, theme: v.theme}
	for i := max(v.shown.from-ahead, 0); i < min(v.shown.to+ahead, len(v.blocks)); i++ {
		b := v.blocks[i]
		if (b.kind == message && !b.listed() || b.kind == memory) && v.shown.has(i) {
			v.parts(b)
		}
		if len(b.md) == 0 {
			continue
		}
		want, d := b.wants(v), v.warmed(b)
		d.fit(want)
		l := b.group.live
		tail := l != nil && b == l.tail
		if d.fancy != nil && d.shape == want && d.rendered == b.source() && (tail || !d.draft) {
			continue
		}
		if tail {
			now := v.now()
			if b.md[0].Source == "" || d.asked == want || d.fancy != nil && now.Sub(v.tailDone) < tailRate {
				continue
			}
			v.tailDone = now
		} else if d.asked == want {
			continue
		}
		d.asked = want
		job.items = append(job.items, item{block: b, parts: b.md, from: b.source(), width: want.width})
	}
	if len(job.items) == 0 {
		return nil
	}
	return []Job{job}
}

// Rendered stores a job's result, and reports whether it changes more than text that grows anyway. It drops an
// outdated result.
func (v *View) Rendered(d Done) (changed bool) {
	for _, it := range d.job.items {
		b := it.block
		got := shape{it.width, d.job.theme, len(it.parts)}
		if b.drawn != nil && b.drawn.asked == got {
			b.drawn.asked = shape{}
		}
		if got.theme != v.theme || got.width != v.inner(b) || got.parts != len(b.md) {
			continue
		}
		v.warmed(b).put(rendering{it.lines, got, it.from, it.from != it.parts[0].Source})
		b.touch()
		changed = changed || b.group.live == nil || b.group.live.tail != b
	}
	return changed
}

// warmed returns the drawing of a block that is visible, or nearly.
func (v *View) warmed(b *block) *drawing {
	if b.drawn == nil {
		b.drawn = &drawing{}
		v.warm = append(v.warm, b)
	}
	b.drawn.seen = v.frame
	return b.drawn
}

// sweep drops the drawings of blocks that were not shown for long.
func (v *View) sweep() {
	const most, long = 400, 100 // blocks, frames
	if len(v.warm) <= most {
		return
	}
	rest := v.warm[:0]
	for _, b := range v.warm {
		if seen := b.drawn.seen; seen+long < v.frame || len(v.warm) > 4*most && seen < v.frame {
			b.cool()
			continue
		}
		rest = append(rest, b)
	}
	clear(v.warm[len(rest):])
	v.warm = rest
}
