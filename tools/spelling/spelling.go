// Package spelling gives the arguments of a call the names that a tool has for them.
//
// Does: rename what is called as other programs call it, and add what a name implies.
//
// Does not: know a tool.
//
// Imports: .
package spelling

import (
	"encoding/json"
	"maps"
)

// Respell gives arguments their own names and adds what is implied. An argument
// spelt "" is an object whose members are arguments. Arguments that are no object
// stay as they are, and so does what stands under its own name.
func Respell(args json.RawMessage, spelt map[string]string, set map[string]any) json.RawMessage {
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
