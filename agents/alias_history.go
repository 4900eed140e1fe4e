package agents

import "fantail/agents/history"

type (
	Batch     = history.Batch
	Book      = history.Book
	Call      = history.Call
	End       = history.End
	Entry     = history.Entry
	EntryKind = history.EntryKind
	Outcome   = history.Outcome
	Recall    = history.Recall
	Result    = history.Result
	Shell     = history.Shell
	Summary   = history.Summary
)

const (
	Completed      = history.Completed
	EntryCall      = history.EntryCall
	EntryCleared   = history.EntryCleared
	EntryDelegated = history.EntryDelegated
	EntryEnded     = history.EntryEnded
	EntryHost      = history.EntryHost
	EntryMemory    = history.EntryMemory
	EntryMessage   = history.EntryMessage
	EntryNotice    = history.EntryNotice
	EntryPrompt    = history.EntryPrompt
	EntryResult    = history.EntryResult
	EntryShell     = history.EntryShell
	EntrySnapshot  = history.EntrySnapshot
	EntryStarted   = history.EntryStarted
	EntrySummary   = history.EntrySummary
	EntryText      = history.EntryText
	EntryThinking  = history.EntryThinking
	EntryWithdrawn = history.EntryWithdrawn
	Interrupted    = history.Interrupted
	OutCrashed     = history.OutCrashed
	OutFailed      = history.OutFailed
	OutKilled      = history.OutKilled
	TimedOut       = history.TimedOut
)
