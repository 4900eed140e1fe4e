package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Update is one thing an agent says of its session while it works. The implementations are [Chunk], [ToolCall], [Plan],
// [Usage], [Modes], [Options], [Info], [Notice], [Compaction], [Commands], [Alone] and [Unknown].
type Update interface{ update() }

// Chunk is the next part of a text.
type Chunk struct {
	Of      Voice
	Message string // parts of the same message have the same; may be empty
	Block   Block
}

// Voice is whose text a chunk is of.
type Voice int

const (
	Answer  Voice = iota // the agent's
	Thought              // the agent's, to itself
	Heard                // the user's, as the agent took it, or replays it
)

// Plan is the list of what the agent means to do, whole.
type Plan struct {
	Entries List[PlanEntry] `json:"entries"`
}

type PlanEntry struct {
	Content string        `json:"content"`
	Status  Maybe[string] `json:"status"` // pending, in_progress or completed
}

// Usage is how much of its context an agent uses, and what the session has cost so far.
type Usage struct {
	Used Maybe[float64] `json:"used"` // tokens
	Size Maybe[float64] `json:"size"`
	Cost Maybe[struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	}] `json:"cost"`
}

// Options are all settings as they are now.
type Options struct {
	All List[Option] `json:"configOptions"`
}

// Info is the session's title.
type Info struct {
	Title Maybe[string] `json:"title"`
	Meta  Maybe[struct {
		Codex Maybe[struct {
			Status Maybe[struct {
				Type string `json:"type"`
			}] `json:"threadStatus"`
		}] `json:"codex"`
	}] `json:"_meta"`
}

// Broken reports whether the agent says so that its turn has failed, which its end does not tell. known is false if this
// says nothing of that.
func (i Info) Broken() (broken, known bool) {
	s := i.Meta.V.Codex.V.Status
	return s.V.Type == "systemError", s.OK
}

// Notice is for the user alone.
type Notice struct {
	Severity    Maybe[string] `json:"severity"`
	Title       string        `json:"title"`
	Description Maybe[string] `json:"description"`
}

// Compaction is that the agent shortens its conversation.
type Compaction struct {
	ID     string        `json:"compactionId"`
	Status string        `json:"status"`
	Error  Maybe[string] `json:"error"`
}

// Commands are the slash commands the agent knows.
type Commands struct {
	All List[Command] `json:"availableCommands"`
}

type Command struct {
	Name        string        `json:"name"`
	Description Maybe[string] `json:"description"`
}

// Alone is that the agent begins to do something that no prompt is for, or has ended that. Version 1 does not tell.
type Alone struct {
	Begins bool
	End    PromptResponse // how it ended
}

// Unknown is an update of a kind that is not known here, or that can't be read.
type Unknown struct {
	Kind string
	Why  string // it can't be read; "": its kind is unknown
}

func (Chunk) update()      {}
func (ToolCall) update()   {}
func (Plan) update()       {}
func (Usage) update()      {}
func (Modes) update()      {}
func (Options) update()    {}
func (Info) update()       {}
func (Notice) update()     {}
func (Compaction) update() {}
func (Commands) update()   {}
func (Alone) update()      {}
func (Unknown) update()    {}

// ReadUpdate reads the parameters of a session/update. It never fails: what can't be read is an [Unknown].
func ReadUpdate(params json.RawMessage) (session string, u Update) {
	var p struct {
		Session Maybe[string]   `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", Unknown{Kind: "?", Why: err.Error()}
	}
	var k struct {
		Kind Maybe[string] `json:"sessionUpdate"`
	}
	_ = json.Unmarshal(p.Update, &k)
	if !k.Kind.OK {
		return p.Session.V, Unknown{Kind: "?", Why: "it does not say what it is"}
	}
	read, known := readers[k.Kind.V]
	if !known {
		return p.Session.V, Unknown{Kind: k.Kind.V}
	}
	u, err := read(p.Update)
	if err != nil {
		return p.Session.V, Unknown{Kind: k.Kind.V, Why: err.Error()}
	}
	return p.Session.V, u
}

var readers = map[string]func(json.RawMessage) (Update, error){
	"agent_message_chunk":       chunk(Answer),
	"agent_thought_chunk":       chunk(Thought),
	"user_message_chunk":        chunk(Heard),
	"tool_call":                 call,
	"tool_call_update":          call,
	"plan":                      as[Plan],
	"usage_update":              as[Usage],
	"current_mode_update":       mode,
	"config_option_update":      as[Options],
	"session_info_update":       as[Info],
	"notice":                    as[Notice],
	"compaction_update":         as[Compaction],
	"available_commands_update": as[Commands],
}

func as[U Update](text json.RawMessage) (Update, error) {
	var u U
	err := json.Unmarshal(text, &u)
	return u, err
}

func chunk(of Voice) func(json.RawMessage) (Update, error) {
	return func(text json.RawMessage) (Update, error) {
		var c struct {
			Message Maybe[string] `json:"messageId"`
			Content *Block        `json:"content"`
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, err
		}
		if c.Content == nil || c.Content.Type == "" {
			return nil, fmt.Errorf("it has no content")
		}
		return Chunk{of, c.Message.V, *c.Content}, nil
	}
}

func call(text json.RawMessage) (Update, error) {
	var c ToolCall
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	switch n := len(c.ID); {
	case n == 0:
		return nil, errNoID
	case n > MostID:
		return nil, errLongID
	}
	for _, raw := range []*json.RawMessage{&c.Input, &c.Output} {
		if bytes.Equal(*raw, []byte("null")) {
			*raw = nil
		}
	}
	return c, nil
}

func mode(text json.RawMessage) (Update, error) {
	u, err := as[Modes](text)
	if m, ok := u.(Modes); err == nil && ok && !m.Current.OK {
		err = errNoID
	}
	return u, err
}
