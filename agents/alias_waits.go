package agents

import "fantail/agents/waits"

var ErrNothing = waits.ErrNothing
