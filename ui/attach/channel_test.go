package attach

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/inbox"
	"fantail/tools"
)

// TestInputOf: a program's line is understood in both spellings, and the error says what is wrong with another.
// Spec: C-11, C-12.
func TestInputOf(t *testing.T) {
	for _, c := range []struct{ line, text, wrong string }{
		{`{"type":"user_message","text":"go on"}`, "go on", ""},
		{`{"type":"UserMessage","text":"go\non","more":1}`, "go\non", ""},
		{`{"type":"end_input"}`, "", ""},
		{`{"type":"EndInput","text":"x"}`, "", ""},
		{`{"type":"user_message"}`, "", "needs a text"},
		{`{"type":"user_message","text":" "}`, "", "needs a text"},
		{`{"type":"user_message","text":7}`, "", "not understood"},
		{`{"text":"go on"}`, "", "no type"},
		{`{"type":"entry"}`, "", "not known"},
		{`{"type":"end_input"} x`, "", "not understood"},
		{`go on`, "", "not understood"},
		{`[]`, "", "not understood"},
	} {
		in, err := InputOf([]byte(c.line))
		if in.Text != c.text || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %q, %v", c.line, in.Text, err)
		}
	}
}

// Lines are split wherever they end; one that is too long is skipped to its end, and no further.
func TestReadLine(t *testing.T) {
	most := strings.Repeat("x", MaxLine)
	r := bufio.NewReader(strings.NewReader("one\r\n\ntwo\n" + most + "\r\n" + most + "y\nthree\n" + strings.Repeat(most, 3) + "\nlast"))
	for _, want := range []struct {
		line string
		err  error
	}{
		{"one", nil},
		{"", nil},
		{"two", nil},
		{most, nil},
		{most[:beginning], ErrLong},
		{"three", nil},
		{most[:beginning], ErrLong},
		{"last", nil},
		{"", io.EOF},
	} {
		if line, err := ReadLine(r); string(line) != want.line || !errors.Is(err, want.err) {
			t.Errorf("a line of %d bytes (%.20q), %v; want %d (%.20q), %v", len(line), line, err, len(want.line), want.line, want.err)
		}
	}
}

// days returns the events of an agent's life, in which every type of line comes.
func days(now time.Time) []event.Event {
	entry := func(seq int64, e history.Entry) history.Entry {
		e.Seq, e.At = seq, now
		return e
	}
	exit := 1
	idle := event.Info{Name: "auth", State: event.Idle, Await: &event.Await{For: 5 * time.Minute, Until: now.Add(251500 * time.Millisecond)}}
	attached := idle
	attached.Await = &event.Await{For: 5 * time.Minute, Attached: 2}
	return []event.Event{
		event.Appended{Entries: []history.Entry{
			entry(1, history.Entry{Kind: history.EntryPrompt, Text: "review\x1b[2J the login", By: "user"}),
			entry(2, history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: "c1", Name: "bash", Title: "make", Args: json.RawMessage(`{"command":"make"}`)}}),
			entry(3, history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: "c1", Name: "bash", Text: "no rule", Error: true, Exit: &exit}}),
			entry(4, history.Entry{Kind: history.EntryShell, Shell: &history.Shell{Command: "ls", Output: "a\nb\n"}}),
			entry(5, history.Entry{Kind: history.EntryMessage, Messages: []inbox.Message{{ID: 7, From: "lint", Subject: "clean"}}}),
		}},
		event.Changed{Info: event.Info{Name: "auth", State: event.Running, Doing: "streaming"}},
		event.Changed{Info: event.Info{Name: "auth", State: event.Running, Doing: "streaming", Spent: event.Spent{Steps: 1}}}, // says nothing new
		event.Void{}, // of nothing
		event.Delta{Thinking: true, Text: "hm"},
		event.Delta{Block: 1, Text: "caf\xc3"},
		event.Delta{Block: 1, Text: "\xa9 is"},
		event.Void{},
		event.Delta{Text: "caf"},
		event.Delta{Text: "é"},
		event.Output{Call: "c2", Tail: "ok\n"},
		event.Appended{Live: true, Entries: []history.Entry{
			entry(6, history.Entry{Kind: history.EntryText, Text: "café is open"}), entry(7, history.Entry{Kind: history.EntryNotice, Text: "noted"}),
		}},
		event.Changed{Info: event.Info{Name: "auth", State: event.Asking, Question: &event.Question{Asks: &tools.Question{Text: "which?"}}}},
		event.Changed{Info: idle},
		event.Changed{Info: attached},
		event.Delta{Summary: true, Text: "in short"},
		event.Appended{Live: true},
		event.Appended{Entries: []history.Entry{
			entry(8, history.Entry{Kind: history.EntryEnded, End: &history.End{Outcome: history.OutFailed, Error: "no key"}}),
		}},
		event.Changed{Info: event.Info{Name: "auth", State: event.Failed, Outcome: history.OutFailed, Why: "no key"}},
	}
}

// The lines of every type are as documented: readers rely on each name.
// Spec: C-11.
func TestTeller(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	teller := Teller{Now: func() time.Time { return now }}
	var b strings.Builder
	for _, e := range days(now) {
		for _, l := range teller.Lines(e) {
			if err := WriteJSON(&b, l); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := WriteJSON(&b, Line{Type: ErrorLine, Error: "it reads nothing", Text: "go on"}); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"entry","entry":{"seq":1,"at":"2026-11-23T09:00:00Z","kind":"prompt","by":"user","text":"review\u001b[2J the login"}}
{"type":"entry","entry":{"seq":2,"at":"2026-11-23T09:00:00Z","kind":"call","tool":"bash","call":"c1","title":"make","input":{"command":"make"}}}
{"type":"entry","entry":{"seq":3,"at":"2026-11-23T09:00:00Z","kind":"result","text":"no rule","tool":"bash","call":"c1","is_error":true}}
{"type":"entry","entry":{"seq":4,"at":"2026-11-23T09:00:00Z","kind":"shell","text":"a\nb\n","command":"ls"}}
{"type":"entry","entry":{"seq":5,"at":"2026-11-23T09:00:00Z","kind":"message","messages":[{"id":7,"from":"lint","gist":"clean"}]}}
{"type":"state","agent":"auth","state":"running","doing":"streaming"}
{"type":"delta","reply":1,"block":0,"kind":"thinking","text":"hm"}
{"type":"delta","reply":1,"block":1,"kind":"text","text":"caf"}
{"type":"delta","reply":1,"block":1,"kind":"text","text":"é is"}
{"type":"void","reply":1}
{"type":"delta","reply":2,"block":0,"kind":"text","text":"caf"}
{"type":"delta","reply":2,"block":0,"kind":"text","text":"é"}
{"type":"output","call":"c2","tail":"ok\n"}
{"type":"entry","reply":2,"entry":{"seq":6,"at":"2026-11-23T09:00:00Z","kind":"text","text":"café is open"}}
{"type":"entry","entry":{"seq":7,"at":"2026-11-23T09:00:00Z","kind":"notice","text":"noted"}}
{"type":"state","agent":"auth","state":"asking","asks":"which?"}
{"type":"state","agent":"auth","state":"idle","seconds_left":252,"attached":0}
{"type":"state","agent":"auth","state":"idle","attached":2}
{"type":"delta","reply":3,"block":0,"kind":"summary","text":"in short"}
{"type":"void","reply":3}
{"type":"entry","entry":{"seq":8,"at":"2026-11-23T09:00:00Z","kind":"ended","text":"no key","outcome":"failed"}}
{"type":"end","agent":"auth","state":"failed","outcome":"failed","error":"no key"}
{"type":"error","text":"go on","error":"it reads nothing"}
`
	got, lines := strings.Split(b.String(), "\n"), strings.Split(want, "\n")
	for n := range max(len(got), len(lines)) {
		switch {
		case n >= len(got):
			t.Errorf("missing: %s", lines[n])
		case n >= len(lines) || got[n] != lines[n]:
			t.Errorf("line %d is\n%s", n+1, got[n])
		}
	}
}

// The text for people is the same, as a log, each word once.
func TestText(t *testing.T) {
	now := time.Now()
	teller := Teller{Now: func() time.Time { return now }}
	var b strings.Builder
	text := Text{Print: func(s string) error { b.WriteString(s); return nil }}
	for _, e := range days(now) {
		for _, l := range teller.Lines(e) {
			if err := text.Line(l); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := "\n› review\x1b[2J the login\n● bash make\n  ✗ no rule\n! ls\na\nb\n✉ #7 from lint: clean\n" +
		"café is\n· that was cut off; the reply starts again\ncafé is open\n· noted\n? it asks: which? (answer it on a screen: fantail)\n◐ idle 4:12\n" +
		"■ no key\n✗ failed: no key\n"
	if b.String() != want {
		t.Errorf("it is printed as\n%s\nwant\n%s", b.String(), want)
	}

	// Nothing of it was streamed: it has ended already.
	b.Reset()
	text = Text{Print: text.Print}
	if err := text.Line(Line{Type: EndLine, Agent: "auth", State: "done"}); err != nil || !strings.Contains(b.String(), "/resume auth") {
		t.Errorf("%v, %q", err, b.String())
	}
}

// Whatever comes between the pieces of a reply, and however its entries relate to them, no word of it is missing or
// repeated.
func TestText_blocks(t *testing.T) {
	zero, one, two := 0, 1, 2
	delta := func(block *int, s string) Line {
		return Line{Type: DeltaLine, Reply: 4, Block: block, Kind: "text", Text: s}
	}
	entry := func(reply int, kind, s string) Line {
		return Line{Type: EntryLine, Reply: reply, Entry: &Entry{Kind: kind, Text: s}}
	}
	for _, c := range []struct {
		name  string
		lines []Line
		want  string
	}{
		{"whole", []Line{delta(&zero, "a b"), entry(4, "text", "a b")}, "a b\n"},
		{"attached in the middle", []Line{delta(&zero, "a"), entry(4, "text", "a b")}, "a b\n"},
		{"with a blank block", []Line{delta(&zero, "\n"), delta(&one, "a"), delta(&two, "b"), entry(4, "text", "a"), entry(4, "text", "b")}, "\na\nb\n"},
		{"interrupted", []Line{delta(&zero, "a "), entry(0, "notice", "n"), delta(&zero, "b"), entry(4, "text", "a b")}, "a \n· n\nb\n"},
		{"interrupted at its end", []Line{delta(&zero, "a"), entry(0, "notice", "n"), entry(4, "text", "a")}, "a\n· n\n"},
		{"its beginning unknown", []Line{delta(&zero, "… 9 bytes before …\nb"), entry(4, "text", "a b")}, "… 9 bytes before …\nb\na b\n"},
		{"not streamed", []Line{delta(&zero, "a"), entry(4, "text", "a"), entry(0, "text", "a")}, "a\na\n"},
		{"with line ends", []Line{delta(&zero, "a\n"), entry(4, "text", "a\n")}, "a\n"},
	} {
		var b strings.Builder
		text := Text{Print: func(s string) error { b.WriteString(s); return nil }}
		for _, l := range c.lines {
			if err := text.Line(l); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, b.String(), c.want)
		}
	}
}
