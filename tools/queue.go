package tools

import (
	"context"
	_ "embed"
)

//go:embed queue.md
var queueText string

func queue() tool {
	return tool{
		name: "queue", text: queueText, readOnly: true,
		schema: `{"type":"object","properties":{},"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			if _, err := decode[struct{}](c); err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Desk) Result { return answer(d.Queue(ctx)) }), nil
		},
		title: func(loose) string { return "queue" },
	}
}
