package tools

import (
	"context"
	_ "embed"
)

//go:embed queue.md
var queueText string

func queue() tool {
	return tool{
		name: "queue", text: queueText,
		schema: `{"type":"object","properties":{` +
			`"remove":{"type":"string","description":"The name of a task to take out before it starts"}},"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				Remove string `json:"remove"`
			}](c)
			if err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Queue(ctx, a.Remove)) }), nil
		},
		title: func(a loose) string {
			if n := a.word("remove"); n != "" {
				return "queue, removing " + n
			}
			return "queue"
		},
	}
}
