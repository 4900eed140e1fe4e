package tools

import (
	"context"
	_ "embed"
	"strconv"
)

//go:embed run.md
var runText string

func run() tool {
	return tool{
		name: "run", text: runText,
		schema: `{"type":"object","properties":{` +
			`"count":{"type":"integer","description":"How many tasks may run at once; default all"}},"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Count *int `json:"count"`
			}](c)
			n := 0
			if a.Count != nil && err == nil {
				n = *a.Count
				err = between("count", n, 1, 1000)
			}
			if err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Desk) Result { return answer(d.Run(ctx, n)) }), nil
		},
		title: func(a loose) string {
			if n := a.number("count"); n > 0 {
				return "run " + strconv.Itoa(n)
			}
			return "run"
		},
	}
}
