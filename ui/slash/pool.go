package slash

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/inbox"
	"fantail/tools"
)

// Pool is what commands ask of the pool, by what it is about.
type Pool struct {
	Mail      Mail
	Shelf     Shelf
	Tasks     Tasks
	Agents    Agents
	Memory    Memory
	Policy    Policy
	Questions Questions
}

// Mail takes messages into conversations, writes them, and looks at those that wait.
type Mail interface {
	Check(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, int, error)
	Show(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error)
	Await(ctx context.Context, agent int64, q inbox.Query, how agents.Await) (inbox.Message, error)
	Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error)
	Oldest(ctx context.Context, agent int64) (inbox.Message, bool, error)
	Each(ctx context.Context, agent int64) (int, error)
	Fire(ctx context.Context, agent int64, text string) (n, left int, err error)
	FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error)
	Undo(ctx context.Context, agent int64) (int, error)
	Peek(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, error)
	Look(ctx context.Context, agent int64, q inbox.Query, taken bool) ([]inbox.Message, error)
	Why(ctx context.Context, id int64) (string, error)
	Whose(ctx context.Context, word string) (agents.Info, error)
	Mail(ctx context.Context, from int64, l agents.Letter) ([]agents.Sent, error)
	Reply(ctx context.Context, agent, id int64, text string) (agents.Sent, error)
}

// Shelf has the messages by name, and puts them where no conversation takes them.
type Shelf interface {
	Shelf(ctx context.Context, s inbox.Shelf) ([]inbox.Message, error)
	Questions(ctx context.Context, agent int64) ([]inbox.Message, error)
	Archive(ctx context.Context, agent int64, ids []int64) (int, error)
	Restore(ctx context.Context, agent int64, ids []int64) (int, error)
	Snooze(ctx context.Context, agent int64, ids []int64, until time.Time) error
	Pin(ctx context.Context, agent, id int64, on bool) error
	Mute(ctx context.Context, agent, id int64, on bool) (int, error)
}

// Tasks is the queue and what has become of its tasks.
type Tasks interface {
	Push(ctx context.Context, by int64, t tools.Task) (agents.Task, error)
	Joins(task int64) bool
	Run(ctx context.Context, by int64, s tools.Start) (agents.Ran, error)
	Queue(ctx context.Context, by int64) (agents.Queue, error)
	Remove(ctx context.Context, name string) error
	Move(ctx context.Context, name string, to int) (int, error)
	Typed(ctx context.Context, name string) (string, error)
	Edit(ctx context.Context, name, text string) error
	Retry(ctx context.Context, by int64, name, hint string) (agents.Task, agents.Outcome, error)
	Resume(ctx context.Context, by int64, name, prompt string) (t agents.Task, goes bool, err error)
	Kill(ctx context.Context, name string, cascade bool) error
}

// Agents opens, closes and changes agents, and says what they are about.
type Agents interface {
	NewHelper(ctx context.Context, name, model string) (agents.Info, error)
	RenameHelper(ctx context.Context, name, to string) error
	CloseHelper(ctx context.Context, name string, force bool) error
	Turns(ctx context.Context, agent int64, most int) ([]agents.PastTurn, error)
	Branch(ctx context.Context, agent int64, number int, name string) (agents.Info, error)
	WrapUp(ctx context.Context, name string) error
	Does(name string) (agents.Now, error)
	CloseTab(ctx context.Context, name string) error
	SetModel(ctx context.Context, agent int64, name string) error
	Clear(ctx context.Context, agent int64) error
	Context(ctx context.Context, agent int64) (agents.Context, error)
	Compact(ctx context.Context, agent int64, hint string) error
	Ledger(ctx context.Context) (agents.Balance, error)
}

// Memory has the workspace's documents.
type Memory interface {
	List(ctx context.Context) ([]agents.Document, error)
	Get(ctx context.Context, title string, version int) (agents.Document, bool, error)
	Versions(ctx context.Context, title string) ([]agents.Document, error)
	Write(ctx context.Context, title, text string, expect *int) (version int, err error)
}

// Policy says how mail is delivered.
type Policy interface {
	Policy(agent int64) (inbox.Policy, error)
	Override(ctx context.Context, agent int64, change func(o *inbox.Overrides)) (inbox.Policy, error)
	BeQuiet(ctx context.Context, until time.Time) error
	EndQuiet(ctx context.Context) (came string, err error)
}

// Questions are what agents ask the human.
type Questions interface {
	Asked(ctx context.Context, message int64) (agents.Question, error)
	Answer(ctx context.Context, question int64, a agents.Answer) error
}
