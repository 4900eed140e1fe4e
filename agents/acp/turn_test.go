package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"fantail/agents/llm"
)

// says has a reply hear updates as they come over the wire.
func says(r *turn, updates ...string) (shown string) {
	for _, text := range updates {
		_, u := ParseUpdate(json.RawMessage(`{"update":` + text + `}`))
		r.apply(u, func(llm.Part) {}, func(_, tail string) { shown = tail })
	}
	return shown
}

func vendorBegins(id, more string) string {
	return fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"kind":"execute"%s}`, id, more)
}

func changes(id, more string) string {
	return fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q%s}`, id, more)
}

func makes(text string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`,"content":[{"type":"content","content":{"type":"text","text":%s}}]`, b)
}

const completed, failed = `,"status":"completed"`, `,"status":"failed"`

// TestReply_calls: each call begins once and ends once, whatever is said of it.
func TestReply_calls(t *testing.T) {
	for _, c := range []struct {
		name    string
		updates []string
		want    string // its results, in the order they came
	}{
		{"ends", []string{vendorBegins("a", makes("x")), changes("a", completed)}, "a: x"},
		{"ends as it begins", []string{vendorBegins("a", makes("x")+completed)}, "a: x"},
		{"is not begun", []string{changes("a", makes("x")), changes("a", failed)}, "a! x"},
		{"has two results", []string{vendorBegins("a", makes("x")+completed), changes("a", makes("y")+failed), changes("a", completed)}, "a: x"},
		{"begins twice", []string{vendorBegins("a", makes("x")), vendorBegins("a", makes("y")), changes("a", completed)}, "a: y"},
		{"beside another", []string{vendorBegins("a", ""), vendorBegins("b", ""), changes("b", makes("y")+completed), changes("a", makes("x")+completed)}, "b: y a: x"},
		{"ends in an unknown way", []string{vendorBegins("a", `,"status":"exploded"`)}, ""},
		{"has no id", []string{`{"sessionUpdate":"tool_call","kind":"read"}`, vendorBegins("", completed)}, ""},
		{"has too long an id", []string{vendorBegins(strings.Repeat("x", 2000), completed)}, ""},
		{"answers raw", []string{vendorBegins("a", `,"rawOutput":{"n":1}`+completed)}, `a: {"n":1}`},
		{"answers raw text", []string{vendorBegins("a", `,"rawOutput":"plain"`+completed)}, "a: plain"},
		{"shows a terminal", []string{vendorBegins("a", `,"content":[{"type":"terminal","terminalId":"t"}]`+completed)}, "a: "},
		{
			"shows what it can't",
			[]string{vendorBegins("a", `,"content":[{"type":"hologram\u001b[2J"},7,{"type":"content","content":{"type":"audio","mimeType":"audio/wav"}}]`+completed)},
			"a: [hologram\uFFFD[2J]\n[audio audio/wav]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTurn("/shop")
			says(r, c.updates...)
			if n := len(r.startCalls()); n > 2 || n == 0 != strings.HasPrefix(c.name, "has no id") && n == 0 != strings.HasPrefix(c.name, "has too long") {
				t.Errorf("%d begin", n)
			}
			var got []string
			for _, d := range r.done {
				sign := ":"
				if d.Result.Error {
					sign = "!"
				}
				got = append(got, d.Call+sign+" "+d.Result.Text)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
			r.done = nil
			r.endCalls(t.Context())
			if open := c.want == "" && !strings.HasPrefix(c.name, "has"); open != (len(r.done) == 1) || open && (!r.done[0].Cut || !r.done[0].Result.Error) {
				t.Errorf("as the turn ends: %+v", r.done)
			}
		})
	}
}

// TestReply_bounds: of what an agent's calls are called with and make only so much is kept, of each and of all.
func TestReply_bounds(t *testing.T) {
	big := strings.Repeat("ä", 1<<17)
	r := newTurn("/shop")
	quoted, _ := json.Marshal(big)
	says(r, vendorBegins("a", fmt.Sprintf(`,"title":%s,"rawInput":{"x":%s}`, quoted, quoted)))
	c := r.startCalls()[0]
	if n := utf8.RuneCountInString(c.Title); n > 201 || len(c.Args) > maxArgs || !json.Valid(c.Args) {
		t.Errorf("a title of %d characters, arguments of %d bytes", n, len(c.Args))
	}
	shown := says(r, changes("a", makes(big)))
	if len(shown) > maxTail || !utf8.ValidString(shown) {
		t.Errorf("%d bytes show while it runs: %.20q", len(shown), shown)
	}
	diff := fmt.Sprintf(`{"type":"diff","path":"a\nb","oldText":"","newText":%s}`, quoted)
	small := `{"type":"diff","path":"c","oldText":"` + strings.Repeat(`old\n`, 9000) + `","newText":"x"}`
	says(r, changes("a", `,"content":[`+diff+`,`+strings.Repeat(small+`,`, 2)+small+`]`+completed))
	if d := r.done[0].Result; len(d.Diff) > 4*maxText || len(d.Text) > 2*maxText || strings.Contains(d.Diff, "a\nb") || !strings.Contains(d.Diff, "more files are not shown") {
		t.Errorf("%d bytes of diff, %d of text: %.200s", len(d.Diff), len(d.Text), d.Diff)
	}
	if r.keptBytes != 0 {
		t.Errorf("%d bytes of a call are kept that has ended", r.keptBytes)
	}
	for i := range 700 { // which never end
		r.applyToolCall(ToolCallUpdate{ToolCallID: fmt.Sprint("n", i), Content: List[ToolCallContent]{OK: true, All: []ToolCallContent{
			{Type: "content", Content: ContentBlock{Type: "text", Text: big[:maxText]}},
		}}}, func(string, string) {})
		r.startCalls()
	}
	if all := r.keptBytes; all > maxKeptBytes+maxText {
		t.Errorf("%d bytes are kept", all)
	}
	says(r, changes("n699", completed))
	if d := r.done[len(r.done)-1].Result; d.Text != "(not kept: it was too much at once)" {
		t.Errorf("%.100s", d.Text)
	}
	r.reset()
	if r.keptBytes != 0 || len(r.calls) > 0 {
		t.Errorf("%d bytes of %d calls are kept of a turn that is over", r.keptBytes, len(r.calls))
	}
}

// TestReply_notes: of very many things for the human some are shown, the others counted; no control character among them.
func TestReply_notes(t *testing.T) {
	r := newTurn("/shop")
	for i := range 10_000 {
		says(r, fmt.Sprintf(`{"sessionUpdate":"notice","title":"low \u001b]0;x\u0007disk %d","description":%q}`, i, strings.Repeat("x", 500)))
		says(r, fmt.Sprintf(`{"sessionUpdate":"plan","entries":[{"content":"step\n%d \u001b[31m"}]}`, i))
		says(r, fmt.Sprintf(`{"sessionUpdate":"new_\u001b[2J%d"}`, i))
	}
	r.reset()
	if n := len(r.notes); n != maxNotes+1 || !strings.Contains(r.notes[maxNotes], "more things in this turn that are not shown") {
		t.Errorf("%d notes, the last %q", n, r.notes[n-1])
	}
	for _, n := range r.notes {
		if strings.ContainsAny(n, "\x1b\x07") || len(n) > maxNote+100 {
			t.Errorf("%q", n)
		}
	}
	if len(r.unknownKinds) > maxNotes {
		t.Errorf("%d kinds are kept", len(r.unknownKinds))
	}
	r = newTurn("/shop")
	var steps []string
	for i := range 1000 {
		steps = append(steps, fmt.Sprintf(`{"content":"step %d","status":"completed"}`, i))
	}
	says(r, `{"sessionUpdate":"plan","entries":[`+strings.Join(steps, ",")+`]}`)
	if n := strings.Count(r.notes[0], "\n"); n != maxPlan+1 || !strings.HasSuffix(r.notes[0], "and 950 more") {
		t.Errorf("%d lines: %s", n, r.notes[0])
	}
}

// TestNews: an agent that nobody listens to has to wait, after so many things or so many bytes; a single thing never does.
func TestNews(t *testing.T) {
	for _, c := range []struct{ size, want int }{{10, maxEvents}, {1 << 20, 8}, {20 << 20, 1}} {
		synctest.Test(t, func(t *testing.T) {
			n := newEventQueue(nil)
			n.start()
			var all sync.WaitGroup
			said := 0
			all.Go(func() {
				for i := range 3 * maxEvents {
					n.addUpdate(UnknownUpdate{Kind: fmt.Sprint(i)}, c.size)
					said++
				}
			})
			synctest.Wait()
			if said != c.want {
				t.Errorf("it said %d things of %d bytes, want %d", said, c.size, c.want)
			}
			for i := range 3 * maxEvents { // in its order, though some are put back
				e, ok := n.next()
				if ok && i%3 == 0 {
					n.putBack(e)
					e, ok = n.next()
				}
				if u, is := e.(UnknownUpdate); !ok || !is || u.Kind != fmt.Sprint(i) {
					t.Fatalf("thing %d is %+v", i, e)
				}
				synctest.Wait()
			}
			all.Wait()
			if _, ok := n.next(); ok || n.bytes != 0 {
				t.Errorf("%d bytes are left", n.bytes)
			}
			n.addUpdate(UnknownUpdate{}, 1)
			n.close()
			if _, ok := n.next(); ok {
				t.Error("it is heard after the end")
			}
		})
	}
}

// TestReply_kinds: what becomes of each kind of update, and whether it shows that the agent has what it was sent.
func TestReply_kinds(t *testing.T) {
	for update, want := range map[string]string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`:                        "turn text hi",
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource","resource":{"uri":"file:///a"}}}`: "turn text [resource file:///a]",
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"image","mimeType":"image/png"}}`:            "turn thinking [image image/png]",
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}`:                         "turn",
		`{"sessionUpdate":"plan","entries":[]}`:                                                                "turn note Its plan:",
		`{"sessionUpdate":"notice","title":"low disk","description":"2 GB"}`:                                   "turn note low disk 2 GB",
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"}`:                      "turn",
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`:                        "turn note It has compacted its conversation.",
		`{"sessionUpdate":"compaction_update","compactionId":"k","status":"failed","error":"too long"}`:        "turn note too long",
		`{"sessionUpdate":"usage_update","used":1}`:                                                            "",
		`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`:                                       "",
		`{"sessionUpdate":"config_option_update","configOptions":[]}`:                                          "",
		`{"sessionUpdate":"session_info_update","title":"A title"}`:                                            "",
		`{"sessionUpdate":"available_commands_update","availableCommands":[]}`:                                 "",
		`{"sessionUpdate":"brand_new"}`:                                                                        "note It says something that this program can't show: brand_new",
		`{"sessionUpdate":"agent_message_chunk"}`:                                                              "note It says something that this program can't show: agent_message_chunk",
		`{}`: "note It says something that this program can't show: ?",
	} {
		var got []string
		r := newTurn("/shop")
		_, u := ParseUpdate(json.RawMessage(`{"update":` + update + `}`))
		if r.apply(u, func(p llm.Part) {
			switch p := p.(type) {
			case llm.Text:
				got = append(got, "text "+p.Text)
			case llm.Thinking:
				got = append(got, "thinking "+p.Text)
			}
		}, func(string, string) {}) {
			got = append([]string{"turn"}, got...)
		}
		for _, n := range r.notes {
			got = append(got, "note "+n)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", update, s, want)
		}
	}
}
