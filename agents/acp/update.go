package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// SessionUpdate is an update of a session/update notification. The implementations are [ContentChunk], [ToolCallUpdate], [Plan],
// [UsageUpdate], [SessionModeState], [ConfigOptionUpdate], [SessionInfoUpdate], [Notice], [CompactionUpdate],
// [AvailableCommandsUpdate] and [UnknownUpdate].
type SessionUpdate interface{ update() }

// ContentChunk is the next piece of a message.
type ContentChunk struct {
	Kind      ChunkKind
	MessageID string // parts of the same message have the same; may be empty
	Content   ContentBlock
}

// ChunkKind says whose message a chunk belongs to.
type ChunkKind int

const (
	AgentMessage ChunkKind = iota // the agent's
	AgentThought                  // the agent's, to itself
	UserMessage                   // the user's, as the agent took it, or replays it
)

// Plan is the agent's whole plan.
type Plan struct {
	Entries List[PlanEntry] `json:"entries"`
}

type PlanEntry struct {
	Content string           `json:"content"`
	Status  Optional[string] `json:"status"` // pending, in_progress or completed
}

// UsageUpdate is the size of the agent's context and the cost of the session so far.
type UsageUpdate struct {
	Used Optional[float64] `json:"used"` // tokens
	Size Optional[float64] `json:"size"`
	Cost Optional[struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	}] `json:"cost"`
}

// ConfigOptionUpdate holds all settings as they are now.
type ConfigOptionUpdate struct {
	ConfigOptions List[SessionConfigOption] `json:"configOptions"`
}

// SessionInfoUpdate holds the session's title.
type SessionInfoUpdate struct {
	Title Optional[string] `json:"title"`
	Meta  Optional[struct {
		Codex Optional[struct {
			Status Optional[struct {
				Type string `json:"type"`
			}] `json:"threadStatus"`
		}] `json:"codex"`
	}] `json:"_meta"`
}

// TurnFailed reports whether the agent says that its turn failed, which its stop reason does not tell. known is false if the
// update says nothing about it.
func (i SessionInfoUpdate) TurnFailed() (broken, known bool) {
	s := i.Meta.V.Codex.V.Status
	return s.V.Type == "systemError", s.OK
}

// Notice is a message for the user alone.
type Notice struct {
	Severity    Optional[string] `json:"severity"`
	Title       string           `json:"title"`
	Description Optional[string] `json:"description"`
}

// CompactionUpdate says that the agent compacts its conversation.
type CompactionUpdate struct {
	CompactionID string           `json:"compactionId"`
	Status       string           `json:"status"`
	Error        Optional[string] `json:"error"`
}

// AvailableCommandsUpdate holds the agent's slash commands.
type AvailableCommandsUpdate struct {
	AvailableCommands List[AvailableCommand] `json:"availableCommands"`
}

type AvailableCommand struct {
	Name        string           `json:"name"`
	Description Optional[string] `json:"description"`
}

// UnknownUpdate is an update of an unknown kind, or one that can't be read.
type UnknownUpdate struct {
	Kind string
	Err  string // it can't be read; "": its kind is unknown
}

func (ContentChunk) update()            {}
func (ToolCallUpdate) update()          {}
func (Plan) update()                    {}
func (UsageUpdate) update()             {}
func (SessionModeState) update()        {}
func (ConfigOptionUpdate) update()      {}
func (SessionInfoUpdate) update()       {}
func (Notice) update()                  {}
func (CompactionUpdate) update()        {}
func (AvailableCommandsUpdate) update() {}
func (UnknownUpdate) update()           {}

// ParseUpdate reads the parameters of session/update. It never fails: it returns an unreadable update as an [UnknownUpdate].
func ParseUpdate(params json.RawMessage) (session string, u SessionUpdate) {
	var p struct {
		Session Optional[string] `json:"sessionId"`
		Update  json.RawMessage  `json:"update"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", UnknownUpdate{Kind: "?", Err: err.Error()}
	}
	var k struct {
		Kind Optional[string] `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(p.Update, &k)
	if !k.Kind.OK {
		return p.Session.V, UnknownUpdate{Kind: "?", Err: "it does not say what it is"}
	}
	read, known := updateReaders[k.Kind.V]
	if !known {
		return p.Session.V, UnknownUpdate{Kind: k.Kind.V}
	}
	u, err := read(p.Update)
	if err != nil {
		return p.Session.V, UnknownUpdate{Kind: k.Kind.V, Err: err.Error()}
	}
	return p.Session.V, u
}

var updateReaders = map[string]func(json.RawMessage) (SessionUpdate, error){
	"agent_message_chunk":       parseChunk(AgentMessage),
	"agent_thought_chunk":       parseChunk(AgentThought),
	"user_message_chunk":        parseChunk(UserMessage),
	"tool_call":                 parseToolCall,
	"tool_call_update":          parseToolCall,
	"plan":                      parseAs[Plan],
	"usage_update":              parseAs[UsageUpdate],
	"current_mode_update":       parseMode,
	"config_option_update":      parseAs[ConfigOptionUpdate],
	"session_info_update":       parseAs[SessionInfoUpdate],
	"notice":                    parseAs[Notice],
	"compaction_update":         parseAs[CompactionUpdate],
	"available_commands_update": parseAs[AvailableCommandsUpdate],
}

func parseAs[U SessionUpdate](text json.RawMessage) (SessionUpdate, error) {
	var u U
	err := json.Unmarshal(text, &u)
	return u, err
}

func parseChunk(of ChunkKind) func(json.RawMessage) (SessionUpdate, error) {
	return func(text json.RawMessage) (SessionUpdate, error) {
		var c struct {
			Message Optional[string] `json:"messageId"`
			Content *ContentBlock    `json:"content"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, err
		}
		if c.Content == nil || c.Content.Type == "" {
			return nil, fmt.Errorf("it has no content")
		}
		return ContentChunk{of, c.Message.V, *c.Content}, nil
	}
}

func parseToolCall(text json.RawMessage) (SessionUpdate, error) {
	var c ToolCallUpdate
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	switch n := len(c.ToolCallID); {
	case n == 0:
		return nil, errNoUpdateID
	case n > maxToolCallID:
		return nil, errLongUpdateID
	}
	for _, raw := range []*json.RawMessage{&c.RawInput, &c.RawOutput} {
		if bytes.Equal(*raw, []byte("null")) {
			*raw = nil
		}
	}
	return c, nil
}

func parseMode(text json.RawMessage) (SessionUpdate, error) {
	u, err := parseAs[SessionModeState](text)
	if m, ok := u.(SessionModeState); err == nil && ok && !m.CurrentModeID.OK {
		err = errNoUpdateID
	}
	return u, err
}
