package tools

import (
	"context"
	_ "embed"
	"errors"
	"strings"
)

//go:embed push.md
var pushText string

func push() tool {
	return tool{
		name: "push", text: pushText,
		schema: `{"type":"object","properties":{` +
			`"prompt":{"type":"string","description":"The whole task: the agent knows nothing of this conversation"},` +
			`"name":{"type":"string","description":"A short name for the agent; default one is made up"},` +
			`"model":{"type":"string","description":"provider/name; default yours"},` +
			`"agent":{"type":"string","description":"An agent that your system prompt lists (it works with model, if given), or another vendor's: claude, codex, opencode (the user is asked once)"},` +
			`"timeout":{"type":"integer","description":"Seconds after which the agent is stopped; default none"},` +
			`"budget":{"type":"string","description":"What it and its own agents may use: 50k tokens or $2; default the user's"},` +
			`"deliver":{"type":"string","enum":["hold","next","wake"],"description":"How its result reaches you; default next"},` +
			`"after":{"type":"array","items":{"type":"string"},"description":"Names of tasks it waits for; it starts with their results"},` +
			`"interactive":{"type":"boolean","description":"It stays when it has answered, and the user may tell it more; default false"},` +
			`"idle":{"type":"integer","description":"interactive: seconds it stays without input, 0 for ever; default the user's"},` +
			`"start":{"type":"boolean","description":"Start it at once instead of waiting for run; default false"},` +
			`"resume":{"type":"boolean","description":"The ended agent of that name goes on where it was, knowing all it did; default false"}},` +
			`"required":["prompt"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Prompt  string   `json:"prompt"`
				Name    string   `json:"name"`
				Model   string   `json:"model"`
				Agent   string   `json:"agent"`
				Timeout *int     `json:"timeout"`
				Budget  string   `json:"budget"`
				Deliver string   `json:"deliver"`
				After   []string `json:"after"`
				Start   bool     `json:"start"`
				Resume  bool     `json:"resume"`
				Stays   bool     `json:"interactive"`
				Idle    *int     `json:"idle"`
			}](c)
			if err == nil {
				err = need("prompt", strings.TrimSpace(a.Prompt))
			}
			if err == nil {
				err = oneOf("deliver", a.Deliver, "hold", "next", "wake")
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
			t := Task{
				Name: a.Name, Prompt: a.Prompt, Model: a.Model, Timeout: d, Deliver: a.Deliver, Start: a.Start, Resume: a.Resume, After: a.After,
				Interactive: a.Stays, Idle: idle, Budget: of,
			}
			run := c.internal(func(ctx context.Context, d Desk) Result { return answer(d.Push(ctx, t)) })
			_, err = t.abroad(run, c.env.Shelf, a.Agent)
			return run, err
		},
		title: func(a loose) string {
			if n := a.word("name"); n != "" {
				return "push " + n
			}
			return "push " + a.word("prompt")
		},
	}
}
