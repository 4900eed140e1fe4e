package agents

import "fantail/agents/memory"

type (
	Document = memory.Document
)

var ErrChanged = memory.ErrChanged
