package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fantail/agents/history"
	"fantail/agents/llm"
	"fantail/agents/turn"
)

// ObserverLimits limit one observer. Zero fields get their defaults, and MaxObserverLimits caps
// them.
type ObserverLimits struct {
	Time   time.Duration // once it has a slot
	Tokens int           // of all its requests and replies
	Calls  int           // tool calls
}

// DefaultObserverLimits returns the limits of an observer for which none are set.
func DefaultObserverLimits() ObserverLimits {
	return ObserverLimits{Time: 300 * time.Second, Tokens: 50_000, Calls: 20}
}

// MaxObserverLimits returns the upper bounds of all limits.
func MaxObserverLimits() ObserverLimits {
	return ObserverLimits{Time: 1800 * time.Second, Tokens: 200_000, Calls: 50}
}

// within returns the limits with defaults filled in and upper bounds applied.
func (l ObserverLimits) within() ObserverLimits {
	d, m := DefaultObserverLimits(), MaxObserverLimits()
	if l.Time <= 0 {
		l.Time = d.Time
	}
	if l.Tokens <= 0 {
		l.Tokens = d.Tokens
	}
	if l.Calls <= 0 {
		l.Calls = d.Calls
	}
	return ObserverLimits{Time: min(l.Time, m.Time), Tokens: min(l.Tokens, m.Tokens), Calls: min(l.Calls, m.Calls)}
}

// The messages to an observer that does too much.
const (
	enough = "You have reached the maximum tool calls for this scheduled execution. Summarize your findings and stop."
	again  = "You are repeating the same tool call. This suggests a loop. Summarize what you've found so far and conclude."
)

// watcher keeps one observer within its limits.
type watcher struct {
	limits   ObserverLimits
	schedule string // name of its own schedule, which it may end
	unready  error  // why it can't begin

	spent    int    // tokens, estimated high
	requests int    // number sent
	calls    int    // number made
	last     string // the last call in canonical form
	alike    int    // times in a row that it was made
	over     string // why it was told to stop; "": it was not
	stopped  int    // the request whose answer made one call too many
}

var _ turn.Guard = &watcher{}

// Request allows a request that can't exceed the token limit, as far as that can be estimated: a
// token is three and a half bytes in most texts and less in some. It cuts the length of the reply
// to the tokens left.
func (w *watcher) Request(req *llm.Request) error {
	left := w.limits.Tokens - w.spent - history.Estimate(req)*5/4
	if left <= 0 {
		return fmt.Errorf("stopped: its next request would pass the %d tokens that an observer may use", w.limits.Tokens)
	}
	if req.MaxTokens > left {
		req.MaxTokens = left
	}
	w.requests++
	return nil
}

// Replied adds the cost of a request: what the provider reports, but at least what was seen.
func (w *watcher) Replied(req *llm.Request, used llm.Usage, words int) {
	w.spent += max(used.Context(), history.Estimate(req)+(words+2)/3)
}

// Call allows a call unless it exceeds the limit or repeats the one before.
func (w *watcher) Call(c history.Call) (instead string, err error) {
	if w.over != "" && w.requests > w.stopped {
		return "", errors.New(w.over + ", and went on")
	}
	if like := alike(c); like != w.last {
		w.last, w.alike = like, 1
	} else if w.alike++; w.alike > 2 {
		return "", fmt.Errorf("stopped: it made the same call of %s three times in a row", c.Name)
	}
	if w.calls++; w.calls > w.limits.Calls {
		w.over, w.stopped = fmt.Sprintf("stopped: it made the %d tool calls that an observer may make", w.limits.Calls), w.requests
		return enough, nil
	}
	if w.alike == 2 {
		return again, nil
	}
	return w.ends(c), nil
}

// Over returns why the observer was told to stop.
func (w *watcher) Over() string { return w.over }

// ends refuses every use of the tool schedule except ending the observer's own schedule. It returns
// "" for that and for all other tools.
func (w *watcher) ends(c history.Call) string {
	if c.Name != "schedule" {
		return ""
	}
	var a struct {
		Action string `json:"action"`
		Task   string `json:"task_id"`
	}
	if json.Unmarshal(c.Args, &a) == nil && a.Action == "unregister" && a.Task == w.schedule {
		return ""
	}
	return fmt.Sprintf("Refused: an observer registers no schedule, and ends none but its own: action \"unregister\", task_id %q.", w.schedule)
}

// alike returns a call in canonical form: calls that differ only in notation are equal.
func alike(c history.Call) string {
	var args any
	if json.Unmarshal(c.Args, &args) != nil {
		return c.Name + " " + string(c.Args)
	}
	written, err := json.Marshal(args) // Marshal sorts the keys
	if err != nil {
		return c.Name + " " + string(c.Args)
	}
	return c.Name + " " + string(written)
}
