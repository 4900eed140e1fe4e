package vendor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"fantail/agents/acp/schema"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/content"
)

// The bounds of what is kept of calls.
const (
	mostArgs = 64 << 10 // bytes of what one was called with
	mostText = 64 << 10 // bytes of what it answered: the beginning and the end; the same of what it changes
	mostKept = 32 << 20 // bytes of all that have not ended
)

// call is one of the agent's own tools, as far as it is kept.
type call struct {
	id, title, name, kind, status string

	input  json.RawMessage // what it was called with, if that is kept
	text   string          // what it has made
	diff   string          // and changed
	output string          // what it says it made, where it shows nothing
	told   bool            // that it has begun
}

func (c *call) ended() bool { return ended(c.status) }

func ended(status string) bool { return status == "completed" || status == "failed" }

// size is how many bytes are kept of it.
func (c *call) size() int { return len(c.input) + len(c.text) + len(c.diff) + len(c.output) }

// takes takes the fields that an update has.
func (c *call) takes(u schema.ToolCall) {
	for _, f := range []struct {
		now schema.Maybe[string]
		was *string
	}{{u.Title, &c.title}, {u.Name, &c.name}, {u.Kind, &c.kind}, {u.Status, &c.status}} {
		if f.now.OK {
			*f.was = tools.Line(f.now.V)
		}
	}
	if u.Content.OK {
		c.text, c.diff = made(u.Content.All)
	}
	if len(u.Input) > 0 {
		if c.input = nil; u.Input[0] == '{' && len(u.Input) <= mostArgs {
			c.input = u.Input
		}
	}
	if len(u.Output) > 0 {
		if json.Unmarshal(u.Output, &c.output) != nil {
			c.output = string(u.Output)
		}
		c.output = content.Middle(c.output, mostText)
	}
}

// made is what a call has made: its text, and what it changes as a diff.
func made(of []schema.Content) (text, diff string) {
	var said, changed []string
	room, more := mostText, 0
	for _, x := range of {
		switch x.Type {
		case "content":
			said = append(said, x.Block.Words())
		case "diff":
			d := content.Diff(tools.Line(x.Path), x.Old.V, x.New)
			if room -= len(d); room < 0 && len(changed) > 0 {
				more++
				continue
			}
			changed = append(changed, d)
		default:
			said = append(said, "["+tools.Line(x.Type)+"]")
		}
	}
	if more > 0 {
		changed = append(changed, fmt.Sprintf("(%d more files are not shown)\n", more))
	}
	return content.Middle(strings.Join(said, "\n"), mostText), strings.Join(changed, "")
}

// called is what it is called to people.
func (c *call) called() string { return cmp.Or(c.title, c.name, c.kind, "a call") }

// begins is the call as a model's.
func (c *call) begins() llm.ToolCall {
	args := c.input
	if args == nil {
		args = json.RawMessage("{}")
	}
	name := cmp.Or(c.name, c.kind, "tool")
	return llm.ToolCall{ID: c.id, Name: name, Args: args, Title: cmp.Or(c.title, name)}
}

// result is how the call ended.
func (c *call) result() tools.Result {
	text := c.text
	switch {
	case text == "" && c.diff == "":
		text = c.output
	case text == "":
		text = "(changed)"
	}
	return tools.Result{Text: text, Diff: c.diff, Error: c.status == "failed"}
}

// tail is the end of what it has made so far, for the screen.
func (c *call) tail() string {
	return strings.ToValidUTF8(c.text[max(0, len(c.text)-mostTail):], "")
}
