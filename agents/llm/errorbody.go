package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// errorBody is the body of an error response.
type errorBody struct {
	text    string
	typ     string
	code    string
	status  int  // in the object, as routers send it
	isError bool // it is an error object
}

// parseErrorBody parses a body, which may be JSON of any vendor's form, an HTML
// page, or text.
func parseErrorBody(body []byte, contentType string) errorBody {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return errorBody{}
	}
	if strings.Contains(strings.ToLower(contentType), "html") || body[0] == '<' {
		return errorBody{text: "an HTML page"}
	}
	var v any
	if json.Unmarshal(body, &v) != nil {
		return errorBody{text: string(body)}
	}
	var r errorBody
	r.walk(v, 0)
	if r.text == "" {
		r.text = string(body)
	}
	return r
}

// walk descends to the innermost object with a message.
func (r *errorBody) walk(v any, depth int) {
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

func (r *errorBody) object(m map[string]any, depth int) {
	r.typ = stringOr(m["type"], r.typ)
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
		r.isError = r.isError || key == "error"
		r.walk(inner, depth+1)
		break
	}
	if at := errorParam(m); at != "" && !strings.Contains(r.text, at) {
		r.text = strings.TrimSuffix(at+": "+r.text, ": ")
	}
	// The message of the vendor behind a router says more than the router's own.
	if meta, ok := m["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" {
			r.text += ": " + parseErrorBody([]byte(raw), "").text
		}
	}
}

// errorParam returns the place in the request that an error object names, or "".
func errorParam(m map[string]any) string {
	if param, is := m["param"].(string); is {
		return param
	}
	var at []string
	loc, _ := m["loc"].([]any)
	for _, step := range loc {
		if step != "body" {
			at = append(at, fmt.Sprint(step))
		}
	}
	return strings.Join(at, ".")
}

func stringOr(v any, otherwise string) string {
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return otherwise
}

// tooLongPhrases are the vendors' words for a conversation that exceeds the context window.
var tooLongPhrases = []string{
	"prompt is too long", "context_length_exceeded", "context length", "context window",
	"context size", "exceed_context_size", "exceed context limit", "maximum context", "context the overflows",
	"exceeds the maximum number of tokens", "reduce the length of the messages", "input is too long",
	"request_too_large", "too many input tokens", "model_context_window_exceeded",
}

func (r errorBody) kind(status int) ErrorKind {
	if r.tooLong(status) {
		return ContextTooLong
	}
	if kind := r.byName(); kind != "" && status < 400 {
		return kind
	}
	switch {
	case r.noCredit():
		return BadRequest
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return Auth
	case status == http.StatusNotFound:
		return NotConfigured
	case status == http.StatusRequestEntityTooLarge:
		return ContextTooLong
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusServiceUnavailable, status == 529:
		return Overloaded
	case status == http.StatusRequestTimeout, status >= 500, status < 400:
		return Server
	}
	return BadRequest
}

func (r errorBody) tooLong(status int) bool {
	switch status {
	case 0, http.StatusOK, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return status == http.StatusRequestEntityTooLarge
	}
	all := strings.ToLower(r.typ + " " + r.code + " " + r.text)
	for _, words := range tooLongPhrases {
		if strings.Contains(all, words) {
			return true
		}
	}
	return false
}

// noCredit reports whether the account has no credit. That comes with status 429, but waiting
// does not help.
func (r errorBody) noCredit() bool {
	for _, name := range []string{r.code, r.typ} {
		switch name {
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached":
			return true
		}
	}
	return false
}

// byName returns the kind by the vendors' own names. Errors inside a stream have
// status 200.
func (r errorBody) byName() ErrorKind {
	if r.noCredit() {
		return BadRequest
	}
	for _, name := range []string{r.code, r.typ} {
		switch name {
		case "overloaded_error", "overloaded", "service_unavailable", "engine_overloaded":
			return Overloaded
		case "rate_limit_error", "rate_limit_exceeded", "rate_limited", "too_many_requests":
			return RateLimited
		case "invalid_request_error", "bad_request":
			return BadRequest
		case "authentication_error", "permission_error", "invalid_api_key":
			return Auth
		case "not_found_error", "model_not_found":
			return NotConfigured
		case "api_error", "timeout_error", "server_error", "internal_error", "internal_server_error":
			return Server
		}
	}
	return ""
}
