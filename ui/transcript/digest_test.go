package transcript

import (
	"strings"
	"testing"

	"fantail/agents/history"
	"fantail/inbox"
)

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"Two TODOs are open. The other can wait.": "Two TODOs are open.",
		"# Found\n\nTwo **paths** drop `err`!":    "Two paths drop err!",
		"## Only this":                            "Only this",
		"```\nexit 3\n```":                        "exit 3",
		"- a.go:9: see v1.2. Then go on":          "a.go:9: see v1.2. Then go on",
		"It took approx. five minutes":            "It took approx. five minutes",
		"1. First this. Then that":                "1. First this.",
		"-5 degrees":                              "-5 degrees",
		"":                                        "",
	} {
		if got := sentence(text); got != want {
			t.Errorf("sentence(%q) = %q, want %q", text, got, want)
		}
	}
}

// collected are three messages that a human took at once.
func collected() history.Entry {
	return history.Entry{Seq: 4, Kind: history.EntryMessage, By: "check", At: noon, Tokens: 1412, Messages: []inbox.Message{
		{ID: 7, From: "todo", Kind: inbox.Result, Task: 1, Outcome: "completed", Subject: "list the TODOs", Body: "Two are open. One matters.", Created: noon},
		{ID: 8, From: "staging\x1b[31m", Kind: inbox.Failure, Task: 2, Outcome: "failed", Error: "the key was rejected (401)", Body: "so far", Created: noon},
		{ID: 9, Kind: inbox.Mail, Subject: "build 812", Body: "green", Created: noon},
	}, Spent: []history.Spent{{Millis: 33_200, Cost: 12_000}, {Millis: 400}, {}}}
}

// TestDigest: messages taken at once are one line each, with what was spent on them, at every width.
func TestDigest(t *testing.T) {
	v, _ := view(t)
	v.Append([]history.Entry{collected()})
	v.Hint("enter open · u undo")
	want := strings.Join([]string{
		"▌ 3 messages collected  1,412 tokens · $0.01                           enter open · u undo",
		"▌ ✓ todo     Two are open.                                                 #7  $0.01 · 33s",
		"▌ ✗ staging  the key was rejected (401)                                    #8  0.4s",
		"▌ ✉ outside  external · build 812                                          #9",
	}, "\n")
	if got := plain(settled(v, 90, 4)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := plain(settled(v, 40, 4)); !strings.Contains(got, "▌ ✗ staging  the key was rejected (401)") || !strings.HasPrefix(got, "▌ 3 messages collected            u undo\n") {
		t.Errorf("on a narrow screen:\n%s", got)
	}
	if v.Ages() != 0 {
		t.Errorf("the screen wakes in %s for an age that does not show", v.Ages())
	}
	if id, ok := v.Click(10, 2); !ok || id != 8 {
		t.Errorf("a click on the second message opens %d", id)
	}
	v.SelectTaken()
	if ids := v.Opens(); len(ids) != 1 || ids[0] != 7 {
		t.Errorf("Enter opens %v, want 7", ids)
	}
	v.unfold()
	if got := plain(settled(v, 90, 16)); !strings.Contains(got, "✉ from todo · #7 · just now · completed · $0.01 · 33s") || !strings.Contains(got, "One matters.") || strings.Contains(got, "so far") {
		t.Errorf("the first one is not the only one unfolded:\n%s", got)
	}
}

// TestTaken: keys act on what was taken last until something follows it or it was put back, and never on what the agent
// took.
func TestTaken(t *testing.T) {
	v, _ := view(t)
	e := collected()
	e.By = "turn"
	v.Append([]history.Entry{e})
	if n := v.Taken(); n != 0 || strings.Contains(plain(settled(v, 90, 20)), "collected") {
		t.Errorf("%d messages that entered a turn can be put back", n)
	}
	v.Append([]history.Entry{collected()})
	if n := v.Taken(); n != 3 {
		t.Errorf("Taken = %d, want 3", n)
	}
	v.Append([]history.Entry{{Seq: 6, Kind: history.EntryPrompt, Text: "go on", At: noon}})
	v.Hint("u undo")
	if n := v.Taken(); n != 0 || strings.Contains(plain(settled(v, 90, 40)), "u undo") {
		t.Errorf("Taken = %d below a prompt", n)
	}
	one := collected()
	one.Seq, one.Messages, one.Spent = 7, one.Messages[:1], nil
	v.Append([]history.Entry{one})
	v.Hint("u undo")
	if got := plain(settled(v, 90, 40)); v.Taken() != 1 || !strings.Contains(got, "completed · 1,412 tokens") || !strings.Contains(got, "u undo") {
		t.Errorf("one message, of which %d can be put back, is no card with the key:\n%s", v.Taken(), got)
	}
	v.Append([]history.Entry{{Seq: 8, Kind: history.EntryWithdrawn, Withdraws: 7, Text: "1 message went back.", At: noon}})
	if n := v.Taken(); n != 0 {
		t.Errorf("Taken = %d after it was put back", n)
	}
}
