package wire

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"fantail/agents/llm"
)

// Object reports whether args are one whole JSON object.
func Object(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) > 0 && args[0] == '{' && json.Valid(args)
}

// IDs keeps the ids of calls unique within a conversation, whatever a server
// sends.
type IDs map[string]bool

// NewIDs knows the ids that req already uses.
func NewIDs(req *llm.Request) IDs {
	ids := IDs{}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if c, ok := p.(llm.ToolCall); ok {
				ids[c.ID] = true
			}
		}
	}
	return ids
}

// Claim returns id, or a new one if id is empty or in use.
func (ids IDs) Claim(id string) string {
	for id == "" || ids[id] {
		var b [12]byte
		_, _ = rand.Read(b[:]) // never fails
		id = "call_" + hex.EncodeToString(b[:])
	}
	ids[id] = true
	return id
}

// SafeID returns id in the form all servers take: at most 40 letters, digits,
// _ and -. The same id gives the same result, so that a call and its result
// stay together and a cached prefix stays the same.
func SafeID(id string) string {
	if id != "" && len(id) <= 40 && plain(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

// SafeName returns the name of a call in the form all servers take. A model may
// have called a tool by a name no server would take back.
func SafeName(name string) string {
	if name == "" {
		return "unnamed"
	}
	if len(name) <= 64 && plain(name) {
		return name
	}
	b := []byte(name[:min(len(name), 64)])
	for i, c := range b {
		if !plainByte(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func plain(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return true
}

func plainByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
