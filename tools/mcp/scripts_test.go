package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fantail/.ci/long"
)

// script is what the hostile server writes when its tool of that name is called. $ID is the number of the call, $TOKEN
// that of its progress, $OK the answer that is right. Lines end where they end here.
type script struct {
	name, writes string
	after        int // so many answers of ours are read first, before the right answer follows

	says  string // in the result
	fails bool
}

const okay = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]}}` + "\n"

// result is an answer with that result.
func result(json string) string { return `{"jsonrpc":"2.0","id":$ID,"result":` + json + "}\n" }

// note is a notification.
func note(method, params string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + "}\n"
}

// request is a request of the server's.
func request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + "}\n"
}

const (
	quiet  = "gave no sign of life"
	broken = "it wrote a broken message: "
	errs   = "answers with an error: "
)

// times is strings.Repeat, which [spread] does later where it is much: only the one script that plays needs its text.
func times(what string, n int) string {
	if n*len(what) < 10_000 {
		return strings.Repeat(what, n)
	}
	return fmt.Sprintf("\x01%d\x02%s\x03", n, what)
}

// spread returns what a script writes, in full.
func spread(writes string) string {
	before, rest, much := strings.Cut(writes, "\x01")
	if !much {
		return writes
	}
	number, rest, _ := strings.Cut(rest, "\x02")
	what, rest, _ := strings.Cut(rest, "\x03")
	n, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	return before + strings.Repeat(what, n) + spread(rest)
}

// scripts are misbehaviours in a call.
func scripts() []script {
	url := func(address string) string {
		return request("900", "elicitation/create", `{"mode":"url","message":"Log in","elicitationId":"e","url":"`+address+`"}`)
	}
	form := func(schema string) string {
		return request("900", "elicitation/create", `{"message":"Tell","requestedSchema":`+schema+`}`)
	}
	var fields []string
	for n := range 31 { // a form has at most 30
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string"}`, n))
	}
	return []script{
		// Frames.
		{name: "nul_raw", writes: `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a` + "\x00" + `b"}]}}` + "\n", says: broken, fails: true},
		{name: "nul_between", writes: "\x00\x00\x00\n" + okay, says: "fine"},
		{name: "nul_escaped", writes: result(`{"content":[{"type":"text","text":"a\u0000b"}]}`), says: "a\uFFFDb"},
		{name: "bom", writes: "\xef\xbb\xbf" + okay, says: "fine"},
		{name: "utf16", writes: "\xff\xfe{\x00\"\x00j\x00s\x00o\x00n\x00\n", says: quiet, fails: true},
		{name: "cr_only", writes: strings.ReplaceAll(okay, "\n", "\r"), says: "stopped in the middle of a message", fails: true},
		{name: "no_newline", writes: strings.TrimSpace(okay), says: "stopped in the middle of a message", fails: true},
		{name: "two_on_a_line", writes: strings.TrimSpace(okay) + okay, says: "fine"}, // the first counts
		{name: "pretty", writes: "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": $ID,\n  \"result\": {}\n}\n", says: broken + `"jsonrpc": "2.0",`, fails: true},
		{name: "lsp_frames", writes: "Content-Length: 80\r\n\r\n" + strings.TrimSpace(okay), says: "stopped in the middle of a message", fails: true},
		{name: "sse_frames", writes: "event: message\ndata: " + okay + "\n", says: quiet, fails: true},
		{name: "logs_its_messages", writes: "[debug] <- {\"jsonrpc\":\"2.0\",\"id\":1}\nDEBUG {\"jsonrpc\":\"2.0\"\n" + okay, says: "fine"},
		{name: "comma", writes: `{"jsonrpc":"2.0","id":$ID,"result":{},}` + "\n", says: broken, fails: true},
		{name: "comment", writes: `{"jsonrpc":"2.0",/* hi */"id":$ID,"result":{}}` + "\n", says: broken, fails: true},
		{name: "nan", writes: result(`{"content":[],"structuredContent":{"n":NaN}}`), says: broken, fails: true},
		{name: "blank_megabyte", writes: times(" ", 1<<20) + "\n" + okay, says: "fine"},
		{name: "interleaved", writes: `{"jsonrpc":"2.0","id":$ID,"res{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", says: broken, fails: true},

		// Messages.
		{name: "id_null", writes: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n", says: quiet, fails: true},
		{name: "id_null_then", writes: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n" + okay, says: "fine"},
		{name: "id_object", writes: `{"jsonrpc":"2.0","id":{"a":1},"result":{}}` + "\n" + okay, says: broken, fails: true},
		{name: "id_huge", writes: `{"jsonrpc":"2.0","id":1e300,"result":{}}` + "\n" + okay, says: "fine"},
		{name: "id_beyond", writes: `{"jsonrpc":"2.0","id":1e999,"result":{}}` + "\n" + okay, says: "fine"},
		{name: "id_negative", writes: `{"jsonrpc":"2.0","id":-1,"result":{}}` + "\n" + okay, says: "fine"},
		{name: "nothing_in_it", writes: `{"jsonrpc":"2.0","id":$ID}` + "\n", fails: true},
		{name: "keys_twice", writes: `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"result":{"content":[{"type":"text","text":"fine"}]}}` + "\n", says: "fine"},
		{name: "keys_in_capitals", writes: `{"JSONRPC":"2.0","ID":$ID,"RESULT":{}}` + "\n", says: quiet, fails: true},
		{name: "request_and_result", writes: `{"jsonrpc":"2.0","id":$ID,"method":"ping","result":{}}` + "\n" + okay, says: "fine"},
		{name: "our_id", writes: request("$ID", "ping", "{}") + okay, says: "fine"},
		{name: "version_number", writes: `{"jsonrpc":2.0,"id":$ID,"result":{}}` + "\n", says: "[no output]"},
		{name: "error_words", writes: `{"jsonrpc":"2.0","id":$ID,"error":"it failed"}` + "\n", says: errs, fails: true},
		{name: "error_null", writes: `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"fine"}]},"error":null}` + "\n", says: "fine"},
		{name: "error_long", writes: `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"` + times("so sorry ", 200_000) + `"}}` + "\n", says: errs, fails: true},
		{name: "error_escapes", writes: `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"\u001b]0;x\u0007\u202e"}}` + "\n", says: errs, fails: true},
		{name: "error_data", writes: `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no","data":` + times("[", 500) + times("]", 500) + `}}` + "\n", says: errs, fails: true},
		{name: "nobodys_answers", writes: times(`{"jsonrpc":"2.0","id":77777,"result":{}}`+"\n", long.Times(1000, 5000)) + okay, says: "fine"},
		{name: "answered_late", says: quiet, fails: true}, // the next call gets this one's answer first

		// Batches.
		{name: "batch_of_more", writes: `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},` + strings.TrimSpace(okay) + "]\n", says: "fine"},
		{name: "batch_asks", writes: `[` + strings.TrimSpace(request("901", "ping", "{}")) + `,` + strings.TrimSpace(request("902", "roots/list", "{}")) + "]\n", after: 2, says: `"uri":"file:///`},
		{name: "batch_empty", writes: "[]\n" + okay, says: "fine"},
		{name: "batch_of_junk", writes: `[{"jsonrpc":"2.0","method":"x"},1]` + "\n", says: broken, fails: true},
		{name: "batch_in_batch", writes: `[[` + strings.TrimSpace(okay) + "]]\n", says: broken, fails: true},
		{name: "batch_cut", writes: `[{"jsonrpc":"2.0","method":"x"},{"jsonrpc"` + "\n", says: broken, fails: true},
		{name: "batch_long", writes: `[` + times(`{"jsonrpc":"2.0","method":"x"},`, maxBatch+1) + "1]\n", says: broken, fails: true},

		// Results.
		{name: "result_text", writes: result(`"fine"`), says: errs, fails: true},
		{name: "result_array", writes: result(`[]`), says: "[no output]"},
		{name: "result_number", writes: result(`1e999`), says: errs, fails: true},
		{name: "error_flag_text", writes: result(`{"content":[],"isError":"yes"}`), says: "", fails: true},
		{name: "error_structured", writes: result(`{"content":[],"isError":true,"structuredContent":{"code":7}}`), says: `"code": 7`, fails: true},
		{name: "structured_deep", writes: result(`{"content":[],"structuredContent":` + times(`{"a":`, 9000) + "1" + times("}", 9000) + `}`), says: broken, fails: true},
		{name: "structured_nested", writes: result(`{"content":[],"structuredContent":` + times(`{"a":`, 900) + "1" + times("}", 900) + `}`), says: "{\n \"a\": {\n  \"a\""},
		{name: "structured_number", writes: result(`{"content":[],"structuredContent":{"n":123456789012345678901234567890}}`), says: `"n": 1`},
		{name: "structured_beyond", writes: result(`{"content":[],"structuredContent":{"n":1e999}}`), says: `"n": 1.79`},
		{name: "structured_array", writes: result(`{"content":[],"structuredContent":[1]}`), says: "1"},
		{name: "meta_number", writes: result(`{"content":[],"_meta":5}`), says: "[no output]"},
		{name: "content_10000", writes: result(`{"content":[` + times(`{"type":"text","text":"many"},`, 10_000) + `{"type":"text","text":"end"}]}`), says: "many\nmany"},
		{name: "text_missing", writes: result(`{"content":[{"type":"text"}]}`), says: "[no output]"},
		{name: "text_number", writes: result(`{"content":[{"type":"text","text":5}]}`), says: "5"},
		{name: "image_no_base64", writes: result(`{"content":[{"type":"image","data":"%%%","mimeType":"image/png"}]}`), says: "can't be read"},
		{name: "link_empty", writes: result(`{"content":[{"type":"resource_link"}]}`)},
		{name: "text_and_blob", writes: result(`{"content":[{"type":"resource","resource":{"uri":"a://b","text":"t","blob":"aGk="}}]}`), says: "a://b"},
		{name: "more_rounds", writes: result(`{"resultType":"input_required","inputRequests":{},"content":[]}`), says: errs, fails: true},

		// Notifications.
		{name: "progress_strange", writes: note("notifications/progress", `{"progressToken":"nobody","progress":1}`) + note("notifications/progress", `{"progressToken":true,"progress":1}`) +
			note("notifications/progress", `{"progressToken":"$TOKEN","progress":"half"}`) + okay, says: "fine"},
		{name: "progress_back", writes: note("notifications/progress", `{"progressToken":"$TOKEN","progress":9,"total":3}`) + note("notifications/progress", `{"progressToken":"$TOKEN","progress":-1e300,"total":1e-300}`) + okay, says: "fine"},
		{name: "progress_flood", writes: times(note("notifications/progress", `{"progressToken":"$TOKEN","progress":1,"message":"on"}`), long.Times(1000, 10_000)) + okay, says: "fine"},
		{name: "progress_long", writes: note("notifications/progress", `{"progressToken":"$TOKEN","progress":1,"message":"`+times("on ", 300_000)+`"}`) + okay, says: "fine"},
		{name: "log_flood", writes: times(note("notifications/message", `{"level":"debug","data":"`+times("x", 800)+`"}`), long.Times(1000, 5000)) + okay, says: "fine"},
		{name: "log_strange", writes: note("notifications/message", `{"level":"\u001b[31m","data":{"a":["\u001b[2J"]}}`) + note("notifications/message", `{"level":5,"data":null}`) + note("notifications/message", `{}`) + okay, says: "fine"},
		{name: "changed_all", writes: note("notifications/prompts/list_changed", `{}`) + note("notifications/resources/list_changed", `{}`) + note("notifications/resources/updated", `{"uri":"db://x"}`) +
			note("notifications/no/such", `{}`) + note("notifications/initialized", `{}`) + okay, says: "fine"},
		{name: "cancels_unknown", writes: note("notifications/cancelled", `{"requestId":4711}`) + note("notifications/cancelled", `{"requestId":"a"}`) + note("notifications/cancelled", `{"requestId":null}`) + okay, says: "fine"},
		{name: "cancels_ours", writes: note("notifications/cancelled", `{"requestId":$ID}`) + okay, says: "fine"},
		{name: "params_array", writes: `{"jsonrpc":"2.0","method":"notifications/message","params":[1]}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/message","params":"x"}` + "\n" + okay, says: "fine"},

		// Requests.
		{name: "method_empty", writes: request("901", "", "{}"), after: 1, says: "not found"},
		{name: "method_number", writes: `{"jsonrpc":"2.0","id":901,"method":5}` + "\n", says: broken, fails: true},
		{name: "method_long", writes: request("901", times("m", 1<<20), "{}"), after: 1, says: "not found"},
		{name: "asks_to_begin", writes: request("901", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}`), after: 1, says: "not found"},
		{name: "calls_us", writes: request("901", "tools/call", `{"name":"bash","arguments":{"command":"id"}}`), after: 1, says: "not found"},
		{name: "ids_of_text", writes: request(`"a"`, "ping", "{}") + request(`""`, "ping", "{}"), after: 2, says: "{}\n{}"},
		{name: "ids_twice", writes: request("901", "roots/list", "{}") + request("901", "roots/list", "{}"), after: 1, says: "file:///"},
		{name: "ping_flood", writes: times(request("901", "ping", "{}"), 1), after: -long.Times(1000, 20_000), says: "{}"},
		{name: "roots_flood", writes: times(request("901", "roots/list", "{}"), 1), after: -long.Times(300, 2000), says: "file:///"},
		{name: "sampling_flood", after: -long.Times(50, 300), writes: request("901", "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}`), says: "does not support"},

		// Questions. Nobody is there to answer, so that each ends as a refusal or an error.
		{name: "ask_no_schema", writes: request("900", "elicitation/create", `{"message":"Sure?"}`), after: 1, says: "decline"},
		{name: "ask_many_fields", writes: form(`{"type":"object","properties":{` + strings.Join(fields, ",") + `}}`), after: 1, says: "at most 30 fields"},
		{name: "ask_schema_text", writes: form(`"words"`), after: 1, says: "{"},
		{name: "ask_schema_array", writes: form(`[]`), after: 1, says: "{"},
		{name: "ask_nested", writes: form(`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}`), after: 1, says: "{"},
		{name: "ask_ref", writes: form(`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`), after: 1, says: "{"},
		{name: "ask_itself", writes: form(`{"type":"object","properties":{"a":{"$ref":"#"}}}`), after: 1, says: "{"},
		{name: "ask_javascript", writes: url(`javascript:alert(1)`), after: 1, says: "no address that can be visited"},
		{name: "ask_file", writes: url(`file:///etc/passwd`), after: 1, says: "no address that can be visited"},
		{name: "ask_as_somebody", writes: url(`https://bank.example@evil.example/`), after: 1, says: "no address that can be visited"},
		{name: "ask_escape", writes: url(`https://a.example/\u001b[2J`), after: 1, says: "no address that can be visited"},
		{name: "ask_backwards", writes: url(`https://a.example/\u202egpj.exe`), after: 1, says: "no address that can be visited"},
		{name: "ask_no_host", writes: url(`https:///x`), after: 1, says: "no address that can be visited"},
		{name: "ask_long", writes: url(`https://a.example/` + times("x", 3000)), after: 1, says: "no address that can be visited"},
		{name: "ask_mode", writes: request("900", "elicitation/create", `{"mode":"telepathy","message":"Think"}`), after: 1, says: "{"},
	}
}

// play plays the script of that name.
func (s *hostile) play(m wire) {
	if s.scripts == nil {
		s.scripts = scripts()
	}
	all := s.scripts
	i := slices.IndexFunc(all, func(c script) bool { return c.name == m.Params.Name })
	if s.late != "" {
		say(`%s`, s.late)
		s.late = ""
	}
	switch {
	case i < 0:
		s.answer(m, text("fine"))
		return
	case m.Params.Name == "answered_late":
		s.late = `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + text("stale") + `}`
		return
	}
	c := all[i]
	replacer := strings.NewReplacer("$ID", string(m.ID), `"$TOKEN"`, string(m.Params.Meta.Token))
	fill := func(writes string) string { return replacer.Replace(spread(writes)) }
	switch {
	case c.after < 0: // as many times, each with a number of its own
		go func() {
			for n := range -c.after {
				_, _ = os.Stdout.WriteString(strings.Replace(c.writes, "901", fmt.Sprint(10_000+n), 1))
			}
		}()
		s.after(m, -c.after)
	case c.after > 0:
		_, _ = os.Stdout.WriteString(fill(c.writes))
		s.after(m, c.after)
	default:
		_, _ = os.Stdout.WriteString(fill(c.writes))
	}
}

// deadly reports whether the script ends the server, or keeps a call waiting.
func (c script) deadly() bool {
	return c.says == quiet || strings.HasPrefix(c.says, "stopped") || strings.HasPrefix(c.says, broken)
}

// Whatever a server writes in a call, that call ends, with a clear text where it fails; the next one works; little of it
// is shown, and what is kept of it is small. One server plays all that it survives.
func TestRoom_scripts(t *testing.T) {
	plays := func(t *testing.T, b *bed, c script) {
		b.t = t
		r, _ := b.call(t.Context(), "mcp__one__"+c.name, `{}`)
		if r.Error != c.fails || !strings.Contains(r.Text, c.says) {
			t.Errorf("%v %.600q", r.Error, r.Text)
		}
		if len(r.Text) > 40_000 || r.Error && len(r.Text) > 4000 || r.Error && strings.ContainsAny(r.Text, "\x1b\x07\u202e") {
			t.Errorf("%d bytes: %.600q", len(r.Text), r.Text)
		}
		if r, _ := b.call(t.Context(), "mcp__one__ok", `{}`); r.Text != "fine" {
			t.Errorf("afterwards %.600q\n%s", r.Text, b.Log("one"))
		}
		if log := b.Log("one"); len(log) > 2*maxLog || strings.ContainsAny(log, "\x1b\x07\u202e") {
			t.Errorf("its log has %d bytes: %.600q", len(log), log)
		}
	}
	s := child(t, "one", "scripts")
	s.Timeout = time.Minute // so much takes its time on a busy machine
	t.Run("survived", func(t *testing.T) {
		t.Parallel()
		b := open(t, Options{}, s)
		b.Lend(t.Context())
		pid := b.state("one").PID
		for _, c := range long.Some(t, 8, scripts()) {
			if !c.deadly() {
				t.Run(c.name, func(t *testing.T) { plays(t, b, c) })
			}
		}
		if now := b.state("one").PID; now != pid {
			t.Error("it was started anew", b.Log("one"))
		}
	})
	for _, c := range long.Some(t, 8, scripts()) {
		if !c.deadly() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := child(t, "one", "scripts", "ONLY", c.name)
			s.Timeout = time.Minute
			if !strings.HasPrefix(c.says, broken) {
				s.Timeout = 500 * time.Millisecond
			}
			b := open(t, Options{}, s)
			b.Lend(t.Context())
			plays(t, b, c)
		})
	}
}

// greeting is what the hostile server answers to a request of its start, by method. What is not named is answered as usual.
type greeting struct {
	name    string
	answers map[string]string // in the place of a result a whole line, or several

	says  string // the error; "": it starts
	tools int
}

// hello is an answer to initialize.
func hello(capabilities, rest string) map[string]string {
	return map[string]string{"initialize": result(`{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"serverInfo":{"name":"x","version":"1"}` + rest + `}`)}
}

// lists are answers to tools/list.
func lists(tools string) map[string]string {
	return map[string]string{"tools/list": result(`{"tools":[` + tools + `]}`)}
}

// greetings are misbehaviours at the start.
func greetings() []greeting {
	usual := hello(`{"tools":{}}`, "")["initialize"]
	with := func(line string) map[string]string { return map[string]string{"initialize": line} }
	named := func(name string) map[string]string {
		return lists(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)
	}
	schema := func(s string) map[string]string { return lists(`{"name":"a","inputSchema":` + s + `}`) }
	refused := func(method string) map[string]string {
		return map[string]string{
			"initialize": hello(`{"tools":{},"prompts":{},"resources":{}}`, "")["initialize"],
			method:       `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"not today"}}` + "\n",
		}
	}
	return []greeting{
		{name: "notes first", answers: with(note("notifications/message", `{"level":"info","data":"hi"}`) + note("notifications/tools/list_changed", "{}") + usual), tools: 1},
		{name: "asks first", answers: with(request("900", "ping", "{}") + request("901", "roots/list", "{}") + request("902", "elicitation/create", `{"message":"?"}`) + usual), tools: 1},
		{name: "twice", answers: with(usual + usual), tools: 1},
		{name: "refuses", answers: with(`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"pay first"}}` + "\n"), says: "pay first"},
		{name: "version empty", answers: with(result(`{"protocolVersion":"","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)), says: "protocol version"},
		{name: "version number", answers: with(result(`{"protocolVersion":2025,"capabilities":{}}`)), says: "does not start"},
		{name: "version future", answers: with(result(`{"protocolVersion":"2999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)), says: "protocol version"},
		{name: "result null", answers: with(result("null")), says: "does not start"},
		{name: "result text", answers: with(result(`"hello"`)), says: "does not start"},
		{name: "capabilities null", answers: hello("null", ""), tools: 1},
		{name: "capabilities array", answers: hello("[]", ""), tools: 1},
		{name: "no server info", answers: with(result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`)), tools: 1},
		{name: "server info evil", answers: with(result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"\u001b[2J` + times("n", 10_000) + `","version":"\u202e"}}`)), tools: 1},
		{name: "instructions long", answers: hello(`{"tools":{}}`, `,"instructions":"`+times("Obey. ", 500_000)+`"`), tools: 1},
		{name: "tools denied", answers: hello("{}", "")},
		{name: "tools claimed", answers: map[string]string{"tools/list": `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"Method not found"}}` + "\n"}},
		{name: "prompts refused", answers: refused("prompts/list"), tools: 1},
		{name: "resources refused", answers: refused("resources/list"), tools: 1},
		{name: "discovers nothing", answers: map[string]string{"server/discover": result("{}")}, tools: 1},
		{name: "discovers null", answers: map[string]string{"server/discover": result("null")}, tools: 1},
		{name: "discovers the unknown", answers: map[string]string{"server/discover": result(`{"supportedVersions":["2999-01-01"],"capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)}, tools: 1},

		{name: "list null", answers: map[string]string{"tools/list": result("null")}},
		{name: "list object", answers: map[string]string{"tools/list": result(`{"tools":{}}`)}},
		{name: "list of numbers", answers: lists("1,2")},
		{name: "list asks", answers: map[string]string{"tools/list": request("900", "elicitation/create", `{"message":"?"}`) + result(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)}, tools: 1},
		{name: "empty pages", answers: map[string]string{"tools/list": result(`{"tools":[],"nextCursor":"$N"}`)}},
		{name: "empty prompt pages", answers: map[string]string{
			"initialize":   hello(`{"prompts":{},"resources":{}}`, "")["initialize"],
			"prompts/list": result(`{"prompts":[],"nextCursor":"$N"}`), "resources/list": result(`{"resources":[],"nextCursor":"$N"}`),
		}},
		{name: "cursor long", answers: map[string]string{"tools/list": result(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"` + times("c", 1<<20) + `"}`)}, tools: 1},

		{name: "name escapes", answers: named(`\u001b[31ma\u0000\u202eb`), tools: 1},
		{name: "name long", answers: named(times("n", 10_000))},
		{name: "name path", answers: named(`../../etc/passwd`), tools: 1},
		{name: "name of another", answers: named(`x__mcp__other__tool`), tools: 1},
		{name: "schema recursive", answers: schema(`{"type":"object","properties":{"a":{"$ref":"#"}}}`), tools: 1},
		{name: "schema elsewhere", answers: schema(`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/schema"}}}`), tools: 1},
		{name: "schema true", answers: schema(`true`), tools: 1},
		{name: "schema array", answers: schema(`[]`), tools: 1},
		{name: "schema null", answers: schema(`null`), tools: 1},
		{name: "schema missing", answers: lists(`{"name":"a"}`), tools: 1},
		{name: "schema deep", answers: schema(`{"type":"object","properties":` + times(`{"a":`, 5000) + `{}` + times(`}`, 5000) + `}`), says: broken},
		{name: "schema nested", answers: schema(`{"type":"object","properties":` + times(`{"a":`, 500) + `{}` + times(`}`, 500) + `}`), tools: 1},
		{name: "schema types", answers: schema(`{"type":["object","null"]}`), tools: 1},
		{name: "described at length", answers: lists(`{"name":"a","description":"` + times("Use me. ", 200_000) + `","inputSchema":{"type":"object"}}`), tools: 1},
		{name: "annotations odd", answers: lists(`{"name":"a","annotations":5,"inputSchema":{"type":"object"}}`), tools: 1},
	}
}

// greets answers a request of the start as it is written there; it reports whether it is.
func (s *hostile) greets(m wire) bool {
	name, is := strings.CutPrefix(s.how, "greets ")
	if !is {
		return false
	}
	if s.greet == nil {
		all := greetings()
		s.greet = &all[slices.IndexFunc(all, func(g greeting) bool { return g.name == name })]
	}
	line, is := s.greet.answers[m.Method]
	if is {
		s.n++
		_, _ = os.Stdout.WriteString(strings.NewReplacer("$ID", string(m.ID), "$N", fmt.Sprint(s.n)).Replace(spread(line)))
	}
	return is
}

// Whatever a server writes at its start, it is there or has failed with a clear text, and what it has is lent under a
// name and a schema that models take.
func TestRoom_greetings(t *testing.T) {
	for _, g := range long.Some(t, 6, greetings()) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, Options{}, child(t, "one", "greets "+g.name))
			err := b.Reconnect(t.Context(), "one")
			if g.says == "" && err != nil || g.says != "" && (err == nil || !strings.Contains(err.Error(), g.says)) {
				t.Fatalf("%v\n%s", err, b.Log("one"))
			}
			s := b.state("one")
			if s.Tools != g.tools || len(s.Says) > 4000 || strings.ContainsAny(s.Says, "\x1b\x07\u202e") {
				t.Errorf("%d tools, %.600q\n%s", s.Tools, s.Says, b.Log("one"))
			}
			for _, l := range b.Lend(t.Context()) {
				if !strings.HasPrefix(l.Name, "mcp__one__") || len(l.Name) > maxName || strings.ContainsFunc(l.Name, func(c rune) bool { return c > 'z' || c <= ' ' }) {
					t.Errorf("%q is no name for a tool", l.Name)
				}
				if !json.Valid(l.Schema) || len(l.Schema) > maxSchema || len(l.Description) > maxDescription+100 {
					t.Errorf("%s has a schema of %d bytes and a description of %d", l.Name, len(l.Schema), len(l.Description))
				}
			}
			if g.name != "server info evil" {
				return
			}
			rep, err := b.Test(t.Context(), "one")
			if err != nil || len(rep.Program) > 500 || strings.ContainsAny(rep.Program, "\x1b\u202e") {
				t.Errorf("%v %.600q", err, rep.Program)
			}
		})
	}
}

// There are a hundred, each with what must hold; no two have the same name.
func TestScripts_hundred(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range scripts() {
		seen[c.name] = true
	}
	for _, g := range greetings() {
		seen["greets "+g.name] = true
	}
	if n := len(scripts()) + len(greetings()); n < 100 || len(seen) != n {
		t.Errorf("%d, %d of them with a name of their own", n, len(seen))
	}
}
