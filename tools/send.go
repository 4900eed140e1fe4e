package tools

import (
	"context"
	_ "embed"
)

//go:embed send.md
var sendText string

func send() tool {
	return tool{
		name: "send", text: sendText,
		schema: `{"type":"object","properties":{` +
			`"to":{"type":"string","description":"The agent's name"},` +
			`"message":{"type":"string","description":"The message"},` +
			`"priority":{"type":"string","enum":["low","normal","high","urgent"],"description":"Default normal"}},` +
			`"required":["to","message"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				To       string `json:"to"`
				Body     string `json:"message"`
				Priority string `json:"priority"`
			}](c)
			if err == nil {
				err = need("to", a.To)
			}
			if err == nil {
				err = need("message", a.Body)
			}
			if err == nil {
				err = oneOf("priority", a.Priority, "low", "normal", "high", "urgent")
			}
			if err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Desk) Result { return answer(d.Send(ctx, a.To, a.Body, a.Priority)) }), nil
		},
		title: func(a loose) string { return "send " + a.word("to") },
	}
}
