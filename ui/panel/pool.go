package panel

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/agents/mail"
	"fantail/agents/roster"
	"fantail/agents/schedule"
	"fantail/inbox"
	"fantail/tools"
	"fantail/ui/slash/permissions"
	"fantail/ui/slash/serving"
	"fantail/ui/slash/timetable"
	"fantail/ui/slash/trusting"
)

// Pool is what the boards ask of an [agents.Pool] and of its rooms.
type Pool struct {
	Agents  Agents
	Steer   Steer
	Tasks   Tasks
	Mail    Mail
	Letters Post
	Pickup  Pickup
	Ledger  Ledger
	Due     Due
	Servers serving.Desk
	Trust   trusting.Room
	Rules   permissions.Room
}

// PoolOf is what the boards ask of p.
func PoolOf(p *agents.Pool) Pool {
	return Pool{
		Agents: p, Steer: p.Steer, Tasks: p.Tasks, Mail: p.Mail, Letters: p.Letters, Pickup: p.Pickup, Ledger: p.Ledger, Due: p.Schedule,
		Servers: serving.Of(agents.BroughtOf(p).Served), Trust: agents.BroughtOf(p).Trust, Rules: p.Permissions,
	}
}

// Steer is the human's say in what agents do.
type Steer interface {
	WrapUp(ctx context.Context, name string) error
	End(ctx context.Context, name string) error
}

// Agents starts and ends agents.
type Agents interface {
	Queue(ctx context.Context, by int64) (roster.Queue, error)
	Run(ctx context.Context, by int64, s tools.Start) (agents.Ran, error)
	Joins(task int64) bool
	Does(name string) (fleet.Now, error)
	Kill(ctx context.Context, name string, cascade bool) error
	CloseTab(ctx context.Context, name string) error
}

// Tasks is what waits to start.
type Tasks interface {
	Edit(ctx context.Context, name, text string) error
	Retry(ctx context.Context, by int64, name, hint string) (roster.Task, history.Outcome, error)
	Respawn(ctx context.Context, by int64, name string) (roster.Task, error)
	Remove(ctx context.Context, name string) error
	Move(ctx context.Context, name string, to int) (int, error)
}

// Mail says how mail is delivered.
type Mail interface {
	Why(ctx context.Context, id int64) (string, error)
}

// Post is messages: they are read, answered, and put where no conversation takes them, and back.
type Post interface {
	Shelf(ctx context.Context, s inbox.Shelf) ([]inbox.Message, error)
	Lanes(ctx context.Context, agent int64) (map[inbox.Lane]int, error)
	Message(ctx context.Context, id int64) (inbox.Message, bool, error)
	Thread(ctx context.Context, id int64) ([]inbox.Message, error)
	Reply(ctx context.Context, agent, id int64, text string) (mail.Sent, error)
	Undo(ctx context.Context, agent int64) (int, error)
	Archive(ctx context.Context, agent int64, ids []int64) (int, error)
	Restore(ctx context.Context, agent int64, ids []int64) (int, error)
	Snooze(ctx context.Context, agent int64, ids []int64, until time.Time) error
	Pin(ctx context.Context, agent, id int64, on bool) error
	Mute(ctx context.Context, agent, id int64, on bool) (int, error)
	Dismiss(ctx context.Context, agent, id int64) error
	Undismiss(ctx context.Context, agent, id int64) error
}

// Pickup takes messages into conversations.
type Pickup interface {
	Check(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, int, error)
	Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error)
	FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error)
}

// Due has the schedules of the workspace, those that ended by pages.
type Due interface {
	timetable.Pool
	Past(ctx context.Context, p schedule.Past) ([]schedule.Schedule, error)
	Look(ctx context.Context, id int64) (schedule.Schedule, []schedule.Run, error)
}

// Ledger answers, and only reads.
type Ledger interface {
	Made(ctx context.Context, message int64) (ledger.Made, error)
	Facts(ctx context.Context, agent int64) (ledger.Facts, error)
}
