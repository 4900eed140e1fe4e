package llm

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// MessageLimit is the longest Message of an [Error], in bytes.
const MessageLimit = 500

// ErrorKind sorts failures by what can be done about them.
type ErrorKind string

const (
	Cancelled      ErrorKind = "cancelled"        // by our context; never retried
	RateLimited    ErrorKind = "rate limited"     // 429
	Overloaded     ErrorKind = "overloaded"       // 529, 503, overloaded_error inside a stream
	Server         ErrorKind = "server error"     // other 5xx, 408
	Network        ErrorKind = "network"          // could not connect, or before any answer
	Cut            ErrorKind = "stream cut"       // ended before its end marker
	Stalled        ErrorKind = "stalled"          // nothing arrived for the idle limit
	Protocol       ErrorKind = "protocol"         // an answer we cannot read; final
	Auth           ErrorKind = "not authorised"   // 401, 403; final
	BadRequest     ErrorKind = "bad request"      // other 4xx; final
	ContextTooLong ErrorKind = "context too long" // final here; the agent may compact
	NotConfigured  ErrorKind = "not configured"   // no key, unknown model; final
	TaskFailed     ErrorKind = "failed"           // the provider carried out the task itself and it failed; final
)

// Error is every failure of a provider. Message is for people: one or two
// sentences with the next step, no key, no markup, at most 500 bytes.
type Error struct {
	Kind       ErrorKind
	Provider   string // "anthropic", "openai", …
	Status     int    // HTTP status, 0 if none
	Message    string
	RetryAfter time.Duration // what the server asked for; 0 if it did not
	Tries      int           // failures like it in a row that are worth having; 0: as many as there may be of any
	Err        error         // the cause, for errors.Is
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d): %s", e.Provider, e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", e.Provider, e.Kind, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same request may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case RateLimited, Overloaded, Server, Network, Cut, Stalled:
		return true
	}
	return false
}

// Clip returns s in at most n bytes, cut between runes and marked by "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n-len("…"), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// TooLong reports whether a model has refused a request as too long for it.
func TooLong(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Kind == ContextTooLong
}
