package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMend_oddFields: in whatever form a member comes that may be missing, the rest of the answer is read.
func TestMend_oddFields(t *testing.T) {
	rows := 0
	for _, c := range []struct {
		of     any
		around string // % is where the member stands
		holds  string // what is read all the same
		fields string
	}{
		{mcp.InitializeResult{}, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"good","version":"1"}%}`, "good", "instructions _meta"},
		{mcp.InitializeResult{}, `{"protocolVersion":"2025-06-18","instructions":"good"%}`, "good", "capabilities serverInfo"},
		{mcp.InitializeResult{}, `{"capabilities":{},"instructions":"good"%}`, "good", "protocolVersion"},
		{mcp.InitializeResult{}, `{"protocolVersion":"2025-06-18","instructions":"good","capabilities":{"x":1%}}`, "good", "tools prompts resources logging completions experimental extensions"},
		{mcp.InitializeResult{}, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"y":1%}},"instructions":"good"}`, "good", "listChanged"},
		{mcp.InitializeResult{}, `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"good"%}}`, "good", "version title icons websiteUrl"},
		{mcp.ListToolsResult{}, `{"tools":[{"name":"good","inputSchema":{}%}]}`, "good", "description title annotations outputSchema icons _meta"},
		{mcp.ListToolsResult{}, `{"tools":[{"name":"good","annotations":{"x":1%}}]}`, "good", "readOnlyHint destructiveHint idempotentHint openWorldHint title"},
		{mcp.ListToolsResult{}, `{"tools":[{"name":"good"}]%}`, "good", "nextCursor _meta ttlMs cacheScope resultType"},
		{mcp.ListToolsResult{}, `{"tools":[{"name":"good"},{"name":"other"%}]}`, "good", "inputSchema"},
		{mcp.CallToolResult{}, `{"content":[{"type":"text","text":"good"}]%}`, "good", "isError structuredContent _meta resultType"},
		{mcp.CallToolResult{}, `{"content":[{"type":"text","text":"good"%}]}`, "good", "annotations _meta"},
		{mcp.CallToolResult{}, `{"content":[{"type":"text","text":"good"},{"type":"image"%}]}`, "good", "data mimeType annotations _meta"},
		{mcp.CallToolResult{}, `{"content":[{"type":"text","text":"good"},{"type":"resource"%}]}`, "good", "resource"},
		{mcp.CallToolResult{}, `{"content":[{"type":"text","text":"good"},{"type":"resource","resource":{"uri":"a:b"%}}]}`, "good", "text blob mimeType _meta"},
		{mcp.CallToolResult{}, `{"content":[{"type":"resource_link","uri":"a:b","name":"good"%}]}`, "good", "title description size mimeType icons"},
		{mcp.ListResourcesResult{}, `{"resources":[{"uri":"a:b","name":"good"%}]}`, "good", "title description size mimeType annotations icons _meta"},
		{mcp.ReadResourceResult{}, `{"contents":[{"uri":"a:b","text":"good"%}]}`, "good", "mimeType blob _meta"},
		{mcp.ListPromptsResult{}, `{"prompts":[{"name":"good"%}]}`, "good", "title description arguments icons _meta"},
		{mcp.ListPromptsResult{}, `{"prompts":[{"name":"good","arguments":[{"name":"a"%}]}]}`, "good", "title description required"},
		{mcp.GetPromptResult{}, `{"messages":[{"role":"user","content":{"type":"text","text":"good"}}]%}`, "good", "description _meta"},
		{mcp.GetPromptResult{}, `{"messages":[{"role":"user","content":{"type":"text","text":"good"%}}]}`, "good", "annotations _meta"},
		{mcp.CompleteResult{}, `{"completion":{"values":["good"]%}}`, "good", "total hasMore _meta"},
		{mcp.CallToolResult{}, `{"content":[{"type":"text","text":"good"}]%}`, "good", "inputRequests requestState"},
		{mcp.ListToolsResult{}, `{"tools":[{"name":"good"%}]}`, "good", "inputSchema outputSchema"},
	} {
		for _, name := range strings.Fields(c.fields) {
			for _, form := range []string{"[]", "null", `"x"`, "0", "true", "{}", "", "twice"} {
				member := fmt.Sprintf(`,%q:%s`, name, form)
				switch form {
				case "":
					member = ""
				case "twice":
					member = fmt.Sprintf(`,%q:[],%q:"x"`, name, name)
				}
				in := `{"jsonrpc":"2.0","id":1,"result":` + strings.Replace(c.around, "%", member, 1) + `}`
				rows++
				b, _ := mendMessage([]byte(in))
				m, err := jsonrpc.DecodeMessage(b)
				if err != nil {
					t.Errorf("%s: %v", in, err)
					continue
				}
				r := m.(*jsonrpc.Response)
				if err := read(c.of, r.Result); err != nil || !strings.Contains(string(r.Result), c.holds) {
					t.Errorf("%s:\n%s\n%v", in, b, err)
				}
			}
		}
	}
	t.Log(rows, "rows")
}

// read reads a result as the protocol's library does.
func read(of any, raw json.RawMessage) error {
	switch of.(type) {
	case mcp.InitializeResult:
		return json.Unmarshal(raw, &mcp.InitializeResult{})
	case mcp.ListToolsResult:
		return json.Unmarshal(raw, &mcp.ListToolsResult{})
	case mcp.CallToolResult:
		return json.Unmarshal(raw, &mcp.CallToolResult{})
	case mcp.ListResourcesResult:
		return json.Unmarshal(raw, &mcp.ListResourcesResult{})
	case mcp.ReadResourceResult:
		return json.Unmarshal(raw, &mcp.ReadResourceResult{})
	case mcp.CompleteResult:
		return json.Unmarshal(raw, &mcp.CompleteResult{})
	case mcp.ListPromptsResult:
		return json.Unmarshal(raw, &mcp.ListPromptsResult{})
	}
	return json.Unmarshal(raw, &mcp.GetPromptResult{})
}

// TestMend_forms: what can be understood in another form is, and what can't is named.
func TestMend_forms(t *testing.T) {
	for _, c := range []struct{ result, want, left string }{
		{`null`, `{}`, ""},
		{`[]`, `{}`, ""},
		{`{"content":"words"}`, `{"content":[{"text":"words","type":"text"}]}`, ""},
		{`{"content":["a",5]}`, `{"content":[{"text":"a","type":"text"},{"text":"5","type":"text"}]}`, ""},
		{`{"content":{"type":"text","text":"a"}}`, `{"content":[{"text":"a","type":"text"}]}`, ""},
		{`{"content":{"0":{"type":"text","text":"a"},"1":{"type":"text","text":"b"}}}`, `{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}]}`, ""},
		{`{"content":[{"type":"text","text":5}]}`, `{"content":[{"text":"5","type":"text"}]}`, ""},
		{`{"content":[{"type":"text","text":{"a":1}}]}`, `{"content":[{"text":"{\"a\":1}","type":"text"}]}`, ""},
		{`{"content":[{"text":"a"}]}`, `{"content":[{"text":"a","type":"text"}]}`, ""},
		{`{"content":[{"type":"video","text":"a"}]}`, `{"content":[{"text":"a","type":"text"}]}`, ""},
		{`{"content":[{"type":"video"}]}`, `{"content":[{"text":"[content of a kind that is not known here: \"video\"]","type":"text"}]}`, "content[0]"},
		{`{"content":[{"type":"image","data":"data:image/png;base64,aGk","mimeType":"image/png"}]}`, `{"content":[{"data":"aGk=","mimeType":"image/png","type":"image"}]}`, ""},
		{`{"content":[{"type":"image","data":"%"}]}`, `{"content":[{"text":"[the image that stood here can't be read]","type":"text"}]}`, "content[0].data"},
		{`{"content":[],"isError":"true"}`, `{"content":[],"isError":true}`, ""},
		{`{"structuredContent":[1,{"a":"\ud83d"}]}`, "{\"structuredContent\":[1,{\"a\":\"\uFFFD\"}]}", ""},
		{`{"tools":[{"name":"a","annotations":5,"title":["x"]},7,{"name":"b"}]}`, `{"tools":[{"annotations":{},"name":"a"},{"name":"b"}]}`, "tools[1] tools[a].annotations tools[a].title"},
		{`{"tools":{"name":"a"},"nextCursor":2}`, `{"tools":[{"name":"a"}]}`, "nextCursor"},
		{`{"resources":[{"uri":"a:b","size":"12","mimeType":[]}]}`, `{"resources":[{"size":12,"uri":"a:b"}]}`, "resources[a:b].mimeType"},
		{`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`, `{"messages":[{"content":{"text":"a\nb","type":"text"},"role":"user"}]}`, ""},
		{`{"capabilities":[],"protocolVersion":"2025-06-18"}`, `{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18"}`, "capabilities"},
		{`{"capabilities":{"tools":true,"prompts":[],"resources":false}}`, `{"capabilities":{"prompts":{},"tools":{}},"protocolVersion":"2025-03-26"}`, "capabilities.resources"},
		{
			`{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"?"}}},"resultType":"input_required"}`,
			`{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"?"}}},"resultType":"input_required"}`, "",
		},
	} {
		b, left := mendMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":` + c.result + `}`))
		slices.Sort(left)
		if want := `{"id":1,"jsonrpc":"2.0","result":` + c.want + `}`; string(b) != want || strings.Join(left, " ") != c.left {
			t.Errorf("%s:\n got %s %q\nwant %s %q", c.result, b, left, want, c.left)
		}
	}
}

// TestMend_requests: what a server sends by itself is read in whatever form it is.
func TestMend_requests(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":2.0,"method":"notifications/tools/list_changed","params":[]}`:                                                                            `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}`:                                                                        `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":"x"}`:                                                                         `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":"3","total":[]}}`:                                         `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":3,"progressToken":7}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":0,"logger":[],"data":[1]}}`:                                                     `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":[1],"level":"0"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"_meta":[],"message":5}}`:                                                           `{"id":7,"jsonrpc":"2.0","method":"elicitation/create","params":{"_meta":{},"message":"5"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":"Hi"}],"maxTokens":"9","temperature":[]}}`: `{"id":7,"jsonrpc":"2.0","method":"sampling/createMessage","params":{"maxTokens":9,"messages":[{"content":[{"text":"Hi","type":"text"}],"role":"user"}]}}`,
		`{"method":"GET","level":"info"}`: `{"level":"info","method":"GET"}`,
	} {
		b, _ := mendMessage([]byte(in))
		if string(b) != want {
			t.Errorf("%s:\n got %s\nwant %s", in, b, want)
		}
		if m, err := jsonrpc.DecodeMessage(b); (err != nil || m == nil) && strings.Contains(in, "jsonrpc") {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// TestMend_errors: an error in whatever form ends its call with its reason.
func TestMend_errors(t *testing.T) {
	for in, want := range map[string]string{
		`"quota"`: "quota", `{"code":"E","message":"quota"}`: "E: quota", `{"code":"-32000","message":"quota"}`: "quota", `{"message":"quota"}`: "quota",
		`{}`: "it gives no reason", `[]`: "it gives no reason", `5`: "5", `["quota"]`: `["quota"]`, `{"code":1.5,"message":["quota"]}`: `1.5: ["quota"]`,
		`{"code":5}`: `{"code":5}`, `{"code":5,"message":null,"data":"quota"}`: `{"code":5,"message":null,"data":"quota"}`, `{"error":"quota"}`: `{"error":"quota"}`,
		`{"code":1e999,"message":"quo\ud83dta"}`: "quo\uFFFDta",
	} {
		b, _ := mendMessage([]byte(`{"id":"1","result":null,"error":` + in + `}`))
		m, err := jsonrpc.DecodeMessage(b)
		if r, is := m.(*jsonrpc.Response); err != nil || !is || r.Error == nil || !strings.HasSuffix(r.Error.Error(), want) {
			t.Errorf("%s: %s %v", in, b, err)
		}
	}
	for _, odd := range []string{"[]", "{}", `"x"`, "0", "false", "null", `""`} { // beside a result
		b, _ := mendMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":` + odd + `}`))
		if want := `{"id":1,"jsonrpc":"2.0","result":{"content":[]}}`; string(b) != want {
			t.Errorf("%s: %s", odd, b)
		}
	}
}
