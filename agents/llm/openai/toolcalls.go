package openai

import (
	"bytes"

	"fantail/agents/llm"
)

// toolCalls assembles tool calls from their deltas. In the documented protocol a delta
// belongs to the call with its index, and only the first delta has an id and a name. Some
// servers send no index or 0 for every call, some send no ids, some repeat the id and
// the name in each delta, and some send whole calls at once.
type toolCalls struct {
	all     []*pendingCall
	byIndex map[int]*pendingCall // the latest call by index
}

type pendingCall struct {
	id      string
	name    string
	args    []byte
	indexed bool // one of its deltas had an index
}

func (cs *toolCalls) add(d *toolCallDelta) {
	args := llm.DecodeArgs(d.Function.Arguments)
	c := cs.find(d)
	if c == nil || cs.startsCall(c, d, args) {
		c = &pendingCall{id: d.ID, name: d.Function.Name}
		cs.all = append(cs.all, c)
	}
	if d.Index.Valid {
		if cs.byIndex == nil {
			cs.byIndex = map[int]*pendingCall{}
		}
		cs.byIndex[d.Index.N] = c
		c.indexed = true
	}
	if c.id == "" {
		c.id = d.ID
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	c.args = append(c.args, args...)
}

// find returns the call that d continues, or nil if there is none.
func (cs *toolCalls) find(d *toolCallDelta) *pendingCall {
	last := len(cs.all) - 1
	if d.Index.Valid {
		if c := cs.byIndex[d.Index.N]; c != nil || d.Function.Name != "" || last < 0 || cs.all[last].indexed {
			return c
		}
		return cs.all[last] // its first delta had no index
	}
	if d.ID != "" {
		for _, c := range cs.all {
			if c.id == d.ID {
				return c
			}
		}
	}
	if last >= 0 {
		return cs.all[last]
	}
	return nil
}

// startsCall reports whether d starts a new call although find returned c. A delta
// without a name never does.
func (cs *toolCalls) startsCall(c *pendingCall, d *toolCallDelta, args []byte) bool {
	name := d.Function.Name
	switch {
	case name == "":
		return false
	case d.ID != "" && c.id != "" && d.ID != c.id:
		return true
	case c.name != "" && name != c.name:
		return true
	}
	// The same name again: it is a new call only if the arguments of c are complete
	// and d begins new ones.
	args = bytes.TrimSpace(args)
	return len(args) > 0 && args[0] == '{' && llm.IsObject(c.args)
}
