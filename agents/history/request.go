package history

import (
	"fmt"
	"slices"
	"strings"

	"fantail/agents/llm"
)

// conversation collects the messages of a request.
type conversation struct {
	model   string
	out     []llm.Message
	said    []llm.Part                // of the reply being collected
	calls   []llm.ToolCall            // of that reply
	results map[string]llm.ToolResult // of those calls, those that have come
	after   []llm.Part                // the next words of the user's side
	hide    int                       // the first pictures, which are not sent any more
	shown   int                       // pictures so far
}

// ended returns the messages as they are if nothing more comes. It does not change c.
func (c conversation) ended() []llm.Message {
	c.out = append(make([]llm.Message, 0, len(c.out)+3), c.out...)
	c.closeBatch()
	return c.out
}

func (c *conversation) add(e Entry) {
	switch e.Kind {
	case EntryThinking, EntryText, EntryCall:
		if len(c.results) > 0 || len(c.after) > 0 {
			c.closeBatch()
		}
		c.say(e)
	case EntryResult:
		if c.results == nil {
			c.results = map[string]llm.ToolResult{}
		}
		text := e.Result.Text
		if text == "" {
			text = "(no output)"
		}
		c.results[e.Result.ID] = llm.ToolResult{ID: e.Result.ID, Text: text, Error: e.Result.Error, Images: c.shows(e.Result)}
	case EntryPrompt:
		c.hear(e.Text, llm.FromPrompt)
	case EntrySummary:
		c.recall(e)
	case EntryMessage:
		c.hear(e.Text, llm.FromMessage)
	case EntryMemory:
		c.remind(e)
	case EntryBriefed:
		c.hear(e.Text, llm.FromFile)
	case EntryHost, EntrySnapshot:
		c.hear(e.Text, llm.FromHost)
	case EntryShell:
		c.hear(fmt.Sprintf("The user ran a command of their own: %s\nIts exit code was %d. Its output:\n%s",
			e.Shell.Command, e.Shell.Exit, e.Shell.Output), llm.FromTool)
	case EntryEnded:
		if e.End != nil && e.End.Outcome != Completed {
			c.hear(fmt.Sprintf("That turn ended before it was done (%s). Don't go on with it unless you are asked to.",
				e.End.Outcome), llm.FromHost)
		}
	}
}

// shows returns the pictures of a result as a model gets them. A failure has none: protocols take only text there.
func (c *conversation) shows(r *Result) (images []llm.Image) {
	for _, p := range r.pictures() {
		if c.shown++; c.shown > c.hide {
			images = append(images, llm.Image{Type: p.Type, Tokens: p.Tokens(), Read: p.Read})
		}
	}
	return images
}

// recall adds a summary in place of what was compacted.
func (c *conversation) recall(e Entry) {
	c.hear("The conversation so far was compacted. This summary, written by you, stands for it:", llm.FromHost)
	c.hear(e.Text, llm.FromModel)
	c.hear(e.Summary.State, llm.FromHost)
	if e.Summary.Prompt != "" {
		c.hear("You are in the middle of the turn with this prompt; go on with what is left of it:", llm.FromHost)
		c.hear(e.Summary.Prompt, llm.FromPrompt)
	}
}

// say adds a piece of a reply. It drops thinking of another model: only the model that produced it can read it.
func (c *conversation) say(e Entry) {
	switch e.Kind {
	case EntryThinking:
		if e.Opaque != "" && e.Model == c.model {
			c.said = append(c.said, llm.Thinking{Text: e.Text, Opaque: e.Opaque, Model: e.Model})
		}
	case EntryText:
		c.said = append(c.said, llm.Text{Text: e.Text, From: llm.FromModel})
	case EntryCall:
		call := llm.ToolCall{ID: e.Call.ID, Name: e.Call.Name, Args: e.Call.Args}
		c.said = append(c.said, call)
		c.calls = append(c.calls, call)
	}
}

func (c *conversation) hear(text string, from llm.Provenance) {
	if text != "" {
		c.after = append(c.after, llm.Text{Text: text, From: from})
	}
}

// closeBatch ends the reply being collected, and adds the results of its calls.
func (c *conversation) closeBatch() {
	if len(c.said) > 0 {
		c.push(llm.Assistant, c.said...)
	}
	answers := make([]llm.Part, 0, len(c.calls))
	for _, call := range c.calls {
		r, ok := c.results[call.ID]
		if !ok {
			r = llm.ToolResult{ID: call.ID, Error: true, Text: "There is no result: " +
				"the program ended or the turn was stopped before this call ended. " +
				"Whether it took effect is unknown; look before you do it again."}
		}
		answers = append(answers, r)
	}
	if len(answers) > 0 {
		c.push(llm.User, answers...)
	}
	c.said, c.calls, c.results = nil, nil, nil
	c.flush()
}

// flush adds the user's side.
func (c *conversation) flush() {
	if len(c.after) > 0 {
		c.push(llm.User, c.after...)
		c.after = nil
	}
}

// push adds parts to the last message if it has that role, otherwise as a new message. A conversation begins with the
// user. A message that may have been sent is replaced, never changed.
func (c *conversation) push(role llm.Role, parts ...llm.Part) {
	if len(c.out) == 0 && role == llm.Assistant {
		c.out = append(c.out, message(llm.User, llm.Text{Text: "(The conversation begins with your words.)"}))
	}
	if n := len(c.out); n > 0 && c.out[n-1].Role == role {
		c.out[n-1] = message(role, slices.Concat(c.out[n-1].Parts, parts)...)
		return
	}
	c.out = append(c.out, message(role, slices.Clone(parts)...))
}

func message(role llm.Role, parts ...llm.Part) llm.Message {
	return llm.Message{Role: role, Parts: parts, Encoded: new(llm.EncodedMessage)}
}

// Heard returns the user's side of those entries, for an engine that stores the conversation itself: none of its own
// words, and no ends of turns. It leaves out messages that were put back into the inbox.
func Heard(es []Entry) string {
	var c conversation
	gone := Withdrawn(es)
	for _, e := range es {
		switch e.Kind {
		case EntryThinking, EntryText, EntryCall, EntryResult, EntryEnded, EntryBriefed: // it reads its own instructions
			continue
		}
		if !gone[e.Seq] {
			c.add(e)
		}
	}
	var texts []string
	for _, p := range c.after {
		texts = append(texts, p.(llm.Text).Text)
	}
	return strings.Join(texts, "\n\n")
}
