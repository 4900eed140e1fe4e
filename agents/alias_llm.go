package agents

import "fantail/agents/llm"

type Model = llm.Model
