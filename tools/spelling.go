package tools

import (
	"encoding/json"
	"maps"
)

// spelled is another name for a tool, as models write it that learned it from
// other programs: accepted, not advertised.
type spelled struct {
	tool  string
	set   map[string]any // arguments that the name implies
	agent string         // its name for the argument agent; "": the same
}

// spellings are the other names of tools.
func spellings() map[string]spelled {
	async := map[string]any{"mode": "async"}
	return map[string]spelled{
		"sub_agent":       {tool: "delegate", agent: "name"},
		"async_delegate":  {tool: "delegate", set: async, agent: "name"},
		"spawn_delegate":  {tool: "delegate", set: async, agent: "name"},
		"SendMessage":     {tool: "send"},
		"ListMessages":    {tool: "list_messages"},
		"ReadMessage":     {tool: "read_message"},
		"ReplyToMessage":  {tool: "reply_to_message"},
		"AskUserQuestion": {tool: "ask_user"},
		"ask_human":       {tool: "ask_user"},
	}
}

// meant returns the tool that a name means, nil if there is none, and the arguments under the names of that tool.
func (s *Set) meant(name string, args json.RawMessage) (*tool, json.RawMessage) {
	other := spellings()[name]
	if other.tool != "" {
		name = other.tool
	}
	for i := range s.list {
		if t := &s.list[i]; t.name == name {
			spelt := t.spelt
			if other.agent != "" {
				spelt = maps.Clone(spelt)
				spelt["agent"] = other.agent
			}
			return t, respell(args, spelt, other.set)
		}
	}
	return nil, args
}
