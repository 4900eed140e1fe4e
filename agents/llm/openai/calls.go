package openai

import (
	"bytes"
	"encoding/json"

	"fantail/agents/llm/wire"
)

// calls assembles tool calls from their pieces. By the book a piece belongs to
// the call with its index, and only the first piece has an id and a name. Some
// servers send no index or 0 for every call, some no ids, some repeat id and
// name with each piece, some send whole calls at once.
type calls struct {
	all []*whole
	at  map[int]*whole // by index, the latest
}

type whole struct {
	id   string
	name string
	args []byte
}

func (cs *calls) add(piece *call) {
	args := text(piece.Function.Arguments)
	c := cs.find(piece)
	if c == nil || cs.fresh(c, piece, args) {
		c = &whole{id: piece.ID, name: piece.Function.Name}
		cs.all = append(cs.all, c)
	}
	if piece.Index != nil {
		if cs.at == nil {
			cs.at = map[int]*whole{}
		}
		cs.at[*piece.Index] = c
	}
	if c.id == "" {
		c.id = piece.ID
	}
	if c.name == "" {
		c.name = piece.Function.Name
	}
	c.args = append(c.args, args...)
}

// find returns the call that the piece seems to continue, nil if none.
func (cs *calls) find(piece *call) *whole {
	if piece.Index != nil {
		return cs.at[*piece.Index]
	}
	if piece.ID != "" {
		for _, c := range cs.all {
			if c.id == piece.ID {
				return c
			}
		}
	}
	if n := len(cs.all); n > 0 {
		return cs.all[n-1]
	}
	return nil
}

// fresh reports whether the piece begins a call of its own although c stands in
// its place. A piece without a name never does.
func (cs *calls) fresh(c *whole, piece *call, args []byte) bool {
	name := piece.Function.Name
	switch {
	case name == "":
		return false
	case piece.ID != "" && c.id != "" && piece.ID != c.id:
		return true
	case c.name != "" && name != c.name:
		return true
	}
	// The same name again: only whole arguments followed by new ones make it
	// another call.
	args = bytes.TrimSpace(args)
	return len(args) > 0 && args[0] == '{' && wire.Object(c.args)
}

// text is what the arguments say: by the book they are a JSON text inside a
// string, from some servers the object itself.
func text(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		return raw
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is a valid string: it has been parsed
	return []byte(s)
}
