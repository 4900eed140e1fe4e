package composer

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// TestSent: only an & typed as the first character is for a new agent.
func TestSent(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(b *Box)
		text   string
		starts bool
	}{
		{"typed", func(b *Box) { keys(b, "'&audit it'") }, "audit it", true},
		{"alone", func(b *Box) { keys(b, "'&'") }, "", true},
		{"two", func(b *Box) { keys(b, "'&&audit it'") }, "&&audit it", false},
		{"escaped", func(b *Box) { keys(b, `'\&audit it'`) }, "&audit it", false},
		{"a backslash", func(b *Box) { keys(b, `'\alpha'`) }, `\alpha`, false},
		{"after a blank", func(b *Box) { keys(b, "' &audit it'") }, " &audit it", false},
		{"later", func(b *Box) { keys(b, "'a & b'") }, "a & b", false},
		{"put in front", func(b *Box) { keys(b, "'audit it' home '&'") }, "audit it", true},
		{"before a paste", func(b *Box) { keys(b, "'&'"); b.Paste("audit it") }, "audit it", true},
		{"before a pasted one", func(b *Box) { keys(b, "'&'"); b.Paste("& it") }, "&& it", false},
		{"pasted", func(b *Box) { b.Paste("&audit it") }, "&audit it", false},
		{"pasted with an escape", func(b *Box) { b.Paste(`\&audit it`) }, `\&audit it`, false},
		{"recalled", func(b *Box) { b.AddHistory("&audit it"); keys(b, "up") }, "&audit it", false},
		{"found", func(b *Box) { b.AddHistory("&audit it"); keys(b, "ctrl+r 'audit' enter") }, "&audit it", false},
		{"set", func(b *Box) { b.Set("&audit it") }, "&audit it", false},
		{"away and back", func(b *Box) { b.AddHistory("old"); keys(b, "'&audit it' up down") }, "audit it", true},
		{"undone and redone", func(b *Box) { keys(b, "'&a' ctrl+_"); keys(b, "alt+_") }, "a", true},
		{"cleared and undone", func(b *Box) { keys(b, "'&a'"); b.Clear(); keys(b, "ctrl+_") }, "a", true},
		{"deleted and pasted", func(b *Box) { keys(b, "'&' backspace"); b.Paste("&a") }, "&a", false},
		{"given back", func(b *Box) { b.Again("audit it") }, "audit it", true},
		{"given back before a draft", func(b *Box) { keys(b, "'draft'"); b.Again("audit it") }, "audit it\ndraft", true},
	} {
		b := box(t)
		c.do(b)
		if text, starts := b.Sent(); text != c.text || starts != c.starts {
			t.Errorf("%s: %q, for a new agent %v", c.name, text, starts)
		}
		if c.name == "pasted with an escape" {
			continue // a stored draft does not say that it was pasted
		}
		again := box(t)
		for _, d := range Unsent(b) {
			d.Into(again)
			if text, starts := again.Sent(); text != c.text || starts != c.starts {
				t.Errorf("%s, as a stored draft %q: %q, for a new agent %v", c.name, d.Text, text, starts)
			}
		}
	}
}

// TestInvite: an empty box says what can be typed, cut to its width, with the cursor before it.
func TestInvite(t *testing.T) {
	b := box(t)
	b.Invite("Ask main\n\x1b[2J, & for a new agent")
	line := func(w int) string { return ansi.Strip(b.Lines(w, 1)[0]) }
	if got := line(80); !strings.HasPrefix(got, "› Ask main") || !strings.HasSuffix(got, "& for a new agent") || strings.ContainsAny(got, "\x1b\n") {
		t.Errorf("it shows %q", got)
	}
	if got := line(14); cells.Width(got) > 14 || !strings.HasPrefix(got, "› Ask") {
		t.Errorf("14 columns wide it shows %q", got)
	}
	if x, y := b.Cursor(); x != 2 || y != 0 || b.Value() != "" {
		t.Errorf("the cursor is at %d, %d, the text is %q", x, y, b.Value())
	}
	if keys(b, "' '"); strings.Contains(line(80), "Ask") {
		t.Errorf("with a blank typed it shows %q", line(80))
	}
}
