package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fantail/tools/permit"
)

// The longest a task, or a wait for a message, may be given.
const mostSeconds = 7 * 24 * 3600

// internal makes the call of a tool that reaches upward.
func (c call) internal(f func(ctx context.Context, d Desk) Result) *Call {
	return &Call{Action: c.action(permit.Internal), Run: func(ctx context.Context) Result {
		if c.env.Desk == nil {
			return fail("%s: not possible here", c.tool.name)
		}
		return f(ctx, c.env.Desk)
	}}
}

// answer is the result of a text and an error.
func answer(text string, err error) Result {
	if err != nil {
		if text != "" {
			text += "\n"
		}
		return Result{Text: text + err.Error(), Error: true}
	}
	return Result{Text: text}
}

// oneOf checks a word against those that are allowed; "" is left to the default.
func oneOf(name, v string, allowed ...string) error {
	if v == "" || slices.Contains(allowed, v) {
		return nil
	}
	return fmt.Errorf("the argument %q must be %s, not %q", name, strings.Join(allowed, ", "), v)
}

// seconds turns an optional number of seconds into a duration.
func seconds(v *int) (time.Duration, error) {
	if v == nil {
		return 0, nil
	}
	return time.Duration(*v) * time.Second, between("timeout", *v, 1, mostSeconds)
}

// from is the title of a tool that takes mail.
func from(verb string, a loose) string {
	if f := a.word("from"); f != "" {
		return verb + " from " + f
	}
	return verb
}
