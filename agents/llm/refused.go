package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Refused is what a server has refused, which later requests leave out. The zero value is empty. It is safe for concurrent
// use.
type Refused struct {
	mu    sync.Mutex
	names map[string]bool
}

// The names in Refused. A tool is known by its name and its schema: a changed one is offered again.
const (
	allTools      = "tools"
	StreamOptions = "stream_options"
)

func toolKey(t Tool) string { return "tool " + t.Name + "\x00" + string(t.Schema) }

// Has reports whether the server has refused what has that name.
func (r *Refused) Has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[name]
}

// Forget removes names: leaving those out did not help.
func (r *Refused) Forget(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range names {
		delete(r.names, n)
	}
}

// Tools returns the tools that the server takes: each name once, and each schema an object.
func (r *Refused) Tools(all []Tool) []Tool {
	if r.Has(allTools) {
		return nil
	}
	var left []Tool
	names := map[string]bool{}
	for _, t := range all {
		if names[t.Name] || r.Has(toolKey(t)) {
			continue
		}
		names[t.Name] = true
		if !IsObject(t.Schema) {
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		left = append(left, t)
	}
	return left
}

var (
	toolIndexPattern   = regexp.MustCompile(`(?:function_declarations|functionDeclarations|functions|tools)(?:\.|\[)(\d+)`)
	toolDetailPattern  = regexp.MustCompile(`(?i)schema|function|tool|parameter|declaration|propert`)
	toolsPattern       = regexp.MustCompile(`(?i)\btools?\b|\btool_choice\b|function.?call`)
	unsupportedPattern = regexp.MustCompile(`(?i)(?:not|n't|no|without)\b.{0,40}\bsupport|support(?:s|ed)? (?:tool|function)|requires|not (?:enabled|available|implemented)|disabled|` +
		`unexpected keyword argument '(?:tools|functions)'|不支持`)
	unknownFieldPattern = regexp.MustCompile(`(?i)unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed|accept(?:ed)?|recogni[sz]ed?|expect(?:ed)?|known|` +
		`understood|applicable|defined|possible|provide|offer|exist)\b|no such|extra (?:inputs|fields)|extraneous|` +
		`unsupported|unavailable|incapable|unable|can(?:'t|not) (?:use|accept|handle|call|be (?:used|set|given|specified|provided|sent|passed|present))|not have|not a valid|must be empty|` +
		`(?:must|should|may) not (?:be|contain|include|have|use)|forbidden|prohibited|disallowed|reject|remove|lacks?\b|(?:try|retry|again|only) without`)

	// A server may call all of them no more than wrong. What it says of one tool's form, of their number, or of what a
	// conversation holds is another thing.
	invalidPattern      = regexp.MustCompile(`(?i)invalid|\bnot valid|\bbad\b|illegal|incorrect|wrong|\berror\b|malformed|无效|非法|错误`)
	toolsFieldPattern   = regexp.MustCompile(`(?i)(?:^|[^.\w])(?:tools|functions)(?:[^.\[\w]|\.?$|\. )`)
	schemaDetailPattern = regexp.MustCompile(`(?i)schema|propert|\bnames?\b|\btypes?\b|length|\blong\b|\bmany\b|\bmore\b|\bmost\b|maximum|exceed|limit|unique|duplicate|descri|expected|array|` +
		`object|required|missing|element|\bitems?\b|format|character|pattern|definition|declaration|[0-9]|key|quota|token|credit|server error|internal`)
	conversationPattern = regexp.MustCompile(`(?i)tool_calls?\b|tool_call_ids?|tool_use\b|tool_use_id|tool_result|\brole\b|messages?\b`)
)

// refusedPrefix begins the message of a refusal.
const refusedPrefix = "The server refused the request: "

// refusesTools reports whether a server says that it takes no tools at all. A server that fails may name them without that.
func refusesTools(err *Error) bool {
	said, final := strings.TrimPrefix(err.Message, refusedPrefix), err.Kind != Server
	switch {
	case final && slices.Contains([]string{"tools", "functions"}, strings.Trim(said, " .'\"`")): // no more than the parameter
		return true
	case !toolsPattern.MatchString(said) && !toolsFieldPattern.MatchString(said):
		return false
	case toolsPattern.MatchString(said) && unsupportedPattern.MatchString(said):
		return true
	case !final || conversationPattern.MatchString(said):
		return false
	}
	return toolsPattern.MatchString(said) && unknownFieldPattern.MatchString(said) || toolsFieldPattern.MatchString(said) && invalidPattern.MatchString(said) && !schemaDetailPattern.MatchString(said)
}

// Learn notes what the server refused of a request with these tools, so that it is not sent again. It returns its name and a
// note for people, or "" if a request can't do without it.
func (r *Refused) Learn(err *Error, sent []Tool) (name, told string) {
	switch err.Kind {
	case BadRequest, NotConfigured, Server:
	default:
		return "", ""
	}
	if err.Status < 400 {
		return "", ""
	}
	said := err.Message
	switch {
	case strings.Contains(said, StreamOptions) || strings.Contains(said, "include_usage"):
		name = StreamOptions
	case len(sent) == 0:
	default:
		if t := refusedTool(said, sent); t != nil && err.Kind != Server { // one that fails may name a tool without refusing it
			name = toolKey(*t)
			told = fmt.Sprintf("The server refused the tool %s, so the model was asked without it. %s", t.Name, said)
		} else if refusesTools(err) {
			name = allTools
			told = "The server takes no tools for this model, so it was asked without any: it can answer, and do nothing. " + said
		}
	}
	if name == "" {
		return "", ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names = map[string]bool{}
	}
	r.names[name] = true
	return name, told
}

// refusedTool returns the tool that a refusal names, or nil.
func refusedTool(said string, sent []Tool) (found *Tool) {
	if !toolDetailPattern.MatchString(said) {
		return nil
	}
	for i, t := range sent {
		if (found == nil || len(t.Name) > len(found.Name)) && t.Name != "" && mentions(said, t.Name) {
			found = &sent[i]
		}
	}
	if found != nil {
		return found
	}
	all := toolIndexPattern.FindAllStringSubmatch(said, -1) // of several the last: tools[0].function_declarations[5]
	if len(all) == 0 {
		return nil
	}
	if n, err := strconv.Atoi(all[len(all)-1][1]); err == nil && n < len(sent) {
		return &sent[n]
	}
	return nil
}

// mentions reports whether a text holds a name: in quotes, or by itself if it is no common word.
func mentions(said, name string) bool {
	for at := 0; ; {
		n := strings.Index(said[at:], name)
		if n < 0 {
			return false
		}
		from := at + n
		to := from + len(name)
		before, behind := byte(' '), byte(' ')
		if from > 0 {
			before = said[from-1]
		}
		if to < len(said) {
			behind = said[to]
		}
		quoted := bytes.IndexByte([]byte("'\"`"), before) >= 0 && before == behind
		if quoted || strings.Contains(name, "__") && !isSafeByte(before) && !isSafeByte(behind) {
			return true
		}
		at = from + 1
	}
}
