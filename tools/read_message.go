package tools

import (
	"context"
	_ "embed"
	"strconv"
)

//go:embed read_message.md
var readMessageText string

func readMessage() tool {
	return tool{
		name: "read_message", text: readMessageText, spelt: map[string]string{"message_id": "id"},
		schema: `{"type":"object","properties":{` +
			`"id":{"type":"integer","description":"The message's number"},` +
			`"offset":{"type":"integer","description":"The byte to begin at, for the rest of a long one; default 0"}},` +
			`"required":["id"],"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				ID     int64 `json:"id"`
				Offset int   `json:"offset"`
			}](c)
			if err == nil {
				err = number("id", a.ID)
			}
			if err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Agents) Result {
				text, entry, err := d.Read(ctx, c.id, a.ID, a.Offset)
				r := answer(text, err)
				r.Entry = entry
				return r
			}), nil
		},
		title: func(a loose) string { return "read message " + strconv.Itoa(a.number("id")) },
	}
}

// number checks the number of a message.
func number(name string, v int64) error {
	if v == 0 {
		return need(name, "")
	}
	return nil
}
