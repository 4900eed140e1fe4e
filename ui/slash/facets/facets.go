// Package facets is what commands ask of the agents.
//
// Does: name it, one interface for each room, and take it of a pool.
//
// Does not: know a command.
//
// Imports: agents, agents/audit, agents/event, agents/fleet, agents/history, agents/ledger, agents/mail, agents/memory,
// agents/roster, inbox, inbox/policy, tools, tools/allowance, tools/mcp, tools/permit, ui/slash/checking,
// ui/slash/inforce, ui/slash/permissions, ui/slash/serving, ui/slash/timetable, ui/slash/trusting.
package facets

import (
	"context"
	"time"

	"fantail/agents"
	"fantail/agents/audit"
	"fantail/agents/event"
	"fantail/agents/fleet"
	"fantail/agents/history"
	"fantail/agents/ledger"
	"fantail/agents/mail"
	"fantail/agents/memory"
	"fantail/agents/roster"
	"fantail/inbox"
	"fantail/inbox/policy"
	"fantail/tools"
	"fantail/tools/allowance"
	"fantail/tools/mcp"
	"fantail/tools/permit"
	"fantail/ui/slash/checking"
	"fantail/ui/slash/inforce"
	"fantail/ui/slash/permissions"
	"fantail/ui/slash/serving"
	"fantail/ui/slash/timetable"
	"fantail/ui/slash/trusting"
)

// Pool is what commands ask of an [agents.Pool] and of its rooms.
type Pool struct {
	Agents  Agents
	Steer   Steer
	Tasks   Tasks
	Mail    Mail
	Letters Letters
	Pickup  Pickup
	Asks    Asks
	Memory  Memory
	Ledger  Ledger
	Audit   Audit
	Due     timetable.Pool
	Checks  checking.Room
	Budgets Budgets
	Briefs  inforce.Room
	Brings  trusting.Room
	Hooks   trusting.Hooks
	Rules   permissions.Room
	Servers serving.Desk
	Served  *mcp.Room
}

// Of is what commands ask of p.
func Of(p *agents.Pool) Pool {
	return Pool{
		Agents: p, Steer: p.Steer, Tasks: p.Tasks, Mail: p.Mail, Letters: p.Letters, Pickup: p.Pickup, Asks: p.Asks, Memory: p.Memory, Ledger: p.Ledger,
		Audit: p.Audit, Due: p.Schedule, Checks: p.Observe.Checks(), Budgets: p.Budgets, Briefs: agents.BriefsOf(p), Brings: agents.BroughtOf(p).Trust, Hooks: p.Hooks, Rules: p.Permissions,
		Servers: serving.Of(agents.BroughtOf(p).Served), Served: agents.BroughtOf(p).MCP,
	}
}

// Agents opens, closes, starts and changes agents.
type Agents interface {
	NewHelper(ctx context.Context, name, model string) (event.Info, error)
	RenameHelper(ctx context.Context, name, to string) error
	CloseHelper(ctx context.Context, name string, force bool) error
	Branch(ctx context.Context, agent int64, number int, name string) (event.Info, error)
	CloseTab(ctx context.Context, name string) error
	Does(name string) (fleet.Now, error)
	SetModel(ctx context.Context, agent int64, name string) error
	Clear(ctx context.Context, agent int64) error
	Compact(ctx context.Context, agent int64, hint string) error
	Kill(ctx context.Context, name string, cascade bool) error
	Resume(ctx context.Context, by int64, name, prompt string) (t roster.Task, goes bool, err error)
	Run(ctx context.Context, by int64, s tools.Start) (agents.Ran, error)
	Queue(ctx context.Context, by int64) (roster.Queue, error)
	Joins(task int64) bool
	Prompt(ctx context.Context, agent int64, text string) error
}

// Steer is the human's say in what agents do.
type Steer interface {
	Tell(ctx context.Context, name, text string) error
	WrapUp(ctx context.Context, name string) error
	End(ctx context.Context, name string) error
}

// Tasks is what waits to start.
type Tasks interface {
	Push(ctx context.Context, by int64, t tools.Task) (roster.Task, error)
	Remove(ctx context.Context, name string) error
	Move(ctx context.Context, name string, to int) (int, error)
	Typed(ctx context.Context, name string) (string, error)
	Edit(ctx context.Context, name, text string) error
	Retry(ctx context.Context, by int64, name, hint string) (roster.Task, history.Outcome, error)
	Respawn(ctx context.Context, by int64, name string) (roster.Task, error)
}

// Mail says how mail is delivered.
type Mail interface {
	Policy(agent int64) (policy.Policy, error)
	Override(ctx context.Context, agent int64, change func(o *policy.Overrides)) (policy.Policy, error)
	BeQuiet(ctx context.Context, until time.Time) error
	EndQuiet(ctx context.Context) (came string, err error)
	Why(ctx context.Context, id int64) (string, error)
}

// Letters are written, looked at, and put where no conversation takes them.
type Letters interface {
	Mail(ctx context.Context, from int64, l mail.Letter) ([]mail.Sent, error)
	Reply(ctx context.Context, agent, id int64, text string) (mail.Sent, error)
	Whose(ctx context.Context, word string) (event.Info, error)
	Undo(ctx context.Context, agent int64) (int, error)
	Peek(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, error)
	Look(ctx context.Context, agent int64, q inbox.Query, taken bool) ([]inbox.Message, error)
	Shelf(ctx context.Context, s inbox.Shelf) ([]inbox.Message, error)
	Questions(ctx context.Context, agent int64) ([]inbox.Message, error)
	Archive(ctx context.Context, agent int64, ids []int64) (int, error)
	Restore(ctx context.Context, agent int64, ids []int64) (int, error)
	Snooze(ctx context.Context, agent int64, ids []int64, until time.Time) error
	Pin(ctx context.Context, agent, id int64, on bool) error
	Mute(ctx context.Context, agent, id int64, on bool) (int, error)
}

// Pickup takes messages into conversations.
type Pickup interface {
	Check(ctx context.Context, agent int64, q inbox.Query) ([]inbox.Message, int, error)
	Show(ctx context.Context, agent int64, q inbox.Query) (ms []inbox.Message, left int, err error)
	Await(ctx context.Context, agent int64, q inbox.Query, how mail.Await) (inbox.Message, error)
	Next(ctx context.Context, agent, id int64) (inbox.Message, bool, error)
	Oldest(ctx context.Context, agent int64) (inbox.Message, bool, error)
	Each(ctx context.Context, agent int64) (int, error)
	Fire(ctx context.Context, agent int64, text string) (n, left int, err error)
	FireThese(ctx context.Context, agent int64, ids []int64, text string) (n int, err error)
}

// Asks are the questions of agents to the human.
type Asks interface {
	Asked(ctx context.Context, message int64) (event.Question, error)
	Answer(ctx context.Context, question int64, a event.Answer) error
	Granted() []permit.Grant
	Revoke(ctx context.Context, rule permit.Rule) error
}

// Memory has the workspace's documents.
type Memory interface {
	List(ctx context.Context) ([]memory.Document, error)
	Get(ctx context.Context, title string, version int) (memory.Document, bool, error)
	Versions(ctx context.Context, title string) ([]memory.Document, error)
	Write(ctx context.Context, title, text string, expect *int) (version int, err error)
}

// Budgets are what agents may use.
type Budgets interface {
	Set(ctx context.Context, agent int64, to allowance.Amount) (*event.Budget, error)
}

// Ledger answers, and only reads.
type Ledger interface {
	Turns(ctx context.Context, agent int64, most int) ([]ledger.PastTurn, error)
	Context(ctx context.Context, agent int64) (ledger.Context, error)
	Balance(ctx context.Context) (ledger.Balance, error)
	Glance(ctx context.Context) (ledger.Balance, error)
}

// Audit is what agents called, to be read.
type Audit interface {
	List(ctx context.Context, w audit.Wanted) ([]audit.Line, error)
	Find(ctx context.Context, id int64) (audit.Line, bool, error)
	Verify(ctx context.Context) (audit.Report, error)
}
