// Package schema has the words of the Agent Client Protocol, version 1, as far as a client needs them.
//
// Does: say what is sent, and read what comes: a field that can't be read is left out, an item of a list that can't is
// skipped, and what is unknown says of what kind it is instead of passing for something else.
//
// Does not: send anything, or keep what belongs together over several updates.
//
// Imports: nothing of ours.
package schema

import (
	"encoding/json"
	"errors"
	"strings"
)

// Version is the protocol's that is spoken here.
const Version = 1

// The methods that a client calls, and of which it notifies.
const (
	Initialize   = "initialize"
	SessionNew   = "session/new"
	SessionLoad  = "session/load"
	Resume       = "session/resume"
	Close        = "session/close"
	Prompt       = "session/prompt"
	Cancel       = "session/cancel"
	SetMode      = "session/set_mode"
	SetOption    = "session/set_config_option"
	Steer        = "_session/steering"
	Elicit       = "elicitation/create"
	Elicited     = "elicitation/complete"
	Permission   = "session/request_permission"
	SessionNews  = "session/update"
	AuthRequired = -32000 // the code of the error that asks for a login
)

// InitializeRequest begins a connection. Neither files nor terminals of ours are offered: the agent has its own.
type InitializeRequest struct {
	Version      int                `json:"protocolVersion"`
	Capabilities ClientCapabilities `json:"clientCapabilities"`
	Client       Implementation     `json:"clientInfo"`
}

type ClientCapabilities struct {
	Elicitation struct {
		Form struct{} `json:"form"`
	} `json:"elicitation"`
	Session struct {
		Notices    struct{} `json:"notices"`
		Compaction struct{} `json:"compaction"`
	} `json:"session"`
}

// Implementation is a program's name.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// InitializeResponse is what the agent can do.
type InitializeResponse struct {
	Version      int                   `json:"protocolVersion"`
	Capabilities Maybe[Capabilities]   `json:"agentCapabilities"`
	Auth         List[AuthMethod]      `json:"authMethods"`
	Agent        Maybe[Implementation] `json:"agentInfo"`
	Meta         Maybe[struct {
		Steering Maybe[struct {
			Supported Maybe[bool] `json:"supported"`
		}] `json:"steering"`
	}] `json:"_meta"`
}

// Steers reports whether words can be put into a turn that goes on.
func (r *InitializeResponse) Steers() bool { return r.Meta.V.Steering.V.Supported.V }

type Capabilities struct {
	Load    Maybe[bool] `json:"loadSession"`
	Session Maybe[struct {
		Resume Maybe[struct{}] `json:"resume"`
		Close  Maybe[struct{}] `json:"close"`
	}] `json:"sessionCapabilities"`
}

// AuthMethod is a way to log in, which the human goes, never this program.
type AuthMethod struct {
	ID          string        `json:"id"`
	Name        Maybe[string] `json:"name"`
	Description Maybe[string] `json:"description"`
}

// SessionRequest begins a session, or goes on with one.
type SessionRequest struct {
	Session string   `json:"sessionId,omitempty"`
	Dir     string   `json:"cwd"` // absolute
	Servers []Server `json:"mcpServers"`
}

// Server is an MCP server that the agent starts.
type Server struct {
	Name    string     `json:"name"`
	Command string     `json:"command"`
	Args    []string   `json:"args"`
	Env     []Variable `json:"env"` // required, though it may be empty
}

type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SessionResponse is how a session begins.
type SessionResponse struct {
	Session string       `json:"sessionId"`
	Modes   Maybe[Modes] `json:"modes"`
	Options List[Option] `json:"configOptions"`
}

type Modes struct {
	Current Maybe[string] `json:"currentModeId"`
	All     List[Mode]    `json:"availableModes"`
}

type Mode struct {
	ID          string        `json:"id"`
	Name        Maybe[string] `json:"name"`
	Description Maybe[string] `json:"description"`
}

// Option is a setting of a session: its model, its effort.
type Option struct {
	ID       string          `json:"id"`
	Name     Maybe[string]   `json:"name"`
	Category Maybe[string]   `json:"category"` // mode, model, model_config, thought_level, or another
	Current  json.RawMessage `json:"currentValue"`
	Values   List[Value]     `json:"options"`
}

// Value is one of those an option may have, or a group of them.
type Value struct {
	Value string        `json:"value"`
	Name  Maybe[string] `json:"name"`
	Group List[Value]   `json:"options"`
}

// PromptRequest begins a turn.
type PromptRequest struct {
	Session string `json:"sessionId"`
	Prompt  []Text `json:"prompt"`
}

// SteerRequest puts words into a turn that goes on.
type SteerRequest struct {
	Session string `json:"sessionId"`
	Prompt  []Text `json:"prompt"`
	Meta    any    `json:"_meta,omitempty"`
}

// Steering says how a [SteerRequest] is meant: not as the first words of a turn.
var Steering = map[string]any{"steering": map[string]string{"idleBehavior": "promptRequired"}}

// SteerResponse is what became of it: injected, promptRequired, startedNewTurn or failed.
type SteerResponse struct {
	Outcome Maybe[string] `json:"outcome"`
	Status  Maybe[string] `json:"status"`
}

// Text is a block of text.
type Text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func Say(text string) []Text { return []Text{{"text", text}} }

// PromptResponse ends a turn.
type PromptResponse struct {
	Stop  string        `json:"stopReason"` // end_turn, max_tokens, max_turn_requests, refusal, cancelled or, with Why, error
	Usage Maybe[Tokens] `json:"usage"`
	Why   string        `json:"-"` // it failed; "": it does not say
}

// Tokens are what a turn has used.
type Tokens struct {
	Input   Maybe[int] `json:"inputTokens"`
	Output  Maybe[int] `json:"outputTokens"`
	Read    Maybe[int] `json:"cachedReadTokens"`
	Write   Maybe[int] `json:"cachedWriteTokens"`
	Thought Maybe[int] `json:"thoughtTokens"` // of the output
}

// SessionRef names a session.
type SessionRef struct {
	Session string `json:"sessionId"`
}

// PermissionRequest asks whether a call may run.
type PermissionRequest struct {
	Session string           `json:"sessionId"`
	Call    ToolCall         `json:"toolCall"`
	Choices List[PermitWord] `json:"options"`
	Title   string           `json:"-"` // of the question; "": the call's
	Text    string           `json:"-"` // more of what is asked
}

// PermitWord is one of the answers to choose from.
type PermitWord struct {
	ID   string        `json:"optionId"`
	Name Maybe[string] `json:"name"`
	Kind Maybe[string] `json:"kind"` // allow_once, allow_always, reject_once or reject_always
}

// PermissionResponse is the answer.
type PermissionResponse struct {
	Outcome Outcome `json:"outcome"`
}

type Outcome struct {
	Outcome string `json:"outcome"` // selected or cancelled
	Choice  string `json:"optionId,omitempty"`
}

// ElicitRequest asks the human for values.
type ElicitRequest struct {
	Message string        `json:"message"`
	Mode    string        `json:"mode"` // form or url
	URL     Maybe[string] `json:"url"`
	Schema  Maybe[Form]   `json:"requestedSchema"`
}

// Form is what an elicitation wants to know.
type Form struct {
	Title      Maybe[string]              `json:"title"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   List[string]               `json:"required"`
}

// Field is one value of a form.
type Field struct {
	Type        string        `json:"type"` // string, number, integer, boolean, array
	Title       Maybe[string] `json:"title"`
	Description Maybe[string] `json:"description"`
	Enum        List[string]  `json:"enum"`
	OneOf       List[Named]   `json:"oneOf"`
	Items       Maybe[struct {
		Enum  List[string] `json:"enum"`
		AnyOf List[Named]  `json:"anyOf"`
	}] `json:"items"`
	Default json.RawMessage `json:"default"`
}

type Named struct {
	Const string        `json:"const"`
	Title Maybe[string] `json:"title"`
}

// ElicitResponse is the answer: accept, decline or cancel.
type ElicitResponse struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// ToolCall is a call of the agent's own tools, or what changed of one: a field that is not there is as it was.
type ToolCall struct {
	ID        string          `json:"toolCallId"`
	Title     Maybe[string]   `json:"title"`
	Name      Maybe[string]   `json:"name"`
	Kind      Maybe[string]   `json:"kind"`
	Status    Maybe[string]   `json:"status"` // pending, in_progress, completed or failed
	Content   List[Content]   `json:"content"`
	Locations List[Location]  `json:"locations"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	More      bool            `json:"-"` // Content comes after what there is, instead of in its place

	// Meta is how some tell what a command has written since the last update.
	Meta Maybe[struct {
		Delta  Maybe[Written] `json:"terminal_output_delta"`
		Output Maybe[Written] `json:"terminal_output"`
	}] `json:"_meta"`
}

// Written is what a command has written.
type Written struct {
	Data string `json:"data"`
}

// Written is what a command has written since the last update.
func (c *ToolCall) Written() string { return c.Meta.V.Delta.V.Data + c.Meta.V.Output.V.Data }

type Location struct {
	Path string     `json:"path"`
	Line Maybe[int] `json:"line"`
}

// Content is what a call made: a block, a diff or the output of a terminal.
type Content struct {
	Type  string        `json:"type"`
	Block Block         `json:"content"`
	Path  string        `json:"path"`
	Old   Maybe[string] `json:"oldText"`
	New   string        `json:"newText"`
	Patch string        `json:"-"` // of the file, instead of both texts
}

// Block is text, or something else that is named instead of shown.
type Block struct {
	Type     string        `json:"type"`
	Text     string        `json:"text"`
	URI      Maybe[string] `json:"uri"`
	Name     Maybe[string] `json:"name"`
	Mime     Maybe[string] `json:"mimeType"`
	Resource Maybe[struct {
		URI  Maybe[string] `json:"uri"`
		Text Maybe[string] `json:"text"`
	}] `json:"resource"`
}

// Words are the block's text, or what stands for it.
func (b Block) Words() string {
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		return strings.TrimSpace(b.Name.V + " " + b.URI.V)
	case "resource":
		if b.Resource.V.Text.V != "" {
			return b.Resource.V.Text.V
		}
		return "[" + strings.TrimSpace("resource "+b.Resource.V.URI.V) + "]"
	}
	return "[" + strings.TrimSpace(b.Type+" "+b.Mime.V) + "]"
}

// Maybe is a field that may be missing, null or something that can't be read: then OK is false.
type Maybe[T any] struct {
	V  T
	OK bool
}

func (m *Maybe[T]) UnmarshalJSON(text []byte) error {
	var v T
	if string(text) != "null" && json.Unmarshal(text, &v) == nil {
		m.V, m.OK = v, true
	}
	return nil
}

// List is a list without the items that can't be read; OK is false if there is none.
type List[T any] struct {
	All []T
	OK  bool
}

func (l *List[T]) UnmarshalJSON(text []byte) error {
	var items []json.RawMessage
	if string(text) == "null" || json.Unmarshal(text, &items) != nil {
		return nil
	}
	l.OK = true
	for _, item := range items {
		var v T
		if json.Unmarshal(item, &v) == nil {
			l.All = append(l.All, v)
		}
	}
	return nil
}

var (
	errNoID   = errors.New("it has no id")
	errLongID = errors.New("its id is too long")
)

// MostID is how many bytes the id of a call may have.
const MostID = 1 << 10
