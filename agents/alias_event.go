package agents

import "fantail/agents/event"

type (
	Answer   = event.Answer
	Appended = event.Appended
	Changed  = event.Changed
	Closed   = event.Closed
	Trouble  = event.Trouble
	Delta    = event.Delta
	Event    = event.Event
	Feed     = event.Feed
	Info     = event.Info
	Kind     = event.Kind
	Mailed   = event.Mailed
	Output   = event.Output
	Prompt   = event.Prompt
	Question = event.Question
	Retry    = event.Retry
	State    = event.State
	Tally    = event.Tally
	Void     = event.Void
)

const (
	Asking  = event.Asking
	Crashed = event.Crashed
	Done    = event.Done
	Failed  = event.Failed
	Fork    = event.Fork
	Helper  = event.Helper
	Idle    = event.Idle
	Killed  = event.Killed
	Main    = event.Main
	Queued  = event.Queued
	Running = event.Running
	Sub     = event.Sub
	Waiting = event.Waiting
)

var ErrAnswered = event.ErrAnswered
