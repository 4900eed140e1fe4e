package composer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fantail/ui/cells"
)

// commands is a source like the interface's.
func commands(trigger, line, word string) []Item {
	switch trigger {
	case "/":
		return []Item{
			{Insert: "push", Label: "/push", Help: "queue a task"},
			{Insert: "run", Label: "/run", Help: "start queued tasks"},
			{Insert: "queue", Label: "/queue", Help: "show the queue"},
			{Insert: "receive", Label: "/receive", Help: "take one message"},
			{Insert: "check", Label: "/check", Help: "take all messages"},
			{Insert: "inbox", Label: "/inbox", Help: "show the inbox"},
			{Insert: "messages", Label: "/messages", Help: "next, show"},
			{Insert: "kill", Label: "/kill", Help: "end an agent"},
			{Insert: "model", Label: "/model", Help: "choose a model"},
			{Insert: "theme", Label: "/theme", Help: "choose a theme"},
			{Insert: "help", Label: "/help", Help: "keys and commands"},
			{Insert: "quit", Label: "/quit", Help: "leave"},
		}
	case "@":
		return []Item{
			{Insert: "ui/app.go"},
			{Insert: "ui/dialog/dialog.go"},
			{Insert: "main.go"},
			{Insert: "日本/ファイル.md"},
			{Insert: "evil\x1b[2J.go"},
			{Insert: "build/"},
		}
	case " ":
		switch {
		case strings.HasPrefix(line, "/push "):
			return []Item{{Insert: "model=", Help: "which model"}, {Insert: "name="}, {Insert: "timeout="}}
		case strings.HasPrefix(line, "/kill "), strings.HasPrefix(line, "/receive "):
			return []Item{{Insert: "auth"}, {Insert: "tests"}}
		}
	}
	return nil
}

// offered lists the labels of an open list, the chosen one marked.
func offered(b *Box) string {
	var out []string
	for i, h := range b.list.hits {
		s := h.label
		if i == b.list.at {
			s = ">" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, offer, value string }{
		{"'/pu'", ">/push", "/pu|"},
		{"'/q'", ">/quit /queue", "/q|"},
		{"'/q' down", "/quit >/queue", "/q|"},
		{"'/q' down down", ">/quit /queue", "/q|"},
		{"'/q' up tab", "", "/queue |"},
		{"'/pu' tab", ">model= name= timeout=", "/push |"},
		{"'/che' enter", "", "/che|"},
		{"'/q' down enter", "", "/queue |"},
		{"'/che' tab", "", "/check |"},
		{"'/zzz'", "", "/zzz|"},
		{"'say /pu'", "", "say /pu|"},
		{"'a' shift+enter '/pu'", "", "a\n/pu|"},
		{"'/q' esc", "", "/q|"},
		{"'/q' esc 'u'", "", "/qu|"},
		{"'/q' esc tab", ">/quit /queue", "/q|"},
		{"'/q' esc ' @ma'", ">main.go", "/q @ma|"},
		{"'see @uidia'", ">ui/dialog/dialog.go", "see @uidia|"},
		{"'see @uidia' tab", "", "see @ui/dialog/dialog.go |"},
		{"'see (@main' enter", "", "see (@main.go |"},
		{"'me@main'", "", "me@main|"},
		{"'see @uidia please' alt+b left left", ">ui/dialog/dialog.go", "see @uidi|a please"},
		{"'see @uidia please' alt+b left left tab", "", "see @ui/dialog/dialog.go |please"},
		{"'@bui' tab", "", "@build/|"},
		{"'/kill '", ">auth tests", "/kill |"},
		{"'/kill te' tab", "", "/kill tests |"},
		{"'/kill ' down tab", "", "/kill tests |"},
		{"'/push name=x ti' enter", "", "/push name=x timeout=|"},
		{"'/q' backspace backspace", "", "|"},
		{"'@' ctrl+u", "", "|"},
	} {
		b := New(theme(t), commands, "› ")
		keys(b, c.script)
		if got := offered(b); got != c.offer {
			t.Errorf("%s: offers %q, want %q", c.script, got, c.offer)
		}
		if got := marked(b); got != c.value {
			t.Errorf("%s: got %q, want %q", c.script, got, c.value)
		}
	}
}

// TestEnterSendsWhatIsComplete: Enter completes only what needs it.
func TestEnterSendsWhatIsComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		intent Intent
	}{
		{"'/check' enter", Submit},
		{"'/che' enter", Submit}, // what was typed, not what resembles it
		{"'/che' down enter", None},
		{"'/receive ' enter", Submit},
		{"'/receive a' enter", None},
		{"'/receive ' down enter", None},
		{"'/push fix tmo' enter", Submit}, // no argument begins so
		{"'see @main.go' enter", Submit},
		{"'see @main' enter", None},
		{"'/q' esc enter", Submit},
	} {
		b := New(theme(t), commands, "› ")
		if intent, taken := keys(b, c.script); intent != c.intent || !taken {
			t.Errorf("%s: got %v %v, want %v", c.script, intent, taken, c.intent)
		}
	}
}

func TestEscClosesOnlyTheList(t *testing.T) {
	t.Parallel()
	b := New(theme(t), commands, "› ")
	keys(b, "'/q'")
	if _, taken := b.Key(press("esc")); !taken || b.Popup(80, 8) != nil {
		t.Fatal("the first Esc does not close the list")
	}
	if _, taken := b.Key(press("esc")); taken {
		t.Fatal("the second Esc is taken")
	}
}

func TestSourceSeesTriggerLineWord(t *testing.T) {
	t.Parallel()
	var got string
	b := New(theme(t), func(trigger, line, word string) []Item {
		got = fmt.Sprintf("%q %q %q", trigger, line, word)
		return nil
	}, "› ")
	for _, c := range []struct{ script, want string }{
		{"'/pu'", `"/" "/pu" "pu"`},
		{"'sh na'", `" " "/push na" "na"`},
		{"' @ui/'", `"@" "/push na @ui/" "ui/"`},
	} {
		keys(b, c.script)
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.script, got, c.want)
		}
	}
}

func TestPopupScrollsAndFits(t *testing.T) {
	t.Parallel()
	b := New(theme(t), commands, "› ")
	keys(b, "'/'")
	for i := range 30 {
		lines := b.Popup(40, 20)
		if len(lines) != listRows {
			t.Fatalf("%d lines", len(lines))
		}
		chosen := 0
		for _, l := range lines {
			if cells.Width(l) != cells.Width(lines[0]) || cells.Width(l) > 40 {
				t.Fatalf("widths differ: %q", l)
			}
			if strings.Contains(ansi.Strip(l), b.list.hits[b.list.at].label) {
				chosen++
			}
		}
		if chosen != 1 {
			t.Fatalf("step %d: the chosen one is not in view", i)
		}
		keys(b, "down")
	}
	if got := b.Popup(40, 3); len(got) != 3 {
		t.Fatalf("%d lines of 3", len(got))
	}
	b.Set("")
	keys(b, "'@evil'")
	for _, l := range b.Popup(40, 8) {
		if strings.Contains(ansi.Strip(l), "\x1b") || !strings.Contains(ansi.Strip(l), "evil") {
			t.Fatalf("got %q", l)
		}
	}
}

// TestPopupShowsArguments: the arguments stand in the row of the chosen candidate alone, after its help, and all helps
// begin in the same column.
func TestPopupShowsArguments(t *testing.T) {
	t.Parallel()
	b := New(theme(t), func(string, string, string) []Item {
		return []Item{{Insert: "run", Label: "/run", Help: "start it", Args: "[N]"}, {Insert: "schedule", Label: "/schedule", Help: "plan it", Args: "WHEN"}}
	}, "› ")
	keys(b, "'/'")
	rows := func() string {
		var all []string
		for _, l := range b.Popup(40, 8) {
			all = append(all, strings.TrimRight(ansi.Strip(l), " "))
		}
		return strings.Join(all, "\n")
	}
	if got, want := rows(), "│ /run       start it   [N]\n│ /schedule  plan it"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	keys(b, "down")
	if got, want := rows(), "│ /run       start it\n│ /schedule  plan it   WHEN"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
