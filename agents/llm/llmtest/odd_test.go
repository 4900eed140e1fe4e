package llmtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fantail/agents/llm"
	"fantail/agents/llm/llmtest"
)

// told is a reply in a line: its parts, how it ended, which calls were broken.
func told(parts []llm.Part, stop *llm.Stop, err *llm.Error) string {
	var all []string
	add := func(kind, text string) {
		if n := len(all) - 1; n >= 0 && strings.HasPrefix(all[n], kind+":") && kind != "call" {
			all[n] += text
			return
		}
		all = append(all, kind+":"+text)
	}
	ids := map[string]bool{"": true}
	for _, part := range parts {
		switch part := part.(type) {
		case llm.Text:
			add("text", part.Text)
		case llm.Thinking:
			if part.Text != "" {
				add("think", part.Text)
			}
		case llm.ToolCall:
			if ids[part.ID] {
				add("the id again", part.ID)
			}
			ids[part.ID] = true
			add("call", part.Name+string(part.Args))
		case llm.Usage:
			add("usage", fmt.Sprintf("%d/%d", part.Input, part.Output))
		}
	}
	if err != nil {
		return strings.Join(append(all, "ERROR "+string(err.Kind)), "|")
	}
	all = append(all, string(stop.Reason))
	if len(stop.Broken) > 0 {
		all = append(all, "broken:"+strings.Join(stop.Broken, ","))
	}
	return strings.Join(all, "|")
}

// odd is a stream as some server sends it, and what is to be made of it.
type odd struct{ name, events, want string }

// Events of Messages. Their lines have no event field: the type stands in the data.
const (
	aBegin = `{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}`
	aStop  = `{"type":"message_stop"}`
	aEnd   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`
	aCall  = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`
	aMax   = `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}`
)

func aText(n int) string { return aBlock(n, `{"type":"text","text":""}`) }
func aTool(n int, name string) string {
	return aBlock(n, fmt.Sprintf(`{"type":"tool_use","id":"id%d","name":%q,"input":{}}`, n, name))
}

func aBlock(n int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, n, block)
}

func aDelta(n int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, n, delta)
}
func aSay(n int, s string) string { return aDelta(n, `{"type":"text_delta","text":`+quote(s)+`}`) }
func aArg(n int, s string) string {
	return aDelta(n, `{"type":"input_json_delta","partial_json":`+quote(s)+`}`)
}
func aClose(n int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, n) }

// Events of Chat Completions.
const (
	oDone  = "[DONE]"
	oStop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	oCalls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	oUse   = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9}}`
)

func oDelta(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
func oSay(s string) string   { return oDelta(`{"content":` + quote(s) + `}`) }
func oTool(calls string) string {
	return oDelta(`{"tool_calls":[` + calls + `]}`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// letters has each letter of a text in an event of its own.
func letters(s string) (all string) {
	for _, c := range s {
		all += sse(oSay(string(c)))
	}
	return all
}

var oddMessages = []odd{
	{"by the book", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aTool(1, "f"), aArg(1, `{"a"`), aArg(1, `:1}`), aClose(1), aCall, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"all 0", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aTool(0, "f"), aArg(0, `{"a":1}`), aClose(0), aCall, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"all 0, two tools", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}`), aClose(0), aTool(0, "g"), aArg(0, `{}`), aClose(0), aCall, aStop), `call:f{"a":1}|call:g{}|usage:5/9|tool_use`},
	{"all 0, no ends", sse(aBegin, aText(0), aSay(0, "Hi"), aTool(0, "f"), aArg(0, `{"a":1}`), aTool(0, "g"), aArg(0, `{"b":2}`), aCall, aStop), `text:Hi|call:f{"a":1}|call:g{"b":2}|usage:5/9|tool_use`},
	{"pieces and ends all 0", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aTool(1, "f"), aArg(0, `{"a":1}`), aClose(0), aTool(2, "g"), aArg(0, `{"b":2}`), aClose(0), aCall, aStop), `text:Hi|call:f{"a":1}|call:g{"b":2}|usage:5/9|tool_use`},
	{"pieces all 0, no ends", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}`), aTool(1, "g"), aArg(0, `{"b"`), aArg(0, `:2}`), aCall, aStop), `call:f{"a":1}|call:g{"b":2}|usage:5/9|tool_use`},
	{"no numbers", sse(aBegin, `{"type":"content_block_start","content_block":{"type":"text"}}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}`, `{"type":"content_block_stop"}`, `{"type":"content_block_start","content_block":{"type":"tool_use","id":"x","name":"f"}}`, `{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`, `{"type":"content_block_stop"}`, aCall, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"numbers as texts", sse(aBegin, strings.ReplaceAll(aText(0), `"index":0`, `"index":"0"`), aSay(0, "Hi"), strings.ReplaceAll(aClose(0), `"index":0`, `"index":"0"`), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"gap in the numbers", sse(aBegin, aText(2), aSay(2, "Hi"), aClose(2), aTool(7, "f"), aArg(7, `{}`), aClose(7), aCall, aStop), `text:Hi|call:f{}|usage:5/9|tool_use`},
	{"numbers from 1", sse(aBegin, aTool(1, "f"), aArg(1, `{}`), aClose(1), aCall, aStop), `call:f{}|usage:5/9|tool_use`},
	{"ends of blocks never opened", sse(aBegin, aClose(0), aText(1), aSay(1, "Hi"), aClose(1), aClose(1), aClose(5), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"no end of a text", sse(aBegin, aText(0), aSay(0, "Hi"), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"no end of a tool", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}`), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"no end of a tool that is cut", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":`), aCall, aStop), `usage:5/9|end_turn|broken:f`},
	{"no end of a tool without arguments", sse(aBegin, aTool(0, "f"), aCall, aStop), `call:f{}|usage:5/9|tool_use`},
	{"no end, no arguments, no reason", sse(aBegin, aTool(0, "f"), aStop), `usage:5/1|end_turn|broken:f`},
	{"end, no arguments, no reason", sse(aBegin, aTool(0, "f"), aClose(0), aStop), `call:f{}|usage:5/1|tool_use`},
	{"text without a beginning", sse(aBegin, aSay(0, "H"), aSay(0, "i"), aClose(0), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"text without beginning and end", sse(aBegin, aSay(0, "H"), aSay(0, "i"), aTool(1, "f"), aArg(1, `{}`), aClose(1), aCall, aStop), `text:Hi|call:f{}|usage:5/9|tool_use`},
	{"thinking without a beginning", sse(aBegin, aDelta(0, `{"type":"thinking_delta","thinking":"Hm"}`), aText(0), aSay(0, "Hi"), aEnd, aStop), `think:Hm|text:Hi|usage:5/9|end_turn`},
	{"arguments without a beginning", sse(aBegin, aArg(0, `{"a":1}`), aCall, aStop), `usage:5/9|end_turn|broken:a tool without a name`},
	{"text in a tool's block", sse(aBegin, aTool(0, "f"), aSay(0, "Hi"), aArg(0, `{}`), aClose(0), aCall, aStop), `text:Hi|call:f{}|usage:5/9|tool_use`},
	{"arguments in the text's block", sse(aBegin, aText(0), aTool(1, "f"), aArg(0, `{"a":1}`), aSay(1, "Hi"), aCall, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"arguments after the end", sse(aBegin, aTool(0, "f"), aClose(0), aArg(0, `{"a":1}`), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"two tools open at once", sse(aBegin, aTool(0, "f"), aTool(1, "g"), aArg(0, `{"a"`), aArg(1, `{"b"`), aArg(0, `:1}`), aArg(1, `:2}`), aClose(0), aClose(1), aCall, aStop), `call:f{"a":1}|call:g{"b":2}|usage:5/9|tool_use`},
	{"two tools open, ended the other way", sse(aBegin, aTool(0, "f"), aTool(1, "g"), aArg(0, `{"a":1}`), aArg(1, `{"b":2}`), aClose(1), aClose(0), aCall, aStop), `call:g{"b":2}|call:f{"a":1}|usage:5/9|tool_use`},
	{"text and tool open at once", sse(aBegin, aText(0), aTool(1, "f"), aSay(0, "H"), aArg(1, `{"a":1}`), aSay(0, "i"), aClose(0), aClose(1), aCall, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"the same id twice", sse(aBegin, aBlock(0, `{"type":"tool_use","id":"x","name":"f"}`), aArg(0, `{}`), aClose(0), aBlock(1, `{"type":"tool_use","id":"x","name":"g"}`), aArg(1, `{}`), aClose(1), aCall, aStop), `call:f{}|call:g{}|usage:5/9|tool_use`},
	{"input at the beginning", sse(aBegin, aBlock(0, `{"type":"tool_use","id":"x","name":"f","input":{"a":1}}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"input as a text", sse(aBegin, aBlock(0, `{"type":"tool_use","id":"x","name":"f","input":"{\"a\":1}"}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"input at the beginning and in pieces", sse(aBegin, aBlock(0, `{"type":"tool_use","id":"x","name":"f","input":{"a":1}}`), aArg(0, `{"a"`), aArg(0, `:1}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"input at the beginning, {} in a piece", sse(aBegin, aBlock(0, `{"type":"tool_use","id":"x","name":"f","input":{"a":1}}`), aArg(0, `{}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"{} before the arguments", sse(aBegin, aTool(0, "f"), aArg(0, `{}`), aArg(0, `{"a"`), aArg(0, `:1}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"arguments twice", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}`), aArg(0, `{"a":1}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"two different arguments", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}{"a":2}`), aClose(0), aCall, aStop), `usage:5/9|end_turn|broken:f`},
	{"a piece that is an object", sse(aBegin, aTool(0, "f"), aDelta(0, `{"type":"input_json_delta","partial_json":{"a":1}}`), aClose(0), aCall, aStop), `call:f{"a":1}|usage:5/9|tool_use`},
	{"reason null", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":9}}`, aStop), `text:Hi|usage:5/9|end_turn`},
	{"reason null after a call", sse(aBegin, aTool(0, "f"), aArg(0, `{}`), aClose(0), `{"type":"message_delta","delta":{"stop_reason":null}}`, aStop), `call:f{}|usage:5/1|tool_use`},
	{"no message_delta", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aStop), `text:Hi|usage:5/1|end_turn`},
	{"no message_stop", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aEnd), `text:Hi|usage:5/9|end_turn`},
	{"no message_stop after a call", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}`), aCall), `call:f{"a":1}|usage:5/9|tool_use`},
	{"[DONE] for message_stop", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), oDone), `text:Hi|usage:5/1|end_turn`},
	{"[DONE] after message_stop", sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop, oDone), `text:Hi|usage:5/9|end_turn`},
	{"no end at all", sse(aBegin, aText(0), aSay(0, "Hi")), `text:Hi|usage:5/1|incomplete`},
	{"no end after a whole call", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":1}`)), `call:f{"a":1}|usage:5/1|incomplete`},
	{"no end in a call", sse(aBegin, aTool(0, "f"), aArg(0, `{"a":`)), `usage:5/1|incomplete|broken:f`},
	{"no end before the arguments", sse(aBegin, aTool(0, "f"), aClose(0)), `usage:5/1|incomplete|broken:f`},
	{"nothing", sse(aBegin), `ERROR stream cut`},
	{"no message_start", sse(aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop), `text:Hi|usage:0/9|end_turn`},
	{"two message_starts", sse(aBegin, aBegin, aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"whole message at the beginning", sse(`{"type":"message_start","message":{"content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"x","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}}`, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"whole message at the beginning, and pieces", sse(`{"type":"message_start","message":{"content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":5}}}`, aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"whole message", sse(`{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"Hi"},{"type":"tool_use","id":"x","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}`), `think:Hm|text:Hi|call:f{}|usage:5/9|tool_use`},
	{"whole message whose content is a text", sse(`{"type":"message","content":"Hi","stop_reason":"end_turn"}`), `text:Hi|end_turn`},
	{"whole blocks in their beginnings", sse(aBegin, aBlock(0, `{"type":"text","text":"Hi"}`), aClose(0), aBlock(1, `{"type":"tool_use","id":"x","name":"f","input":{"a":1}}`), aClose(1), aCall, aStop), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"beginning of no kind", sse(aBegin, aBlock(0, `{}`), aSay(0, "Hi"), aClose(0), aBlock(1, `{"id":"x","name":"f"}`), aArg(1, `{}`), aClose(1), aCall, aStop), `text:Hi|call:f{}|usage:5/9|tool_use`},
	{"pieces of no kind", sse(aBegin, aText(0), aDelta(0, `{"text":"Hi"}`), aClose(0), aTool(1, "f"), aDelta(1, `{"partial_json":"{}"}`), aClose(1), aCall, aStop), `text:Hi|call:f{}|usage:5/9|tool_use`},
	{"usage as a text", sse(strings.Replace(aBegin, `{"input_tokens":5,"output_tokens":1}`, `"5 tokens"`, 1), aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop), `text:Hi|usage:0/9|end_turn`},
	{"usage null", sse(strings.Replace(aBegin, `{"input_tokens":5,"output_tokens":1}`, `null`, 1), aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop), `text:Hi|usage:0/9|end_turn`},
	{"counts as texts", sse(strings.Replace(aBegin, `5`, `"5"`, 1), aText(0), aSay(0, "Hi"), aClose(0), strings.Replace(aEnd, `9`, `9.0`, 1), aStop), `text:Hi|usage:5/9|end_turn`},
	{"names of events alone", "event: message_start\ndata: {}\n\nevent: content_block_delta\ndata: {\"delta\":{\"text\":\"Hi\"}}\n\nevent: message_stop\ndata: {}\n\n", `text:Hi|end_turn`},
	{"neither names nor types", sse(`{"message":{}}`, `{"content_block":{"type":"text"}}`, `{"delta":{"type":"text_delta","text":"Hi"}}`, `{"delta":{"stop_reason":"end_turn"}}`), `text:Hi|end_turn`},
	{"unknown events and pieces", sse(aBegin, `{"type":"x"}`, `null`, `[]`, `"x"`, `0`, aText(0), aDelta(0, `{"type":"citations_delta","citation":{}}`), aSay(0, "Hi"), aClose(0), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"a server's own tool", sse(aBegin, aBlock(0, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), aArg(0, `{"q":1}`), aClose(0), aTool(1, "f"), aArg(1, `{}`), aClose(1), aCall, aStop), `call:f{}|usage:5/9|tool_use`},
	{"the token limit in the last call", sse(aBegin, aTool(0, "f"), aArg(0, `{}`), aClose(0), aTool(1, "g"), aClose(1), aMax, aStop), `call:f{}|usage:5/9|length|broken:g`},
	{"thinking in tags", sse(aBegin, aText(0), aSay(0, "<thi"), aSay(0, "nk>Hm</th"), aSay(0, "ink>\n\nHi"), aClose(0), aEnd, aStop), `think:Hm|text:Hi|usage:5/9|end_turn`},
	{"error null", sse(aBegin, aText(0), strings.Replace(aSay(0, "Hi"), `{`, `{"error":null,`, 1), aClose(0), aEnd, aStop), `text:Hi|usage:5/9|end_turn`},
	{"error without a type", sse(aBegin, aText(0), aSay(0, "Hi"), `{"error":{"type":"overloaded_error","message":"busy"}}`), `text:Hi|ERROR overloaded`},
	{"no last empty line", strings.TrimSuffix(sse(aBegin, aText(0), aSay(0, "Hi"), aClose(0), aEnd, aStop), "\n\n"), `text:Hi|usage:5/9|end_turn`},
}

var oddChats = []odd{
	{"by the book", sse(oSay("Hi"), oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\""}}`), oTool(`{"index":0,"function":{"arguments":":1}"}}`), oCalls, oUse, oDone), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"[DONE] without a reason", sse(oSay("H"), oSay("i"), oDone), `text:Hi|end_turn`},
	{"[DONE] without a reason after a call", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}`), oDone), `call:f{"a":1}|tool_use`},
	{"[DONE] without a reason in a call", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":"}}`), oDone), `end_turn|broken:f`},
	{"[DONE] without a reason or arguments", sse(oTool(`{"index":0,"id":"x","function":{"name":"f"}}`), oDone), `call:f{}|tool_use`},
	{"[DONE] alone", sse(oDone), `ERROR stream cut`},
	{"[DONE] without its empty line", strings.TrimSuffix(sse(oSay("Hi"), oDone), "\n\n"), `text:Hi|end_turn`},
	{"reason, no [DONE]", sse(oSay("Hi"), oStop), `text:Hi|end_turn`},
	{"no end", sse(oSay("Hi")), `text:Hi|incomplete`},
	{"no end after a whole call", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}`)), `call:f{"a":1}|incomplete`},
	{"no end in a call", sse(oSay("Hi"), oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":"}}`)), `text:Hi|incomplete|broken:f`},
	{"no end before the arguments", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":""}}`)), `incomplete|broken:f`},
	{"cut in an event", sse(oSay("Hi")) + `data: {"choices":[{"index":0,"del`, `text:Hi|ERROR stream cut`},
	{"cut in the mark", sse(oSay("Hi")) + `data: [DON`, `text:Hi|ERROR stream cut`},
	{"reason null as a text", sse(strings.Replace(oSay("Hi"), `}]}`, `,"finish_reason":"null"}]}`, 1), oDone), `text:Hi|end_turn`},
	{"reason empty", sse(oSay("Hi"), strings.Replace(oStop, `"stop"`, `""`, 1), oDone), `text:Hi|end_turn`},
	{"reason in each event", sse(strings.Replace(oSay("H"), `}]}`, `,"finish_reason":"stop"}]}`, 1), oSay("i"), oDone), `text:Hi|end_turn`},
	{"whole message", sse(`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":9}}`, oDone), `text:Hi|call:f{"a":1}|usage:5/9|tool_use`},
	{"whole message, no end", sse(`{"choices":[{"message":{"content":"Hi"}}]}`), `text:Hi|end_turn`},
	{"whole message after its pieces", sse(oSay("Hi"), `{"choices":[{"index":0,"delta":{},"message":{"content":"Hi"},"finish_reason":"stop"}]}`, oDone), `text:Hi|end_turn`},
	{"usage as a text", sse(oSay("Hi"), `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":"9"}`, oDone), `text:Hi|end_turn`},
	{"usage null after a usage", sse(oSay("Hi"), oStop, oUse, `{"choices":[],"usage":null}`, oDone), `text:Hi|usage:5/9|end_turn`},
	{"counts as texts", sse(oSay("Hi"), oStop, strings.NewReplacer("5", `"5"`, "9", "9.0").Replace(oUse), oDone), `text:Hi|usage:5/9|end_turn`},
	{"index as a text", sse(strings.Replace(oSay("Hi"), `"index":0`, `"index":"0"`, 1), oTool(`{"index":"0","id":"x","function":{"name":"f","arguments":"{}"}},{"index":"1","id":"y","function":{"name":"g","arguments":"{}"}}`), oCalls, oDone), `text:Hi|call:f{}|call:g{}|tool_use`},
	{"index after the first piece", sse(oTool(`{"id":"x","function":{"name":"f","arguments":"{\"a\""}}`), oTool(`{"index":0,"function":{"arguments":":1}"}}`), oTool(`{"index":null,"id":"y","function":{"name":"g"}}`), oTool(`{"index":1,"function":{"arguments":"{\"b\":2}"}}`), oCalls, oDone), `call:f{"a":1}|call:g{"b":2}|tool_use`},
	{"{} before the arguments", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}`), oTool(`{"index":0,"function":{"arguments":"{\"a\":1}"}}`), oCalls, oDone), `call:f{"a":1}|tool_use`},
	{"{} after the arguments", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}`), oTool(`{"index":0,"function":{"arguments":"{}"}}`), oCalls, oDone), `call:f{"a":1}|tool_use`},
	{"arguments twice", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"a\":1}"}}`), oTool(`{"index":0,"function":{"arguments":"{\"a\":1}"}}`), oCalls, oDone), `call:f{"a":1}|tool_use`},
	{"arguments as a list", sse(oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":[]}}`), oCalls, oDone), `call:f{}|tool_use`},
	{"id as a number", sse(oTool(`{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}},{"index":1,"id":7,"function":{"name":"g","arguments":"{}"}}`), oCalls, oDone), `call:f{}|call:g{}|tool_use`},
	{"choices null", sse(`{"choices":null}`, oSay("Hi"), `{"choices":"x"}`, oStop, oDone), `text:Hi|end_turn`},
	{"delta null", sse(`{"choices":[{"index":0,"delta":null}]}`, oSay("Hi"), oStop, oDone), `text:Hi|end_turn`},
	{"content in pieces of types", sse(oDelta(`{"content":[{"type":"text","text":"H"},{"type":"x"},"i",null,0]}`), oStop, oDone), `text:Hi|end_turn`},
	{"content an object", sse(oDelta(`{"content":{"type":"text","text":"Hi"}}`), oStop, oDone), `text:Hi|end_turn`},
	{"content a number, refusal a list", sse(oDelta(`{"content":0,"refusal":[]}`), oSay("Hi"), oStop, oDone), `text:Hi|end_turn`},
	{"error empty", sse(strings.Replace(oSay("Hi"), `{`, `{"error":{},`, 1), `{"error":""}`, `{"error":[]}`, oStop, oDone), `text:Hi|end_turn`},
	{"what is no event", sse(`null`, `[]`, `"x"`, `0`, oSay("Hi"), oStop, oDone), `text:Hi|end_turn`},
	{"thinking in tags", sse(oSay("<think>Hm</think>\n\nHi"), oStop, oDone), `think:Hm|text:Hi|end_turn`},
	{"thinking in tags, letter by letter", letters("\n<think>\nH<m</think>Hi") + sse(oStop, oDone), "think:\nH<m|text:Hi|end_turn"},
	{"thinking that nothing ends", sse(oSay("<think>Hm"), oSay(" </th"), oStop, oDone), `think:Hm </th|end_turn`},
	{"tags that are no thinking", sse(oSay("Write <think>x</think>"), oStop, oDone), `text:Write <think>x</think>|end_turn`},
	{"a second thinking", sse(oSay("<think>a</think>b <think>c</think>"), oStop, oDone), `think:a|text:b <think>c</think>|end_turn`},
	{"the beginning of a tag", sse(oSay("<thi"), oStop, oDone), `text:<thi|end_turn`},
	{"blanks and a letter", sse(oSay(" \n"), oSay("<b>"), oStop, oDone), "text: \n<b>|end_turn"},
	{"thinking in tags before a call", sse(oSay("<think>Hm"), oTool(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}`), oCalls, oDone), `think:Hm|call:f{}|tool_use`},
	{"empty thinking", sse(oSay("<think>\n\n</think>\n\nHi"), oStop, oDone), "think:\n\n|text:Hi|end_turn"},
}

// TestOdd: what servers leave out, repeat or send in another form loses nothing of a reply.
func TestOdd(t *testing.T) {
	for n, rows := range [][]odd{oddMessages, oddChats} {
		s := llmtest.New()
		base, client := s.Loopback(t)
		p := protocols[n].make(base, "sk-test-0123456789abcdef", client)
		for _, row := range rows {
			s.Add(llmtest.Reply{Raw: row.events})
			if got := told(llmtest.Collect(p.Stream(t.Context(), ask("x")))); got != row.want {
				t.Errorf("%s, %s:\n got %s\nwant %s", protocols[n].name, row.name, got, row.want)
			}
		}
		t.Logf("%s: %d streams", protocols[n].name, len(rows))
	}
}

// optional are the members that a reply can do without: what a stream has of them, to be replaced by what is odd.
var optional = [][]string{
	{
		`"input_tokens":5`, `"output_tokens":1`, `"usage":{"output_tokens":9}`, `"usage":{"input_tokens":5,"output_tokens":1}`, `"stop_reason":"tool_use"`,
		`"output_tokens":9`, `"id":"id1"`, `"input":{}`, `"index":1`, `"index":0`, `"text":""`, `"signature":"s"`, `"role":"assistant"`, `"model":"m"`, `"content":[]`,
		`"stop_sequence":"z"`, `"cache_read_input_tokens":3`, `"output_tokens_details":{"thinking_tokens":2}`,
	}, {
		`"id":"c"`, `"created":1`, `"index":0`, `"finish_reason":"tool_calls"`, `"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}`,
		`"prompt_tokens":5`, `"completion_tokens":9`, `"prompt_tokens_details":{"cached_tokens":1}`, `"cached_tokens":1`, `"id":"x"`, `"type":"function"`, `"refusal":null`, `"role":"assistant"`,
		`"reasoning_content":""`, `"reasoning":""`, `"finish_reason":null`, `"logprobs":null`, `"system_fingerprint":"z"`,
	},
}

var whole = []string{
	sse(`{"type":"message_start","message":{"role":"assistant","model":"m","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, aSay(0, "Hi"), aClose(0),
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"id1","name":"f","input":{},"signature":"s"}}`, aArg(1, `{"a":`), aArg(1, `1}`), aClose(1),
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":"z"},"usage":{"output_tokens":9}}`,
		`{"type":"message_delta","delta":{},"usage":{"cache_read_input_tokens":3,"output_tokens_details":{"thinking_tokens":2}}}`, aStop),
	sse(`{"id":"c","created":1,"system_fingerprint":"z","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi","refusal":null,"reasoning_content":"","reasoning":""},"finish_reason":null,"logprobs":null}]}`,
		`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]},"finish_reason":null}]}`,
		`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":null}]}`,
		`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"id":"c","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}}`, oDone),
}

// TestOddMembers: a member that a reply can do without loses nothing else of it, whatever stands in its place.
func TestOddMembers(t *testing.T) {
	rows := 0
	for n, members := range optional {
		s := llmtest.New()
		base, client := s.Loopback(t)
		p := protocols[n].make(base, "sk-test-0123456789abcdef", client)
		for _, member := range members {
			if !strings.Contains(whole[n], member) {
				t.Fatalf("%s is in no event", member)
			}
			name, _, _ := strings.Cut(member, ":")
			for _, value := range []string{"[]", "null", `"x"`, "0", "{}", "false", "1.5", "-1", "", "twice"} {
				odd := name + ":" + value
				switch value {
				case "":
					odd = `"unknown":0`
				case "twice":
					odd = member + "," + member
				}
				rows++
				s.Add(llmtest.Reply{Raw: strings.ReplaceAll(whole[n], member, odd)})
				got := told(llmtest.Collect(p.Stream(t.Context(), ask("x"))))
				if text := strings.Contains(got, `Hi|`); !strings.Contains(got, `call:f{"a":1}`) || !text && name != `"text"` && name != `"reasoning_content"` && name != `"reasoning"` || strings.Contains(got, "broken") || strings.Contains(got, "ERROR") {
					t.Errorf("%s, %s: %s", protocols[n].name, odd, got)
				}
			}
		}
	}
	t.Logf("%d streams", rows)
}

// TestNoStream: a server that does not stream sends the whole reply.
func TestNoStream(t *testing.T) {
	for n, body := range []string{
		`{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"x","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}`,
		`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":9}}`,
	} {
		s := llmtest.New(llmtest.Reply{Status: 200, Body: body, Header: http.Header{"Content-Type": {"application/json"}}})
		base, client := s.Loopback(t)
		p := protocols[n].make(base, "sk-test-0123456789abcdef", client)
		if got := told(llmtest.Collect(p.Stream(t.Context(), ask("x")))); got != `text:Hi|call:f{"a":1}|usage:5/9|tool_use` {
			t.Errorf("%s: %s", protocols[n].name, got)
		}
	}
}
