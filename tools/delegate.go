package tools

import (
	"context"
	_ "embed"
)

//go:embed delegate.md
var delegateText string

func delegate() tool {
	return tool{
		name: "delegate", text: delegateText,
		schema: `{"type":"object","properties":{` + taskArguments +
			`"mode":{"type":"string","enum":["sync","async"],"description":"Wait for its answer, or go on and get it later; default async where a person watches, else sync"},` +
			`"active_notify":{"type":"boolean","description":"async: its result starts a turn of yours; default false"},` +
			workerArguments +
			`"timeout":{"type":"integer","description":"Seconds after which the agent is stopped"},` +
			budgetArgument +
			staysArguments +
			`"resume":{"type":"boolean","description":"The ended agent of that name goes on; default false"}},` +
			`"required":["prompt"],"additionalProperties":false}`,
		spelt: map[string]string{
			"task": "prompt", "message": "prompt", "subagent_name": "name", "agent_name": "name", "run_async": "async",
		},
		parse: parseDelegate,
		title: func(a loose) string {
			verb := "delegate"
			if resume, _ := a["resume"].(bool); resume {
				verb = "resume"
			}
			return a.task(verb)
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
	if err != nil {
		return nil, err
	}
	t := Task{Name: a.Name, Prompt: a.Prompt, Model: a.Model, Deliver: "next", Start: true, Resume: a.Resume, Interactive: a.Stays}
	if err := t.check(oneOf("mode", a.Mode, "sync", "async"), a.Timeout, a.Idle, a.Budget); err != nil {
		return nil, err
	}
	if a.Async != nil && a.Mode == "" {
		a.Mode = map[bool]string{true: "async", false: "sync"}[*a.Async]
	}
	if a.Notify {
		t.Deliver = "wake"
	}
	w := handed{}
	run := c.internal(w.result)
	to, err := t.abroad(run, c.env.Skills, a.Agent)
	if err != nil {
		return nil, err
	}
	if to.Background && a.Mode == "" {
		a.Mode = "async"
	}
	run.Beside = "delegate"
	run.Start = func(ctx context.Context) {
		if c.env.Agents != nil {
			w.text, w.wait, w.failed = c.env.Agents.Delegate(ctx, c.id, t, a.Mode)
		}
	}
	return run, nil
}

// handed is the result of handing work to an agent.
type handed struct {
	text   string
	wait   Wait
	failed error
}

// result waits for the end of the work, if the call does.
func (w *handed) result(ctx context.Context, _ Agents) Result {
	if w.failed != nil || w.wait == nil {
		return answer(w.text, w.failed)
	}
	text, entry, err := w.wait(ctx)
	r := answer(text, err)
	r.Entry = entry
	return r
}
