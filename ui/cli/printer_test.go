package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"fantail/agents/event"
	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/ui/attach"
	"fantail/ui/screen"
	"fantail/ui/shell"
)

func TestReadPromptAppendsStandardInput(t *testing.T) {
	for _, c := range []struct {
		prompt, input, want string
	}{
		{"review", "diff\n", "review\n\ndiff\n"},
		{"", "diff\n", "diff\n"},
		{"review", "", "review"},
		{"review", " \n", "review"},
		{"review", "a\xffb", "review\n\na\uFFFDb"},
	} {
		path := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(path, []byte(c.input), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadPrompt(context.Background(), begin, c.prompt, in, io.Discard)
		if err != nil || got != c.want {
			t.Errorf("%q with %q: %q, %v; want %q", c.prompt, c.input, got, err, c.want)
		}
		in.Close()
	}
}

// begin starts a goroutine.
func begin(_ string, f func()) { go f() }

func TestReadPromptRefuses(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := ReadPrompt(context.Background(), begin, " ", null, io.Discard); shell.ExitCode(err) != shell.ExitUsage {
		t.Errorf("nothing at all: %v", err)
	}

	big := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(big, bytes.Repeat([]byte("x"), shell.MaxInput+1), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(big)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := ReadPrompt(context.Background(), begin, "x", in, io.Discard); shell.ExitCode(err) != shell.ExitUsage || !strings.Contains(err.Error(), "8 MiB") {
		t.Errorf("too much: %v", err)
	}

	// A terminal is not read: somebody sits there.
	ours, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	defer ours.Close()
	defer tty.Close()
	if got, err := ReadPrompt(context.Background(), begin, "x", tty, io.Discard); err != nil || got != "x" {
		t.Errorf("at a terminal: %q, %v", got, err)
	}

	// A pipe that never ends: the signal's context ends the wait.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadPrompt(ctx, begin, "x", r, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("an endless pipe: %v", err)
	}
}

func main1(state event.State) event.Info {
	return event.Info{ID: 1, Name: "main", Kind: event.Main, State: state, Model: "acme/one", Spent: event.Spent{Priced: true, Cost: 5, Usage: llm.Usage{Input: 100}}}
}

// TestTallyTellsTroubleOnce: nobody watches a run without a screen wait in silence.
func TestTallyTellsTroubleOnce(t *testing.T) {
	full := event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Running, Why: "trying again: the disk is full"}
	failed := event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Running, Retry: &event.Retry{Attempt: 2, Of: 10, Reason: "acme: overloaded"}}
	typed := event.Info{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Why: "absorb: the disk is full", Prompts: []event.Prompt{{ID: 1}}}
	tal := newTally(time.Time{}, main1(event.Idle))
	for _, i := range []event.Info{
		{ID: 1, Name: "main", Kind: event.Main, State: event.Idle},
		full,
		full,
		{ID: 1, Name: "main", Kind: event.Main, State: event.Running},
		failed,
		typed,
		{ID: 1, Name: "main", Kind: event.Main, State: event.Waiting, Why: "waiting for any message"},
		{ID: 1, Name: "main", Kind: event.Main, State: event.Idle, Why: "the turn failed"},
	} {
		tal.see([]event.Event{event.Changed{Info: i}})
	}
	want := []string{"main: trying again: the disk is full", "main: acme: overloaded (trying again, 2 of 10)", "main: absorb: the disk is full"}
	if !slices.Equal(tal.troubles, want) {
		t.Errorf("told %q", tal.troubles)
	}
}

func TestTallyKeepsWhatMainSaidLast(t *testing.T) {
	began := time.Unix(1000, 0)
	y := newTally(began, main1(event.Idle))
	y.see([]event.Event{
		event.Changed{Info: event.Info{ID: 2, Name: "another's", Kind: event.Sub, State: event.Done, Parent: 7, Spent: event.Spent{Usage: llm.Usage{Input: 9}}}},
		event.Appended{Agent: 7, Entries: []history.Entry{{Kind: history.EntryText, Text: "another's answer"}}},
	})
	after := main1(event.Idle)
	after.Cost, after.Usage = 2_000_005, llm.Usage{Input: 150, Output: 20, CacheRead: 7, CacheWrite: 3}
	say := func(s string) history.Entry { return history.Entry{Kind: history.EntryText, Text: s} }
	es := y.see([]event.Event{
		event.Appended{Agent: 1, Entries: []history.Entry{
			{Kind: history.EntryPrompt, Text: "go"},
			say("I will look."),
			{Kind: history.EntryCall, Call: &history.Call{}},
			{Kind: history.EntryResult, Result: &history.Result{}},
			say("First."),
			{Kind: history.EntryThinking, Text: "hm"},
			say("Second."),
			{Kind: history.EntryEnded, End: &history.End{Outcome: history.Completed, Steps: 2}},
		}},
		event.Changed{Info: event.Info{ID: 3, Name: "new", Kind: event.Sub, Parent: 1, State: event.Running}},
		event.Appended{Agent: 3, Entries: []history.Entry{say("not the answer")}},
		event.Changed{Info: event.Info{ID: 3, Name: "new", Kind: event.Sub, Parent: 1, State: event.Done, Outcome: history.Completed}},
		event.Changed{Info: after},
	})
	if len(es) != 9 || es[0].Agent != 1 || es[8].Agent != 3 {
		t.Errorf("entries %+v", es)
	}
	if got := y.answer.Text(); got != "First.\n\nSecond." {
		t.Errorf("answer %q", got)
	}
	call := []history.Entry{{Kind: history.EntryCall, Call: &history.Call{}}, {Kind: history.EntryResult, Result: &history.Result{}}}
	y.see([]event.Event{event.Appended{Agent: 1, Entries: call}})
	if got := y.answer.Text(); got != "First.\n\nSecond." {
		t.Errorf("a turn that ends with a call leaves %q as what was said", got)
	}
	if len(y.changes) != 2 || y.changes[0].Name != "new" || y.changes[1].State != event.Done {
		t.Errorf("changes %+v", y.changes)
	}
	r := y.result("a", "", began.Add(1500*time.Millisecond))
	if r.Turns != 2 || r.Millis != 1500 || r.Cost == nil || *r.Cost != 2 || r.Usage != (jUsage{50, 20, 7, 3}) || r.Subtype != "success" || r.Error {
		t.Errorf("result %+v cost %v", r, r.Cost)
	}
	// One agent of unknown price makes the sum unknown.
	y.see([]event.Event{event.Changed{Info: event.Info{ID: 3, Name: "new", Kind: event.Sub, Parent: 1, State: event.Done, Spent: event.Spent{Usage: llm.Usage{Input: 1}}}}})
	if r := y.result("", "it broke", began); r.Cost != nil || r.Subtype != "error" || !r.Error || r.Result != "it broke" {
		t.Errorf("result %+v", r)
	}
}

func TestStreamLines(t *testing.T) {
	var b bytes.Buffer
	s := &stream{w: &b, on: true, session: "s1"}
	s.init("/ws", main1(event.Idle), "ask", []string{"bash"})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryPrompt, Text: "go"})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryThinking, Text: "hm"})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryText, Text: "line\n\"two\"", Model: "acme/two"})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: "c1", Name: "bash", Args: json.RawMessage(`{"command": "ls"}`)}})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: "c2", Name: "bash", Args: json.RawMessage(`{"comm`)}})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryResult, Result: &history.Result{ID: "c1", Text: "out", Error: true}})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryStarted})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryEnded, End: &history.End{}})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryNotice, Text: "cut"})
	s.entry("main", "acme/one", history.Entry{Kind: history.EntryDelegated, Call: &history.Call{ID: "c3"}, Task: 7})
	s.within(7)
	s.entry("kid", "acme/one", history.Entry{Kind: history.EntryText, Text: "below"})
	s.within(8)
	s.entry("other", "acme/one", history.Entry{Kind: history.EntryText, Text: "beside"})
	s.tasks([]event.Info{{Name: "t", Prompt: "p", State: event.Running}, {Name: "t", State: event.Failed, Outcome: history.OutFailed, Why: "no"}})
	s.result(lineResult{Type: "result", Subtype: "success", Result: "done"})
	want := []string{
		`{"type":"system","subtype":"init","session_id":"s1","cwd":"/ws","model":"acme/one","tools":["bash"],"permissionMode":"ask","version":"` + screen.Version() + `"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"parent_tool_use_id":null,"session_id":"s1","agent":"main"}`,
		`{"type":"assistant","message":{"role":"assistant","model":"acme/one","content":[{"type":"thinking","thinking":"hm"}]},"parent_tool_use_id":null,"session_id":"s1","agent":"main"}`,
		`{"type":"assistant","message":{"role":"assistant","model":"acme/two","content":[{"type":"text","text":"line\n\"two\""}]},"parent_tool_use_id":null,"session_id":"s1","agent":"main"}`,
		`{"type":"assistant","message":{"role":"assistant","model":"acme/one","content":[{"type":"tool_use","id":"c1","name":"bash","input":{"command":"ls"}}]},"parent_tool_use_id":null,"session_id":"s1","agent":"main"}`,
		`{"type":"assistant","message":{"role":"assistant","model":"acme/one","content":[{"type":"tool_use","id":"c2","name":"bash","input":{}}]},"parent_tool_use_id":null,"session_id":"s1","agent":"main"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"out","is_error":true}]},"parent_tool_use_id":null,"session_id":"s1","agent":"main"}`,
		`{"type":"system","subtype":"notice","session_id":"s1","agent":"main","text":"cut"}`,
		`{"type":"assistant","message":{"role":"assistant","model":"acme/one","content":[{"type":"text","text":"below"}]},"parent_tool_use_id":"c3","session_id":"s1","agent":"kid"}`,
		`{"type":"assistant","message":{"role":"assistant","model":"acme/one","content":[{"type":"text","text":"beside"}]},"parent_tool_use_id":null,"session_id":"s1","agent":"other"}`,
		`{"type":"system","subtype":"task_started","session_id":"s1","agent":"t","prompt":"p"}`,
		`{"type":"system","subtype":"task_finished","session_id":"s1","agent":"t","outcome":"failed","error":"no"}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s1","num_turns":0,"duration_ms":0,"usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0}}`,
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i, g, w)
		}
	}
}

func TestStreamStopsAtTheFirstError(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	s := &stream{w: w, on: true}
	s.put("x")
	s.w = io.Discard
	s.put("y")
	if !errors.Is(s.err, io.ErrClosedPipe) {
		t.Errorf("error %v", s.err)
	}
}

// TestStreamSteersNoTerminal: a line may be printed on one, and JSON itself leaves
// most of what is invisible as it is.
func TestStreamSteersNoTerminal(t *testing.T) {
	wild := "\x1b]0;x\a \u007f \u009b31m \u202eb \u200b \U000e0041 é 日本 🙂 \u2028"
	var b bytes.Buffer
	s := &stream{w: &b, on: true}
	s.entry("main", "m", history.Entry{Kind: history.EntryText, Text: wild})
	s.entry("main", "m", history.Entry{Kind: history.EntryCall, Call: &history.Call{ID: "c", Name: "bash", Args: json.RawMessage("{\"command\":\"\u009b\x9b\"}")}})
	for _, r := range strings.ReplaceAll(b.String(), "\n", "") {
		if r != 'é' && r != '日' && r != '本' && r != '🙂' && (r < ' ' || r > '~') {
			t.Errorf("%U stands in %q", r, b.String())
		}
	}
	var got lineMessage
	var text struct{ Text string }
	got.Message.Content = []any{&text}
	if err := json.Unmarshal(bytes.SplitN(b.Bytes(), []byte("\n"), 2)[0], &got); err != nil || text.Text != wild {
		t.Errorf("%v: %q", err, text.Text)
	}
}

// TestPrinterLinesAreSpelledAsUsual: each kind of line is what encoding/json makes of it.
func TestPrinterLinesAreSpelledAsUsual(t *testing.T) {
	cost, call := 0.1, "c1"
	for _, v := range []any{
		lineInit{Type: "system", Dir: "/ws", Tools: []string{"a", ""}},
		lineMessage{Type: "assistant", Message: jMessage{"assistant", "m", []any{jText{"text", "<x>"}, jThinking{"thinking", "y"}}}, Parent: &call},
		lineMessage{Message: jMessage{"user", "", []any{jUse{"tool_use", "1", "bash", json.RawMessage(`{}`)}, jResult{"tool_result", "1", "x", true}, nil}}},
		lineTask{Prompt: "p"},
		lineNotice{Text: "x"},
		lineResult{Type: "result", Error: true, Result: "x", Why: "y", Turns: 3, Cost: &cost, Usage: jUsage{1, 2, 3, 4}},
		lineResult{},
	} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := attach.WriteEscapedJSON(&got, v); err != nil || got.String() != string(want)+"\n" {
			t.Errorf("%T: %s, %v; want %s", v, got.String(), err, want)
		}
	}
}
