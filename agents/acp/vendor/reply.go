package vendor

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"fantail/agents/acp/schema"
	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/content"
)

// The bounds of what is kept of a call.
const (
	mostArgs = 64 << 10 // bytes of what it was called with
	mostText = 64 << 10 // bytes of what it answered: the beginning and the end
	mostTail = 4 << 10  // bytes of what the screen shows while it runs
)

// reply collects what an agent says.
type reply struct {
	index   int    // of the block that goes on
	voice   string // whose it is, and of which message; "": none goes on
	calls   map[string]*call
	begun   []*call // those that nobody was told of
	done    []engine.Done
	notes   []string
	strange map[string]bool // what this program does not know, and has noted
	plan    string
	stop    schema.PromptResponse
}

// call is one of the agent's own tools.
type call struct {
	schema.ToolCall
	told bool
}

func newReply() *reply { return &reply{calls: map[string]*call{}, strange: map[string]bool{}} }

// note is for the human.
func (r *reply) note(text string) { r.notes = append(r.notes, text) }

// over says that a turn has ended.
func (r *reply) over() {
	r.voice, r.calls, r.plan = "", map[string]*call{}, ""
	r.stop = schema.PromptResponse{}
}

// parts reports whether an event shows that what has begun is complete: it is about something else.
func (r *reply) parts(e event) bool {
	if len(r.begun) == 0 || e == nil {
		return false
	}
	if u, ok := e.(schema.ToolCall); ok {
		if known := r.calls[u.ID]; known == nil || !known.told && !ended(u.Status.V) {
			return false
		}
	}
	switch e.(type) {
	case schema.Usage, schema.Commands, schema.Info, schema.Options, schema.Modes, steered:
		return false
	}
	return true
}

// begin returns the calls that have begun, which count as told from now on.
func (r *reply) begin() (calls []llm.ToolCall) {
	for _, c := range r.begun {
		c.told = true
		calls = append(calls, c.begins())
	}
	r.begun = nil
	return calls
}

// ends answers the calls that did not end, as the turn has.
func (r *reply) ends(ctx context.Context) {
	text := "It did not say how this ended."
	if ctx.Err() != nil {
		text = "(stopped)"
	}
	for _, id := range slices.Sorted(maps.Keys(r.calls)) {
		if c := r.calls[id]; !c.ended() {
			c.Status = schema.Maybe[string]{V: "failed", OK: true}
			r.done = append(r.done, engine.Done{Call: id, Result: tools.Result{Text: text, Error: true}, Cut: true})
		}
	}
}

// hear takes an update, and reports whether it is of the turn: the agent has what it was sent.
func (r *reply) hear(u schema.Update, tell func(llm.Part), output func(call, tail string)) bool {
	switch u := u.(type) {
	case schema.Chunk:
		r.says(u, tell)
	case schema.ToolCall:
		r.calling(u, output)
	case schema.Plan:
		if text := planned(u); text != r.plan {
			r.plan = text
			r.note(text)
		}
	case schema.Notice:
		r.note(strings.TrimSpace(tools.Line(u.Title + " " + u.Description.V)))
	case schema.Compaction:
		if u.Status == "completed" || u.Error.OK {
			r.note(cmp.Or(tools.Line(u.Error.V), "It has compacted its conversation."))
		}
	case schema.Unknown:
		if !r.strange[u.Kind] {
			r.strange[u.Kind] = true
			r.note("It says something that this program can't show: " + tools.Line(u.Kind))
		}
		return false
	default:
		return false
	}
	return true
}

// says takes a piece of a text.
func (r *reply) says(u schema.Chunk, tell func(llm.Part)) {
	if u.Of == schema.Heard {
		return
	}
	voice := "answer " + u.Message
	if u.Of == schema.Thought {
		voice = "thought " + u.Message
	}
	if voice != r.voice {
		r.index++
		r.voice = voice
	}
	text := u.Block.Words()
	if u.Of == schema.Thought {
		tell(llm.Thinking{Text: text, Index: r.index})
		return
	}
	tell(llm.Text{Text: text, From: llm.FromModel, Index: r.index})
}

// calling takes what is new of a call.
func (r *reply) calling(u schema.ToolCall, output func(call, tail string)) {
	r.voice = ""
	c := r.calls[u.ID]
	if c == nil {
		c = &call{ToolCall: u}
		r.calls[u.ID] = c
		r.begun = append(r.begun, c)
	} else if c.ended() {
		return
	} else {
		c.changes(u)
	}
	switch {
	case c.ended():
		r.done = append(r.done, engine.Done{Call: c.ID, Result: c.result()})
	case c.told && u.Content.OK:
		if text, _ := c.made(); text != "" {
			output(c.ID, text[max(0, len(text)-mostTail):])
		}
	}
}

func (c *call) ended() bool { return ended(c.Status.V) }

func ended(status string) bool { return status == "completed" || status == "failed" }

// changes takes the fields that an update has.
func (c *call) changes(u schema.ToolCall) {
	for _, f := range []struct{ now, was *schema.Maybe[string] }{
		{&u.Title, &c.Title}, {&u.Name, &c.Name}, {&u.Kind, &c.Kind}, {&u.Status, &c.Status},
	} {
		if f.now.OK {
			*f.was = *f.now
		}
	}
	if u.Content.OK {
		c.Content = u.Content
	}
	if u.Locations.OK {
		c.Locations = u.Locations
	}
	if u.Input != nil {
		c.Input = u.Input
	}
	if u.Output != nil {
		c.Output = u.Output
	}
}

// begins is the call as a model's.
func (c *call) begins() llm.ToolCall {
	args := c.Input
	if len(args) == 0 || args[0] != '{' || len(args) > mostArgs {
		args = json.RawMessage("{}")
	}
	name := tools.Line(cmp.Or(c.Name.V, c.Kind.V, "tool"))
	title := tools.Line(cmp.Or(c.Title.V, name))
	return llm.ToolCall{ID: c.ID, Name: name, Args: args, Title: title}
}

// made is what the call has made: its text, and what it changes as a diff.
func (c *call) made() (text, diff string) {
	var said, changed []string
	for _, x := range c.Content.All {
		switch x.Type {
		case "content":
			said = append(said, x.Block.Words())
		case "diff":
			changed = append(changed, content.Diff(tools.Line(x.Path), x.Old.V, x.New))
		default:
			said = append(said, "["+tools.Line(x.Type)+"]")
		}
	}
	return strings.Join(said, "\n"), strings.Join(changed, "")
}

// result is how the call ended.
func (c *call) result() tools.Result {
	text, diff := c.made()
	if text == "" && diff == "" && len(c.Output) > 0 {
		if json.Unmarshal(c.Output, &text) != nil {
			text = string(c.Output)
		}
	}
	if text == "" && diff != "" {
		text = "(changed)"
	}
	return tools.Result{Text: content.Middle(text, mostText), Diff: diff, Error: c.Status.V == "failed"}
}

// planned is a plan as lines for people.
func planned(p schema.Plan) string {
	marks := map[string]string{"completed": "✓", "in_progress": "▸"}
	lines := []string{"Its plan:"}
	for _, e := range p.Entries.All {
		lines = append(lines, cmp.Or(marks[e.Status.V], "○")+" "+tools.Line(e.Content))
	}
	return strings.Join(lines, "\n")
}
