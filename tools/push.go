package tools

import (
	"context"
	_ "embed"
)

//go:embed push.md
var pushText string

func push() tool {
	return tool{
		name: "push", text: pushText,
		schema: `{"type":"object","properties":{` + taskArguments +
			workerArguments +
			`"timeout":{"type":"integer","description":"Seconds after which the agent is stopped; default none"},` +
			budgetArgument +
			`"deliver":{"type":"string","enum":["hold","next","wake"],"description":"How its result reaches you; default next"},` +
			`"after":{"type":"array","items":{"type":"string"},"description":"Names of tasks it waits for; it starts with their results"},` +
			staysArguments +
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
			if err != nil {
				return nil, err
			}
			t := Task{
				Name: a.Name, Prompt: a.Prompt, Model: a.Model, Deliver: a.Deliver, Start: a.Start, Resume: a.Resume, After: a.After, Interactive: a.Stays,
			}
			if err := t.check(oneOf("deliver", a.Deliver, "hold", "next", "wake"), a.Timeout, a.Idle, a.Budget); err != nil {
				return nil, err
			}
			run := c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Push(ctx, t)) })
			_, err = t.abroad(run, c.env.Skills, a.Agent)
			return run, err
		},
		title: func(a loose) string { return a.task("push") },
	}
}
