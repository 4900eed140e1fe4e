package agents

import "fantail/agents/roster"

type (
	Queue = roster.Queue
	Task  = roster.Task
)

const (
	OriginCLI  = roster.OriginCLI
	OriginMCP  = roster.OriginMCP
	Outside    = roster.Outside
	OutsideMCP = roster.OutsideMCP
)

var (
	ErrNoAgent  = roster.ErrNoAgent
	ErrNoPrompt = roster.ErrNoPrompt
)
