package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/files"
)

// The limits of what is kept of calls.
const (
	maxArgs      = 64 << 10 // bytes of what one was called with
	maxText      = 64 << 10 // bytes of what it answered: the beginning and the end; the same of what it changes
	maxLocations = 20       // files that it is about
	maxKeptBytes = 32 << 20 // bytes of all that have not ended
)

// vendorCall is a call of one of the agent's own tools.
type vendorCall struct {
	id, title, name, kind, status string

	dir            string          // where the agent works
	input          json.RawMessage // its input, if that is kept
	inputDropped   bool            // its input was too large
	locations      []string        // paths of files
	changedFile    string          // the first file that it changes
	text           string          // of its content
	diff           string          // of its content
	terminalOutput string          // pieces of the output of its command
	rawOutput      string          // used if it has no other output
	exitCode       *int            // of its command; nil: not known
	started        bool            // the agent loop was told that it began
}

func (c *vendorCall) ended() bool { return ended(c.status) }

func ended(status string) bool { return status == "completed" || status == "failed" }

// size returns how many bytes of the call are kept.
func (c *vendorCall) size() int {
	return len(c.input) + len(c.text) + len(c.diff) + len(c.terminalOutput) + len(c.rawOutput)
}

// update applies the fields that u has.
func (c *vendorCall) update(u ToolCallUpdate) {
	for _, f := range []struct {
		now Optional[string]
		was *string
	}{{u.Title, &c.title}, {u.Name, &c.name}, {u.Kind, &c.kind}, {u.Status, &c.status}} {
		if f.now.OK {
			*f.was = tools.Line(f.now.V)
		}
	}
	if u.Locations.OK {
		c.locations = nil
		for _, l := range u.Locations.All[:min(len(u.Locations.All), maxLocations)] {
			c.locations = append(c.locations, l.Path)
		}
	}
	if u.Content.OK {
		c.setContent(u.Content.All)
	}
	c.terminalOutput += u.TerminalOutput()
	if len(c.terminalOutput) > 2*maxText {
		c.terminalOutput = files.Middle(c.terminalOutput, maxText)
	}
	if len(u.RawInput) > 0 {
		if c.input, c.inputDropped = nil, true; u.RawInput[0] == '{' && len(u.RawInput) <= maxArgs {
			c.input, c.inputDropped = u.RawInput, false
		}
	}
	if len(u.RawOutput) > 0 {
		c.rawOutput, c.exitCode = parseRawOutput(u.RawOutput)
		c.rawOutput = files.Middle(c.rawOutput, maxText)
	}
}

// setContent sets the output of the call and its changes as a diff.
func (c *vendorCall) setContent(of []ToolCallContent) {
	var said, changed []string
	c.changedFile = ""
	room, more := maxText, 0
	for _, x := range of {
		switch x.Type {
		case "content":
			said = append(said, stripFence(x.Content.String()))
		case "diff":
			path := c.displayPath(x.Path)
			c.changedFile = cmp.Or(c.changedFile, path)
			old, now := endLines(x.OldText.V, x.NewText)
			d := files.Diff(path, old, now)
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
	c.text, c.diff = files.Middle(strings.Join(said, "\n"), maxText), strings.Join(changed, "")
}

// lacksDetails reports whether a pending call says nothing about what it will do, except where.
func (c *vendorCall) lacksDetails() bool {
	var args map[string]any
	if c.status != "pending" || c.inputDropped || c.text != "" || c.diff != "" || len(c.input) > 0 && json.Unmarshal(c.input, &args) != nil {
		return false
	}
	for _, v := range args {
		if path, _ := v.(string); !slices.Contains(c.locations, path) {
			return false
		}
	}
	return true
}

// endLines ends both texts with a line break: some agents leave it out of a part of a file.
func endLines(a, b string) (aa, bb string) {
	if a == "" || b == "" || strings.HasSuffix(a, "\n") || strings.HasSuffix(b, "\n") {
		return a, b
	}
	return a + "\n", b + "\n"
}

// stripFence removes the fence of a code block if the text is nothing else.
func stripFence(text string) string {
	const fence = "```"
	inside, is := strings.CutPrefix(strings.TrimSpace(text), fence)
	_, inside, begins := strings.Cut(inside, "\n")
	inside, ends := strings.CutSuffix(inside, "\n"+fence)
	if !is || !begins || !ends || strings.Contains(inside, fence) {
		return text
	}
	return inside
}

// displayName returns the name of the call for people.
func (c *vendorCall) displayName() string { return cmp.Or(c.title, c.name, c.kind, "a call") }

// toolCall returns the call as an [llm.ToolCall].
func (c *vendorCall) toolCall() llm.ToolCall {
	args := c.input
	if args == nil {
		args = json.RawMessage("{}")
	}
	name := cmp.Or(c.name, c.kind, "tool")
	title := cmp.Or(c.title, name)
	if at := c.mainFile(); at != "" && !strings.Contains(title, filepath.Base(at)) {
		title += " " + at
	}
	return llm.ToolCall{ID: c.id, Name: name, Args: args, Title: title}
}

// mainFile returns the first file that the call is about, or "".
func (c *vendorCall) mainFile() string {
	for _, path := range c.locations {
		if path != "" && path != c.dir {
			return c.displayPath(path)
		}
	}
	return c.changedFile
}

// displayPath returns a path for people, relative to the workspace if it is inside.
func (c *vendorCall) displayPath(path string) string {
	if rel, err := filepath.Rel(c.dir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return tools.Line(path)
}

// output returns the output of the call so far, without its changes.
func (c *vendorCall) output() string {
	if c.text == "" || c.terminalOutput == "" {
		return c.text + c.terminalOutput
	}
	return c.text + "\n" + c.terminalOutput
}

// outputTail returns the end of the output, for the screen.
func (c *vendorCall) outputTail() string {
	text := c.output()
	return strings.ToValidUTF8(text[max(0, len(text)-maxTail):], "")
}

// result returns the result of the call.
func (c *vendorCall) result() tools.Result {
	text, diff, failed := c.output(), c.diff, c.status == "failed"
	if text == "" && diff == "" {
		text = c.rawOutput
	}
	switch {
	case failed:
		diff = "" // it was only meant
		if text == "" && c.exitCode == nil {
			text = "It was not done."
		}
	case text == "" && diff != "":
		text = "(changed)"
	}
	text = files.Middle(text, maxText)
	if c.exitCode != nil && *c.exitCode != 0 {
		text = strings.TrimLeft(strings.TrimRight(text, "\n")+fmt.Sprintf("\n[exit code %d]", *c.exitCode), "\n")
	}
	return tools.Result{Text: text, Diff: diff, Error: failed, Exit: c.exitCode}
}

// parseRawOutput reads a rawOutput: text, the result of an MCP server, or how a command ended.
func parseRawOutput(raw json.RawMessage) (text string, exit *int) {
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	type answer struct {
		Content List[ContentBlock] `json:"content"`
	}
	var r struct {
		answer
		Result Optional[answer] `json:"result"`
		Error  Optional[struct {
			Message string `json:"message"`
		}] `json:"error"`
		Output Optional[string] `json:"output"`
		Exit   Optional[int]    `json:"exit_code"`
		Meta   Optional[struct {
			Exit Optional[int] `json:"exit"`
		}] `json:"metadata"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return string(raw), nil
	}
	for _, code := range []Optional[int]{r.Exit, r.Meta.V.Exit} {
		if code.OK {
			exit = &code.V
			break
		}
	}
	var said []string
	for _, b := range append(r.Content.All, r.Result.V.Content.All...) {
		said = append(said, b.String())
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
