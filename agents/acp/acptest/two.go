package acptest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fantail/agents/acp/rpc"
)

// hello is what the agent can do.
func (a *Agent) hello() map[string]any {
	return map[string]any{
		"protocolVersion": 2, "info": map[string]string{"name": "fake", "version": "1"},
		"capabilities": map[string]any{"session": map[string]any{"mcp": map[string]any{"stdio": map[string]any{}}}},
		"authMethods":  []map[string]string{{"type": "agent", "methodId": "login", "name": "Log in", "description": "run fake login"}},
	}
}

// options are its modes and settings, as one list of settings; "": none. They are JSON.
func (a *Agent) options() string {
	var all []map[string]any
	_ = json.Unmarshal([]byte(a.Options), &all)
	var m struct {
		Current string `json:"currentModeId"`
		All     []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	}
	if json.Unmarshal([]byte(a.Modes), &m) == nil {
		var values []map[string]any
		for _, v := range m.All {
			values = append(values, map[string]any{"value": v.ID, "name": v.ID})
		}
		all = append(all, map[string]any{"id": "mode", "name": "Mode", "category": "mode", "currentValue": m.Current, "options": values})
	}
	if all == nil {
		return ""
	}
	return string(marshal(configured(all)))
}

// configured are settings in the words of version 2.
func configured(all []map[string]any) []map[string]any {
	for _, o := range all {
		o["configId"] = o["id"]
		delete(o, "id")
		if o["type"] == nil {
			o["type"] = "select"
		}
	}
	return all
}

func marshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// resume goes on with a session.
func (a *Agent) resume(id string, params json.RawMessage) (any, error) {
	var p struct {
		From *struct{} `json:"replayFrom"`
	}
	_ = json.Unmarshal(params, &p)
	lines, known := a.sessions.open(id)
	switch {
	case !known:
		return nil, &rpc.Error{Code: -32002, Message: "no session " + id}
	case p.From != nil && !a.Loads:
		return nil, &rpc.Error{Code: rpc.InvalidParams, Message: "nothing is replayed"}
	case p.From != nil:
		for _, l := range lines {
			a.update(id, l)
		}
	}
	a.state(id, "idle", "")
	return a.begun("", params), nil
}

// state says whether it does something.
func (a *Agent) state(id, state, why string) {
	u := map[string]string{"sessionUpdate": "state_update", "state": state}
	if why != "" {
		u["stopReason"] = why
	}
	a.update(id, marshal(u))
}

// Works says that the agent does something by itself, Ceases that it does nothing any more. In version 1 it can't.
func (t *Turn) Works() {
	if t.a.two {
		t.a.state(t.Session, "running", "")
	}
}

func (t *Turn) Ceases() {
	if t.a.two {
		t.a.state(t.Session, "idle", "end_turn")
	}
}

// accept takes a prompt: into the turn that goes on, if the agent lets itself be steered, or as one that begins after that.
func (a *Agent) accept(ctx context.Context, id, text string) (any, error) {
	if _, known := a.sessions.open(id); !known {
		return nil, &rpc.Error{Code: -32002, Message: "no session " + id}
	}
	if a.Loses != nil && a.Loses(text) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for {
		a.mu.Lock()
		t := a.turns[id]
		if t == nil {
			accepted := a.starts(id, text)
			a.mu.Unlock()
			if a.Late != nil {
				a.begins()
				select {
				case <-a.Late:
				case <-ctx.Done():
				}
			}
			return accepted, nil
		}
		a.mu.Unlock()
		var takes chan string
		var message string
		if a.Steers { // it is told of before what the turn says to it
			takes, message = t.Steered, a.tells(id, text)
		}
		select {
		case takes <- text:
			return a.keeps(id, message, text), nil
		case <-t.left:
			if t.Context.Err() != nil {
				return nil, &rpc.Error{Code: rpc.Cancelled, Message: "cancelled"}
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tells says that a prompt is a message of the conversation.
func (a *Agent) tells(id, text string) (message string) {
	message = fmt.Sprint("u", a.said.Add(1))
	content := []map[string]string{{"type": "text", "text": text}}
	a.update(id, marshal(map[string]any{"sessionUpdate": "user_message", "messageId": message, "content": content}))
	return message
}

// keeps puts that message into the conversation.
func (a *Agent) keeps(id, message, text string) (accepted map[string]string) {
	if a.Forgets == nil || !a.Forgets(text) {
		content := map[string]string{"type": "text", "text": text}
		a.sessions.note(id, marshal(map[string]any{"sessionUpdate": "user_message_chunk", "messageId": message, "content": content}))
	}
	return map[string]string{"messageId": message}
}

// starts begins a turn. The caller holds the mutex.
func (a *Agent) starts(id, text string) (accepted map[string]string) {
	ctx, cancel := context.WithCancel(context.Background())
	a.all.Go(func() {
		select {
		case <-a.conn.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	t := &Turn{Context: ctx, Session: id, Prompt: text, Steered: make(chan string), a: a, cancel: cancel, left: make(chan struct{})}
	a.turns[id] = t
	accepted = a.keeps(id, a.tells(id, text), text)
	a.state(id, "running", "")
	a.due = append(a.due, func() {
		defer cancel()
		why := a.runs(t)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.turns, id)
		a.state(id, "idle", why)
		close(t.left)
	})
	return accepted
}

// begins carries out the turns that are to begin: once the client was told that it accepts them, unless it tells that late.
func (a *Agent) begins() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, turn := range a.due {
		a.all.Go(turn)
	}
	a.due = nil
}

// second is an update in the words of version 2.
func (a *Agent) second(update json.RawMessage) json.RawMessage {
	var u map[string]any
	if json.Unmarshal(update, &u) != nil {
		return update // it is no JSON, as the test wants it
	}
	switch kind, _ := u["sessionUpdate"].(string); kind {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
		if u["messageId"] == nil {
			u["messageId"] = fmt.Sprint("m", a.said.Load())
		}
	case "tool_call", "tool_call_update":
		u["sessionUpdate"] = "tool_call_update"
		items, _ := u["content"].([]any)
		for _, item := range items {
			if c, is := item.(map[string]any); is && c["type"] == "diff" && c["changes"] == nil {
				differs(c)
			}
		}
	case "plan":
		u = map[string]any{"sessionUpdate": "plan_update", "plan": map[string]any{"type": "items", "planId": "p", "entries": u["entries"]}}
	case "config_option_update":
		var c struct {
			All []map[string]any `json:"configOptions"`
		}
		if json.Unmarshal(update, &c) == nil {
			u["configOptions"] = configured(c.All)
		}
	default:
		return update
	}
	return marshal(u)
}

// differs makes of two texts a change and a patch.
func differs(c map[string]any) {
	path, _ := c["path"].(string)
	now, _ := c["newText"].(string)
	old, was := c["oldText"].(string)
	change := map[string]any{"operation": "modify", "path": path}
	if !was {
		change["operation"] = "add"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n--- %s\n+++ %s\n@@ -1 +1 @@\n", path, path, path, path)
	for line := range strings.Lines(old) {
		b.WriteString("-" + line)
	}
	for line := range strings.Lines(now) {
		b.WriteString("+" + line)
	}
	c["changes"], c["patch"] = []any{change}, map[string]any{"format": "git_patch", "text": b.String()}
	delete(c, "oldText")
	delete(c, "newText")
	delete(c, "path")
}

// asked is a question whether a call may run in the words of version 2.
func asked(params json.RawMessage) json.RawMessage {
	var p map[string]any
	if json.Unmarshal(params, &p) != nil {
		return params
	}
	call, _ := p["toolCall"].(map[string]any)
	p["title"], p["subject"] = call["title"], map[string]any{"type": "tool_call", "toolCall": call}
	delete(p, "toolCall")
	return marshal(p)
}
