package acp

import (
	"encoding/json"
	"errors"
	"strings"
)

// ProtocolVersion is the version of the protocol that this package speaks.
const ProtocolVersion = 1

// The methods that a client calls, and of which it notifies.
const (
	MethodInitialize               = "initialize"
	MethodSessionNew               = "session/new"
	MethodSessionLoad              = "session/load"
	MethodSessionResume            = "session/resume"
	MethodSessionClose             = "session/close"
	MethodSessionPrompt            = "session/prompt"
	MethodSessionCancel            = "session/cancel"
	MethodSessionSetMode           = "session/set_mode"
	MethodSessionSetConfigOption   = "session/set_config_option"
	MethodSessionSteering          = "_session/steering"
	MethodElicitationCreate        = "elicitation/create"
	MethodElicitationComplete      = "elicitation/complete"
	MethodSessionRequestPermission = "session/request_permission"
	MethodSessionUpdate            = "session/update"
	CodeAuthRequired               = -32000 // the code of the error that asks for a login
)

// InitializeRequest begins a connection. This program offers neither files nor terminals: the agent has its own.
type InitializeRequest struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities ClientCapabilities `json:"clientCapabilities"`
	ClientInfo         Implementation     `json:"clientInfo"`
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

// Implementation is the name and version of a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// InitializeResponse holds the agent's capabilities.
type InitializeResponse struct {
	ProtocolVersion   int                         `json:"protocolVersion"`
	AgentCapabilities Optional[AgentCapabilities] `json:"agentCapabilities"`
	AuthMethods       List[AuthMethod]            `json:"authMethods"`
	AgentInfo         Optional[Implementation]    `json:"agentInfo"`
	Meta              Optional[struct {
		Steering Optional[struct {
			Supported Optional[bool] `json:"supported"`
		}] `json:"steering"`
	}] `json:"_meta"`
}

// SupportsSteering reports whether text can be added to a running turn.
func (r *InitializeResponse) SupportsSteering() bool { return r.Meta.V.Steering.V.Supported.V }

type AgentCapabilities struct {
	LoadSession         Optional[bool] `json:"loadSession"`
	SessionCapabilities Optional[struct {
		Resume Optional[struct{}] `json:"resume"`
		Close  Optional[struct{}] `json:"close"`
	}] `json:"sessionCapabilities"`
}

// AuthMethod is a way to log in. The user logs in, never this program.
type AuthMethod struct {
	ID          string           `json:"id"`
	Name        Optional[string] `json:"name"`
	Description Optional[string] `json:"description"`
}

// SessionRequest is the request of session/new, session/load and session/resume.
type SessionRequest struct {
	SessionID  string      `json:"sessionId,omitempty"`
	Cwd        string      `json:"cwd"` // absolute
	MCPServers []MCPServer `json:"mcpServers"`
}

// MCPServer is an MCP server that the agent starts.
type MCPServer struct {
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Args    []string      `json:"args"`
	Env     []EnvVariable `json:"env"` // required, though it may be empty
}

type EnvVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SessionResponse is the response to a [SessionRequest].
type SessionResponse struct {
	SessionID     string                     `json:"sessionId"`
	Modes         Optional[SessionModeState] `json:"modes"`
	ConfigOptions List[SessionConfigOption]  `json:"configOptions"`
}

type SessionModeState struct {
	CurrentModeID  Optional[string]  `json:"currentModeId"`
	AvailableModes List[SessionMode] `json:"availableModes"`
}

type SessionMode struct {
	ID          string           `json:"id"`
	Name        Optional[string] `json:"name"`
	Description Optional[string] `json:"description"`
}

// SessionConfigOption is a setting of a session, such as its model or effort.
type SessionConfigOption struct {
	ID           string                          `json:"id"`
	Name         Optional[string]                `json:"name"`
	Category     Optional[string]                `json:"category"` // mode, model, model_config, thought_level, or another
	CurrentValue json.RawMessage                 `json:"currentValue"`
	Options      List[SessionConfigSelectOption] `json:"options"`
}

// SessionConfigSelectOption is a value of a setting, or a group of values.
type SessionConfigSelectOption struct {
	Value   string                          `json:"value"`
	Name    Optional[string]                `json:"name"`
	Options List[SessionConfigSelectOption] `json:"options"`
}

// PromptRequest begins a turn.
type PromptRequest struct {
	SessionID string        `json:"sessionId"`
	Prompt    []TextContent `json:"prompt"`
}

// SteeringRequest adds text to a running turn.
type SteeringRequest struct {
	SessionID string        `json:"sessionId"`
	Prompt    []TextContent `json:"prompt"`
	Meta      any           `json:"_meta,omitempty"`
}

// steeringMeta says that a [SteeringRequest] must not begin a turn.
var steeringMeta = map[string]any{"steering": map[string]string{"idleBehavior": "promptRequired"}}

// SteeringResponse is the outcome: injected, promptRequired, startedNewTurn or failed.
type SteeringResponse struct {
	Outcome Optional[string] `json:"outcome"`
	Status  Optional[string] `json:"status"`
}

// TextContent is a content block of text.
type TextContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textPrompt(text string) []TextContent { return []TextContent{{"text", text}} }

// PromptResponse ends a turn.
type PromptResponse struct {
	StopReason string          `json:"stopReason"` // end_turn, max_tokens, max_turn_requests, refusal or cancelled
	Usage      Optional[Usage] `json:"usage"`
}

// Usage counts the tokens of a turn.
type Usage struct {
	InputTokens       Optional[int] `json:"inputTokens"`
	OutputTokens      Optional[int] `json:"outputTokens"`
	CachedReadTokens  Optional[int] `json:"cachedReadTokens"`
	CachedWriteTokens Optional[int] `json:"cachedWriteTokens"`
	ThoughtTokens     Optional[int] `json:"thoughtTokens"` // of the output
}

// CancelNotification ends the turn of a session.
type CancelNotification struct {
	SessionID string `json:"sessionId"`
}

// RequestPermissionRequest asks whether a call may run.
type RequestPermissionRequest struct {
	SessionID string                 `json:"sessionId"`
	ToolCall  ToolCallUpdate         `json:"toolCall"`
	Options   List[PermissionOption] `json:"options"`
}

// PermissionOption is an answer to choose from.
type PermissionOption struct {
	OptionID string           `json:"optionId"`
	Name     Optional[string] `json:"name"`
	Kind     Optional[string] `json:"kind"` // allow_once, allow_always, reject_once or reject_always
}

// RequestPermissionResponse holds the answer.
type RequestPermissionResponse struct {
	Outcome RequestPermissionOutcome `json:"outcome"`
}

type RequestPermissionOutcome struct {
	Outcome  string `json:"outcome"` // selected or cancelled
	OptionID string `json:"optionId,omitempty"`
}

// CreateElicitationRequest asks the user for values.
type CreateElicitationRequest struct {
	Message         string                      `json:"message"`
	Mode            string                      `json:"mode"` // form or url
	URL             Optional[string]            `json:"url"`
	RequestedSchema Optional[ElicitationSchema] `json:"requestedSchema"`
}

// ElicitationSchema is the form of an elicitation.
type ElicitationSchema struct {
	Title      Optional[string]           `json:"title"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   List[string]               `json:"required"`
}

// ElicitationField is a field of a form.
type ElicitationField struct {
	Type        string           `json:"type"` // string, number, integer, boolean, array
	Title       Optional[string] `json:"title"`
	Description Optional[string] `json:"description"`
	Enum        List[string]     `json:"enum"`
	OneOf       List[EnumOption] `json:"oneOf"`
	Items       Optional[struct {
		Enum  List[string]     `json:"enum"`
		AnyOf List[EnumOption] `json:"anyOf"`
	}] `json:"items"`
	Default json.RawMessage `json:"default"`
}

type EnumOption struct {
	Const string           `json:"const"`
	Title Optional[string] `json:"title"`
}

// CreateElicitationResponse holds the user's answer: accept, decline or cancel.
type CreateElicitationResponse struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// ToolCallUpdate is a call of one of the agent's own tools, or a change of it: a missing field is unchanged.
type ToolCallUpdate struct {
	ToolCallID string                 `json:"toolCallId"`
	Title      Optional[string]       `json:"title"`
	Name       Optional[string]       `json:"name"`
	Kind       Optional[string]       `json:"kind"`
	Status     Optional[string]       `json:"status"` // pending, in_progress, completed or failed
	Content    List[ToolCallContent]  `json:"content"`
	Locations  List[ToolCallLocation] `json:"locations"`
	RawInput   json.RawMessage        `json:"rawInput"`
	RawOutput  json.RawMessage        `json:"rawOutput"`

	// Meta is how some tell what a command has written since the last update.
	Meta Optional[struct {
		TerminalOutputDelta Optional[terminalOutput] `json:"terminal_output_delta"`
		TerminalOutput      Optional[terminalOutput] `json:"terminal_output"`
	}] `json:"_meta"`
}

// terminalOutput is a piece of a command's output.
type terminalOutput struct {
	Data string `json:"data"`
}

// TerminalOutput returns what a command has written since the last update.
func (c *ToolCallUpdate) TerminalOutput() string {
	return c.Meta.V.TerminalOutputDelta.V.Data + c.Meta.V.TerminalOutput.V.Data
}

type ToolCallLocation struct {
	Path string        `json:"path"`
	Line Optional[int] `json:"line"`
}

// ToolCallContent is what a call produced: a content block, a diff or the output of a terminal.
type ToolCallContent struct {
	Type    string           `json:"type"`
	Content ContentBlock     `json:"content"`
	Path    string           `json:"path"`
	OldText Optional[string] `json:"oldText"`
	NewText string           `json:"newText"`
}

// ContentBlock is text, an image, an audio, a resource or a link. Only text is shown; the others are named.
type ContentBlock struct {
	Type     string           `json:"type"`
	Text     string           `json:"text"`
	URI      Optional[string] `json:"uri"`
	Name     Optional[string] `json:"name"`
	MIMEType Optional[string] `json:"mimeType"`
	Resource Optional[struct {
		URI  Optional[string] `json:"uri"`
		Text Optional[string] `json:"text"`
	}] `json:"resource"`
}

// String returns the text of the block, or a name for another kind of block.
func (b ContentBlock) String() string {
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
	return "[" + strings.TrimSpace(b.Type+" "+b.MIMEType.V) + "]"
}

// Optional is a field that may be missing, null or unreadable: then OK is false.
type Optional[T any] struct {
	V  T
	OK bool
}

func (m *Optional[T]) UnmarshalJSON(text []byte) error {
	var v T
	if string(text) != "null" && json.Unmarshal(text, &v) == nil {
		m.V, m.OK = v, true
	}
	return nil
}

// List is a list without its unreadable items. OK is false if there is no list.
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
	errNoUpdateID   = errors.New("it has no id")
	errLongUpdateID = errors.New("its id is too long")
)

// maxToolCallID is the longest id of a call in bytes.
const maxToolCallID = 1 << 10
