package tools

import (
	"encoding/json"
	"maps"
)

// spelling is another name for a tool, as models write it that learned it from
// other programs: accepted, not advertised.
type spelling struct {
	tool  string
	set   map[string]any // arguments that the name implies
	agent string         // what its argument agent is called here; "": the same
}

// spellings are those names.
func spellings() map[string]spelling {
	async := map[string]any{"mode": "async"}
	return map[string]spelling{
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

// meant is the tool that a name stands for, nil if there is none, and the
// arguments as that tool names them.
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

// respell gives arguments their own names and adds what is implied. An argument
// spelt "" is an object whose members are arguments. Arguments that are no object
// stay as they are, and so does what stands under its own name.
func respell(args json.RawMessage, spelt map[string]string, set map[string]any) json.RawMessage {
	var m map[string]any
	if len(spelt)+len(set) == 0 || json.Unmarshal(args, &m) != nil || m == nil {
		return args
	}
	other := false
	for from, to := range spelt {
		if inner, ok := m[from].(map[string]any); ok && to == "" {
			delete(m, from)
			maps.Copy(inner, m)
			m, other = inner, true
		}
	}
	for from, to := range spelt {
		v, ok := m[from]
		if _, there := m[to]; ok && !there && to != "" {
			delete(m, from)
			m[to], other = v, true
		}
	}
	if !other && len(set) == 0 {
		return args
	}
	maps.Copy(m, set)
	out, err := json.Marshal(m)
	if err != nil {
		return args
	}
	return out
}
