package agents

import (
	"encoding/json"
	"fmt"
	"strings"

	"fantail/agents/history"
	"fantail/agents/llm"
)

// longestName is how much of a tool's name is kept: no tool has a longer one.
const longestName = 100

// reply collects the parts of a stream.
type reply struct {
	blocks []block
	calls  []Call
	usage  llm.Usage
	stop   *llm.Stop
	noted  bool // some of it was written down while it came
}

// block is a run of text, or of thinking, or a call.
type block struct {
	index    int
	thinking bool
	opaque   string
	model    string
	text     *history.Words
	call     int // 1 + its place in calls; 0: none
}

// add takes the next part and returns the delta to show, if there is one.
func (r *reply) add(part llm.Part) (Delta, bool) {
	switch part := part.(type) {
	case llm.Text:
		b := r.block(part.Index, false)
		upTo := b.text.Add(part.Text)
		return Delta{Block: len(r.blocks) - 1, Text: part.Text, Words: b.text, UpTo: upTo}, part.Text != ""
	case llm.Thinking:
		b := r.block(part.Index, true)
		upTo := b.text.Add(part.Text)
		if part.Opaque != "" {
			b.opaque, b.model = part.Opaque, part.Model
		}
		return Delta{Block: len(r.blocks) - 1, Thinking: true, Text: part.Text, Words: b.text, UpTo: upTo}, part.Text != ""
	case llm.ToolCall:
		r.calls = append(r.calls, Call{ID: part.ID, Name: llm.Clip(part.Name, longestName), Args: part.Args})
		r.blocks = append(r.blocks, block{call: len(r.calls)})
	case llm.Usage:
		r.usage = part
	case llm.Stop:
		r.stop = &part
	}
	return Delta{}, false
}

// block returns the block the next piece belongs to.
func (r *reply) block(index int, thinking bool) *block {
	if n := len(r.blocks); n == 0 || r.blocks[n-1].text == nil || r.blocks[n-1].index != index || r.blocks[n-1].thinking != thinking {
		kind := EntryText
		if thinking {
			kind = EntryThinking
		}
		r.blocks = append(r.blocks, block{index: index, thinking: thinking, text: &history.Words{Kind: kind}})
	}
	return &r.blocks[len(r.blocks)-1]
}

// text is what was said, without thinking and calls.
func (r *reply) text() string {
	var said []string
	for _, b := range r.blocks {
		if b.call == 0 && !b.thinking {
			said = append(said, b.text.String())
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n\n"))
}

// check refuses a reply with a call that can't be written down.
func (r *reply) check(model string) error {
	for _, c := range r.calls {
		if !json.Valid(c.Args) {
			return &llm.Error{Kind: llm.Protocol, Provider: model, Message: fmt.Sprintf(
				"The arguments of a call of %q are no JSON, so nothing of the reply ran. Try again.", c.Name)}
		}
	}
	return nil
}

// claim gives a call whose id is empty or used one of its own, so that no result
// can answer two calls, and adds the ids to those in use.
func (r *reply) claim(used map[string]bool) {
	for i := range r.calls {
		c := &r.calls[i]
		base := llm.Clip(c.ID, longestName)
		if base == "" {
			base = "call"
		}
		for n := 1; c.ID == "" || used[c.ID]; n++ {
			c.ID = fmt.Sprintf("%s-%d", base, n)
		}
		used[c.ID] = true
	}
}

// short says why the reply is not the answer it would have been, "" if it is. A
// human sees it said in the tab; who dispatched a task must not take it for done.
func (r *reply) short() string {
	switch {
	case r.stop == nil:
	case r.stop.Reason == llm.Refusal:
		return strings.TrimSpace("the model refused to answer. " + r.stop.Detail)
	case r.stop.Reason == llm.Length:
		return "the answer was cut: it reached the model's token limit"
	}
	return ""
}

// amiss tells the model why calls of its reply did not run.
func (r *reply) amiss() string {
	names := llm.Clip(strings.Join(r.stop.Broken, ", "), longestName)
	if r.stop.Reason == llm.Length {
		return fmt.Sprintf("Your reply reached its token limit before the call of %s was complete; that call did not run. Go on in smaller pieces.", names)
	}
	return fmt.Sprintf("The arguments of your call of %s were not a JSON object; that call did not run. Make it again, with one whole object.", names)
}

// entries are the reply as it is recorded. Calls that must not run (calls is
// empty then) are left out.
func (r *reply) entries(model string, title func(string, json.RawMessage) string) []Entry {
	var es []Entry
	said := false
	for _, b := range r.blocks {
		switch {
		case b.call > 0:
			if len(r.calls) >= b.call {
				c := &r.calls[b.call-1]
				c.Title = title(c.Name, c.Args)
				es = append(es, Entry{Kind: EntryCall, Call: c})
				said = true
			}
		case b.thinking:
			if b.text.Size() > 0 || b.opaque != "" {
				es = append(es, Entry{Kind: EntryThinking, Text: b.text.String(), Opaque: b.opaque, Model: b.model, Words: b.text})
			}
		case b.text.Solid:
			es = append(es, Entry{Kind: EntryText, Text: b.text.String(), Model: model, Words: b.text})
			said = true
		}
	}
	if r.stop == nil {
		return es
	}
	switch {
	case len(r.stop.Broken) > 0:
		es = append(es, Entry{Kind: EntryHost, Text: r.amiss()})
	case r.stop.Reason == llm.Length:
		es = append(es, Entry{Kind: EntryNotice, Text: "The answer was cut: it reached the model's token limit. Ask it to go on."})
	case r.stop.Reason == llm.Refusal:
		es = append(es, Entry{Kind: EntryNotice, Text: strings.TrimSpace("The model refused to answer. " + r.stop.Detail)})
	case !said:
		es = append(es, Entry{Kind: EntryNotice, Text: "The model answered nothing."})
	}
	return es
}
