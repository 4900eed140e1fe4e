package tools

import (
	"context"
	_ "embed"
	"errors"
)

//go:embed receive.md
var receiveText string

func receive() tool {
	return tool{
		name: "receive", text: receiveText,
		schema: `{"type":"object","properties":{` +
			`"from":{"type":"string","description":"Only from this agent; default any"},` +
			`"lifo":{"type":"boolean","description":"The newest first; default the oldest"},` +
			`"timeout":{"type":"integer","description":"Seconds to wait at most; default as long as something can arrive"}},"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				From    string `json:"from"`
				Lifo    bool   `json:"lifo"`
				Timeout *int   `json:"timeout"`
			}](c)
			wait, late := seconds(a.Timeout)
			if err = errors.Join(err, late); err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Agents) Result {
				text, entry, err := d.Receive(ctx, c.id, a.From, a.Lifo, wait)
				r := answer(text, err)
				r.Entry = entry
				return r
			}), nil
		},
		title: func(a loose) string { return from("receive", a) },
	}
}
