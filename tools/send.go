package tools

import (
	"context"
	_ "embed"
	"strings"
)

//go:embed send.md
var sendText string

func send() tool {
	return tool{
		name: "send", text: sendText, spelt: map[string]string{"to_agent": "to", "content": "message", "metadata": ""},
		schema: `{"type":"object","properties":{` +
			`"to":{"type":"array","items":{"type":"string"},"description":"The names of one agent or of several"},` +
			`"message":{"type":"string","description":"The message"},` +
			`"priority":{"type":"string","enum":["low","normal","high","urgent"],"description":"Default normal"},` +
			`"tags":{"type":"array","items":{"type":"string"},"description":"Words to sort it by"}},` +
			`"required":["to","message"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				To       oneOrMore `json:"to"`
				Body     string    `json:"message"`
				Priority string    `json:"priority"`
				Tags     oneOrMore `json:"tags"`
			}](c)
			if err == nil {
				err = need("to", strings.Join(a.To, ""))
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
			m := Mail{To: a.To, Body: a.Body, Priority: a.Priority, Tags: a.Tags}
			return c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Send(ctx, m)) }), nil
		},
		title: func(a loose) string { return "send " + strings.Join(a.words("to"), ", ") },
	}
}
