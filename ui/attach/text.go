package attach

import (
	"fmt"
	"strings"
	"time"

	"fantail/ui/format"
)

// Text prints an agent's lines for people, as a log. It prints streamed text as it comes; its entry adds only what was
// not streamed.
type Text struct {
	Print func(s string) error

	reply  int     // that is streamed
	blocks []*said // its text
	open   bool    // the last output ends no line
	state  string  // the last
	some   bool    // there was one
	err    error
}

// said is the printed text of a block.
type said struct {
	block int
	text  strings.Builder
}

// Line prints a line.
func (t *Text) Line(l Line) error {
	switch l.Type {
	case DeltaLine:
		t.delta(l)
	case EntryLine:
		if l.Entry != nil {
			t.entry(l)
		}
	case VoidLine:
		if len(t.blocks) > 0 {
			t.say("· that was cut off; the reply starts again")
		}
		t.blocks = nil
	case StateLine:
		t.changed(l)
	case ErrorLine:
		t.say("✗ " + l.Error)
	case EndLine:
		t.end(l)
	}
	return t.err
}

// Break ends a line that is not ended.
func (t *Text) Break() error {
	if t.open {
		t.put("\n")
	}
	return t.err
}

// put prints s.
func (t *Text) put(s string) {
	if s == "" || t.err != nil {
		return
	}
	t.err = t.Print(s)
	t.open = !strings.HasSuffix(s, "\n")
}

// say prints lines of their own.
func (t *Text) say(s string) {
	_ = t.Break()
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	t.put(s)
}

func (t *Text) delta(l Line) {
	if l.Kind != "text" || l.Block == nil {
		return
	}
	if l.Reply != t.reply {
		t.reply, t.blocks = l.Reply, nil
	}
	if n := len(t.blocks); n == 0 || t.blocks[n-1].block != *l.Block {
		_ = t.Break()
		t.blocks = append(t.blocks, &said{block: *l.Block})
	}
	t.blocks[len(t.blocks)-1].text.WriteString(l.Text)
	t.put(l.Text)
}

// entry prints an entry, or the part of it that was not printed yet.
func (t *Text) entry(l Line) {
	if l.Reply == t.reply && l.Reply != 0 && l.Entry.Kind == "text" {
		if b := t.first(); b != nil {
			if rest, is := strings.CutPrefix(l.Entry.Text, b.text.String()); is {
				t.put(rest)
				_ = t.Break()
				return
			}
		}
	}
	t.say(l.Entry.Said())
}

// first removes and returns the first block of the reply with a text; nil: there is none.
func (t *Text) first() *said {
	for len(t.blocks) > 0 {
		b := t.blocks[0]
		if t.blocks = t.blocks[1:]; !blank(b.text.String()) {
			return b
		}
	}
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// changed prints the changes of an agent's state that matter to an attached human.
func (t *Text) changed(l Line) {
	t.some = true
	was := t.state
	if t.state = l.State; was == l.State {
		return
	}
	switch {
	case l.State == "asking":
		t.say("? it asks: " + l.Asks + " (answer it on a screen: fantail)")
	case l.State == "idle" && l.Attached != nil && l.Left != nil:
		t.say("◐ idle " + format.Clock(time.Duration(*l.Left)*time.Second))
	case l.State == "idle" && l.Attached != nil:
		t.say("◐ idle: it goes on with what it is told")
	}
}

func (t *Text) end(l Line) {
	sign := map[string]string{"done": "✓", "failed": "✗"}[l.State]
	if sign == "" {
		sign = "■"
	}
	text := sign + " " + l.State
	if l.Error != "" {
		text += ": " + l.Error
	}
	if !t.some {
		text = fmt.Sprintf("%s %s has ended already (%s); type /resume %s on a screen to continue it, or run fantail agents respawn %s to run its task again",
			sign, l.Agent, l.State, l.Agent, l.Agent)
	}
	t.say(text)
}
