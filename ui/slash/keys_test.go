package slash

import (
	"strings"
	"testing"

	"fantail/ui/manual"
)

// TestManualListsTheKeys holds the manual's tables of keys against the one that the sheet shows.
func TestManualListsTheKeys(t *testing.T) {
	page, _ := manual.Find("keys")
	for mark, place := range map[string]Here{"everywhere": 0, "box": InBox, "tab": InTab} {
		_, rest, ok := strings.Cut(page.Text, "<!-- "+mark+" -->\n")
		table, _, closed := strings.Cut(rest, "<!-- /"+mark+" -->")
		if want := KeyTable(place); !ok || !closed || table != want {
			t.Errorf("between <!-- %s --> and its end, keys.md must say:\n%s", mark, want)
		}
	}
}

// TestSheet: a place has the keys that work there and no others, and few enough for one look.
func TestSheet(t *testing.T) {
	for _, c := range []struct {
		name      string
		here      Here
		has, lack string
	}{
		{"main alone", Types | InBox, "send, new line, run a shell command, inbox, permission mode", "go to a tab, stop the agent, answer a question, switch view, name a document, redraw"},
		{"main busy among others", Types | InBox | Many | Works | Asks | AskAbove, "go to a tab, stop the agent, answer a question, answer the question", "switch view, put it off"},
		{"an agent's tab", InTab | Lives | Tells | Many, "message the agent, run a command as main, switch view, twice: wrap up, go to a tab", "send, name a file"},
		{"an observer that ended", InTab | Many, "switch view, copy what it shows", "message the agent, twice: wrap up"},
		{"the line to an agent", Types | Lives | Tells | Many, "send, name a file", "run a command, run a command as main, switch view"},
	} {
		does := map[string]bool{}
		rows := Sheet(c.here)
		for _, r := range rows {
			does[r.Right] = true
			if len(r.Right) > 22 || strings.Contains(r.Left, ", ") {
				t.Errorf("%s: %q, %q is too long", c.name, r.Left, r.Right)
			}
		}
		if len(rows) < 12 || len(rows) > 27 {
			t.Errorf("%s: %d keys", c.name, len(rows))
		}
		for s := range strings.SplitSeq(c.has, ", ") {
			if !does[s] {
				t.Errorf("%s: %q is not there", c.name, s)
			}
		}
		for s := range strings.SplitSeq(c.lack, ", ") {
			if does[s] {
				t.Errorf("%s: %q is there", c.name, s)
			}
		}
	}
}

// TestSentences: each command says what it does in one short sentence without an end.
func TestSentences(t *testing.T) {
	for _, c := range commands() {
		if c.help == "" || len(c.help) > 60 || strings.ContainsAny(c.help[len(c.help)-1:], ".;:") || strings.Contains(c.help, "--") {
			t.Errorf("/%s: %q is no short sentence", c.name, c.help)
		}
	}
}

// TestBare: a command runs by its name alone if one of its forms has no argument that is needed.
func TestBare(t *testing.T) {
	var needs []string
	for _, c := range commands() {
		if !bare(c.args) {
			needs = append(needs, c.name)
		}
	}
	want := "push retry respawn remind watch tell send messages reply kill end resume view wrapup"
	if got := strings.Join(needs, " "); got != want {
		t.Errorf("these need arguments: %s; want %s", got, want)
	}
}

// TestLine: the line of keys has what works at a place, whole words only, and the last one at any width.
func TestLine(t *testing.T) {
	box := Types | InBox
	for _, c := range []struct {
		here Here
		w    int
		want string
	}{
		{box, 120, "F2 fan   F3 inbox   F4 queue   shift+tab mode   ? keys"},
		{box | Many | Mail, 120, "F2 fan   F3 inbox   F4 queue   alt+1…9 tabs   alt+c collect   shift+tab mode   ? keys"},
		{box | Many | Mail, 80, "F2 fan   F3 inbox   F4 queue   alt+1…9 tabs   alt+c collect   ? keys"},
		{box | Many, 37, "F2 fan   F3 inbox   F4 queue   ? keys"},
		{box | Many, 36, "F2 fan   F3 inbox   ? keys"},
		{box | Many | Typed, 120, "enter send   alt+enter new line   @ file   ctrl+g editor"},
		{InTab | Lives | Many, 120, "1…4 views   y copy   F2 fan   F3 inbox   F4 queue   alt+1…9 tabs   shift+tab mode   ? keys"},
		{box, 4, "? k…"},
	} {
		if got := Line(c.here, c.w); got != c.want {
			t.Errorf("in %d cells: %q, want %q", c.w, got, c.want)
		}
	}
}
