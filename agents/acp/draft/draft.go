// Package draft has the words of the draft of version 2 of the Agent Client Protocol, as far as a client needs them.
//
// Does: say what is sent; make of what comes the updates of version 1, with what belongs together over several of them: a
// message that comes in pieces and whole is told once, a terminal's output is its call's; say when a turn has ended.
//
// Does not: send anything. As in version 1 what can't be read is left out, and what is unknown says of what kind it is.
//
// Imports: agents/acp/schema.
package draft

import (
	"encoding/json"
	"strings"

	"fantail/agents/acp/schema"
)

// Version is the protocol's that is spoken here.
const Version = 2

// Hello begins a connection with an agent of either version: each reads what it knows.
type Hello struct {
	schema.InitializeRequest
	Info         schema.Implementation `json:"info"`
	Capabilities struct {
		Elicitation struct {
			Form struct{} `json:"form"`
		} `json:"elicitation"`
	} `json:"capabilities"`
}

// Greet makes a Hello.
func Greet(client schema.Implementation) Hello {
	return Hello{InitializeRequest: schema.InitializeRequest{Version: Version, Client: client}, Info: client}
}

// Agent is what the agent can do.
type Agent struct {
	Info         schema.Maybe[schema.Implementation] `json:"info"`
	Capabilities schema.Maybe[struct {
		Session schema.Maybe[struct {
			MCP schema.Maybe[struct {
				Stdio schema.Maybe[struct{}] `json:"stdio"`
			}] `json:"mcp"`
		}] `json:"session"`
	}] `json:"capabilities"`
	Auth schema.List[struct {
		ID          string               `json:"methodId"`
		Name        schema.Maybe[string] `json:"name"`
		Description schema.Maybe[string] `json:"description"`
	}] `json:"authMethods"`
}

// Sessions reports whether it has any, and Serves whether it starts MCP servers.
func (a *Agent) Sessions() bool { return a.Capabilities.V.Session.OK }

func (a *Agent) Serves() bool { return a.Capabilities.V.Session.V.MCP.V.Stdio.OK }

// Logins are the ways to log in.
func (a *Agent) Logins() (ways []schema.AuthMethod) {
	for _, w := range a.Auth.All {
		ways = append(ways, schema.AuthMethod{ID: w.ID, Name: w.Name, Description: w.Description})
	}
	return ways
}

// Enter begins a session, or goes on with one.
type Enter struct {
	Session string   `json:"sessionId,omitempty"`
	Dir     string   `json:"cwd"` // absolute
	Servers []Server `json:"mcpServers"`
	Replay  *Replay  `json:"replayFrom,omitempty"` // nil: what was said is not replayed
}

// Replay is from where on what was said is replayed.
type Replay struct {
	Type string `json:"type"`
}

// Server is an MCP server that the agent starts.
type Server struct {
	Type string `json:"type"`
	schema.Server
}

// Entered is how a session begins.
type Entered struct {
	Session string              `json:"sessionId"`
	Options schema.List[option] `json:"configOptions"`
}

// option is a setting of a session.
type option struct {
	ID       string                    `json:"configId"`
	Type     string                    `json:"type"` // select, boolean or another
	Name     schema.Maybe[string]      `json:"name"`
	Category schema.Maybe[string]      `json:"category"`
	Current  json.RawMessage           `json:"currentValue"`
	Values   schema.List[schema.Value] `json:"options"`
}

// Listed reads a list of settings. One that is on or off has those values as texts.
func (r *Reader) Listed(from schema.List[option]) (all []schema.Option) {
	booleans := map[string]bool{}
	for _, o := range from.All {
		as := schema.Option{ID: o.ID, Name: o.Name, Category: o.Category, Current: o.Current, Values: o.Values}
		if on := false; o.Type == boolean && json.Unmarshal(o.Current, &on) == nil {
			booleans[o.ID] = true
			as.Current = json.RawMessage(`"` + string(o.Current) + `"`)
			as.Values = schema.List[schema.Value]{All: []schema.Value{{Value: "true"}, {Value: "false"}}, OK: true}
		}
		all = append(all, as)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.booleans = booleans
	return all
}

const boolean = "boolean"

// Setting is what changes a setting.
type Setting struct {
	Session string `json:"sessionId"`
	ID      string `json:"configId"`
	Type    string `json:"type"`
	Value   any    `json:"value"`
}

// Setting is how a setting is changed.
func (r *Reader) Setting(session, id, value string) Setting {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.booleans[id] {
		return Setting{session, id, boolean, value == "true"}
	}
	return Setting{session, id, "id", value}
}

// Settings are all settings as they are now.
type Settings struct {
	Options schema.List[option] `json:"configOptions"`
}

// Accepted is that a prompt is in the conversation.
type Accepted struct {
	Message string `json:"messageId"`
}

// Permission reads a question whether something may be done.
func Permission(params json.RawMessage) (q schema.PermissionRequest, err error) {
	var p struct {
		Session     string               `json:"sessionId"`
		Title       schema.Maybe[string] `json:"title"`
		Description schema.Maybe[string] `json:"description"`
		Subject     schema.Maybe[struct {
			Type    string               `json:"type"`
			Call    json.RawMessage      `json:"toolCall"`
			Command schema.Maybe[string] `json:"command"`
			Dir     schema.Maybe[string] `json:"cwd"`
			ID      schema.Maybe[string] `json:"toolCallId"`
		}] `json:"subject"`
		Choices schema.List[schema.PermitWord] `json:"options"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return q, err
	}
	q = schema.PermissionRequest{Session: p.Session, Choices: p.Choices, Title: p.Title.V, Text: p.Description.V}
	switch of := p.Subject.V; of.Type {
	case "tool_call":
		q.Call, err = readCall(of.Call)
	case "command":
		if len(of.ID.V) <= schema.MostID {
			q.Call.ID = of.ID.V
		}
		q.Text = strings.TrimSpace(q.Text + "\n\ncommand: " + of.Command.V + "\nin: " + of.Dir.V)
	case "":
	default:
		q.Text = strings.TrimSpace(q.Text + "\n\n(What it is about this program can't show: " + of.Type + ")")
	}
	return q, err
}
