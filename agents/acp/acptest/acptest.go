// Package acptest is an agent that speaks the Agent Client Protocol as a test wants it.
//
// Does: begin, load and resume sessions, which it keeps in memory or in a directory; carry out turns as a function of the test
// says: words, thoughts, calls, plans, questions, whatever else is written; take what it is steered with; stop when told to.
//
// Does not: ask a model, or check what the client does.
package acptest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"fantail/agents/acp"
)

// Agent is the fake agent. Its fields are set before Serve.
type Agent struct {
	Turn    func(*Turn) string // carries out a turn and returns why it ended; "": end_turn
	Version int                // of the protocol, whatever is asked for; 0: 1
	Steers  bool
	Loads   bool
	Resumes bool
	Login   bool // it wants one first
	Deaf    bool // it goes on with a turn that is cancelled

	// Loses reports whether a prompt stays on its way: it is in no session, and nothing comes of it; nil: none does.
	Loses func(prompt string) bool

	// Forgets reports whether a prompt that it carries out is in no session when its program has ended; nil: none is.
	Forgets func(prompt string) bool

	Modes   string // a JSON value; "": none
	Options string // a JSON list; "": none
	Dir     string // where sessions are kept over processes, a file each; "": in memory

	all      sync.WaitGroup
	mu       sync.Mutex
	conn     *acp.Conn
	sessions sessions
	servers  json.RawMessage // the MCP servers it was given last
	where    string          // the directory it works in
	set      []string
	turns    map[string]*Turn
}

// Turn is one that is being carried out.
type Turn struct {
	Context context.Context // ends when it is cancelled, or the client leaves
	Session string
	Prompt  string      // what it was sent
	Steered chan string // what it is steered with, if a receiver waits
	Usage   string      // what it has used, a JSON value; "": it does not say

	a      *Agent
	cancel context.CancelFunc
}

// Serve speaks with the client until that leaves.
func (a *Agent) Serve(in io.Reader, out io.Writer) error {
	a.sessions.dir, a.sessions.of, a.turns = a.Dir, map[string][]json.RawMessage{}, map[string]*Turn{}
	ready := make(chan struct{})
	a.conn = acp.NewConn(out, in, client{a, ready}, func(_ string, f func()) { a.all.Go(f) })
	close(ready)
	<-a.conn.Done()
	a.all.Wait()
	return a.conn.Err()
}

// client hears the client.
type client struct {
	a     *Agent
	ready <-chan struct{}
}

func (h client) Notify(method string, params json.RawMessage) {
	<-h.ready
	if method == "session/cancel" && !h.a.Deaf {
		h.a.mu.Lock()
		defer h.a.mu.Unlock()
		if t := h.a.turns[sessionOf(params)]; t != nil {
			t.cancel()
		}
	}
}

func sessionOf(params json.RawMessage) string {
	var p struct {
		Session string `json:"sessionId"`
	}
	_ = json.Unmarshal(params, &p)
	return p.Session
}

func promptOf(params json.RawMessage) string {
	var p struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	_ = json.Unmarshal(params, &p)
	var b strings.Builder
	for _, block := range p.Prompt {
		b.WriteString(block.Text)
	}
	return b.String()
}

func (h client) Answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	<-h.ready
	a := h.a
	id := sessionOf(params)
	switch method {
	case "initialize":
		version := a.Version
		if version == 0 {
			version = 1
		}
		can := map[string]any{"loadSession": a.Loads, "sessionCapabilities": map[string]any{}}
		if a.Resumes {
			can["sessionCapabilities"] = map[string]any{"resume": map[string]any{}}
		}
		return map[string]any{
			"protocolVersion": version, "agentCapabilities": can,
			"agentInfo":   map[string]string{"name": "fake", "version": "1"},
			"authMethods": []map[string]string{{"id": "login", "name": "Log in", "description": "run fake login"}},
			"_meta":       map[string]any{"steering": map[string]bool{"supported": a.Steers}},
		}, nil
	case "session/new":
		if a.Login {
			return nil, &acp.RPCError{Code: -32000, Message: "log in first"}
		}
		return a.begun(a.sessions.begin(), params), nil
	case "session/load", "session/resume":
		lines, known := a.sessions.open(id)
		if !known {
			return nil, &acp.RPCError{Code: -32002, Message: "no session " + id}
		}
		if method == "session/load" {
			for _, l := range lines {
				a.update(id, l)
			}
		}
		return a.begun("", params), nil
	case "session/prompt":
		return a.prompt(ctx, id, promptOf(params))
	case "_session/steering":
		a.mu.Lock()
		t := a.turns[id]
		a.mu.Unlock()
		if t == nil {
			return map[string]string{"outcome": "promptRequired"}, nil
		}
		text := promptOf(params)
		select {
		case t.Steered <- text:
			a.sessions.note(id, said("user_message_chunk", text))
			return map[string]string{"outcome": "injected"}, nil
		case <-t.Context.Done():
			return map[string]string{"outcome": "failed"}, nil
		}
	case "session/set_mode", "session/set_config_option":
		var p struct{ ModeID, ConfigID, Value string }
		_ = json.Unmarshal(params, &p)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.set = append(a.set, p.ModeID+p.ConfigID+strings.TrimRight(" "+p.Value, " "))
		return map[string]any{}, nil
	}
	return nil, &acp.RPCError{Code: acp.CodeMethodNotFound, Message: "fake has no " + method}
}

// begun is the answer to a session's beginning.
func (a *Agent) begun(id string, params json.RawMessage) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	var p struct {
		Where   string          `json:"cwd"`
		Servers json.RawMessage `json:"mcpServers"`
	}
	_ = json.Unmarshal(params, &p)
	a.servers, a.where = p.Servers, p.Where
	r := map[string]any{}
	if id != "" {
		r["sessionId"] = id
	}
	if a.Modes != "" {
		r["modes"] = json.RawMessage(a.Modes)
	}
	if a.Options != "" {
		r["configOptions"] = json.RawMessage(a.Options)
	}
	return r
}

// Servers are the MCP servers that the last session was begun with.
func (a *Agent) Servers() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(a.servers)
}

// Servers are those of the turn's agent, and Where is the directory it works in.
func (t *Turn) Servers() string { return t.a.Servers() }

func (t *Turn) Where() string {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	return t.a.where
}

// Set are the modes and settings that it was given, in their order.
func (a *Agent) Set() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.set)
}

// prompt carries out a turn, after those before it.
func (a *Agent) prompt(ctx context.Context, id, text string) (any, error) {
	if a.Deaf {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.all.Go(func() {
		select {
		case <-a.conn.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	t := &Turn{Context: ctx, Session: id, Prompt: text, Steered: make(chan string), a: a, cancel: cancel}
	if _, known := a.sessions.open(id); !known {
		return nil, &acp.RPCError{Code: -32002, Message: "no session " + id}
	}
	if a.Loses != nil && a.Loses(text) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	a.mu.Lock()
	a.turns[id] = t
	a.mu.Unlock()
	if a.Forgets == nil || !a.Forgets(text) {
		a.sessions.note(id, said("user_message_chunk", text))
	}
	why := ""
	if a.Turn != nil {
		why = a.Turn(t)
	}
	if ctx.Err() != nil {
		why = "cancelled"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.turns, id)
	r := map[string]any{"stopReason": cmp.Or(why, "end_turn")}
	if t.Usage != "" {
		r["usage"] = json.RawMessage(t.Usage)
	}
	return r, nil
}

func said(kind, text string) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"sessionUpdate": kind, "content": map[string]string{"type": "text", "text": text}})
	return b
}

func (a *Agent) update(id string, update json.RawMessage) {
	_ = a.conn.Notify("session/update", map[string]any{"sessionId": id, "update": update})
}

// Update says something, and keeps it for a load. update is JSON.
func (t *Turn) Update(update string) {
	t.a.sessions.note(t.Session, json.RawMessage(update))
	t.a.update(t.Session, json.RawMessage(update))
}

// Flood is Update, but that no load replays it: of very many it is quick.
func (t *Turn) Flood(update string) { t.a.update(t.Session, json.RawMessage(update)) }

// Say and Think say words.
func (t *Turn) Say(text string) { t.Update(string(said("agent_message_chunk", text))) }

func (t *Turn) Think(text string) { t.Update(string(said("agent_thought_chunk", text))) }

// Call begins a call of its own tools, and Done ends it.
func (t *Turn) Call(id, kind, title string) {
	t.Update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"kind":%q,"title":%q,"status":"in_progress"}`, id, kind, title))
}

func (t *Turn) Done(id, output string) {
	b, _ := json.Marshal(output)
	t.Update(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed","content":[{"type":"content","content":{"type":"text","text":%s}}]}`, id, b))
}

// Ask asks for a permission and returns the choice; "": it was cancelled. A choice may have a name after a colon.
func (t *Turn) Ask(id, title string, choices ...string) string {
	type choice struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	var cs []choice
	for _, c := range choices {
		id, name, named := strings.Cut(c, ": ")
		if !named {
			name = "Choice " + id
		}
		cs = append(cs, choice{id, name, id})
	}
	var r struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Choice  string `json:"optionId"`
		} `json:"outcome"`
	}
	err := t.a.conn.Call(t.Context, "session/request_permission", map[string]any{
		"sessionId": t.Session, "toolCall": map[string]string{"toolCallId": id, "title": title}, "options": cs,
	}, &r)
	if err != nil || r.Outcome.Outcome != "selected" {
		return ""
	}
	return r.Outcome.Choice
}

// Request calls the client and returns what it answers.
func (t *Turn) Request(method string, params any) (json.RawMessage, error) {
	var r json.RawMessage
	err := t.a.conn.Call(t.Context, method, params, &r)
	return r, err
}
