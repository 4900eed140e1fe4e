package tools

import (
	"context"
	_ "embed"
	"errors"
	"strings"
)

//go:embed delegate.md
var delegateText string

func delegate() tool {
	return tool{
		name: "delegate", text: delegateText,
		schema: `{"type":"object","properties":{` +
			`"prompt":{"type":"string","description":"The whole task: the agent knows nothing of this conversation"},` +
			`"name":{"type":"string","description":"A short name for the agent; default one is made up"},` +
			`"mode":{"type":"string","enum":["sync","async"],"description":"Wait for its answer, or go on and get it later; default async where a person watches, else sync"},` +
			`"active_notify":{"type":"boolean","description":"async: its result starts a turn of yours; default false"},` +
			`"model":{"type":"string","description":"provider/name; default yours"},` +
			`"agent":{"type":"string","description":"An agent that your system prompt lists (it works with model, if given), or another vendor's: claude, codex, opencode (the user is asked once)"},` +
			`"timeout":{"type":"integer","description":"Seconds after which the agent is stopped"},` +
			`"budget":{"type":"string","description":"What it and its own agents may use: 50k tokens or $2; default the user's"},` +
			`"interactive":{"type":"boolean","description":"It stays when it has answered, and the user may tell it more; default false"},` +
			`"idle":{"type":"integer","description":"interactive: seconds it stays without input, 0 for ever; default the user's"},` +
			`"resume":{"type":"boolean","description":"The ended agent of that name goes on; default false"}},` +
			`"required":["prompt"],"additionalProperties":false}`,
		spelt: map[string]string{
			"task": "prompt", "message": "prompt", "subagent_name": "name", "agent_name": "name", "run_async": "async",
		},
		parse: parseDelegate,
		title: func(a loose) string {
			verb := "delegate "
			if resume, _ := a["resume"].(bool); resume {
				verb = "resume "
			}
			if n := a.word("name"); n != "" {
				return verb + n
			}
			return verb + a.word("prompt")
		},
	}
}

func parseDelegate(c call) (*Call, error) {
	a, err := decode[struct {
		Prompt  string `json:"prompt"`
		Name    string `json:"name"`
		Mode    string `json:"mode"`
		Async   *bool  `json:"async"` // the same in other words
		Notify  bool   `json:"active_notify"`
		Model   string `json:"model"`
		Agent   string `json:"agent"`
		Timeout *int   `json:"timeout"`
		Budget  string `json:"budget"`
		Resume  bool   `json:"resume"`
		Stays   bool   `json:"interactive"`
		Idle    *int   `json:"idle"`
	}](c)
	if err == nil {
		err = need("prompt", strings.TrimSpace(a.Prompt))
	}
	if err == nil {
		err = oneOf("mode", a.Mode, "sync", "async")
	}
	if err == nil && a.Resume {
		err = need("name", a.Name)
	}
	d, late := seconds(a.Timeout)
	idle, wrong := awaiting{a.Stays, a.Idle}.time()
	of, none := budget(a.Budget)
	if err = errors.Join(err, late, wrong, none); err != nil {
		return nil, err
	}
	if a.Async != nil && a.Mode == "" {
		a.Mode = map[bool]string{true: "async", false: "sync"}[*a.Async]
	}
	t := Task{
		Name: a.Name, Prompt: a.Prompt, Model: a.Model, Timeout: d, Budget: of, Deliver: "next", Start: true, Resume: a.Resume,
		Interactive: a.Stays, Idle: idle,
	}
	if a.Notify {
		t.Deliver = "wake"
	}
	w := handed{}
	run := c.internal(w.result)
	to, err := t.abroad(run, c.env.Shelf, a.Agent)
	if err != nil {
		return nil, err
	}
	if to.Background && a.Mode == "" {
		a.Mode = "async"
	}
	run.Beside = "delegate"
	run.Start = func(ctx context.Context) {
		if c.env.Desk != nil {
			w.text, w.wait, w.failed = c.env.Desk.Delegate(ctx, c.id, t, a.Mode)
		}
	}
	return run, nil
}

// handed is what became of work that was handed to an agent.
type handed struct {
	text   string
	wait   Wait
	failed error
}

// result waits for its end, if the call does.
func (w *handed) result(ctx context.Context, _ Desk) Result {
	if w.failed != nil || w.wait == nil {
		return answer(w.text, w.failed)
	}
	text, entry, err := w.wait(ctx)
	r := answer(text, err)
	r.Entry = entry
	return r
}
