package mcp

//lint:file-ignore SA1019 servers of the older protocol ask a model, and log

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools/validjson"
)

const (
	maxLeft    = 20           // members named for one message
	noRevision = "2025-03-26" // version of the protocol if a server names none
)

type (
	object = map[string]json.RawMessage

	// contentMembers has the members of all kinds of content.
	contentMembers struct {
		Type        string           `json:"type"`
		Text        string           `json:"text"`
		MIMEType    string           `json:"mimeType"`
		Data        string           `json:"data"`
		URI         string           `json:"uri"`
		Name        string           `json:"name"`
		Title       string           `json:"title"`
		Description string           `json:"description"`
		Size        *int64           `json:"size"`
		Annotations *mcp.Annotations `json:"annotations"`
		Meta        mcp.Meta         `json:"_meta"`
		Icons       []mcp.Icon       `json:"icons"`
		Resource    *resource        `json:"resource"`
	}

	// resource is the content of a resource. Its bytes are checked separately.
	resource struct {
		URI      string   `json:"uri"`
		MIMEType string   `json:"mimeType"`
		Text     string   `json:"text"`
		Blob     string   `json:"blob"`
		Meta     mcp.Meta `json:"_meta"`
	}

	// metaOnly has the member that all parameters may have.
	metaOnly struct {
		Meta mcp.Meta `json:"_meta"`
	}
)

// results returns the types of the members of all results. No two results have members of the same
// name with different types.
func results() map[string]reflect.Type {
	of := map[string]reflect.Type{"resultType": reflect.TypeFor[string]()}
	for _, t := range []reflect.Type{
		reflect.TypeFor[mcp.InitializeResult](), reflect.TypeFor[mcp.DiscoverResult](), reflect.TypeFor[mcp.ListToolsResult](),
		reflect.TypeFor[mcp.CallToolResult](), reflect.TypeFor[mcp.ListResourcesResult](), reflect.TypeFor[mcp.ListResourceTemplatesResult](),
		reflect.TypeFor[mcp.ListPromptsResult](), reflect.TypeFor[mcp.GetPromptResult](), reflect.TypeFor[mcp.CompleteResult](),
	} {
		members(t, of)
	}
	of["contents"] = reflect.TypeFor[[]resource]()
	return of
}

// params returns the type of the parameters of a server's request or notification.
func params(method string) reflect.Type {
	switch method {
	case "elicitation/create":
		return reflect.TypeFor[mcp.ElicitParams]()
	case "sampling/createMessage":
		return reflect.TypeFor[mcp.CreateMessageWithToolsParams]()
	case "notifications/progress":
		return reflect.TypeFor[mcp.ProgressNotificationParams]()
	case "notifications/message":
		return reflect.TypeFor[mcp.LoggingMessageParams]()
	case "notifications/cancelled":
		return reflect.TypeFor[mcp.CancelledParams]()
	}
	return reflect.TypeFor[metaOnly]()
}

// members adds the types of a struct's JSON members, by name.
func members(t reflect.Type, to map[string]reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			members(f.Type, to)
		case name != "" && name != "-":
			to[name] = f.Type
		}
	}
}

// mendMessage returns a message that its readers can decode. It converts optional members of the
// wrong form, or leaves them out, and names them. A message that can't be repaired is returned
// unchanged.
func mendMessage(message []byte) (mended []byte, left []string) {
	valid, is := validjson.Make(message)
	var m object
	if !is || json.Unmarshal(valid, &m) != nil || m == nil {
		return message, nil
	}
	var f mender
	switch {
	case m["method"] != nil:
		f.request(m)
	case (m["id"] != nil || m["jsonrpc"] != nil) && (m["result"] != nil || m["error"] != nil):
		f.response(m)
	default:
		return valid, nil
	}
	return written(m), f.left
}

// written encodes v as JSON. nil: it can't.
func written(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// mender records what it leaves out.
type mender struct{ left []string }

func (f *mender) leave(path string) {
	if len(f.left) < maxLeft {
		f.left = append(f.left, path)
	}
}

// put sets a member. If v is nil, it removes the member.
func put(m object, name string, v json.RawMessage) {
	if m[name] = v; v == nil {
		delete(m, name)
	}
}

func (f *mender) request(m object) {
	var method string
	if json.Unmarshal(m["method"], &method) != nil {
		return
	}
	if m["jsonrpc"] != nil { // a line without jsonrpc is a log line
		m["jsonrpc"] = json.RawMessage(`"2.0"`)
	}
	if m["params"] != nil {
		put(m, "params", f.fit(m["params"], params(method), "params"))
	}
}

func (f *mender) response(m object) {
	m["jsonrpc"] = json.RawMessage(`"2.0"`)
	if id, is := number(m["id"]); is {
		m["id"] = id
	}
	var fault, r object
	_ = json.Unmarshal(m["error"], &fault)
	_ = json.Unmarshal(m["result"], &r)
	switch {
	case len(fault) > 0, r == nil && m["error"] != nil && string(m["error"]) != "null":
		m["error"] = failure(m["error"])
		delete(m, "result")
		return
	case m["error"] != nil && string(m["error"]) != "null":
		f.leave("error")
	}
	delete(m, "error")
	if r == nil {
		switch string(m["result"]) {
		case "null", "[]": // some languages encode an empty object so
			m["result"] = json.RawMessage(`{}`)
		default:
			delete(m, "result")
			m["error"] = failure(json.RawMessage(`"what it answers is no object"`))
		}
		return
	}
	begins := r["capabilities"] != nil || r["protocolVersion"] != nil || r["serverInfo"] != nil
	if begins {
		r["capabilities"] = f.capabilities(r["capabilities"])
	}
	types := results()
	for name, raw := range r {
		if t := types[name]; t != nil {
			put(r, name, f.member(name, raw, t, name))
		}
	}
	if begins && r["protocolVersion"] == nil && r["supportedVersions"] == nil {
		r["protocolVersion"] = written(noRevision)
	}
	m["result"] = written(r)
}

// capabilities returns the server's capabilities. If they can't be read, the server is assumed to
// have tools.
func (f *mender) capabilities(raw json.RawMessage) json.RawMessage {
	var c object
	if json.Unmarshal(raw, &c) != nil || c == nil {
		f.leave("capabilities")
		return json.RawMessage(`{"tools":{}}`)
	}
	if tools := c["tools"]; tools != nil && tools[0] != '{' && string(tools) != "false" {
		c["tools"] = json.RawMessage(`{}`)
	}
	return written(c)
}

// failure converts an error of any form to the standard form.
func failure(raw json.RawMessage) json.RawMessage {
	is := jsonrpc.Error{Code: jsonrpc.CodeInternalError}
	var m object
	switch {
	case json.Unmarshal(raw, &m) != nil:
		is.Message = words(raw)
	case len(m) > 0:
		if is.Message = words(m["message"]); is.Message == "" {
			is.Message = string(raw)
		}
		if code, whole := number(m["code"]); whole {
			_ = json.Unmarshal(code, &is.Code)
		} else if code := words(m["code"]); code != "" && is.Message != string(raw) {
			is.Message = code + ": " + is.Message
		}
		is.Data = m["data"]
	}
	if is.Message == "" || is.Message == "[]" {
		is.Message = "it gives no reason"
	}
	return written(is)
}

// words returns a string's value, else the JSON itself.
func words(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return s
}

// number returns an integer, also one that is written as a string.
func number(raw json.RawMessage) (json.RawMessage, bool) {
	n, err := strconv.ParseFloat(words(raw), 64)
	if err != nil || n != float64(int64(n)) {
		return nil, false
	}
	return strconv.AppendInt(nil, int64(n), 10), true
}

// member is fit for a named member.
func (f *mender) member(name string, raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	if (name == "nextCursor" || name == "resultType") && raw[0] != '"' { // other forms of these have no known meaning
		if string(raw) != "null" {
			f.leave(path)
		}
		return nil
	}
	return f.fit(raw, t, path)
}

// fit returns JSON that decodes into type t; nil: there is none, or it can't be converted.
func (f *mender) fit(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[mcp.Content]():
		return f.content(raw, path)
	case kind == reflect.Interface:
		return raw
	case (kind == reflect.Struct || kind == reflect.Map) && raw[0] != '{':
		if string(raw) != "[]" && string(raw) != "true" {
			f.leave(path)
		}
		if string(raw) == "false" {
			return nil
		}
		return json.RawMessage(`{}`)
	case kind == reflect.Struct:
		raw = f.fields(raw, t, path)
	case kind == reflect.Map && t.Elem().Kind() != reflect.Interface:
		raw = f.entries(raw, t.Elem(), path)
	case kind == reflect.Slice:
		if raw = f.list(raw, t.Elem(), path); raw != nil && t.Elem().Kind() == reflect.Interface {
			return raw // each item was fitted
		}
	case kind == reflect.String && !strings.ContainsRune(`"[{`, rune(raw[0])):
		raw = written(string(raw))
	case kind == reflect.Bool:
		switch strings.ToLower(words(raw)) {
		case "true", "yes", "on", "1":
			raw = json.RawMessage(`true`)
		case "false", "no", "off", "0":
			raw = json.RawMessage(`false`)
		}
	case kind != reflect.String && raw[0] == '"':
		if text := words(raw); json.Valid([]byte(text)) {
			raw = json.RawMessage(text)
		}
	}
	if raw == nil || json.Unmarshal(raw, reflect.New(t).Interface()) != nil {
		f.leave(path)
		return nil
	}
	return raw
}

func (f *mender) fields(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	types := map[string]reflect.Type{}
	members(t, types)
	var m object
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	for name, v := range m {
		if t := types[name]; t != nil {
			put(m, name, f.member(name, v, t, path+"."+name))
		}
	}
	if t == reflect.TypeFor[resource]() {
		f.bytes(m, "blob", path)
	}
	return written(m)
}

func (f *mender) entries(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	var m object
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	for name, v := range m {
		put(m, name, f.fit(v, t, path+"."+name))
	}
	return written(m)
}

// list returns the list of the items that can be decoded.
func (f *mender) list(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fine := []json.RawMessage{}
	all := items(raw)
	if raw[0] != '[' && raw[0] != '{' && t == reflect.TypeFor[mcp.Content]() { // plain text
		all = []json.RawMessage{raw}
	}
	for n, one := range all {
		path := path + "[" + called(one, n) + "]"
		if t.Kind() == reflect.Struct && one[0] != '{' {
			f.leave(path)
		} else if one = f.fit(one, t, path); one != nil {
			fine = append(fine, one)
		}
	}
	if len(fine) == 0 && raw[0] != '[' && raw[0] != '{' {
		return nil
	}
	return written(fine)
}

// items returns the items of a list, of an object with numbers as names, or of a single item.
func items(raw json.RawMessage) (all []json.RawMessage) {
	switch raw[0] {
	case '[':
		_ = json.Unmarshal(raw, &all)
		return all
	case '{':
	default:
		return nil
	}
	var m object
	_ = json.Unmarshal(raw, &m)
	var at []int
	for key := range m {
		n, err := strconv.Atoi(key)
		if err != nil || strconv.Itoa(n) != key {
			return []json.RawMessage{raw}
		}
		at = append(at, n)
	}
	slices.Sort(at)
	for _, n := range at {
		all = append(all, m[strconv.Itoa(n)])
	}
	return all
}

// called returns the name of a list's item, for people.
func called(item json.RawMessage, n int) string {
	var is object
	if json.Unmarshal(item, &is) == nil {
		for _, by := range []string{"name", "uri", "uriTemplate"} {
			if is[by] != nil && is[by][0] == '"' {
				return fmt.Sprintf("%.100s", words(is[by]))
			}
		}
	}
	return strconv.Itoa(n)
}

// content returns a block of content. Anything else becomes text.
func (f *mender) content(raw json.RawMessage, path string) json.RawMessage {
	said := func(text string) json.RawMessage {
		return written(map[string]string{"type": "text", "text": text})
	}
	var m object
	switch raw[0] {
	case '{':
		_ = json.Unmarshal(raw, &m)
	case '[': // a list in place of one block
		return f.joined(raw, path)
	default:
		return said(words(raw))
	}
	if text := m["text"]; text != nil && string(text) != "null" {
		m["text"] = written(words(text))
	}
	raw = f.fields(written(m), reflect.TypeFor[contentMembers](), path)
	if m = nil; json.Unmarshal(raw, &m) != nil {
		return nil
	}
	switch kind := words(m["type"]); kind {
	case "tool_use", "tool_result":
		return raw
	case "image", "audio":
		if !f.bytes(m, "data", path) {
			return said("[the " + kind + " that stood here can't be read]")
		}
	case "resource":
		if m["resource"] == nil {
			return said("[the resource that stood here can't be read]")
		}
	case "resource_link":
	default:
		switch {
		case m["text"] != nil:
		case kind == "text":
			m["text"] = written("")
		default:
			f.leave(path)
			return said(fmt.Sprintf("[content of a kind that is not known here: %.100q]", kind))
		}
		m["type"] = written("text")
	}
	return written(m)
}

// joined makes one block of content of several. If there is more than one, it joins their texts.
func (f *mender) joined(raw json.RawMessage, path string) json.RawMessage {
	var all []json.RawMessage
	_ = json.Unmarshal(raw, &all)
	var text []string
	for n, one := range all {
		if one[0] == '[' {
			continue
		}
		one = f.content(one, fmt.Sprintf("%s[%d]", path, n))
		if len(all) == 1 {
			return one
		}
		var m object
		if _ = json.Unmarshal(one, &m); m["text"] != nil {
			text = append(text, words(m["text"]))
		} else {
			f.leave(fmt.Sprintf("%s[%d]", path, n))
		}
	}
	return written(map[string]string{"type": "text", "text": strings.Join(text, "\n")})
}

// bytes converts a member to base64 or removes it. It reports whether the member has bytes.
func (f *mender) bytes(m object, name, path string) bool {
	if m[name] == nil {
		return false
	}
	text := words(m[name])
	if _, data, is := strings.Cut(text, ";base64,"); is && strings.HasPrefix(text, "data:") {
		text = data
	}
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(text), "=")
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		f.leave(path + "." + name)
		delete(m, name)
		return false
	}
	m[name] = written(b)
	return true
}
