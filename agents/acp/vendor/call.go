package vendor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/acp/schema"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/content"
)

// The bounds of what is kept of calls.
const (
	mostArgs   = 64 << 10 // bytes of what one was called with
	mostText   = 64 << 10 // bytes of what it answered: the beginning and the end; the same of what it changes
	mostPlaces = 20       // files that it is about
	mostKept   = 32 << 20 // bytes of all that have not ended
)

// call is one of the agent's own tools, as far as it is kept.
type call struct {
	id, title, name, kind, status string

	dir     string          // where the agent works
	input   json.RawMessage // what it was called with, if that is kept
	withal  bool            // it was called with more than is kept
	places  []string        // the files that it is about
	changed string          // the first that it changes
	text    string          // what it has made
	diff    string          // and changed
	written string          // by its command, as far as that was told in pieces
	output  string          // what it has returned, where it shows nothing
	exit    *int            // of its command; nil: not known
	told    bool            // that it has begun
}

func (c *call) ended() bool { return ended(c.status) }

func ended(status string) bool { return status == "completed" || status == "failed" }

// size is how many bytes are kept of it.
func (c *call) size() int {
	return len(c.input) + len(c.text) + len(c.diff) + len(c.written) + len(c.output)
}

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
	if u.Locations.OK {
		c.places = nil
		for _, l := range u.Locations.All[:min(len(u.Locations.All), mostPlaces)] {
			c.places = append(c.places, l.Path)
		}
	}
	switch {
	case u.Content.OK && u.More:
		c.adds(u.Content.All)
	case u.Content.OK:
		c.makes(u.Content.All)
	}
	c.written += u.Written()
	if len(c.written) > 2*mostText {
		c.written = content.Middle(c.written, mostText)
	}
	if len(u.Input) > 0 {
		if c.input, c.withal = nil, true; u.Input[0] == '{' && len(u.Input) <= mostArgs {
			c.input, c.withal = u.Input, false
		}
	}
	if len(u.Output) > 0 {
		c.output, c.exit = returned(u.Output)
		c.output = content.Middle(c.output, mostText)
	}
}

// makes takes what the call has made: its text, and what it changes as a diff.
func (c *call) makes(of []schema.Content) {
	var said, changed []string
	c.changed = ""
	room, more := mostText, 0
	for _, x := range of {
		switch x.Type {
		case "content":
			said = append(said, unfenced(x.Block.Words()))
		case "diff":
			path := c.short(x.Path)
			c.changed = cmp.Or(c.changed, path)
			d := x.Patch
			if d == "" {
				old, now := lines(x.Old.V, x.New)
				d = content.Diff(path, old, now)
			}
			if room -= len(d); room < 0 && len(changed) > 0 {
				more++
				continue
			}
			changed = append(changed, d)
		case "terminal": // what it shows comes in pieces
		default:
			said = append(said, "["+tools.Line(x.Type)+"]")
		}
	}
	if more > 0 {
		changed = append(changed, fmt.Sprintf("(%d more files are not shown)\n", more))
	}
	c.text, c.diff = content.Middle(strings.Join(said, "\n"), mostText), strings.Join(changed, "")
}

// adds takes what the call has made beside what there is.
func (c *call) adds(of []schema.Content) {
	text, diff, changed := c.text, c.diff, c.changed
	c.makes(of)
	if text != "" && c.text != "" {
		text += "\n"
	}
	if text += c.text; len(text) > 2*mostText {
		text = content.Middle(text, mostText)
	}
	if c.diff = diff + c.diff; len(c.diff) > 2*mostText {
		c.diff = content.Middle(c.diff, mostText)
	}
	c.text, c.changed = text, cmp.Or(changed, c.changed)
}

// bare reports whether a call that is to come tells nothing of what it will do: at most where.
func (c *call) bare() bool {
	var args map[string]any
	if c.status != "pending" || c.withal || c.text != "" || c.diff != "" || len(c.input) > 0 && json.Unmarshal(c.input, &args) != nil {
		return false
	}
	for _, v := range args {
		if path, _ := v.(string); !slices.Contains(c.places, path) {
			return false
		}
	}
	return true
}

// lines are two texts as lines: of a piece of a file some leave out the end of the last.
func lines(a, b string) (aa, bb string) {
	if a == "" || b == "" || strings.HasSuffix(a, "\n") || strings.HasSuffix(b, "\n") {
		return a, b
	}
	return a + "\n", b + "\n"
}

// unfenced is a text without the marks that make it a block of code, if it is nothing else.
func unfenced(text string) string {
	const fence = "```"
	inside, is := strings.CutPrefix(strings.TrimSpace(text), fence)
	_, inside, begins := strings.Cut(inside, "\n")
	inside, ends := strings.CutSuffix(inside, "\n"+fence)
	if !is || !begins || !ends || strings.Contains(inside, fence) {
		return text
	}
	return inside
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
	title := cmp.Or(c.title, name)
	if at := c.at(); at != "" && !strings.Contains(title, filepath.Base(at)) {
		title += " " + at
	}
	return llm.ToolCall{ID: c.id, Name: name, Args: args, Title: title}
}

// at is the first file that the call is about; "": it names none.
func (c *call) at() string {
	for _, path := range c.places {
		if path != "" && path != c.dir {
			return c.short(path)
		}
	}
	return c.changed
}

// short is a path for people: from the workspace where it lies there.
func (c *call) short(path string) string {
	if rel, err := filepath.Rel(c.dir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return tools.Line(path)
}

// said is what it has made so far, but for what it changes.
func (c *call) said() string {
	if c.text == "" || c.written == "" {
		return c.text + c.written
	}
	return c.text + "\n" + c.written
}

// tail is the end of that, for the screen.
func (c *call) tail() string {
	text := c.said()
	return strings.ToValidUTF8(text[max(0, len(text)-mostTail):], "")
}

// result is how the call ended.
func (c *call) result() tools.Result {
	text, diff, failed := c.said(), c.diff, c.status == "failed"
	if text == "" && diff == "" {
		text = c.output
	}
	switch {
	case failed:
		diff = "" // it was only meant
		if text == "" && c.exit == nil {
			text = "It was not done."
		}
	case text == "" && diff != "":
		text = "(changed)"
	}
	text = content.Middle(text, mostText)
	if c.exit != nil && *c.exit != 0 {
		text = strings.TrimLeft(strings.TrimRight(text, "\n")+fmt.Sprintf("\n[exit code %d]", *c.exit), "\n")
	}
	return tools.Result{Text: text, Diff: diff, Error: failed, Exit: c.exit}
}

// returned reads what a call has returned: text, what an MCP server answered, or how a command ended.
func returned(raw json.RawMessage) (text string, exit *int) {
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	type answer struct {
		Content schema.List[schema.Block] `json:"content"`
	}
	var r struct {
		answer
		Result schema.Maybe[answer] `json:"result"`
		Error  schema.Maybe[struct {
			Message string `json:"message"`
		}] `json:"error"`
		Output schema.Maybe[string] `json:"output"`
		Exit   schema.Maybe[int]    `json:"exit_code"`
		Meta   schema.Maybe[struct {
			Exit schema.Maybe[int] `json:"exit"`
		}] `json:"metadata"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return string(raw), nil
	}
	for _, code := range []schema.Maybe[int]{r.Exit, r.Meta.V.Exit} {
		if code.OK {
			exit = &code.V
			break
		}
	}
	var said []string
	for _, b := range append(r.Content.All, r.Result.V.Content.All...) {
		said = append(said, b.Words())
	}
	switch {
	case len(said) > 0:
		return strings.Join(said, "\n"), exit
	case r.Error.OK:
		return r.Error.V.Message, exit
	case r.Output.OK:
		return r.Output.V, exit
	case exit != nil:
		return "", exit
	}
	return string(raw), nil
}
