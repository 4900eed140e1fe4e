package llmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// respond sends a request of the Responses protocol and returns the events of the reply, or how it was refused.
func respond(t *testing.T, client *http.Client, base, body string) (events []map[string]any, refused string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Sprint(res.StatusCode, " ", string(text))
	}
	for event := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		name, data, _ := strings.Cut(event, "\ndata: ")
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%q: %v", event, err)
		}
		if name != "event: "+e["type"].(string) || int(e["sequence_number"].(float64)) != len(events) {
			t.Errorf("event %d is %q", len(events), event)
		}
		events = append(events, e)
	}
	return events, ""
}

const (
	responsesTools = `"tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"custom","name":"patch"},{"type":"web_search"}]`
	moreTools      = `{"type":"additional_tools","role":"developer","tools":[
		{"type":"namespace","name":"mail","tools":[{"type":"function","name":"check","parameters":{"type":"object"}}]}]}`
	said = `{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}`
)

func TestResponses(t *testing.T) {
	s := &llmtest.Server{Answer: llmtest.Script}
	base, client := s.Loopback(t)
	ask := func(input string) []map[string]any {
		events, refused := respond(t, client, base, `{"model":"m","stream":true,"include":["reasoning.encrypted_content"],`+responsesTools+`,"input":[`+moreTools+`,`+input+`]}`)
		if refused != "" {
			t.Fatal(refused)
		}
		return events
	}
	input := `{"type":"message","role":"developer","content":"be brief"},{"role":"user","content":` +
		`"think hm ;; say two words ;; call f {\"a\":1} ;; and mail__check ;; and patch {\"input\":\"*** Begin\"} ;; say over ;; stop length"}`
	events := ask(input)
	pieces := map[string]string{}
	var items []string
	for _, e := range events {
		if d, ok := e["delta"].(string); ok {
			pieces[e["type"].(string)] += d
		}
		if e["type"] != "response.output_item.done" {
			continue
		}
		item := e["item"].(map[string]any)
		delete(item, "id")
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(text))
	}
	if pieces["response.reasoning_summary_text.delta"] != "hm" || pieces["response.output_text.delta"] != "two words\n\n" ||
		pieces["response.function_call_arguments.delta"] != `{"a":1}{}` || pieces["response.custom_tool_call_input.delta"] != "*** Begin" {
		t.Errorf("%q", pieces)
	}
	if len(items) != 5 || !strings.Contains(items[3], `"name":"check","namespace":"mail"`) || !strings.Contains(items[4], `"input":"*** Begin"`) ||
		!strings.Contains(items[0], `"encrypted_content":"fake.`) {
		t.Fatalf("%q", items)
	}
	last := events[len(events)-1]
	if usage, _ := last["response"].(map[string]any)["usage"].(map[string]any); last["type"] != "response.completed" || usage["output_tokens"] == 0 {
		t.Errorf("%v", last)
	}

	input += "," + strings.Join(items, ",")
	for i, kind := range []string{"function_call_output", "function_call_output", "custom_tool_call_output"} {
		var call struct {
			ID string `json:"call_id"`
		}
		if err := json.Unmarshal([]byte(items[2+i]), &call); err != nil {
			t.Fatal(err)
		}
		input += fmt.Sprintf(`,{"type":%q,"call_id":%q,"output":[{"type":"input_text","text":"done %d"}]}`, kind, call.ID, i)
	}
	events = ask(input)
	if last = events[len(events)-1]; last["type"] != "response.incomplete" {
		t.Errorf("%v", last)
	}
	r := s.Requests()[1]
	if len(r.Messages) != 3 || r.System != "be brief" || r.Protocol != llmtest.Responses || len(r.Tools) != 3 || r.Tools[2].Name != "mail__check" {
		t.Fatalf("%+v", r)
	}
	if c := r.Messages[1].Parts[4].(llm.ToolCall); c.Name != "patch" || string(c.Args) != `{"input":"*** Begin"}` {
		t.Errorf("%+v", c)
	}
	if a := r.Messages[2].Parts[1].(llm.ToolResult); a.Text != "done 1" {
		t.Errorf("%+v", a)
	}
	events, _ = respond(t, client, base, `{"model":"m","stream":true,"input":"error server_error"}`)
	if last = events[len(events)-1]; last["type"] != "response.failed" {
		t.Errorf("%v", last)
	}
}

// Requests a real service refuses are refused, with the place of the fault.
func TestResponses_refusals(t *testing.T) {
	s := llmtest.New()
	base, client := s.Loopback(t)
	const call = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	for _, c := range []struct{ input, want string }{
		{`[]`, "input: must be text or a list"},
		{`[{"type":"odd"}]`, `input[0].type: \"odd\" is not served`},
		{`[{"type":"message","role":"odd","content":"x"}]`, "input[0].role"},
		{`[{"type":"message","role":"user","content":[{"type":"output_text","text":"x"}]}]`, "input[0].content[0].type"},
		{`[` + said + `,` + call + `]`, "no output found for the calls c1"},
		{`[` + said + `,` + call + `,` + call + `]`, "there twice"},
		{`[` + said + `,{"type":"function_call_output","call_id":"c1","output":"x"}]`, "no call found"},
		{`[` + said + `,{"type":"function_call","call_id":"c1","name":"f","arguments":"[]"}]`, "input[1].arguments"},
		{`[` + said + `,{"type":"function_call","call_id":"c1","name":"a b","arguments":"{}"}]`, "input[1].name"},
		{`[` + said + `,{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"fake.00"}]`, "encrypted_content"},
		{`[{"type":"additional_tools","tools":[{"type":"namespace","name":"f"}]}]`, "input[0].tools[0]"},
		{`"x","tools":[{"name":"f"}]`, "tools[0].type"},
		{`"x","tools":[{"type":"function","name":"f"}]`, "tools[0].parameters.type"},
		{`"x","tools":[{"type":"custom","name":"f"},{"type":"custom","name":"f"}]`, "there twice"},
		{`"x","tools":[{"type":"namespace","name":"f"}]`, "no namespace with tools"},
	} {
		if _, refused := respond(t, client, base, `{"model":"m","stream":true,"input":`+c.input+`}`); !strings.HasPrefix(refused, "400 ") || !strings.Contains(refused, c.want) {
			t.Errorf("%s: %s", c.input, refused)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d refused requests were recorded", n)
	}
}

// A reply that is held waits until it is let go, and no other does.
func TestHold(t *testing.T) {
	each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
		s.Add(llmtest.Reply{Hold: "a", Parts: []llm.Part{llm.Text{Text: "held"}}}, llmtest.Say("free"), llmtest.Reply{Hold: "a"}, llmtest.Reply{Hold: "b"})
		first := make(chan string)
		go func() {
			parts, _, _ := llmtest.Collect(p.Stream(t.Context(), ask("x")))
			first <- fmt.Sprint(parts)
		}()
		<-s.Held("a")
		if g := collect(t, t.Context(), p, ask("y")); g.text != "free" {
			t.Errorf("%+v", g)
		}
		s.Go("a")
		s.Go("a")
		if got := <-first; !strings.Contains(got, "held") {
			t.Error(got)
		}
		if g := collect(t, t.Context(), p, ask("z")); g.err != nil {
			t.Error(g.err)
		}
		go func() { <-s.Held("b"); s.Go("b") }()
		if g := collect(t, t.Context(), p, ask("z")); g.err != nil {
			t.Error(g.err)
		}
	})
}

func TestCount(t *testing.T) {
	base, client := llmtest.New().Loopback(t)
	res, err := client.Post(base+"/v1/messages/count_tokens", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); strings.TrimSpace(string(text)) != `{"input_tokens":12}` {
		t.Errorf("%s", text)
	}
}
