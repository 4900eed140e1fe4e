package tools

import (
	"context"
	_ "embed"
	"errors"
	"time"
)

//go:embed skill.md
var skillText string

// Skills are the skills and agents from files that calls may name.
type Skills interface {
	Skill(ctx context.Context, name, args string) (Skill, error) // the error is text for the model
	Agent(name string) (Worker, error)                           // the error lists the names
	Offers() bool                                                // whether there are skills that a model may use
}

// Worker is an agent that gets work by its name.
type Worker struct {
	File       bool // it comes from a file; else it is another vendor's
	Background bool // a dispatcher does not wait for it unless it asks to
}

// Skill is a skill to use: a text, or a task for an agent of its own.
type Skill struct {
	Text string
	Task *Task // nil: it is only a text
}

// skillTime limits an agent that carries out a skill.
const skillTime = 30 * time.Minute

func skill() tool {
	return tool{
		name: "skill", text: skillText,
		schema: `{"type":"object","properties":{` +
			`"name":{"type":"string","description":"The skill, as your system prompt lists it"},` +
			`"args":{"type":"string","description":"What to use it for; default nothing"}},` +
			`"required":["name"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Name string `json:"name"`
				Args string `json:"args"`
			}](c)
			if err == nil {
				err = need("name", a.Name)
			}
			if err != nil {
				return nil, err
			}
			w := handed{}
			run := c.internal(w.result)
			run.Action.About, run.Beside = a.Name, "delegate"
			run.Start = func(ctx context.Context) {
				if c.env.Skills == nil {
					w.failed = errors.New("there are no skills here")
					return
				}
				s, err := c.env.Skills.Skill(ctx, a.Name, a.Args)
				if w.text, w.failed = s.Text, err; s.Task == nil {
					return
				}
				t := *s.Task
				t.Deliver, t.Start, t.Timeout = "next", true, skillTime
				if c.env.Agents != nil {
					w.text, w.wait, w.failed = c.env.Agents.Delegate(ctx, c.id, t, "sync")
				}
			}
			return run, nil
		},
		title: func(a loose) string { return "skill " + a.word("name") },
	}
}
