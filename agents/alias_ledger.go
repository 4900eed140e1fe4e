package agents

import "fantail/agents/ledger"

type (
	Balance   = ledger.Balance
	Context   = ledger.Context
	Digest    = ledger.Digest
	Facts     = ledger.Facts
	Made      = ledger.Made
	PastTurn  = ledger.PastTurn
	ToolCount = ledger.ToolCount
)
