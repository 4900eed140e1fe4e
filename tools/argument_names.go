package tools

import (
	"encoding/json"
	"maps"
)

// respell renames arguments to their own names and adds the implied ones. An argument with the spelling "" is an object
// whose members are arguments. Arguments that are no object are unchanged, and a value under its own name takes
// precedence.
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
