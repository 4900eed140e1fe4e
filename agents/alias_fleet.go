package agents

import "fantail/agents/fleet"

type (
	Human   = fleet.Human
	Now     = fleet.Now
	Working = fleet.Working
)
