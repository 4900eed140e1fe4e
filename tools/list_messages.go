package tools

import (
	"context"
	_ "embed"
)

//go:embed list_messages.md
var listMessagesText string

func listMessages() tool {
	return tool{
		name: "list_messages", text: listMessagesText, spelt: map[string]string{"filter": "", "sender": "from"}, readOnly: true,
		schema: `{"type":"object","properties":{` +
			`"from":{"type":"string","description":"Only from this agent; default any"},` +
			`"priority":{"type":"string","enum":["low","normal","high","urgent"],"description":"Only this priority; default any"},` +
			`"unread":{"type":"boolean","description":"Default true; false lists those you had before too, newest first"}},"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				From     string `json:"from"`
				Priority string `json:"priority"`
				Unread   *bool  `json:"unread"`
			}](c)
			if err == nil {
				err = oneOf("priority", a.Priority, "low", "normal", "high", "urgent")
			}
			if err != nil {
				return nil, err
			}
			f := Filter{From: a.From, Priority: a.Priority, Taken: a.Unread != nil && !*a.Unread}
			return c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Messages(ctx, f)) }), nil
		},
		title: func(a loose) string { return from("list messages", a) },
	}
}
