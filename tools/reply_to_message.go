package tools

import (
	"context"
	_ "embed"
	"strconv"
)

//go:embed reply_to_message.md
var replyText string

func replyToMessage() tool {
	return tool{
		name: "reply_to_message", text: replyText, spelt: map[string]string{"message_id": "id", "content": "message"},
		schema: `{"type":"object","properties":{` +
			`"id":{"type":"integer","description":"The number of the message you answer"},` +
			`"message":{"type":"string","description":"Your answer"}},"required":["id","message"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				ID   int64  `json:"id"`
				Body string `json:"message"`
			}](c)
			if err == nil {
				err = number("id", a.ID)
			}
			if err == nil {
				err = need("message", a.Body)
			}
			if err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Reply(ctx, a.ID, a.Body)) }), nil
		},
		title: func(a loose) string { return "reply to message " + strconv.Itoa(a.number("id")) },
	}
}
