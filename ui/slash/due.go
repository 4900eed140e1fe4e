package slash

import (
	"context"
	"errors"

	"fantail/agents/schedule"
	"fantail/ui/format"
	"fantail/ui/intent"
)

// runDue runs a command about schedules.
func runDue(f func(d format.ScheduleCommands, ctx context.Context, text string) (string, error)) func(in input) (intent.Intent, error) {
	return func(in input) (intent.Intent, error) {
		d := format.ScheduleCommands{Pool: in.Pool.Schedule, Agent: in.id, Origin: schedule.Human, Now: in.Now}
		return in.act(func(ctx context.Context) (string, error) {
			text, err := f(d, ctx, in.rest)
			if wrong := (*format.ScheduleError)(nil); errors.As(err, &wrong) {
				err = in.wrong("%v", err)
			}
			return text, err
		}), nil
	}
}

// runSchedule opens the panel of schedules, or carries out the arguments.
func runSchedule(in input) (intent.Intent, error) {
	if in.rest == "" {
		return intent.Schedules{Agent: in.id, Name: in.t.Info.Name}, nil
	}
	return runDue(format.ScheduleCommands.Schedule)(in)
}
