package slash

import (
	"context"
	"errors"
	"strings"

	"fantail/agents/schedule"
	"fantail/ui/composer"
	"fantail/ui/intent"
	"fantail/ui/slash/timetable"
)

// runDue runs a command about what is due when.
func runDue(f func(d timetable.Desk, ctx context.Context, text string) (string, error)) func(in input) (intent.Intent, error) {
	return func(in input) (intent.Intent, error) {
		d := timetable.Desk{Pool: in.Pool.Due, Agent: in.id, Origin: schedule.Human, Now: in.Now}
		return in.act(func(ctx context.Context) (string, error) {
			text, err := f(d, ctx, in.rest)
			if wrong := (*timetable.Wrong)(nil); errors.As(err, &wrong) {
				err = in.wrong("%v", err)
			}
			return text, err
		}), nil
	}
}

// whenArguments are forms of a time.
func whenArguments(_ Env, args []string, _ string) []composer.Item {
	if len(args) > 0 {
		return nil
	}
	var items []composer.Item
	for _, s := range []string{"30m ", "2h ", "14:00 ", "tomorrow 9:00 ", "every monday 10:00 "} {
		items = append(items, composer.Item{Insert: s, Label: strings.TrimSpace(s)})
	}
	return items
}

// scheduleArguments are what may follow /schedule.
func scheduleArguments(e Env, args []string, word string) []composer.Item {
	if len(args) > 0 {
		return nil
	}
	var items []composer.Item
	for _, s := range append([]string{"list"}, timetable.Verbs...) {
		items = append(items, composer.Item{Insert: s})
	}
	return append(items, whenArguments(e, args, word)...)
}
