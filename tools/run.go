package tools

import (
	"context"
	_ "embed"
	"errors"
	"strconv"
)

//go:embed run.md
var runText string

func run() tool {
	return tool{
		name: "run", text: runText,
		schema: `{"type":"object","properties":{` +
			`"count":{"type":"integer","description":"How many tasks may run at once; default all"},` +
			`"once":{"type":"boolean","description":"Start only count tasks (default all) and leave the rest queued; default false"},` +
			`"timeout":{"type":"integer","description":"Seconds after which a task that has no timeout of its own is stopped"}},` +
			`"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Count   *int `json:"count"`
				Once    bool `json:"once"`
				Timeout *int `json:"timeout"`
			}](c)
			s := Start{Once: a.Once}
			if a.Count != nil && err == nil {
				s.Count = *a.Count
				err = between("count", s.Count, 1, 1000)
			}
			var late error
			s.Timeout, late = seconds(a.Timeout)
			if err = errors.Join(err, late); err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Run(ctx, s)) }), nil
		},
		title: func(a loose) string {
			if n := a.number("count"); n > 0 {
				return "run " + strconv.Itoa(n)
			}
			return "run"
		},
	}
}
