package transcript

import (
	"strconv"
	"strings"
	"time"

	"fantail/agents/event"
	"fantail/inbox"
	"fantail/themes"
	"fantail/ui/cells"
	"fantail/ui/markdown"
)

// terse reports whether a call shows as its title only. Until it is unfolded, what it read matters to the model alone,
// and messages have cards of their own. A change shows its lines while its turn goes on.
func (b *block) terse(folded bool) bool {
	if !folded || b.result == nil {
		return false
	}
	if b.result.Diff != "" {
		return b.over && !b.result.Error
	}
	switch b.call.Name {
	case "read_file", "list_files", "glob", "grep":
		return !b.result.Error
	}
	return b.took > 0
}

// call renders a tool call: its state and title, and its result folded to head and tail.
func (c canvas) call(b *block) []string {
	paint := c.theme.Paint
	mark, facts := c.state(b)
	var change *markdown.Diff
	counts := ""
	if b.result != nil && b.result.Diff != "" {
		change = markdown.NewDiff(b.result.Diff)
		counts = " " + change.Counts(c.theme)
	}
	title := b.call.Title
	if b.result != nil && b.result.Title != "" {
		title = b.result.Title
	}
	if title == "" {
		title = b.call.Name
	}
	title = cells.CleanLine(clip(title))
	terse := b.terse(c.folded)
	switch {
	case terse && change != nil:
		facts += " · ctrl+o"
	case terse && b.took > 0:
		facts = " · " + plural(b.took, "message") + facts
	case terse && b.result.Text != "":
		facts = " · " + lineCount(strings.Count(strings.TrimRight(b.result.Text, "\n"), "\n")+1) + facts
	}
	title = cells.Cut(title, max(c.inner()-cells.Width(counts+facts), 8))
	tool, rest, _ := strings.Cut(title, " ")
	if rest != "" {
		rest = " " + rest
	}
	lines := []string{mark + paint(themes.Tool, tool) + rest + counts + paint(themes.Dim, facts)}
	switch {
	case b.result == nil && b.task != 0 && !b.over:
		return append(lines, c.delegated(c.children[b.task])...)
	case b.result == nil && b.output != "" && !b.over:
		return append(lines, c.running(b.output)...)
	case b.result == nil:
		return lines
	case terse:
		return lines
	case change != nil:
		return append(lines, c.diff(change)...)
	}
	role := themes.Dim
	if b.result.Error {
		role = themes.Bad
	}
	text := bare(b.result.Text, b.result.Exit)
	if b.call.Name == "list_messages" {
		text = unwrapped(text)
	}
	return append(lines, c.output(text, role, excerpt{head: 2, tail: 4})...)
}

// unwrapped returns a list of messages without the envelope for the model.
func unwrapped(text string) string {
	head, list, ok := strings.Cut(text, "\n")
	_, list, _ = strings.Cut(list, "\n") // that it is data
	list, more, closed := strings.Cut(list, "\n</messages ")
	if !ok || !closed || !strings.HasPrefix(head, "<messages ") {
		return text
	}
	_, more, _ = strings.Cut(more, ">")
	return list + more
}

// bare returns a command's output without the line that repeats its exit code, which the title has.
func bare(text string, code *int) string {
	if code == nil || *code <= 0 {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "\n\r "), "[exit code "+strconv.Itoa(*code)+"]")
}

// state returns the mark before a call's title and the facts after it.
func (c canvas) state(b *block) (mark, facts string) {
	switch r := b.result; {
	case r == nil && b.over:
		return c.mark("✗", themes.Dim), " · no result"
	case r == nil && b.started.IsZero():
		return c.mark("○", themes.Dim), ""
	case r == nil:
		return c.mark(c.spin(), themes.Accent), " · " + c.since(b.started)
	case r.Error:
		return c.mark("✗", themes.Bad), exit(r.Exit) + took(r.Millis)
	case r.Lacks != "":
		return c.mark("▲", themes.Bad), " · " + cells.CleanLine(clip(r.Lacks))
	default:
		return c.mark("✓", themes.Good), exit(r.Exit) + took(r.Millis)
	}
}

// since returns how long a call has run. It counts whole seconds, so that what follows it stays in place.
func (c canvas) since(t time.Time) string { return lasted(c.now.Sub(t).Truncate(time.Second)) }

// waited is since for a wait, which may be long: it shows seconds for the first minute only.
func (c canvas) waited(t time.Time) string {
	if d := c.now.Sub(t); d >= time.Minute {
		return inbox.Age(d)
	}
	return c.since(t)
}

// took returns how long something ran, if that is worth telling.
func took(millis int64) string {
	if millis < 100 {
		return ""
	}
	return " · " + lasted(time.Duration(millis)*time.Millisecond)
}

func exit(code *int) string {
	switch {
	case code == nil || *code == 0:
		return ""
	case *code < 0: // by a signal, which the output names
		return " · ended"
	}
	return " · exit " + strconv.Itoa(*code)
}

// bar is drawn before a call's output.
func (c canvas) bar() string { return cells.Spaces(gutter) + c.theme.Paint(themes.Rule, "│") + " " }

// running returns the live tail of a command's output.
func (c canvas) running(tail string) []string {
	const most = 5
	lines := lastLines(strings.TrimRight(tail, "\n"), most)
	out := make([]string, 0, most)
	for _, l := range lines {
		out = append(out, c.bar()+c.theme.Paint(themes.Dim, cells.Cut(cells.CleanLine(clip(l)), max(c.width-gutter-2, 1))))
	}
	return out
}

// output returns a command's output or a tool's result.
func (c canvas) output(text string, role themes.Role, fold excerpt) []string {
	text = strings.TrimRight(text, "\n\r ")
	if text == "" {
		return nil
	}
	width := max(c.width-gutter-2, 1)
	var out []string
	put := func(lines []string) {
		for _, l := range strings.Split(cells.Clean(strings.Join(lines, "\n")), "\n") {
			if c.folded {
				out = append(out, c.bar()+c.theme.Paint(role, cells.Cut(l, width)))
				continue
			}
			for _, w := range cells.Wrap(l, width) {
				out = append(out, c.bar()+c.theme.Paint(role, w))
			}
		}
	}
	e := fold.of(text, c.folded)
	put(e.head)
	if e.more != "" {
		out = append(out, c.bar()+c.theme.Paint(themes.Dim, cells.Cut(e.more, width)))
		if len(e.tail) > 0 {
			put(e.tail)
		}
	}
	return out
}

// diff returns the rows of a change, folded to the first and the last ones.
func (c canvas) diff(d *markdown.Diff) []string {
	rows := d.Lay(max(c.width-gutter, 1), c.theme)
	head, tail := 16, 4
	if n := rows.Len(); !c.folded || n <= head+tail+1 {
		head, tail = n, 0
	}
	out := rows.Rows(0, head)
	if tail > 0 {
		out = append(out, c.theme.Paint(themes.Dim, cells.Cut(more(rows.Len()-head-tail), c.inner())))
		out = append(out, rows.Rows(rows.Len()-tail, rows.Len())...)
	}
	mark := c.mark(" ", themes.Rule)
	return c.rows(mark, mark, out)
}

// shell renders the human's own command.
func (c canvas) shell(b *block) []string {
	s := b.shell
	code := s.Exit
	facts := exit(&code) + took(s.Millis)
	role := themes.User
	if s.Exit != 0 {
		role = themes.Bad
	}
	title := cells.Cut(cells.CleanLine(clip(s.Command)), max(c.inner()-cells.Width(facts), 8))
	lines := []string{c.mark("!", role) + title + c.theme.Paint(themes.Dim, facts)}
	return append(lines, c.output(s.Output, themes.Text, excerpt{head: 12, tail: 8})...)
}

// ending returns the blocks at the end: what the agent does now, and the prompts that have not entered.
func (v *View) ending() []*block {
	var out []*block
	i := v.info
	switch {
	case i.Question != nil: // it shows below, in the place of the prompt box
	case i.Retry != nil, i.State == event.Waiting:
		out = append(out, &block{kind: waits})
	case i.State == event.Running:
		out = append(out, &block{kind: doing})
	case i.State == event.Queued && i.Prompt != "" && len(v.blocks) == 0:
		out = append(out, &block{kind: queued, text: i.Prompt})
	}
	for _, p := range i.Prompts {
		out = append(out, &block{kind: queued, text: p.Text, held: p.Held, then: p.Then})
	}
	return out
}

// doing renders one line: a spinner, what the agent does, and for how long. begun reports whether its reply has begun
// to come.
func (c canvas) doing(i event.Info, begun bool) []string {
	what := does(i, begun)
	if !i.Started.IsZero() {
		what += " · " + c.since(i.Started)
	}
	what = cells.CleanLine(what)
	if !c.aside {
		what += " · esc stop"
	}
	return []string{c.mark(c.spin(), themes.Accent) + c.theme.Paint(themes.Dim, cells.Cut(what, c.inner()))}
}

// waits renders what the agent waits for.
func (c canvas) waits(i event.Info) []string {
	switch {
	case i.Retry != nil:
		left := max(i.Retry.At.Sub(c.now).Round(time.Second), 0)
		text := i.Retry.Reason + " · retry in " + lasted(left) + ", attempt " + strconv.Itoa(i.Retry.Attempt) + " of " + strconv.Itoa(i.Retry.Of)
		return c.text("↻", themes.Bad, themes.Text, clipTo(text, 400))
	}
	why := i.Why
	if why == "" {
		why = "waiting"
	}
	text := clipTo(why, 400)
	if !i.Started.IsZero() {
		text += " · " + c.waited(i.Started)
	}
	return c.text("◌", themes.Dim, themes.Dim, text)
}
