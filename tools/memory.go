package tools

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"fantail/tools/files"
	"fantail/tools/permission"
)

//go:embed memory.md
var memoryText string

func memory() tool {
	return tool{
		name: "memory", text: memoryText, spelt: map[string]string{"content": "text", "version": "expect"},
		schema: `{"type":"object","properties":{` +
			`"action":{"type":"string","enum":["list","read","write","append"],"description":"Default read with a name, else list"},` +
			`"name":{"type":"string","description":"NAME or NAME/PART, with or without #mem-"},` +
			`"text":{"type":"string","description":"The whole new document, for write; what is added, for append"},` +
			`"offset":{"type":"integer","description":"The byte to begin reading at, for the rest of a long one; default 0"},` +
			`"expect":{"type":"integer","description":"Write only if this is still its version; 0: only if there is none"}},` +
			`"additionalProperties":false}`,
		parse: parseMemory,
		title: func(a loose) string {
			return strings.TrimSpace(strings.Join([]string{"memory", a.word("action"), strings.TrimPrefix(a.word("name"), "#mem-")}, " "))
		},
	}
}

func parseMemory(c call) (*Call, error) {
	a, err := decode[struct {
		Action string `json:"action"`
		Name   string `json:"name"`
		Text   string `json:"text"`
		Offset int    `json:"offset"`
		Expect *int   `json:"expect"`
	}](c)
	if err == nil {
		err = oneOf("action", a.Action, "list", "read", "write", "append")
	}
	if err != nil {
		return nil, err
	}
	m := Memory{Action: a.Action, Name: strings.TrimSpace(a.Name), Text: a.Text, Offset: a.Offset, Expect: a.Expect}
	switch {
	case m.Action == "" && a.Text != "":
		return nil, errors.New(`say whether the text is to be written or added: the argument "action" is missing`)
	case m.Action == "" && m.Name == "":
		m.Action = "list"
	case m.Action == "":
		m.Action = "read"
	}
	if m.Action != "list" {
		if err := need("name", m.Name); err != nil {
			return nil, err
		}
	}
	do := c.internal(func(ctx context.Context, d Agents) Result { return answer(d.Memory(ctx, m)) })
	if m.Action == "write" || m.Action == "append" {
		if err := need("text", a.Text); err != nil {
			return nil, err
		}
		do.Action.Kind = permission.Note
		if m.Action == "write" {
			do.Action.Diff = files.Diff("#mem-"+strings.TrimPrefix(m.Name, "#mem-"), "", a.Text)
		}
	}
	return do, nil
}
