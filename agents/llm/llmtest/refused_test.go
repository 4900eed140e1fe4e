package llmtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"fantail/agents/llm"
	"fantail/agents/llm/anthropic"
	"fantail/agents/llm/llmtest"
	"fantail/agents/llm/openai"
)

// with is a request that offers these tools.
func with(names ...string) *llm.Request {
	req := ask("x")
	for _, n := range names {
		req.Tools = append(req.Tools, llm.Tool{Name: n, Description: "does " + n, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return req
}

// refusal says why a server refuses a request; "": it takes it.
type refusal func(req llmtest.Request) (status int, why string)

// names are the tools of a request.
func names(req llmtest.Request) (all []string) {
	for _, t := range req.Tools {
		all = append(all, t.Name)
	}
	return all
}

// TestRefused: what a server refuses in a request is left out, and is from then on; people hear of it once.
func TestRefused(t *testing.T) {
	at := func(format string) refusal { // by the number of the tool
		return func(req llmtest.Request) (int, string) {
			for n, name := range names(req) {
				if strings.Contains(name, "bad") {
					return 400, fmt.Sprintf(format, n)
				}
			}
			return 0, ""
		}
	}
	by := func(format string) refusal { // by its name
		return func(req llmtest.Request) (int, string) {
			for _, name := range names(req) {
				if strings.Contains(name, "bad") {
					return 400, fmt.Sprintf(format, name)
				}
			}
			return 0, ""
		}
	}
	none := func(status int, why string) refusal {
		return func(req llmtest.Request) (int, string) {
			if len(req.Tools) > 0 {
				return status, why
			}
			return 0, ""
		}
	}
	all := []string{"read_file", "mcp__x__bad", "mcp__x__good"}
	left := []string{"read_file", "mcp__x__good"}
	for _, c := range []struct {
		name    string
		refuses refusal
		tools   []string
		left    []string
		sent    int // of the first request
		told    string
	}{
		{"by number", at("tools.%d.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"), all, left, 2, "mcp__x__bad"},
		{"by number in brackets", at("Invalid 'tools[%d].function.parameters': not a schema"), all, left, 2, "mcp__x__bad"},
		{"by number among declarations", at("* GenerateContentRequest.tools[0].function_declarations[%d].parameters.properties: wrong"), all, left, 2, "mcp__x__bad"},
		{"by name", by("Invalid schema for function '%s': In context=('properties', 'n'), array schema missing items."), all, left, 2, "mcp__x__bad"},
		{"by name without quotes", by("tool %s has a schema that is not valid"), all, left, 2, "mcp__x__bad"},
		{"the longer name", by("Invalid schema for function '%s'"), []string{"mcp__x__ba", "mcp__x__bad_one", "mcp__x__b"}, []string{"mcp__x__ba", "mcp__x__b"}, 2, "mcp__x__bad_one"},
		{"two of them", at("tools.%d.custom.name: wrong"), []string{"bad1", "good", "bad2"}, []string{"good"}, 3, "bad2"},
		{"no tools at all", none(400, "registry.ollama.ai/library/gemma:2b does not support tools"), all, nil, 2, "no tools"},
		{"no tools, not found", none(404, "No endpoints found that support tool use."), all, nil, 2, "no tools"},
		{"no tools, vLLM", none(400, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`), all, nil, 2, "no tools"},
		{"no tools, llama.cpp", none(500, "tools param requires --jinja flag"), all, nil, 2, "no tools"},
		{"unknown argument", none(400, "Unrecognized request argument supplied: tools"), all, nil, 2, "no tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
				s.Answer = func(req llmtest.Request) llmtest.Reply {
					if status, why := c.refuses(req); why != "" {
						return llmtest.Fail(status, failing(why))
					}
					return llmtest.Say("Hi")
				}
				for n := range 2 {
					before := len(s.Requests())
					_, stop, err := llmtest.Collect(p.Stream(t.Context(), with(c.tools...)))
					if err != nil {
						t.Fatal(err)
					}
					sent := s.Requests()[before:]
					if want := []int{c.sent, 1}[n]; len(sent) != want {
						t.Errorf("%d requests, want %d", len(sent), want)
					}
					if got := names(sent[len(sent)-1]); fmt.Sprint(got) != fmt.Sprint(c.left) {
						t.Errorf("asked with %v", got)
					}
					if heard := strings.Join(stop.Told, " "); (n == 0) != strings.Contains(heard, c.told) {
						t.Errorf("told %q", heard)
					}
				}
			})
		})
	}
}

// TestRefusedTools: in whatever words a server says that it takes no tools, it is asked without.
func TestRefusedTools(t *testing.T) {
	for _, why := range []string{
		"Unsupported parameter: 'tools'", "unsupported field: tools", "tool use is unsupported", "this model cannot use tools", "tools is not allowed for this model",
		"Function calling is not enabled for this model", "function calling is unsupported", "property 'tools' is unsupported", `json: unknown field "tools"`,
		"Additional properties are not allowed ('tools' was unexpected)", "Unknown parameter: 'tools'.", "tools: Extra inputs are not permitted",
		"Tools are currently unavailable for this model", "`tools` is not a valid parameter", "The model x does not have tool calling capability",
		"tool_choice is not supported", "Model is incapable of tool use", "No tools supported", "tools must be empty",
		"Invalid parameter: tools", "invalid parameter: 'tools'", "Invalid param: tools.", "invalid argument `tools`", "Invalid field \"tools\"", "Invalid request: tools",
		"tools: invalid", "tools is an invalid parameter", "The parameter `tools` specified in the request is not valid: tools", "The parameter tools is illegal", "Bad parameter: tools",
		"Parameter error: tools", "Incorrect parameter tools", "Invalid parameter: functions", "参数错误: tools", "tools 参数非法", "该模型不支持 tools 参数", "Invalid parameters: stream, tools",
		"Parameter 'tools' is not recognized", "tools: field not recognised", "This model does not accept tools", "The field tools is not accepted", "No such parameter: tools",
		"tools cannot be used with this model", "Tools can't be specified here", "tools must not be set", "'tools' should not be included: this model should not include tools",
		"Tool calling is forbidden for this model", "The request was rejected: tools", "Please remove `tools` from the request", "This model lacks tool calling",
		"The model is unable to call tools", "tools parameter does not exist", "Tool use is not possible with this model", "tools: extraneous field", "Function calling is prohibited",
	} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			s.Answer = func(req llmtest.Request) llmtest.Reply {
				if len(req.Tools) > 0 {
					return llmtest.Fail(400, failing(why))
				}
				return llmtest.Say("Hi")
			}
			if _, stop, err := llmtest.Collect(p.Stream(t.Context(), with("read_file", "bash"))); err != nil || len(stop.Told) != 1 {
				t.Errorf("%s: %v", why, err)
			}
		})
	}
}

// TestRefusedTools_bodies: the same, in whatever form the refusal comes.
func TestRefusedTools_bodies(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `{"error":{"message":"Invalid parameter","param":"tools"}}`},
		{400, `{"error":{"message":null,"param":"tools","code":"invalid_parameter"}}`},
		{400, `{"error":"Invalid parameter: tools"}`},
		{400, `{"code":"InvalidParameter","message":"Invalid parameter: tools"}`},
		{400, `Invalid parameter: tools`},
		{422, `{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}`},
		{422, `{"detail":"tools: invalid parameter"}`},
		{500, `{"error":{"message":"create() got an unexpected keyword argument 'tools'"}}`},
		{501, `{"error":{"message":"tool calls are not implemented"}}`},
	} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			s.Answer = func(req llmtest.Request) llmtest.Reply {
				if len(req.Tools) > 0 {
					return llmtest.Fail(c.status, c.body)
				}
				return llmtest.Say("Hi")
			}
			if _, stop, err := llmtest.Collect(p.Stream(t.Context(), with("read_file", "bash"))); err != nil || len(stop.Told) != 1 {
				t.Errorf("%d %s: %v", c.status, c.body, err)
			}
		})
	}
}

// TestRefusedOne: what is said of one tool's form, of how many there are, or of what a conversation holds does not take all
// tools away.
func TestRefusedOne(t *testing.T) {
	for _, why := range []string{
		"Invalid schema for tools", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
		"Invalid value: 'tools[7].type'", "Invalid parameter: tools[9].function.name", "tools: Tool names must be unique.", "Invalid type for 'tools': expected an array of objects",
		"tools.function.parameters is invalid", "Invalid parameter: too many tools", "Invalid tools definition: the schema of one is wrong", "Invalid tools: a property has no type",
		"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: x",
		"messages.3: tool_use ids were found without tool_result blocks", "messages.1.content.0: unexpected tool_use_id found in tool_result blocks", "Invalid parameter: 'tool_call_id' of 'x' not found in 'tool_calls' of previous message.",
		"Invalid parameter: temperature", "Invalid parameter: model", "Invalid parameter: max_tokens (functions of it are wrong at 9)", "Invalid API key for tools", "The input tokens exceed the limit, with tools", "Invalid tool call arguments in the conversation",
	} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			s.Answer = func(llmtest.Request) llmtest.Reply { return llmtest.Fail(400, failing(why)) }
			_, _, err := llmtest.Collect(p.Stream(t.Context(), with("read_file", "bash")))
			if err == nil {
				t.Errorf("%s: no error", why)
			}
			for n, req := range s.Requests() {
				if len(req.Tools) == 0 {
					t.Errorf("%s: request %d has no tools", why, n+1)
				}
			}
		})
	}
}

// failing is the body of a refusal.
func failing(why string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"type": "invalid_request_error", "message": why}})
	return string(b)
}

// TestRefusedOtherwise: a refusal that leaving something out does not mend stays one, and nothing is left out later.
func TestRefusedOtherwise(t *testing.T) {
	for why, most := range map[string]int{
		"tools.1.custom.input_schema: wrong, whatever you send": 4, "messages.0: wrong": 1, "max_tokens: too large": 1, "Please check 'x'": 1, "Your tool is fine, your key is not": 1,
	} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			fails := true
			s.Answer = func(llmtest.Request) llmtest.Reply {
				if fails {
					return llmtest.Fail(400, failing(why))
				}
				return llmtest.Say("Hi")
			}
			_, _, err := llmtest.Collect(p.Stream(t.Context(), with("a", "b", "c")))
			if err == nil || err.Kind != llm.BadRequest || len(s.Requests()) > most {
				t.Errorf("%s: %v after %d requests", why, err, len(s.Requests()))
			}
			fails = false
			before := len(s.Requests())
			if _, _, err := llmtest.Collect(p.Stream(t.Context(), with("a", "b", "c"))); err != nil || len(s.Requests()[before].Tools) != 3 {
				t.Errorf("%s: then %v", why, err)
			}
		})
	}
}

// TestStreamOptions: a server that refuses to be asked for the usage, in whatever form, is asked without, and is from then on.
func TestStreamOptions(t *testing.T) {
	for _, body := range []string{
		`stream_options is not supported`, `{"error":"unknown field stream_options"}`, `{"object":"error","message":"stream_options: Extra inputs are not permitted","code":400}`,
		`[{"error":{"code":400,"message":"Unknown name \"stream_options\": Cannot find field."}}]`, `{"detail":"Unsupported: 'include_usage'"}`,
		`{"error":{"message":["stream_options"],"code":[]}}`, `{"errors":[{"message":"stream_options unknown"}]}`,
		`{"error":{"message":"Unrecognized request argument","param":"stream_options"}}`, `{"error":{"message":null,"param":"stream_options"}}`,
		`{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted: stream_options"}]}`,
		`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`,
		`{"message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]}}`,
	} {
		for _, status := range []int{400, 422} {
			s := llmtest.New()
			base, client := s.Loopback(t)
			p := openai.New(openai.Options{BaseURL: base + "/v1", Name: "local", HTTPClient: client})
			s.Answer = func(req llmtest.Request) llmtest.Reply {
				if req.Usage {
					return llmtest.Fail(status, body)
				}
				return llmtest.Say("Hi")
			}
			for n, want := range []int{2, 3} {
				if _, stop, err := llmtest.Collect(p.Stream(t.Context(), with("a"))); err != nil || len(s.Requests()) != want || len(stop.Told) != 0 {
					t.Errorf("%d %s, request %d: %v, %d sent", status, body, n, err, len(s.Requests()))
				}
			}
		}
	}
}

// TestHistoryIsSentValid: whatever a conversation holds from earlier times, what is sent is valid.
func TestHistoryIsSentValid(t *testing.T) {
	half := []byte("\xed\xa0\xbd")
	for _, args := range []string{
		`{"a":"\ud83d"}`, `{"a":"x\u0000"}`, `{"a":1,"a":2}`, `{"a":1e999}`, "{\"a\":\"\xff\"}", `{"\ud83d":{"b":["\ude00"]}}`, "{\"a\":\"" + string(half) + "\"}", `{"a":`, `[]`, ``, `null`, `"\ud83d"`,
	} {
		each(t, func(t *testing.T, s *llmtest.Server, p llm.Provider) {
			s.Add(llmtest.Say("Hi"))
			req := with("f")
			req.System = "a\x00b\xff"
			req.Tools[0].Description = "a\x00b"
			req.Messages = append(req.Messages,
				llm.Message{Role: llm.Assistant, Parts: []llm.Part{
					llm.Text{Text: "a\x00\xff" + string(half)},
					llm.ToolCall{ID: "c\x00", Name: "f", Args: json.RawMessage(args)},
				}},
				llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "c\x00", Text: "a\x00\xff" + string(half)}}},
			)
			if _, _, err := llmtest.Collect(p.Stream(t.Context(), req)); err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			body := s.Requests()[0].Body
			strict(t, body)
		})
	}
}

// strict fails where a strict server refuses b.
func strict(t *testing.T, b []byte) {
	t.Helper()
	if !json.Valid(b) || !utf8.Valid(b) {
		t.Fatalf("no JSON: %q", b)
	}
	text := strings.ReplaceAll(string(b), `\\`, "")
	for _, escape := range []string{`\ud8`, `\ud9`, `\uda`, `\udb`, `\udc`, `\udd`, `\ude`, `\udf`, `\u0000`} {
		if strings.Contains(text, escape) {
			t.Errorf("%s in %s", escape, b)
		}
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Errorf("%v in %s", err, b)
	}
	// Arguments that travel as a text are JSON of their own.
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, one := range v {
				if s, is := one.(string); is && name == "arguments" {
					strict(t, []byte(s))
				}
				walk(one)
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(v)
}

// TestFirstByte: how long a server may take for its first word is a setting, longer for one nearby; asking it again would
// have it begin anew.
func TestFirstByte(t *testing.T) {
	for _, c := range []struct {
		base string
		set  time.Duration
		want time.Duration
		sent int
	}{
		{"http://fake", 0, 300 * time.Second, 3},
		{"http://localhost:8000", 0, 15 * time.Minute, 1},
		{"http://192.168.1.7", 0, 15 * time.Minute, 1},
		{"http://localhost:8000", time.Hour, time.Hour, 1},
		{"http://fake", 20 * time.Minute, 20 * time.Minute, 1},
		{"http://localhost", time.Second, time.Second, 1},
	} {
		for n := range protocols {
			for _, reply := range []llmtest.Reply{{StallEarly: true}, {Stall: -1, Parts: []llm.Part{llm.Text{Text: "x"}}}} {
				synctest.Test(t, func(t *testing.T) {
					s := llmtest.New()
					s.Answer = func(llmtest.Request) llmtest.Reply { return reply }
					client, stop := s.Pipe()
					defer stop()
					p := []func() llm.Provider{
						func() llm.Provider {
							return anthropic.New(anthropic.Options{BaseURL: c.base, Key: "k", HTTPClient: client, FirstByte: c.set})
						},
						func() llm.Provider {
							return openai.New(openai.Options{BaseURL: c.base + "/v1", Key: "k", HTTPClient: client, FirstByte: c.set})
						},
					}[n]()
					began := time.Now()
					if _, _, err := llmtest.Collect(p.Stream(t.Context(), ask("x"))); err == nil || err.Kind != llm.Stalled || time.Since(began) != c.want {
						t.Errorf("%s: %v after %v", c.base, err, time.Since(began))
					}
					if c.sent > 1 {
						return
					}
					_, _, err := llmtest.Collect(llm.Retry(p, llm.RetryOptions{}).Stream(t.Context(), ask("x")))
					if err == nil || !strings.Contains(err.Message, "first_byte_timeout") || len(s.Requests()) != 2 {
						t.Errorf("%s: %v after %d requests", c.base, err, len(s.Requests()))
					}
				})
			}
		}
	}
}

// TestIncompleteIsAskedOnceMore: a reply that its server never calls complete is asked for once more, and then it counts.
func TestIncompleteIsAskedOnceMore(t *testing.T) {
	for n, body := range []string{sse(aBegin, aText(0), aSay(0, "Hi")), sse(oSay("Hi"))} {
		synctest.Test(t, func(t *testing.T) {
			s := llmtest.New()
			s.Answer = func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: body} }
			client, stop := s.Pipe()
			defer stop()
			g := collect(t, t.Context(), llm.Retry(protocols[n].make("http://fake", "k", client), llm.RetryOptions{}), ask("x"))
			if g.err != nil || g.stop.Reason != llm.Incomplete || g.text != "Hi" || len(s.Requests()) != 2 {
				t.Errorf("%v %+v %q after %d requests", g.err, g.stop, g.text, len(s.Requests()))
			}
			// One that is complete the second time is.
			s.Answer = func(req llmtest.Request) llmtest.Reply {
				if req.Attempt < 4 {
					return llmtest.Reply{Raw: body}
				}
				return llmtest.Say("Whole")
			}
			g = collect(t, t.Context(), llm.Retry(protocols[n].make("http://fake", "k", client), llm.RetryOptions{}), ask("x"))
			if g.err != nil || g.stop.Reason != llm.EndTurn || len(s.Requests()) != 4 {
				t.Errorf("%v %+v after %d requests", g.err, g.stop, len(s.Requests()))
			}
			// One that says nothing at all is tried three times.
			s.Answer = func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: ": hello\n\n"} }
			g = collect(t, t.Context(), llm.Retry(protocols[n].make("http://fake", "k", client), llm.RetryOptions{}), ask("y"))
			if g.err == nil || g.err.Kind != llm.Cut || len(s.Requests()) != 7 {
				t.Errorf("%v after %d requests", g.err, len(s.Requests()))
			}
		})
	}
}
