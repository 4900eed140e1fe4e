package acp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fantail/agents/engine"
	"fantail/agents/llm"
	"fantail/tools"
	"fantail/tools/files"
)

// The limits of what is kept of a turn.
const (
	maxNotes = 100     // of a turn, for the human
	maxNote  = 8 << 10 // bytes of one
	maxPlan  = 50      // lines of a plan
	maxTail  = 4 << 10 // bytes of what the screen shows of a call while it runs
)

// turn collects the updates of the agent's current turn.
type turn struct {
	dir          string // where it works
	index        int    // of the current block
	block        string // the kind and message of the current block; "": none
	blockHasText bool   // the current block has text
	calls        map[string]*vendorCall
	newCalls     []*vendorCall // calls that were not told yet
	keptBytes    int           // bytes kept of open calls
	done         []engine.Done
	notes        []string
	noteCount    int             // in this turn
	unknownKinds map[string]bool // of updates, which were noted
	plan         string
	response     PromptResponse
	failed       bool   // the agent says that the turn failed
	failureText  string // the beginning of its text since then
}

func newTurn(dir string) *turn {
	return &turn{dir: dir, calls: map[string]*vendorCall{}, unknownKinds: map[string]bool{}}
}

// note adds a note for the user. Of very many notes in a turn the rest is only counted.
func (r *turn) note(text string) {
	if r.noteCount++; r.noteCount <= maxNotes {
		r.notes = append(r.notes, files.Middle(text, maxNote))
	}
}

// reset ends the turn.
func (r *turn) reset() {
	if more := r.noteCount - maxNotes; more > 0 {
		r.notes = append(r.notes, fmt.Sprintf("It said %d more things in this turn that are not shown.", more))
	}
	r.block, r.calls, r.keptBytes, r.plan, r.noteCount = "", map[string]*vendorCall{}, 0, "", 0
	r.failed, r.failureText = false, ""
	r.response = PromptResponse{}
}

// completesNewCalls reports whether an event shows that the new calls are complete: it is about something else.
func (r *turn) completesNewCalls(e event) bool {
	if len(r.newCalls) == 0 || e == nil {
		return false
	}
	if q, ok := e.(question); ok { // which tells more of a call than what began it
		if p, is := q.request.(RequestPermissionRequest); is {
			r.permissionCall(p.ToolCall)
		}
	}
	if u, ok := e.(ToolCallUpdate); ok {
		if known := r.calls[u.ToolCallID]; known == nil || !known.started && !ended(u.Status.V) {
			return false
		}
	}
	switch e.(type) {
	case UsageUpdate, AvailableCommandsUpdate, SessionInfoUpdate, ConfigOptionUpdate, SessionModeState, steerResult, questionClosed:
		return false
	}
	return true
}

// startCalls returns the new calls, which count as started from now on.
func (r *turn) startCalls() (calls []llm.ToolCall) {
	for _, c := range r.newCalls {
		c.started = true
		calls = append(calls, c.toolCall())
		if c.ended() {
			r.releaseCall(c)
		}
	}
	r.newCalls = nil
	return calls
}

// endCalls adds results for the calls that did not end before the turn.
func (r *turn) endCalls(ctx context.Context) {
	how := "It did not say how this ended."
	if ctx.Err() != nil {
		how = "(stopped)"
	}
	for _, id := range slices.Sorted(maps.Keys(r.calls)) {
		if c := r.calls[id]; !c.ended() {
			text := how
			if said := c.output(); said != "" {
				text = files.Middle(said, maxText) + "\n" + how
			}
			c.status = "failed"
			r.done = append(r.done, engine.Done{Call: id, Result: tools.Result{Text: text, Error: true}, Cut: true})
		}
	}
}

// apply applies an update. It reports whether the update belongs to the turn, so that the agent has its prompt.
func (r *turn) apply(u SessionUpdate, tell func(llm.Part), output func(call, tail string)) bool {
	switch u := u.(type) {
	case ContentChunk:
		r.applyChunk(u, tell)
	case ToolCallUpdate:
		r.applyToolCall(u, output)
	case Plan:
		if text := planText(u); text != r.plan {
			r.plan = text
			r.note(text)
		}
	case Notice:
		r.note(strings.TrimSpace(tools.Line(u.Title + " " + u.Description.V)))
	case CompactionUpdate:
		if u.Status == "completed" || u.Error.OK {
			r.note(cmp.Or(tools.Line(u.Error.V), "It has compacted its conversation."))
		}
	case SessionInfoUpdate:
		if broken, known := u.TurnFailed(); known {
			r.failed, r.failureText = broken, ""
		}
		return false
	case UnknownUpdate:
		if kind := tools.Line(u.Kind); !r.unknownKinds[kind] && len(r.unknownKinds) < maxNotes {
			r.unknownKinds[kind] = true
			r.note("It says something that this program can't show: " + kind)
		}
		return false
	default:
		return false
	}
	return true
}

// applyChunk applies the next piece of a message.
func (r *turn) applyChunk(u ContentChunk, tell func(llm.Part)) {
	if u.Kind == UserMessage {
		return
	}
	voice := "answer " + u.MessageID
	if u.Kind == AgentThought {
		voice = "thought " + u.MessageID
	}
	if voice != r.block {
		r.index++
		r.block, r.blockHasText = voice, false
	}
	text := u.Content.String()
	if r.failed && u.Kind == AgentMessage && len(r.failureText) < maxTail {
		r.failureText += text
	}
	if !r.blockHasText { // some begin with an empty line
		text = strings.TrimLeft(text, "\n")
		r.blockHasText = text != ""
	}
	if text == "" {
		return
	}
	if u.Kind == AgentThought {
		tell(llm.Thinking{Text: text, Index: r.index})
		return
	}
	tell(llm.Text{Text: text, From: llm.FromModel, Index: r.index})
}

// applyToolCall applies an update of a call.
func (r *turn) applyToolCall(u ToolCallUpdate, output func(call, tail string)) {
	r.block = ""
	c := r.calls[u.ToolCallID]
	switch {
	case c == nil:
		c = &vendorCall{id: u.ToolCallID, dir: r.dir}
		r.calls[u.ToolCallID] = c
		r.newCalls = append(r.newCalls, c)
	case c.ended():
		return
	}
	r.updateCall(c, u)
	switch {
	case c.ended():
		r.done = append(r.done, engine.Done{Call: c.id, Result: c.result()})
		r.releaseCall(c)
	case c.started && (u.Content.OK || u.TerminalOutput() != "") && c.output() != "":
		output(c.id, c.outputTail())
	}
}

// updateCall updates a call. If too much is kept of all calls, the content of this one is dropped.
func (r *turn) updateCall(c *vendorCall, u ToolCallUpdate) {
	r.keptBytes -= c.size()
	c.update(u)
	if r.keptBytes += c.size(); r.keptBytes > maxKeptBytes {
		r.keptBytes -= c.size()
		c.input, c.text, c.diff, c.terminalOutput, c.rawOutput = nil, "(not kept: it was too much at once)", "", "", ""
		r.keptBytes += c.size()
	}
}

// releaseCall drops the content of a call that has ended. A call that was not started yet keeps its input.
func (r *turn) releaseCall(c *vendorCall) {
	r.keptBytes -= c.size()
	c.text, c.diff, c.terminalOutput, c.rawOutput = "", "", "", ""
	if c.started {
		c.input = nil
	}
	r.keptBytes += c.size()
}

// planText returns a plan as lines for people.
func planText(p Plan) string {
	marks := map[string]string{"completed": "✓", "in_progress": "▸"}
	lines := []string{"Its plan:"}
	for i, e := range p.Entries.All {
		if i == maxPlan {
			lines = append(lines, fmt.Sprintf("and %d more", len(p.Entries.All)-i))
			break
		}
		lines = append(lines, cmp.Or(marks[e.Status.V], "○")+" "+tools.Line(e.Content))
	}
	return strings.Join(lines, "\n")
}
