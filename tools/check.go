package tools

import (
	"context"
	_ "embed"
)

//go:embed check.md
var checkText string

func check() tool {
	return tool{
		name: "check", text: checkText,
		schema: `{"type":"object","properties":{` +
			`"from":{"type":"string","description":"Only from this agent; default any"},` +
			`"lifo":{"type":"boolean","description":"The newest first; default the oldest"}},"additionalProperties":false}`,
		parse: func(c call) (*Call, error) {
			a, err := decode[struct {
				From string `json:"from"`
				Lifo bool   `json:"lifo"`
			}](c)
			if err != nil {
				return nil, err
			}
			return c.internal(func(ctx context.Context, d Agents) Result {
				text, entry, err := d.Check(ctx, c.id, a.From, a.Lifo)
				r := answer(text, err)
				r.Entry = entry
				return r
			}), nil
		},
		title: func(a loose) string { return from("check", a) },
	}
}
