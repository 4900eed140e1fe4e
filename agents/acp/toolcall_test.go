package acp

import (
	"encoding/json"
	"testing"

	"fantail/agents/llm"
)

// TestVendorCall: what calls of real agents say of themselves, as it stands in the transcript.
func TestVendorCall(t *testing.T) {
	for _, c := range []struct {
		name, title, text, diff string
		failed                  bool
		exit                    int
		updates                 []string
	}{
		{
			name: "a diff in its workspace, and no path in its title", title: "Editing files a/b.txt", text: "(changed)", diff: "--- a/b.txt\n+++ a/b.txt\n@@ -1 +1 @@\n-x\n+y\n", updates: []string{
				`{"toolCallId":"c","kind":"edit","title":"Editing files","status":"in_progress","content":[{"type":"diff","path":"/shop/a/b.txt","oldText":"x\n","newText":"y\n"}]}`,
				`{"toolCallId":"c","status":"completed"}`,
			},
		},
		{
			name: "a diff of a piece of a line", title: "Edit b.txt", text: "(changed)", diff: "--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-x\n+y\n", updates: []string{
				`{"toolCallId":"c","title":"Edit b.txt","status":"completed","content":[{"type":"diff","path":"/shop/b.txt","oldText":"x","newText":"y"}]}`,
			},
		},
		{
			name: "a diff that was refused", title: "Edit b.txt", text: "It was not done.", failed: true, updates: []string{
				`{"toolCallId":"c","title":"Edit b.txt","content":[{"type":"diff","path":"/shop/a/b.txt","oldText":"x\n","newText":"y\n"}]}`,
				`{"toolCallId":"c","status":"failed"}`,
			},
		},
		{
			name: "the output of a command in pieces", title: "make", text: "one\ntwo\n[exit code 2]", failed: true, exit: 2, updates: []string{
				`{"toolCallId":"c","title":"make","kind":"execute","content":[{"type":"terminal","terminalId":"c"}]}`,
				`{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"one\n","terminal_id":"c"}}}`,
				`{"toolCallId":"c","status":"failed","rawOutput":{"exit_code":2},"_meta":{"terminal_output":{"data":"two\n","terminal_id":"c"}}}`,
			},
		},
		{
			name: "a command without output", title: "execute", updates: []string{`{"toolCallId":"c","kind":"execute","status":"completed","rawOutput":{"exit_code":0}}`},
		},
		{
			name: "a command whose code is told apart", title: "make", text: "out\n[exit code 3]", exit: 3, updates: []string{
				`{"toolCallId":"c","title":"make","status":"completed","content":[{"type":"content","content":{"type":"text","text":"out\n"}}],"rawOutput":{"output":"out\n","metadata":{"exit":3}}}`,
			},
		},
		{
			name: "an answer over MCP", title: "mcp.fantail.queue", text: "The queue is empty.", updates: []string{
				`{"toolCallId":"c","title":"mcp.fantail.queue","rawInput":{"server":"fantail"}}`,
				`{"toolCallId":"c","status":"completed","rawOutput":{"result":{"content":[{"type":"text","text":"The queue is empty."}],"structuredContent":null},"error":null}}`,
			},
		},
		{
			name: "an error over MCP", title: "tool", text: "no such tool", failed: true,
			updates: []string{`{"toolCallId":"c","status":"failed","rawOutput":{"result":null,"error":{"message":"no such tool"}}}`},
		},
		{
			name: "a block of code", title: "Read notes.txt", text: "1\talpha", updates: []string{
				`{"toolCallId":"c","title":"Read","locations":[{"path":"/shop/notes.txt","line":1}]}`,
				`{"toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"` + "```console\\n1\\talpha\\n```" + `"}}],"rawOutput":"x"}`,
			},
		},
		{
			name: "two blocks of code", title: "tool /else/notes.txt", text: "```\na\n```\nand\n```\nb\n```", updates: []string{
				`{"toolCallId":"c","locations":[{"path":"/shop"},{"path":"/else/notes.txt"}]}`,
				`{"toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"` + "```\\na\\n```\\nand\\n```\\nb\\n```" + `"}}]}`,
			},
		},
		{
			name: "returned in a form that is not known", title: "tool", text: `{"exit_code":"x","odd":[1]}`,
			updates: []string{`{"toolCallId":"c","status":"completed","rawOutput":{"exit_code":"x","odd":[1]}}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTurn("/shop")
			var begun []llm.ToolCall
			for _, text := range c.updates {
				_, u := ParseUpdate(json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update",` + text[1:] + `}`))
				r.apply(u, func(llm.Part) {}, func(string, string) {})
				begun = append(begun, r.startCalls()...)
			}
			if len(begun) != 1 || begun[0].Title != c.title {
				t.Errorf("begun: %+v", begun)
			}
			if len(r.done) != 1 {
				t.Fatalf("done: %+v", r.done)
			}
			got := r.done[0].Result
			exit := 0
			if got.Exit != nil {
				exit = *got.Exit
			}
			if got.Text != c.text || got.Diff != c.diff || got.Error != c.failed || exit != c.exit {
				t.Errorf("%+v, exit %d", got, exit)
			}
		})
	}
}

// TestCall_shows: the screen shows what a command has written so far, a bounded piece of it.
func TestCall_shows(t *testing.T) {
	r := newTurn("/shop")
	var tail string
	hear := func(text string) {
		_, u := ParseUpdate(json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update",` + text[1:] + `}`))
		r.apply(u, func(llm.Part) {}, func(_, t string) { tail = t })
	}
	hear(`{"toolCallId":"c","title":"make"}`)
	r.startCalls()
	long := make([]byte, 1<<16)
	for i := range long {
		long[i] = 'a'
	}
	for range 8 {
		hear(`{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"` + string(long) + `"}}}`)
	}
	hear(`{"toolCallId":"c","_meta":{"terminal_output_delta":{"data":"the end"}}}`)
	if len(tail) != maxTail || tail[maxTail-7:] != "the end" {
		t.Errorf("%d bytes: %q", len(tail), tail[max(0, len(tail)-20):])
	}
	if n := len(r.calls["c"].terminalOutput); n > 3*maxText {
		t.Errorf("%d bytes are kept", n)
	}
	hear(`{"toolCallId":"c","status":"completed"}`)
	if d := r.done; len(d) != 1 || len(d[0].Result.Text) > maxText+200 {
		t.Errorf("%d calls are done", len(d))
	}
}

// TestSays: a text begins with its first word.
func TestSays(t *testing.T) {
	r := newTurn("/shop")
	var parts []llm.Part
	for _, text := range []string{"\n\n", "\nhm", "\n\nand"} {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		_, u := ParseUpdate(json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":` + string(b) + `}}}`))
		r.apply(u, func(p llm.Part) { parts = append(parts, p) }, nil)
	}
	if len(parts) != 2 || parts[0].(llm.Thinking).Text != "hm" || parts[1].(llm.Thinking).Text != "\n\nand" {
		t.Errorf("%+v", parts)
	}
}

// TestCall_bare: a call that only tells that it comes is waited for, as its model still writes what it is called with.
func TestCall_bare(t *testing.T) {
	for text, bare := range map[string]bool{
		`{"toolCallId":"c","title":"read","status":"pending","locations":[],"rawInput":{}}`:                              true,
		`{"toolCallId":"c","title":"read","status":"pending"}`:                                                           true,
		`{"toolCallId":"c","title":"bash","status":"pending","locations":[{"path":"/shop"}],"rawInput":{"cwd":"/shop"}}`: true,
		`{"toolCallId":"c","title":"read","status":"pending","rawInput":{"path":"a"}}`:                                   false,
		`{"toolCallId":"c","title":"read","status":"pending","rawInput":"a"}`:                                            false,
		`{"toolCallId":"c","title":"read","status":"in_progress"}`:                                                       false,
		`{"toolCallId":"c","title":"edit","status":"pending","content":[{"type":"diff","path":"a","newText":"b"}]}`:      false,
	} {
		_, u := ParseUpdate(json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"tool_call",` + text[1:] + `}`))
		c := vendorCall{dir: "/shop"}
		c.update(u.(ToolCallUpdate))
		if c.lacksDetails() != bare {
			t.Errorf("%s: %v", text, c.lacksDetails())
		}
	}
}

// TestCall_asks: a question tells more of a call that has begun, and nothing of one that has ended.
func TestCall_asks(t *testing.T) {
	r := newTurn("/shop")
	hear := func(text string) {
		_, u := ParseUpdate(json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"tool_call",` + text[1:] + `}`))
		r.apply(u, func(llm.Part) {}, nil)
	}
	hear(`{"toolCallId":"c","title":"bash","status":"pending"}`)
	q := question{request: RequestPermissionRequest{ToolCall: ToolCallUpdate{ToolCallID: "c", Title: Optional[string]{V: "make", OK: true}, Status: Optional[string]{V: "pending", OK: true}}}}
	if begun := r.startCalls; !r.completesNewCalls(q) || begun()[0].Title != "make" {
		t.Errorf("%+v", r.calls["c"])
	}
	hear(`{"toolCallId":"c","status":"completed"}`)
	r.permissionCall(q.request.(RequestPermissionRequest).ToolCall)
	if !r.calls["c"].ended() || len(r.done) != 1 {
		t.Errorf("%+v", r.calls["c"])
	}
}
