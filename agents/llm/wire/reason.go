package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"fantail/agents/llm"
)

// reason is what a server says about its refusal.
type reason struct {
	text   string
	typ    string
	code   string
	status int  // inside the object, as routers send it
	named  bool // it came as an error object
}

// read finds the reason in a body, which may be JSON of any vendor's shape, a
// page for browsers, or text.
func read(body []byte, contentType string) reason {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return reason{}
	}
	if strings.Contains(strings.ToLower(contentType), "html") || body[0] == '<' {
		return reason{text: "an HTML page"}
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return reason{text: string(body)}
	}
	var r reason
	r.walk(v, 0)
	if r.text == "" {
		r.text = string(body)
	}
	return r
}

// walk descends to the innermost object that says something.
func (r *reason) walk(v any, depth int) {
	switch v := v.(type) {
	case string:
		r.text = v
	case []any:
		if len(v) > 0 && depth < 8 {
			r.walk(v[0], depth+1)
		}
	case map[string]any:
		r.object(v, depth)
	}
}

func (r *reason) object(m map[string]any, depth int) {
	r.typ = first(m["type"], r.typ)
	switch c := m["code"].(type) {
	case string:
		r.code = c
	case float64:
		if c >= 400 && c < 600 {
			r.status = int(c)
		}
	}
	for _, key := range []string{"error", "message", "msg", "detail"} {
		inner, ok := m[key]
		if !ok || inner == nil || depth >= 8 {
			continue
		}
		r.named = r.named || key == "error"
		r.walk(inner, depth+1)
		break
	}
	// A router's own words say little; those of the vendor behind it say more.
	if meta, ok := m["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" {
			r.text += ": " + read([]byte(raw), "").text
		}
	}
}

func first(v any, otherwise string) string {
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return otherwise
}

// The vendors' words for a conversation that does not fit.
var tooLong = []string{
	"prompt is too long", "context_length_exceeded", "context length", "context window",
	"context size", "exceed_context_size", "exceed context limit", "maximum context", "context the overflows",
	"exceeds the maximum number of tokens", "reduce the length of the messages", "input is too long",
	"request_too_large", "too many input tokens", "model_context_window_exceeded",
}

func (r reason) kind(status int) llm.ErrorKind {
	if r.tooLong(status) {
		return llm.ContextTooLong
	}
	if kind := r.byName(); kind != "" && status < 400 {
		return kind
	}
	switch {
	case r.noCredit():
		return llm.BadRequest
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return llm.Auth
	case status == http.StatusNotFound:
		return llm.NotConfigured
	case status == http.StatusRequestEntityTooLarge:
		return llm.ContextTooLong
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case status == http.StatusServiceUnavailable, status == 529:
		return llm.Overloaded
	case status == http.StatusRequestTimeout, status >= 500, status < 400:
		return llm.Server
	}
	return llm.BadRequest
}

func (r reason) tooLong(status int) bool {
	switch status {
	case 0, http.StatusOK, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return status == http.StatusRequestEntityTooLarge
	}
	all := strings.ToLower(r.typ + " " + r.code + " " + r.text)
	for _, words := range tooLong {
		if strings.Contains(all, words) {
			return true
		}
	}
	return false
}

// noCredit overrides a status: it comes as 429, but does not pass by waiting.
func (r reason) noCredit() bool {
	for _, name := range []string{r.code, r.typ} {
		switch name {
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached":
			return true
		}
	}
	return false
}

// byName is the kind by the vendors' own names, for errors inside a stream,
// where the status was 200.
func (r reason) byName() llm.ErrorKind {
	if r.noCredit() {
		return llm.BadRequest
	}
	for _, name := range []string{r.code, r.typ} {
		switch name {
		case "overloaded_error", "overloaded", "service_unavailable", "engine_overloaded":
			return llm.Overloaded
		case "rate_limit_error", "rate_limit_exceeded", "rate_limited", "too_many_requests":
			return llm.RateLimited
		case "invalid_request_error", "bad_request":
			return llm.BadRequest
		case "authentication_error", "permission_error", "invalid_api_key":
			return llm.Auth
		case "not_found_error", "model_not_found":
			return llm.NotConfigured
		case "api_error", "timeout_error", "server_error", "internal_error", "internal_server_error":
			return llm.Server
		}
	}
	return ""
}
