package tools

import (
	"context"
	_ "embed"

	"fantail/tools/permission"
	"fantail/tools/proc"
)

//go:embed run_check.md
var runCheckText string

// Check is a command that the human lets unattended agents run. Its sandbox is in Spec.
type Check struct {
	Name string
	Spec proc.Spec // including its environment
}

func runCheck() tool {
	return tool{
		name: "run_check", text: runCheckText,
		schema: `{"type":"object","properties":{` +
			`"name":{"type":"string","description":"The check"}},` +
			`"required":["name"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Name string `json:"name"`
			}](c)
			if err == nil {
				err = need("name", a.Name)
			}
			if err != nil {
				return nil, err
			}
			return &Call{Action: c.action(permission.Internal), Run: func(ctx context.Context) Result {
				if c.env.Check == nil {
					return fail("run_check: no checks are attached to this task")
				}
				k, err := c.env.Check(a.Name)
				if err != nil {
					return fail("run_check: %v", err)
				}
				return c.env.RunCheck(ctx, c.id, k)
			}}, nil
		},
		title: func(a loose) string { return "run_check " + a.word("name") },
	}
}

// RunCheck runs a check as the tool run_check does.
func (e *Runtime) RunCheck(ctx context.Context, callID string, k Check) Result {
	r := e.command(ctx, callID, k.Spec)
	if ctx.Err() == nil {
		r.told(k.Spec.Box, k.Name)
		r.Refused = nil // no question for more
	}
	return r
}
