package panel

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/inbox"
	"fantail/tools"
)

// Pool is what the boards ask of the pool, by what it is about.
type Pool struct {
	Mail  Mail
	Put   Put
	Take  Take
	Tasks Tasks
	End   End
}

// Mail reads messages and what is known of them.
type Mail interface {
	Shelf(ctx context.Context, s inbox.Shelf) ([]inbox.Message, error)
	Lanes(ctx context.Context, agent int64) (map[inbox.Lane]int, error)
	Message(ctx context.Context, id int64) (inbox.Message, bool, error)
	Thread(ctx context.Context, id int64) ([]inbox.Message, error)
	Why(ctx context.Context, id int64) (string, error)
	Made(ctx context.Context, message int64) (agents.Made, error)
}

// Put puts messages where no conversation takes them, and back.
type Put interface {
	Archive(ctx context.Context, agent int64, ids []int64) (int, error)
	Restore(ctx context.Context, agent int64, ids []int64) (int, error)
	Snooze(ctx context.Context, agent int64, ids []int64, until time.Time) error
	Pin(ctx context.Context, agent, id int64, on bool) error
	Mute(ctx context.Context, agent, id int64, on bool) (int, error)
	Dismiss(ctx context.Context, agent, id int64) error
	Undismiss(ctx context.Context, agent, id int64) error
}

// Take takes messages into conversations, and answers them.
type Take interface {
	Check(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, int, error)
	Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error)
	FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error)
	Undo(ctx context.Context, agent int64) (int, error)
	Reply(ctx context.Context, agent, id int64, text string) (agents.Sent, error)
}

// Tasks is the queue and what has become of its tasks.
type Tasks interface {
	Queue(ctx context.Context, by int64) (agents.Queue, error)
	Run(ctx context.Context, by int64, s tools.Start) (agents.Ran, error)
	Joins(task int64) bool
	Edit(ctx context.Context, name, text string) error
	Retry(ctx context.Context, by int64, name, hint string) (agents.Task, agents.Outcome, error)
	Remove(ctx context.Context, name string) error
	Move(ctx context.Context, name string, to int) (int, error)
	Kill(ctx context.Context, name string, cascade bool) error
	Does(name string) (agents.Now, error)
	Facts(ctx context.Context, agent int64) (agents.Facts, error)
}

// End ends agents, and closes their tabs.
type End interface {
	Kill(ctx context.Context, name string, cascade bool) error
	WrapUp(ctx context.Context, name string) error
	CloseTab(ctx context.Context, name string) error
}
