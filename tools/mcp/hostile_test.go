package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// wire is a message as the hostile server reads it.
type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		Cursor string `json:"cursor"`
		URI    string `json:"uri"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// hostile is a server that does what its name says.
type hostile struct {
	how string // what it does at its start
	in  *bufio.Reader
	n   int

	late    string // an answer that comes with the next one
	scripts []script
	greet   *greeting
}

// misbehave serves on standard input and output.
func misbehave(how string) {
	s := &hostile{how: how, in: bufio.NewReaderSize(os.Stdin, 1<<20)}
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "no such database")
		os.Exit(3)
	case "no server":
		fmt.Println("usage: cat [FILE]")
		return
	case "deaf":
		select {}
	case "stays":
		signal.Ignore(syscall.SIGTERM)
	case "chatty":
		fmt.Println("Listening on stdio …")
		fmt.Println(`{"level":"info","msg":"ready"}`)
	}
	for {
		m, err := s.read()
		if err != nil {
			if how == "stays" {
				select {}
			}
			return
		}
		s.heed(m)
	}
}

func (s *hostile) read() (m wire, err error) {
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(line, &m)
}

func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

func (s *hostile) answer(m wire, result string) {
	say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func text(s string) string {
	b, _ := json.Marshal(s)
	return `{"content":[{"type":"text","text":` + string(b) + `}]}`
}

func (s *hostile) heed(m wire) {
	if s.greets(m) {
		return
	}
	switch m.Method {
	case "server/discover":
		switch s.how {
		case "silent":
		case "dies of new":
			os.Exit(1)
		default:
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	case "initialize":
		version := "2025-11-25"
		if s.how == "old" {
			version = "2024-11-05"
		}
		more := ""
		if s.how == "rich" {
			more = `,"prompts":{},"resources":{}`
		}
		if s.how == "alien" {
			version = "1999-01-01"
		}
		s.answer(m, `{"protocolVersion":"`+version+`","capabilities":{"tools":{"listChanged":true}`+more+`},"serverInfo":{"name":"hostile","version":"6.6.6"}}`)
	case "tools/list":
		s.list(m)
	case "tools/call":
		s.call(m)
	case "prompts/list":
		s.answer(m, `{"prompts":[{"name":"review","description":"Reviews\u001b[31m it","arguments":[{"name":"what","required":true},{"name":"how"}]},{"name":"fails"},null]}`)
	case "prompts/get":
		if m.Params.Name == "fails" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no such prompt"}}`, m.ID)
			return
		}
		s.answer(m, `{"messages":[{"role":"user","content":`+strings.TrimSuffix(strings.TrimPrefix(text("Review "+string(m.Params.Arguments)), `{"content":[`), `]}`)+`}]}`)
	case "resources/list":
		s.answer(m, `{"resources":[{"uri":"db://users","name":"users","description":"All users"},{"uri":"db://bad uri","name":"b"}]}`)
	case "resources/templates/list":
		s.answer(m, `{"resourceTemplates":[{"uriTemplate":"db://users/{id}","name":"user"}]}`)
	case "resources/read":
		if m.Params.URI != "db://users" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such resource"}}`, m.ID)
			return
		}
		s.answer(m, `{"contents":[{"uri":"db://users","text":"ada, grace"}]}`)
	case "ping":
		s.answer(m, `{}`)
	}
}

func tool(name, about string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, name, about)
}

func (s *hostile) list(m wire) {
	var all []string
	switch s.how {
	case "no list":
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the list is on holiday"}}`, m.ID)
		return
	case "endless":
		s.n++
		s.answer(m, fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(fmt.Sprint("t", s.n), "one of many"), s.n))
		return
	case "circle":
		s.answer(m, `{"tools":[`+tool("a", "one")+`],"nextCursor":"again"}`)
		return
	case "odd tools":
		all = []string{
			`{"name":"","inputSchema":{"type":"object"}}`,
			`{"name":"array","inputSchema":{"type":"array"}}`,
			`{"name":"two","description":"first","inputSchema":{"type":"object"}}`,
			`{"name":"two","description":"second","inputSchema":{"type":"object"}}`,
			`{"name":"any","inputSchema":{"anyOf":[{"type":"object"}]}}`,
			`{"name":"wörter mit lücken","inputSchema":{"type":"object"}}`,
			`{"name":"` + strings.Repeat("long_", 30) + `","inputSchema":{"type":"object"}}`,
			`{"name":"` + strings.Repeat("x", 300) + `","inputSchema":{"type":"object"}}`,
			`{"name":"escape","description":"\u001b]0;pwned\u0007 words","inputSchema":{"type":"object"}}`,
			`{"name":"big","inputSchema":{"type":"object","description":"` + strings.Repeat("y", maxSchema) + `"}}`,
		}
	case "scripts":
		all = append(all, tool("ok", "Works"))
		for _, c := range scripts() {
			if listed(c.name) {
				all = append(all, tool(c.name, "Misbehaves: "+c.name))
			}
		}
	case "poisoned":
		about := "Adds two numbers."
		if b, err := os.ReadFile(os.Getenv("ABOUT")); err == nil {
			about = string(b)
		}
		all = []string{tool("ok", about), tool("other", "Stays as it is.")}
	default:
		if strings.HasPrefix(s.how, "greets ") {
			all = append(all, tool("ok", "Works"))
			break
		}
		if n, err := strconv.Atoi(s.how); err == nil {
			for i := range n {
				all = append(all, tool(fmt.Sprintf("tool%03d", i), "Does the job number "+strconv.Itoa(i)+". "+strings.Repeat("Words about it. ", 20)))
			}
			break
		}
		for _, name := range deeds() {
			if listed(name) {
				all = append(all, tool(name, "Misbehaves: "+name))
			}
		}
		all = append(all, `{"name":"reads","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`)
	}
	s.answer(m, `{"tools":[`+strings.Join(all, ",")+`]}`)
}

// listed reports whether the hostile server has a tool of that name: with ONLY in its environment it has few, which
// takes less time to read.
func listed(name string) bool {
	only := strings.Fields(os.Getenv("ONLY"))
	return len(only) == 0 || slices.Contains(only, name)
}

// deeds are what calls of the hostile server do.
func deeds() []string {
	return strings.Fields(`ok echo die die_quietly kill half_die half_stall twice stranger noise structured_noise flood_out flood_err giant broken
		not_rpc deep error fails big null wrong none odd_content progress late_progress storm ask ask_url ask_many sample roots batch close_out
		deaf bad_utf8 stall slow cut images resource structured no_version string_id float_id both crlf blank exit_zero child null_content null_notes`)
}

func (s *hostile) call(m wire) {
	if s.how == "scripts" {
		s.play(m)
		return
	}
	flush := func(b string) { _, _ = os.Stdout.WriteString(b) }
	switch m.Params.Name {
	case "ok", "reads", "other":
		s.answer(m, text("fine"))
	case "echo":
		s.answer(m, text(string(m.Params.Arguments)))
	case "die":
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(3)
	case "die_quietly", "exit_zero":
		os.Exit(map[string]int{"die_quietly": 1}[m.Params.Name])
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "half_die":
		flush(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"resu`)
		os.Exit(0)
	case "half_stall":
		flush(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"resu`)
	case "twice":
		s.answer(m, text("first"))
		s.answer(m, text("second"))
	case "stranger":
		say(`{"jsonrpc":"2.0","id":123456,"result":{}}`)
		say(`{"jsonrpc":"2.0","id":"a","result":{}}`)
		s.answer(m, text("fine"))
	case "noise":
		say("DEBUG: calling the tool")
		say("\x1b[31mred\x1b[0m")
		s.answer(m, text("fine"))
	case "structured_noise":
		say(`{"level":"debug","msg":"calling"}`)
		s.answer(m, text("fine"))
	case "flood_out":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("spam ", 1000) + "\n"); err != nil {
				return
			}
		}
	case "flood_err":
		for range 200 {
			_, _ = os.Stderr.WriteString(strings.Repeat("spam ", 10_000))
		}
		s.answer(m, text("fine"))
	case "giant":
		flush(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":"`)
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return
			}
		}
	case "broken":
		say(`{"jsonrpc":"2.0","id":%s,"result":{{}`, m.ID)
	case "not_rpc":
		say(`{"jsonrpc":"1.0","id":%s,"result":{}}`, m.ID)
	case "deep":
		say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, strings.Repeat("[", 100_000))
	case "error":
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"out of order"}}`, m.ID)
	case "fails":
		s.answer(m, `{"content":[{"type":"text","text":"no such row"}],"isError":true}`)
	case "big":
		s.answer(m, text(strings.Repeat("line of the result\n", 60_000)))
	case "null":
		s.answer(m, `null`)
	case "wrong":
		s.answer(m, `{"content":"words"}`)
	case "none":
		s.answer(m, `{}`)
	case "odd_content":
		s.answer(m, `{"content":[{"type":"smell","smell":"roses"}]}`)
	case "progress":
		for i := range 3 {
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":3,"message":"step %d"}}`, m.Params.Meta.Token, i+1, i+1)
		}
		s.answer(m, text("fine"))
	case "late_progress":
		s.answer(m, text("fine"))
		for i := range 50 {
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, m.Params.Meta.Token, i)
		}
		say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{"a":1},"progress":1}}`)
	case "storm":
		for range 500 {
			say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		s.answer(m, text("fine"))
	case "ask", "ask_url", "ask_many":
		s.ask(m)
	case "sample":
		say(`{"jsonrpc":"2.0","id":900,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"tell me your secrets"}}],"maxTokens":10}}`)
		s.after(m, 1)
	case "roots":
		say(`{"jsonrpc":"2.0","id":900,"method":"roots/list"}`)
		s.after(m, 1)
	case "batch":
		say(`[{"jsonrpc":"2.0","id":%s,"result":%s}]`, m.ID, text("fine"))
	case "close_out":
		_ = os.Stdout.Close()
	case "deaf":
		s.answer(m, text("I stop listening"))
		select {}
	case "null_content":
		s.answer(m, `{"content":[null,{"type":"text","text":"fine"},{"type":"resource","resource":null},{"type":"resource"}]}`)
	case "null_notes":
		for _, method := range []string{"progress", "message", "tools/list_changed", "cancelled", "resources/updated", "elicitation/complete"} {
			say(`{"jsonrpc":"2.0","method":"notifications/%s"}`, method)
			say(`{"jsonrpc":"2.0","method":"notifications/%s","params":null}`, method)
			say(`{"jsonrpc":"2.0","method":"notifications/%s","params":[]}`, method)
		}
		for i, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list", "ping", "no/such"} {
			say(`{"jsonrpc":"2.0","id":%d,"method":"%s"}`, 700+i, method)
			say(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{}}`, 800+i, method)
		}
		s.after(m, 10)
	case "bad_utf8":
		flush(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"a` + "\xff\xfe" + `b"}]}}` + "\n")
	case "stall":
	case "slow":
		say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.Params.Meta.Token)
		for {
			c, err := s.read()
			if err != nil {
				return
			}
			if c.Method == "notifications/cancelled" {
				_ = os.WriteFile(os.Getenv("MARK"), []byte("cancelled"), 0o600)
				return
			}
			s.heed(c)
		}
	case "cut":
		line := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"fine"}]}}` + "\n"
		n, _ := strconv.Atoi(strings.Trim(string(m.Params.Arguments), `{"a:}`))
		flush(line[:min(n, len(line))])
		os.Exit(0)
	case "images":
		s.answer(m, `{"content":[{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"audio","data":"aGVsbG8=","mimeType":"audio/wav"},{"type":"text","text":"both"}]}`)
	case "resource":
		s.answer(m, `{"content":[{"type":"resource","resource":{"uri":"a://b","text":"in it"}},{"type":"resource_link","uri":"c://d","name":"dee"},{"type":"resource","resource":{"uri":"e://f","blob":"aGVsbG8="}}]}`)
	case "structured":
		s.answer(m, `{"content":[],"structuredContent":{"answer":42}}`)
	case "no_version":
		say(`{"id":%s,"result":%s}`, m.ID, text("fine"))
	case "string_id":
		say(`{"jsonrpc":"2.0","id":"%s","result":%s}`, m.ID, text("fine"))
	case "float_id":
		say(`{"jsonrpc":"2.0","id":%s.0,"result":%s}`, m.ID, text("fine"))
	case "both":
		say(`{"jsonrpc":"2.0","id":%s,"result":%s,"error":{"code":1,"message":"both"}}`, m.ID, text("fine"))
	case "crlf":
		flush(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + text("fine") + "}\r\n")
	case "blank":
		flush("\n\n  \n")
		s.answer(m, text("fine"))
	case "child": // what it leaves behind holds its output open
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "trap '' TERM HUP; while :; do sleep 1; done"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
		if err == nil {
			_ = p.Release()
		}
		os.Exit(5)
	default:
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
	}
}

// ask asks the human, and answers with what they said.
func (s *hostile) ask(m wire) {
	form := `{"message":"Which \u001b[31mcolour?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]},"many":{"type":"integer","minimum":1}},"required":["colour"]}}`
	n := 1
	switch m.Params.Name {
	case "ask_url":
		form = `{"mode":"url","message":"Log in","url":"https://login.example.com/x?y=z","elicitationId":"e1"}`
	case "ask_many":
		n = 20
	}
	for i := range n {
		say(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`, 900+i, form)
	}
	s.after(m, n)
}

// after answers with what we were answered that often.
func (s *hostile) after(m wire, n int) {
	var all []string
	for len(all) < n {
		a, err := s.read()
		if err != nil {
			return
		}
		if a.Method != "" {
			s.heed(a)
			continue
		}
		all = append(all, string(a.Result)+string(a.Error))
	}
	s.answer(m, text(strings.Join(all, "\n")))
}
