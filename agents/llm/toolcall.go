package llm

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"fantail/tools/validjson"
)

// IsObject reports whether args are one whole JSON object.
func IsObject(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) > 0 && args[0] == '{' && json.Valid(args)
}

// ValidArgs returns args if they are a valid JSON object, and else an empty object.
func ValidArgs(args []byte) json.RawMessage {
	if valid, _ := validjson.Make(args); IsObject(valid) {
		return valid
	}
	return json.RawMessage("{}")
}

// IDs are the ids of the calls of a conversation. They are kept unique, whatever a server
// sends.
type IDs map[string]bool

// NewIDs returns the ids that req uses.
func NewIDs(req *Request) IDs {
	ids := IDs{}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if c, ok := p.(ToolCall); ok {
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
	if id != "" && len(id) <= 40 && isSafe(id) {
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
	if len(name) <= 64 && isSafe(name) {
		return name
	}
	b := []byte(name[:min(len(name), 64)])
	for i, c := range b {
		if !isSafeByte(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func isSafe(s string) bool {
	for i := range len(s) {
		if !isSafeByte(s[i]) {
			return false
		}
	}
	return true
}

func isSafeByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
